// Products, reductions, scans, atomics, phases with a workspace.
#g = #tile.space<global>
#s = #tile.space<shared>
#f = #tile.space<fragment>

// A product of transposed, narrow factors with a workspace between its two phases.
tile.kernel @product(%A: memref<?x?xbf16, #g> {tile.name = "A", tile.dims = ["K", "M"], tile.role = "in"},
                     %B: memref<?x?xf8E4M3FN, #g> {tile.name = "B", tile.dims = ["N", "K"], tile.role = "in"},
                     %C: memref<?x?xf32, #g> {tile.name = "C", tile.dims = ["M", "N"], tile.role = "out"}) {
  %M = tile.dim "M"
  %N = tile.dim "N"
  %K = tile.dim "K"
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c12 = arith.constant 12 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0.0 : f32
  %bm = arith.ceildivsi %M, %c12 : index
  %bn = arith.ceildivsi %N, %c16 : index
  %bk = arith.ceildivsi %K, %c8 : index
  tile.grid (%m, %n) = (%bm, %bn) attributes {order = #tile.order<swizzle, 2>} {
    %i = arith.muli %m, %c12 : index
    %j = arith.muli %n, %c16 : index
    %a = tile.alloc "a" : memref<8x12xbf16, #s>
    %b = tile.alloc "b" : memref<16x8xf8E4M3FN, #s>
    %acc = tile.alloc "acc" : memref<12x16xf32, #f>
    tile.fill %acc, %zero : memref<12x16xf32, #f>, f32
    tile.pipeline %s = %c0 to %bk step %c1 stages(2) {
      %k = arith.muli %s, %c8 : index
      tile.load %A[%k, %i] into %a : memref<?x?xbf16, #g>, memref<8x12xbf16, #s>
      tile.load %B[%j, %k] into %b : memref<?x?xf8E4M3FN, #g>, memref<16x8xf8E4M3FN, #s>
      tile.gemm %a, %b, %acc transpose_a transpose_b : memref<8x12xbf16, #s>, memref<16x8xf8E4M3FN, #s>, memref<12x16xf32, #f>
    }
    tile.store %acc into %C[%i, %j] : memref<12x16xf32, #f>, memref<?x?xf32, #g>
  }
}

