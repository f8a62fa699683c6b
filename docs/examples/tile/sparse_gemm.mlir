// A product whose left factor keeps one of each two columns, which is two of each four: the lowest bit of Choice says
// whether the left or the right one of the pair.
#global = #tile.space<global>
#shared = #tile.space<shared>
#fragment = #tile.space<fragment>
tile.kernel @two_of_four(
    %A: memref<32x16xf32, #global> {tile.name = "A", tile.dims = ["", ""], tile.role = "in"},
    %Choice: memref<32x16xi8, #global> {tile.name = "Choice", tile.dims = ["", ""], tile.role = "in"},
    %B: memref<32x48xf32, #global> {tile.name = "B", tile.dims = ["", ""], tile.role = "in"},
    %C: memref<32x48xf32, #global> {tile.name = "C", tile.dims = ["", ""], tile.role = "out"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1 : i32
  tile.grid (%block) = (%c1) {
    %a = tile.alloc "a" : memref<32x16xf32, #shared>
    %positions = tile.alloc "positions" : memref<32x16xi8, #shared>
    %b = tile.alloc "b" : memref<32x48xf32, #shared>
    %acc = tile.alloc "acc" : memref<32x48xf32, #fragment>
    tile.load %A[%c0, %c0] into %a : memref<32x16xf32, #global>, memref<32x16xf32, #shared>
    tile.load %Choice[%c0, %c0] into %positions : memref<32x16xi8, #global>, memref<32x16xi8, #shared>
    tile.load %B[%c0, %c0] into %b : memref<32x48xf32, #global>, memref<32x48xf32, #shared>
    tile.map (%p, %q) in [32, 16] {
      %v = tile.read %positions[%p, %q] : memref<32x16xi8, #shared> -> i32
      %right = arith.andi %v, %one : i32
      %column = arith.index_cast %q : index to i32
      %odd = arith.andi %column, %one : i32
      %pair = arith.shli %odd, %one : i32
      %place = arith.ori %pair, %right : i32
      tile.write %place, %positions[%p, %q] : i32, memref<32x16xi8, #shared>
    }
    tile.sparse_gemm %a, %positions, %b, %acc clear
        : memref<32x16xf32, #shared>, memref<32x16xi8, #shared>, memref<32x48xf32, #shared>,
          memref<32x48xf32, #fragment>
    tile.store %acc into %C[%c0, %c0] : memref<32x48xf32, #fragment>, memref<32x48xf32, #global>
  }
}
