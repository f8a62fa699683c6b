// Every message of the verifiers of compute operations.
// RUN: tile-opt %s --split-input-file --verify-diagnostics
%c0 = arith.constant 0 : index
%a = tile.alloc "a" : memref<8x8xf32, #tile.space<shared>>
// expected-error @+1 {{'tile.read' op expects 2 indices, one for each dimension of 'a', got 1}}
%v = tile.read %a[%c0] : memref<8x8xf32, #tile.space<shared>> -> f32

// -----

%c0 = arith.constant 0 : index
%a = tile.alloc "a" : memref<8xbf16, #tile.space<shared>>
// expected-error @+1 {{expects the value to be 'f32', the compute type of 'bf16' in 'a', got 'f64'}}
%v = tile.read %a[%c0] : memref<8xbf16, #tile.space<shared>> -> f64

// -----

%v = arith.constant 0.0 : f32
%a = tile.alloc "a" : memref<8xf32, #tile.space<shared>>
// expected-error @+1 {{'tile.write' op expects 1 indices, one for each dimension of 'a', got 0}}
tile.write %v, %a[] : f32, memref<8xf32, #tile.space<shared>>

// -----

%c0 = arith.constant 0 : index
%v = arith.constant 0.0 : f32
%a = tile.alloc "a" : memref<8xi8, #tile.space<shared>>
// expected-error @+1 {{'tile.write' op expects the value to be 'i32', the compute type of 'i8' in 'a', got 'f32'}}
tile.write %v, %a[%c0] : f32, memref<8xi8, #tile.space<shared>>

// -----

%v = arith.constant 0.0 : f32
%a = tile.alloc "a" : memref<8xf32, #tile.space<shared>>
// expected-error @+1 {{'tile.combine' op expects 1 indices, one for each dimension of 'a', got 0}}
tile.combine add %v, %a[] : f32, memref<8xf32, #tile.space<shared>>

// -----

%c0 = arith.constant 0 : index
%v = arith.constant 0 : i64
%a = tile.alloc "a" : memref<8xi32, #tile.space<shared>>
// expected-error @+1 {{'tile.combine' op expects the value to be 'i32', the compute type of 'i32' in 'a', got 'i64'}}
tile.combine add %v, %a[%c0] : i64, memref<8xi32, #tile.space<shared>>

// -----

%c0 = arith.constant 0 : index
%v = arith.constant 0.0 : f32
%a = tile.alloc "a" : memref<8xf32, #tile.space<shared>>
// expected-error @+1 {{'tile.combine' op cannot combine by exchange, which is for atomics; use tile.write or tile.store}}
tile.combine exchange %v, %a[%c0] : f32, memref<8xf32, #tile.space<shared>>

// -----

%c0 = arith.constant 0 : index
%v = arith.constant 0.0 : f32
%a = tile.alloc "a" : memref<8xf32, #tile.space<shared>>
// expected-error @+1 {{combines by xor, which is for integers, but 'a' holds 'f32'; use add, mul, max or min}}
tile.combine xor %v, %a[%c0] : f32, memref<8xf32, #tile.space<shared>>

// -----

%c0 = arith.constant 0 : index
%v = arith.constant true
%a = tile.alloc "a" : memref<8xi1, #tile.space<shared>>
// expected-error @+1 {{combines booleans of 'a' by add; use and, or or xor}}
tile.combine add %v, %a[%c0] : i1, memref<8xi1, #tile.space<shared>>

// -----

%c0 = arith.constant 0 : index
%v = arith.constant 0.0 : f32
%a = tile.alloc "a" : memref<8xf32, #tile.space<shared>>
// expected-error @+1 {{has propagate_nan, which is for max, min and absmax of floats; leave it out}}
tile.combine add %v, %a[%c0] propagate_nan : f32, memref<8xf32, #tile.space<shared>>

// -----

%c0 = arith.constant 0 : index
%v = arith.constant 0 : i32
%a = tile.alloc "a" : memref<8xi32, #tile.space<shared>>
// expected-error @+1 {{has propagate_nan, which is for max, min and absmax of floats; leave it out}}
tile.combine max %v, %a[%c0] propagate_nan : i32, memref<8xi32, #tile.space<shared>>

// -----

