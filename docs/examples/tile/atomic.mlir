// Adds up a vector: each block sums 128 elements and adds its sum to Y, whichever comes first.
#global = #tile.space<global>
#shared = #tile.space<shared>
#fragment = #tile.space<fragment>
tile.kernel @add_up(%X: memref<?xi32, #global> {tile.name = "X", tile.dims = ["N"], tile.role = "in"},
                    %Y: memref<1xi32, #global> {tile.name = "Y", tile.dims = [""], tile.role = "inout"}) {
  %N = tile.dim "N"
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %blocks = arith.ceildivsi %N, %c128 : index
  tile.grid (%b) = (%blocks) {
    %i = arith.muli %b, %c128 : index
    %x = tile.alloc "x" : memref<128xi32, #shared>
    %sum = tile.alloc "sum" : memref<1xi32, #fragment>
    tile.load %X[%i] into %x : memref<?xi32, #global>, memref<128xi32, #shared>
    tile.reduce add %x into %sum dim 0 clear : memref<128xi32, #shared>, memref<1xi32, #fragment>
    %s = tile.read %sum[%c0] : memref<1xi32, #fragment> -> i32
    %before = tile.atomic add %s, %Y[%c0] order relaxed : i32, memref<1xi32, #global>
  }
}
