// RUN: deepaccel tile opt %s --target x86-64-avx512 --stop-after split-interior | FileCheck %s --check-prefix=SPLIT
// RUN: deepaccel tile opt %s --target x86-64-avx512 --stop-after simplify-maps | FileCheck %s
// Passes over long rows: interior and edge apart, inputs read where they are, all passes of a row before the next row.

#shared = #tile.space<shared>
#frag = #tile.space<fragment>
#global = #tile.space<global>

// The questions of the load and of the store become one; the edge keeps both.
// SPLIT-LABEL: tile.kernel @centre
// SPLIT: %[[LOAD:.*]] = arith.cmpi sle
// SPLIT: %[[STORE:.*]] = arith.cmpi sle
// SPLIT: %[[BOTH:.*]] = arith.andi %[[LOAD]], %[[STORE]]
// SPLIT: scf.if %[[BOTH]] {
// SPLIT-NOT: scf.if
// SPLIT: } else {
// SPLIT: scf.if %[[LOAD]]
// SPLIT: scf.if %[[STORE]]

// CHECK-LABEL: tile.kernel @centre
// CHECK-SAME: (%[[X:[^:]*]]: memref<{{[^%]*}}%[[Y:[^:]*]]: memref
// CHECK: 3 maps run row by row
// CHECK: scf.if
// CHECK: scf.for %[[R:.*]] = %c0 to %c8
// CHECK:   %[[NEXT:.*]] = arith.addi %[[R]], %c1
// CHECK:   tile.map (%[[C:.*]]) in [4096] {
// CHECK:     tile.read %[[X]][%{{.*}}, %[[C]]]
// CHECK-NOT: tile.write
// CHECK:     tile.combine add
// CHECK:   tile.prefetch %[[X]][%{{.*}}, %c0] sizes [1, 4096] {tile.during = "map"}
// CHECK:   tile.map (%[[D:.*]]) in [4096] {
// CHECK:     tile.read %[[X]][%{{.*}}, %[[D]]]
// CHECK:     tile.write %{{.*}}, %[[Y]][%{{.*}}, %[[D]]]
// CHECK: } else {
tile.kernel @centre(%X: memref<?x4096xf32, #global> {tile.name = "X", tile.dims = ["M", ""], tile.role = "in"},
                    %Y: memref<?x4096xf32, #global> {tile.name = "Y", tile.dims = ["N", ""], tile.role = "out"}) {
  %M = tile.dim "M"
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %blocks = arith.ceildivsi %M, %c8 : index
  tile.grid (%b) = (%blocks) {
    %i = arith.muli %b, %c8 : index
    %x = tile.alloc "x" : memref<8x4096xf32, #shared>
    %sum = tile.alloc "sum" : memref<8xf32, #frag>
    tile.load %X[%i, %c0] into %x : memref<?x4096xf32, #global>, memref<8x4096xf32, #shared>
    tile.reduce add %x into %sum dim 1 clear : memref<8x4096xf32, #shared>, memref<8xf32, #frag>
    tile.map (%r, %c) in [8, 4096] {
      %v = tile.read %x[%r, %c] : memref<8x4096xf32, #shared> -> f32
      %s = tile.read %sum[%r] : memref<8xf32, #frag> -> f32
      %d = arith.subf %v, %s : f32
      tile.write %d, %x[%r, %c] : f32, memref<8x4096xf32, #shared>
    }
    tile.store %x into %Y[%i, %c0] : memref<8x4096xf32, #shared>, memref<?x4096xf32, #global>
  }
}

