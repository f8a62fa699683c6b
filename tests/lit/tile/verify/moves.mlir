// Every message of the verifiers of moves.
// RUN: tile-opt %s --split-input-file --verify-diagnostics
%c0 = arith.constant 0 : index
%a = tile.alloc "a" : memref<8x8xf32, #tile.space<shared>>
%t = tile.alloc "t" : memref<4x4xf32, #tile.space<shared>>
// expected-error @+1 {{'tile.load' op expects 2 indices, one for each dimension of 'a', got 1}}
tile.load %a[%c0] into %t : memref<8x8xf32, #tile.space<shared>>, memref<4x4xf32, #tile.space<shared>>

// -----

%c0 = arith.constant 0 : index
%a = tile.alloc "a" : memref<8xf32, #tile.space<shared>>
%t = tile.alloc "t" : memref<4x4xf32, #tile.space<shared>>
// expected-error @+1 {{has tile 't' of rank 2, but 'a' has rank 1; a window has at most as many dimensions as its buffer}}
tile.load %a[%c0] into %t : memref<8xf32, #tile.space<shared>>, memref<4x4xf32, #tile.space<shared>>

// -----

%c0 = arith.constant 0 : index
%a = tile.alloc "a" : memref<8x8xf32, #tile.space<shared>>
%t = tile.alloc "t" : memref<4x4xf32, #tile.space<shared>>
// expected-error @+1 {{expects dims to name a dimension of 'a' for each of the 2 dimensions of the tile, got 1}}
tile.load %a[%c0, %c0] into %t dims [0] : memref<8x8xf32, #tile.space<shared>>, memref<4x4xf32, #tile.space<shared>>

// -----

%c0 = arith.constant 0 : index
%a = tile.alloc "a" : memref<8x8xf32, #tile.space<shared>>
%t = tile.alloc "t" : memref<4x4xf32, #tile.space<shared>>
// expected-error @+1 {{names dimension 2 in dims, but 'a' has dimensions 0 to 1}}
tile.load %a[%c0, %c0] into %t dims [2, 0] : memref<8x8xf32, #tile.space<shared>>, memref<4x4xf32, #tile.space<shared>>

// -----

%c0 = arith.constant 0 : index
%a = tile.alloc "a" : memref<8x8xf32, #tile.space<shared>>
%t = tile.alloc "t" : memref<4x4xf32, #tile.space<shared>>
// expected-error @+1 {{names dimension 1 twice in dims; name each once}}
tile.store %t into %a[%c0, %c0] dims [1, 1] : memref<4x4xf32, #tile.space<shared>>, memref<8x8xf32, #tile.space<shared>>

// -----

%c0 = arith.constant 0 : index
%a = tile.alloc "a" : memref<8x8xf32, #tile.space<shared>>
// expected-error @+1 {{reads and writes 'a', whose elements would be overwritten before they are read; write to another tile}}
tile.load %a[%c0, %c0] into %a : memref<8x8xf32, #tile.space<shared>>, memref<8x8xf32, #tile.space<shared>>

// -----

%c0 = arith.constant 0 : index
%a = tile.alloc "a" : memref<8x8xf32, #tile.space<shared>>
%t = tile.alloc "t" : memref<4x4xi32, #tile.space<shared>>
// expected-error @+1 {{would turn 'f32' of 'a' into 'i32' of 't'; say how floats become integers, in a tile.map with arith.fptosi}}
%token = tile.async_load %a[%c0, %c0] into %t : memref<8x8xf32, #tile.space<shared>>, memref<4x4xi32, #tile.space<shared>>

// -----

%c0 = arith.constant 0 : index
%zero = arith.constant 0.0 : f64
%a = tile.alloc "a" : memref<8x8xf16, #tile.space<shared>>
%t = tile.alloc "t" : memref<4x4xf16, #tile.space<shared>>
// expected-error @+1 {{expects fill to be 'f32', the compute type of 'f16' in 't', got 'f64'}}
tile.load %a[%c0, %c0] into %t fill %zero : f64 : memref<8x8xf16, #tile.space<shared>>, memref<4x4xf16, #tile.space<shared>>

