// RUN: deepaccel tile opt %s --target x86-64-avx2 --stop-after lower-moves | FileCheck %s

// Windows of a tensor of dynamic size: whole where they fit, else filled and clipped.
// CHECK-LABEL: tile.kernel @dynamic
// CHECK: %[[T:.*]] = tile.alloc "t"
// CHECK: %[[FITS:.*]] = arith.cmpi sle
// CHECK: scf.if %[[FITS]] {
// CHECK-NEXT: tile.map (%[[I:.*]]) in [64]
// CHECK: tile.read %{{.*}} : memref<?xf32
// CHECK: tile.write %{{.*}}, %[[T]][%[[I]]]
// CHECK: } else {
// CHECK: tile.map (%{{.*}}) in [64]
// CHECK: tile.map (%{{.*}}) in [%{{.*}}]
tile.kernel @dynamic(%A: memref<?xf32, #tile.space<global>> {tile.name = "A", tile.dims = ["N"], tile.role = "in"},
                     %B: memref<?xf32, #tile.space<global>> {tile.name = "B", tile.dims = ["N"], tile.role = "out"}) {
  %N = tile.dim "N"
  %c64 = arith.constant 64 : index
  %blocks = arith.ceildivsi %N, %c64 : index
  tile.grid (%b) = (%blocks) {
    %i = arith.muli %b, %c64 : index
    %t = tile.alloc "t" : memref<64xf32, #tile.space<shared>>
    tile.load %A[%i] into %t : memref<?xf32, #tile.space<global>>, memref<64xf32, #tile.space<shared>>
    tile.store %t into %B[%i] : memref<64xf32, #tile.space<shared>>, memref<?xf32, #tile.space<global>>
  }
}

// Static sizes that the tile divides: the window is proven to fit, and there is no check.
// CHECK-LABEL: tile.kernel @static
// CHECK-NOT: scf.if
// CHECK: tile.map (%{{.*}}, %{{.*}}) in [4, 64]
// A reduction starts from the combination's identity, and combines.
// CHECK: tile.map (%[[R:.*]]) in [4]
// CHECK: tile.write %{{.*}}, %[[M:.*]][%[[R]]]
// CHECK: tile.map (%[[P:.*]], %[[Q:.*]]) in [4, 64]
// CHECK: tile.combine max %{{.*}}, %[[M]][%[[P]]]
// CHECK-NOT: scf.if
tile.kernel @static(%A: memref<128x64xf32, #tile.space<global>> {tile.name = "A", tile.dims = ["", ""], tile.role = "in"},
                    %B: memref<128xf32, #tile.space<global>> {tile.name = "B", tile.dims = [""], tile.role = "out"}) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  tile.grid (%b) = (%c32) {
    %i = arith.muli %b, %c4 : index
    %t = tile.alloc "t" : memref<4x64xf32, #tile.space<shared>>
    %m = tile.alloc "m" : memref<4xf32, #tile.space<fragment>>
    tile.load %A[%i, %c0] into %t : memref<128x64xf32, #tile.space<global>>, memref<4x64xf32, #tile.space<shared>>
    tile.reduce max %t into %m dim 1 clear : memref<4x64xf32, #tile.space<shared>>, memref<4xf32, #tile.space<fragment>>
    tile.store %m into %B[%i] : memref<4xf32, #tile.space<fragment>>, memref<128xf32, #tile.space<global>>
  }
}
