// RUN: deepaccel tile opt %s --stop-after guard-accesses | FileCheck %s
// RUN: deepaccel tile opt %s --target x86-64-avx512 --stop-after lower-kernels | FileCheck %s --check-prefix VECTOR

// CHECK-LABEL: tile.kernel @accesses
tile.kernel @accesses(%X: memref<64xi32, #tile.space<global>> {tile.name = "X", tile.dims = [""], tile.role = "in"},
                      %B: memref<64xui8, #tile.space<global>> {tile.name = "B", tile.dims = [""], tile.role = "in"},
                      %T: memref<256xf32, #tile.space<global>> {tile.name = "T", tile.dims = [""], tile.role = "in"},
                      %D: memref<?xf32, #tile.space<global>> {tile.name = "D", tile.dims = ["N"], tile.role = "inout"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid (%b) = (%c1) {
    scf.for %i = %c0 to %c64 step %c1 {
      %c15 = arith.constant 15 : i32
      %x = tile.read %X[%i] : memref<64xi32, #tile.space<global>> -> i32
      %byte = tile.read %B[%i] : memref<64xui8, #tile.space<global>> -> i32

      // Anything: an assertion, and index 0 where it does not hold.
      // CHECK: %[[INDEX:.*]] = arith.index_cast %{{.*}} : i32 to index
      // CHECK: %[[INSIDE:.*]] = arith.cmpi ult, %[[INDEX]], %c256
      // CHECK: tile.assert %[[INSIDE]], "index 0 of 'T' must be at least 0 and below 256; {{.*}}" {tile.index_error}
      // CHECK: %[[SAFE:.*]] = arith.select %[[INSIDE]], %[[INDEX]], %c0
      // CHECK: tile.read %{{.*}}[%[[SAFE]]] : memref<256xf32
      %anywhere = arith.index_cast %x : i32 to index
      %one = tile.read %T[%anywhere] : memref<256xf32, #tile.space<global>> -> f32

      // A byte, and four bits: inside for sure.
      // CHECK-NOT: tile.assert
      // CHECK: tile.read %{{.*}} : memref<256xf32
      %at_byte = arith.index_cast %byte : i32 to index
      %two = tile.read %T[%at_byte] : memref<256xf32, #tile.space<global>> -> f32
      // CHECK-NOT: tile.assert
      // CHECK: tile.read %{{.*}} : memref<256xf32
      %masked = arith.andi %x, %c15 : i32
      %at_masked = arith.index_cast %masked : i32 to index
      %three = tile.read %T[%at_masked] : memref<256xf32, #tile.space<global>> -> f32

      // A dynamic size is asked for.
      // CHECK: %[[EXTENT:.*]] = tile.extent %{{.*}} dim 0
      // CHECK: arith.cmpi ult, %{{.*}}, %[[EXTENT]]
      // CHECK: tile.assert %{{.*}}, "index 0 of 'D' must be at least 0 and below its size; {{.*}}" {tile.index_error}
      // CHECK: tile.write
      %sum = arith.addf %one, %two : f32
      %total = arith.addf %sum, %three : f32
      tile.write %total, %D[%anywhere] : f32, memref<?xf32, #tile.space<global>>

      // What the kernel tests itself, and what does not come from data, stay as they are.
      // CHECK: scf.if
      // CHECK-NOT: tile.assert
      // CHECK: tile.write
      %N = tile.dim "N"
      %tested = arith.cmpi ult, %anywhere, %N : index
      scf.if %tested {
        tile.write %one, %D[%anywhere] : f32, memref<?xf32, #tile.space<global>>
      }
      // CHECK-NOT: tile.assert
      // CHECK: tile.write
      tile.write %two, %D[%i] : f32, memref<?xf32, #tile.space<global>>

      // Two tests, of the number as it was read, and the branch where they do not fail.
      // CHECK: scf.if
      // CHECK: else
      // CHECK-NOT: tile.assert
      // CHECK: tile.read
      %low = arith.constant 3 : i32
      %high = arith.constant 250 : i32
      %under = arith.cmpi slt, %x, %low : i32
      %over = arith.cmpi sgt, %x, %high : i32
      %refused = arith.ori %under, %over : i1
      %four = scf.if %refused -> f32 {
        scf.yield %one : f32
      } else {
        %five = arith.constant 5 : index
        %near = arith.addi %anywhere, %five : index
        %found = tile.read %T[%near] : memref<256xf32, #tile.space<global>> -> f32
        scf.yield %found : f32
      }
      // A test of one end alone, and one of another number, prove nothing.
      // CHECK: scf.if
      // CHECK: tile.assert
      // CHECK: tile.write
      // CHECK: scf.if
      // CHECK: tile.assert
      // CHECK: tile.write
      %half = arith.cmpi slt, %anywhere, %N : index
      scf.if %half {
        tile.write %four, %D[%anywhere] : f32, memref<?xf32, #tile.space<global>>
      }
      %wrong = arith.cmpi ult, %i, %N : index
      scf.if %wrong {
        tile.write %four, %D[%anywhere] : f32, memref<?xf32, #tile.space<global>>
      }
    }
  }
}