// -----

%c0 = arith.constant 0 : index
%a = tile.alloc "a" : memref<8x8xf32, #tile.space<shared>>
%t = tile.alloc "t" : memref<4x4xf32, #tile.space<shared>>
// expected-error @+1 {{'tile.store' op expects 2 indices, one for each dimension of 'a', got 3}}
tile.store %t into %a[%c0, %c0, %c0] : memref<4x4xf32, #tile.space<shared>>, memref<8x8xf32, #tile.space<shared>>

// -----

%c0 = arith.constant 0 : index
%a = tile.alloc "a" : memref<4x4xf32, #tile.space<shared>>
// expected-error @+1 {{'tile.store' op reads and writes 'a'}}
tile.store %a into %a[%c0, %c0] : memref<4x4xf32, #tile.space<shared>>, memref<4x4xf32, #tile.space<shared>>

// -----

%c0 = arith.constant 0 : index
%a = tile.alloc "a" : memref<8x8xi8, #tile.space<shared>>
%t = tile.alloc "t" : memref<4x4xf32, #tile.space<shared>>
// expected-error @+1 {{'tile.store' op would turn 'f32' of 't' into 'i8' of 'a'}}
tile.store %t into %a[%c0, %c0] : memref<4x4xf32, #tile.space<shared>>, memref<8x8xi8, #tile.space<shared>>

// -----

%a = tile.alloc "a" : memref<8x8xf32, #tile.space<shared>>
%t = tile.alloc : memref<8x4xf32, #tile.space<shared>>
// expected-error @+1 {{expects 'a' and a buffer to have one shape, got 8x8 and 8x4}}
tile.copy %a to %t : memref<8x8xf32, #tile.space<shared>>, memref<8x4xf32, #tile.space<shared>>

// -----

%a = tile.alloc "a" : memref<8xbf16, #tile.space<shared>>
%t = tile.alloc "t" : memref<8xi64, #tile.space<shared>>
// expected-error @+1 {{'tile.copy' op would turn 'bf16' of 'a' into 'i64' of 't'}}
tile.copy %a to %t : memref<8xbf16, #tile.space<shared>>, memref<8xi64, #tile.space<shared>>

// -----

%a = tile.alloc "a" : memref<8x4xf32, #tile.space<shared>>
%t = tile.alloc "t" : memref<4x8xf32, #tile.space<shared>>
// expected-error @+1 {{expects a permutation of the dimensions 0 to 1 of 'a', got [1, 1]}}
tile.transpose %a to %t [1, 1] : memref<8x4xf32, #tile.space<shared>>, memref<4x8xf32, #tile.space<shared>>

// -----

%a = tile.alloc "a" : memref<8x4x2xf32, #tile.space<shared>>
%t = tile.alloc "t" : memref<4x8x2xf32, #tile.space<shared>>
// expected-error @+1 {{expects 't' to have the permuted shape 4x2x8, got 4x8x2}}
tile.transpose %a to %t [1, 2, 0] : memref<8x4x2xf32, #tile.space<shared>>, memref<4x8x2xf32, #tile.space<shared>>

// -----

%a = tile.alloc "a" : memref<8x8xf32, #tile.space<shared>>
// expected-error @+1 {{'tile.transpose' op reads and writes 'a'}}
tile.transpose %a to %a [1, 0] : memref<8x8xf32, #tile.space<shared>>, memref<8x8xf32, #tile.space<shared>>

// -----

%a = tile.alloc "a" : memref<8x4xf32, #tile.space<shared>>
%t = tile.alloc "t" : memref<4x8xi8, #tile.space<shared>>
// expected-error @+1 {{'tile.transpose' op would turn 'f32' of 'a' into 'i8' of 't'}}
tile.transpose %a to %t [1, 0] : memref<8x4xf32, #tile.space<shared>>, memref<4x8xi8, #tile.space<shared>>

// -----

