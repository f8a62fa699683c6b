// RUN: tile-opt %s -plan-pipeline -canonicalize -cse | FileCheck %s
// What overlap of iterations becomes on a CPU: a loop, and prefetches for what the hardware does not foresee.

#shared = #tile.space<shared>
#frag = #tile.space<fragment>
#global = #tile.space<global>

// A product hides the way of its factors from memory: they are asked for while it computes, the next iteration's windows
// while there is one.
// CHECK-LABEL: tile.kernel @product
// CHECK-SAME: %[[A:arg[0-9]+]]: memref{{[^%]*}}%[[B:arg[0-9]+]]: memref
// CHECK: tile.grid (%[[G:.*]]) = {{.*}} attributes {tile.decisions = ["pipeline at {{.*}}plan_pipeline.mlir:[[@LINE+24]]:5: 3 stages;
// CHECK-SAME: load of 'A' prefetched line by line during the product 1 iteration ahead;
// CHECK-SAME: load of 'B' prefetched line by line during the product 1 iteration ahead;
// CHECK-SAME: iterations run in order: 'a', 'b' refilled after the last read, 'acc' carried"]}
// CHECK: scf.for %[[K:.*]] = %c0 to %[[N:.*]] step %c32
// CHECK-NOT: tile.prefetch
// CHECK: tile.load %[[A]]
// CHECK: tile.load %[[B]]
// CHECK:   %[[NEXT:.*]] = arith.addi %[[K]], %c32
// CHECK:   %[[MORE:.*]] = arith.cmpi slt, %[[NEXT]], %[[N]]
// CHECK:   %[[FUTURE:.*]] = arith.select %[[MORE]], %[[NEXT]], %[[K]]
// CHECK:   tile.prefetch %[[A]][%[[G]], %[[FUTURE]]] sizes [64, 32] {tile.during = "product"}
// CHECK:   tile.prefetch %[[B]][%[[FUTURE]], %[[G]]] sizes [32, 256] {tile.during = "product"}
// CHECK-NEXT: tile.gemm
tile.kernel @product(%A: memref<?x?xf32, #global> {tile.name = "A", tile.dims = ["M", "K"], tile.role = "in"},
                     %B: memref<?x?xf32, #global> {tile.name = "B", tile.dims = ["K", "N"], tile.role = "in"}) {
  %c1 = arith.constant 1 : index
  tile.grid (%g) = (%c1) {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %K = tile.dim "K"
    %a = tile.alloc "a" : memref<64x32xf32, #shared>
    %b = tile.alloc "b" : memref<32x256xf32, #shared>
    %acc = tile.alloc "acc" : memref<64x256xf32, #frag>
    tile.pipeline %k = %c0 to %K step %c32 stages(3) {
      tile.load %A[%g, %k] into %a : memref<?x?xf32, #global>, memref<64x32xf32, #shared>
      tile.load %B[%k, %g] into %b : memref<?x?xf32, #global>, memref<32x256xf32, #shared>
      tile.gemm %a, %b, %acc : memref<64x32xf32, #shared>, memref<32x256xf32, #shared>, memref<64x256xf32, #frag>
    }
  }
}

