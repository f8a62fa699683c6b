// Copies rows in an order that only a table knows; the row after the next is asked for ahead of its time.
#global = #tile.space<global>
#fragment = #tile.space<fragment>
tile.kernel @reorder(%X: memref<?x64xf32, #global> {tile.name = "X", tile.dims = ["N", ""], tile.role = "in"},
                     %Order: memref<32xi32, #global> {tile.name = "Order", tile.dims = [""], tile.role = "in"},
                     %Y: memref<32x64xf32, #global> {tile.name = "Y", tile.dims = ["", ""], tile.role = "out"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c31 = arith.constant 31 : index
  %c32 = arith.constant 32 : index
  tile.grid (%b) = (%c1) {
    %row = tile.alloc "row" : memref<64xf32, #fragment>
    scf.for %r = %c0 to %c32 step %c1 {
      %r2 = arith.addi %r, %c2 : index
      %next = arith.minsi %r2, %c31 : index
      %later = tile.read %Order[%next] : memref<32xi32, #global> -> i32
      %later_at = arith.index_cast %later : i32 to index
      tile.prefetch %X[%later_at, %c0] sizes [1, 64] level 1 : memref<?x64xf32, #global>
      %now = tile.read %Order[%r] : memref<32xi32, #global> -> i32
      %at = arith.index_cast %now : i32 to index
      tile.load %X[%at, %c0] into %row : memref<?x64xf32, #global>, memref<64xf32, #fragment>
      tile.store %row into %Y[%r, %c0] : memref<64xf32, #fragment>, memref<32x64xf32, #global>
    }
  }
}
