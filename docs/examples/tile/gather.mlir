// Looks up rows of a table by their ids, 16 at a time; ids that the table has not (-1 too) give zeros.
#global = #tile.space<global>
#shared = #tile.space<shared>
tile.kernel @embed(%Table: memref<?x64xbf16, #global> {tile.name = "Table", tile.dims = ["V", ""], tile.role = "in"},
                   %Ids: memref<?xi32, #global> {tile.name = "Ids", tile.dims = ["T"], tile.role = "in"},
                   %Y: memref<?x64xf32, #global> {tile.name = "Y", tile.dims = ["T", ""], tile.role = "out"}) {
  %T = tile.dim "T"
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %blocks = arith.ceildivsi %T, %c16 : index
  tile.grid (%b) = (%blocks) {
    %i = arith.muli %b, %c16 : index
    %ids = tile.alloc "ids" : memref<16xi32, #shared>
    %rows = tile.alloc "rows" : memref<16x64xf32, #shared>
    tile.load %Ids[%i] into %ids : memref<?xi32, #global>, memref<16xi32, #shared>
    tile.gather %Table[%c0, %c0] rows %ids axis 0 into %rows
        : memref<?x64xbf16, #global>, memref<16xi32, #shared>, memref<16x64xf32, #shared>
    tile.store %rows into %Y[%i, %c0] : memref<16x64xf32, #shared>, memref<?x64xf32, #global>
  }
}
