// C = A B in f32, as anybody would write it: one block computes a 256 x 256 tile of C, in steps of 256 along K.
tile.kernel @product(%A: memref<?x?xf32, #tile.space<global>> {tile.name = "A", tile.dims = ["M", "K"], tile.role = "in"},
                     %B: memref<?x?xf32, #tile.space<global>> {tile.name = "B", tile.dims = ["K", "N"], tile.role = "in"},
                     %C: memref<?x?xf32, #tile.space<global>> {tile.name = "C", tile.dims = ["M", "N"], tile.role = "out"}) {
  %M = tile.dim "M"
  %N = tile.dim "N"
  %K = tile.dim "K"
  %c0 = arith.constant 0 : index
  %c256 = arith.constant 256 : index
  %blocks_m = arith.ceildivsi %M, %c256 : index
  %blocks_n = arith.ceildivsi %N, %c256 : index
  tile.grid (%bm, %bn) = (%blocks_m, %blocks_n) attributes {order = #tile.order<swizzle, 4>} {
    %i = arith.muli %bm, %c256 : index
    %j = arith.muli %bn, %c256 : index
    %a = tile.alloc "a" : memref<256x256xf32, #tile.space<shared>>
    %b = tile.alloc "b" : memref<256x256xf32, #tile.space<shared>>
    %acc = tile.alloc "acc" : memref<256x256xf32, #tile.space<fragment>>
    %zero = arith.constant 0.0 : f32
    tile.fill %acc, %zero : memref<256x256xf32, #tile.space<fragment>>, f32
    tile.pipeline %k = %c0 to %K step %c256 stages(3) {
      tile.load %A[%i, %k] into %a : memref<?x?xf32, #tile.space<global>>, memref<256x256xf32, #tile.space<shared>>
      tile.load %B[%k, %j] into %b : memref<?x?xf32, #tile.space<global>>, memref<256x256xf32, #tile.space<shared>>
      tile.gemm %a, %b, %acc : memref<256x256xf32, #tile.space<shared>>, memref<256x256xf32, #tile.space<shared>>,
                               memref<256x256xf32, #tile.space<fragment>>
    }
    tile.store %acc into %C[%i, %j] : memref<256x256xf32, #tile.space<fragment>>, memref<?x?xf32, #tile.space<global>>
  }
}
