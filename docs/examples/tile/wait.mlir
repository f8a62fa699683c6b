// Two tiles of one row, both awaited at once.
#global = #tile.space<global>
#shared = #tile.space<shared>
tile.kernel @swap_halves(%X: memref<128xf32, #global> {tile.name = "X", tile.dims = [""], tile.role = "in"},
                         %Y: memref<128xf32, #global> {tile.name = "Y", tile.dims = [""], tile.role = "out"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  tile.grid (%b) = (%c1) {
    %low = tile.alloc "low" : memref<64xf32, #shared>
    %high = tile.alloc "high" : memref<64xf32, #shared>
    %first = tile.async_load %X[%c0] into %low : memref<128xf32, #global>, memref<64xf32, #shared>
    %second = tile.async_load %X[%c64] into %high : memref<128xf32, #global>, memref<64xf32, #shared>
    tile.wait %first, %second
    tile.store %high into %Y[%c0] : memref<64xf32, #shared>, memref<128xf32, #global>
    tile.store %low into %Y[%c64] : memref<64xf32, #shared>, memref<128xf32, #global>
  }
}
