// Products at the edge of tensors: what lies outside is not computed.
#pragma once

#include "deep_accel/tile/ir/dialect.h"

namespace deep_accel::compile {

// Gives products `live` rows, columns and depth where the tensors may end inside the tile. Rows and columns of the sums
// end where every store of them, or of what is made of them element by element, drops the rest; K ends where the loads
// of both factors only fill with zeros.
void limit_products(tile::KernelOp kernel);

}  // namespace deep_accel::compile
