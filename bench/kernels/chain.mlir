// Twelve element-wise operations in one kernel: y = min((max(x^2 / 4 - (2 x + 1) abs(x), 0.1) + x)^2, 2). A block takes
// 4096 elements.
tile.kernel @chain(%X: memref<?xf32, #tile.space<global>> {tile.name = "X", tile.dims = ["N"], tile.role = "in"},
                   %Y: memref<?xf32, #tile.space<global>> {tile.name = "Y", tile.dims = ["N"], tile.role = "out"}) {
  %N = tile.dim "N"
  %c4096 = arith.constant 4096 : index
  %blocks = arith.ceildivsi %N, %c4096 : index
  tile.grid (%b) = (%blocks) {
    %i = arith.muli %b, %c4096 : index
    %x = tile.alloc "x" : memref<4096xf32, #tile.space<shared>>
    %one = arith.constant 1.0 : f32
    %two = arith.constant 2.0 : f32
    %quarter = arith.constant 0.25 : f32
    %tenth = arith.constant 0.1 : f32
    tile.load %X[%i] into %x : memref<?xf32, #tile.space<global>>, memref<4096xf32, #tile.space<shared>>
    tile.map (%r) in [4096] {
      %v = tile.read %x[%r] : memref<4096xf32, #tile.space<shared>> -> f32
      %1 = arith.mulf %v, %two : f32
      %2 = arith.addf %1, %one : f32
      %3 = arith.mulf %v, %v : f32
      %4 = arith.mulf %3, %quarter : f32
      %5 = math.absf %v : f32
      %6 = arith.mulf %2, %5 : f32
      %7 = arith.subf %6, %4 : f32
      %8 = arith.negf %7 : f32
      %9 = arith.maximumf %8, %tenth : f32
      %10 = arith.addf %9, %v : f32
      %11 = arith.mulf %10, %10 : f32
      %12 = arith.minimumf %11, %two : f32
      tile.write %12, %x[%r] : f32, memref<4096xf32, #tile.space<shared>>
    }
    tile.store %x into %Y[%i] : memref<4096xf32, #tile.space<shared>>, memref<?xf32, #tile.space<global>>
  }
}
