// Square roots; a launch that meets a number below -100 fails with a message.
#global = #tile.space<global>
tile.kernel @roots(%X: memref<?xf32, #global> {tile.name = "X", tile.dims = ["N"], tile.role = "in"},
                   %Y: memref<?xf32, #global> {tile.name = "Y", tile.dims = ["N"], tile.role = "out"}) {
  %N = tile.dim "N"
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %least = arith.constant -100.0 : f32
  tile.grid (%b) = (%c1) {
    tile.map (%p) in [%N] {
      %v = tile.read %X[%p] : memref<?xf32, #global> -> f32
      %sound = arith.cmpf oge, %v, %least : f32
      tile.assert %sound, "a number below -100"
      %positive = arith.maximumf %v, %zero : f32
      %root = math.sqrt %positive : f32
      tile.write %root, %Y[%p] : f32, memref<?xf32, #global>
    }
  }
}
