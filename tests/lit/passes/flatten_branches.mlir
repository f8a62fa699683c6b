// RUN: deepaccel tile opt %s --target x86-64-avx2 --stop-after flatten-branches | FileCheck %s
#shared = #tile.space<shared>
#global = #tile.space<global>

// The mask of an attention: the score is read whether it counts or not, since it lies inside its tile.
// CHECK-LABEL: tile.kernel @mask
// CHECK: tile.map (%[[I:.*]], %[[J:.*]]) in [8, 16] {
// CHECK:   %[[SEEN:.*]] = arith.cmpi slt
// CHECK:   %[[SCORE:.*]] = tile.read %{{.*}}[%[[I]], %[[J]]]
// CHECK:   %[[SCALED:.*]] = arith.mulf %[[SCORE]]
// CHECK-NOT: scf.if
// CHECK:   %[[CHOSEN:.*]] = arith.select %[[SEEN]], %[[SCALED]], %{{.*}} : f32
// CHECK:   tile.write %[[CHOSEN]]
tile.kernel @mask(%n: index {tile.name = "n"}) {
  %c1 = arith.constant 1 : index
  %half = arith.constant 0.5 : f32
  %low = arith.constant -1.0e+30 : f32
  tile.grid (%b) = (%c1) {
    %s = tile.alloc "s" : memref<8x16xf32, #shared>
    tile.fill %s, %half : memref<8x16xf32, #shared>, f32
    tile.map (%i, %j) in [8, 16] {
      %seen = arith.cmpi slt, %j, %n : index
      %chosen = scf.if %seen -> (f32) {
        %score = tile.read %s[%i, %j] : memref<8x16xf32, #shared> -> f32
        %scaled = arith.mulf %score, %half : f32
        scf.yield %scaled : f32
      } else {
        scf.yield %low : f32
      }
      tile.write %chosen, %s[%i, %j] : f32, memref<8x16xf32, #shared>
    }
    tile.print "s", %s : memref<8x16xf32, #shared>
  }
}

// A branch within a branch goes too, the inner one first.
// CHECK-LABEL: tile.kernel @nested
// CHECK-NOT: scf.if
// CHECK: arith.select
// CHECK: arith.select
tile.kernel @nested() {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  tile.grid (%b) = (%c1) {
    %s = tile.alloc "s" : memref<16xf32, #shared>
    tile.fill %s, %one : memref<16xf32, #shared>, f32
    tile.map (%i) in [16] {
      %v = tile.read %s[%i] : memref<16xf32, #shared> -> f32
      %positive = arith.cmpf ogt, %v, %zero : f32
      %clamped = scf.if %positive -> (f32) {
        %large = arith.cmpf ogt, %v, %one : f32
        %most = scf.if %large -> (f32) {
          scf.yield %one : f32
        } else {
          %more = arith.addf %v, %v : f32
          scf.yield %more : f32
        }
        %half = arith.mulf %most, %v : f32
        scf.yield %half : f32
      } else {
        scf.yield %zero : f32
      }
      tile.write %clamped, %s[%i] : f32, memref<16xf32, #shared>
    }
    tile.print "s", %s : memref<16xf32, #shared>
  }
}

// What guards an element that may lie outside stays, as does a division by what may be zero, and what has an effect.
// CHECK-LABEL: tile.kernel @guards
// CHECK: tile.map
// CHECK:   scf.if %{{.*}} -> (f32)
// CHECK: tile.map
// CHECK:   scf.if %{{.*}} -> (i32)
// CHECK: tile.map
// CHECK:   scf.if %{{.*}} {
tile.kernel @guards(%X: memref<?xf32, #global> {tile.name = "X", tile.dims = ["N"], tile.role = "in"},
                    %Y: memref<16xf32, #global> {tile.name = "Y", tile.dims = [""], tile.role = "out"},
                    %Z: memref<16xi32, #global> {tile.name = "Z", tile.dims = [""], tile.role = "inout"}) {
  %N = tile.dim "N"
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0 : i32
  %hundred = arith.constant 100 : i32
  tile.grid (%b) = (%c1) {
    tile.map (%i) in [16] {
      %inside = arith.cmpi slt, %i, %N : index
      %v = scf.if %inside -> (f32) {
        %x = tile.read %X[%i] : memref<?xf32, #global> -> f32
        scf.yield %x : f32
      } else {
        scf.yield %zero : f32
      }
      tile.write %v, %Y[%i] : f32, memref<16xf32, #global>
    }
    tile.map (%i) in [16] {
      %z = tile.read %Z[%i] : memref<16xi32, #global> -> i32
      %nonzero = arith.cmpi ne, %z, %none : i32
      %v = scf.if %nonzero -> (i32) {
        %q = arith.divsi %hundred, %z : i32
        scf.yield %q : i32
      } else {
        scf.yield %none : i32
      }
      tile.write %v, %Z[%i] : i32, memref<16xi32, #global>
    }
    tile.map (%i) in [16] {
      %y = tile.read %Y[%i] : memref<16xf32, #global> -> f32
      %negative = arith.cmpf olt, %y, %zero : f32
      scf.if %negative {
        tile.write %zero, %Y[%i] : f32, memref<16xf32, #global>
      }
    }
  }
}
