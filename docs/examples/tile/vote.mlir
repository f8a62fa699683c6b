// How many of each 32 elements are negative, in every thread of the group.
#global = #tile.space<global>
#shared = #tile.space<shared>
tile.kernel @count_negative(%X: memref<64xf32, #global> {tile.name = "X", tile.dims = [""], tile.role = "in"},
                            %Y: memref<64xi32, #global> {tile.name = "Y", tile.dims = [""], tile.role = "out"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  tile.grid (%b) = (%c1) {
    %x = tile.alloc "x" : memref<64xf32, #shared>
    %count = tile.alloc "count" : memref<64xi32, #shared>
    tile.load %X[%c0] into %x : memref<64xf32, #global>, memref<64xf32, #shared>
    tile.threads (%t) in [64] {
      %v = tile.read %x[%t] : memref<64xf32, #shared> -> f32
      %negative = arith.cmpf olt, %v, %zero : f32
      %n = tile.vote count %negative width 32
      tile.write %n, %count[%t] : i32, memref<64xi32, #shared>
    }
    tile.store %count into %Y[%c0] : memref<64xi32, #shared>, memref<64xi32, #global>
  }
}
