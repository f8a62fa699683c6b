// Sets a tensor to a number that is given at the launch.
#global = #tile.space<global>
#fragment = #tile.space<fragment>
tile.kernel @constant(%value: f32 {tile.name = "value"},
                      %Y: memref<?xf16, #global> {tile.name = "Y", tile.dims = ["N"], tile.role = "out"}) {
  %N = tile.dim "N"
  %c128 = arith.constant 128 : index
  %blocks = arith.ceildivsi %N, %c128 : index
  tile.grid (%b) = (%blocks) {
    %i = arith.muli %b, %c128 : index
    %t = tile.alloc "t" : memref<128xf16, #fragment>
    tile.fill %t, %value : memref<128xf16, #fragment>, f32
    tile.store %t into %Y[%i] : memref<128xf16, #fragment>, memref<?xf16, #global>
  }
}
