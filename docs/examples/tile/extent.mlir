// Copies as many elements as X and Y both have: "?" lets their sizes differ.
#global = #tile.space<global>
tile.kernel @copy_common(%X: memref<?xf32, #global> {tile.name = "X", tile.dims = ["?"], tile.role = "in"},
                         %Y: memref<?xf32, #global> {tile.name = "Y", tile.dims = ["?"], tile.role = "inout"}) {
  %x = tile.extent %X dim 0 : memref<?xf32, #global>
  %y = tile.extent %Y dim 0 : memref<?xf32, #global>
  %n = arith.minsi %x, %y : index
  %c1 = arith.constant 1 : index
  tile.grid (%b) = (%c1) {
    tile.map (%p) in [%n] {
      %v = tile.read %X[%p] : memref<?xf32, #global> -> f32
      tile.write %v, %Y[%p] : f32, memref<?xf32, #global>
    }
  }
}
