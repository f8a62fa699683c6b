// Products of 8-bit integers take four along K an instruction where the target has one, bf16 two; four steps in the inner
// loop, 28 (or 24) sums in registers.
//
// RUN: sed 's/FACTOR/i8/g; s/ZERO/0/g; s/SUM/i32/g' %s > %t.mlir
// RUN: deepaccel tile compile %t.mlir --target x86-64-avx512-vnni --emit asm | %inner_loop vpdpbusd | FileCheck %s --check-prefix=VNNI --implicit-check-not='{{rsp.*mm|mm.*rsp}}'
// RUN: deepaccel tile compile %t.mlir --target x86-64-zen4 --emit asm | %inner_loop vpdpbusd | FileCheck %s --check-prefix=VNNI --implicit-check-not='{{rsp.*mm|mm.*rsp}}'
// VNNI-COUNT-112: vpdpbusd {{.*}}%zmm
// VNNI-NOT: vpdpbusd
// RUN: deepaccel tile compile %t.mlir --target x86-64-avx2-vnni --emit asm | %inner_loop vpdpbusd | FileCheck %s --check-prefix=AVXVNNI --implicit-check-not='{{mm.*rsp}}'
// (All 16 registers are taken there, and a constant comes from the stack; nothing goes to it.)
// AVXVNNI-COUNT-48: vpdpbusd {{.*}}%ymm
// AVXVNNI-NOT: vpdpbusd
// RUN: deepaccel tile compile %t.mlir --target x86-64-avx512 --emit asm | FileCheck %s --check-prefix=NONE --implicit-check-not=vpdpbusd
// NONE: vpmulld
// RUN: deepaccel tile compile %t.mlir --target aarch64-neon --emit asm | %inner_loop sdot | FileCheck %s --check-prefix=SDOT --implicit-check-not='{{[qsdv][0-9]+,.*sp}}'
// SDOT-COUNT-96: sdot {{v[0-9]+.4s, v[0-9]+.16b, v[0-9]+.4b\[[0-3]\]}}
// SDOT-NOT: sdot
// RUN: deepaccel tile compile %t.mlir --target aarch64-sve --emit asm | %inner_loop sdot | FileCheck %s --check-prefix=SVE --implicit-check-not='{{z[0-9]+,.*sp}}'
// SVE-COUNT-96: sdot {{z[0-9]+}}.s
// SVE-NOT: sdot
//
// AMX: two by two sums of 16 x 16 in tile registers through the loop.
// RUN: deepaccel tile compile %t.mlir --target x86-64-amx --emit asm | FileCheck %s --check-prefix=TILES
// TILES: ldtilecfg
// TILES: tileloadd
// TILES-NOT: tilestored
// TILES-COUNT-16: tdpbssd {{.*}}%tmm
//
// RUN: sed 's/FACTOR/bf16/g; s/ZERO/0.0/g; s/SUM/f32/g' %s > %t.mlir
// RUN: deepaccel tile compile %t.mlir --target x86-64-avx512-bf16 --emit asm | %inner_loop vdpbf16ps | FileCheck %s --check-prefix=BF16 --implicit-check-not='{{rsp.*mm|mm.*rsp}}'
// RUN: deepaccel tile compile %t.mlir --target x86-64-zen4 --emit asm | %inner_loop vdpbf16ps | FileCheck %s --check-prefix=BF16 --implicit-check-not='{{rsp.*mm|mm.*rsp}}'
// BF16-COUNT-112: vdpbf16ps {{.*}}%zmm
// BF16-NOT: vdpbf16ps
// RUN: deepaccel tile compile %t.mlir --target x86-64-amx --emit asm | FileCheck %s --check-prefix=TILES16
// TILES16: ldtilecfg
// TILES16: tileloadd
// TILES16-NOT: tilestored
// TILES16-COUNT-16: tdpbf16ps {{.*}}%tmm
tile.kernel @product(%A: memref<?x?xFACTOR, #tile.space<global>> {tile.name = "A", tile.dims = ["M", "K"], tile.role = "in"},
                     %B: memref<?x?xFACTOR, #tile.space<global>> {tile.name = "B", tile.dims = ["K", "N"], tile.role = "in"},
                     %C: memref<?x?xSUM, #tile.space<global>> {tile.name = "C", tile.dims = ["M", "N"], tile.role = "out"}) {
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
    %a = tile.alloc "a" : memref<112x256xFACTOR, #tile.space<shared>>
    %b = tile.alloc "b" : memref<256x128xFACTOR, #tile.space<shared>>
    %acc = tile.alloc "acc" : memref<112x128xSUM, #tile.space<fragment>>
    %zero = arith.constant ZERO : SUM
    tile.fill %acc, %zero : memref<112x128xSUM, #tile.space<fragment>>, SUM
    tile.pipeline %k = %c0 to %K step %c256 stages(2) {
      tile.load %A[%i, %k] into %a : memref<?x?xFACTOR, #tile.space<global>>, memref<112x256xFACTOR, #tile.space<shared>>
      tile.load %B[%k, %j] into %b : memref<?x?xFACTOR, #tile.space<global>>, memref<256x128xFACTOR, #tile.space<shared>>
      tile.gemm %a, %b, %acc : memref<112x256xFACTOR, #tile.space<shared>>, memref<256x128xFACTOR, #tile.space<shared>>, memref<112x128xSUM, #tile.space<fragment>>
    }
    tile.store %acc into %C[%i, %j] : memref<112x128xSUM, #tile.space<fragment>>, memref<?x?xSUM, #tile.space<global>>
  }
}
