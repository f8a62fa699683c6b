// RUN: not tile-opt %s -split-input-file -plan-pipeline 2>&1 | FileCheck %s

#shared = #tile.space<shared>
#global = #tile.space<global>

tile.kernel @read_too_soon(%X: memref<?xf32, #global> {tile.name = "X", tile.dims = ["N"], tile.role = "inout"}) {
  %c1 = arith.constant 1 : index
  tile.grid (%g) = (%c1) {
    %a = tile.alloc "a" : memref<128xf32, #shared>
    // CHECK: :5: error: touches the tile 'a' while an asynchronous load may still write it
    // CHECK: :10: note: the load begins here
    %t = tile.async_load %X[%g] into %a : memref<?xf32, #global>, memref<128xf32, #shared>
    // CHECK: :5: note: and is waited for only here; move the statement behind the wait
    tile.store %a into %X[%g] : memref<128xf32, #shared>, memref<?xf32, #global>
    tile.wait %t
  }
}

// -----

#shared = #tile.space<shared>
#global = #tile.space<global>

tile.kernel @in_a_branch(%X: memref<?xf32, #global> {tile.name = "X", tile.dims = ["N"], tile.role = "inout"},
                         %c: i1 {tile.name = "c"}) {
  %c1 = arith.constant 1 : index
  tile.grid (%g) = (%c1) {
    %a = tile.alloc "a" : memref<128xf32, #shared>
    %t = tile.async_load %X[%g] into %a : memref<?xf32, #global>, memref<128xf32, #shared>
    scf.if %c {
      tile.wait %t
      tile.store %a into %X[%g] : memref<128xf32, #shared>, memref<?xf32, #global>
    } else {
      // CHECK: :7: error: touches the tile 'a' while an asynchronous load may still write it
      tile.store %a into %X[%c1] : memref<128xf32, #shared>, memref<?xf32, #global>
      // CHECK: note: the load begins here
      // CHECK: note: and is never waited for in this block; add a tile.wait before the statement
    }
  }
}

// -----

#shared = #tile.space<shared>
#global = #tile.space<global>

tile.kernel @no_wait(%X: memref<?xf32, #global> {tile.name = "X", tile.dims = ["N"], tile.role = "in"}) {
  %c1 = arith.constant 1 : index
  tile.grid (%g) = (%c1) {
    %a = tile.alloc "a" : memref<128xf32, #shared>
    // CHECK: :10: error: the asynchronous load of 'a' is not waited for in its block; add a tile.wait behind it
    %t = tile.async_load %X[%g] into %a : memref<?xf32, #global>, memref<128xf32, #shared>
  }
}

// -----

#shared = #tile.space<shared>
#global = #tile.space<global>

tile.kernel @handed_on(%X: memref<?xf32, #global> {tile.name = "X", tile.dims = ["N"], tile.role = "in"},
                       %c: i1 {tile.name = "c"}) {
  %c1 = arith.constant 1 : index
  tile.grid (%g) = (%c1) {
    %a = tile.alloc "a" : memref<128xf32, #shared>
    %t = tile.async_load %X[%g] into %a : memref<?xf32, #global>, memref<128xf32, #shared>
    // CHECK: error: the token of an asynchronous load of 'a' is handed on here; wait for it in the block of the load
    %u = scf.if %c -> !tile.token {
      scf.yield %t : !tile.token
    } else {
      scf.yield %t : !tile.token
    }
    tile.wait %u
  }
}