%zero = arith.constant 0 : i32
%a = tile.alloc "a" : memref<8xf16, #tile.space<shared>>
// expected-error @+1 {{'tile.fill' op expects the value to be 'f32', the compute type of 'f16' in 'a', got 'i32'}}
tile.fill %a, %zero : memref<8xf16, #tile.space<shared>>, i32

// -----

// expected-error @+1 {{'tile.map' op expects 1 to 6 sizes, got 7}}
tile.map (%a, %b, %c, %d, %e, %f, %g) in [1, 1, 1, 1, 1, 1, 1] {
}

// -----

// expected-error @+1 {{'tile.map' op expects 1 to 6 sizes, got 0}}
tile.map () in [] {
}

// -----

// expected-error @+1 {{has 1 run-time sizes in static_sizes, but 0 operands for them}}
"tile.map"() <{static_sizes = array<i64: -9223372036854775808>}> ({
^bb0(%i: index):
}) : () -> ()

// -----

// expected-error @+1 {{has size -3; sizes are not negative}}
tile.map (%i, %j) in [4, -3] {
}

// -----

%n = arith.constant -2 : index
// expected-error @+1 {{has size -2; sizes are not negative}}
tile.map (%i) in [%n] {
}

// -----

// expected-error @+1 {{has more points than 64 bits can count, in 4611686018427387904x4}}
tile.map (%i, %j) in [4611686018427387904, 4] {
}

// -----

// expected-error @+1 {{expects 2 arguments of type index in its region, got 1}}
tile.map (%i) in [4, 4] {
}

// -----

// expected-error @+1 {{expects 1 arguments of type index in its region, got 1 of other types}}
"tile.map"() <{static_sizes = array<i64: 4>}> ({
^bb0(%i: i32):
}) : () -> ()

// -----

%a = tile.alloc "a" : memref<8xf32, #tile.space<shared>>
%b = tile.alloc "b" : memref<4x8xf32, #tile.space<shared>>
%c = tile.alloc "c" : memref<8x8xf32, #tile.space<fragment>>
// expected-error @+1 {{'tile.gemm' op expects 'a' to have 2 dimensions, got shape 8}}
tile.gemm %a, %b, %c : memref<8xf32, #tile.space<shared>>, memref<4x8xf32, #tile.space<shared>>, memref<8x8xf32, #tile.space<fragment>>

// -----

%a = tile.alloc "a" : memref<8x4xf32, #tile.space<shared>>
%b = tile.alloc "b" : memref<8x4xf32, #tile.space<shared>>
%c = tile.alloc "c" : memref<8x8xf32, #tile.space<fragment>>
// expected-error @+1 {{has K = 4 in 'a' (8x4), but 8 in 'b' (8x4); check the shapes and transpose_a, transpose_b}}
tile.gemm %a, %b, %c : memref<8x4xf32, #tile.space<shared>>, memref<8x4xf32, #tile.space<shared>>, memref<8x8xf32, #tile.space<fragment>>

// -----

%a = tile.alloc "a" : memref<4x6xf32, #tile.space<shared>>
%b = tile.alloc "b" : memref<8x4xf32, #tile.space<shared>>
%c = tile.alloc "c" : memref<8x8xf32, #tile.space<fragment>>
// expected-error @+1 {{has M = 6 in 'a' (4x6), but 8 in 'c' (8x8)}}
tile.gemm %a, %b, %c transpose_a transpose_b : memref<4x6xf32, #tile.space<shared>>, memref<8x4xf32, #tile.space<shared>>, memref<8x8xf32, #tile.space<fragment>>

// -----

%a = tile.alloc "a" : memref<8x4xf32, #tile.space<shared>>
%b = tile.alloc "b" : memref<6x4xf32, #tile.space<shared>>
%c = tile.alloc "c" : memref<8x8xf32, #tile.space<fragment>>
// expected-error @+1 {{has N = 6 in 'b' (6x4), but 8 in 'c' (8x8)}}
tile.gemm %a, %b, %c transpose_b : memref<8x4xf32, #tile.space<shared>>, memref<6x4xf32, #tile.space<shared>>, memref<8x8xf32, #tile.space<fragment>>

// -----

