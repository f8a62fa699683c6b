// The product C = A . B of f32 matrices of any size, as anybody would write it: one block for each 256 x 256 tile of C, a
// pipeline over K. Windows that reach over an edge read zeros there, and what would be written there is dropped.
tile.kernel @product(%A: memref<?x?xf32, #tile.space<global>> {tile.name = "A", tile.dims = ["M", "K"], tile.role = "in"},
                  %B: memref<?x?xf32, #tile.space<global>> {tile.name = "B", tile.dims = ["K", "N"], tile.role = "in"},
                  %C: memref<?x?xf32, #tile.space<global>> {tile.name = "C", tile.dims = ["M", "N"], tile.role = "out"}) {
  %M = tile.dim "M"
  %N = tile.dim "N"
  %K = tile.dim "K"
  %c0 = arith.constant 0 : index
  %c112 = arith.constant 112 : index
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  %bm = arith.ceildivsi %M, %c112 : index
  %bn = arith.ceildivsi %N, %c128 : index
  tile.grid (%x, %y) = (%bm, %bn) {
    %i = arith.muli %x, %c112 : index
    %j = arith.muli %y, %c128 : index
    %a = tile.alloc "a" : memref<112x256xf32, #tile.space<shared>>
    %b = tile.alloc "b" : memref<256x128xf32, #tile.space<shared>>
    %acc = tile.alloc "acc" : memref<112x128xf32, #tile.space<fragment>>
    %zero = arith.constant 0.0 : f32
    tile.fill %acc, %zero : memref<112x128xf32, #tile.space<fragment>>, f32
    tile.pipeline %k = %c0 to %K step %c256 stages(2) {
      tile.load %A[%i, %k] into %a : memref<?x?xf32, #tile.space<global>>, memref<112x256xf32, #tile.space<shared>>
      tile.load %B[%k, %j] into %b : memref<?x?xf32, #tile.space<global>>, memref<256x128xf32, #tile.space<shared>>
      tile.gemm %a, %b, %acc : memref<112x256xf32, #tile.space<shared>>, memref<256x128xf32, #tile.space<shared>>,
                               memref<112x128xf32, #tile.space<fragment>>
    }
    tile.store %acc into %C[%i, %j] : memref<112x128xf32, #tile.space<fragment>>, memref<?x?xf32, #tile.space<global>>
  }
}
