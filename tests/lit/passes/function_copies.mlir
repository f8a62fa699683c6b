// RUN: deepaccel tile opt %s --target x86-64-avx2 --stop-after lower-kernels | FileCheck %s
// RUN: deepaccel tile opt %s --target x86-64-avx512 --stop-after lower-kernels | FileCheck %s --check-prefix=ONE
// Where registers are few, several vectors go through an elementary function side by side, as one long vector, which
// LLVM cuts operation by operation; what is left goes through in vectors of the machine, then element by element. Sums
// are cut in vectors between the loops.

#frag = #tile.space<fragment>
#shared = #tile.space<shared>
#global = #tile.space<global>

// CHECK-LABEL: func.func @exponentials_phase0
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}) -> (vector<32xf32>)
// CHECK: math.exp %{{.*}} : vector<32xf32>
// CHECK: arith.addf %{{.*}}, %{{.*}} : vector<32xf32>
// CHECK-COUNT-4: vector.extract_strided_slice %{{.*}} : vector<32xf32> to vector<8xf32>
// CHECK: math.exp %{{.*}} : vector<8xf32>
// CHECK: math.exp %{{.*}} : f32
// ONE-LABEL: func.func @exponentials_phase0
// ONE-NOT: vector<32xf32>
// ONE: math.exp %{{.*}} : vector<16xf32>
tile.kernel @exponentials(%X: memref<107xf32, #global> {tile.name = "X", tile.dims = [""], tile.role = "in"},
                          %Y: memref<1xf32, #global> {tile.name = "Y", tile.dims = [""], tile.role = "out"}) {
  %c1 = arith.constant 1 : index
  tile.grid (%g) = (%c1) {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %sum = tile.alloc "sum" : memref<1xf32, #frag>
    tile.fill %sum, %zero : memref<1xf32, #frag>, f32
    tile.map (%i) in [107] {
      %v = tile.read %X[%i] : memref<107xf32, #global> -> f32
      %e = math.exp %v : f32
      tile.combine add %e, %sum[%c0] : f32, memref<1xf32, #frag>
    }
    tile.store %sum into %Y[%c0] : memref<1xf32, #frag>, memref<1xf32, #global>
  }
}