// Without one (eight rows are too few for %B, of which each element is used eight times), short rows of %A, far apart,
// are fetched two iterations ahead while that iteration exists; long rows of %B are not.
// CHECK-LABEL: tile.kernel @rows
// CHECK-SAME: %[[A:arg[0-9]+]]: memref
// CHECK: tile.grid (%[[G:.*]]) = {{.*}} attributes {tile.decisions = ["pipeline at {{.*}}: 3 stages;
// CHECK-SAME: load of 'A' prefetched (rows of 128 bytes, far apart) 2 iterations ahead;
// CHECK-SAME: load of 'B' left to the hardware: unit stride, rows of 1024 bytes;
// CHECK: scf.for %[[K:.*]] = %c0 to %[[N:.*]] step %c32
// CHECK:   %[[AHEAD:.*]] = arith.addi %[[K]], %c64
// CHECK:   %[[MORE:.*]] = arith.cmpi slt, %[[AHEAD]], %[[N]]
// CHECK:   scf.if %[[MORE]] {
// CHECK:     %[[FUTURE:.*]] = arith.addi %[[K]], %c96
// CHECK:     tile.prefetch %[[A]][%[[G]], %[[FUTURE]]] sizes [64, 32] :
// CHECK-NOT: tile.prefetch
// CHECK: tile.gemm
tile.kernel @rows(%A: memref<?x?xf32, #global> {tile.name = "A", tile.dims = ["M", "K"], tile.role = "in"},
                  %B: memref<?x?xf32, #global> {tile.name = "B", tile.dims = ["K", "N"], tile.role = "in"}) {
  %c1 = arith.constant 1 : index
  tile.grid (%g) = (%c1) {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %K = tile.dim "K"
    %a = tile.alloc "a" : memref<64x32xf32, #shared>
    %b = tile.alloc "b" : memref<32x256xf32, #shared>
    %q = tile.alloc "q" : memref<8x32xf32, #shared>
    %acc = tile.alloc "acc" : memref<8x256xf32, #frag>
    tile.pipeline %k = %c0 to %K step %c32 stages(3) {
      %next = arith.addi %k, %c32 : index
      tile.load %A[%g, %next] into %a : memref<?x?xf32, #global>, memref<64x32xf32, #shared>
      tile.load %B[%k, %g] into %b : memref<?x?xf32, #global>, memref<32x256xf32, #shared>
      tile.print "a", %a : memref<64x32xf32, #shared>
      tile.gemm %q, %b, %acc : memref<8x32xf32, #shared>, memref<32x256xf32, #shared>, memref<8x256xf32, #frag>
    }
  }
}

// One stage: the plain loop.
// CHECK-LABEL: tile.kernel @one_stage
// CHECK: tile.decisions = ["pipeline at {{.*}}: 1 stage, the plain loop"]
// CHECK-NOT: tile.prefetch
// CHECK: scf.for
// CHECK-NOT: tile.prefetch
// CHECK: tile.load
// CHECK-NOT: tile.prefetch
tile.kernel @one_stage(%A: memref<?x?xf32, #global> {tile.name = "A", tile.dims = ["M", "K"], tile.role = "in"}) {
  %c1 = arith.constant 1 : index
  tile.grid (%g) = (%c1) {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %K = tile.dim "K"
    %a = tile.alloc "a" : memref<64x32xf32, #shared>
    tile.pipeline %k = %c0 to %K step %c32 stages(1) {
      tile.load %A[%g, %k] into %a : memref<?x?xf32, #global>, memref<64x32xf32, #shared>
      tile.print "a", %a : memref<64x32xf32, #shared>
    }
  }
}

