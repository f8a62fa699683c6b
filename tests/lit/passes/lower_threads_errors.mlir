// RUN: not tile-opt %s -split-input-file -lower-threads 2>&1 | FileCheck %s
#shared = #tile.space<shared>

tile.kernel @divergent_if() {
  %c1 = arith.constant 1 : index
  tile.grid (%g) = (%c1) {
    tile.threads (%t) in [64] {
      %first = arith.cmpi eq, %t, %c1 : index
      // CHECK: :13:9: error: tile.barrier stands in control flow that differs between threads, so that some would wait for
      // CHECK-SAME: ever; move it out, or make the condition the same for all
      // CHECK: :12:7: note: scf.if depends on the thread
      scf.if %first {
        tile.barrier
      }
    }
  }
}

// -----

#shared = #tile.space<shared>

tile.kernel @divergent_loop() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid (%g) = (%c1) {
    tile.threads (%t) in [64] {
      // CHECK: error: tile.vote stands in control flow that differs between threads
      // CHECK: note: scf.for depends on the thread
      scf.for %i = %c0 to %t step %c1 {
        %yes = arith.cmpi eq, %i, %c1 : index
        %n = tile.vote count %yes
      }
    }
  }
}

// -----

#shared = #tile.space<shared>
#local = #tile.space<local>

tile.kernel @bits() {
  %c1 = arith.constant 1 : index
  tile.grid (%g) = (%c1) {
    tile.threads (%t) in [64] {
      %x = tile.alloc "x" : memref<4xi32, #local>
      // CHECK: error: bits of a thread's local tile as another type are not supported; put the tile in shared space
      %y = tile.bitcast %x : memref<4xi32, #local> to memref<4xf32, #local>
    }
  }
}
