// RUN: deepaccel tile opt %s --target x86-64-avx2 --stop-after keep-factors | FileCheck %s
// Packed factors outlive their block where the next one loads the same windows.

#shared = #tile.space<shared>
#frag = #tile.space<fragment>
#global = #tile.space<global>

// The order is chosen such that neighbours share the right factor. One iteration of K, one tile; its marks are the
// indices of the load that are not constants.
// CHECK-LABEL: tile.kernel @product
// CHECK: tile.grid (%[[I:.*]], %[[J:.*]]) = {{.*}} attributes {order = #tile.order<columns>, tile.decisions = [{{.*}}"blocks in columns, so that neighbours in time share right factors", "'b' kept for the blocks that follow: 1 tile of 16 KiB"]}
// CHECK: %[[B:.*]] = tile.alloc "b" {tile.kept = "tile", tile.panels = array<i64: 1, 16>} : memref<1x64x64xf32
// CHECK: %[[MARKS:.*]] = tile.alloc "marks" {tile.kept = "marks"} : memref<1x1xi64
// CHECK: %[[TILE:.*]] = tile.slice %[[B]][%[[ZERO:.*]], %{{.*}}, %{{.*}}] dims [1, 2]
// CHECK: %[[MARK:.*]] = arith.index_cast %[[COLUMN:.*]] : index to i64
// CHECK: %[[FOUND:.*]] = tile.read %[[MARKS]][%[[ZERO]], %{{.*}}]
// CHECK: %[[SAME:.*]] = arith.cmpi eq, %[[FOUND]], %[[MARK]]
// CHECK: %[[MISSING:.*]] = arith.xori %[[SAME]]
// CHECK: scf.if %[[MISSING]] {
// CHECK-NEXT: tile.load %{{.*}}[%{{.*}}, %[[COLUMN]]] into %[[TILE]]
// CHECK: tile.write %{{.*}}, %[[MARKS]][%[[ZERO]], %{{.*}}]
// CHECK: tile.gemm %{{.*}}, %[[TILE]], %{{.*}}
tile.kernel @product(%A: memref<?x64xf32, #global> {tile.name = "A", tile.dims = ["M", ""], tile.role = "in"},
                     %B: memref<64x?xf32, #global> {tile.name = "B", tile.dims = ["", "N"], tile.role = "in"},
                     %C: memref<?x?xf32, #global> {tile.name = "C", tile.dims = ["M", "N"], tile.role = "out"}) {
  %M = tile.dim "M"
  %N = tile.dim "N"
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %rows = arith.ceildivsi %M, %c64 : index
  %columns = arith.ceildivsi %N, %c64 : index
  tile.grid (%i, %j) = (%rows, %columns) {
    %row = arith.muli %i, %c64 : index
    %column = arith.muli %j, %c64 : index
    %a = tile.alloc "a" : memref<64x64xf32, #shared>
    %b = tile.alloc "b" : memref<64x64xf32, #shared>
    %acc = tile.alloc "acc" : memref<64x64xf32, #frag>
    tile.load %A[%row, %c0] into %a : memref<?x64xf32, #global>, memref<64x64xf32, #shared>
    tile.load %B[%c0, %column] into %b : memref<64x?xf32, #global>, memref<64x64xf32, #shared>
    tile.gemm %a, %b, %acc clear : memref<64x64xf32, #shared>, memref<64x64xf32, #shared>, memref<64x64xf32, #frag>
    tile.store %acc into %C[%row, %column] : memref<64x64xf32, #frag>, memref<?x?xf32, #global>
  }
}

