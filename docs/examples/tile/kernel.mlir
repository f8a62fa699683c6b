// Adds two vectors. Callers pass A, B and C by these names; N is whatever size they have, the same for all three.
#global = #tile.space<global>
#fragment = #tile.space<fragment>
tile.kernel @add(%A: memref<?xf32, #global> {tile.name = "A", tile.dims = ["N"], tile.role = "in"},
                 %B: memref<?xf32, #global> {tile.name = "B", tile.dims = ["N"], tile.role = "in"},
                 %C: memref<?xf32, #global> {tile.name = "C", tile.dims = ["N"], tile.role = "out"}) {
  %N = tile.dim "N"
  %c128 = arith.constant 128 : index
  %blocks = arith.ceildivsi %N, %c128 : index
  tile.grid (%block) = (%blocks) {
    %i = arith.muli %block, %c128 : index
    %a = tile.alloc "a" : memref<128xf32, #fragment>
    %b = tile.alloc "b" : memref<128xf32, #fragment>
    tile.load %A[%i] into %a : memref<?xf32, #global>, memref<128xf32, #fragment>
    tile.load %B[%i] into %b : memref<?xf32, #global>, memref<128xf32, #fragment>
    tile.map (%p) in [128] {
      %x = tile.read %a[%p] : memref<128xf32, #fragment> -> f32
      %y = tile.read %b[%p] : memref<128xf32, #fragment> -> f32
      %sum = arith.addf %x, %y : f32
      tile.write %sum, %a[%p] : f32, memref<128xf32, #fragment>
    }
    tile.store %a into %C[%i] : memref<128xf32, #fragment>, memref<?xf32, #global>
  }
}
