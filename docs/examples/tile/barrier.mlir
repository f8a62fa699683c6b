// Rotates each 64 elements in place: every thread has read its element before any writes.
#global = #tile.space<global>
#shared = #tile.space<shared>
tile.kernel @rotate_64(%X: memref<?xf32, #global> {tile.name = "X", tile.dims = ["N"], tile.role = "in"},
                       %Y: memref<?xf32, #global> {tile.name = "Y", tile.dims = ["N"], tile.role = "out"}) {
  %N = tile.dim "N"
  %c64 = arith.constant 64 : index
  %blocks = arith.ceildivsi %N, %c64 : index
  tile.grid (%b) = (%blocks) {
    %i = arith.muli %b, %c64 : index
    %c1 = arith.constant 1 : index
    %x = tile.alloc "x" : memref<64xf32, #shared>
    tile.load %X[%i] into %x : memref<?xf32, #global>, memref<64xf32, #shared>
    tile.threads (%t) in [64] {
      %next = arith.addi %t, %c1 : index
      %to = arith.remui %next, %c64 : index
      %v = tile.read %x[%t] : memref<64xf32, #shared> -> f32
      tile.barrier
      tile.write %v, %x[%to] : f32, memref<64xf32, #shared>
    }
    tile.store %x into %Y[%i] : memref<64xf32, #shared>, memref<?xf32, #global>
  }
}
