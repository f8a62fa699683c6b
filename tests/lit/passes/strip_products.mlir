// RUN: deepaccel tile opt %s --target x86-64-avx512 --stop-after strip-products | FileCheck %s
// Left factors loaded strip by strip, as high as a register tile of 14 rows at most.

#shared = #tile.space<shared>
#frag = #tile.space<fragment>
#global = #tile.space<global>

// 100 rows: 4 strips of 13 and 4 of 12, as far as the tensor goes. The whole tile is gone; a strip of 'a' is prefetched ahead of the next one, 'b' a
// share at a time.
// CHECK-LABEL: tile.kernel @product
// CHECK-SAME: %[[A:arg[0-9]+]]: memref{{[^%]*}}%[[B:arg[0-9]+]]: memref
// CHECK: 'a' loaded in strips of 13 rows, as the product needs them
// CHECK: %[[a:.*]] = tile.alloc "a" : memref<13x64xf32
// CHECK-NOT: memref<100x64xf32
// CHECK: scf.for %[[K:.*]] = %c0 to %{{.*}} step %c64
// CHECK: tile.load %[[B]]
// CHECK: %[[ROWS:.*]] = arith.minsi %{{.*}}, %c100
// CHECK: %[[LIVE:.*]] = arith.subi %[[ROWS]], %c0
// CHECK: %[[STRIPS:.*]] = arith.ceildivsi %[[LIVE]], %c13
// CHECK: %[[TO:.*]] = arith.addi %[[STRIPS]], %c0
// CHECK: %[[END:.*]] = arith.minsi %c4{{.*}}, %[[TO]]
// CHECK: scf.for %[[S:.*]] = %c0{{.*}} to %[[END]] step %c1
// CHECK: %[[ROW:.*]] = arith.muli %[[S]], %c13
// CHECK: %[[AT:.*]] = arith.addi %{{.*}}, %[[ROW]]
// CHECK: tile.load %[[A]][%[[AT]], %[[K]]] into %[[a]]
// CHECK: tile.prefetch %[[A]][{{.*}}] sizes [13, 64] {tile.during = "product"}
// CHECK: tile.prefetch %[[B]][{{.*}}] sizes [8, 96] {tile.during = "product"}
// CHECK: %[[ACC:.*]] = tile.slice %{{.*}}[%[[ROW]], %c0
// CHECK: tile.gemm %[[a]], %{{.*}}, %[[ACC]] live[%c13{{.*}}] {{.*}} memref<13x64xf32
// CHECK: scf.for %{{.*}} = %c4{{.*}} to %{{.*}} step %c1
// CHECK: %[[SHORT:.*]] = tile.slice %[[a]]{{.*}} to memref<12x64xf32
// CHECK: tile.load %[[A]][{{.*}}] into %[[SHORT]]
// CHECK: tile.gemm %[[SHORT]]
tile.kernel @product(%A: memref<?x?xf32, #global> {tile.name = "A", tile.dims = ["M", "K"], tile.role = "in"},
                     %B: memref<?x?xf32, #global> {tile.name = "B", tile.dims = ["K", "N"], tile.role = "in"},
                     %C: memref<?x?xf32, #global> {tile.name = "C", tile.dims = ["M", "N"], tile.role = "out"}) {
  %c1 = arith.constant 1 : index
  tile.grid (%g, %h) = (%c1, %c1) {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %K = tile.dim "K"
    %a = tile.alloc "a" : memref<100x64xf32, #shared>
    %b = tile.alloc "b" : memref<64x96xf32, #shared>
    %acc = tile.alloc "acc" : memref<100x96xf32, #frag>
    tile.fill %acc, %zero : memref<100x96xf32, #frag>, f32
    tile.pipeline %k = %c0 to %K step %c64 stages(2) {
      tile.load %A[%g, %k] into %a : memref<?x?xf32, #global>, memref<100x64xf32, #shared>
      tile.load %B[%k, %h] into %b : memref<?x?xf32, #global>, memref<64x96xf32, #shared>
      tile.gemm %a, %b, %acc : memref<100x64xf32, #shared>, memref<64x96xf32, #shared>, memref<100x96xf32, #frag>
    }
    tile.store %acc into %C[%g, %h] : memref<100x96xf32, #frag>, memref<?x?xf32, #global>
  }
}

