// Each row of 83: exp(x - max) / sum.
tile.kernel @softmax(%X: memref<?x83xf32, #tile.space<global>> {tile.name = "X", tile.dims = ["M", ""], tile.role = "in"},
                     %Y: memref<?x83xf32, #tile.space<global>> {tile.name = "Y", tile.dims = ["M", ""], tile.role = "out"}) {
  %M = tile.dim "M"
  %c0 = arith.constant 0 : index
  %c6 = arith.constant 6 : index
  %blocks = arith.ceildivsi %M, %c6 : index
  tile.grid (%b) = (%blocks) {
    %i = arith.muli %b, %c6 : index
    %x = tile.alloc "x" : memref<6x83xf32, #tile.space<shared>>
    %top = tile.alloc "top" : memref<6xf32, #tile.space<fragment>>
    %sum = tile.alloc "sum" : memref<6xf32, #tile.space<fragment>>
    tile.load %X[%i, %c0] into %x : memref<?x83xf32, #tile.space<global>>, memref<6x83xf32, #tile.space<shared>>
    tile.reduce max %x into %top dim 1 clear : memref<6x83xf32, #tile.space<shared>>, memref<6xf32, #tile.space<fragment>>
    tile.map (%r, %c) in [6, 83] {
      %v = tile.read %x[%r, %c] : memref<6x83xf32, #tile.space<shared>> -> f32
      %t = tile.read %top[%r] : memref<6xf32, #tile.space<fragment>> -> f32
      %d = arith.subf %v, %t : f32
      %e = math.exp %d : f32
      tile.write %e, %x[%r, %c] : f32, memref<6x83xf32, #tile.space<shared>>
    }
    tile.reduce add %x into %sum dim 1 clear : memref<6x83xf32, #tile.space<shared>>, memref<6xf32, #tile.space<fragment>>
    tile.map (%r, %c) in [6, 83] {
      %v = tile.read %x[%r, %c] : memref<6x83xf32, #tile.space<shared>> -> f32
      %s = tile.read %sum[%r] : memref<6xf32, #tile.space<fragment>> -> f32
      %q = arith.divf %v, %s : f32
      tile.write %q, %x[%r, %c] : f32, memref<6x83xf32, #tile.space<shared>>
    }
    tile.store %x into %Y[%i, %c0] : memref<6x83xf32, #tile.space<shared>>, memref<?x83xf32, #tile.space<global>>
  }
}