%c0 = arith.constant 0 : index
%a = tile.alloc "a" : memref<8x8xf32, #tile.space<shared>>
%rows = tile.alloc "rows" : memref<4xi32, #tile.space<shared>>
%t = tile.alloc "t" : memref<4x8xf32, #tile.space<shared>>
// expected-error @+1 {{'tile.gather' op expects 2 indices, one for each dimension of 'a', got 1}}
tile.gather %a[%c0] rows %rows axis 0 into %t : memref<8x8xf32, #tile.space<shared>>, memref<4xi32, #tile.space<shared>>, memref<4x8xf32, #tile.space<shared>>

// -----

%c0 = arith.constant 0 : index
%a = tile.alloc "a" : memref<8x8xf32, #tile.space<shared>>
%rows = tile.alloc "rows" : memref<4x1xi32, #tile.space<shared>>
%t = tile.alloc "t" : memref<4x8xf32, #tile.space<shared>>
// expected-error @+1 {{expects 'rows' to have 1 dimensions, got shape 4x1}}
tile.gather %a[%c0, %c0] rows %rows axis 0 into %t : memref<8x8xf32, #tile.space<shared>>, memref<4x1xi32, #tile.space<shared>>, memref<4x8xf32, #tile.space<shared>>

// -----

%c0 = arith.constant 0 : index
%a = tile.alloc "a" : memref<8x8xf32, #tile.space<shared>>
%rows = tile.alloc "rows" : memref<4xf32, #tile.space<shared>>
%t = tile.alloc "t" : memref<4x8xf32, #tile.space<shared>>
// expected-error @+1 {{expects 'rows' to hold integers, the numbers of rows, got 'f32'}}
tile.gather %a[%c0, %c0] rows %rows axis 0 into %t : memref<8x8xf32, #tile.space<shared>>, memref<4xf32, #tile.space<shared>>, memref<4x8xf32, #tile.space<shared>>

// -----

%c0 = arith.constant 0 : index
%a = tile.alloc "a" : memref<8x8xf32, #tile.space<shared>>
%rows = tile.alloc "rows" : memref<4xi32, #tile.space<shared>>
%t = tile.alloc "t" : memref<4x8xf32, #tile.space<shared>>
// expected-error @+1 {{has axis 2, but 'a' has rank 2}}
tile.gather %a[%c0, %c0] rows %rows axis 2 into %t : memref<8x8xf32, #tile.space<shared>>, memref<4xi32, #tile.space<shared>>, memref<4x8xf32, #tile.space<shared>>

// -----

%c0 = arith.constant 0 : index
%a = tile.alloc "a" : memref<8x8xf32, #tile.space<shared>>
%rows = tile.alloc "rows" : memref<4xi32, #tile.space<shared>>
%t = tile.alloc "t" : memref<4x8x2xf32, #tile.space<shared>>
// expected-error @+1 {{expects tile 't' to have 1 to 2 dimensions, got 3; its first runs over the rows, the others are of 'a'}}
tile.gather %a[%c0, %c0] rows %rows axis 0 into %t : memref<8x8xf32, #tile.space<shared>>, memref<4xi32, #tile.space<shared>>, memref<4x8x2xf32, #tile.space<shared>>

// -----

%c0 = arith.constant 0 : index
%a = tile.alloc "a" : memref<8x8xf32, #tile.space<shared>>
%rows = tile.alloc "rows" : memref<4xi32, #tile.space<shared>>
%t = tile.alloc "t" : memref<3x8xf32, #tile.space<shared>>
// expected-error @+1 {{has 4 rows in 'rows', but the first dimension of 't' is 3}}
tile.gather %a[%c0, %c0] rows %rows axis 0 into %t : memref<8x8xf32, #tile.space<shared>>, memref<4xi32, #tile.space<shared>>, memref<3x8xf32, #tile.space<shared>>

// -----

%c0 = arith.constant 0 : index
%a = tile.alloc "a" : memref<8xi32, #tile.space<shared>>
%rows = tile.alloc "rows" : memref<4xi32, #tile.space<shared>>
// expected-error @+1 {{'tile.gather' op reads and writes 'rows'}}
tile.gather %a[%c0] rows %rows axis 0 into %rows : memref<8xi32, #tile.space<shared>>, memref<4xi32, #tile.space<shared>>, memref<4xi32, #tile.space<shared>>

