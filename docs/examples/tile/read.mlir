// Reads bf16 as f32, directly from a tensor.
#global = #tile.space<global>
tile.kernel @widen(%X: memref<?xbf16, #global> {tile.name = "X", tile.dims = ["N"], tile.role = "in"},
                   %Y: memref<?xf32, #global> {tile.name = "Y", tile.dims = ["N"], tile.role = "out"}) {
  %N = tile.dim "N"
  %c1 = arith.constant 1 : index
  tile.grid (%b) = (%c1) {
    tile.map (%p) in [%N] {
      %v = tile.read %X[%p] : memref<?xbf16, #global> -> f32
      tile.write %v, %Y[%p] : f32, memref<?xf32, #global>
    }
  }
}
