// Y = softmax(X) along rows of 4096 columns: exp(x - max) / sum of exp(x - max). A block takes 4 rows.
tile.kernel @softmax(%X: memref<?x4096xf32, #tile.space<global>> {tile.name = "X", tile.dims = ["M", ""], tile.role = "in"},
                     %Y: memref<?x4096xf32, #tile.space<global>> {tile.name = "Y", tile.dims = ["M", ""], tile.role = "out"}) {
  %M = tile.dim "M"
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %blocks = arith.ceildivsi %M, %c4 : index
  tile.grid (%b) = (%blocks) {
    %i = arith.muli %b, %c4 : index
    %one = arith.constant 1.0 : f32
    %x = tile.alloc "x" : memref<4x4096xf32, #tile.space<shared>>
    %largest = tile.alloc "largest" : memref<4xf32, #tile.space<fragment>>
    %sum = tile.alloc "sum" : memref<4xf32, #tile.space<fragment>>
    tile.load %X[%i, %c0] into %x : memref<?x4096xf32, #tile.space<global>>, memref<4x4096xf32, #tile.space<shared>>
    tile.reduce max %x into %largest dim 1 clear : memref<4x4096xf32, #tile.space<shared>>, memref<4xf32, #tile.space<fragment>>
    tile.map (%r, %c) in [4, 4096] {
      %v = tile.read %x[%r, %c] : memref<4x4096xf32, #tile.space<shared>> -> f32
      %m = tile.read %largest[%r] : memref<4xf32, #tile.space<fragment>> -> f32
      %d = arith.subf %v, %m : f32
      %e = math.exp %d : f32
      tile.write %e, %x[%r, %c] : f32, memref<4x4096xf32, #tile.space<shared>>
    }
    tile.reduce add %x into %sum dim 1 clear : memref<4x4096xf32, #tile.space<shared>>, memref<4xf32, #tile.space<fragment>>
    tile.map (%r) in [4] {
      %s = tile.read %sum[%r] : memref<4xf32, #tile.space<fragment>> -> f32
      %q = arith.divf %one, %s : f32
      tile.write %q, %sum[%r] : f32, memref<4xf32, #tile.space<fragment>>
    }
    tile.map (%r, %c) in [4, 4096] {
      %e = tile.read %x[%r, %c] : memref<4x4096xf32, #tile.space<shared>> -> f32
      %q = tile.read %sum[%r] : memref<4xf32, #tile.space<fragment>> -> f32
      %y = arith.mulf %e, %q : f32
      tile.write %y, %x[%r, %c] : f32, memref<4x4096xf32, #tile.space<shared>>
    }
    tile.store %x into %Y[%i, %c0] : memref<4x4096xf32, #tile.space<shared>>, memref<?x4096xf32, #tile.space<global>>
  }
}
