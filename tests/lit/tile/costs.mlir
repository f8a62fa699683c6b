// What each operation says that it reads, writes and covers, and what it costs. Hazards, liveness and the estimates of
// `explain` are made of these answers.
// RUN: tile-opt %s --print-accesses --verify-diagnostics
#g = #tile.space<global>
#s = #tile.space<shared>
#f = #tile.space<fragment>

tile.kernel @moves(%A: memref<?x?xf32, #g> {tile.name = "A", tile.dims = ["M", "N"], tile.role = "inout"},
                   %R: memref<8xi32, #g> {tile.name = "R", tile.dims = [""], tile.role = "in"},
                   %X: memref<1x8x8x2xf16, #g> {tile.name = "X", tile.dims = ["", "", "", ""], tile.role = "in"},
                   %B: memref<8x16xf32, #g> {tile.name = "B", tile.dims = ["", ""], tile.role = "out"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid (%b) = (%c1) {
    %t = tile.alloc "t" : memref<8x16xf32, #s>
    %u = tile.alloc "u" : memref<16x8xf16, #s>
    %r = tile.alloc "r" : memref<8xi32, #s>
    // 8 x 16 elements of 4 bytes.
    // expected-remark @+1 {{reads 'A'; writes covers 't'; 0 flops, 512.0 bytes}}
    tile.load %A[%b, %c0] into %t : memref<?x?xf32, #g>, memref<8x16xf32, #s>
    // expected-remark @+1 {{reads 'A'; writes covers 't'; 0 flops, 512.0 bytes}}
    %k = tile.async_load %A[%b, %c0] into %t : memref<?x?xf32, #g>, memref<8x16xf32, #s>
    // expected-remark @+1 {{reads 't'; writes 'A'; 0 flops, 512.0 bytes}}
    tile.store %t into %A[%b, %c0] : memref<8x16xf32, #s>, memref<?x?xf32, #g>
    // The whole of it.
    // expected-remark @+1 {{reads 't'; writes covers 'B'; 0 flops, 512.0 bytes}}
    tile.store %t into %B[%c0, %c0] : memref<8x16xf32, #s>, memref<8x16xf32, #g>
    // expected-remark @+1 {{reads 't'; writes 'B'; 0 flops, 512.0 bytes}}
    tile.store %t into %B[%c0, %b] : memref<8x16xf32, #s>, memref<8x16xf32, #g>
    // expected-remark @+1 {{reads 't'; writes covers 'u'; 0 flops, 0.0 bytes}}
    tile.transpose %t to %u [1, 0] : memref<8x16xf32, #s>, memref<16x8xf16, #s>
    // expected-remark @+1 {{reads 'R'; writes covers 'r'; 0 flops, 32.0 bytes}}
    tile.load %R[%c0] into %r : memref<8xi32, #g>, memref<8xi32, #s>
    // expected-remark @+1 {{reads 'A'; reads 'r'; writes covers 't'; 0 flops, 512.0 bytes}}
    tile.gather %A[%c0, %c0] rows %r axis 0 into %t : memref<?x?xf32, #g>, memref<8xi32, #s>, memref<8x16xf32, #s>
    // expected-remark @+1 {{reads 't'; reads 'r'; writes 'A'; 0 flops, 512.0 bytes}}
    tile.scatter %t into %A[%c0, %c0] rows %r axis 0 : memref<8x16xf32, #s>, memref<8xi32, #s>, memref<?x?xf32, #g>
    // Read, added, written.
    // expected-remark @+1 {{reads 't'; reads 'r'; reads writes 'A'; 128 flops, 1024.0 bytes}}
    tile.scatter %t into %A[%c0, %c0] rows %r axis 0 combine add : memref<8x16xf32, #s>, memref<8xi32, #s>, memref<?x?xf32, #g>
    // expected-remark @+1 {{reads 'X'; writes covers 'u'; 0 flops, 256.0 bytes}}
    tile.im2col %X[%c0, %c0] into %u kernel [2, 2] stride [1, 1] dilation [1, 1] pad [0, 0, 0, 0] : memref<1x8x8x2xf16, #g>, memref<16x8xf16, #s>
  }
}

