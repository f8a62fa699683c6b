// What was once compiled wrong, found by mutations: each kernel here is held against the interpreter.
#g = #tile.space<global>
#s = #tile.space<shared>

// Magnitudes that are scattered, and combined by hand.
tile.kernel @magnitudes(%X: memref<8x20xf32, #g> {tile.name = "X", tile.dims = ["", ""], tile.role = "in"},
                        %I: memref<8xi32, #g> {tile.name = "I", tile.dims = [""], tile.role = "in"},
                        %Y: memref<?x20xf32, #g> {tile.name = "Y", tile.dims = ["R", ""], tile.role = "inout"},
                        %Z: memref<?x20xf32, #g> {tile.name = "Z", tile.dims = ["R", ""], tile.role = "inout"},
                        %S: memref<20xf32, #g> {tile.name = "S", tile.dims = [""], tile.role = "inout"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid (%b) = (%c1) {
    %ids = tile.alloc "ids" : memref<8xi32, #s>
    %x = tile.alloc "x" : memref<8x20xf32, #s>
    tile.load %I[%c0] into %ids : memref<8xi32, #g>, memref<8xi32, #s>
    tile.load %X[%c0, %c0] into %x : memref<8x20xf32, #g>, memref<8x20xf32, #s>
    tile.scatter %x into %Y[%c0, %c0] rows %ids axis 0 combine absmax : memref<8x20xf32, #s>, memref<8xi32, #s>, memref<?x20xf32, #g>
    tile.scatter %x into %Z[%c0, %c0] rows %ids axis 0 combine absadd : memref<8x20xf32, #s>, memref<8xi32, #s>, memref<?x20xf32, #g>
    tile.map (%i, %j) in [8, 20] {
      %v = tile.read %x[%i, %j] : memref<8x20xf32, #s> -> f32
      tile.combine absadd %v, %S[%j] : f32, memref<20xf32, #g>
    }
  }
}

// Rows of packed elements that end within a byte.
tile.kernel @odd_rows(%A: memref<5x7xi32, #g> {tile.name = "A", tile.dims = ["", ""], tile.role = "in"},
                      %B: memref<?x?xi4, #g> {tile.name = "B", tile.dims = ["M", "N"], tile.role = "in"},
                      %C: memref<5x7xi32, #g> {tile.name = "C", tile.dims = ["", ""], tile.role = "out"},
                      %D: memref<?x?xi32, #g> {tile.name = "D", tile.dims = ["M", "N"], tile.role = "out"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid (%b) = (%c1) {
    %t = tile.alloc "t" : memref<5x7xi4, #s>
    tile.map (%i, %j) in [5, 7] {
      %v = tile.read %A[%i, %j] : memref<5x7xi32, #g> -> i32
      tile.write %v, %t[%i, %j] : i32, memref<5x7xi4, #s>
    }
    tile.store %t into %C[%c0, %c0] : memref<5x7xi4, #s>, memref<5x7xi32, #g>
    %u = tile.alloc "u" : memref<24x16xi4, #s>
    tile.load %B[%c1, %c0] into %u : memref<?x?xi4, #g>, memref<24x16xi4, #s>
    tile.store %u into %D[%c1, %c0] : memref<24x16xi4, #s>, memref<?x?xi32, #g>
    %e = tile.alloc "e" : memref<1x16xi32, #s>
    tile.load %B[%c0, %c0] into %e : memref<?x?xi4, #g>, memref<1x16xi32, #s>
    tile.store %e into %D[%c0, %c0] : memref<1x16xi32, #s>, memref<?x?xi32, #g>
  }
}

// Windows of images that begin before them, filters larger than the image, images of nothing.
tile.kernel @far_columns(%X: memref<?x?x?x?xf32, #g> {tile.name = "X", tile.dims = ["B", "H", "W", "C"], tile.role = "in"},
                         %Y: memref<16x24xf32, #g> {tile.name = "Y", tile.dims = ["", ""], tile.role = "out"},
                         %pixel: i32 {tile.name = "pixel"}, %channel: i32 {tile.name = "channel"})
    attributes {tile.sizes = {B = [0, 2], H = [0, 4], W = [0, 4], C = [0, 3]}} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %pad = arith.constant 0.5 : f32
  tile.grid (%b) = (%c1) {
    %p0 = arith.index_cast %pixel : i32 to index
    %q0 = arith.index_cast %channel : i32 to index
    %p = arith.subi %p0, %c5 : index
    %q = arith.subi %q0, %c5 : index
    %t = tile.alloc "t" : memref<16x24xf32, #s>
    tile.im2col %X[%p, %q] into %t fill %pad : f32 kernel [3, 2] stride [1, 2] dilation [1, 2] pad [1, 0, 0, 1] : memref<?x?x?x?xf32, #g>, memref<16x24xf32, #s>
    tile.store %t into %Y[%c0, %c0] : memref<16x24xf32, #s>, memref<16x24xf32, #g>
  }
}

// Sums in a type that rounds each of them, where it does.
tile.kernel @narrow_sums(%X: memref<64xf8E4M3FN, #g> {tile.name = "X", tile.dims = [""], tile.role = "in"},
                         %S: memref<1xf8E4M3FN, #g> {tile.name = "S", tile.dims = [""], tile.role = "out"},
                         %H: memref<1xf16, #g> {tile.name = "H", tile.dims = [""], tile.role = "out"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid (%b) = (%c1) {
    %x = tile.alloc "x" : memref<64xf8E4M3FN, #s>
    %s = tile.alloc "s" : memref<1xf8E4M3FN, #s>
    %h = tile.alloc "h" : memref<1xf16, #s>
    tile.load %X[%c0] into %x : memref<64xf8E4M3FN, #g>, memref<64xf8E4M3FN, #s>
    tile.reduce add %x into %s dim 0 clear : memref<64xf8E4M3FN, #s>, memref<1xf8E4M3FN, #s>
    tile.reduce add %x into %h dim 0 clear : memref<64xf8E4M3FN, #s>, memref<1xf16, #s>
    tile.store %s into %S[%c0] : memref<1xf8E4M3FN, #s>, memref<1xf8E4M3FN, #g>
    tile.store %h into %H[%c0] : memref<1xf16, #s>, memref<1xf16, #g>
  }
}
