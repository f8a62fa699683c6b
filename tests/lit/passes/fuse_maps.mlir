// RUN: deepaccel tile opt %s --target x86-64-avx2 --stop-after simplify-maps | FileCheck %s

// Load, two maps and store become one pass over memory, and the tile is gone.
// CHECK-LABEL: tile.kernel @chain
// CHECK-NOT: tile.alloc
// CHECK: tile.map
// CHECK: tile.read %{{.*}} : memref<1024xf32, #tile.space<global>>
// CHECK: arith.addf
// CHECK: math.exp
// CHECK: tile.write %{{.*}} memref<1024xf32, #tile.space<global>>
// CHECK-NOT: tile.map
tile.kernel @chain(%A: memref<1024xf32, #tile.space<global>> {tile.name = "A", tile.dims = [""], tile.role = "in"},
                   %B: memref<1024xf32, #tile.space<global>> {tile.name = "B", tile.dims = [""], tile.role = "out"}) {
  %c256 = arith.constant 256 : index
  %c4 = arith.constant 4 : index
  tile.grid (%b) = (%c4) {
    %i = arith.muli %b, %c256 : index
    %t = tile.alloc "t" : memref<256xf32, #tile.space<shared>>
    tile.load %A[%i] into %t : memref<1024xf32, #tile.space<global>>, memref<256xf32, #tile.space<shared>>
    tile.map (%p) in [256] {
      %v = tile.read %t[%p] : memref<256xf32, #tile.space<shared>> -> f32
      %w = arith.addf %v, %v : f32
      tile.write %w, %t[%p] : f32, memref<256xf32, #tile.space<shared>>
    }
    tile.map (%p) in [256] {
      %v = tile.read %t[%p] : memref<256xf32, #tile.space<shared>> -> f32
      %w = math.exp %v : f32
      tile.write %w, %t[%p] : f32, memref<256xf32, #tile.space<shared>>
    }
    tile.store %t into %B[%i] : memref<256xf32, #tile.space<shared>>, memref<1024xf32, #tile.space<global>>
  }
}

// A map that needs the whole of what the one before reduces stays apart; and one that reads its neighbour too.
// CHECK-LABEL: tile.kernel @apart
// CHECK: tile.combine add
// CHECK: }
// CHECK: tile.map
// CHECK: arith.divf
// CHECK: }
// CHECK: tile.map
// CHECK: arith.addf
tile.kernel @apart(%A: memref<4x64xf32, #tile.space<global>> {tile.name = "A", tile.dims = ["", ""], tile.role = "in"},
                   %B: memref<4x64xf32, #tile.space<global>> {tile.name = "B", tile.dims = ["", ""], tile.role = "out"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c63 = arith.constant 63 : index
  tile.grid (%b) = (%c1) {
    %t = tile.alloc "t" : memref<4x64xf32, #tile.space<shared>>
    %u = tile.alloc "u" : memref<4x64xf32, #tile.space<shared>>
    %s = tile.alloc "s" : memref<4xf32, #tile.space<fragment>>
    tile.load %A[%c0, %c0] into %t : memref<4x64xf32, #tile.space<global>>, memref<4x64xf32, #tile.space<shared>>
    tile.reduce add %t into %s dim 1 clear : memref<4x64xf32, #tile.space<shared>>, memref<4xf32, #tile.space<fragment>>
    tile.map (%p, %q) in [4, 64] {
      %v = tile.read %t[%p, %q] : memref<4x64xf32, #tile.space<shared>> -> f32
      %n = tile.read %s[%p] : memref<4xf32, #tile.space<fragment>> -> f32
      %w = arith.divf %v, %n : f32
      tile.write %w, %u[%p, %q] : f32, memref<4x64xf32, #tile.space<shared>>
    }
    tile.map (%p, %q) in [4, 64] {
      %r = arith.subi %c63, %q : index
      %v = tile.read %u[%p, %q] : memref<4x64xf32, #tile.space<shared>> -> f32
      %n = tile.read %u[%p, %r] : memref<4x64xf32, #tile.space<shared>> -> f32
      %w = arith.addf %v, %n : f32
      tile.write %w, %t[%p, %q] : f32, memref<4x64xf32, #tile.space<shared>>
    }
    tile.store %t into %B[%c0, %c0] : memref<4x64xf32, #tile.space<shared>>, memref<4x64xf32, #tile.space<global>>
  }
}