%a = tile.alloc "a" : memref<8x4xi32, #tile.space<shared>>
%b = tile.alloc "b" : memref<4x8xi8, #tile.space<shared>>
%c = tile.alloc "c" : memref<8x8xi32, #tile.space<fragment>>
// expected-error @+1 {{cannot multiply 'i32' of 'a' into 'i32' of 'c'; factors are i8, ui8, i4, or, with a float accumulator, any float}}
tile.gemm %a, %b, %c : memref<8x4xi32, #tile.space<shared>>, memref<4x8xi8, #tile.space<shared>>, memref<8x8xi32, #tile.space<fragment>>

// -----

%a = tile.alloc "a" : memref<8x4xi8, #tile.space<shared>>
%b = tile.alloc "b" : memref<4x8xf32, #tile.space<shared>>
%c = tile.alloc "c" : memref<8x8xi32, #tile.space<fragment>>
// expected-error @+1 {{cannot multiply 'f32' of 'b' into 'i32' of 'c'}}
tile.gemm %a, %b, %c : memref<8x4xi8, #tile.space<shared>>, memref<4x8xf32, #tile.space<shared>>, memref<8x8xi32, #tile.space<fragment>>

// -----

%a = tile.alloc "a" : memref<8x4xi8, #tile.space<shared>>
%b = tile.alloc "b" : memref<4x8xi8, #tile.space<shared>>
%c = tile.alloc "c" : memref<8x8xi8, #tile.space<fragment>>
// expected-error @+1 {{cannot sum in 'i8' of 'c'; accumulate in f32, f64, f16, bf16 or i32}}
tile.gemm %a, %b, %c : memref<8x4xi8, #tile.space<shared>>, memref<4x8xi8, #tile.space<shared>>, memref<8x8xi8, #tile.space<fragment>>

// -----

%a = tile.alloc "a" : memref<8x8xf32, #tile.space<shared>>
%b = tile.alloc "b" : memref<8x8xf32, #tile.space<shared>>
// expected-error @+1 {{'tile.gemm' op reads and writes 'b'}}
tile.gemm %a, %b, %b : memref<8x8xf32, #tile.space<shared>>, memref<8x8xf32, #tile.space<shared>>, memref<8x8xf32, #tile.space<shared>>

// -----

%c0 = arith.constant 0 : index
%a = tile.alloc "a" : memref<8x8xf32, #tile.space<shared>>
%b = tile.alloc "b" : memref<8x8xf32, #tile.space<shared>>
%c = tile.alloc "c" : memref<8x8xf32, #tile.space<shared>>
// expected-error @+1 {{'tile.gemm' op expects rows, columns and depth after 'live', got 2 values}}
tile.gemm %a, %b, %c live[%c0, %c0] : memref<8x8xf32, #tile.space<shared>>, memref<8x8xf32, #tile.space<shared>>, memref<8x8xf32, #tile.space<shared>>

// -----

