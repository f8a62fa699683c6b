// Small programs that several tests compile.
#pragma once

namespace deep_accel::test {

// Sums the products of rows of A with B, 16 columns of C a block; 4 steps of 8 along K.
inline constexpr const char* kProductProgram = R"mlir(
tile.kernel @product(%A: memref<?x32xf16, #tile.space<global>> {tile.name = "A", tile.dims = ["M", ""], tile.role = "in"},
                     %B: memref<32x16xf32, #tile.space<global>> {tile.name = "B", tile.dims = ["", ""], tile.role = "in"},
                     %C: memref<?x16xf32, #tile.space<global>> {tile.name = "C", tile.dims = ["M", ""], tile.role = "inout"},
                     %alpha: f32 {tile.name = "alpha"}) {
  %M = tile.dim "M"
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  %blocks = arith.ceildivsi %M, %c8 : index
  tile.grid (%b) = (%blocks) attributes {order = #tile.order<swizzle, 4>} {
    %i = arith.muli %b, %c8 : index
    %a = tile.alloc "a" : memref<8x8xf32, #tile.space<shared>>
    %w = tile.alloc "w" : memref<8x16xf32, #tile.space<shared>>
    %acc = tile.alloc "acc" : memref<8x16xf32, #tile.space<fragment>>
    %zero = arith.constant 0.0 : f32
    tile.fill %acc, %zero : memref<8x16xf32, #tile.space<fragment>>, f32
    tile.pipeline %k = %c0 to %c32 step %c8 stages(2) {
      tile.load %A[%i, %k] into %a : memref<?x32xf16, #tile.space<global>>, memref<8x8xf32, #tile.space<shared>>
      tile.load %B[%k, %c0] into %w : memref<32x16xf32, #tile.space<global>>, memref<8x16xf32, #tile.space<shared>>
      tile.gemm %a, %w, %acc : memref<8x8xf32, #tile.space<shared>>, memref<8x16xf32, #tile.space<shared>>,
                               memref<8x16xf32, #tile.space<fragment>>
    }
    tile.map (%r, %c) in [8, 16] {
      %v = tile.read %acc[%r, %c] : memref<8x16xf32, #tile.space<fragment>> -> f32
      %s = arith.mulf %v, %alpha : f32
      tile.write %s, %acc[%r, %c] : f32, memref<8x16xf32, #tile.space<fragment>>
    }
    tile.store %acc into %C[%i, %c0] : memref<8x16xf32, #tile.space<fragment>>, memref<?x16xf32, #tile.space<global>>
  }
}
)mlir";

// 128 elements a block.
inline constexpr const char* kCopyProgram = R"mlir(
tile.kernel @copy(%A: memref<?xf32, #tile.space<global>> {tile.name = "A", tile.dims = ["N"], tile.role = "in"},
                  %B: memref<?xf32, #tile.space<global>> {tile.name = "B", tile.dims = ["N"], tile.role = "out"}) {
  %N = tile.dim "N"
  %c128 = arith.constant 128 : index
  %blocks = arith.ceildivsi %N, %c128 : index
  tile.grid (%b) = (%blocks) {
    %i = arith.muli %b, %c128 : index
    %t = tile.alloc "t" : memref<128xf32, #tile.space<shared>>
    tile.load %A[%i] into %t : memref<?xf32, #tile.space<global>>, memref<128xf32, #tile.space<shared>>
    tile.store %t into %B[%i] : memref<128xf32, #tile.space<shared>>, memref<?xf32, #tile.space<global>>
  }
}
)mlir";

// Calls a function of the host in each of n blocks, in two phases; n above 5 is refused.
inline constexpr const char* kExternProgram = R"mlir(
tile.kernel @count(%n: index {tile.name = "n"}) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c5 = arith.constant 5 : index
  tile.grid (%b) = (%n) {
    %fits = arith.cmpi sle, %n, %c5 : index
    tile.assert %fits, "n is at most five"
    tile.extern @test_count_call(%c1) : (index) -> ()
  }
  tile.grid (%b) = (%n) {
    tile.extern @test_count_call(%c2) : (index) -> ()
  }
}
)mlir";

}  // namespace deep_accel::test
