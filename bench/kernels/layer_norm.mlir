// Y = (X - mean) / sqrt(variance + 1e-5) * gain + bias along rows of 4096 columns (Ba, Kiros, Hinton 2016). A block takes
// 4 rows.
tile.kernel @layer_norm(
    %X: memref<?x4096xf32, #tile.space<global>> {tile.name = "X", tile.dims = ["M", ""], tile.role = "in"},
    %gain: memref<4096xf32, #tile.space<global>> {tile.name = "gain", tile.dims = [""], tile.role = "in"},
    %bias: memref<4096xf32, #tile.space<global>> {tile.name = "bias", tile.dims = [""], tile.role = "in"},
    %Y: memref<?x4096xf32, #tile.space<global>> {tile.name = "Y", tile.dims = ["M", ""], tile.role = "out"}) {
  %M = tile.dim "M"
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %blocks = arith.ceildivsi %M, %c4 : index
  tile.grid (%b) = (%blocks) {
    %i = arith.muli %b, %c4 : index
    %x = tile.alloc "x" : memref<4x4096xf32, #tile.space<shared>>
    %g = tile.alloc "g" : memref<4096xf32, #tile.space<shared>>
    %h = tile.alloc "h" : memref<4096xf32, #tile.space<shared>>
    %mean = tile.alloc "mean" : memref<4xf32, #tile.space<fragment>>
    %scale = tile.alloc "scale" : memref<4xf32, #tile.space<fragment>>
    %inverse = arith.constant 2.44140625e-4 : f32
    %epsilon = arith.constant 1.0e-5 : f32
    %zero = arith.constant 0.0 : f32
    tile.load %X[%i, %c0] into %x : memref<?x4096xf32, #tile.space<global>>, memref<4x4096xf32, #tile.space<shared>>
    tile.load %gain[%c0] into %g : memref<4096xf32, #tile.space<global>>, memref<4096xf32, #tile.space<shared>>
    tile.load %bias[%c0] into %h : memref<4096xf32, #tile.space<global>>, memref<4096xf32, #tile.space<shared>>
    tile.reduce add %x into %mean dim 1 clear : memref<4x4096xf32, #tile.space<shared>>, memref<4xf32, #tile.space<fragment>>
    tile.map (%r) in [4] {
      %v = tile.read %mean[%r] : memref<4xf32, #tile.space<fragment>> -> f32
      %m = arith.mulf %v, %inverse : f32
      tile.write %m, %mean[%r] : f32, memref<4xf32, #tile.space<fragment>>
    }
    tile.fill %scale, %zero : memref<4xf32, #tile.space<fragment>>, f32
    tile.map (%r, %c) in [4, 4096] {
      %v = tile.read %x[%r, %c] : memref<4x4096xf32, #tile.space<shared>> -> f32
      %m = tile.read %mean[%r] : memref<4xf32, #tile.space<fragment>> -> f32
      %d = arith.subf %v, %m : f32
      %s = arith.mulf %d, %d : f32
      tile.combine add %s, %scale[%r] : f32, memref<4xf32, #tile.space<fragment>>
    }
    tile.map (%r) in [4] {
      %s = tile.read %scale[%r] : memref<4xf32, #tile.space<fragment>> -> f32
      %v = arith.mulf %s, %inverse : f32
      %e = arith.addf %v, %epsilon : f32
      %q = math.rsqrt %e : f32
      tile.write %q, %scale[%r] : f32, memref<4xf32, #tile.space<fragment>>
    }
    tile.map (%r, %c) in [4, 4096] {
      %v = tile.read %x[%r, %c] : memref<4x4096xf32, #tile.space<shared>> -> f32
      %m = tile.read %mean[%r] : memref<4xf32, #tile.space<fragment>> -> f32
      %q = tile.read %scale[%r] : memref<4xf32, #tile.space<fragment>> -> f32
      %gg = tile.read %g[%c] : memref<4096xf32, #tile.space<shared>> -> f32
      %hh = tile.read %h[%c] : memref<4096xf32, #tile.space<shared>> -> f32
      %d = arith.subf %v, %m : f32
      %n = arith.mulf %d, %q : f32
      %p = arith.mulf %n, %gg : f32
      %y = arith.addf %p, %hh : f32
      tile.write %y, %x[%r, %c] : f32, memref<4x4096xf32, #tile.space<shared>>
    }
    tile.store %x into %Y[%i, %c0] : memref<4x4096xf32, #tile.space<shared>>, memref<?x4096xf32, #tile.space<global>>
  }
}
