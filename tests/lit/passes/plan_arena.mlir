// RUN: tile-opt %s -plan-arena | FileCheck %s
// Sharing of memory between tiles that are never needed together.

#shared = #tile.space<shared>
#frag = #tile.space<fragment>
#global = #tile.space<global>

// Product, softmax, product. Six tiles of 64 x 64 floats (16384 bytes) and two rows of 64; at most three large ones
// and, in the softmax, one row each are needed at once: the first product needs q, k, s; the second p, v, o.
// CHECK-LABEL: tile.kernel @attention
// CHECK: tile.grid {{.*}} attributes {tile.arena_bytes = 49152 : i64, tile.buffer_bytes = 98816 : i64
tile.kernel @attention(%Q: memref<?x64xf32, #global> {tile.name = "Q", tile.dims = ["?", ""], tile.role = "in"},
                       %K: memref<64x64xf32, #global> {tile.name = "K", tile.dims = ["", ""], tile.role = "in"},
                       %V: memref<64x64xf32, #global> {tile.name = "V", tile.dims = ["", ""], tile.role = "in"},
                       %O: memref<?x64xf32, #global> {tile.name = "O", tile.dims = ["?", ""], tile.role = "out"},
                       %blocks: index {tile.name = "blocks"}) {
  tile.grid (%b) = (%blocks) {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %row = arith.muli %b, %c64 : index
    %q = tile.alloc "q" : memref<64x64xf32, #shared>
    %k = tile.alloc "k" : memref<64x64xf32, #shared>
    %s = tile.alloc "s" : memref<64x64xf32, #frag>
    %p = tile.alloc "p" : memref<64x64xf32, #shared>
    %v = tile.alloc "v" : memref<64x64xf32, #shared>
    %o = tile.alloc "o" : memref<64x64xf32, #frag>
    %m = tile.alloc "m" : memref<64xf32, #frag>
    %l = tile.alloc "l" : memref<64xf32, #frag>
    tile.load %Q[%row, %c0] into %q : memref<?x64xf32, #global>, memref<64x64xf32, #shared>
    tile.load %K[%c0, %c0] into %k : memref<64x64xf32, #global>, memref<64x64xf32, #shared>
    tile.gemm %q, %k, %s transpose_b clear
      : memref<64x64xf32, #shared>, memref<64x64xf32, #shared>, memref<64x64xf32, #frag>
    tile.reduce max %s into %m dim 1 clear : memref<64x64xf32, #frag>, memref<64xf32, #frag>
    tile.map (%i, %j) in [64, 64] {
      %x = tile.read %s[%i, %j] : memref<64x64xf32, #frag> -> f32
      %max = tile.read %m[%i] : memref<64xf32, #frag> -> f32
      %d = arith.subf %x, %max : f32
      %e = math.exp %d : f32
      tile.write %e, %p[%i, %j] : f32, memref<64x64xf32, #shared>
    }
    tile.reduce add %p into %l dim 1 clear : memref<64x64xf32, #shared>, memref<64xf32, #frag>
    tile.map (%i, %j) in [64, 64] {
      %x = tile.read %p[%i, %j] : memref<64x64xf32, #shared> -> f32
      %sum = tile.read %l[%i] : memref<64xf32, #frag> -> f32
      %y = arith.divf %x, %sum : f32
      tile.write %y, %p[%i, %j] : f32, memref<64x64xf32, #shared>
    }
    tile.load %V[%c0, %c0] into %v : memref<64x64xf32, #global>, memref<64x64xf32, #shared>
    tile.gemm %p, %v, %o clear
      : memref<64x64xf32, #shared>, memref<64x64xf32, #shared>, memref<64x64xf32, #frag>
    tile.store %o into %O[%row, %c0] : memref<64x64xf32, #frag>, memref<?x64xf32, #global>
  }
}

// A chain of three products: seven tiles of 32 x 32 floats (4096 bytes), three at once.
// CHECK-LABEL: tile.kernel @chain
// CHECK: tile.grid {{.*}} attributes {tile.arena_bytes = 12288 : i64, tile.buffer_bytes = 28672 : i64
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

