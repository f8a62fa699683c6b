// The activation x / (1 + exp(-x)), element by element.
#global = #tile.space<global>
#fragment = #tile.space<fragment>
tile.kernel @silu(%X: memref<?xf32, #global> {tile.name = "X", tile.dims = ["N"], tile.role = "in"},
                  %Y: memref<?xf32, #global> {tile.name = "Y", tile.dims = ["N"], tile.role = "out"}) {
  %N = tile.dim "N"
  %c128 = arith.constant 128 : index
  %blocks = arith.ceildivsi %N, %c128 : index
  tile.grid (%b) = (%blocks) {
    %i = arith.muli %b, %c128 : index
    %one = arith.constant 1.0 : f32
    %x = tile.alloc "x" : memref<128xf32, #fragment>
    tile.load %X[%i] into %x : memref<?xf32, #global>, memref<128xf32, #fragment>
    tile.map (%p) in [128] {
      %v = tile.read %x[%p] : memref<128xf32, #fragment> -> f32
      %minus = arith.negf %v : f32
      %e = math.exp %minus : f32
      %below = arith.addf %e, %one : f32
      %y = arith.divf %v, %below : f32
      tile.write %y, %x[%p] : f32, memref<128xf32, #fragment>
    }
    tile.store %x into %Y[%i] : memref<128xf32, #fragment>, memref<?xf32, #global>
  }
}
