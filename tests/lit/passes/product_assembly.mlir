// The inner loop of the tutorial's product, for each target: four steps of k; nothing but the multiply-adds of its register
// tile, the loads that they need, counting, and prefetches. No accumulator goes to the stack or to another register.
//
// 14 x 32 with 512 bits: 28 accumulators, each of the 14 elements of a column of a broadcast once.
// RUN: deepaccel tile compile %examples/tile/product.mlir --target x86-64-avx512 --emit asm | %inner_loop vfmadd | FileCheck %s --check-prefix=AVX512 --implicit-check-not='{{rsp.*mm|mm.*rsp}}' --implicit-check-not=vmovap
// RUN: deepaccel tile compile %examples/tile/product.mlir --target x86-64-avx512-vnni --emit asm | %inner_loop vfmadd | FileCheck %s --check-prefix=AVX512 --implicit-check-not='{{rsp.*mm|mm.*rsp}}' --implicit-check-not=vmovap
// RUN: deepaccel tile compile %examples/tile/product.mlir --target x86-64-avx512-bf16 --emit asm | %inner_loop vfmadd | FileCheck %s --check-prefix=AVX512 --implicit-check-not='{{rsp.*mm|mm.*rsp}}' --implicit-check-not=vmovap
// RUN: deepaccel tile compile %examples/tile/product.mlir --target x86-64-zen4 --emit asm | %inner_loop vfmadd | FileCheck %s --check-prefix=AVX512 --implicit-check-not='{{rsp.*mm|mm.*rsp}}' --implicit-check-not=vmovap
// RUN: deepaccel tile compile %examples/tile/product.mlir --target x86-64-amx --emit asm | %inner_loop vfmadd | FileCheck %s --check-prefix=AVX512 --implicit-check-not='{{rsp.*mm|mm.*rsp}}' --implicit-check-not=vmovap
// AVX512: vbroadcastss
// AVX512-COUNT-112: vfmadd231ps {{.*}}%zmm
// AVX512-NOT: vfmadd
//
// 6 x 16 with 256 bits: 12 accumulators of 16 registers.
// RUN: deepaccel tile compile %examples/tile/product.mlir --target x86-64-avx2 --emit asm | %inner_loop vfmadd | FileCheck %s --check-prefix=AVX2 --implicit-check-not='{{rsp.*mm|mm.*rsp}}' --implicit-check-not=vmovap
// RUN: deepaccel tile compile %examples/tile/product.mlir --target x86-64-avx2-vnni --emit asm | %inner_loop vfmadd | FileCheck %s --check-prefix=AVX2 --implicit-check-not='{{rsp.*mm|mm.*rsp}}' --implicit-check-not=vmovap
// AVX2-COUNT-48: vfmadd231ps {{.*}}%ymm
// AVX2-NOT: vfmadd
//
// 4 x 8 without multiply-add: 8 accumulators, and room for the products.
// RUN: deepaccel tile compile %examples/tile/product.mlir --target x86-64 --emit asm | %inner_loop mulps | FileCheck %s --check-prefix=SSE --implicit-check-not='{{rsp.*mm|mm.*rsp}}'
// SSE-COUNT-32: mulps
// SSE-NOT: mulps
//
// 8 x 12 on Arm: 24 accumulators; a's panel is loaded in vectors, and multiplied by lane.
// RUN: deepaccel tile compile %examples/tile/product.mlir --target aarch64-neon --emit asm | %inner_loop fmla | FileCheck %s --check-prefix=NEON --implicit-check-not='{{[qsdv][0-9]+,.*sp}}' --implicit-check-not=dup --implicit-check-not='{{mov.v}}'
// NEON: ldp q
// NEON-COUNT-96: fmla {{v[0-9]+.4s, v[0-9]+.4s, v[0-9]+.s\[[0-3]\]}}
// NEON-NOT: fmla
//
// 12 x 16 in SVE of 256 bits, 12 x 32 of 512.
// RUN: deepaccel tile compile %examples/tile/product.mlir --target aarch64-sve --emit asm | %inner_loop fmla | FileCheck %s --check-prefix=SVE --implicit-check-not='{{z[0-9]+,.*sp}}' --implicit-check-not='{{mov.z|movprfx}}'
// RUN: deepaccel tile compile %examples/tile/product.mlir --target aarch64-sve512 --emit asm | %inner_loop fmla | FileCheck %s --check-prefix=SVE --implicit-check-not='{{z[0-9]+,.*sp}}' --implicit-check-not='{{mov.z|movprfx}}'
// SVE: ld1rw
// SVE-COUNT-96: fmla {{z[0-9]+}}.s
// SVE-NOT: fmla
//
// 8 x 12 in RISC-V's vectors of 128 bits, times scalars; 4 x 4 without vectors.
// RUN: deepaccel tile compile %examples/tile/product.mlir --target riscv64-v --emit asm | %inner_loop vfm | FileCheck %s --check-prefix=RVV --implicit-check-not=vmv --implicit-check-not='{{v[sl]1r}}'
// RVV-COUNT-96: {{vfmacc.vf|vfmadd.vf}}
// RVV-NOT: vfm
// RUN: deepaccel tile compile %examples/tile/product.mlir --target riscv64 --emit asm | %inner_loop fmadd | FileCheck %s --check-prefix=RISCV --implicit-check-not='{{fs[wd]|fmv}}'
// RISCV-COUNT-64: fmadd.s
// RISCV-NOT: fmadd
//
// 8 x 12 and 12 x 16 on LoongArch: loads that broadcast.
// RUN: deepaccel tile compile %examples/tile/product.mlir --target loongarch64-lsx --emit asm | %inner_loop vfmadd | FileCheck %s --check-prefix=LSX --implicit-check-not='{{vst|vld.*sp}}'
// LSX: {{[[:space:]]}}vldrepl.w
// LSX-COUNT-96: {{[[:space:]]}}vfmadd.s
// LSX-NOT: vfmadd
// RUN: deepaccel tile compile %examples/tile/product.mlir --target loongarch64-lasx --emit asm | %inner_loop vfmadd | FileCheck %s --check-prefix=LASX --implicit-check-not='{{vst|vld.*sp}}'
// LASX: xvldrepl.w
// LASX-COUNT-96: xvfmadd.s
// LASX-NOT: vfmadd
