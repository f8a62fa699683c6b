// Sums rows of a table that a list names, as attention over a paged cache reads its keys: Y[p] = sum of the 512 rows
// table[page[p][i]]. A block takes one list, 16 rows a step.
tile.kernel @gather(
    %table: memref<?x128xf32, #tile.space<global>> {tile.name = "table", tile.dims = ["R", ""], tile.role = "in"},
    %rows: memref<?x512xi32, #tile.space<global>> {tile.name = "rows", tile.dims = ["P", ""], tile.role = "in"},
    %Y: memref<?x128xf32, #tile.space<global>> {tile.name = "Y", tile.dims = ["P", ""], tile.role = "out"}) {
  %P = tile.dim "P"
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c512 = arith.constant 512 : index
  tile.grid (%p) = (%P) {
    %ids = tile.alloc "ids" : memref<16xi32, #tile.space<shared>>
    %page = tile.alloc "page" : memref<16x128xf32, #tile.space<shared>>
    %sum = tile.alloc "sum" : memref<1x128xf32, #tile.space<fragment>>
    %zero = arith.constant 0.0 : f32
    tile.fill %sum, %zero : memref<1x128xf32, #tile.space<fragment>>, f32
    tile.pipeline %k = %c0 to %c512 step %c16 stages(3) {
      tile.load %rows[%p, %k] into %ids : memref<?x512xi32, #tile.space<global>>, memref<16xi32, #tile.space<shared>>
      tile.gather %table[%c0, %c0] rows %ids axis 0 into %page : memref<?x128xf32, #tile.space<global>>,
          memref<16xi32, #tile.space<shared>>, memref<16x128xf32, #tile.space<shared>>
      tile.map (%r, %c) in [16, 128] {
        %v = tile.read %page[%r, %c] : memref<16x128xf32, #tile.space<shared>> -> f32
        tile.combine add %v, %sum[%c0, %c] : f32, memref<1x128xf32, #tile.space<fragment>>
      }
    }
    tile.store %sum into %Y[%p, %c0] : memref<1x128xf32, #tile.space<fragment>>, memref<?x128xf32, #tile.space<global>>
  }
}
