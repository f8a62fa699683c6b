// Transposes a matrix while loading it: `dims` says that the tile's rows are X's columns. What lies outside of X reads
// as 0 and is not stored.
#global = #tile.space<global>
#shared = #tile.space<shared>
tile.kernel @transpose(%X: memref<?x?xf16, #global> {tile.name = "X", tile.dims = ["M", "N"], tile.role = "in"},
                       %Y: memref<?x?xf32, #global> {tile.name = "Y", tile.dims = ["N", "M"], tile.role = "out"}) {
  %M = tile.dim "M"
  %N = tile.dim "N"
  %c32 = arith.constant 32 : index
  %bm = arith.ceildivsi %M, %c32 : index
  %bn = arith.ceildivsi %N, %c32 : index
  tile.grid (%x, %y) = (%bm, %bn) {
    %i = arith.muli %x, %c32 : index
    %j = arith.muli %y, %c32 : index
    %t = tile.alloc "t" : memref<32x32xf32, #shared>
    tile.load %X[%i, %j] into %t dims [1, 0] : memref<?x?xf16, #global>, memref<32x32xf32, #shared>
    tile.store %t into %Y[%j, %i] : memref<32x32xf32, #shared>, memref<?x?xf32, #global>
  }
}
