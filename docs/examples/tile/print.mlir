// Copies four numbers, and shows each and then the whole tile.
#global = #tile.space<global>
#shared = #tile.space<shared>
tile.kernel @show(%X: memref<4xf32, #global> {tile.name = "X", tile.dims = [""], tile.role = "in"},
                  %Y: memref<4xf32, #global> {tile.name = "Y", tile.dims = [""], tile.role = "out"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  tile.grid (%b) = (%c1) {
    %x = tile.alloc "x" : memref<4xf32, #shared>
    tile.load %X[%c0] into %x : memref<4xf32, #global>, memref<4xf32, #shared>
    scf.for %i = %c0 to %c4 step %c1 {
      %v = tile.read %x[%i] : memref<4xf32, #shared> -> f32
      tile.print "element {} is {}", %i, %v : index, f32
    }
    tile.print "the tile", %x : memref<4xf32, #shared>
    tile.store %x into %Y[%c0] : memref<4xf32, #shared>, memref<4xf32, #global>
  }
}
