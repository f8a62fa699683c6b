// Which tiles of a grid hold values that somebody will still read, and so which may not share memory.
//
// Backward data flow over structured control flow. A tile is live where a later statement may read what it holds; a
// statement that covers a tile, and the tile's alloc, end its life upwards. Loops are iterated to a fixpoint over their
// back edges, so that a tile filled at the top of each iteration is dead from its last use to the next fill, wherever
// its alloc stands. A map, or the threads of a block, count as one statement.
#pragma once

#include "deep_accel/tile/ir/dialect.h"
#include "llvm/ADT/BitVector.h"

namespace deep_accel::compile {

struct Lifetimes {
  llvm::SmallVector<tile::AllocOp> tiles;        // in program order; those that outlive the block are left out
  llvm::SmallVector<llvm::BitVector> conflicts;  // conflicts[i][j]: tiles i and j may not share memory
};

Lifetimes find_lifetimes(tile::GridOp grid);

}  // namespace deep_accel::compile
