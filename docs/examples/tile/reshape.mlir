// The greatest of each 8 neighbours: a row of 64 is seen as 8 x 8.
#global = #tile.space<global>
#shared = #tile.space<shared>
#fragment = #tile.space<fragment>
tile.kernel @greatest_of_8(%X: memref<64xf32, #global> {tile.name = "X", tile.dims = [""], tile.role = "in"},
                           %Y: memref<8xf32, #global> {tile.name = "Y", tile.dims = [""], tile.role = "out"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid (%b) = (%c1) {
    %x = tile.alloc "x" : memref<64xf32, #shared>
    %most = tile.alloc "most" : memref<8xf32, #fragment>
    tile.load %X[%c0] into %x : memref<64xf32, #global>, memref<64xf32, #shared>
    %rows = tile.reshape %x : memref<64xf32, #shared> to memref<8x8xf32, #shared>
    tile.reduce max %rows into %most dim 1 clear : memref<8x8xf32, #shared>, memref<8xf32, #fragment>
    tile.store %most into %Y[%c0] : memref<8xf32, #fragment>, memref<8xf32, #global>
  }
}