// In maps the check is one for a vector of indices: nothing else keeps lanes together.
// VECTOR-LABEL: func.func @looked_up_phase0
// VECTOR: %[[IN:.*]] = arith.cmpi ult, %{{.*}}, %{{.*}} : vector<16xindex>
// VECTOR: %[[ALL:.*]] = vector.reduction <and>, %[[IN]] : vector<16xi1> into i1
// VECTOR: scf.if
// VECTOR: llvm.call
tile.kernel @looked_up(%X: memref<64xi32, #tile.space<global>> {tile.name = "X", tile.dims = [""], tile.role = "in"},
                       %T: memref<256xf32, #tile.space<global>> {tile.name = "T", tile.dims = [""], tile.role = "in"},
                       %Y: memref<64xf32, #tile.space<global>> {tile.name = "Y", tile.dims = [""], tile.role = "out"}) {
  %c1 = arith.constant 1 : index
  tile.grid (%b) = (%c1) {
    tile.map (%i) in [64] {
      %x = tile.read %X[%i] : memref<64xi32, #tile.space<global>> -> i32
      %at = arith.index_cast %x : i32 to index
      %y = tile.read %T[%at] : memref<256xf32, #tile.space<global>> -> f32
      tile.write %y, %Y[%i] : f32, memref<64xf32, #tile.space<global>>
    }
  }
}

// What a loop carries, what it ends with and how far it goes may come from data too, as a scalar does; a cast to fewer
// bits proves nothing about all of them, and a truth is -1 as an index.
// CHECK-LABEL: tile.kernel @carried
// CHECK: scf.for
// CHECK: tile.assert
// CHECK-NEXT: arith.constant
// CHECK-NEXT: arith.select
// CHECK-NEXT: tile.read
// CHECK: tile.assert
// CHECK: tile.write
// CHECK: scf.for
// CHECK: tile.assert
// CHECK: tile.write
// CHECK: scf.if
// CHECK: tile.assert
// CHECK: tile.write
// CHECK: tile.assert
// CHECK: tile.write
// CHECK: tile.assert
// CHECK: tile.write
tile.kernel @carried(%X: memref<64xi32, #tile.space<global>> {tile.name = "X", tile.dims = [""], tile.role = "in"},
                     %Z: memref<64xi64, #tile.space<global>> {tile.name = "Z", tile.dims = [""], tile.role = "in"},
                     %n: i32 {tile.name = "n"},
                     %Y: memref<64xf32, #tile.space<global>> {tile.name = "Y", tile.dims = [""], tile.role = "out"}) {
  %c1 = arith.constant 1 : index
  tile.grid (%b) = (%c1) {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %one = arith.constant 1.0 : f32
    %last = scf.for %i = %c0 to %c8 step %c1 iter_args(%at = %c0) -> (index) {
      %x = tile.read %X[%at] : memref<64xi32, #tile.space<global>> -> i32
      %next = arith.index_cast %x : i32 to index
      scf.yield %next : index
    }
    tile.write %one, %Y[%last] : f32, memref<64xf32, #tile.space<global>>
    %first = tile.read %X[%c0] : memref<64xi32, #tile.space<global>> -> i32
    %count = arith.index_cast %first : i32 to index
    scf.for %i = %c0 to %count step %c1 {
      tile.write %one, %Y[%i] : f32, memref<64xf32, #tile.space<global>>
    }
    %wide = tile.read %Z[%c0] : memref<64xi64, #tile.space<global>> -> i64
    %wide_at = arith.index_cast %wide : i64 to index
    %narrow = arith.index_cast %wide_at : index to i32
    %c64 = arith.constant 64 : i32
    %small = arith.cmpi ult, %narrow, %c64 : i32
    scf.if %small {
      tile.write %one, %Y[%wide_at] : f32, memref<64xf32, #tile.space<global>>
    }
    %truth_at = arith.index_cast %small : i1 to index
    tile.write %one, %Y[%truth_at] : f32, memref<64xf32, #tile.space<global>>
    %given = arith.index_cast %n : i32 to index
    tile.write %one, %Y[%given] : f32, memref<64xf32, #tile.space<global>>
  }
}