tile.kernel @compute(%A: memref<?xf32, #g> {tile.name = "A", tile.dims = ["M"], tile.role = "inout"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  tile.grid (%b) = (%c1) {
    %a = tile.alloc "a" : memref<8x16xf32, #s>
    %w = tile.alloc "w" : memref<16x4xf32, #s>
    %acc = tile.alloc "acc" : memref<8x4xf32, #f>
    %row = tile.alloc "row" : memref<8xf32, #f>
    %one = tile.alloc "one" : memref<f32, #f>
    // expected-remark @+1 {{writes covers 'a'; 0 flops, 0.0 bytes}}
    tile.fill %a, %zero : memref<8x16xf32, #s>, f32
    // expected-remark @+1 {{writes covers 'w'; 0 flops, 0.0 bytes}}
    tile.fill %w, %zero : memref<16x4xf32, #s>, f32
    // 2 x 8 x 4 x 16.
    // expected-remark @+1 {{reads 'a'; reads 'w'; writes covers 'acc'; 1024 flops, 0.0 bytes}}
    tile.gemm %a, %w, %acc clear : memref<8x16xf32, #s>, memref<16x4xf32, #s>, memref<8x4xf32, #f>
    // expected-remark @+1 {{reads 'a'; reads 'w'; reads writes 'acc'; 1024 flops, 0.0 bytes}}
    tile.gemm %a, %w, %acc : memref<8x16xf32, #s>, memref<16x4xf32, #s>, memref<8x4xf32, #f>
    // expected-remark @+1 {{reads 'a'; writes covers 'row'; 128 flops, 0.0 bytes}}
    tile.reduce add %a into %row dim 1 clear : memref<8x16xf32, #s>, memref<8xf32, #f>
    // expected-remark @+1 {{reads 'a'; reads writes 'row'; 128 flops, 0.0 bytes}}
    tile.reduce max %a into %row dim 1 : memref<8x16xf32, #s>, memref<8xf32, #f>
    // In place: what it covers it has read before.
    // expected-remark @+1 {{reads writes 'a'; 128 flops, 0.0 bytes}}
    tile.scan add %a into %a dim 1 : memref<8x16xf32, #s>, memref<8x16xf32, #s>
    // expected-remark @+1 {{reads 'A'; 0 flops, 4.0 bytes}}
    %v = tile.read %A[%c0] : memref<?xf32, #g> -> f32
    // expected-remark @+1 {{writes 'A'; 0 flops, 4.0 bytes}}
    tile.write %v, %A[%c0] : f32, memref<?xf32, #g>
    // A tile of one element is covered.
    // expected-remark @+1 {{writes covers 'one'; 0 flops, 0.0 bytes}}
    tile.write %v, %one[] : f32, memref<f32, #f>
    // expected-remark @+1 {{reads writes 'A'; 1 flops, 8.0 bytes}}
    tile.combine add %v, %A[%c0] : f32, memref<?xf32, #g>
    // expected-remark @+1 {{reads writes 'A'; 1 flops, 8.0 bytes}}
    %old = tile.atomic max %v, %A[%c0] : f32, memref<?xf32, #g>
    // expected-remark @+1 {{reads 'row'; reads writes 'A'; 8 flops, 64.0 bytes}}
    tile.atomic_store add %row into %A[%c0] : memref<8xf32, #f>, memref<?xf32, #g>
    // expected-remark @+1 {{reads 'row'; 0 flops, 0.0 bytes}}
    tile.print "row", %row : memref<8xf32, #f>
    // expected-remark @+1 {{reads 'row'; reads writes 'acc'; 0 flops, 0.0 bytes}}
    tile.extern @f(%row, %acc) reads [0, 1] writes [1] : (memref<8xf32, #f>, memref<8x4xf32, #f>) -> ()
  }
}

// Maps: the whole of a buffer is covered where every element is written before any is read.
tile.kernel @maps() {
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  tile.grid (%b) = (%c1) {
    %a = tile.alloc "a" : memref<8x16xf32, #s>
    %t = tile.alloc "t" : memref<16x8xf32, #s>
    %r = tile.reshape %a : memref<8x16xf32, #s> to memref<128xf32, #s>
    // 128 points, an addition and a function each.
    // expected-remark @+1 {{reads 'a'; writes covers 't'; 256 flops, 0.0 bytes}}
    tile.map (%i, %j) in [8, 16] {
      // expected-remark @+1 {{reads 'a'; 0 flops, 0.0 bytes}}
      %v = tile.read %a[%i, %j] : memref<8x16xf32, #s> -> f32
      %s = arith.addf %v, %v : f32
      %e = math.exp %s : f32
      // expected-remark @+1 {{writes 't'; 0 flops, 0.0 bytes}}
      tile.write %e, %t[%j, %i] : f32, memref<16x8xf32, #s>
    }
    // Only a part.
    // expected-remark @+1 {{reads 'a'; writes 't'; 0 flops, 0.0 bytes}}
    tile.map (%i, %j) in [8, 8] {
      // expected-remark @+1 {{reads 'a'; 0 flops, 0.0 bytes}}
      %v = tile.read %a[%i, %j] : memref<8x16xf32, #s> -> f32
      // expected-remark @+1 {{writes 't'; 0 flops, 0.0 bytes}}
      tile.write %v, %t[%j, %i] : f32, memref<16x8xf32, #s>
    }
    // Through a view, which is another value; and one that reads what it writes.
    // expected-remark @+1 {{reads writes a view of 'a'; 0 flops, 0.0 bytes}}
    tile.map (%i) in [128] {
      // expected-remark @+1 {{reads a view of 'a'; 0 flops, 0.0 bytes}}
      %v = tile.read %r[%i] : memref<128xf32, #s> -> f32
      // expected-remark @+1 {{writes a view of 'a'; 0 flops, 0.0 bytes}}
      tile.write %v, %r[%i] : f32, memref<128xf32, #s>
    }
    // The diagonal, twice the same index.
    // expected-remark @+1 {{reads 't'; writes 'a'; 0 flops, 0.0 bytes}}
    tile.map (%i) in [8] {
      // expected-remark @+1 {{reads 't'; 0 flops, 0.0 bytes}}
      %v = tile.read %t[%i, %i] : memref<16x8xf32, #s> -> f32
      // expected-remark @+1 {{writes 'a'; 0 flops, 0.0 bytes}}
      tile.write %v, %a[%i, %i] : f32, memref<8x16xf32, #s>
    }
    // What threads do together.
    // expected-remark @+1 {{reads 't'; writes 'a'; 8 flops, 0.0 bytes}}
    tile.threads (%i) in [8] {
      // expected-remark @+1 {{reads 't'; 0 flops, 0.0 bytes}}
      %v = tile.read %t[%i, %c0] : memref<16x8xf32, #s> -> f32
      %n = arith.negf %v : f32
      // expected-remark @+1 {{writes 'a'; 0 flops, 0.0 bytes}}
      tile.write %n, %a[%i, %c0] : f32, memref<8x16xf32, #s>
    }
  }
}