// Tiles for the iterations of a loop, an eighth of the third-level cache at most (8 MiB): the last serves all that are
// left. Where there is one row of blocks, the first serves all. What the product prefetches for the next iteration is
// the kept tile or, where that holds something else, the window.
// CHECK-LABEL: tile.kernel @loop
// CHECK: "'b' kept for the blocks that follow: 64 tiles of 16 KiB"
// CHECK: tile.alloc "b" {tile.kept = "tile", {{.*}}} : memref<64x64x64xf32
// CHECK: tile.alloc "marks" {tile.kept = "marks"} : memref<64x2xi64
// CHECK: scf.for %[[K:.*]] = %c0
// CHECK: %[[ITERATION:.*]] = arith.divui %[[K]], %c64
// CHECK: %[[SEVERAL:.*]] = arith.cmpi sgt
// CHECK: %[[LAST:.*]] = arith.select %[[SEVERAL]], %c63
// CHECK: %[[NUMBER:.*]] = arith.minui %[[ITERATION]], %[[LAST]]
// CHECK: tile.slice %{{.*}}[%[[NUMBER]],
// CHECK: %[[NEXT:.*]] = arith.minui
// CHECK: tile.prefetch %arg1[{{.*}}] sizes [64, 64] when %{{.*}} {tile.during = "product"} : memref<?x?xf32, #tile.space<global>>
// CHECK: %[[AHEAD:.*]] = tile.slice %{{.*}}[%[[NEXT]],
// CHECK: tile.prefetch %[[AHEAD]][{{.*}}] sizes [64, 64] when %{{.*}} {tile.during = "product"}
tile.kernel @loop(%A: memref<?x?xf32, #global> {tile.name = "A", tile.dims = ["M", "K"], tile.role = "in"},
                  %B: memref<?x?xf32, #global> {tile.name = "B", tile.dims = ["K", "N"], tile.role = "in"},
                  %C: memref<?x?xf32, #global> {tile.name = "C", tile.dims = ["M", "N"], tile.role = "out"}) {
  %M = tile.dim "M"
  %N = tile.dim "N"
  %K = tile.dim "K"
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %rows = arith.ceildivsi %M, %c64 : index
  %columns = arith.ceildivsi %N, %c64 : index
  tile.grid (%i, %j) = (%rows, %columns) {
    %row = arith.muli %i, %c64 : index
    %column = arith.muli %j, %c64 : index
    %zero = arith.constant 0.0 : f32
    %a = tile.alloc "a" : memref<64x64xf32, #shared>
    %b = tile.alloc "b" : memref<64x64xf32, #shared>
    %acc = tile.alloc "acc" : memref<64x64xf32, #frag>
    tile.fill %acc, %zero : memref<64x64xf32, #frag>, f32
    tile.pipeline %k = %c0 to %K step %c64 stages(2) {
      tile.load %A[%row, %k] into %a : memref<?x?xf32, #global>, memref<64x64xf32, #shared>
      tile.load %B[%k, %column] into %b : memref<?x?xf32, #global>, memref<64x64xf32, #shared>
      tile.gemm %a, %b, %acc : memref<64x64xf32, #shared>, memref<64x64xf32, #shared>, memref<64x64xf32, #frag>
    }
    tile.store %acc into %C[%row, %column] : memref<64x64xf32, #frag>, memref<?x?xf32, #global>
  }
}

// Not where the program's order makes every block load another window, nor what the kernel writes, nor a tile that
// something else than products changes, nor windows of views, whose places the load's indices do not tell.
// CHECK-LABEL: tile.kernel @rows
// CHECK-NOT: kept
// CHECK-LABEL: tile.kernel @written
// CHECK-NOT: kept
// CHECK-LABEL: tile.kernel @changed
// CHECK-NOT: kept
// CHECK-LABEL: tile.kernel @view
// CHECK-NOT: kept
tile.kernel @rows(%A: memref<?x64xf32, #global> {tile.name = "A", tile.dims = ["M", ""], tile.role = "in"},
                  %B: memref<64x?xf32, #global> {tile.name = "B", tile.dims = ["", "N"], tile.role = "in"},
                  %C: memref<?x?xf32, #global> {tile.name = "C", tile.dims = ["M", "N"], tile.role = "out"}) {
  %M = tile.dim "M"
  %N = tile.dim "N"
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %rows = arith.ceildivsi %M, %c64 : index
  %columns = arith.ceildivsi %N, %c64 : index
  tile.grid (%i, %j) = (%rows, %columns) attributes {order = #tile.order<rows>} {
    %row = arith.muli %i, %c64 : index
    %column = arith.muli %j, %c64 : index
    %a = tile.alloc "a" : memref<64x64xf32, #shared>
    %b = tile.alloc "b" : memref<64x64xf32, #shared>
    %acc = tile.alloc "acc" : memref<64x64xf32, #frag>
    tile.load %A[%row, %c0] into %a : memref<?x64xf32, #global>, memref<64x64xf32, #shared>
    tile.load %B[%c0, %column] into %b : memref<64x?xf32, #global>, memref<64x64xf32, #shared>
    tile.gemm %a, %b, %acc clear : memref<64x64xf32, #shared>, memref<64x64xf32, #shared>, memref<64x64xf32, #frag>
    tile.store %acc into %C[%row, %column] : memref<64x64xf32, #frag>, memref<?x?xf32, #global>
  }
}

