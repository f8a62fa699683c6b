// Every message of the verifiers of structure: kernels, grids, buffers, views, pipelines.
// RUN: tile-opt %s --split-input-file --verify-diagnostics

// Kernels

// expected-error @+1 {{has the name '2 fast'; use letters, digits and '_'}}
tile.kernel @"2 fast"() {
  %n = arith.constant 1 : index
}

// -----

// expected-error @+1 {{returns a value; kernels write to their out arguments instead}}
tile.kernel @k() -> f32 {
  %n = arith.constant 1 : index
}

// -----

// expected-error @+1 {{names argument 0 'a b'; use letters, digits and '_'}}
tile.kernel @k(%a: f32 {tile.name = "a b"}) {
  %n = arith.constant 1 : index
}

// -----

// expected-error @+1 {{argument 0 'a' has dimension 0 named '2 N'; use letters, digits, '_' and '.'}}
tile.kernel @k(%a: memref<?xf32, #tile.space<global>> {tile.name = "a", tile.dims = ["2 N"], tile.role = "in"}) {
  %n = arith.constant 1 : index
}

// -----

// expected-error @+1 {{expects tile.name on argument 1}}
tile.kernel @k(%n: index {tile.name = "n"}, %m: index) {
}

// -----

// expected-error @+1 {{names arguments 0 and 1 'n'; give each its own name}}
tile.kernel @k(%n: index {tile.name = "n"}, %m: index {tile.name = "n"}) {
}

// -----

// expected-error @+1 {{argument 0 'a' has type 'memref<8xf32, #tile.space<shared>>'; arguments are buffers in global space, f64, f32, i64, i32, i1 or index}}
tile.kernel @k(%a: memref<8xf32, #tile.space<shared>> {tile.name = "a", tile.dims = [""], tile.role = "in"}) {
}

// -----

// expected-error @+1 {{argument 0 'a' has type 'i8'}}
tile.kernel @k(%a: i8 {tile.name = "a"}) {
}

// -----

// expected-error @+1 {{argument 0 'A' has rank 13; tensors have at most 12 dimensions}}
tile.kernel @k(%A: memref<1x1x1x1x1x1x1x1x1x1x1x1x1xf32, #tile.space<global>> {tile.name = "A", tile.role = "in"}) {
}

// -----

// expected-error @+1 {{argument 0 'A' expects tile.role to be "in", "out" or "inout", got "both"}}
tile.kernel @k(%A: memref<8xf32, #tile.space<global>> {tile.name = "A", tile.dims = [""], tile.role = "both"}) {
}

// -----

// expected-error @+1 {{argument 0 'A' expects tile.role to be "in", "out" or "inout", got none}}
tile.kernel @k(%A: memref<8xf32, #tile.space<global>> {tile.name = "A", tile.dims = [""]}) {
}

// -----

// expected-error @+1 {{argument 0 'A' has layout affine_map<(d0, d1) -> (d1, d0)>; rows without gaps or strided<...> are known}}
tile.kernel @k(%A: memref<8x8xf32, affine_map<(i, j) -> (j, i)>, #tile.space<global>> {tile.name = "A", tile.dims = ["", ""], tile.role = "in"}) {
}

// -----

// expected-error @+1 {{argument 0 'A' has offset 4; tensors begin at their first element: leave it out}}
tile.kernel @k(%A: memref<8xf32, strided<[2], offset: 4>, #tile.space<global>> {tile.name = "A", tile.dims = [""], tile.role = "in"}) {
}

// -----

// expected-error @+1 {{argument 0 'A' has a negative stride in strided<[-1]>}}
tile.kernel @k(%A: memref<8xf32, strided<[-1]>, #tile.space<global>> {tile.name = "A", tile.dims = [""], tile.role = "in"}) {
}

// -----

// expected-error @+1 {{argument 0 'A' expects tile.dims with 2 names, one for each dimension}}
tile.kernel @k(%A: memref<?x?xf32, #tile.space<global>> {tile.name = "A", tile.dims = ["M"], tile.role = "in"}) {
}

// -----

// expected-error @+1 {{argument 0 'A' expects tile.dims with 2 names, one for each dimension}}
tile.kernel @k(%A: memref<?x?xf32, #tile.space<global>> {tile.name = "A", tile.dims = ["M", 3], tile.role = "in"}) {
}

