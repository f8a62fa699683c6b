// RUN: tile-opt %s -lower-threads | FileCheck %s
#shared = #tile.space<shared>
#local = #tile.space<local>
#global = #tile.space<global>

// A barrier cuts the body: what was read before it is kept over the threads.
// CHECK-LABEL: tile.kernel @rotate
// CHECK: tile.decisions = ["threads: 2 parts between barriers, 1 values kept across them"]
// CHECK: %[[X:.*]] = tile.alloc "x"
// CHECK: %[[KEPT:.*]] = tile.alloc "kept" : memref<128xf32, #tile.space<shared>>
// CHECK: tile.map (%[[T:.*]]) in [128] {
// CHECK:   %[[V:.*]] = tile.read %[[X]][%[[T]]]
// CHECK:   tile.write %[[V]], %[[KEPT]][%[[T]]]
// CHECK: }
// CHECK: tile.map (%[[T:.*]]) in [128] {
// CHECK:   %[[V:.*]] = tile.read %[[KEPT]][%[[T]]]
// CHECK:   %[[N:.*]] = arith.addi %[[T]], %c1
// CHECK:   %[[M:.*]] = arith.remui %[[N]], %c128
// CHECK:   tile.write %[[V]], %[[X]][%[[M]]]
tile.kernel @rotate() {
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  tile.grid (%g) = (%c1) {
    %x = tile.alloc "x" : memref<128xf32, #shared>
    tile.threads (%t) in [128] {
      %next = arith.addi %t, %c1 : index
      %to = arith.remui %next, %c128 : index
      %v = tile.read %x[%t] : memref<128xf32, #shared> -> f32
      tile.barrier
      tile.write %v, %x[%to] : f32, memref<128xf32, #shared>
    }
  }
}

// A tree reduction: the loop is around the maps, its offset the same for all threads.
// CHECK-LABEL: tile.kernel @tree
// CHECK: %{{.*}} = scf.while (%[[O:.*]] = %{{.*}}) : (i32) -> i32 {
// CHECK:   scf.condition
// CHECK: } do {
// CHECK:   tile.map (%[[T:.*]]) in [64] {
// CHECK:     scf.if
// CHECK:       tile.write
// CHECK:   }
// CHECK:   scf.yield
tile.kernel @tree() {
  %c1 = arith.constant 1 : index
  tile.grid (%g) = (%c1) {
    %x = tile.alloc "x" : memref<64xf32, #shared>
    tile.threads (%t) in [64] {
      %start = arith.constant 32 : i32
      %zero = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %end = scf.while (%o = %start) : (i32) -> i32 {
        %more = arith.cmpi sgt, %o, %zero : i32
        scf.condition(%more) %o : i32
      } do {
      ^bb0(%o: i32):
        %oi = arith.index_cast %o : i32 to index
        %low = arith.cmpi slt, %t, %oi : index
        scf.if %low {
          %p = arith.addi %t, %oi : index
          %a = tile.read %x[%t] : memref<64xf32, #shared> -> f32
          %b = tile.read %x[%p] : memref<64xf32, #shared> -> f32
          %s = arith.addf %a, %b : f32
          tile.write %s, %x[%t] : f32, memref<64xf32, #shared>
        }
        tile.barrier
        %half = arith.shrsi %o, %one : i32
        scf.yield %half : i32
      }
    }
  }
}