tile.kernel @written(%A: memref<?x64xf32, #global> {tile.name = "A", tile.dims = ["M", ""], tile.role = "in"},
                     %B: memref<64x64xf32, #global> {tile.name = "B", tile.dims = ["", ""], tile.role = "inout"}) {
  %M = tile.dim "M"
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %rows = arith.ceildivsi %M, %c64 : index
  tile.grid (%i) = (%rows) {
    %row = arith.muli %i, %c64 : index
    %a = tile.alloc "a" : memref<64x64xf32, #shared>
    %b = tile.alloc "b" : memref<64x64xf32, #shared>
    %acc = tile.alloc "acc" : memref<64x64xf32, #frag>
    tile.load %A[%row, %c0] into %a : memref<?x64xf32, #global>, memref<64x64xf32, #shared>
    tile.load %B[%c0, %c0] into %b : memref<64x64xf32, #global>, memref<64x64xf32, #shared>
    tile.gemm %a, %b, %acc clear : memref<64x64xf32, #shared>, memref<64x64xf32, #shared>, memref<64x64xf32, #frag>
    tile.store %acc into %B[%c0, %c0] : memref<64x64xf32, #frag>, memref<64x64xf32, #global>
  }
}

tile.kernel @changed(%A: memref<?x64xf32, #global> {tile.name = "A", tile.dims = ["M", ""], tile.role = "in"},
                     %B: memref<64x64xf32, #global> {tile.name = "B", tile.dims = ["", ""], tile.role = "in"},
                     %C: memref<?x64xf32, #global> {tile.name = "C", tile.dims = ["M", ""], tile.role = "out"}) {
  %M = tile.dim "M"
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %rows = arith.ceildivsi %M, %c64 : index
  tile.grid (%i) = (%rows) {
    %row = arith.muli %i, %c64 : index
    %a = tile.alloc "a" : memref<64x64xf32, #shared>
    %b = tile.alloc "b" : memref<64x64xf32, #shared>
    %acc = tile.alloc "acc" : memref<64x64xf32, #frag>
    tile.load %A[%row, %c0] into %a : memref<?x64xf32, #global>, memref<64x64xf32, #shared>
    tile.load %B[%c0, %c0] into %b : memref<64x64xf32, #global>, memref<64x64xf32, #shared>
    tile.map (%r, %c) in [64, 64] {
      %v = tile.read %b[%r, %c] : memref<64x64xf32, #shared> -> f32
      %w = arith.addf %v, %v : f32
      tile.write %w, %b[%r, %c] : f32, memref<64x64xf32, #shared>
    }
    tile.gemm %a, %b, %acc clear : memref<64x64xf32, #shared>, memref<64x64xf32, #shared>, memref<64x64xf32, #frag>
    tile.store %acc into %C[%row, %c0] : memref<64x64xf32, #frag>, memref<?x64xf32, #global>
  }
}

tile.kernel @view(%A: memref<?x64xf32, #global> {tile.name = "A", tile.dims = ["M", ""], tile.role = "in"},
                  %B: memref<8x64x64xf32, #global> {tile.name = "B", tile.dims = ["", "", ""], tile.role = "in"},
                  %C: memref<8x?x64xf32, #global> {tile.name = "C", tile.dims = ["", "M", ""], tile.role = "out"}) {
  %M = tile.dim "M"
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %rows = arith.ceildivsi %M, %c64 : index
  tile.grid (%i, %head) = (%rows, %c8) attributes {order = #tile.order<columns>} {
    %row = arith.muli %i, %c64 : index
    %one = tile.slice %B[%head, %c0, %c0] dims [1, 2]
        : memref<8x64x64xf32, #global> to memref<64x64xf32, strided<[64, 1], offset: ?>, #global>
    %a = tile.alloc "a" : memref<64x64xf32, #shared>
    %b = tile.alloc "b" : memref<64x64xf32, #shared>
    %acc = tile.alloc "acc" : memref<64x64xf32, #frag>
    tile.load %A[%row, %c0] into %a : memref<?x64xf32, #global>, memref<64x64xf32, #shared>
    tile.load %one[%c0, %c0] into %b : memref<64x64xf32, strided<[64, 1], offset: ?>, #global>, memref<64x64xf32, #shared>
    tile.gemm %a, %b, %acc clear : memref<64x64xf32, #shared>, memref<64x64xf32, #shared>, memref<64x64xf32, #frag>
    tile.store %acc into %C[%head, %row, %c0] dims [1, 2] : memref<64x64xf32, #frag>, memref<8x?x64xf32, #global>
  }
}