// -----

// expected-error @+1 {{argument 0 'A' has dimension 1 of run-time size without a name in tile.dims; give a name, or '?'}}
tile.kernel @k(%A: memref<?x?xf32, #tile.space<global>> {tile.name = "A", tile.dims = ["M", ""], tile.role = "in"}) {
}

// -----

// expected-error @+1 {{argument 0 'A' has dimension 0 of static size, named in tile.dims; write ""}}
tile.kernel @k(%A: memref<8xf32, #tile.space<global>> {tile.name = "A", tile.dims = ["M"], tile.role = "in"}) {
}

// -----

// expected-error @+1 {{argument 0 'A' of shape 4294967296x?x4294967296 of 'f32' takes more than 140737488355328 bytes; make it smaller}}
tile.kernel @k(%A: memref<4294967296x?x4294967296xf32, #tile.space<global>> {tile.name = "A", tile.dims = ["", "M", ""], tile.role = "in"}) {
}

// -----

// expected-error @+1 {{argument 0 'n' is a scalar and has no dimensions; leave out tile.dims}}
tile.kernel @k(%n: index {tile.name = "n", tile.dims = ["N"]}) {
}

// -----

// expected-error @+1 {{argument 0 'n' is a scalar, which is read alone; leave out tile.role}}
tile.kernel @k(%n: index {tile.name = "n", tile.role = "out"}) {
}

// -----

tile.kernel @k(%A: memref<?x?xf32, #tile.space<global>> {tile.name = "A", tile.dims = ["M", "?"], tile.role = "in"}) {
  // expected-error @+1 {{asks for the size 'N', which no argument of 'k' has in its tile.dims}}
  %n = tile.dim "N"
}

// -----

tile.kernel @k(%A: memref<?x?xf32, #tile.space<global>> {tile.name = "A", tile.dims = ["M", "?"], tile.role = "in"}) {
  // expected-error @+1 {{asks for the size '?', which no argument of 'k' has in its tile.dims}}
  %n = tile.dim "?"
}

// -----

%a = tile.alloc "a" : memref<8x4xf32, #tile.space<shared>>
// expected-error @+1 {{asks for the size of dimension 2, but 'a' has rank 2}}
%n = tile.extent %a dim 2 : memref<8x4xf32, #tile.space<shared>>

// -----

// Grids

tile.kernel @k() {
  %n = arith.constant 1 : index
  // expected-error @+1 {{'tile.grid' op expects 1 to 3 extents, got 4}}
  tile.grid (%a, %b, %c, %d) = (%n, %n, %n, %n) {
  }
}

// -----

tile.kernel @k() {
  %n = arith.constant -1 : index
  // expected-error @+1 {{has extent -1; extents are not negative}}
  tile.grid (%a) = (%n) {
  }
}

// -----

tile.kernel @k() {
  %n = arith.constant 1 : index
  // expected-error @+1 {{has a panel in its order, which is for swizzle; leave it out of rows}}
  tile.grid (%a) = (%n) attributes {order = #tile.order<rows, 8>} {
  }
}

// -----

tile.kernel @k() {
  %n = arith.constant 1 : index
  // expected-error @+1 {{has panels of -8 blocks; a panel's width is positive}}
  tile.grid (%a) = (%n) attributes {order = #tile.order<swizzle, -8>} {
  }
}

// -----

tile.kernel @k() {
  %n = arith.constant 1 : index
  // expected-error @+1 {{'tile.grid' op expects 1 arguments of type index in its region, got 2}}
  tile.grid (%a, %b) = (%n) {
  }
}

// -----

tile.kernel @k() {
  %n = arith.constant 1 : index
  tile.grid (%a) = (%n) {
    // expected-error @+1 {{'tile.grid' op expects parent op 'tile.kernel'}}
    tile.grid (%b) = (%n) {
    }
  }
}

// -----

// Buffers

// expected-error @+1 {{expects a static shape for 'a', got 8x?}}
%a = tile.alloc "a" : memref<8x?xf32, #tile.space<shared>>

// -----