// What a loop carries for each thread lives in an array; the thread's first index is the last of the map.
// CHECK-LABEL: tile.kernel @carried
// CHECK: %[[SUM:.*]] = tile.alloc "kept" : memref<4x8xf32, #tile.space<shared>>
// CHECK: tile.map (%[[B:.*]], %[[A:.*]]) in [4, 8] {
// CHECK:   tile.write %cst, %[[SUM]][%[[B]], %[[A]]]
// CHECK: scf.for %[[I:.*]] = %c0 to %c3 step %c1 {
// CHECK:   tile.map (%[[B:.*]], %[[A:.*]]) in [4, 8] {
// CHECK:     tile.write %{{.*}}, %{{.*}}[%[[A]], %[[B]]]
// CHECK:   tile.map (%[[B:.*]], %[[A:.*]]) in [4, 8] {
// CHECK:     %[[OLD:.*]] = tile.read %[[SUM]][%[[B]], %[[A]]]
// CHECK:     %[[NEW:.*]] = arith.addf %[[OLD]]
// CHECK:     tile.write %[[NEW]], %[[SUM]][%[[B]], %[[A]]]
// CHECK: tile.map (%[[B:.*]], %[[A:.*]]) in [4, 8] {
// CHECK:   %[[ALL:.*]] = tile.read %[[SUM]][%[[B]], %[[A]]]
// CHECK:   tile.write %[[ALL]]
tile.kernel @carried() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  tile.grid (%g) = (%c1) {
    %x = tile.alloc "x" : memref<8x4xf32, #shared>
    %y = tile.alloc "y" : memref<4x8xf32, #shared>
    tile.threads (%a, %b) in [8, 4] {
      %sum = scf.for %i = %c0 to %c3 step %c1 iter_args(%s = %zero) -> f32 {
        %f = arith.index_cast %i : index to i32
        %v = arith.sitofp %f : i32 to f32
        tile.write %v, %x[%a, %b] : f32, memref<8x4xf32, #shared>
        tile.barrier
        %w = tile.read %x[%b, %c1] : memref<8x4xf32, #shared> -> f32
        %n = arith.addf %s, %w : f32
        scf.yield %n : f32
      }
      tile.write %sum, %y[%b, %a] : f32, memref<4x8xf32, #shared>
    }
  }
}

// Local tiles become arrays: neighbouring threads' elements side by side, or a window a thread where it is wanted whole.
// CHECK-LABEL: tile.kernel @locals
// CHECK: %[[R:.*]] = tile.alloc "r" : memref<4x32xf32, #tile.space<shared>>
// CHECK: %[[W:.*]] = tile.alloc "w" : memref<32x4xf32, #tile.space<shared>>
// CHECK: tile.map (%[[T:.*]]) in [32] {
// CHECK:   tile.write %cst, %[[R]][%c2, %[[T]]]
// CHECK: tile.map (%[[T:.*]]) in [32] {
// CHECK:   tile.combine {{ ?}}add %{{.*}}, %[[R]][%c2, %[[T]]]
// CHECK:   %[[S:.*]] = tile.slice %[[W]][%[[T]], %c0{{.*}}] dims [1]
// CHECK:   tile.fill %[[S]], %cst
tile.kernel @locals() {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  tile.grid (%g) = (%c1) {
    tile.threads (%t) in [32] {
      %r = tile.alloc "r" : memref<4xf32, #local>
      %w = tile.alloc "w" : memref<4xf32, #local>
      tile.write %zero, %r[%c2] : f32, memref<4xf32, #local>
      tile.barrier
      tile.combine add %zero, %r[%c2] : f32, memref<4xf32, #local>
      tile.fill %w, %zero : memref<4xf32, #local>, f32
    }
  }
}

// A shuffle and a vote read what the part before wrote; a vote of all threads may steer them.
// CHECK-LABEL: tile.kernel @lanes
// CHECK: %[[SENT:.*]] = tile.alloc "shuffled" : memref<64xf32
// CHECK: %[[VOTES:.*]] = tile.alloc "votes" : memref<64xi1
// CHECK: %[[JOINED:.*]] = tile.alloc "vote" : memref<1xi32
// CHECK: tile.map
// CHECK:   tile.write %{{.*}}, %[[SENT]]
// CHECK: tile.map
// CHECK:   arith.xori
// CHECK:   arith.select
// CHECK:   tile.read %[[SENT]]
// CHECK:   tile.write %{{.*}}, %[[VOTES]]
// CHECK: tile.map (%{{.*}}) in [1]
// CHECK:   scf.for
// CHECK:     tile.read %[[VOTES]]
// CHECK:     arith.ori
// CHECK: tile.map
// CHECK:   tile.read %[[JOINED]]
// CHECK: scf.if
// CHECK:   tile.map
tile.kernel @lanes() {
  %c1 = arith.constant 1 : index
  tile.grid (%g) = (%c1) {
    %x = tile.alloc "x" : memref<64xf32, #shared>
    tile.threads (%t) in [64] {
      %one = arith.constant 1 : i32
      %none = arith.constant 0 : i32
      %v = tile.read %x[%t] : memref<64xf32, #shared> -> f32
      %o = tile.shuffle xor %v, %one width 32 : f32
      %less = arith.cmpf olt, %v, %o : f32
      %n = tile.vote any %less width 64
      %go = arith.cmpi ne, %n, %none : i32
      scf.if %go {
        tile.write %o, %x[%t] : f32, memref<64xf32, #shared>
        tile.barrier
      }
    }
  }
}