// In a loop: 'x' is filled at the top of each iteration, so it is dead at its end, where 'y' may take its place. 'acc'
// and 'old', which the next iteration reads before it writes, share with nobody.
// CHECK-LABEL: tile.kernel @loop
// CHECK-SAME: memref
// CHECK: tile.grid {{.*}} attributes {tile.arena_bytes = 3072 : i64, tile.buffer_bytes = 4096 : i64,
// CHECK-SAME: tile.decisions = ["'y' shares bytes [[AT:[0-9]+]]..{{[0-9]+}} with 'x'"]
// CHECK-DAG: tile.alloc "acc" {tile.offset = [[ACC:[0-9]+]] : i64}
// CHECK-DAG: tile.alloc "x" {tile.offset = [[AT]] : i64}
// CHECK-DAG: tile.alloc "y" {tile.offset = [[AT]] : i64}
tile.kernel @loop(%A: memref<?xf32, #global> {tile.name = "A", tile.dims = ["?"], tile.role = "in"},
                  %O: memref<256xf32, #global> {tile.name = "O", tile.dims = [""], tile.role = "out"},
                  %n: index {tile.name = "n"}) {
  %c1 = arith.constant 1 : index
  tile.grid (%g) = (%c1) {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %acc = tile.alloc "acc" : memref<256xf32, #frag>
    %old = tile.alloc "old" : memref<256xf32, #frag>
    %x = tile.alloc "x" : memref<256xf32, #shared>
    %y = tile.alloc "y" : memref<256xf32, #shared>
    tile.fill %acc, %zero : memref<256xf32, #frag>, f32
    tile.fill %old, %zero : memref<256xf32, #frag>, f32
    scf.for %i = %c0 to %n step %c1 {
      tile.load %A[%i] into %x : memref<?xf32, #global>, memref<256xf32, #shared>
      tile.map (%j) in [256] {
        %v = tile.read %x[%j] : memref<256xf32, #shared> -> f32
        %w = tile.read %old[%j] : memref<256xf32, #frag> -> f32
        %s = arith.addf %v, %w : f32
        tile.combine add %s, %acc[%j] : f32, memref<256xf32, #frag>
      }
      tile.scan add %acc into %y dim 0 : memref<256xf32, #frag>, memref<256xf32, #shared>
      tile.copy %y to %old : memref<256xf32, #shared>, memref<256xf32, #frag>
    }
    tile.store %acc into %O[%c0] : memref<256xf32, #frag>, memref<256xf32, #global>
  }
}

// A write of a part, or through a view, does not end what the tile held: 'x' keeps its second half across 'y'.
// CHECK-LABEL: tile.kernel @partial
// CHECK: tile.grid {{.*}} attributes {tile.arena_bytes = 1024 : i64, tile.buffer_bytes = 1024 : i64}
tile.kernel @partial(%A: memref<?xf32, #global> {tile.name = "A", tile.dims = ["?"], tile.role = "in"},
                     %O: memref<?xf32, #global> {tile.name = "O", tile.dims = ["?"], tile.role = "out"}) {
  %c1 = arith.constant 1 : index
  tile.grid (%g) = (%c1) {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %x = tile.alloc "x" : memref<128xf32, #shared>
    %y = tile.alloc "y" : memref<128xf32, #shared>
    %low = tile.slice %x[%c0] : memref<128xf32, #shared> to memref<64xf32, strided<[1], offset: ?>, #shared>
    tile.load %A[%c0] into %x : memref<?xf32, #global>, memref<128xf32, #shared>
    tile.load %A[%c64] into %y : memref<?xf32, #global>, memref<128xf32, #shared>
    tile.store %y into %O[%c64] : memref<128xf32, #shared>, memref<?xf32, #global>
    tile.load %A[%c0] into %low : memref<?xf32, #global>, memref<64xf32, strided<[1], offset: ?>, #shared>
    tile.store %x into %O[%c0] : memref<128xf32, #shared>, memref<?xf32, #global>
  }
}

// Branches: what either may read stays; what each fills for itself may share. Two branches' own tiles share.
// CHECK-LABEL: tile.kernel @branches
// CHECK: tile.grid {{.*}} attributes {tile.arena_bytes = 1024 : i64, tile.buffer_bytes = 1536 : i64
tile.kernel @branches(%A: memref<?xf32, #global> {tile.name = "A", tile.dims = ["?"], tile.role = "in"},
                      %O: memref<?xf32, #global> {tile.name = "O", tile.dims = ["?"], tile.role = "out"},
                      %c: i1 {tile.name = "c"}) {
  %c1 = arith.constant 1 : index
  tile.grid (%g) = (%c1) {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %kept = tile.alloc "kept" : memref<128xf32, #shared>
    tile.load %A[%c0] into %kept : memref<?xf32, #global>, memref<128xf32, #shared>
    scf.if %c {
      %then = tile.alloc "then" : memref<128xf32, #shared>
      tile.fill %then, %zero : memref<128xf32, #shared>, f32
      tile.store %then into %O[%c1] : memref<128xf32, #shared>, memref<?xf32, #global>
    } else {
      %else = tile.alloc "else" : memref<128xf32, #shared>
      tile.load %A[%c1] into %else : memref<?xf32, #global>, memref<128xf32, #shared>
      tile.store %else into %O[%c1] : memref<128xf32, #shared>, memref<?xf32, #global>
    }
    tile.store %kept into %O[%c0] : memref<128xf32, #shared>, memref<?xf32, #global>
  }
}