// Scaled blocks, a sparse factor, integers.
tile.kernel @factors(%A: memref<8x16xf32, #g> {tile.name = "A", tile.dims = ["", ""], tile.role = "in"},
                     %B: memref<16x8xf32, #g> {tile.name = "B", tile.dims = ["", ""], tile.role = "in"},
                     %SA: memref<8x2xf32, #g> {tile.name = "SA", tile.dims = ["", ""], tile.role = "in"},
                     %SB: memref<4x1xf32, #g> {tile.name = "SB", tile.dims = ["", ""], tile.role = "in"},
                     %I: memref<8x16xi8, #g> {tile.name = "I", tile.dims = ["", ""], tile.role = "in"},
                     %J: memref<16x8xi4, #g> {tile.name = "J", tile.dims = ["", ""], tile.role = "in"},
                     %C: memref<8x8xf32, #g> {tile.name = "C", tile.dims = ["", ""], tile.role = "out"},
                     %D: memref<8x8xf32, #g> {tile.name = "D", tile.dims = ["", ""], tile.role = "out"},
                     %E: memref<8x8xi32, #g> {tile.name = "E", tile.dims = ["", ""], tile.role = "out"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %three = arith.constant 3 : i32
  tile.grid (%g) = (%c1) {
    %a = tile.alloc "a" : memref<8x16xf32, #s>
    %b = tile.alloc "b" : memref<16x8xf32, #s>
    %sa = tile.alloc "sa" : memref<8x2xf32, #s>
    %sb = tile.alloc "sb" : memref<4x1xf32, #s>
    %acc = tile.alloc "acc" : memref<8x8xf32, #f>
    tile.load %A[%c0, %c0] into %a : memref<8x16xf32, #g>, memref<8x16xf32, #s>
    tile.load %B[%c0, %c0] into %b : memref<16x8xf32, #g>, memref<16x8xf32, #s>
    tile.load %SA[%c0, %c0] into %sa : memref<8x2xf32, #g>, memref<8x2xf32, #s>
    tile.load %SB[%c0, %c0] into %sb : memref<4x1xf32, #g>, memref<4x1xf32, #s>
    tile.gemm %a, %b, %acc scales(%sa, %sb : memref<8x2xf32, #s>, memref<4x1xf32, #s>) clear : memref<8x16xf32, #s>, memref<16x8xf32, #s>, memref<8x8xf32, #f>
    tile.store %acc into %C[%c0, %c0] : memref<8x8xf32, #f>, memref<8x8xf32, #g>
    // Two of four columns, at places that follow from the row and the column.
    %half = tile.alloc "half" : memref<8x8xf32, #s>
    %at = tile.alloc "at" : memref<8x8xi8, #s>
    tile.load %A[%c0, %c0] into %half : memref<8x16xf32, #g>, memref<8x8xf32, #s>
    tile.map (%i, %j) in [8, 8] {
      %r = arith.index_cast %i : index to i32
      %c = arith.index_cast %j : index to i32
      %x = arith.xori %r, %c : i32
      %p = arith.andi %x, %three : i32
      tile.write %p, %at[%i, %j] : i32, memref<8x8xi8, #s>
    }
    tile.sparse_gemm %half, %at, %b, %acc clear : memref<8x8xf32, #s>, memref<8x8xi8, #s>, memref<16x8xf32, #s>, memref<8x8xf32, #f>
    tile.store %acc into %D[%c0, %c0] : memref<8x8xf32, #f>, memref<8x8xf32, #g>
    %p = tile.alloc "p" : memref<8x16xi8, #s>
    %q = tile.alloc "q" : memref<16x8xi4, #s>
    %sum = tile.alloc "sum" : memref<8x8xi32, #f>
    tile.load %I[%c0, %c0] into %p : memref<8x16xi8, #g>, memref<8x16xi8, #s>
    tile.load %J[%c0, %c0] into %q : memref<16x8xi4, #g>, memref<16x8xi4, #s>
    tile.gemm %p, %q, %sum clear : memref<8x16xi8, #s>, memref<16x8xi4, #s>, memref<8x8xi32, #f>
    tile.store %sum into %E[%c0, %c0] : memref<8x8xi32, #f>, memref<8x8xi32, #g>
  }
}

// Row statistics in one phase, kept in a workspace for the next one.
tile.kernel @reductions(%X: memref<?x24xf32, #g> {tile.name = "X", tile.dims = ["M", ""], tile.role = "in"},
                        %Y: memref<?x24xf32, #g> {tile.name = "Y", tile.dims = ["M", ""], tile.role = "out"},
                        %T: memref<1xf32, #g> {tile.name = "T", tile.dims = [""], tile.role = "inout"})
    attributes {tile.sizes = {M = [0, 60]}} {
  %M = tile.dim "M"
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %blocks = arith.ceildivsi %M, %c5 : index
  %tops = tile.alloc "tops" : memref<64xf32, #g>
  tile.grid (%m) = (%blocks) {
    %i = arith.muli %m, %c5 : index
    %x = tile.alloc "x" : memref<5x24xf32, #s>
    %top = tile.alloc "top" : memref<5xf32, #f>
    %low = tile.alloc "low" : memref<5xf32, #f>
    tile.load %X[%i, %c0] into %x : memref<?x24xf32, #g>, memref<5x24xf32, #s>
    tile.reduce max %x into %top dim 1 clear propagate_nan : memref<5x24xf32, #s>, memref<5xf32, #f>
    tile.reduce min %x into %low dim 1 clear : memref<5x24xf32, #s>, memref<5xf32, #f>
    tile.map (%r) in [5] {
      %a = tile.read %top[%r] : memref<5xf32, #f> -> f32
      %b = tile.read %low[%r] : memref<5xf32, #f> -> f32
      %d = arith.subf %a, %b : f32
      tile.write %d, %top[%r] : f32, memref<5xf32, #f>
    }
    tile.store %top into %tops[%i] : memref<5xf32, #f>, memref<64xf32, #g>
  }
  tile.grid (%m) = (%blocks) {
    %i = arith.muli %m, %c5 : index
    %x = tile.alloc "x" : memref<5x24xf32, #s>
    %y = tile.alloc "y" : memref<5x24xf32, #s>
    %range = tile.alloc "range" : memref<5xf32, #s>
    %all = tile.alloc "all" : memref<1x24xf32, #f>
    tile.load %X[%i, %c0] into %x : memref<?x24xf32, #g>, memref<5x24xf32, #s>
    tile.load %tops[%i] into %range : memref<64xf32, #g>, memref<5xf32, #s>
    tile.scan add %x into %y dim 1 reverse exclusive : memref<5x24xf32, #s>, memref<5x24xf32, #s>
    tile.scan max %y into %y dim 0 : memref<5x24xf32, #s>, memref<5x24xf32, #s>
    tile.map (%r, %c) in [5, 24] {
      %a = tile.read %y[%r, %c] : memref<5x24xf32, #s> -> f32
      %b = tile.read %range[%r] : memref<5xf32, #s> -> f32
      %s = arith.addf %a, %b : f32
      tile.write %s, %y[%r, %c] : f32, memref<5x24xf32, #s>
    }
    tile.store %y into %Y[%i, %c0] : memref<5x24xf32, #s>, memref<?x24xf32, #g>
    tile.reduce absadd %x into %all dim 0 clear : memref<5x24xf32, #s>, memref<1x24xf32, #f>
    tile.map (%z, %c) in [1, 24] {
      %a = tile.read %all[%z, %c] : memref<1x24xf32, #f> -> f32
      %old = tile.atomic add %a, %T[%c0] order relaxed : f32, memref<1xf32, #g>
    }
  }
}

// Integers: wrapping sums, bits, counts into bins.
tile.kernel @integers(%X: memref<?xui8, #g> {tile.name = "X", tile.dims = ["N"], tile.role = "in"},
                      %H: memref<16xi32, #g> {tile.name = "H", tile.dims = [""], tile.role = "inout"},
                      %B: memref<1xi64, #g> {tile.name = "B", tile.dims = [""], tile.role = "out"},
                      %scale: i32 {tile.name = "scale"}) {
  %N = tile.dim "N"
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %fifteen = arith.constant 15 : i32
  %one = arith.constant 1 : i32
  %blocks = arith.ceildivsi %N, %c16 : index
  tile.grid (%b) = (%blocks) {
    %i = arith.muli %b, %c16 : index
    %x = tile.alloc "x" : memref<16xui8, #s>
    %w = tile.alloc "w" : memref<16xi32, #s>
    tile.load %X[%i] into %x : memref<?xui8, #g>, memref<16xui8, #s>
    tile.map (%j) in [16] {
      %v = tile.read %x[%j] : memref<16xui8, #s> -> i32
      %at = arith.addi %i, %j : index
      %there = arith.cmpi slt, %at, %N : index
      %bin = arith.andi %v, %fifteen : i32
      %k = arith.index_cast %bin : i32 to index
      scf.if %there {
        %old = tile.atomic add %one, %H[%k] order seq_cst : i32, memref<16xi32, #g>
      }
      %p = arith.muli %v, %scale : i32
      tile.write %p, %w[%j] : i32, memref<16xi32, #s>
    }
    tile.atomic_store max %w into %H[%c0] : memref<16xi32, #s>, memref<16xi32, #g>
  }
  tile.grid (%b) = (%c1) {
    %h = tile.alloc "h" : memref<16xi32, #s>
    %all = tile.alloc "all" : memref<1xi64, #f>
    tile.load %H[%c0] into %h : memref<16xi32, #g>, memref<16xi32, #s>
    tile.reduce xor %h into %all dim 0 clear : memref<16xi32, #s>, memref<1xi64, #f>
    tile.store %all into %B[%c0] : memref<1xi64, #f>, memref<1xi64, #g>
  }
}