// expected-error @+1 {{expects no layout on 'a', got strided<[16, 1]>; what is allocated has rows without gaps}}
%a = tile.alloc "a" : memref<8x8xf32, strided<[16, 1]>, #tile.space<shared>>

// -----

// expected-error @+1 {{expects positive sizes for 'a', got 8x0}}
%a = tile.alloc "a" : memref<8x0xf32, #tile.space<shared>>

// -----

// expected-error @+1 {{'a' of shape 4611686018427387904x16 of 'i8' takes more than 1099511627776 bytes; make it smaller}}
%a = tile.alloc "a" : memref<4611686018427387904x16xi8, #tile.space<shared>>

// -----

// expected-error @+1 {{expects align of 'a' to be a power of two from 1 to 65536, got 48}}
%a = tile.alloc "a" {align = 48} : memref<8xf32, #tile.space<shared>>

// -----

// expected-error @+1 {{expects align of 'a' to be a power of two from 1 to 65536, got -64}}
%a = tile.alloc "a" {align = -64} : memref<8xf32, #tile.space<shared>>

// -----

tile.kernel @k() {
  %n = arith.constant 1 : index
  tile.grid (%b) = (%n) {
    // expected-error @+1 {{puts 'w' in global space inside a grid; allocate a workspace before the grid, a tile in shared}}
    %w = tile.alloc "w" : memref<8xf32, #tile.space<global>>
  }
}

// -----

tile.kernel @k() {
  // expected-error @+1 {{puts 't' in fragment space outside a grid; tiles belong to a block, a workspace for all blocks is global}}
  %t = tile.alloc "t" : memref<8xf32, #tile.space<fragment>>
}

// -----

tile.kernel @k() {
  %n = arith.constant 1 : index
  tile.grid (%b) = (%n) {
    tile.threads (%t) in [32] {
      // expected-error @+1 {{puts 's' in shared space inside tile.threads; a thread's own is local, others go before tile.threads}}
      %s = tile.alloc "s" : memref<8xf32, #tile.space<shared>>
    }
  }
}

// -----

// Views

%c0 = arith.constant 0 : index
%a = tile.alloc "a" : memref<8x8xf32, #tile.space<shared>>
// expected-error @+1 {{'tile.slice' op expects 2 indices, one for each dimension of 'a', got 1}}
%s = tile.slice %a[%c0] : memref<8x8xf32, #tile.space<shared>> to memref<4x4xf32, strided<[8, 1], offset: ?>, #tile.space<shared>>

// -----

%c0 = arith.constant 0 : index
%a = tile.alloc "a" : memref<8x8xf32, #tile.space<shared>>
// expected-error @+1 {{expects a window of static sizes of 'a', got 4x?}}
%s = tile.slice %a[%c0, %c0] : memref<8x8xf32, #tile.space<shared>> to memref<4x?xf32, strided<[8, 1], offset: ?>, #tile.space<shared>>

// -----

%c0 = arith.constant 0 : index
%a = tile.alloc "a" : memref<8xf32, #tile.space<shared>>
// expected-error @+1 {{has a window of rank 2, but 'a' has rank 1}}
%s = tile.slice %a[%c0] : memref<8xf32, #tile.space<shared>> to memref<4x4xf32, strided<[8, 1], offset: ?>, #tile.space<shared>>

// -----

%c0 = arith.constant 0 : index
%a = tile.alloc "a" : memref<8x8xf32, #tile.space<shared>>
// expected-error @+1 {{'tile.slice' op names dimension 1 twice in dims}}
%s = tile.slice %a[%c0, %c0] dims [1, 1] : memref<8x8xf32, #tile.space<shared>> to memref<4x4xf32, strided<[8, 1], offset: ?>, #tile.space<shared>>

// -----

%c0 = arith.constant 0 : index
%a = tile.alloc "a" : memref<8x8xf32, #tile.space<shared>>
// expected-error @+1 {{expects dims in order, since a view does not permute 'a'; use tile.transpose, or dims of tile.load}}
%s = tile.slice %a[%c0, %c0] dims [1, 0] : memref<8x8xf32, #tile.space<shared>> to memref<4x4xf32, strided<[1, 8], offset: ?>, #tile.space<shared>>

// -----

