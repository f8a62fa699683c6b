// A 3 x 3 convolution as a product: rows of the tile are output pixels, columns are (kh, kw, c). One pixel of padding
// around keeps the image's size.
#global = #tile.space<global>
#shared = #tile.space<shared>
#fragment = #tile.space<fragment>
tile.kernel @convolve(
    %X: memref<?x?x?x8xf32, #global> {tile.name = "X", tile.dims = ["B", "H", "W", ""], tile.role = "in"},
    %Weights: memref<72x16xf32, #global> {tile.name = "Weights", tile.dims = ["", ""], tile.role = "in"},
    %Y: memref<?x16xf32, #global> {tile.name = "Y", tile.dims = ["P", ""], tile.role = "inout"})
    attributes {tile.sizes = {B = [0, 3], H = [1, 9], W = [1, 9], P = [1, 243]}} {
  %B = tile.dim "B"
  %H = tile.dim "H"
  %W = tile.dim "W"
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %rows = arith.muli %B, %H : index
  %pixels = arith.muli %rows, %W : index
  %blocks = arith.ceildivsi %pixels, %c32 : index
  tile.grid (%b) = (%blocks) {
    %p = arith.muli %b, %c32 : index
    %columns = tile.alloc "columns" : memref<32x72xf32, #shared>
    %weights = tile.alloc "weights" : memref<72x16xf32, #shared>
    %acc = tile.alloc "acc" : memref<32x16xf32, #fragment>
    tile.im2col %X[%p, %c0] into %columns kernel [3, 3] stride [1, 1] dilation [1, 1] pad [1, 1, 1, 1]
        : memref<?x?x?x8xf32, #global>, memref<32x72xf32, #shared>
    tile.load %Weights[%c0, %c0] into %weights : memref<72x16xf32, #global>, memref<72x16xf32, #shared>
    tile.gemm %columns, %weights, %acc clear
        : memref<32x72xf32, #shared>, memref<72x16xf32, #shared>, memref<32x16xf32, #fragment>
    tile.store %acc into %Y[%p, %c0] : memref<32x16xf32, #fragment>, memref<?x16xf32, #global>
  }
}
