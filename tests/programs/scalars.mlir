// Scalar code and control flow, checks, and code for threads.
#g = #tile.space<global>
#s = #tile.space<shared>
#l = #tile.space<local>

tile.kernel @functions(%X: memref<?xf32, #g> {tile.name = "X", tile.dims = ["N"], tile.role = "in"},
                       %Y: memref<?xf32, #g> {tile.name = "Y", tile.dims = ["N"], tile.role = "out"},
                       %alpha: f32 {tile.name = "alpha"}) {
  %N = tile.dim "N"
  %c16 = arith.constant 16 : index
  %half = arith.constant 0.5 : f32
  %blocks = arith.ceildivsi %N, %c16 : index
  tile.grid (%b) = (%blocks) {
    %i = arith.muli %b, %c16 : index
    %x = tile.alloc "x" : memref<16xf32, #s>
    tile.load %X[%i] into %x : memref<?xf32, #g>, memref<16xf32, #s>
    tile.map (%j) in [16] {
      %v = tile.read %x[%j] : memref<16xf32, #s> -> f32
      %a = math.absf %v : f32
      %p = arith.addf %a, %half : f32
      %e = math.tanh %v : f32
      %l = math.log %p : f32
      %q = math.sqrt %p : f32
      %r = math.rsqrt %p : f32
      %s = math.sin %v : f32
      %o = math.erf %v : f32
      %w = math.powf %p, %alpha : f32
      %1 = arith.addf %e, %l : f32
      %2 = math.fma %q, %r, %1 : f32
      %3 = arith.subf %2, %s : f32
      %4 = arith.maximumf %3, %o : f32
      %5 = arith.divf %4, %p : f32
      %6 = arith.addf %5, %w : f32
      tile.write %6, %x[%j] : f32, memref<16xf32, #s>
    }
    tile.store %x into %Y[%i] : memref<16xf32, #s>, memref<?xf32, #g>
  }
}

tile.kernel @control(%N: index {tile.name = "n"}, %flag: i1 {tile.name = "flag"},
                     %Y: memref<32xi64, #g> {tile.name = "Y", tile.dims = [""], tile.role = "out"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c32 = arith.constant 32 : index
  %one = arith.constant 1 : i64
  %three = arith.constant 3 : i64
  %few = arith.cmpi sle, %N, %c32 : index
  tile.assert %few, "n is at most 32"
  tile.assume %few
  tile.grid (%b) = (%c32) {
    %x = tile.alloc "x" : memref<1xi64, #l>
    // Collatz: how many steps from the block's number to one.
    %start = arith.addi %b, %c1 : index
    %first = arith.index_cast %start : index to i64
    %zero = arith.constant 0 : i64
    %end:2 = scf.while (%v = %first, %n = %zero) : (i64, i64) -> (i64, i64) {
      %more = arith.cmpi ugt, %v, %one : i64
      scf.condition(%more) %v, %n : i64, i64
    } do {
    ^bb0(%v: i64, %n: i64):
      %bit = arith.andi %v, %one : i64
      %odd = arith.cmpi eq, %bit, %one : i64
      %next = scf.if %odd -> (i64) {
        %t = arith.muli %v, %three : i64
        %u = arith.addi %t, %one : i64
        scf.yield %u : i64
      } else {
        %h = arith.shrui %v, %one : i64
        scf.yield %h : i64
      }
      %m = arith.addi %n, %one : i64
      scf.yield %next, %m : i64, i64
    }
    %kind = index.remu %b, %c3
    %chosen = scf.index_switch %kind -> i64
    case 0 {
      scf.yield %end#1 : i64
    }
    case 1 {
      %d = arith.select %flag, %end#0, %three : i64
      scf.yield %d : i64
    }
    default {
      %d = scf.for %k = %c0 to %N step %c2 iter_args(%s = %zero) -> (i64) {
        %t = arith.addi %s, %one : i64
        scf.yield %t : i64
      }
      scf.yield %d : i64
    }
    tile.write %chosen, %x[%c0] : i64, memref<1xi64, #l>
    tile.store %x into %Y[%b] : memref<1xi64, #l>, memref<32xi64, #g>
    tile.print "block {} of {}: ", %b, %N, %chosen : index, index, i64
  }
}

// A sum over the threads by halves, then by shuffles; votes.
tile.kernel @threads(%X: memref<?xf32, #g> {tile.name = "X", tile.dims = ["N"], tile.role = "in"},
                     %S: memref<?xf32, #g> {tile.name = "S", tile.dims = ["P"], tile.role = "out"},
                     %V: memref<?xi32, #g> {tile.name = "V", tile.dims = ["P"], tile.role = "out"})
    attributes {tile.sizes = {N = [0, 100], P = [2, 2]}} {
  %N = tile.dim "N"
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant 0.0 : f32
  tile.grid (%b) = (%c2) {
    %x = tile.alloc "x" : memref<64xf32, #s>
    %start = arith.muli %b, %c32 : index
    tile.load %X[%start] into %x : memref<?xf32, #g>, memref<64xf32, #s>
    tile.threads (%t) in [64] {
      %own = tile.alloc "own" : memref<1xf32, #l>
      %v = tile.read %x[%t] : memref<64xf32, #s> -> f32
      tile.write %v, %own[%c0] : f32, memref<1xf32, #l>
      tile.barrier
      %upper = arith.addi %t, %c32 : index
      %low = arith.cmpi slt, %t, %c32 : index
      scf.if %low {
        %o = tile.read %x[%upper] : memref<64xf32, #s> -> f32
        %s = arith.addf %v, %o : f32
        tile.write %s, %x[%t] : f32, memref<64xf32, #s>
      }
      tile.barrier
      %mine = tile.read %x[%t] : memref<64xf32, #s> -> f32
      %start_lane = arith.constant 16 : i32
      %end_lane = arith.constant 0 : i32
      %one = arith.constant 1 : i32
      %lane, %total = scf.while (%l = %start_lane, %a = %mine) : (i32, f32) -> (i32, f32) {
        %more = arith.cmpi sgt, %l, %end_lane : i32
        scf.condition(%more) %l, %a : i32, f32
      } do {
      ^bb0(%l: i32, %a: f32):
        %other = tile.shuffle xor %a, %l width 32 : f32
        %s = arith.addf %a, %other : f32
        %half = arith.shrsi %l, %one : i32
        scf.yield %half, %s : i32, f32
      }
      %kept = tile.read %own[%c0] : memref<1xf32, #l> -> f32
      %positive = arith.cmpf ogt, %kept, %zero : f32
      %count = tile.vote count %positive width 64
      %leader = arith.cmpi eq, %t, %c0 : index
      scf.if %leader {
        tile.write %total, %S[%b] : f32, memref<?xf32, #g>
        tile.write %count, %V[%b] : i32, memref<?xi32, #g>
      }
    }
  }
}