%c0 = arith.constant 0 : index
%a = tile.alloc "a" : memref<8x8xf32, #tile.space<shared>>
// expected-error @+1 {{has a window of 9 in dimension 0 of 'a', which is 8}}
%s = tile.slice %a[%c0, %c0] dims [0] : memref<8x8xf32, #tile.space<shared>> to memref<9xf32, strided<[8], offset: ?>, #tile.space<shared>>

// -----

%c0 = arith.constant 0 : index
%a = tile.alloc "a" : memref<8x8xf32, #tile.space<shared>>
// expected-error @+1 {{expects the view of 'a' to be of type 'memref<4xf32, strided<[8], offset: ?>, #tile.space<shared>>', got 'memref<4xf32, strided<[1], offset: ?>, #tile.space<shared>>'}}
%s = tile.slice %a[%c0, %c0] dims [0] : memref<8x8xf32, #tile.space<shared>> to memref<4xf32, strided<[1], offset: ?>, #tile.space<shared>>

// -----

%c0 = arith.constant 0 : index
%a = ub.poison : memref<8x8xf32, affine_map<(i, j) -> (j, i)>, #tile.space<shared>>
// expected-error @+1 {{cannot see a window of a buffer, whose layout is affine_map<(d0, d1) -> (d1, d0)>; rows without gaps or strided<...> are known}}
%s = tile.slice %a[%c0, %c0] : memref<8x8xf32, affine_map<(i, j) -> (j, i)>, #tile.space<shared>> to memref<4x4xf32, strided<[1, 8], offset: ?>, #tile.space<shared>>

// -----

tile.kernel @k(%A: memref<?x?xf32, #tile.space<global>> {tile.name = "A", tile.dims = ["M", "N"], tile.role = "in"}) {
  // expected-error @+1 {{expects static shapes, got ?x? of 'A' to 8x8}}
  %r = tile.reshape %A : memref<?x?xf32, #tile.space<global>> to memref<8x8xf32, #tile.space<global>>
}

// -----

%a = tile.alloc "a" : memref<8x4xf32, #tile.space<shared>>
// expected-error @+1 {{turns 32 elements of 'a' (8x4) into 64 (64)}}
%r = tile.reshape %a : memref<8x4xf32, #tile.space<shared>> to memref<64xf32, #tile.space<shared>>

// -----

%c0 = arith.constant 0 : index
%a = tile.alloc "a" : memref<8x8xf32, #tile.space<shared>>
%s = tile.slice %a[%c0, %c0] : memref<8x8xf32, #tile.space<shared>> to memref<4x4xf32, strided<[8, 1], offset: ?>, #tile.space<shared>>
// expected-error @+1 {{expects 'a' without gaps between its rows, got 'memref<4x4xf32, strided<[8, 1], offset: ?>, #tile.space<shared>>'; copy it into a tile first}}
%r = tile.reshape %s : memref<4x4xf32, strided<[8, 1], offset: ?>, #tile.space<shared>> to memref<16xf32, strided<[1], offset: ?>, #tile.space<shared>>

// -----

%a = tile.alloc "a" : memref<8x4xf32, #tile.space<shared>>
// expected-error @+1 {{expects the view of 'a' to be of type 'memref<4x8xf32, #tile.space<shared>>', got 'memref<4x8xf16, #tile.space<shared>>'}}
%r = tile.reshape %a : memref<8x4xf32, #tile.space<shared>> to memref<4x8xf16, #tile.space<shared>>

// -----

%a = tile.alloc "a" : memref<8x3xi8, #tile.space<shared>>
// expected-error @+1 {{cannot see 'a', 'memref<8x3xi8, #tile.space<shared>>', as elements of 16 bits; the last dimension must be static, without gaps, and hold a whole number of them}}
%r = tile.bitcast %a : memref<8x3xi8, #tile.space<shared>> to memref<8x1xi16, #tile.space<shared>>

// -----

tile.kernel @k(%A: memref<8x?xf32, #tile.space<global>> {tile.name = "A", tile.dims = ["", "N"], tile.role = "in"}) {
  // expected-error @+1 {{cannot see 'A', 'memref<8x?xf32, #tile.space<global>>', as elements of 8 bits}}
  %r = tile.bitcast %A : memref<8x?xf32, #tile.space<global>> to memref<8x?xui8, #tile.space<global>>
}

