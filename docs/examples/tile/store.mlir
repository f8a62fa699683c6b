// Spreads a vector over the middle plane of Y and narrows it to bf16; the 64 elements of the last tile that Y does not
// have are dropped.
#global = #tile.space<global>
#shared = #tile.space<shared>
tile.kernel @to_middle(%X: memref<?xf32, #global> {tile.name = "X", tile.dims = ["N"], tile.role = "in"},
                       %Y: memref<?x3xbf16, #global> {tile.name = "Y", tile.dims = ["N", ""], tile.role = "inout"}) {
  %N = tile.dim "N"
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  %blocks = arith.ceildivsi %N, %c128 : index
  tile.grid (%b) = (%blocks) {
    %i = arith.muli %b, %c128 : index
    %t = tile.alloc "t" : memref<128xf32, #shared>
    tile.load %X[%i] into %t : memref<?xf32, #global>, memref<128xf32, #shared>
    tile.store %t into %Y[%i, %c1] dims [0] : memref<128xf32, #shared>, memref<?x3xbf16, #global>
  }
}
