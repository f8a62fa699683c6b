// A product of one tile, C = A . B^T, of 8-bit floats, with a scale for each 32 columns of a row of A and for each
// 32 x 16 block of B: block-scaled formats are operands of the product.
#global = #tile.space<global>
#shared = #tile.space<shared>
#fragment = #tile.space<fragment>
tile.kernel @scaled(%A: memref<32x64xf8E4M3FN, #global> {tile.name = "A", tile.dims = ["", ""], tile.role = "in"},
                    %B: memref<48x64xf8E4M3FN, #global> {tile.name = "B", tile.dims = ["", ""], tile.role = "in"},
                    %ScaleA: memref<32x2xf32, #global> {tile.name = "ScaleA", tile.dims = ["", ""], tile.role = "in"},
                    %ScaleB: memref<2x3xf32, #global> {tile.name = "ScaleB", tile.dims = ["", ""], tile.role = "in"},
                    %C: memref<32x48xf32, #global> {tile.name = "C", tile.dims = ["", ""], tile.role = "out"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid (%block) = (%c1) {
    %a = tile.alloc "a" : memref<32x64xf8E4M3FN, #shared>
    %b = tile.alloc "b" : memref<48x64xf8E4M3FN, #shared>
    %scale_a = tile.alloc "scale_a" : memref<32x2xf32, #shared>
    %scale_b = tile.alloc "scale_b" : memref<2x3xf32, #shared>
    %acc = tile.alloc "acc" : memref<32x48xf32, #fragment>
    tile.load %A[%c0, %c0] into %a : memref<32x64xf8E4M3FN, #global>, memref<32x64xf8E4M3FN, #shared>
    tile.load %B[%c0, %c0] into %b : memref<48x64xf8E4M3FN, #global>, memref<48x64xf8E4M3FN, #shared>
    tile.load %ScaleA[%c0, %c0] into %scale_a : memref<32x2xf32, #global>, memref<32x2xf32, #shared>
    tile.load %ScaleB[%c0, %c0] into %scale_b : memref<2x3xf32, #global>, memref<2x3xf32, #shared>
    tile.gemm %a, %b, %acc scales(%scale_a, %scale_b : memref<32x2xf32, #shared>, memref<2x3xf32, #shared>)
        transpose_b clear
        : memref<32x64xf8E4M3FN, #shared>, memref<48x64xf8E4M3FN, #shared>, memref<32x48xf32, #fragment>
    tile.store %acc into %C[%c0, %c0] : memref<32x48xf32, #fragment>, memref<32x48xf32, #global>
  }
}
