// RUN: deepaccel tile opt %s --target x86-64-avx512 --stop-after limit-products | FileCheck %s
// Products end where their tensors end: rows and columns whose sums no store keeps, and depth that loads fill with zeros.

#shared = #tile.space<shared>
#frag = #tile.space<fragment>
#global = #tile.space<global>

// Rows of C end at M, columns at N, the sum at K.
// CHECK-LABEL: tile.kernel @product
// CHECK-SAME: %[[A:arg[0-9]+]]: memref{{[^%]*}}%[[B:arg[0-9]+]]: memref{{[^%]*}}%[[C:arg[0-9]+]]: memref
// CHECK: products end with the tensors: rows, columns, depth
// CHECK: scf.for %[[K:.*]] = %c0
// CHECK-DAG: %[[M:.*]] = tile.extent %[[C]] dim 0
// CHECK-DAG: %[[DOWN:.*]] = arith.subi %[[M]], %{{.*}} : index
// CHECK-DAG: %[[ROWS:.*]] = arith.minsi %[[DOWN]], %c64
// CHECK-DAG: %[[N:.*]] = tile.extent %[[C]] dim 1
// CHECK-DAG: %[[ALONG:.*]] = arith.subi %[[N]], %{{.*}} : index
// CHECK-DAG: %[[COLUMNS:.*]] = arith.minsi %[[ALONG]], %c96
// CHECK-DAG: %[[IN:.*]] = tile.extent %[[A]] dim 1
// CHECK-DAG: %[[LEFT:.*]] = arith.subi %[[IN]], %[[K]] : index
// CHECK-DAG: %[[DEPTH:.*]] = arith.minsi %[[LEFT]], %c32
// CHECK: tile.gemm {{.*}} live[%[[ROWS]], %[[COLUMNS]], %[[DEPTH]]]
tile.kernel @product(%A: memref<?x?xf32, #global> {tile.name = "A", tile.dims = ["M", "K"], tile.role = "in"},
                     %B: memref<?x?xf32, #global> {tile.name = "B", tile.dims = ["K", "N"], tile.role = "in"},
                     %C: memref<?x?xf32, #global> {tile.name = "C", tile.dims = ["M", "N"], tile.role = "out"}) {
  %c1 = arith.constant 1 : index
  tile.grid (%g, %h) = (%c1, %c1) {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %K = tile.dim "K"
    %row = arith.muli %g, %c64 : index
    %a = tile.alloc "a" : memref<64x32xf32, #shared>
    %b = tile.alloc "b" : memref<32x96xf32, #shared>
    %acc = tile.alloc "acc" : memref<64x96xf32, #frag>
    tile.fill %acc, %zero : memref<64x96xf32, #frag>, f32
    scf.for %k = %c0 to %K step %c32 {
      tile.load %A[%row, %k] into %a : memref<?x?xf32, #global>, memref<64x32xf32, #shared>
      tile.load %B[%k, %h] into %b : memref<?x?xf32, #global>, memref<32x96xf32, #shared>
      tile.gemm %a, %b, %acc : memref<64x32xf32, #shared>, memref<32x96xf32, #shared>, memref<64x96xf32, #frag>
    }
    tile.store %acc into %C[%row, %h] : memref<64x96xf32, #frag>, memref<?x?xf32, #global>
  }
}

// A sum over the columns reads those beyond the edge, but keeps rows apart. The left factor is filled with ones, so
// that the depth may not end.
// CHECK-LABEL: tile.kernel @summed
// CHECK: products end with the tensors: rows"
// CHECK: tile.gemm {{.*}} live[%{{.*}}, %c96{{.*}}, %c32{{.*}}]
tile.kernel @summed(%A: memref<?x?xf32, #global> {tile.name = "A", tile.dims = ["M", "K"], tile.role = "in"},
                    %B: memref<?x96xf32, #global> {tile.name = "B", tile.dims = ["K", ""], tile.role = "in"},
                    %S: memref<?xf32, #global> {tile.name = "S", tile.dims = ["M"], tile.role = "out"}) {
  %c1 = arith.constant 1 : index
  tile.grid (%g) = (%c1) {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1.0 : f32
    %zero = arith.constant 0.0 : f32
    %a = tile.alloc "a" : memref<64x32xf32, #shared>
    %b = tile.alloc "b" : memref<32x96xf32, #shared>
    %acc = tile.alloc "acc" : memref<64x96xf32, #frag>
    %sum = tile.alloc "sum" : memref<64xf32, #frag>
    tile.fill %acc, %zero : memref<64x96xf32, #frag>, f32
    tile.load %A[%g, %c0] into %a fill %one : f32 : memref<?x?xf32, #global>, memref<64x32xf32, #shared>
    tile.load %B[%c0, %c0] into %b : memref<?x96xf32, #global>, memref<32x96xf32, #shared>
    tile.gemm %a, %b, %acc : memref<64x32xf32, #shared>, memref<32x96xf32, #shared>, memref<64x96xf32, #frag>
    tile.reduce add %acc into %sum dim 1 clear : memref<64x96xf32, #frag>, memref<64xf32, #frag>
    tile.store %sum into %S[%g] : memref<64xf32, #frag>, memref<?xf32, #global>
  }
}

