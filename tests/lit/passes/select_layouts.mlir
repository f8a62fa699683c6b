// RUN: deepaccel tile opt %s --target x86-64-avx2 --stop-after select-layouts | FileCheck %s
// RUN: deepaccel tile opt %s --target x86-64-avx512 --stop-after select-layouts | FileCheck %s --check-prefix=AVX512

// The right factor lies in panels of the register tile's width; a narrow one is decoded to the accumulation type on the
// way in, and the left one too. A factor that is a slice gets a tile of its own.
// CHECK-LABEL: tile.kernel @products
// CHECK: tile.grid {{.*}} attributes {{.*}}tile.decisions = ["product 48 x 64 x 32: register tile {{[0-9]+}} x [[NR:[0-9]+]] (x86-64-avx2), 'b' packed in panels of [[NR]], decoded from bf16 to f32"
// CHECK: tile.alloc "a" {tile.storage = f32} : memref<48x32xf16
// CHECK: %[[B:.*]] = tile.alloc "b" {tile.panels = array<i64: 1, [[NR]]>, tile.storage = f32} : memref<32x64xbf16
// CHECK: tile.gemm {{.*}} {tile.register_tile = array<i64: {{[0-9]+}}, [[NR]]>}
// CHECK: %[[S:.*]] = tile.slice
// CHECK: %[[P:.*]] = tile.alloc "packed" {tile.panels = array<i64: 0, {{[0-9]+}}>} : memref<64x32xf32
// CHECK: tile.copy %[[S]] to %[[P]]
// CHECK: tile.gemm {{.*}}, %[[P]], {{.*}} transpose_b

// The accumulators of a register tile leave room for a row of b and a broadcast: at most 32 registers of 16 lanes.
// AVX512: tile.register_tile = array<i64: {{[0-9]+}}, {{(16|32|48|64)}}>
tile.kernel @products(%A: memref<48x32xf16, #tile.space<global>> {tile.name = "A", tile.dims = ["", ""], tile.role = "in"},
                      %B: memref<32x64xbf16, #tile.space<global>> {tile.name = "B", tile.dims = ["", ""], tile.role = "in"},
                      %C: memref<48x64xf32, #tile.space<global>> {tile.name = "C", tile.dims = ["", ""], tile.role = "out"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid (%x) = (%c1) {
    %a = tile.alloc "a" : memref<48x32xf16, #tile.space<shared>>
    %b = tile.alloc "b" : memref<32x64xbf16, #tile.space<shared>>
    %w = tile.alloc "w" : memref<128x32xf32, #tile.space<shared>>
    %acc = tile.alloc "acc" : memref<48x64xf32, #tile.space<fragment>>
    tile.load %A[%c0, %c0] into %a : memref<48x32xf16, #tile.space<global>>, memref<48x32xf16, #tile.space<shared>>
    tile.load %B[%c0, %c0] into %b : memref<32x64xbf16, #tile.space<global>>, memref<32x64xbf16, #tile.space<shared>>
    tile.gemm %a, %b, %acc clear : memref<48x32xf16, #tile.space<shared>>, memref<32x64xbf16, #tile.space<shared>>, memref<48x64xf32, #tile.space<fragment>>
    %zero = arith.constant 0.0 : f32
    tile.fill %w, %zero : memref<128x32xf32, #tile.space<shared>>, f32
    %s = tile.slice %w[%c1, %c0] : memref<128x32xf32, #tile.space<shared>> to memref<64x32xf32, strided<[32, 1], offset: ?>, #tile.space<shared>>
    tile.gemm %a, %s, %acc transpose_b : memref<48x32xf16, #tile.space<shared>>, memref<64x32xf32, strided<[32, 1], offset: ?>, #tile.space<shared>>, memref<48x64xf32, #tile.space<fragment>>
    tile.store %acc into %C[%c0, %c0] : memref<48x64xf32, #tile.space<fragment>>, memref<48x64xf32, #tile.space<global>>
  }
}
