// RUN: deepaccel tile compile %s --target x86-64-avx512 --emit asm | FileCheck %s --check-prefix=AVX512
// RUN: deepaccel tile compile %s --target loongarch64-lasx --emit asm | FileCheck %s --check-prefix=LASX
// RUN: deepaccel tile compile %s --target x86-64-avx2 --emit asm | FileCheck %s --check-prefix=AVX2

// The inner loop multiplies whole vectors and adds into registers: between its label and its branch no accumulator goes
// to the stack.
// AVX512-LABEL: product_phase0:
// AVX512: vfmadd231ps {{.*}}%zmm
// AVX512-NOT: vmovups %zmm{{[0-9]+}}, {{.*}}(%rsp)
// AVX512: vfmadd231ps {{.*}}%zmm
// AVX2-LABEL: product_phase0:
// AVX2: vfmadd{{(213|231)}}ps {{.*}}%ymm
// LASX-LABEL: product_phase0:
// LASX: xvfmadd.s
tile.kernel @product(%A: memref<?x?xf32, #tile.space<global>> {tile.name = "A", tile.dims = ["M", "K"], tile.role = "in"},
                     %B: memref<?x?xf32, #tile.space<global>> {tile.name = "B", tile.dims = ["K", "N"], tile.role = "in"},
                     %C: memref<?x?xf32, #tile.space<global>> {tile.name = "C", tile.dims = ["M", "N"], tile.role = "out"}) {
  %M = tile.dim "M"
  %N = tile.dim "N"
  %K = tile.dim "K"
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c96 = arith.constant 96 : index
  %zero = arith.constant 0.0 : f32
  %blocks_m = arith.ceildivsi %M, %c96 : index
  %blocks_n = arith.ceildivsi %N, %c96 : index
  %steps = arith.ceildivsi %K, %c96 : index
  tile.grid (%bm, %bn) = (%blocks_m, %blocks_n) {
    %a = tile.alloc "a" : memref<96x96xf32, #tile.space<shared>>
    %b = tile.alloc "b" : memref<96x96xf32, #tile.space<shared>>
    %acc = tile.alloc "acc" : memref<96x96xf32, #tile.space<fragment>>
    %i = arith.muli %bm, %c96 : index
    %j = arith.muli %bn, %c96 : index
    tile.fill %acc, %zero : memref<96x96xf32, #tile.space<fragment>>, f32
    tile.pipeline %step = %c0 to %steps step %c1 stages(2) {
      %k = arith.muli %step, %c96 : index
      tile.load %A[%i, %k] into %a : memref<?x?xf32, #tile.space<global>>, memref<96x96xf32, #tile.space<shared>>
      tile.load %B[%k, %j] into %b : memref<?x?xf32, #tile.space<global>>, memref<96x96xf32, #tile.space<shared>>
      tile.gemm %a, %b, %acc : memref<96x96xf32, #tile.space<shared>>, memref<96x96xf32, #tile.space<shared>>, memref<96x96xf32, #tile.space<fragment>>
    }
    tile.store %acc into %C[%i, %j] : memref<96x96xf32, #tile.space<fragment>>, memref<?x?xf32, #tile.space<global>>
  }
}
