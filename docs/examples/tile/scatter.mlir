// Adds 16 rows to the rows of Y that Ids names; a row that is named twice gets both.
#global = #tile.space<global>
#shared = #tile.space<shared>
tile.kernel @add_rows(%X: memref<16x32xf32, #global> {tile.name = "X", tile.dims = ["", ""], tile.role = "in"},
                      %Ids: memref<16xi32, #global> {tile.name = "Ids", tile.dims = [""], tile.role = "in"},
                      %Y: memref<?x32xf32, #global> {tile.name = "Y", tile.dims = ["N", ""], tile.role = "inout"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tile.grid (%b) = (%c1) {
    %x = tile.alloc "x" : memref<16x32xf32, #shared>
    %ids = tile.alloc "ids" : memref<16xi32, #shared>
    tile.load %X[%c0, %c0] into %x : memref<16x32xf32, #global>, memref<16x32xf32, #shared>
    tile.load %Ids[%c0] into %ids : memref<16xi32, #global>, memref<16xi32, #shared>
    tile.scatter %x into %Y[%c0, %c0] rows %ids axis 0 combine add
        : memref<16x32xf32, #shared>, memref<16xi32, #shared>, memref<?x32xf32, #global>
  }
}
