// RUN: not tile-opt %s -plan-arena="limit=20000" 2>&1 | FileCheck %s
// RUN: tile-opt %s -plan-arena

// CHECK: [[@LINE+11]]:3: error: the tiles of a block need 24.5 KiB, but the arena of a worker holds 19.53 KiB; make the largest
// CHECK-SAME: tiles smaller, or loop over parts of them
// CHECK: [[@LINE+11]]:10: note: 'large' takes 16 KiB: {{.*}}memref<64x64xf32
// CHECK: [[@LINE+9]]:10: note: 'medium' takes 8 KiB: {{.*}}memref<64x64xbf16
// CHECK: [[@LINE+10]]:10: note: a buffer takes 512 bytes: {{.*}}memref<128xf32
#shared = #tile.space<shared>
#global = #tile.space<global>
tile.kernel @big(%A: memref<?x?xf32, #global> {tile.name = "A", tile.dims = ["?", "?"], tile.role = "in"},
                 %O: memref<?x?xf32, #global> {tile.name = "O", tile.dims = ["?", "?"], tile.role = "out"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid (%g) = (%c1) {
    %m = tile.alloc "medium" : memref<64x64xbf16, #shared>
    %l = tile.alloc "large" : memref<64x64xf32, #shared>
    %s = tile.alloc : memref<128xf32, #shared>
    tile.load %A[%c0, %c0] into %m : memref<?x?xf32, #global>, memref<64x64xbf16, #shared>
    tile.load %A[%c0, %c1] into %s : memref<?x?xf32, #global>, memref<128xf32, #shared>
    tile.load %A[%c1, %c0] into %l : memref<?x?xf32, #global>, memref<64x64xf32, #shared>
    tile.store %m into %O[%c0, %c0] : memref<64x64xbf16, #shared>, memref<?x?xf32, #global>
    tile.store %l into %O[%c1, %c0] : memref<64x64xf32, #shared>, memref<?x?xf32, #global>
    tile.store %s into %O[%c1, %c1] : memref<128xf32, #shared>, memref<?x?xf32, #global>
  }
}
