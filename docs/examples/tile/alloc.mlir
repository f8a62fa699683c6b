// Two phases that meet in a workspace: sums of 128 elements each, then the sum of these.
#global = #tile.space<global>
#shared = #tile.space<shared>
#fragment = #tile.space<fragment>
tile.kernel @sum(%X: memref<4096xf32, #global> {tile.name = "X", tile.dims = [""], tile.role = "in"},
                 %S: memref<1xf32, #global> {tile.name = "S", tile.dims = [""], tile.role = "out"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  %sums = tile.alloc "sums" : memref<32xf32, #global>
  tile.grid (%b) = (%c32) {
    %i = arith.muli %b, %c128 : index
    %x = tile.alloc "x" {align = 128} : memref<128xf32, #shared>
    %sum = tile.alloc "sum" : memref<1xf32, #fragment>
    tile.load %X[%i] into %x : memref<4096xf32, #global>, memref<128xf32, #shared>
    tile.reduce add %x into %sum dim 0 clear : memref<128xf32, #shared>, memref<1xf32, #fragment>
    tile.store %sum into %sums[%b] : memref<1xf32, #fragment>, memref<32xf32, #global>
  }
  tile.grid (%b) = (%c1) {
    %all = tile.alloc "all" : memref<32xf32, #fragment>
    %sum = tile.alloc "sum" : memref<1xf32, #fragment>
    tile.load %sums[%c0] into %all : memref<32xf32, #global>, memref<32xf32, #fragment>
    tile.reduce add %all into %sum dim 0 clear : memref<32xf32, #fragment>, memref<1xf32, #fragment>
    tile.store %sum into %S[%c0] : memref<1xf32, #fragment>, memref<1xf32, #global>
  }
}
