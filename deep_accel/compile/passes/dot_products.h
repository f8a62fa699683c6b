// Products by instructions that multiply and add several neighbours along K at once: four integers of 8 bits into one
// of 32, two bf16 into one f32. The factors then lie in words of 32 bits, a group of such neighbours each.
#pragma once

#include <string>

#include "deep_accel/compile/target/target.h"
#include "deep_accel/tile/ir/dialect.h"

namespace deep_accel::compile {

// How many neighbours along K one instruction takes; 1: the target has none for this product.
int64_t dot_group(tile::GemmOp op, const Target& target);

// Whether the left factor can be read in words of `group` as it lies.
bool lies_in_words(mlir::Value left, bool transposed, int64_t group);

// Whether tile registers can multiply, `group` neighbours at a time: all of K in their rows.
bool fits_tile_registers(tile::GemmOp op, int64_t group, const Target& target);

// The name of the instruction, for decisions.
std::string dot_name(tile::GemmOp op, const Target& target, bool tile_registers);

}  // namespace deep_accel::compile