// -----

%c0 = arith.constant 0 : index
%a = tile.alloc "a" : memref<8x8xf32, #tile.space<shared>>
%rows = tile.alloc "rows" : memref<8xi32, #tile.space<shared>>
// expected-error @+1 {{'tile.gather' op reads and writes 'a'}}
tile.gather %a[%c0, %c0] rows %rows axis 0 into %a : memref<8x8xf32, #tile.space<shared>>, memref<8xi32, #tile.space<shared>>, memref<8x8xf32, #tile.space<shared>>

// -----

%c0 = arith.constant 0 : index
%a = tile.alloc "a" : memref<8x8xf32, #tile.space<shared>>
%rows = tile.alloc "rows" : memref<4xi32, #tile.space<shared>>
%t = tile.alloc "t" : memref<4x8xi32, #tile.space<shared>>
// expected-error @+1 {{'tile.gather' op would turn 'f32' of 'a' into 'i32' of 't'}}
tile.gather %a[%c0, %c0] rows %rows axis 0 into %t : memref<8x8xf32, #tile.space<shared>>, memref<4xi32, #tile.space<shared>>, memref<4x8xi32, #tile.space<shared>>

// -----

%c0 = arith.constant 0 : index
%zero = arith.constant 0 : i32
%a = tile.alloc "a" : memref<8x8xf32, #tile.space<shared>>
%rows = tile.alloc "rows" : memref<4xi32, #tile.space<shared>>
%t = tile.alloc "t" : memref<4x8xf32, #tile.space<shared>>
// expected-error @+1 {{'tile.gather' op expects fill to be 'f32', the compute type of 'f32' in 't', got 'i32'}}
tile.gather %a[%c0, %c0] rows %rows axis 0 into %t fill %zero : i32 : memref<8x8xf32, #tile.space<shared>>, memref<4xi32, #tile.space<shared>>, memref<4x8xf32, #tile.space<shared>>

// -----

%c0 = arith.constant 0 : index
%a = tile.alloc "a" : memref<8x8xf32, #tile.space<shared>>
%rows = tile.alloc "rows" : memref<4xi1, #tile.space<shared>>
%t = tile.alloc "t" : memref<4x8xf32, #tile.space<shared>>
// expected-error @+1 {{'tile.scatter' op expects 'rows' to hold integers, the numbers of rows, got 'i1'}}
tile.scatter %t into %a[%c0, %c0] rows %rows axis 0 : memref<4x8xf32, #tile.space<shared>>, memref<4xi1, #tile.space<shared>>, memref<8x8xf32, #tile.space<shared>>

// -----

%c0 = arith.constant 0 : index
%a = tile.alloc "a" : memref<8x8xi32, #tile.space<shared>>
%rows = tile.alloc "rows" : memref<4xi32, #tile.space<shared>>
%t = tile.alloc "t" : memref<4x8xf32, #tile.space<shared>>
// expected-error @+1 {{'tile.scatter' op would turn 'f32' of 't' into 'i32' of 'a'}}
tile.scatter %t into %a[%c0, %c0] rows %rows axis 0 : memref<4x8xf32, #tile.space<shared>>, memref<4xi32, #tile.space<shared>>, memref<8x8xi32, #tile.space<shared>>

// -----

%c0 = arith.constant 0 : index
%rows = tile.alloc "rows" : memref<8xi32, #tile.space<shared>>
%t = tile.alloc "t" : memref<8xi32, #tile.space<shared>>
// expected-error @+1 {{'tile.scatter' op reads and writes 'rows'}}
tile.scatter %t into %rows[%c0] rows %rows axis 0 : memref<8xi32, #tile.space<shared>>, memref<8xi32, #tile.space<shared>>, memref<8xi32, #tile.space<shared>>

// -----

