// The greatest absolute value of each row, with NaN where a row has one.
#global = #tile.space<global>
#shared = #tile.space<shared>
#fragment = #tile.space<fragment>
tile.kernel @row_absmax(%X: memref<?x256xf32, #global> {tile.name = "X", tile.dims = ["M", ""], tile.role = "in"},
                        %Y: memref<?xf32, #global> {tile.name = "Y", tile.dims = ["M"], tile.role = "out"}) {
  %M = tile.dim "M"
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %blocks = arith.ceildivsi %M, %c8 : index
  tile.grid (%b) = (%blocks) {
    %i = arith.muli %b, %c8 : index
    %x = tile.alloc "x" : memref<8x256xf32, #shared>
    %most = tile.alloc "most" : memref<8xf32, #fragment>
    tile.load %X[%i, %c0] into %x : memref<?x256xf32, #global>, memref<8x256xf32, #shared>
    tile.reduce absmax %x into %most dim 1 clear propagate_nan : memref<8x256xf32, #shared>, memref<8xf32, #fragment>
    tile.store %most into %Y[%i] : memref<8xf32, #fragment>, memref<?xf32, #global>
  }
}