%a = tile.alloc "a" : memref<8x8xf32, #tile.space<shared>>
%b = tile.alloc "b" : memref<8x8xf32, #tile.space<shared>>
%c = tile.alloc "c" : memref<8x8xf32, #tile.space<shared>>
%s = tile.alloc "s" : memref<8x1xf32, #tile.space<shared>>
// expected-error @+1 {{has scales for one factor alone; give scale_a and scale_b}}
"tile.gemm"(%a, %b, %c, %s) <{operandSegmentSizes = array<i32: 1, 1, 1, 1, 0, 0>}> : (memref<8x8xf32, #tile.space<shared>>, memref<8x8xf32, #tile.space<shared>>, memref<8x8xf32, #tile.space<shared>>, memref<8x1xf32, #tile.space<shared>>) -> ()

// -----

%a = tile.alloc "a" : memref<8x8xi8, #tile.space<shared>>
%b = tile.alloc "b" : memref<8x8xi8, #tile.space<shared>>
%c = tile.alloc "c" : memref<8x8xi32, #tile.space<shared>>
%s = tile.alloc "s" : memref<8x1xf32, #tile.space<shared>>
// expected-error @+1 {{has scales, but 'c' holds 'i32'; accumulate scaled products in floats}}
tile.gemm %a, %b, %c scales(%s, %s : memref<8x1xf32, #tile.space<shared>>, memref<8x1xf32, #tile.space<shared>>) : memref<8x8xi8, #tile.space<shared>>, memref<8x8xi8, #tile.space<shared>>, memref<8x8xi32, #tile.space<shared>>

// -----

%a = tile.alloc "a" : memref<8x8xi8, #tile.space<shared>>
%b = tile.alloc "b" : memref<8x8xi8, #tile.space<shared>>
%c = tile.alloc "c" : memref<8x8xf32, #tile.space<shared>>
%s = tile.alloc "s" : memref<8x1xf32, #tile.space<shared>>
%r = tile.alloc "r" : memref<8xf32, #tile.space<shared>>
// expected-error @+1 {{'tile.gemm' op expects 'r' to have 2 dimensions, got shape 8}}
tile.gemm %a, %b, %c scales(%s, %r : memref<8x1xf32, #tile.space<shared>>, memref<8xf32, #tile.space<shared>>) : memref<8x8xi8, #tile.space<shared>>, memref<8x8xi8, #tile.space<shared>>, memref<8x8xf32, #tile.space<shared>>

// -----

%a = tile.alloc "a" : memref<8x8xi8, #tile.space<shared>>
%b = tile.alloc "b" : memref<8x8xi8, #tile.space<shared>>
%c = tile.alloc "c" : memref<8x8xf32, #tile.space<shared>>
%s = tile.alloc "s" : memref<8x1xi8, #tile.space<shared>>
// expected-error @+1 {{expects the scales 's' to be floats, got 'i8'}}
tile.gemm %a, %b, %c scales(%s, %s : memref<8x1xi8, #tile.space<shared>>, memref<8x1xi8, #tile.space<shared>>) : memref<8x8xi8, #tile.space<shared>>, memref<8x8xi8, #tile.space<shared>>, memref<8x8xf32, #tile.space<shared>>

// -----

%a = tile.alloc "a" : memref<8x16xi8, #tile.space<shared>>
%b = tile.alloc "b" : memref<16x8xi8, #tile.space<shared>>
%c = tile.alloc "c" : memref<8x8xf32, #tile.space<shared>>
%s = tile.alloc "s" : memref<8x3xf32, #tile.space<shared>>
%r = tile.alloc "r" : memref<2x8xf32, #tile.space<shared>>
// expected-error @+1 {{expects the shape of the scales 's' to divide M x K = 8x16, got 8x3}}
tile.gemm %a, %b, %c scales(%s, %r : memref<8x3xf32, #tile.space<shared>>, memref<2x8xf32, #tile.space<shared>>) : memref<8x16xi8, #tile.space<shared>>, memref<16x8xi8, #tile.space<shared>>, memref<8x8xf32, #tile.space<shared>>

// -----

%a = tile.alloc "a" : memref<8x16xi8, #tile.space<shared>>
%b = tile.alloc "b" : memref<16x8xi8, #tile.space<shared>>
%c = tile.alloc "c" : memref<8x8xf32, #tile.space<shared>>
%s = tile.alloc "s" : memref<8x2xf32, #tile.space<shared>>
%r = tile.alloc "r" : memref<8x16xf32, #tile.space<shared>>
// expected-error @+1 {{expects the shape of the scales 'r' to divide K x N = 16x8, got 8x16}}
tile.gemm %a, %b, %c scales(%s, %r : memref<8x2xf32, #tile.space<shared>>, memref<8x16xf32, #tile.space<shared>>) : memref<8x16xi8, #tile.space<shared>>, memref<16x8xi8, #tile.space<shared>>, memref<8x8xf32, #tile.space<shared>>

// -----

%a = tile.alloc "a" : memref<8x4xf32, #tile.space<shared>>
%e = tile.alloc "e" : memref<4xi8, #tile.space<shared>>
%b = tile.alloc "b" : memref<8x8xf32, #tile.space<shared>>
%c = tile.alloc "c" : memref<8x8xf32, #tile.space<shared>>
// expected-error @+1 {{'tile.sparse_gemm' op expects 'e' to have 2 dimensions, got shape 4}}
tile.sparse_gemm %a, %e, %b, %c : memref<8x4xf32, #tile.space<shared>>, memref<4xi8, #tile.space<shared>>, memref<8x8xf32, #tile.space<shared>>, memref<8x8xf32, #tile.space<shared>>

// -----

%a = tile.alloc "a" : memref<8x4xf32, #tile.space<shared>>
%e = tile.alloc "e" : memref<8x2xi8, #tile.space<shared>>
%b = tile.alloc "b" : memref<8x8xf32, #tile.space<shared>>
%c = tile.alloc "c" : memref<8x8xf32, #tile.space<shared>>
// expected-error @+1 {{'tile.sparse_gemm' op expects 'a' and 'e' to have one shape, got 8x4 and 8x2}}
tile.sparse_gemm %a, %e, %b, %c : memref<8x4xf32, #tile.space<shared>>, memref<8x2xi8, #tile.space<shared>>, memref<8x8xf32, #tile.space<shared>>, memref<8x8xf32, #tile.space<shared>>

// -----

%a = tile.alloc "a" : memref<8x4xf32, #tile.space<shared>>
%e = tile.alloc "e" : memref<8x4xi32, #tile.space<shared>>
%b = tile.alloc "b" : memref<8x8xf32, #tile.space<shared>>
%c = tile.alloc "c" : memref<8x8xf32, #tile.space<shared>>
// expected-error @+1 {{expects the positions 'e' to be i8, got 'i32'}}
tile.sparse_gemm %a, %e, %b, %c : memref<8x4xf32, #tile.space<shared>>, memref<8x4xi32, #tile.space<shared>>, memref<8x8xf32, #tile.space<shared>>, memref<8x8xf32, #tile.space<shared>>

// -----

%a = tile.alloc "a" : memref<8x3xf32, #tile.space<shared>>
%e = tile.alloc "e" : memref<8x3xi8, #tile.space<shared>>
%b = tile.alloc "b" : memref<6x8xf32, #tile.space<shared>>
%c = tile.alloc "c" : memref<8x8xf32, #tile.space<shared>>
// expected-error @+1 {{expects an even number of columns in 'a', two for each group of four, got 3}}
tile.sparse_gemm %a, %e, %b, %c : memref<8x3xf32, #tile.space<shared>>, memref<8x3xi8, #tile.space<shared>>, memref<6x8xf32, #tile.space<shared>>, memref<8x8xf32, #tile.space<shared>>

// -----

%a = tile.alloc "a" : memref<8x4xf32, #tile.space<shared>>
%e = tile.alloc "e" : memref<8x4xi8, #tile.space<shared>>
%b = tile.alloc "b" : memref<4x8xf32, #tile.space<shared>>
%c = tile.alloc "c" : memref<8x8xf32, #tile.space<shared>>
// expected-error @+1 {{'tile.sparse_gemm' op has K = 8 in 'a' (8x4), but 4 in 'b' (4x8)}}
tile.sparse_gemm %a, %e, %b, %c : memref<8x4xf32, #tile.space<shared>>, memref<8x4xi8, #tile.space<shared>>, memref<4x8xf32, #tile.space<shared>>, memref<8x8xf32, #tile.space<shared>>

// -----

%a = tile.alloc "a" : memref<8x4xf32, #tile.space<shared>>
%e = tile.alloc "e" : memref<8x4xi8, #tile.space<shared>>
%b = tile.alloc "b" : memref<5x8xf32, #tile.space<shared>>
%c = tile.alloc "c" : memref<8x8xf32, #tile.space<shared>>
// expected-error @+1 {{'tile.sparse_gemm' op has N = 5 in 'b' (5x8), but 8 in 'c' (8x8)}}
tile.sparse_gemm %a, %e, %b, %c transpose_b : memref<8x4xf32, #tile.space<shared>>, memref<8x4xi8, #tile.space<shared>>, memref<5x8xf32, #tile.space<shared>>, memref<8x8xf32, #tile.space<shared>>

// -----

%a = tile.alloc "a" : memref<8x4xf32, #tile.space<shared>>
%e = tile.alloc "e" : memref<8x4xi8, #tile.space<shared>>
%c = tile.alloc "c" : memref<8x8xf32, #tile.space<shared>>
// expected-error @+1 {{'tile.sparse_gemm' op reads and writes 'c'}}
tile.sparse_gemm %a, %e, %c, %c : memref<8x4xf32, #tile.space<shared>>, memref<8x4xi8, #tile.space<shared>>, memref<8x8xf32, #tile.space<shared>>, memref<8x8xf32, #tile.space<shared>>

// -----

%s = tile.alloc "s" : memref<8x4xf32, #tile.space<shared>>
%d = tile.alloc "d" : memref<8xf32, #tile.space<shared>>
// expected-error @+1 {{runs along dimension 2, but 's' has dimensions 0 to 1}}
tile.reduce add %s into %d dim 2 : memref<8x4xf32, #tile.space<shared>>, memref<8xf32, #tile.space<shared>>

// -----

%s = tile.alloc "s" : memref<f32, #tile.space<shared>>
%d = tile.alloc "d" : memref<f32, #tile.space<shared>>
// expected-error @+1 {{has no dimension to run along: 's' has rank 0}}
tile.reduce add %s into %d dim 0 : memref<f32, #tile.space<shared>>, memref<f32, #tile.space<shared>>

// -----

%s = tile.alloc "s" : memref<8x4xf32, #tile.space<shared>>
%d = tile.alloc "d" : memref<8xf32, #tile.space<shared>>
// expected-error @+1 {{expects 'd' to have shape 4 or 1x4, got 8}}
tile.reduce add %s into %d dim 0 : memref<8x4xf32, #tile.space<shared>>, memref<8xf32, #tile.space<shared>>

// -----

%s = tile.alloc "s" : memref<8x4xf32, #tile.space<shared>>
%d = tile.alloc "d" : memref<8xi32, #tile.space<shared>>
// expected-error @+1 {{'tile.reduce' op would turn 'f32' of 's' into 'i32' of 'd'}}
tile.reduce add %s into %d dim 1 : memref<8x4xf32, #tile.space<shared>>, memref<8xi32, #tile.space<shared>>

// -----

%s = tile.alloc "s" : memref<8x1xf32, #tile.space<shared>>
// expected-error @+1 {{'tile.reduce' op reads and writes 's'}}
tile.reduce add %s into %s dim 1 : memref<8x1xf32, #tile.space<shared>>, memref<8x1xf32, #tile.space<shared>>

// -----

%s = tile.alloc "s" : memref<8x4xi32, #tile.space<shared>>
%d = tile.alloc "d" : memref<8xf32, #tile.space<shared>>
// expected-error @+1 {{'tile.reduce' op combines by and, which is for integers, but 'd' holds 'f32'}}
tile.reduce and %s into %d dim 1 : memref<8x4xi32, #tile.space<shared>>, memref<8xf32, #tile.space<shared>>

// -----

%s = tile.alloc "s" : memref<8x4xi1, #tile.space<shared>>
%d = tile.alloc "d" : memref<8xi32, #tile.space<shared>>
// expected-error @+1 {{'tile.reduce' op combines booleans of 's' by add; use and, or or xor}}
tile.reduce add %s into %d dim 1 : memref<8x4xi1, #tile.space<shared>>, memref<8xi32, #tile.space<shared>>

// -----

%s = tile.alloc "s" : memref<8x4xf32, #tile.space<shared>>
%d = tile.alloc "d" : memref<8xf32, #tile.space<shared>>
// expected-error @+1 {{'tile.reduce' op has propagate_nan, which is for max, min and absmax of floats; leave it out}}
tile.reduce absadd %s into %d dim 1 propagate_nan : memref<8x4xf32, #tile.space<shared>>, memref<8xf32, #tile.space<shared>>

// -----

%s = tile.alloc "s" : memref<8x4xf32, #tile.space<shared>>
// expected-error @+1 {{'tile.scan' op runs along dimension -1, but 's' has dimensions 0 to 1}}
tile.scan add %s into %s dim -1 : memref<8x4xf32, #tile.space<shared>>, memref<8x4xf32, #tile.space<shared>>

// -----

%s = tile.alloc "s" : memref<8x4xf32, #tile.space<shared>>
%d = tile.alloc "d" : memref<8xf32, #tile.space<shared>>
// expected-error @+1 {{'tile.scan' op expects 's' and 'd' to have one shape, got 8x4 and 8}}
tile.scan add %s into %d dim 0 : memref<8x4xf32, #tile.space<shared>>, memref<8xf32, #tile.space<shared>>

// -----

%s = tile.alloc "s" : memref<8xf32, #tile.space<shared>>
%d = tile.alloc "d" : memref<8xi8, #tile.space<shared>>
// expected-error @+1 {{'tile.scan' op would turn 'f32' of 's' into 'i8' of 'd'}}
tile.scan add %s into %d dim 0 : memref<8xf32, #tile.space<shared>>, memref<8xi8, #tile.space<shared>>

// -----

%s = tile.alloc "s" : memref<8xf32, #tile.space<shared>>
// expected-error @+1 {{cannot combine by absmax; take the absolute values first, then add or max}}
tile.scan absmax %s into %s dim 0 : memref<8xf32, #tile.space<shared>>, memref<8xf32, #tile.space<shared>>

// -----

%s = tile.alloc "s" : memref<8xi1, #tile.space<shared>>
%d = tile.alloc "d" : memref<8xi32, #tile.space<shared>>
// expected-error @+1 {{'tile.scan' op combines booleans of 's' by add}}
tile.scan add %s into %d dim 0 : memref<8xi1, #tile.space<shared>>, memref<8xi32, #tile.space<shared>>

// -----

%v = arith.constant 1 : i32
%n = tile.alloc "n" : memref<8xi32, #tile.space<global>>
// expected-error @+1 {{'tile.atomic' op expects 1 indices, one for each dimension of 'n', got 0}}
%old = tile.atomic add %v, %n[] : i32, memref<8xi32, #tile.space<global>>

// -----

%c0 = arith.constant 0 : index
%v = arith.constant 1 : i32
%n = tile.alloc "n" : memref<8xi16, #tile.space<global>>
// expected-error @+1 {{cannot update 'i16' of 'n' atomically; use f64, f32, i64 or i32}}
%old = tile.atomic add %v, %n[%c0] : i32, memref<8xi16, #tile.space<global>>

// -----

%c0 = arith.constant 0 : index
%v = arith.constant 1 : i32
%n = tile.alloc "n" : memref<8xi32, #tile.space<global>>
// expected-error @+1 {{cannot multiply atomically; use add, max, min, and, or, xor or exchange}}
%old = tile.atomic mul %v, %n[%c0] : i32, memref<8xi32, #tile.space<global>>

// -----

%c0 = arith.constant 0 : index
%v = arith.constant 1 : i64
%n = tile.alloc "n" : memref<8xi32, #tile.space<global>>
// expected-error @+1 {{'tile.atomic' op expects the value to be 'i32', the compute type of 'i32' in 'n', got 'i64'}}
%old = tile.atomic add %v, %n[%c0] : i64, memref<8xi32, #tile.space<global>>

// -----

%c0 = arith.constant 0 : index
%t = tile.alloc "t" : memref<8xf32, #tile.space<shared>>
%c = tile.alloc "c" : memref<64xf32, #tile.space<global>>
// expected-error @+1 {{'tile.atomic_store' op expects 1 indices, one for each dimension of 'c', got 2}}
tile.atomic_store add %t into %c[%c0, %c0] : memref<8xf32, #tile.space<shared>>, memref<64xf32, #tile.space<global>>

// -----

%c0 = arith.constant 0 : index
%t = tile.alloc "t" : memref<8xf32, #tile.space<shared>>
// expected-error @+1 {{'tile.atomic_store' op reads and writes 't'}}
tile.atomic_store add %t into %t[%c0] : memref<8xf32, #tile.space<shared>>, memref<8xf32, #tile.space<shared>>

// -----

%c0 = arith.constant 0 : index
%t = tile.alloc "t" : memref<8xf32, #tile.space<shared>>
%c = tile.alloc "c" : memref<64xbf16, #tile.space<global>>
// expected-error @+1 {{'tile.atomic_store' op cannot update 'bf16' of 'c' atomically}}
tile.atomic_store add %t into %c[%c0] : memref<8xf32, #tile.space<shared>>, memref<64xbf16, #tile.space<global>>

// -----

%c0 = arith.constant 0 : index
%t = tile.alloc "t" : memref<8xf32, #tile.space<shared>>
%c = tile.alloc "c" : memref<64xi32, #tile.space<global>>
// expected-error @+1 {{'tile.atomic_store' op would turn 'f32' of 't' into 'i32' of 'c'}}
tile.atomic_store add %t into %c[%c0] : memref<8xf32, #tile.space<shared>>, memref<64xi32, #tile.space<global>>
