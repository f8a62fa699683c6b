// Reverses each 64 elements, a thread for each.
#global = #tile.space<global>
#shared = #tile.space<shared>
tile.kernel @reverse_64(%X: memref<?xf32, #global> {tile.name = "X", tile.dims = ["N"], tile.role = "in"},
                        %Y: memref<?xf32, #global> {tile.name = "Y", tile.dims = ["N"], tile.role = "out"}) {
  %N = tile.dim "N"
  %c64 = arith.constant 64 : index
  %blocks = arith.ceildivsi %N, %c64 : index
  tile.grid (%b) = (%blocks) {
    %i = arith.muli %b, %c64 : index
    %c63 = arith.constant 63 : index
    %x = tile.alloc "x" : memref<64xf32, #shared>
    %y = tile.alloc "y" : memref<64xf32, #shared>
    tile.load %X[%i] into %x : memref<?xf32, #global>, memref<64xf32, #shared>
    tile.threads (%t) in [64] {
      %from = arith.subi %c63, %t : index
      %v = tile.read %x[%from] : memref<64xf32, #shared> -> f32
      tile.write %v, %y[%t] : f32, memref<64xf32, #shared>
    }
    tile.store %y into %Y[%i] : memref<64xf32, #shared>, memref<?xf32, #global>
  }
}
