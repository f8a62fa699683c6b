// What the combinations of reductions, scans and `tile.combine` do, as operations on scalars and vectors.
#pragma once

#include "deep_accel/tile/ir/dialect.h"

namespace deep_accel::compile {

// combine(a, b) of scalars or vectors. A NaN gives way to the other operand unless `propagate_nan`. `never_nan`: a is
// known to be a number, which saves instructions.
mlir::Value combined(mlir::ImplicitLocOpBuilder& builder, tile::Combine kind, mlir::Value a, mlir::Value b,
                     bool propagate_nan = false, bool never_nan = false);

// The scalar that combines without effect.
mlir::TypedAttr identity(mlir::Builder& builder, tile::Combine kind, mlir::Type type);

// The combination that is left of absadd and absmax once magnitudes are taken.
tile::Combine without_magnitude(tile::Combine kind);

}  // namespace deep_accel::compile
