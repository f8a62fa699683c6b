// Every message of the verifiers of code for threads.
// RUN: tile-opt %s --split-input-file --verify-diagnostics
// expected-error @+1 {{'tile.threads' op expects 1 to 3 extents, got 4}}
tile.threads (%a, %b, %c, %d) in [1, 1, 1, 1] {
}

// -----

// expected-error @+1 {{expects positive extents of at most 4096 threads together, got 128x64}}
tile.threads (%a, %b) in [128, 64] {
}

// -----

// expected-error @+1 {{expects positive extents of at most 4096 threads together, got 0}}
tile.threads (%a) in [0] {
}

// -----

tile.threads (%a) in [8] {
  // expected-error @+1 {{stands in another tile.threads; give one of them up to three extents}}
  tile.threads (%b) in [8] {
  }
}

// -----

tile.kernel @k() {
  // expected-error @+1 {{stands outside tile.grid; threads belong to a block}}
  tile.threads (%b) in [8] {
  }
}

// -----

// expected-error @+1 {{'tile.threads' op expects 2 arguments of type index in its region, got 1}}
tile.threads (%a) in [8, 8] {
}

// -----

tile.kernel @k() {
  %n = arith.constant 1 : index
  tile.grid (%b) = (%n) {
    // expected-error @+1 {{'tile.barrier' op stands in tile.grid; it belongs in tile.threads, at the top or in scf.for, scf.while and scf.if}}
    tile.barrier
  }
}

// -----

tile.kernel @k(%yes: i1 {tile.name = "yes"}) {
  %n = arith.constant 1 : index
  tile.grid (%b) = (%n) {
    tile.threads (%t) in [32] {
      tile.map (%i) in [4] {
        // expected-error @+1 {{'tile.vote' op stands in tile.map}}
        %any = tile.vote any %yes
      }
    }
  }
}

// -----

tile.threads (%t) in [32] {
  // expected-error @+1 {{has id -1; ids are not negative}}
  tile.barrier id -1
}

// -----

tile.threads (%t) in [32] {
  // expected-error @+1 {{has a count but no id; name the barrier of a part of the threads by an id}}
  tile.barrier count 4
}

// -----

tile.threads (%t) in [32] {
  // expected-error @+1 {{expects count to be 1 to 32, the number of threads, got 33}}
  tile.barrier id 0 count 33
}

// -----

%lane = arith.constant 1 : i32
tile.threads (%t) in [32] {
  // expected-error @+1 {{'tile.shuffle' op expects width to be a power of two from 1 to 1024, got 24}}
  %o = tile.shuffle xor %lane, %lane width 24 : i32
}

// -----

%yes = arith.constant true
tile.threads (%t) in [32] {
  // expected-error @+1 {{'tile.vote' op expects width to be a power of two from 1 to 1024, got -1}}
  %o = tile.vote all %yes width -1
}

// -----

tile.kernel @k() {
  %v = arith.constant 0 : i32
  %n = arith.constant 1 : index
  tile.grid (%b) = (%n) {
    // expected-error @+1 {{'tile.shuffle' op stands in tile.grid}}
    %o = tile.shuffle up %v, %v : i32
  }
}
