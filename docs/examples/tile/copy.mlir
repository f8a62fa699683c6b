// Rounds to f16 and back: what a number keeps in 11 significant bits.
#global = #tile.space<global>
#shared = #tile.space<shared>
#fragment = #tile.space<fragment>
tile.kernel @round_to_half(%X: memref<?xf32, #global> {tile.name = "X", tile.dims = ["N"], tile.role = "in"},
                           %Y: memref<?xf32, #global> {tile.name = "Y", tile.dims = ["N"], tile.role = "out"}) {
  %N = tile.dim "N"
  %c128 = arith.constant 128 : index
  %blocks = arith.ceildivsi %N, %c128 : index
  tile.grid (%b) = (%blocks) {
    %i = arith.muli %b, %c128 : index
    %wide = tile.alloc "wide" : memref<128xf32, #fragment>
    %half = tile.alloc "half" : memref<128xf16, #shared>
    tile.load %X[%i] into %wide : memref<?xf32, #global>, memref<128xf32, #fragment>
    tile.copy %wide to %half : memref<128xf32, #fragment>, memref<128xf16, #shared>
    tile.copy %half to %wide : memref<128xf16, #shared>, memref<128xf32, #fragment>
    tile.store %wide into %Y[%i] : memref<128xf32, #fragment>, memref<?xf32, #global>
  }
}
