// Every move of the dialect, in small kernels that are right: tests run them through the interpreter, the steps of the
// compiler one by one, and machine code, and start their mutations from them.
#g = #tile.space<global>
#s = #tile.space<shared>

// Windows that leave their tensors on every side, a fill, permuted dimensions, narrowing.
tile.kernel @windows(%A: memref<?x?xf32, #g> {tile.name = "A", tile.dims = ["M", "N"], tile.role = "in"},
                     %B: memref<?x?xf16, #g> {tile.name = "B", tile.dims = ["N", "M"], tile.role = "out"},
                     %C: memref<?x?xf32, #g> {tile.name = "C", tile.dims = ["M", "N"], tile.role = "out"}) {
  %M = tile.dim "M"
  %N = tile.dim "N"
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %c9 = arith.constant 9 : index
  %fill = arith.constant 3.0 : f32
  %bm = arith.ceildivsi %M, %c7 : index
  %bn = arith.ceildivsi %N, %c9 : index
  tile.grid (%m, %n) = (%bm, %bn) {
    %i = arith.muli %m, %c7 : index
    %j = arith.muli %n, %c9 : index
    %t = tile.alloc "t" : memref<9x7xf32, #s>
    tile.load %A[%i, %j] into %t dims [1, 0] : memref<?x?xf32, #g>, memref<9x7xf32, #s>
    tile.store %t into %B[%j, %i] : memref<9x7xf32, #s>, memref<?x?xf16, #g>
    %u = tile.alloc "u" : memref<7x9xf32, #s>
    %k = arith.subi %i, %c1 : index
    %l = arith.subi %j, %c1 : index
    tile.load %A[%k, %l] into %u fill %fill : f32 : memref<?x?xf32, #g>, memref<7x9xf32, #s>
    tile.store %u into %C[%i, %j] : memref<7x9xf32, #s>, memref<?x?xf32, #g>
  }
}

tile.kernel @rows(%X: memref<?x?xf32, #g> {tile.name = "X", tile.dims = ["R", "C"], tile.role = "in"},
                  %I: memref<?xi32, #g> {tile.name = "I", tile.dims = ["P"], tile.role = "in"},
                  %Y: memref<?x?xf32, #g> {tile.name = "Y", tile.dims = ["P", "C"], tile.role = "out"},
                  %Z: memref<?x?xf32, #g> {tile.name = "Z", tile.dims = ["R", "C"], tile.role = "inout"})
    attributes {tile.sizes = {P = [0, 8], C = [0, 20]}} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %outside = arith.constant -1.0 : f32
  %none = arith.constant -1 : i32
  tile.grid (%b) = (%c1) {
    %ids = tile.alloc "ids" : memref<8xi32, #s>
    %t = tile.alloc "t" : memref<8x20xf32, #s>
    tile.load %I[%c0] into %ids fill %none : i32 : memref<?xi32, #g>, memref<8xi32, #s>
    tile.gather %X[%c0, %c0] rows %ids axis 0 into %t fill %outside : f32 : memref<?x?xf32, #g>, memref<8xi32, #s>, memref<8x20xf32, #s>
    tile.store %t into %Y[%c0, %c0] : memref<8x20xf32, #s>, memref<?x?xf32, #g>
    tile.scatter %t into %Z[%c0, %c0] rows %ids axis 0 combine add : memref<8x20xf32, #s>, memref<8xi32, #s>, memref<?x?xf32, #g>
  }
}