// What another row needs keeps the maps apart, and a tile that changed is no copy any more.
// CHECK-LABEL: tile.kernel @column_sums
// CHECK-NOT: row by row
// CHECK: tile.map (%{{.*}}, %{{.*}}) in [8, 4096]
// CHECK: tile.combine add
// CHECK: tile.map (%{{.*}}, %{{.*}}) in [8, 4096]
// CHECK: tile.read %[[SUM:.*]][%{{.*}}] : memref<4096xf32
tile.kernel @column_sums(%X: memref<8x4096xf32, #global> {tile.name = "X", tile.dims = ["", ""], tile.role = "in"},
                         %Y: memref<8x4096xf32, #global> {tile.name = "Y", tile.dims = ["", ""], tile.role = "out"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid (%b) = (%c1) {
    %x = tile.alloc "x" : memref<8x4096xf32, #shared>
    %sum = tile.alloc "sum" : memref<4096xf32, #frag>
    tile.load %X[%c0, %c0] into %x : memref<8x4096xf32, #global>, memref<8x4096xf32, #shared>
    tile.reduce add %x into %sum dim 0 clear : memref<8x4096xf32, #shared>, memref<4096xf32, #frag>
    tile.map (%r, %c) in [8, 4096] {
      %v = tile.read %x[%r, %c] : memref<8x4096xf32, #shared> -> f32
      %s = tile.read %sum[%c] : memref<4096xf32, #frag> -> f32
      %d = arith.subf %v, %s : f32
      tile.write %d, %x[%r, %c] : f32, memref<8x4096xf32, #shared>
    }
    tile.store %x into %Y[%c0, %c0] : memref<8x4096xf32, #shared>, memref<8x4096xf32, #global>
  }
}

// An input may not be read late where the kernel writes it.
// CHECK-LABEL: tile.kernel @in_place
// CHECK: tile.map (%{{.*}}, %{{.*}}) in [2, 1024]
// CHECK: tile.write %{{.*}}, %[[T:.*]][%{{.*}}, %{{.*}}] : f32, memref<2x1024xf32, #tile.space<shared>>
// CHECK: tile.read %[[T]]
tile.kernel @in_place(%X: memref<2x1024xf32, #global> {tile.name = "X", tile.dims = ["", ""], tile.role = "inout"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c1023 = arith.constant 1023 : index
  tile.grid (%b) = (%c1) {
    %x = tile.alloc "x" : memref<2x1024xf32, #shared>
    tile.load %X[%c0, %c0] into %x : memref<2x1024xf32, #global>, memref<2x1024xf32, #shared>
    tile.map (%r, %c) in [2, 1024] {
      %back = arith.subi %c1023, %c : index
      %v = tile.read %x[%r, %back] : memref<2x1024xf32, #shared> -> f32
      tile.write %v, %X[%r, %c] : f32, memref<2x1024xf32, #global>
    }
  }
}

// A block for each row: the next block's row is fetched while this one's costliest pass runs.
// CHECK-LABEL: tile.kernel @one_row
// CHECK-SAME: (%[[X:[^:]*]]: memref
// CHECK: tile.grid (%[[B:[^)]*]]) = {{.*}}the next block's inputs are prefetched
// CHECK: %[[NEXT:.*]] = arith.addi %[[B]], %c1
// CHECK: tile.prefetch %[[X]][%[[NEXT]], %c0] sizes [1, 4096] {tile.during = "map"}
// CHECK-NEXT: tile.map (%{{.*}}) in [4096] {
// CHECK: math.exp
tile.kernel @one_row(%X: memref<?x4096xf32, #global> {tile.name = "X", tile.dims = ["M", ""], tile.role = "in"},
                     %Y: memref<?x4096xf32, #global> {tile.name = "Y", tile.dims = ["M", ""], tile.role = "out"}) {
  %M = tile.dim "M"
  %c0 = arith.constant 0 : index
  tile.grid (%b) = (%M) {
    %x = tile.alloc "x" : memref<4096xf32, #shared>
    %largest = tile.alloc "largest" : memref<1xf32, #frag>
    tile.load %X[%b, %c0] into %x : memref<?x4096xf32, #global>, memref<4096xf32, #shared>
    tile.reduce max %x into %largest dim 0 clear : memref<4096xf32, #shared>, memref<1xf32, #frag>
    tile.map (%c) in [4096] {
      %v = tile.read %x[%c] : memref<4096xf32, #shared> -> f32
      %m = tile.read %largest[%c0] : memref<1xf32, #frag> -> f32
      %d = arith.subf %v, %m : f32
      %e = math.exp %d : f32
      tile.write %e, %x[%c] : f32, memref<4096xf32, #shared>
    }
    tile.store %x into %Y[%b, %c0] : memref<4096xf32, #shared>, memref<?x4096xf32, #global>
  }
}
