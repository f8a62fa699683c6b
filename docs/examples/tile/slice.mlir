// A gated activation: rows of X hold a value and its gate side by side; both halves of the tile are used in place.
#global = #tile.space<global>
#shared = #tile.space<shared>
#half = strided<[128, 1], offset: ?>
tile.kernel @gate(%X: memref<?x128xf32, #global> {tile.name = "X", tile.dims = ["M", ""], tile.role = "in"},
                  %Y: memref<?x64xf32, #global> {tile.name = "Y", tile.dims = ["M", ""], tile.role = "out"}) {
  %M = tile.dim "M"
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %blocks = arith.ceildivsi %M, %c16 : index
  tile.grid (%b) = (%blocks) {
    %i = arith.muli %b, %c16 : index
    %x = tile.alloc "x" : memref<16x128xf32, #shared>
    tile.load %X[%i, %c0] into %x : memref<?x128xf32, #global>, memref<16x128xf32, #shared>
    %value = tile.slice %x[%c0, %c0] : memref<16x128xf32, #shared> to memref<16x64xf32, #half, #shared>
    %gate = tile.slice %x[%c0, %c64] : memref<16x128xf32, #shared> to memref<16x64xf32, #half, #shared>
    tile.map (%p, %q) in [16, 64] {
      %v = tile.read %value[%p, %q] : memref<16x64xf32, #half, #shared> -> f32
      %g = tile.read %gate[%p, %q] : memref<16x64xf32, #half, #shared> -> f32
      %y = arith.mulf %v, %g : f32
      tile.write %y, %value[%p, %q] : f32, memref<16x64xf32, #half, #shared>
    }
    tile.store %value into %Y[%i, %c0] : memref<16x64xf32, #half, #shared>, memref<?x64xf32, #global>
  }
}
