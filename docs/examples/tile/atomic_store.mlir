// A product whose K is split over blocks: each adds its part to C.
#global = #tile.space<global>
#shared = #tile.space<shared>
#fragment = #tile.space<fragment>
tile.kernel @split_k(%A: memref<32x?xf32, #global> {tile.name = "A", tile.dims = ["", "K"], tile.role = "in"},
                     %B: memref<?x32xf32, #global> {tile.name = "B", tile.dims = ["K", ""], tile.role = "in"},
                     %C: memref<32x32xf32, #global> {tile.name = "C", tile.dims = ["", ""], tile.role = "inout"}) {
  %K = tile.dim "K"
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %parts = arith.ceildivsi %K, %c64 : index
  tile.grid (%part) = (%parts) {
    %k = arith.muli %part, %c64 : index
    %a = tile.alloc "a" : memref<32x64xf32, #shared>
    %b = tile.alloc "b" : memref<64x32xf32, #shared>
    %acc = tile.alloc "acc" : memref<32x32xf32, #fragment>
    tile.load %A[%c0, %k] into %a : memref<32x?xf32, #global>, memref<32x64xf32, #shared>
    tile.load %B[%k, %c0] into %b : memref<?x32xf32, #global>, memref<64x32xf32, #shared>
    tile.gemm %a, %b, %acc clear : memref<32x64xf32, #shared>, memref<64x32xf32, #shared>, memref<32x32xf32, #fragment>
    tile.atomic_store add %acc into %C[%c0, %c0] : memref<32x32xf32, #fragment>, memref<32x32xf32, #global>
  }
}
