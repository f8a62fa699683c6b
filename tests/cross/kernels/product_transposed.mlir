// C = A^T . B^T in {A} and {B}, with tiles that no register tile divides: tails of rows, of vectors and of K.
tile.kernel @product(%A: memref<?x?x{A}, #tile.space<global>> {tile.name = "A", tile.dims = ["K", "M"], tile.role = "in"},
                     %B: memref<?x?x{B}, #tile.space<global>> {tile.name = "B", tile.dims = ["N", "K"], tile.role = "in"},
                     %C: memref<?x?x{C}, #tile.space<global>> {tile.name = "C", tile.dims = ["M", "N"], tile.role = "out"}) {
  %M = tile.dim "M"
  %N = tile.dim "N"
  %K = tile.dim "K"
  %c0 = arith.constant 0 : index
  %m = arith.constant 37 : index
  %n = arith.constant 53 : index
  %k = arith.constant 24 : index
  %zero = arith.constant {0} : {C}
  %blocks_m = arith.ceildivsi %M, %m : index
  %blocks_n = arith.ceildivsi %N, %n : index
  tile.grid (%x, %y) = (%blocks_m, %blocks_n) {
    %i = arith.muli %x, %m : index
    %j = arith.muli %y, %n : index
    %a = tile.alloc "a" : memref<24x37x{A}, #tile.space<shared>>
    %b = tile.alloc "b" : memref<53x24x{B}, #tile.space<shared>>
    %acc = tile.alloc "acc" : memref<37x53x{C}, #tile.space<fragment>>
    tile.fill %acc, %zero : memref<37x53x{C}, #tile.space<fragment>>, {C}
    tile.pipeline %at = %c0 to %K step %k stages(2) {
      tile.load %A[%at, %i] into %a : memref<?x?x{A}, #tile.space<global>>, memref<24x37x{A}, #tile.space<shared>>
      tile.load %B[%j, %at] into %b : memref<?x?x{B}, #tile.space<global>>, memref<53x24x{B}, #tile.space<shared>>
      tile.gemm %a, %b, %acc transpose_a transpose_b : memref<24x37x{A}, #tile.space<shared>>, memref<53x24x{B}, #tile.space<shared>>, memref<37x53x{C}, #tile.space<fragment>>
    }
    tile.store %acc into %C[%i, %j] : memref<37x53x{C}, #tile.space<fragment>>, memref<?x?x{C}, #tile.space<global>>
  }
}