// Rows of the first product become rows of the second one, through a map; an element that chooses where another is read
// may not be arbitrary.
// CHECK-LABEL: tile.kernel @chained
// CHECK: products end with the tensors: rows"
// CHECK: tile.gemm {{.*}} live[%{{.*}}, %c32{{.*}}, %c32{{.*}}]
// CHECK: tile.gemm {{.*}} live[%{{.*}}, %c32{{.*}}, %c32{{.*}}]
// CHECK-LABEL: tile.kernel @choosing
// CHECK-NOT: live[
tile.kernel @chained(%A: memref<32x32xf32, #global> {tile.name = "A", tile.dims = ["", ""], tile.role = "in"},
                     %C: memref<?x32xf32, #global> {tile.name = "C", tile.dims = ["M", ""], tile.role = "out"}) {
  %c1 = arith.constant 1 : index
  tile.grid (%g) = (%c1) {
    %c0 = arith.constant 0 : index
    %a = tile.alloc "a" : memref<32x32xf32, #shared>
    %s = tile.alloc "s" : memref<32x32xf32, #frag>
    %p = tile.alloc "p" : memref<32x32xf32, #shared>
    %acc = tile.alloc "acc" : memref<32x32xf32, #frag>
    tile.load %A[%c0, %c0] into %a : memref<32x32xf32, #global>, memref<32x32xf32, #shared>
    tile.gemm %a, %a, %s clear : memref<32x32xf32, #shared>, memref<32x32xf32, #shared>, memref<32x32xf32, #frag>
    tile.map (%i, %j) in [32, 32] {
      %x = tile.read %s[%i, %j] : memref<32x32xf32, #frag> -> f32
      %y = math.absf %x : f32
      tile.write %y, %p[%i, %j] : f32, memref<32x32xf32, #shared>
    }
    tile.gemm %p, %a, %acc clear : memref<32x32xf32, #shared>, memref<32x32xf32, #shared>, memref<32x32xf32, #frag>
    tile.store %acc into %C[%g, %c0] : memref<32x32xf32, #frag>, memref<?x32xf32, #global>
  }
}

tile.kernel @choosing(%A: memref<32x32xi8, #global> {tile.name = "A", tile.dims = ["", ""], tile.role = "in"},
                      %C: memref<?x32xi32, #global> {tile.name = "C", tile.dims = ["M", ""], tile.role = "out"}) {
  %c1 = arith.constant 1 : index
  tile.grid (%g) = (%c1) {
    %c0 = arith.constant 0 : index
    %a = tile.alloc "a" : memref<32x32xi8, #shared>
    %s = tile.alloc "s" : memref<32x32xi32, #frag>
    %p = tile.alloc "p" : memref<32x32xi32, #frag>
    tile.load %A[%c0, %c0] into %a : memref<32x32xi8, #global>, memref<32x32xi8, #shared>
    tile.gemm %a, %a, %s clear : memref<32x32xi8, #shared>, memref<32x32xi8, #shared>, memref<32x32xi32, #frag>
    tile.map (%i, %j) in [32, 32] {
      %x = tile.read %s[%i, %j] : memref<32x32xi32, #frag> -> i32
      %k = arith.index_cast %x : i32 to index
      %y = tile.read %a[%k, %j] : memref<32x32xi8, #shared> -> i32
      tile.write %y, %p[%i, %j] : i32, memref<32x32xi32, #frag>
    }
    tile.store %p into %C[%g, %c0] : memref<32x32xi32, #frag>, memref<?x32xi32, #global>
  }
}

// Stores that keep different parts, and tensors that always hold the whole tile: nothing ends early.
// CHECK-LABEL: tile.kernel @kept
// CHECK-NOT: live[
tile.kernel @kept(%A: memref<64x32xf32, #global> {tile.name = "A", tile.dims = ["", ""], tile.role = "in"},
                  %B: memref<32x96xf32, #global> {tile.name = "B", tile.dims = ["", ""], tile.role = "in"},
                  %C: memref<?x96xf32, #global> {tile.name = "C", tile.dims = ["M", ""], tile.role = "out"},
                  %D: memref<?x96xf32, #global> {tile.name = "D", tile.dims = ["N", ""], tile.role = "out"}) {
  %c1 = arith.constant 1 : index
  tile.grid (%g) = (%c1) {
    %c0 = arith.constant 0 : index
    %a = tile.alloc "a" : memref<64x32xf32, #shared>
    %b = tile.alloc "b" : memref<32x96xf32, #shared>
    %acc = tile.alloc "acc" : memref<64x96xf32, #frag>
    tile.load %A[%c0, %c0] into %a : memref<64x32xf32, #global>, memref<64x32xf32, #shared>
    tile.load %B[%c0, %c0] into %b : memref<32x96xf32, #global>, memref<32x96xf32, #shared>
    tile.gemm %a, %b, %acc clear : memref<64x32xf32, #shared>, memref<32x96xf32, #shared>, memref<64x96xf32, #frag>
    tile.store %acc into %C[%c0, %c0] : memref<64x96xf32, #frag>, memref<?x96xf32, #global>
    tile.store %acc into %D[%c0, %c0] : memref<64x96xf32, #frag>, memref<?x96xf32, #global>
  }
}
