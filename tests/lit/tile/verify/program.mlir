// Every message about whole programs: what may stand where.
// RUN: tile-opt %s --verify-program --split-input-file --verify-diagnostics
// expected-error @+1 {{'arith.constant' op stands beside kernels; a program holds tile.kernel alone}}
%n = arith.constant 1 : index

// -----

// expected-error @+1 {{'builtin.module' op stands beside kernels; a program holds tile.kernel alone}}
module {
}
module {
}

// -----

tile.kernel @k() {
  %n = arith.constant 1 : index
  // expected-error @+1 {{'scf.parallel' op is not known in kernels, which take tile, arith, math and index operations, and scf.for, scf.while, scf.if and scf.index_switch}}
  scf.parallel (%i) = (%n) to (%n) step (%n) {
  }
}

// -----

tile.kernel @k() {
  // expected-error @+1 {{gives a value of type 'i128'; kernels compute with scalars of up to 64 bits, and only tile operations give buffers}}
  %n = arith.constant 1 : i128
}

// -----

tile.kernel @k(%v: f32 {tile.name = "v"}) {
  %n = arith.constant 1 : index
  %yes = arith.constant true
  tile.grid (%b) = (%n) {
    %s = tile.alloc "s" : memref<8xf32, #tile.space<shared>>
    %t = tile.alloc "t" : memref<8xf32, #tile.space<shared>>
    // expected-error @+1 {{'arith.select' op gives a value of type 'memref<8xf32, #tile.space<shared>>'}}
    %r = arith.select %yes, %s, %t : memref<8xf32, #tile.space<shared>>
  }
}

// -----

tile.kernel @k() {
  %n = arith.constant 1 : index
  tile.grid (%b) = (%n) {
    tile.map (%i) in [8] {
      // expected-error @+1 {{'tile.map' op stands in tile.map, whose body is for single points; put it before or after the map, or loop over its elements with scf.for}}
      tile.map (%j) in [8] {
      }
    }
  }
}

// -----

tile.kernel @k() {
  %n = arith.constant 1 : index
  tile.grid (%b) = (%n) {
    tile.threads (%t) in [8] {
      // expected-error @+1 {{'tile.pipeline' op stands in tile.threads, where each thread would do the whole of it; put it before or after}}
      tile.pipeline %k = %n to %n step %n stages(2) {
      }
    }
  }
}

// -----

tile.kernel @k(%A: memref<8xf32, #tile.space<global>> {tile.name = "A", tile.dims = [""], tile.role = "in"}) {
  %n = arith.constant 1 : index
  // expected-error @+1 {{'tile.read' op stands outside tile.grid, where sizes are computed but nothing is read or written}}
  %v = tile.read %A[%n] : memref<8xf32, #tile.space<global>> -> f32
}

// -----

tile.kernel @k() {
  %n = arith.constant 8 : index
  tile.grid (%b) = (%n) {
    %s = tile.alloc "s" : memref<4x8xf32, #tile.space<shared>>
    tile.map (%i) in [4] {
      // expected-error @+1 {{reaches outside 's': index 8 in dimension 1, which has room for 0 to 7}}
      %v = tile.read %s[%i, %n] : memref<4x8xf32, #tile.space<shared>> -> f32
    }
  }
}

// -----

tile.kernel @k() {
  %n = arith.constant 2 : index
  tile.grid (%b) = (%n) {
    %s = tile.alloc "s" : memref<4x8xf32, #tile.space<shared>>
    // expected-error @+1 {{'tile.slice' op reaches outside 's': index 2 in dimension 0, which has room for 0 to 1}}
    %v = tile.slice %s[%n, %n] : memref<4x8xf32, #tile.space<shared>> to memref<3x2xf32, strided<[8, 1], offset: ?>, #tile.space<shared>>
  }
}

// -----

// What may never run is not an error.
tile.kernel @k(%yes: i1 {tile.name = "yes"}) {
  %n = arith.constant 8 : index
  tile.grid (%b) = (%n) {
    %s = tile.alloc "s" : memref<8xf32, #tile.space<shared>>
    scf.if %yes {
      %v = tile.read %s[%n] : memref<8xf32, #tile.space<shared>> -> f32
    }
  }
}

// -----

tile.kernel @k() {
  // expected-error @+1 {{gives a value of type 'i0'; kernels compute with scalars of up to 64 bits}}
  %n = arith.constant 0 : i0
}

// -----

// What passes leave is not for programs to say.
tile.kernel @k() {
  %n = arith.constant 1 : index
  tile.grid (%b) = (%n) {
    // expected-error @+1 {{'tile.alloc' op has the attribute tile.offset, which the compiler's passes may set, and programs do not; leave it out}}
    %s = tile.alloc "s" {tile.offset = 0 : i64} : memref<8xf32, #tile.space<shared>>
  }
}

// -----

// expected-error @+1 {{'tile.kernel' op has the attribute tile.decisions, which the compiler's passes may set, and programs do not; leave it out}}
tile.kernel @k() attributes {tile.sizes = {}, tile.decisions = 7} {
  %n = arith.constant 1 : index
}
