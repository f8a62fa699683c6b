// Counts how often each of 16 values occurs: iterations of a map meet in the elements of `count`.
#global = #tile.space<global>
#shared = #tile.space<shared>
tile.kernel @histogram(%X: memref<?xi32, #global> {tile.name = "X", tile.dims = ["N"], tile.role = "in"},
                       %Y: memref<16xi32, #global> {tile.name = "Y", tile.dims = [""], tile.role = "out"}) {
  %N = tile.dim "N"
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %none = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %mask = arith.constant 15 : i32
  tile.grid (%b) = (%c1) {
    %count = tile.alloc "count" : memref<16xi32, #shared>
    tile.fill %count, %none : memref<16xi32, #shared>, i32
    tile.map (%p) in [%N] {
      %v = tile.read %X[%p] : memref<?xi32, #global> -> i32
      %low = arith.andi %v, %mask : i32
      %bin = arith.index_cast %low : i32 to index
      tile.combine add %one, %count[%bin] : i32, memref<16xi32, #shared>
    }
    tile.store %count into %Y[%c0] : memref<16xi32, #shared>, memref<16xi32, #global>
  }
}
