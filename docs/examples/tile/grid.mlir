// Outer product C = x y^T, a block for each 32 x 32 tile of C, walked in panels of 4 columns of blocks.
#global = #tile.space<global>
#fragment = #tile.space<fragment>
tile.kernel @outer(%X: memref<?xf32, #global> {tile.name = "X", tile.dims = ["M"], tile.role = "in"},
                   %Y: memref<?xf32, #global> {tile.name = "Y", tile.dims = ["N"], tile.role = "in"},
                   %C: memref<?x?xf32, #global> {tile.name = "C", tile.dims = ["M", "N"], tile.role = "out"}) {
  %M = tile.dim "M"
  %N = tile.dim "N"
  %c32 = arith.constant 32 : index
  %rows = arith.ceildivsi %M, %c32 : index
  %columns = arith.ceildivsi %N, %c32 : index
  tile.grid (%bm, %bn) = (%rows, %columns) attributes {order = #tile.order<swizzle, 4>} {
    %i = arith.muli %bm, %c32 : index
    %j = arith.muli %bn, %c32 : index
    %x = tile.alloc "x" : memref<32xf32, #fragment>
    %y = tile.alloc "y" : memref<32xf32, #fragment>
    %c = tile.alloc "c" : memref<32x32xf32, #fragment>
    tile.load %X[%i] into %x : memref<?xf32, #global>, memref<32xf32, #fragment>
    tile.load %Y[%j] into %y : memref<?xf32, #global>, memref<32xf32, #fragment>
    tile.map (%p, %q) in [32, 32] {
      %u = tile.read %x[%p] : memref<32xf32, #fragment> -> f32
      %v = tile.read %y[%q] : memref<32xf32, #fragment> -> f32
      %w = arith.mulf %u, %v : f32
      tile.write %w, %c[%p, %q] : f32, memref<32x32xf32, #fragment>
    }
    tile.store %c into %C[%i, %j] : memref<32x32xf32, #fragment>, memref<?x?xf32, #global>
  }
}