// Rows by indices that each iteration loads: the future iteration's indices are loaded to a tile of their own.
// CHECK-LABEL: tile.kernel @gather
// CHECK-SAME: %[[KV:arg[0-9]+]]: memref<?x128xbf16{{.*}}%[[IDS:arg[0-9]+]]: memref<?xi32
// CHECK: 2 stages; load of 'IDS' left to the hardware: only 1 row; gather of 'KV' by 'ids' prefetched 1 iteration ahead
// CHECK: scf.for %[[K:.*]] = %c0
// CHECK:   %[[AHEAD:.*]] = arith.addi %[[K]], %c64
// CHECK:   scf.if
// CHECK:     %[[TILE:.*]] = tile.alloc "ids" : memref<64xi32
// CHECK:     tile.load %[[IDS]][%[[AHEAD]]] into %[[TILE]]
// CHECK:     scf.for %[[R:.*]] = %c0 to %c64 step %c1
// CHECK:       %[[ID:.*]] = tile.read %[[TILE]][%[[R]]]
// CHECK:       %[[ROW:.*]] = arith.index_cast %[[ID]] : i32 to index
// CHECK:       tile.prefetch %[[KV]][%[[ROW]], %c0] sizes [1, 128]
// CHECK:   tile.load %[[IDS]][%[[K]]] into
// CHECK:   tile.gather
tile.kernel @gather(%KV: memref<?x128xbf16, #global> {tile.name = "KV", tile.dims = ["S", ""], tile.role = "in"},
                    %IDS: memref<?xi32, #global> {tile.name = "IDS", tile.dims = ["N"], tile.role = "in"}) {
  %c1 = arith.constant 1 : index
  tile.grid (%g) = (%c1) {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %N = tile.dim "N"
    %ids = tile.alloc "ids" : memref<64xi32, #shared>
    %kv = tile.alloc "kv" : memref<64x128xf32, #shared>
    tile.pipeline %k = %c0 to %N step %c64 stages(2) {
      tile.load %IDS[%k] into %ids : memref<?xi32, #global>, memref<64xi32, #shared>
      tile.gather %KV[%c0, %c0] rows %ids axis 0 into %kv
        : memref<?x128xbf16, #global>, memref<64xi32, #shared>, memref<64x128xf32, #shared>
      tile.extern @see(%kv) reads [0] : (memref<64x128xf32, #shared>) -> ()
    }
  }
}

// Indices known before the loop: the column moves.
// CHECK-LABEL: tile.kernel @gather_columns
// CHECK-SAME: %[[X:arg[0-9]+]]: memref<?x?xf32
// CHECK: gather of 'X' by 'ids' prefetched 1 iteration ahead
// CHECK: tile.alloc "ids"
// CHECK: %[[AHEAD:.*]] = arith.addi %{{.*}}, %c32
// CHECK: scf.for
// CHECK: tile.prefetch %[[X]][%{{.*}}, %[[AHEAD]]] sizes [1, 32]
tile.kernel @gather_columns(%X: memref<?x?xf32, #global> {tile.name = "X", tile.dims = ["S", "D"], tile.role = "in"},
                            %IDS: memref<?xi32, #global> {tile.name = "IDS", tile.dims = ["N"], tile.role = "in"}) {
  %c1 = arith.constant 1 : index
  tile.grid (%g) = (%c1) {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %D = tile.dim "D"
    %ids = tile.alloc "ids" : memref<16xi32, #shared>
    %x = tile.alloc "x" : memref<16x32xf32, #shared>
    tile.load %IDS[%g] into %ids : memref<?xi32, #global>, memref<16xi32, #shared>
    tile.pipeline %d = %c0 to %D step %c32 stages(2) {
      tile.gather %X[%c0, %d] rows %ids axis 0 into %x
        : memref<?x?xf32, #global>, memref<16xi32, #shared>, memref<16x32xf32, #shared>
      tile.print "x", %x : memref<16x32xf32, #shared>
    }
  }
}

// A paged cache: the page's number is read from a table, at the same place as the later iteration will read it.
// CHECK-LABEL: tile.kernel @paged
// CHECK-SAME: %[[KV:arg[0-9]+]]: memref<?x64x128xf32{{.*}}%[[TABLE:arg[0-9]+]]: memref<?x?xi32
// CHECK: 2 stages; load of 'KV' prefetched 1 iteration ahead
// CHECK: %[[AHEAD:.*]] = arith.addi
// CHECK: scf.if
// CHECK:   %[[PAGE:.*]] = tile.read %[[TABLE]][%{{.*}}, %[[AHEAD]]]
// CHECK:   %[[AT:.*]] = arith.index_cast %[[PAGE]]
// CHECK:   tile.prefetch %[[KV]][%[[AT]], %c0, %c0] sizes [1, 64, 128]
tile.kernel @paged(%KV: memref<?x64x128xf32, #global> {tile.name = "KV", tile.dims = ["P", "", ""], tile.role = "in"},
                   %T: memref<?x?xi32, #global> {tile.name = "T", tile.dims = ["B", "N"], tile.role = "in"}) {
  %c1 = arith.constant 1 : index
  tile.grid (%g) = (%c1) {
    %c0 = arith.constant 0 : index
    %N = tile.dim "N"
    %kv = tile.alloc "kv" : memref<64x128xf32, #shared>
    tile.pipeline %k = %c0 to %N step %c1 stages(2) {
      %page = tile.read %T[%g, %k] : memref<?x?xi32, #global> -> i32
      %p = arith.index_cast %page : i32 to index
      tile.load %KV[%p, %c0, %c0] into %kv : memref<?x64x128xf32, #global>, memref<64x128xf32, #shared>
      tile.extern @see(%kv) reads [0] : (memref<64x128xf32, #shared>) -> ()
    }
  }
}

// What is not prefetched, and why.
// CHECK-LABEL: tile.kernel @declined
// CHECK: 2 stages;
// CHECK-SAME: load of 'SAME' not prefetched: it is the same in every iteration;
// CHECK-SAME: load of 'OUT' not prefetched: the loop writes it;
// CHECK-SAME: load of 'X' left to the hardware: only 2 rows;
// CHECK-SAME: load of 'NEAR' left to the hardware: rows 256 bytes apart;
// CHECK-SAME: gather of 'X' by 'made' not prefetched: its address depends on 'made', which the loop writes;
// CHECK-SAME: gather of 'X' by 'late' not prefetched: its address depends on 'late', which an earlier iteration filled;
// CHECK-SAME: load of 'LONG' not prefetched: 1 MiB would not stay in the cache;
// CHECK-SAME: iterations run in order:
// CHECK-SAME: tile.atomic observed in order
// CHECK-NOT: tile.prefetch
tile.kernel @declined(%SAME: memref<?x?xf32, #global> {tile.name = "SAME", tile.dims = ["A", "B"], tile.role = "in"},
                      %OUT: memref<?x?xf32, #global> {tile.name = "OUT", tile.dims = ["C", "D"], tile.role = "inout"},
                      %X: memref<?x?xf32, #global> {tile.name = "X", tile.dims = ["E", "F"], tile.role = "in"},
                      %NEAR: memref<?x64xf32, #global> {tile.name = "NEAR", tile.dims = ["G", ""], tile.role = "in"},
                      %LONG: memref<?x4096xf32, #global> {tile.name = "LONG", tile.dims = ["H", ""], tile.role = "in"},
                      %IDS: memref<?xi32, #global> {tile.name = "IDS", tile.dims = ["N"], tile.role = "in"},
                      %SUM: memref<?xi32, #global> {tile.name = "SUM", tile.dims = ["Z"], tile.role = "inout"}) {
  %c1 = arith.constant 1 : index
  tile.grid (%g) = (%c1) {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %one = arith.constant 1 : i32
    %N = tile.dim "N"
    %made = tile.alloc "made" : memref<16xi32, #shared>
    %late = tile.alloc "late" : memref<16xi32, #shared>
    %x = tile.alloc "x" : memref<16x16xf32, #shared>
    %few = tile.alloc "few" : memref<2x16xf32, #shared>
    %long = tile.alloc "long" : memref<64x4096xf32, #shared>
    tile.fill %late, %one : memref<16xi32, #shared>, i32
    tile.pipeline %k = %c0 to %N step %c16 stages(2) {
      tile.load %SAME[%g, %c0] into %x : memref<?x?xf32, #global>, memref<16x16xf32, #shared>
      tile.load %OUT[%g, %k] into %x : memref<?x?xf32, #global>, memref<16x16xf32, #shared>
      tile.store %x into %OUT[%g, %k] : memref<16x16xf32, #shared>, memref<?x?xf32, #global>
      tile.load %X[%g, %k] into %few : memref<?x?xf32, #global>, memref<2x16xf32, #shared>
      tile.load %NEAR[%k, %c0] into %x : memref<?x64xf32, #global>, memref<16x16xf32, #shared>
      tile.map (%i) in [16] {
        %v = arith.index_cast %i : index to i32
        tile.write %v, %made[%i] : i32, memref<16xi32, #shared>
      }
      tile.gather %X[%c0, %k] rows %made axis 0 into %x
        : memref<?x?xf32, #global>, memref<16xi32, #shared>, memref<16x16xf32, #shared>
      tile.gather %X[%c0, %k] rows %late axis 0 into %x
        : memref<?x?xf32, #global>, memref<16xi32, #shared>, memref<16x16xf32, #shared>
      tile.load %IDS[%k] into %late : memref<?xi32, #global>, memref<16xi32, #shared>
      tile.load %LONG[%k, %c0] into %long : memref<?x4096xf32, #global>, memref<64x4096xf32, #shared>
      %old = tile.atomic add %one, %SUM[%c0] : i32, memref<?xi32, #global>
    }
  }
}

// Asynchronous loads are done when they return.
// CHECK-LABEL: tile.kernel @async
// CHECK: tile.load {{.*}} into %[[A:.*]] fill %{{.*}} : f32
// CHECK-NOT: tile.wait
// CHECK: tile.store
tile.kernel @async(%X: memref<?xf32, #global> {tile.name = "X", tile.dims = ["N"], tile.role = "in"},
                   %Y: memref<?xf32, #global> {tile.name = "Y", tile.dims = ["N"], tile.role = "out"}) {
  %c1 = arith.constant 1 : index
  tile.grid (%g) = (%c1) {
    %one = arith.constant 1.0 : f32
    %a = tile.alloc "a" : memref<128xf32, #shared>
    %t = tile.async_load %X[%g] into %a fill %one : f32 : memref<?xf32, #global>, memref<128xf32, #shared>
    tile.wait %t
    tile.store %a into %Y[%g] : memref<128xf32, #shared>, memref<?xf32, #global>
  }
}