// A transposed left factor is loaded by columns.
// CHECK-LABEL: tile.kernel @transposed
// CHECK: %[[a:.*]] = tile.alloc "a" : memref<64x14xf32
// CHECK: tile.load %{{.*}}[%{{.*}}, %{{.*}}] into %[[a]]
// CHECK: tile.gemm %[[a]], {{.*}} transpose_a
tile.kernel @transposed(%A: memref<64x28xf32, #global> {tile.name = "A", tile.dims = ["", ""], tile.role = "in"},
                        %B: memref<64x32xf32, #global> {tile.name = "B", tile.dims = ["", ""], tile.role = "in"},
                        %C: memref<28x32xf32, #global> {tile.name = "C", tile.dims = ["", ""], tile.role = "out"}) {
  %c1 = arith.constant 1 : index
  tile.grid (%g) = (%c1) {
    %c0 = arith.constant 0 : index
    %a = tile.alloc "a" : memref<64x28xf32, #shared>
    %b = tile.alloc "b" : memref<64x32xf32, #shared>
    %acc = tile.alloc "acc" : memref<28x32xf32, #frag>
    tile.load %A[%c0, %c0] into %a : memref<64x28xf32, #global>, memref<64x28xf32, #shared>
    tile.load %B[%c0, %c0] into %b : memref<64x32xf32, #global>, memref<64x32xf32, #shared>
    tile.gemm %a, %b, %acc transpose_a clear : memref<64x28xf32, #shared>, memref<64x32xf32, #shared>, memref<28x32xf32, #frag>
    tile.store %acc into %C[%c0, %c0] : memref<28x32xf32, #frag>, memref<28x32xf32, #global>
  }
}

// A tile that something else reads, and one whose source is written before the product, stay whole.
// CHECK-LABEL: tile.kernel @whole
// CHECK: tile.load %{{.*}} into %{{.*}} : memref<28x64xf32, #tile.space<global>>, memref<28x64xf32
// CHECK: tile.gemm {{.*}} : memref<28x64xf32
// CHECK: tile.load %{{.*}} into %{{.*}} : memref<28x64xf32, #tile.space<global>>, memref<28x64xf32
// CHECK: tile.store
// CHECK: tile.gemm {{.*}} : memref<28x64xf32
tile.kernel @whole(%A: memref<28x64xf32, #global> {tile.name = "A", tile.dims = ["", ""], tile.role = "inout"},
                   %B: memref<64x32xf32, #global> {tile.name = "B", tile.dims = ["", ""], tile.role = "in"},
                   %C: memref<28x32xf32, #global> {tile.name = "C", tile.dims = ["", ""], tile.role = "out"}) {
  %c1 = arith.constant 1 : index
  tile.grid (%g) = (%c1) {
    %c0 = arith.constant 0 : index
    %a = tile.alloc "a" : memref<28x64xf32, #shared>
    %a2 = tile.alloc "a2" : memref<28x64xf32, #shared>
    %b = tile.alloc "b" : memref<64x32xf32, #shared>
    %acc = tile.alloc "acc" : memref<28x32xf32, #frag>
    tile.load %A[%c0, %c0] into %a : memref<28x64xf32, #global>, memref<28x64xf32, #shared>
    tile.load %B[%c0, %c0] into %b : memref<64x32xf32, #global>, memref<64x32xf32, #shared>
    tile.gemm %a, %b, %acc clear : memref<28x64xf32, #shared>, memref<64x32xf32, #shared>, memref<28x32xf32, #frag>
    tile.load %A[%c0, %c0] into %a2 : memref<28x64xf32, #global>, memref<28x64xf32, #shared>
    tile.store %a into %A[%c0, %c0] : memref<28x64xf32, #shared>, memref<28x64xf32, #global>
    tile.gemm %a2, %b, %acc : memref<28x64xf32, #shared>, memref<64x32xf32, #shared>, memref<28x32xf32, #frag>
    tile.store %acc into %C[%c0, %c0] : memref<28x32xf32, #frag>, memref<28x32xf32, #global>
  }
}
