// RUN: tile-opt %s --print-accesses --verify-diagnostics -o /dev/null
// What operations answer through their interface: buffers that they read, write and cover, and what one execution costs.
#global = #tile.space<global>
#shared = #tile.space<shared>
#fragment = #tile.space<fragment>
tile.kernel @accesses(%A: memref<?x?xf16, #global> {tile.name = "A", tile.dims = ["M", "K"], tile.role = "in"},
                      %Ids: memref<8xi32, #global> {tile.name = "Ids", tile.dims = [""], tile.role = "in"},
                      %C: memref<?x16xf32, #global> {tile.name = "C", tile.dims = ["M", ""], tile.role = "inout"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  tile.grid (%block) = (%c1) {
    %a = tile.alloc "a" : memref<8x32xf32, #shared>
    %b = tile.alloc "b" : memref<32x16xf32, #shared>
    %ids = tile.alloc "ids" : memref<8xi32, #shared>
    %acc = tile.alloc "acc" : memref<8x16xf32, #fragment>
    %sums = tile.alloc "sums" : memref<8xf32, #fragment>
    // Traffic is what passes between tensors and tiles: 8 x 32 of f16.
    // expected-remark@+1 {{reads 'A'; writes covers 'a'; 0 flops, 512.0 bytes}}
    tile.load %A[%c0, %c0] into %a : memref<?x?xf16, #global>, memref<8x32xf32, #shared>
    // expected-remark@+1 {{writes covers 'b'; 0 flops, 0.0 bytes}}
    tile.fill %b, %zero : memref<32x16xf32, #shared>, f32
    // expected-remark@+1 {{reads 'Ids'; writes covers 'ids'; 0 flops, 32.0 bytes}}
    tile.load %Ids[%c0] into %ids : memref<8xi32, #global>, memref<8xi32, #shared>
    // expected-remark@+1 {{reads 'a'; reads 'b'; writes covers 'acc'; 8192 flops, 0.0 bytes}}
    tile.gemm %a, %b, %acc clear : memref<8x32xf32, #shared>, memref<32x16xf32, #shared>, memref<8x16xf32, #fragment>
    // expected-remark@+1 {{reads 'a'; reads 'b'; reads writes 'acc'; 8192 flops, 0.0 bytes}}
    tile.gemm %a, %b, %acc : memref<8x32xf32, #shared>, memref<32x16xf32, #shared>, memref<8x16xf32, #fragment>
    // expected-remark@+1 {{reads 'acc'; reads writes 'sums'; 128 flops, 0.0 bytes}}
    tile.reduce add %acc into %sums dim 1 : memref<8x16xf32, #fragment>, memref<8xf32, #fragment>
    %half = tile.slice %acc[%c0, %c0] : memref<8x16xf32, #fragment> to memref<8x8xf32, strided<[16, 1], offset: ?>, #fragment>
    // expected-remark@+1 {{writes covers a view of 'acc'; 0 flops, 0.0 bytes}}
    tile.fill %half, %zero : memref<8x8xf32, strided<[16, 1], offset: ?>, #fragment>, f32
    // expected-remark@+1 {{reads 'sums'; reads writes 'acc'; 128 flops, 0.0 bytes}}
    tile.map (%i, %j) in [8, 16] {
      // expected-remark@+1 {{reads 'sums'; 0 flops, 0.0 bytes}}
      %s = tile.read %sums[%i] : memref<8xf32, #fragment> -> f32
      // expected-remark@+1 {{reads 'acc'; 0 flops, 0.0 bytes}}
      %v = tile.read %acc[%i, %j] : memref<8x16xf32, #fragment> -> f32
      %w = arith.mulf %s, %v : f32
      // expected-remark@+1 {{writes 'acc'; 0 flops, 0.0 bytes}}
      tile.write %w, %acc[%i, %j] : f32, memref<8x16xf32, #fragment>
    }
    // expected-remark@+1 {{reads 'acc'; reads 'ids'; writes 'C'; 0 flops, 512.0 bytes}}
    tile.scatter %acc into %C[%c0, %c0] rows %ids axis 0
        : memref<8x16xf32, #fragment>, memref<8xi32, #shared>, memref<?x16xf32, #global>
  }
}