// A while loop: the condition sees what the body wrote last.
// CHECK-LABEL: tile.kernel @while
// CHECK: tile.grid {{.*}} attributes {tile.arena_bytes = 192 : i64, tile.buffer_bytes = 192 : i64}
tile.kernel @while(%A: memref<?xi32, #global> {tile.name = "A", tile.dims = ["?"], tile.role = "in"},
                   %O: memref<?xi32, #global> {tile.name = "O", tile.dims = ["?"], tile.role = "out"}) {
  %c1 = arith.constant 1 : index
  tile.grid (%g) = (%c1) {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0 : i32
    %flag = tile.alloc "flag" : memref<16xi32, #shared>
    %other = tile.alloc "other" : memref<16xi32, #shared>
    %more = tile.alloc "more" : memref<16xi32, #shared>
    tile.load %A[%c0] into %flag : memref<?xi32, #global>, memref<16xi32, #shared>
    tile.load %A[%c1] into %more : memref<?xi32, #global>, memref<16xi32, #shared>
    scf.while : () -> () {
      %f = tile.read %flag[%c0] : memref<16xi32, #shared> -> i32
      %go = arith.cmpi ne, %f, %zero : i32
      scf.condition(%go)
    } do {
      tile.load %A[%c0] into %other : memref<?xi32, #global>, memref<16xi32, #shared>
      tile.map (%i) in [16] {
        %o = tile.read %other[%i] : memref<16xi32, #shared> -> i32
        %m = tile.read %more[%i] : memref<16xi32, #shared> -> i32
        %x = arith.andi %o, %m : i32
        tile.combine and %x, %flag[%i] : i32, memref<16xi32, #shared>
      }
      scf.yield
    }
    tile.store %flag into %O[%c0] : memref<16xi32, #shared>, memref<?xi32, #global>
  }
}

// A load split in interior and edge fills its tile either way, so that it ends what the tile held: 'x' and 'y' take
// turns in one place.
// CHECK-LABEL: tile.kernel @edges
// CHECK: tile.grid {{.*}} attributes {tile.arena_bytes = 512 : i64, tile.buffer_bytes = 1024 : i64
tile.kernel @edges(%A: memref<?xf32, #global> {tile.name = "A", tile.dims = ["N"], tile.role = "in"},
                   %O: memref<?xf32, #global> {tile.name = "O", tile.dims = ["?"], tile.role = "out"},
                   %inside: i1 {tile.name = "inside"}, %left: index {tile.name = "left"}) {
  %c1 = arith.constant 1 : index
  tile.grid (%g) = (%c1) {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %N = tile.dim "N"
    %x = tile.alloc "x" : memref<128xf32, #shared>
    %y = tile.alloc "y" : memref<128xf32, #shared>
    scf.for %i = %c0 to %N step %c1 {
      scf.if %inside {
        tile.map (%j) in [128] {
          %v = tile.read %A[%j] : memref<?xf32, #global> -> f32
          tile.write %v, %x[%j] : f32, memref<128xf32, #shared>
        }
      } else {
        tile.map (%j) in [128] {
          tile.write %zero, %x[%j] : f32, memref<128xf32, #shared>
        }
        tile.map (%j) in [%left] {
          %v = tile.read %A[%j] : memref<?xf32, #global> -> f32
          tile.write %v, %x[%j] : f32, memref<128xf32, #shared>
        }
      }
      tile.store %x into %O[%i] : memref<128xf32, #shared>, memref<?xf32, #global>
      tile.fill %y, %zero : memref<128xf32, #shared>, f32
      tile.store %y into %O[%i] : memref<128xf32, #shared>, memref<?xf32, #global>
    }
  }
}
