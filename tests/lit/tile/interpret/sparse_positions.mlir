// RUN: not deepaccel tile verify %s 2>&1 | FileCheck %s
// The two elements that a 2:4 sparse factor keeps of each group of four have places of their own.
#shared = #tile.space<shared>
// CHECK: sparse_positions.mlir:[[# @LINE + 14]]:5: position 2 stands twice in the group that ends at [0, 1] of 'positions'; the two elements of a group have places of their own
tile.kernel @twice(%C: memref<8x8xf32, #tile.space<global>> {tile.name = "C", tile.dims = ["", ""], tile.role = "out"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %two = arith.constant 2 : i32
  %half = arith.constant 0.5 : f32
  tile.grid (%block) = (%c1) {
    %a = tile.alloc "a" : memref<8x4xf32, #shared>
    %positions = tile.alloc "positions" : memref<8x4xi8, #shared>
    %b = tile.alloc "b" : memref<8x8xf32, #shared>
    %acc = tile.alloc "acc" : memref<8x8xf32, #shared>
    tile.fill %a, %half : memref<8x4xf32, #shared>, f32
    tile.fill %positions, %two : memref<8x4xi8, #shared>, i32
    tile.fill %b, %half : memref<8x8xf32, #shared>, f32
    tile.sparse_gemm %a, %positions, %b, %acc clear
        : memref<8x4xf32, #shared>, memref<8x4xi8, #shared>, memref<8x8xf32, #shared>, memref<8x8xf32, #shared>
    tile.store %acc into %C[%c0, %c0] : memref<8x8xf32, #shared>, memref<8x8xf32, #tile.space<global>>
  }
}
