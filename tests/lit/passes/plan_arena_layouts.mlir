// RUN: tile-opt %s -plan-arena | FileCheck %s
// The layout's size counts: elements stored wider, a dimension rounded up to panels; so does the alignment asked for.

#shared = #tile.space<shared>
#global = #tile.space<global>

// CHECK-LABEL: tile.kernel @layout
// CHECK: tile.grid {{.*}} attributes {tile.arena_bytes = 8192 : i64, tile.buffer_bytes = 8192 : i64}
// CHECK: tile.alloc "panels" {tile.offset = 0 : i64
// CHECK: tile.alloc "page" {align = 4096 : i64, tile.offset = 4096 : i64}
tile.kernel @layout(%A: memref<?x?xbf16, #global> {tile.name = "A", tile.dims = ["?", "?"], tile.role = "in"},
                    %O: memref<?x?xbf16, #global> {tile.name = "O", tile.dims = ["?", "?"], tile.role = "out"}) {
  %c1 = arith.constant 1 : index
  tile.grid (%g) = (%c1) {
    %c0 = arith.constant 0 : index
    %x = tile.alloc "panels" {tile.storage = f32, tile.panels = array<i64: 1, 16>} : memref<32x17xbf16, #shared>
    %y = tile.alloc "page" {align = 4096 : i64} : memref<64x32xbf16, #shared>
    tile.load %A[%c0, %c0] into %x : memref<?x?xbf16, #global>, memref<32x17xbf16, #shared>
    tile.load %A[%c0, %c1] into %y : memref<?x?xbf16, #global>, memref<64x32xbf16, #shared>
    tile.store %x into %O[%c0, %c0] : memref<32x17xbf16, #shared>, memref<?x?xbf16, #global>
    tile.store %y into %O[%c0, %c1] : memref<64x32xbf16, #shared>, memref<?x?xbf16, #global>
  }
}