%c0 = arith.constant 0 : index
%rows = tile.alloc "rows" : memref<8xi32, #tile.space<shared>>
%t = tile.alloc "t" : memref<8xi32, #tile.space<shared>>
// expected-error @+1 {{'tile.scatter' op reads and writes 't'}}
tile.scatter %t into %t[%c0] rows %rows axis 0 : memref<8xi32, #tile.space<shared>>, memref<8xi32, #tile.space<shared>>, memref<8xi32, #tile.space<shared>>

// -----

%c0 = arith.constant 0 : index
%a = tile.alloc "a" : memref<8x8xf32, #tile.space<shared>>
%rows = tile.alloc "rows" : memref<4xi32, #tile.space<shared>>
%t = tile.alloc "t" : memref<4x8xf32, #tile.space<shared>>
// expected-error @+1 {{'tile.scatter' op cannot combine by exchange, which is for atomics; use tile.write or tile.store}}
tile.scatter %t into %a[%c0, %c0] rows %rows axis 0 combine exchange : memref<4x8xf32, #tile.space<shared>>, memref<4xi32, #tile.space<shared>>, memref<8x8xf32, #tile.space<shared>>

// -----

%c0 = arith.constant 0 : index
%x = tile.alloc "x" : memref<8x8xf32, #tile.space<shared>>
%t = tile.alloc "t" : memref<4x4xf32, #tile.space<shared>>
// expected-error @+1 {{'tile.im2col' op expects 'x' to have 4 dimensions, got shape 8x8}}
tile.im2col %x[%c0, %c0] into %t kernel [3, 3] stride [1, 1] dilation [1, 1] pad [0, 0, 0, 0] : memref<8x8xf32, #tile.space<shared>>, memref<4x4xf32, #tile.space<shared>>

// -----

%c0 = arith.constant 0 : index
%x = tile.alloc "x" : memref<1x8x8x4xf32, #tile.space<shared>>
%t = tile.alloc "t" : memref<4xf32, #tile.space<shared>>
// expected-error @+1 {{'tile.im2col' op expects 't' to have 2 dimensions, got shape 4}}
tile.im2col %x[%c0, %c0] into %t kernel [3, 3] stride [1, 1] dilation [1, 1] pad [0, 0, 0, 0] : memref<1x8x8x4xf32, #tile.space<shared>>, memref<4xf32, #tile.space<shared>>

// -----

%c0 = arith.constant 0 : index
%x = tile.alloc "x" : memref<1x8x8x4xf32, #tile.space<shared>>
%t = tile.alloc "t" : memref<4x4xf32, #tile.space<shared>>
// expected-error @+1 {{expects kernel to be 2 numbers from 1 to 65536, got [3, 0]}}
tile.im2col %x[%c0, %c0] into %t kernel [3, 0] stride [1, 1] dilation [1, 1] pad [0, 0, 0, 0] : memref<1x8x8x4xf32, #tile.space<shared>>, memref<4x4xf32, #tile.space<shared>>

// -----

%c0 = arith.constant 0 : index
%x = tile.alloc "x" : memref<1x8x8x4xf32, #tile.space<shared>>
%t = tile.alloc "t" : memref<4x4xf32, #tile.space<shared>>
// expected-error @+1 {{expects stride to be 2 numbers from 1 to 65536, got [1]}}
tile.im2col %x[%c0, %c0] into %t kernel [3, 3] stride [1] dilation [1, 1] pad [0, 0, 0, 0] : memref<1x8x8x4xf32, #tile.space<shared>>, memref<4x4xf32, #tile.space<shared>>

// -----

%c0 = arith.constant 0 : index
%x = tile.alloc "x" : memref<1x8x8x4xf32, #tile.space<shared>>
%t = tile.alloc "t" : memref<4x4xf32, #tile.space<shared>>
// expected-error @+1 {{expects dilation to be 2 numbers from 1 to 65536, got [-1, 1]}}
tile.im2col %x[%c0, %c0] into %t kernel [3, 3] stride [1, 1] dilation [-1, 1] pad [0, 0, 0, 0] : memref<1x8x8x4xf32, #tile.space<shared>>, memref<4x4xf32, #tile.space<shared>>

