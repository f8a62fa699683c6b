// Fetches A and B together, and waits for each where it is needed.
#global = #tile.space<global>
#shared = #tile.space<shared>
tile.kernel @difference(%A: memref<?xf32, #global> {tile.name = "A", tile.dims = ["N"], tile.role = "in"},
                        %B: memref<?xf32, #global> {tile.name = "B", tile.dims = ["N"], tile.role = "in"},
                        %C: memref<?xf32, #global> {tile.name = "C", tile.dims = ["N"], tile.role = "out"}) {
  %N = tile.dim "N"
  %c128 = arith.constant 128 : index
  %blocks = arith.ceildivsi %N, %c128 : index
  tile.grid (%block) = (%blocks) {
    %i = arith.muli %block, %c128 : index
    %a = tile.alloc "a" : memref<128xf32, #shared>
    %b = tile.alloc "b" : memref<128xf32, #shared>
    %a_token = tile.async_load %A[%i] into %a : memref<?xf32, #global>, memref<128xf32, #shared>
    %b_token = tile.async_load %B[%i] into %b : memref<?xf32, #global>, memref<128xf32, #shared>
    tile.wait %a_token
    tile.wait %b_token
    tile.map (%p) in [128] {
      %x = tile.read %a[%p] : memref<128xf32, #shared> -> f32
      %y = tile.read %b[%p] : memref<128xf32, #shared> -> f32
      %d = arith.subf %x, %y : f32
      tile.write %d, %b[%p] : f32, memref<128xf32, #shared>
    }
    tile.store %b into %C[%i] : memref<128xf32, #shared>, memref<?xf32, #global>
  }
}