// -----

%a = tile.alloc "a" : memref<8x4xf32, #tile.space<shared>>
// expected-error @+1 {{'tile.bitcast' op expects the view of 'a' to be of type 'memref<8x16xui8, #tile.space<shared>>', got 'memref<8x4xui8, #tile.space<shared>>'}}
%r = tile.bitcast %a : memref<8x4xf32, #tile.space<shared>> to memref<8x4xui8, #tile.space<shared>>

// -----

// Pipelines

%c0 = arith.constant 0 : index
%c1 = arith.constant 1 : index
// expected-error @+1 {{expects 1 to 64 stages, got 0}}
tile.pipeline %k = %c0 to %c1 step %c1 stages(0) {
}

// -----

%c0 = arith.constant 0 : index
%c1 = arith.constant 1 : index
// expected-error @+1 {{has step 0; steps are positive}}
tile.pipeline %k = %c0 to %c1 step %c0 stages(2) {
}

// -----

%c0 = arith.constant 0 : index
%c1 = arith.constant 1 : index
// expected-error @+1 {{'tile.pipeline' op expects 1 arguments of type index in its region, got 0}}
"tile.pipeline"(%c0, %c0, %c1) <{stages = 2 : i64}> ({
^bb0:
}) : (index, index, index) -> ()

// -----

%c0 = arith.constant 0 : index
%c1 = arith.constant 1 : index
%v = arith.constant 0.0 : f32
%a = tile.alloc "a" : memref<8xf32, #tile.space<shared>>
// expected-error @+1 {{expects stage to have 1 entries, one for each effectful statement of the body, got 2}}
tile.pipeline %k = %c0 to %c1 step %c1 stages(2) attributes {stage = array<i64: 0, 1>} {
  %n = arith.addi %k, %k : index
  tile.fill %a, %v : memref<8xf32, #tile.space<shared>>, f32
}

// -----

%c0 = arith.constant 0 : index
%c1 = arith.constant 1 : index
%v = arith.constant 0.0 : f32
%a = tile.alloc "a" : memref<8xf32, #tile.space<shared>>
// expected-error @+1 {{places a statement in stage 2, but has stages 0 to 1}}
tile.pipeline %k = %c0 to %c1 step %c1 stages(2) attributes {stage = array<i64: 2>} {
  tile.fill %a, %v : memref<8xf32, #tile.space<shared>>, f32
}

// -----

%c0 = arith.constant 0 : index
%c1 = arith.constant 1 : index
%v = arith.constant 0.0 : f32
%a = tile.alloc "a" : memref<8xf32, #tile.space<shared>>
// expected-error @+1 {{expects order to be a permutation of 0 to 1}}
tile.pipeline %k = %c0 to %c1 step %c1 stages(2) attributes {order = array<i64: 1, 1>} {
  tile.fill %a, %v : memref<8xf32, #tile.space<shared>>, f32
  tile.fill %a, %v : memref<8xf32, #tile.space<shared>>, f32
}

// -----

// expected-error @+1 {{argument 0 'A' has a stride beyond 140737488355328 in strided<[9223372036854775807, 1]>; no tensor is as large}}
tile.kernel @k(%A: memref<?x?xf32, strided<[9223372036854775807, 1]>, #tile.space<global>> {tile.name = "A", tile.dims = ["M", "N"], tile.role = "in"}) {
}

// -----

// expected-error @+1 {{gives 'a' 7 dimensions; tiles have at most 6: join neighbours into one}}
%a = tile.alloc "a" : memref<1x1x1x1x1x1x1xf32, #tile.space<shared>>

// -----

%a = tile.alloc "a" : memref<128xf32, #tile.space<shared>>
// expected-error @+1 {{gives 'a' 7 dimensions; tiles have at most 6: join neighbours into one}}
%b = tile.reshape %a : memref<128xf32, #tile.space<shared>> to memref<2x2x2x2x2x2x2xf32, #tile.space<shared>>

// -----

// expected-error @+1 {{'a' of shape 1048576x1048576 of 'f64' takes more than 1099511627776 bytes; make it smaller}}
%a = tile.alloc "a" : memref<1048576x1048576xf64, #tile.space<shared>>
