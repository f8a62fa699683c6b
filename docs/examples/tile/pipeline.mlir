// Sums of rows of any length, 256 columns at a time; the next columns may be fetched while these are added.
#global = #tile.space<global>
#shared = #tile.space<shared>
#fragment = #tile.space<fragment>
tile.kernel @row_sums(%X: memref<?x?xf32, #global> {tile.name = "X", tile.dims = ["M", "K"], tile.role = "in"},
                      %Y: memref<?xf32, #global> {tile.name = "Y", tile.dims = ["M"], tile.role = "out"}) {
  %M = tile.dim "M"
  %K = tile.dim "K"
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant 0.0 : f32
  %blocks = arith.ceildivsi %M, %c8 : index
  tile.grid (%b) = (%blocks) {
    %i = arith.muli %b, %c8 : index
    %x = tile.alloc "x" : memref<8x256xf32, #shared>
    %sum = tile.alloc "sum" : memref<8xf32, #fragment>
    tile.fill %sum, %zero : memref<8xf32, #fragment>, f32
    tile.pipeline %k = %c0 to %K step %c256 stages(2) {
      tile.load %X[%i, %k] into %x : memref<?x?xf32, #global>, memref<8x256xf32, #shared>
      tile.reduce add %x into %sum dim 1 : memref<8x256xf32, #shared>, memref<8xf32, #fragment>
    }
    tile.store %sum into %Y[%i] : memref<8xf32, #fragment>, memref<?xf32, #global>
  }
}
