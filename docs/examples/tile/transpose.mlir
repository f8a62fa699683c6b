// Heads to the front: batch x token x head x depth becomes batch x head x token x depth.
#global = #tile.space<global>
#shared = #tile.space<shared>
tile.kernel @split_heads(
    %X: memref<?x16x4x32xf32, #global> {tile.name = "X", tile.dims = ["B", "", "", ""], tile.role = "in"},
    %Y: memref<?x4x16x32xf32, #global> {tile.name = "Y", tile.dims = ["B", "", "", ""], tile.role = "out"}) {
  %B = tile.dim "B"
  %c0 = arith.constant 0 : index
  tile.grid (%b) = (%B) {
    %x = tile.alloc "x" : memref<1x16x4x32xf32, #shared>
    %y = tile.alloc "y" : memref<1x4x16x32xf32, #shared>
    tile.load %X[%b, %c0, %c0, %c0] into %x : memref<?x16x4x32xf32, #global>, memref<1x16x4x32xf32, #shared>
    tile.transpose %x to %y [0, 2, 1, 3] : memref<1x16x4x32xf32, #shared>, memref<1x4x16x32xf32, #shared>
    tile.store %y into %Y[%b, %c0, %c0, %c0] : memref<1x4x16x32xf32, #shared>, memref<?x4x16x32xf32, #global>
  }
}