// -----

%c0 = arith.constant 0 : index
%x = tile.alloc "x" : memref<1x8x8x4xf32, #tile.space<shared>>
%t = tile.alloc "t" : memref<4x4xf32, #tile.space<shared>>
// expected-error @+1 {{expects pad to be 4 numbers from 0 to 65536, got [0, 0, 0, 9223372036854775807]}}
tile.im2col %x[%c0, %c0] into %t kernel [3, 3] stride [1, 1] dilation [1, 1] pad [0, 0, 0, 9223372036854775807] : memref<1x8x8x4xf32, #tile.space<shared>>, memref<4x4xf32, #tile.space<shared>>

// -----

%c0 = arith.constant 0 : index
%x = tile.alloc "x" : memref<1x8x8x4xf32, #tile.space<shared>>
%t = tile.alloc "t" : memref<4x4xi32, #tile.space<shared>>
// expected-error @+1 {{'tile.im2col' op would turn 'f32' of 'x' into 'i32' of 't'}}
tile.im2col %x[%c0, %c0] into %t kernel [3, 3] stride [1, 1] dilation [1, 1] pad [0, 0, 0, 0] : memref<1x8x8x4xf32, #tile.space<shared>>, memref<4x4xi32, #tile.space<shared>>

// -----

%c0 = arith.constant 0 : index
%false = arith.constant false
%x = tile.alloc "x" : memref<1x8x8x4xf32, #tile.space<shared>>
%t = tile.alloc "t" : memref<4x4xf32, #tile.space<shared>>
// expected-error @+1 {{'tile.im2col' op expects fill to be 'f32', the compute type of 'f32' in 't', got 'i1'}}
tile.im2col %x[%c0, %c0] into %t fill %false : i1 kernel [3, 3] stride [1, 1] dilation [1, 1] pad [0, 0, 0, 0] : memref<1x8x8x4xf32, #tile.space<shared>>, memref<4x4xf32, #tile.space<shared>>

// -----

%c0 = arith.constant 0 : index
%a = tile.alloc "a" : memref<8x8xf32, #tile.space<global>>
// expected-error @+1 {{'tile.prefetch' op expects 2 indices, one for each dimension of 'a', got 1}}
tile.prefetch %a[%c0] sizes [4, 4] : memref<8x8xf32, #tile.space<global>>

// -----

%c0 = arith.constant 0 : index
%a = tile.alloc "a" : memref<8x8xf32, #tile.space<global>>
// expected-error @+1 {{expects sizes to be 2 positive numbers, one for each dimension of 'a', got [4]}}
tile.prefetch %a[%c0, %c0] sizes [4] : memref<8x8xf32, #tile.space<global>>

// -----

%c0 = arith.constant 0 : index
%a = tile.alloc "a" : memref<8x8xf32, #tile.space<global>>
// expected-error @+1 {{expects sizes to be 2 positive numbers, one for each dimension of 'a', got [4, 0]}}
tile.prefetch %a[%c0, %c0] sizes [4, 0] : memref<8x8xf32, #tile.space<global>>

// -----

%c0 = arith.constant 0 : index
%a = tile.alloc "a" : memref<8x8xf32, #tile.space<global>>
// expected-error @+1 {{expects level to be a cache, 1 to 3, got 4}}
tile.prefetch %a[%c0, %c0] sizes [4, 4] level 4 : memref<8x8xf32, #tile.space<global>>

// -----

%c0 = arith.constant 0 : index
%a = tile.alloc "a" : memref<8x8xf32, #tile.space<global>>
// expected-error @+1 {{prefetches a window of 1000000000x1000000000000 of 'a', which no cache holds; prefetch at most 16777216 elements}}
tile.prefetch %a[%c0, %c0] sizes [1000000000, 1000000000000] : memref<8x8xf32, #tile.space<global>>

// -----

// expected-error @+1 {{waits for nothing; give it the tokens of the loads}}
"tile.wait"() : () -> ()