tile.kernel @columns(%X: memref<?x?x?x?xf32, #g> {tile.name = "X", tile.dims = ["B", "H", "W", "C"], tile.role = "in"},
                     %Y: memref<?x?xf32, #g> {tile.name = "Y", tile.dims = ["P", "Q"], tile.role = "out"})
    attributes {tile.sizes = {B = [0, 2], H = [0, 9], W = [0, 9], C = [0, 5], P = [0, 40], Q = [0, 40]}} {
  %P = tile.dim "P"
  %Q = tile.dim "Q"
  %c16 = arith.constant 16 : index
  %pad = arith.constant 0.5 : f32
  %gp = arith.ceildivsi %P, %c16 : index
  %gq = arith.ceildivsi %Q, %c16 : index
  tile.grid (%p, %q) = (%gp, %gq) {
    %t = tile.alloc "t" : memref<16x16xf32, #s>
    %i = arith.muli %p, %c16 : index
    %j = arith.muli %q, %c16 : index
    tile.im2col %X[%i, %j] into %t fill %pad : f32 kernel [3, 2] stride [2, 1] dilation [1, 2] pad [1, 0, 1, 1] : memref<?x?x?x?xf32, #g>, memref<16x16xf32, #s>
    tile.store %t into %Y[%i, %j] : memref<16x16xf32, #s>, memref<?x?xf32, #g>
  }
}

tile.kernel @asynchronous(%A: memref<?xf32, #g> {tile.name = "A", tile.dims = ["N"], tile.role = "in"},
                          %B: memref<?xf32, #g> {tile.name = "B", tile.dims = ["N"], tile.role = "out"}) {
  %N = tile.dim "N"
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %steps = arith.ceildivsi %N, %c32 : index
  tile.grid (%b) = (%c1) {
    %t = tile.alloc "t" : memref<32xf32, #s>
    tile.pipeline %k = %c0 to %steps step %c1 stages(3) {
      %i = arith.muli %k, %c32 : index
      tile.prefetch %A[%i] sizes [32] level 1 : memref<?xf32, #g>
      %token = tile.async_load %A[%i] into %t : memref<?xf32, #g>, memref<32xf32, #s>
      tile.wait %token
      tile.store %t into %B[%i] : memref<32xf32, #s>, memref<?xf32, #g>
    }
  }
}

// Views: windows, other shapes, other types; packed elements as bytes.
tile.kernel @views(%A: memref<8x12xf32, #g> {tile.name = "A", tile.dims = ["", ""], tile.role = "in"},
                   %F: memref<16x!tile.f4E2M1FN, #g> {tile.name = "F", tile.dims = [""], tile.role = "in"},
                   %B: memref<4x6xf32, #g> {tile.name = "B", tile.dims = ["", ""], tile.role = "out"},
                   %C: memref<96xi32, #g> {tile.name = "C", tile.dims = [""], tile.role = "out"},
                   %D: memref<8xui8, #g> {tile.name = "D", tile.dims = [""], tile.role = "out"},
                   %E: memref<12x8xf32, #g> {tile.name = "E", tile.dims = ["", ""], tile.role = "out"},
                   %G: memref<16xf32, #g> {tile.name = "G", tile.dims = [""], tile.role = "out"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  tile.grid (%b) = (%c1) {
    %t = tile.alloc "t" {align = 128} : memref<8x12xf32, #s>
    tile.load %A[%c0, %c0] into %t : memref<8x12xf32, #g>, memref<8x12xf32, #s>
    %w = tile.slice %t[%c1, %c3] : memref<8x12xf32, #s> to memref<4x6xf32, strided<[12, 1], offset: ?>, #s>
    tile.store %w into %B[%c0, %c0] : memref<4x6xf32, strided<[12, 1], offset: ?>, #s>, memref<4x6xf32, #g>
    %r = tile.reshape %t : memref<8x12xf32, #s> to memref<96xf32, #s>
    %bits = tile.bitcast %r : memref<96xf32, #s> to memref<96xi32, #s>
    tile.store %bits into %C[%c0] : memref<96xi32, #s>, memref<96xi32, #g>
    %f = tile.alloc "f" : memref<16x!tile.f4E2M1FN, #s>
    tile.load %F[%c0] into %f : memref<16x!tile.f4E2M1FN, #g>, memref<16x!tile.f4E2M1FN, #s>
    %codes = tile.bitcast %f : memref<16x!tile.f4E2M1FN, #s> to memref<8xui8, #s>
    tile.store %codes into %D[%c0] : memref<8xui8, #s>, memref<8xui8, #g>
    %wide = tile.alloc "wide" : memref<16xf32, #s>
    tile.copy %f to %wide : memref<16x!tile.f4E2M1FN, #s>, memref<16xf32, #s>
    tile.store %wide into %G[%c0] : memref<16xf32, #s>, memref<16xf32, #g>
    %u = tile.alloc "u" : memref<12x8xf32, #s>
    tile.transpose %t to %u [1, 0] : memref<8x12xf32, #s>, memref<12x8xf32, #s>
    tile.store %u into %E[%c0, %c0] : memref<12x8xf32, #s>, memref<12x8xf32, #g>
  }
}
