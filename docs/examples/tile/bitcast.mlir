// The codes of 4-bit floats, two in a byte: what is stored, rather than what it stands for.
#global = #tile.space<global>
#shared = #tile.space<shared>
tile.kernel @codes(%X: memref<64x!tile.f4E2M1FN, #global> {tile.name = "X", tile.dims = [""], tile.role = "in"},
                   %Y: memref<32xui8, #global> {tile.name = "Y", tile.dims = [""], tile.role = "out"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid (%b) = (%c1) {
    %x = tile.alloc "x" : memref<64x!tile.f4E2M1FN, #shared>
    tile.load %X[%c0] into %x : memref<64x!tile.f4E2M1FN, #global>, memref<64x!tile.f4E2M1FN, #shared>
    %codes = tile.bitcast %x : memref<64x!tile.f4E2M1FN, #shared> to memref<32xui8, #shared>
    tile.store %codes into %Y[%c0] : memref<32xui8, #shared>, memref<32xui8, #global>
  }
}
