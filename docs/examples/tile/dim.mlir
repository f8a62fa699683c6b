// Numbers the elements from the end: the last is 1.
#global = #tile.space<global>
#fragment = #tile.space<fragment>
tile.kernel @countdown(%Y: memref<?xi32, #global> {tile.name = "Y", tile.dims = ["N"], tile.role = "out"}) {
  %N = tile.dim "N"
  %c64 = arith.constant 64 : index
  %blocks = arith.ceildivsi %N, %c64 : index
  tile.grid (%b) = (%blocks) {
    %i = arith.muli %b, %c64 : index
    %t = tile.alloc "t" : memref<64xi32, #fragment>
    tile.map (%p) in [64] {
      %at = arith.addi %i, %p : index
      %left = arith.subi %N, %at : index
      %value = arith.index_cast %left : index to i32
      tile.write %value, %t[%p] : i32, memref<64xi32, #fragment>
    }
    tile.store %t into %Y[%i] : memref<64xi32, #fragment>, memref<?xi32, #global>
  }
}
