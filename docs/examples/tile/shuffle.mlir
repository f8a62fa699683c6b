// The sum of each 32 elements, in every thread of the group: five exchanges between lanes, no memory.
#global = #tile.space<global>
#shared = #tile.space<shared>
tile.kernel @group_sums(%X: memref<64xf32, #global> {tile.name = "X", tile.dims = [""], tile.role = "in"},
                        %Y: memref<64xf32, #global> {tile.name = "Y", tile.dims = [""], tile.role = "out"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid (%b) = (%c1) {
    %x = tile.alloc "x" : memref<64xf32, #shared>
    tile.load %X[%c0] into %x : memref<64xf32, #global>, memref<64xf32, #shared>
    tile.threads (%t) in [64] {
      %c5 = arith.constant 5 : index
      %one = arith.constant 1 : i32
      %v = tile.read %x[%t] : memref<64xf32, #shared> -> f32
      %sum = scf.for %step = %c0 to %c5 step %c1 iter_args(%so_far = %v) -> (f32) {
        %s = arith.index_cast %step : index to i32
        %lane = arith.shli %one, %s : i32
        %other = tile.shuffle xor %so_far, %lane width 32 : f32
        %both = arith.addf %so_far, %other : f32
        scf.yield %both : f32
      }
      tile.write %sum, %x[%t] : f32, memref<64xf32, #shared>
    }
    tile.store %x into %Y[%c0] : memref<64xf32, #shared>, memref<64xf32, #global>
  }
}
