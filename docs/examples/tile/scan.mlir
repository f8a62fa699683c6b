// Where each part begins, from how long the parts are: an exclusive running sum along rows, in place.
#global = #tile.space<global>
#shared = #tile.space<shared>
tile.kernel @offsets(%Sizes: memref<?x32xi32, #global> {tile.name = "Sizes", tile.dims = ["M", ""], tile.role = "in"},
                     %Y: memref<?x32xi32, #global> {tile.name = "Y", tile.dims = ["M", ""], tile.role = "out"}) {
  %M = tile.dim "M"
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %blocks = arith.ceildivsi %M, %c4 : index
  tile.grid (%b) = (%blocks) {
    %i = arith.muli %b, %c4 : index
    %t = tile.alloc "t" : memref<4x32xi32, #shared>
    tile.load %Sizes[%i, %c0] into %t : memref<?x32xi32, #global>, memref<4x32xi32, #shared>
    tile.scan add %t into %t dim 1 exclusive : memref<4x32xi32, #shared>, memref<4x32xi32, #shared>
    tile.store %t into %Y[%i, %c0] : memref<4x32xi32, #shared>, memref<?x32xi32, #global>
  }
}
