// Every message of the verifiers of checks, prints and foreign calls, and of the attributes that passes leave.
// RUN: tile-opt %s --split-input-file --verify-diagnostics
%c0 = arith.constant 0 : index
%a = tile.alloc "a" : memref<8x8xf32, #tile.space<shared>>
%s = tile.slice %a[%c0, %c0] : memref<8x8xf32, #tile.space<shared>> to memref<4x4xf32, strided<[8, 1], offset: ?>, #tile.space<shared>>
// expected-error @+1 {{passes 'a' as operand 0, but C functions take buffers of static shape without gaps, not 'memref<4x4xf32, strided<[8, 1], offset: ?>, #tile.space<shared>>'; load it into a tile}}
tile.extern @f(%s) reads [0] : (memref<4x4xf32, strided<[8, 1], offset: ?>, #tile.space<shared>>) -> ()

// -----

%a = tile.alloc "a" : memref<8xf32, #tile.space<shared>>
// expected-error @+1 {{names operand 1 in reads, but there is no such operand; they count from 0}}
tile.extern @f(%a) reads [0, 1] : (memref<8xf32, #tile.space<shared>>) -> ()

// -----

%n = arith.constant 8 : index
%a = tile.alloc "a" : memref<8xf32, #tile.space<shared>>
// expected-error @+1 {{names operand 1 in writes, which is a scalar; name buffers alone}}
tile.extern @f(%a, %n) writes [1] : (memref<8xf32, #tile.space<shared>>, index) -> ()

// -----

%yes = arith.constant true
// expected-error @+1 {{'tile.assert' op has a zero byte in its message, after 3 others; leave it out}}
tile.assert %yes, "one\00two"

// -----

// expected-error @+1 {{'tile.print' op has a zero byte in its text, after 0 others; leave it out}}
tile.print "\00"

// -----

%a = tile.alloc "a" : memref<64x65xf32, #tile.space<shared>>
// expected-error @+1 {{prints 'a' of shape 64x65, but at most 4096 elements are printed at a time; print a slice, or single elements}}
tile.print "a", %a : memref<64x65xf32, #tile.space<shared>>

// -----

%a = tile.alloc "a" : memref<64x64xf32, #tile.space<shared>>
%n = arith.constant 1 : index
tile.print "a", %a : memref<64x64xf32, #tile.space<shared>>
// expected-error @+1 {{prints many values, but at most 4096 elements are printed at a time}}
tile.print "a", %a, %n : memref<64x64xf32, #tile.space<shared>>, index

// -----

%n = arith.constant 1 : index
tile.kernel @k(%A: memref<?xf32, #tile.space<global>> {tile.name = "A", tile.dims = ["N"], tile.role = "in"}) {
  // expected-error @+1 {{prints 'A' of shape ?, but at most 4096 elements are printed at a time}}
  tile.print "A", %A : memref<?xf32, #tile.space<global>>
}

// -----

// expected-error @+1 {{expects tile.panels to be [axis, width] or [axis, width, group] of the last two dimensions, with axis 0 or 1, width and group 1 to 4096, got array<i64: 1, 0>}}
%a = tile.alloc "a" {tile.panels = array<i64: 1, 0>} : memref<8x8xf32, #tile.space<shared>>

// -----

// expected-error @+1 {{with axis 0 or 1, width and group 1 to 4096, got array<i64: 2, 8>}}
%a = tile.alloc "a" {tile.panels = array<i64: 2, 8>} : memref<8x8xf32, #tile.space<shared>>

// -----

// expected-error @+1 {{of the last two dimensions, with axis 0 or 1, width and group 1 to 4096, got array<i64: 0, 8>}}
%a = tile.alloc "a" {tile.panels = array<i64: 0, 8>} : memref<8xf32, #tile.space<shared>>

// -----

tile.kernel @k(%A: memref<?xf32, #tile.space<global>> {tile.name = "A", tile.dims = ["N"], tile.role = "in"}) {
  // expected-error @+1 {{expects tile.kept to be "tile" or "marks", inside a grid, got "tile"}}
  %a = tile.alloc "a" {tile.kept = "tile"} : memref<8xf32, #tile.space<global>>
}

// -----

tile.kernel @k(%A: memref<?xf32, #tile.space<global>> {tile.name = "A", tile.dims = ["N"], tile.role = "in"}) {
  %c1 = arith.constant 1 : index
  tile.grid (%g) = (%c1) {
    // expected-error @+1 {{expects tile.kept to be "tile" or "marks", inside a grid, got "forever"}}
    %a = tile.alloc "a" {tile.kept = "forever"} : memref<8xf32, #tile.space<shared>>
  }
}

// -----

tile.kernel @k(%A: memref<?xf32, #tile.space<global>> {tile.name = "A", tile.dims = ["N"], tile.role = "in"}) {
  %c1 = arith.constant 1 : index
  tile.grid (%g) = (%c1) {
    // expected-error @+1 {{expects marks to be i64, got 'f32'}}
    %a = tile.alloc "a" {tile.kept = "marks"} : memref<8xf32, #tile.space<shared>>
  }
}

// -----

// expected-error @+1 {{with axis 0 or 1, width and group 1 to 4096, got array<i64: 1, 8, 0>}}
%a = tile.alloc "a" {tile.panels = array<i64: 1, 8, 0>} : memref<8x8xf32, #tile.space<shared>>

// -----

// expected-error @+1 {{with axis 0 or 1, width and group 1 to 4096, got "wide"}}
%a = tile.alloc "a" {tile.panels = "wide"} : memref<8x8xf32, #tile.space<shared>>

// -----

// expected-error @+1 {{expects tile.storage to be a type that arithmetic knows and that holds all of 'f32', got i32}}
%a = tile.alloc "a" {tile.storage = i32} : memref<8xf32, #tile.space<shared>>

// -----

%b = tile.alloc "b" {tile.storage = f32} : memref<8xi16, #tile.space<shared>>
// expected-error @+1 {{expects tile.storage to be a type that arithmetic knows and that holds all of 'i32', got f32}}
%a = tile.alloc "a" {tile.storage = f32} : memref<8xi32, #tile.space<shared>>

// -----

// expected-error @+1 {{expects tile.offset to be a multiple of 64 of type i64, got 32 : i64}}
%a = tile.alloc "a" {tile.offset = 32 : i64} : memref<8xf32, #tile.space<shared>>

// -----

// expected-error @+1 {{expects tile.offset to be a multiple of 64 of type i64, got -64 : i64}}
%a = tile.alloc "a" {tile.offset = -64 : i64} : memref<8xf32, #tile.space<shared>>

// -----

%a = tile.alloc "a" : memref<8x8xf32, #tile.space<shared>>
%b = tile.alloc "b" : memref<8x8xf32, #tile.space<shared>>
%c = tile.alloc "c" : memref<8x8xf32, #tile.space<shared>>
// expected-error @+1 {{expects tile.register_tile to be [rows, columns], each 1 to 4096, got array<i64: 0, 16>}}
tile.gemm %a, %b, %c {tile.register_tile = array<i64: 0, 16>} : memref<8x8xf32, #tile.space<shared>>, memref<8x8xf32, #tile.space<shared>>, memref<8x8xf32, #tile.space<shared>>
