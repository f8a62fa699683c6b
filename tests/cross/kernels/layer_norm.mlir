// Each row of 83: (x - mean) / sqrt(variance + 1e-5) * gain + bias.
tile.kernel @layer_norm(
    %X: memref<?x83xf32, #tile.space<global>> {tile.name = "X", tile.dims = ["M", ""], tile.role = "in"},
    %gain: memref<83xf32, #tile.space<global>> {tile.name = "gain", tile.dims = [""], tile.role = "in"},
    %bias: memref<83xf32, #tile.space<global>> {tile.name = "bias", tile.dims = [""], tile.role = "in"},
    %Y: memref<?x83xf32, #tile.space<global>> {tile.name = "Y", tile.dims = ["M", ""], tile.role = "out"}) {
  %M = tile.dim "M"
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %count = arith.constant 83.0 : f32
  %epsilon = arith.constant 1.0e-5 : f32
  %zero = arith.constant 0.0 : f32
  %blocks = arith.ceildivsi %M, %c4 : index
  tile.grid (%b) = (%blocks) {
    %i = arith.muli %b, %c4 : index
    %x = tile.alloc "x" : memref<4x83xf32, #tile.space<shared>>
    %mean = tile.alloc "mean" : memref<4xf32, #tile.space<fragment>>
    %scale = tile.alloc "scale" : memref<4xf32, #tile.space<fragment>>
    tile.load %X[%i, %c0] into %x : memref<?x83xf32, #tile.space<global>>, memref<4x83xf32, #tile.space<shared>>
    tile.reduce add %x into %mean dim 1 clear : memref<4x83xf32, #tile.space<shared>>, memref<4xf32, #tile.space<fragment>>
    tile.fill %scale, %zero : memref<4xf32, #tile.space<fragment>>, f32
    tile.map (%r, %c) in [4, 83] {
      %v = tile.read %x[%r, %c] : memref<4x83xf32, #tile.space<shared>> -> f32
      %t = tile.read %mean[%r] : memref<4xf32, #tile.space<fragment>> -> f32
      %m = arith.divf %t, %count : f32
      %d = arith.subf %v, %m : f32
      %s = arith.mulf %d, %d : f32
      tile.combine add %s, %scale[%r] : f32, memref<4xf32, #tile.space<fragment>>
    }
    tile.map (%r, %c) in [4, 83] {
      %v = tile.read %x[%r, %c] : memref<4x83xf32, #tile.space<shared>> -> f32
      %t = tile.read %mean[%r] : memref<4xf32, #tile.space<fragment>> -> f32
      %s = tile.read %scale[%r] : memref<4xf32, #tile.space<fragment>> -> f32
      %g = tile.read %gain[%c] : memref<83xf32, #tile.space<global>> -> f32
      %h = tile.read %bias[%c] : memref<83xf32, #tile.space<global>> -> f32
      %m = arith.divf %t, %count : f32
      %variance = arith.divf %s, %count : f32
      %e = arith.addf %variance, %epsilon : f32
      %q = math.rsqrt %e : f32
      %d = arith.subf %v, %m : f32
      %n = arith.mulf %d, %q : f32
      %p = arith.mulf %n, %g : f32
      %y = arith.addf %p, %h : f32
      tile.write %y, %x[%r, %c] : f32, memref<4x83xf32, #tile.space<shared>>
    }
    tile.store %x into %Y[%i, %c0] : memref<4x83xf32, #tile.space<shared>>, memref<?x83xf32, #tile.space<global>>
  }
}
