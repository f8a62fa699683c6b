// Writes f32 as 8-bit floats: to nearest, ties to even; NaN and what is too large becomes NaN, as e4m3 has no infinity.
#global = #tile.space<global>
tile.kernel @narrow(%X: memref<?xf32, #global> {tile.name = "X", tile.dims = ["N"], tile.role = "in"},
                    %Y: memref<?xf8E4M3FN, #global> {tile.name = "Y", tile.dims = ["N"], tile.role = "out"}) {
  %N = tile.dim "N"
  %c1 = arith.constant 1 : index
  tile.grid (%b) = (%c1) {
    tile.map (%p) in [%N] {
      %v = tile.read %X[%p] : memref<?xf32, #global> -> f32
      tile.write %v, %Y[%p] : f32, memref<?xf8E4M3FN, #global>
    }
  }
}
