// softmax(Q K^T / 6) V for heads of 36 numbers, without the matrix of scores: the running maximum and sum of each row
// correct what was collected so far. Keys beyond the last get a score of -1e30.
tile.kernel @attention(%Q: memref<?x36xf32, #tile.space<global>> {tile.name = "Q", tile.dims = ["M", ""], tile.role = "in"},
                       %K: memref<?x36xf32, #tile.space<global>> {tile.name = "K", tile.dims = ["N", ""], tile.role = "in"},
                       %V: memref<?x36xf32, #tile.space<global>> {tile.name = "V", tile.dims = ["N", ""], tile.role = "in"},
                       %O: memref<?x36xf32, #tile.space<global>> {tile.name = "O", tile.dims = ["M", ""], tile.role = "out"}) {
  %M = tile.dim "M"
  %N = tile.dim "N"
  %some = arith.constant 1 : index
  %enough = arith.cmpi uge, %N, %some : index
  tile.assume %enough
  %c0 = arith.constant 0 : index
  %c11 = arith.constant 11 : index
  %c19 = arith.constant 19 : index
  %zero = arith.constant 0.0 : f32
  %low = arith.constant -1.0e30 : f32
  %factor_of_scores = arith.constant 0.24044917348 : f32
  %blocks = arith.ceildivsi %M, %c11 : index
  tile.grid (%b) = (%blocks) {
    %i = arith.muli %b, %c11 : index
    %q = tile.alloc "q" : memref<11x36xf32, #tile.space<shared>>
    %k = tile.alloc "k" : memref<19x36xf32, #tile.space<shared>>
    %v = tile.alloc "v" : memref<19x36xf32, #tile.space<shared>>
    %scores = tile.alloc "scores" : memref<11x19xf32, #tile.space<shared>>
    %acc = tile.alloc "acc" : memref<11x36xf32, #tile.space<fragment>>
    %top = tile.alloc "top" : memref<11xf32, #tile.space<fragment>>
    %before = tile.alloc "before" : memref<11xf32, #tile.space<fragment>>
    %factor = tile.alloc "factor" : memref<11xf32, #tile.space<fragment>>
    %part = tile.alloc "part" : memref<11xf32, #tile.space<fragment>>
    %total = tile.alloc "total" : memref<11xf32, #tile.space<fragment>>
    tile.load %Q[%i, %c0] into %q : memref<?x36xf32, #tile.space<global>>, memref<11x36xf32, #tile.space<shared>>
    tile.fill %acc, %zero : memref<11x36xf32, #tile.space<fragment>>, f32
    tile.fill %total, %zero : memref<11xf32, #tile.space<fragment>>, f32
    tile.fill %top, %low : memref<11xf32, #tile.space<fragment>>, f32
    tile.pipeline %at = %c0 to %N step %c19 stages(2) {
      tile.load %K[%at, %c0] into %k : memref<?x36xf32, #tile.space<global>>, memref<19x36xf32, #tile.space<shared>>
      tile.load %V[%at, %c0] into %v : memref<?x36xf32, #tile.space<global>>, memref<19x36xf32, #tile.space<shared>>
      tile.gemm %q, %k, %scores transpose_b clear : memref<11x36xf32, #tile.space<shared>>, memref<19x36xf32, #tile.space<shared>>, memref<11x19xf32, #tile.space<shared>>
      tile.map (%r, %c) in [11, 19] {
        %s = tile.read %scores[%r, %c] : memref<11x19xf32, #tile.space<shared>> -> f32
        %column = arith.addi %at, %c : index
        %there = arith.cmpi ult, %column, %N : index
        %scaled = arith.mulf %s, %factor_of_scores : f32
        %kept = arith.select %there, %scaled, %low : f32
        tile.write %kept, %scores[%r, %c] : f32, memref<11x19xf32, #tile.space<shared>>
      }
      tile.copy %top to %before : memref<11xf32, #tile.space<fragment>>, memref<11xf32, #tile.space<fragment>>
      tile.reduce max %scores into %top dim 1 : memref<11x19xf32, #tile.space<shared>>, memref<11xf32, #tile.space<fragment>>
      tile.map (%r) in [11] {
        %x = tile.read %before[%r] : memref<11xf32, #tile.space<fragment>> -> f32
        %y = tile.read %top[%r] : memref<11xf32, #tile.space<fragment>> -> f32
        %d = arith.subf %x, %y : f32
        %e = math.exp2 %d : f32
        tile.write %e, %factor[%r] : f32, memref<11xf32, #tile.space<fragment>>
      }
      tile.map (%r, %c) in [11, 19] {
        %s = tile.read %scores[%r, %c] : memref<11x19xf32, #tile.space<shared>> -> f32
        %y = tile.read %top[%r] : memref<11xf32, #tile.space<fragment>> -> f32
        %d = arith.subf %s, %y : f32
        %e = math.exp2 %d : f32
        tile.write %e, %scores[%r, %c] : f32, memref<11x19xf32, #tile.space<shared>>
      }
      tile.reduce add %scores into %part dim 1 clear : memref<11x19xf32, #tile.space<shared>>, memref<11xf32, #tile.space<fragment>>
      tile.map (%r) in [11] {
        %x = tile.read %total[%r] : memref<11xf32, #tile.space<fragment>> -> f32
        %f = tile.read %factor[%r] : memref<11xf32, #tile.space<fragment>> -> f32
        %p = tile.read %part[%r] : memref<11xf32, #tile.space<fragment>> -> f32
        %y = arith.mulf %x, %f : f32
        %z = arith.addf %y, %p : f32
        tile.write %z, %total[%r] : f32, memref<11xf32, #tile.space<fragment>>
      }
      tile.map (%r, %c) in [11, 36] {
        %x = tile.read %acc[%r, %c] : memref<11x36xf32, #tile.space<fragment>> -> f32
        %f = tile.read %factor[%r] : memref<11xf32, #tile.space<fragment>> -> f32
        %y = arith.mulf %x, %f : f32
        tile.write %y, %acc[%r, %c] : f32, memref<11x36xf32, #tile.space<fragment>>
      }
      tile.gemm %scores, %v, %acc : memref<11x19xf32, #tile.space<shared>>, memref<19x36xf32, #tile.space<shared>>, memref<11x36xf32, #tile.space<fragment>>
    }
    tile.map (%r, %c) in [11, 36] {
      %x = tile.read %acc[%r, %c] : memref<11x36xf32, #tile.space<fragment>> -> f32
      %t = tile.read %total[%r] : memref<11xf32, #tile.space<fragment>> -> f32
      %y = arith.divf %x, %t : f32
      tile.write %y, %acc[%r, %c] : f32, memref<11x36xf32, #tile.space<fragment>>
    }
    tile.store %acc into %O[%i, %c0] : memref<11x36xf32, #tile.space<fragment>>, memref<?x36xf32, #tile.space<global>>
  }
}
