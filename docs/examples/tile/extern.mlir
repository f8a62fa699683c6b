// Turns big-endian numbers of 16 bits into little-endian ones by the C library's `swab(from, to, bytes)`.
#global = #tile.space<global>
#shared = #tile.space<shared>
tile.kernel @swap_bytes(%X: memref<?xi16, #global> {tile.name = "X", tile.dims = ["N"], tile.role = "in"},
                        %Y: memref<?xi16, #global> {tile.name = "Y", tile.dims = ["N"], tile.role = "out"}) {
  %N = tile.dim "N"
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %blocks = arith.ceildivsi %N, %c64 : index
  tile.grid (%b) = (%blocks) {
    %i = arith.muli %b, %c64 : index
    %from = tile.alloc "from" : memref<64xi16, #shared>
    %to = tile.alloc "to" : memref<64xi16, #shared>
    tile.load %X[%i] into %from : memref<?xi16, #global>, memref<64xi16, #shared>
    tile.extern @swab(%from, %to, %c128) reads [0] writes [1]
        : (memref<64xi16, #shared>, memref<64xi16, #shared>, index) -> ()
    tile.store %to into %Y[%i] : memref<64xi16, #shared>, memref<?xi16, #global>
  }
}
