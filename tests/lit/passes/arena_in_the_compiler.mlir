// RUN: deepaccel tile opt %s --target x86-64-avx2 --stop-after plan-arena | FileCheck %s
// A chain of three products through all passes: six tiles of 32 x 32 floats, of which three are needed at once; 'a' has
// six rows, those of a register tile.

#shared = #tile.space<shared>
#global = #tile.space<global>

// CHECK: tile.grid {{.*}} attributes {tile.arena_bytes = 12288 : i64, tile.buffer_bytes = 25344 : i64
tile.kernel @chain(%A: memref<32x32xf32, #global> {tile.name = "A", tile.dims = ["", ""], tile.role = "in"},
                   %B: memref<32x32xf32, #global> {tile.name = "B", tile.dims = ["", ""], tile.role = "in"},
                   %C: memref<32x32xf32, #global> {tile.name = "C", tile.dims = ["", ""], tile.role = "in"},
                   %D: memref<32x32xf32, #global> {tile.name = "D", tile.dims = ["", ""], tile.role = "in"},
                   %O: memref<32x32xf32, #global> {tile.name = "O", tile.dims = ["", ""], tile.role = "out"}) {
  %c1 = arith.constant 1 : index
  tile.grid (%g) = (%c1) {
    %c0 = arith.constant 0 : index
    %a = tile.alloc "a" : memref<32x32xf32, #shared>
    %b = tile.alloc "b" : memref<32x32xf32, #shared>
    %ab = tile.alloc "ab" : memref<32x32xf32, #shared>
    %c = tile.alloc "c" : memref<32x32xf32, #shared>
    %abc = tile.alloc "abc" : memref<32x32xf32, #shared>
    %d = tile.alloc "d" : memref<32x32xf32, #shared>
    %abcd = tile.alloc "abcd" : memref<32x32xf32, #shared>
    tile.load %A[%c0, %c0] into %a : memref<32x32xf32, #global>, memref<32x32xf32, #shared>
    tile.load %B[%c0, %c0] into %b : memref<32x32xf32, #global>, memref<32x32xf32, #shared>
    tile.gemm %a, %b, %ab clear : memref<32x32xf32, #shared>, memref<32x32xf32, #shared>, memref<32x32xf32, #shared>
    tile.load %C[%c0, %c0] into %c : memref<32x32xf32, #global>, memref<32x32xf32, #shared>
    tile.gemm %ab, %c, %abc clear : memref<32x32xf32, #shared>, memref<32x32xf32, #shared>, memref<32x32xf32, #shared>
    tile.load %D[%c0, %c0] into %d : memref<32x32xf32, #global>, memref<32x32xf32, #shared>
    tile.gemm %abc, %d, %abcd clear : memref<32x32xf32, #shared>, memref<32x32xf32, #shared>, memref<32x32xf32, #shared>
    tile.store %abcd into %O[%c0, %c0] : memref<32x32xf32, #shared>, memref<32x32xf32, #global>
  }
}
