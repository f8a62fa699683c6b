// Elements, products, reductions, scans, atomics.
#include "deep_accel/tile/interpreter/decode.h"

namespace deep_accel::tile::interpreter {

namespace {

ElementType element_of(mlir::Value buffer) {
  return element_type(mlir::cast<mlir::MemRefType>(buffer.getType()).getElementType());
}

// A matrix in the accumulator's compute type, read once.
struct Matrix {
  int64_t rows = 0, columns = 0;
  std::vector<Scalar> elements;
  const Scalar& at(int64_t row, int64_t column) const { return elements[static_cast<size_t>(row * columns + column)]; }
};

Matrix read_matrix(Thread& t, Slot slot, bool transposed, const ScalarType& to, Site site) {
  const View& view = t.views[slot];
  Matrix matrix;
  matrix.rows = view.sizes[transposed ? 1 : 0];
  matrix.columns = view.sizes[transposed ? 0 : 1];
  for_each_index({matrix.rows, matrix.columns}, [&](const Indices& index) {
    const int64_t at = transposed ? place(view, {index[1], index[0]}) : place(view, index);
    matrix.elements.push_back(converted(t.machine.read(view, at, site), view.element.compute, to));
  });
  return matrix;
}

// Multiplies each element by the scale of its block.
void scale(Matrix& matrix, const Matrix& scales, const ScalarType& type) {
  const int64_t block_rows = matrix.rows / scales.rows, block_columns = matrix.columns / scales.columns;
  for_each_index({matrix.rows, matrix.columns}, [&](const Indices& index) {
    Scalar& element = matrix.elements[static_cast<size_t>(index[0] * matrix.columns + index[1])];
    element = combined(type, Combine::mul, element, scales.at(index[0] / block_rows, index[1] / block_columns), false);
  });
}

// acc += a . b. In floats the sum may be taken in any order: its rounding is bounded by n u times the sum of the
// absolute products, where n counts the products and the additions (Higham, section 3.1).
// `flushes`: denormal factors and sums may count as zero, too.
void multiply_matrices(Thread& t, const Matrix& a, const Matrix& b, const View& acc, bool clear, bool flushes,
                       Site site) {
  constexpr double least_normal = 0x1p-126;  // of f32 and of bf16
  const ScalarType& type = acc.element.compute;
  t.machine.count_steps(a.rows * a.columns * b.columns);
  for_each_index({a.rows, b.columns}, [&](const Indices& index) {
    const int64_t at = place(acc, index);
    uint32_t origin = 0;
    for (int64_t k = 0; k < a.columns && origin == 0; ++k) {
      const uint32_t of_a = a.at(index[0], k).origin, of_b = b.at(k, index[1]).origin;
      origin = of_a != 0 ? of_a : of_b;
    }
    if (!type.is_float) {
      uint64_t sum = 0;
      double error = 0;
      for (int64_t k = 0; k < a.columns; ++k) {
        const Scalar &x = a.at(index[0], k), &y = b.at(k, index[1]);
        sum += static_cast<uint64_t>(x.integer) * static_cast<uint64_t>(y.integer);
        error = std::max({error, x.error, y.error});
      }
      Scalar total = Scalar::of_integer(wrap(static_cast<int64_t>(sum), type.width), error);
      if (origin != 0) total = Scalar::undefined(origin);
      if (!clear) total = combined(type, Combine::add, t.machine.read(acc, at, site), total, false);
      return t.machine.write(acc, at, total, site);
    }
    double sum = 0, magnitude = 0, error = 0;
    for (int64_t k = 0; k < a.columns; ++k) {
      const Scalar &x = a.at(index[0], k), &y = b.at(k, index[1]);
      const double product = x.real * y.real;
      sum += product;
      magnitude += std::abs(product);
      error += product_error(x, y);
      if (flushes && product != 0) {
        const bool lost = std::abs(x.real) < least_normal || std::abs(y.real) < least_normal;
        error += least_normal + (lost ? std::abs(product) : 0);
      }
    }
    Scalar total = Scalar::of_real(sum, std::isnan(error) ? kUnknown : error);
    total.origin = origin;
    t.machine.accumulate(acc, at, total, magnitude, a.columns + 1, clear, site);
  });
}

}  // namespace

void Decoder::gemm(GemmOp op) {
  const bool scaled_factors = static_cast<bool>(op.getScaleA());
  emit(op, [a_slot = view_slot(op.getA()), b_slot = view_slot(op.getB()), acc_slot = view_slot(op.getAcc()),
            scale_a = scaled_factors ? view_slot(op.getScaleA()) : 0,
            scale_b = scaled_factors ? view_slot(op.getScaleB()) : 0, scaled_factors, transpose_a = op.getTransposeA(),
            flushes = !scaled_factors && op.getA().getType().getElementType().isBF16() &&
                      op.getB().getType().getElementType().isBF16() &&
                      compute_type(op.getAcc().getType().getElementType()).isF32(),
            transpose_b = op.getTransposeB(), clear = op.getClear(), type = element_of(op.getAcc()).compute,
            site = site(op)](Thread& t) {
    Matrix a = read_matrix(t, a_slot, transpose_a, type, site), b = read_matrix(t, b_slot, transpose_b, type, site);
    if (scaled_factors) {
      scale(a, read_matrix(t, scale_a, false, type, site), type);
      scale(b, read_matrix(t, scale_b, false, type, site), type);
    }
    multiply_matrices(t, a, b, t.views[acc_slot], clear, flushes, site);
  });
}

void Decoder::sparse_gemm(SparseGemmOp op) {
  emit(op, [a_slot = view_slot(op.getA()), positions_slot = view_slot(op.getPositions()), b_slot = view_slot(op.getB()),
            acc_slot = view_slot(op.getAcc()), transpose_b = op.getTransposeB(), clear = op.getClear(),
            type = element_of(op.getAcc()).compute, site = site(op), operation = op.getOperation()](Thread& t) {
    const Matrix packed = read_matrix(t, a_slot, false, type, site);
    const View& positions = t.views[positions_slot];
    Matrix a{packed.rows, 2 * packed.columns, {}};
    const Scalar zero = type.is_float ? Scalar::of_real(0) : Scalar::of_integer(0);
    a.elements.assign(static_cast<size_t>(a.rows * a.columns), zero);
    for_each_index({packed.rows, packed.columns}, [&](const Indices& index) {
      const Scalar read = t.machine.read(positions, place(positions, index), site);
      const int64_t position = t.machine.decided(read, operation, "a position of a sparse factor");
      if (position < 0 || position > 3) {
        fail<IndexError>(operation, "position " + std::to_string(position) + " at " + text(index) + " of " +
                                        positions.memory->name + " is outside its group of four (0 to 3)");
      }
      if (index[1] % 2 == 1) {
        const Scalar before = t.machine.read(positions, place(positions, {index[0], index[1] - 1}), site);
        if (t.machine.decided(before, operation, "a position of a sparse factor") == position) {
          fail<ValueError>(operation, "position " + std::to_string(position) +
                                          " stands twice in the group that ends at " + text(index) + " of " +
                                          positions.memory->name +
                                          "; the two elements of a group have places of their own");
        }
      }
      a.elements[static_cast<size_t>(index[0] * a.columns + index[1] / 2 * 4 + position)] =
          packed.at(index[0], index[1]);
    });
    multiply_matrices(t, a, read_matrix(t, b_slot, transpose_b, type, site), t.views[acc_slot], clear,
                      /*flushes=*/false, site);
  });
}

void Decoder::reduce(ReduceOp op) {
  const bool keeps_dim = op.getDest().getType().getRank() == op.getSource().getType().getRank();
  emit(op, [source_slot = view_slot(op.getSource()), dest_slot = view_slot(op.getDest()), combine = op.getCombine(),
            dim = static_cast<int64_t>(op.getDim()), keeps_dim, clear = op.getClear(),
            propagate_nan = op.getPropagateNan(), site = site(op)](Thread& t) {
    const View &source = t.views[source_slot], &dest = t.views[dest_slot];
    const ScalarType& type = dest.element.compute;
    if (clear) {
      for_each_index(dest.sizes, [&](const Indices& index) {
        t.machine.write(dest, place(dest, index), identity(type, combine), site);
      });
    }
    for_each_index(source.sizes, [&](const Indices& index) {
      Indices where(index);
      if (keeps_dim) {
        where[static_cast<size_t>(dim)] = 0;
      } else {
        where.erase(where.begin() + dim);
      }
      const Scalar value = converted(t.machine.read(source, place(source, index), site), source.element.compute, type);
      t.machine.combine(dest, place(dest, where), combine, value, propagate_nan, /*atomic=*/false, site);
    });
  });
}

void Decoder::scan(ScanOp op) {
  emit(op, [source_slot = view_slot(op.getSource()), dest_slot = view_slot(op.getDest()), combine = op.getCombine(),
            dim = static_cast<size_t>(op.getDim()), reverse = op.getReverse(), exclusive = op.getExclusive(),
            site = site(op)](Thread& t) {
    const View &source = t.views[source_slot], &dest = t.views[dest_slot];
    const ScalarType& type = dest.element.compute;
    const int64_t length = source.sizes[dim];
    Indices others(source.sizes);
    others[dim] = 1;
    for_each_index(others, [&](const Indices& line) {
      Scalar running = identity(type, combine);
      double magnitude = 0, propagated = 0;
      for (int64_t number = 0; number < length; ++number) {
        Indices index(line);
        index[dim] = reverse ? length - 1 - number : number;
        const int64_t from = place(source, index);
        const Scalar value = converted(t.machine.read(source, from, site), source.element.compute, type);
        Scalar next = combined(type, combine, running, value, /*propagate_nan=*/false);
        if (type.is_float && (combine == Combine::add) && next.origin == 0) {
          // Partial sums may be formed in any grouping, as in a sum.
          magnitude += std::abs(value.real);
          propagated += value.error;
          const bool exact =
              running.error == 0 && next.error == 0 && std::trunc(value.real) == value.real && magnitude < 0x1p24;
          if (!exact && next.error < kUnknown && std::isfinite(magnitude)) {
            next.error = propagated + static_cast<double>(number) * unit_roundoff(type.dtype) * magnitude;
          }
        }
        t.machine.write(dest, place(dest, index), exclusive ? running : next, site);
        running = next;
      }
    });
  });
}

bool Decoder::compute(mlir::Operation* op) {
  if (auto read = mlir::dyn_cast<ReadOp>(op)) {
    emit(op, [view = view_slot(read.getBuffer()), at = slots(read.getIndices()), to = slot(read.getValue()),
              site = site(op), op](Thread& t) {
      const int64_t where = t.machine.position(t.views[view], indices(t, at, op), site, "reads");
      t.scalars[to] = t.machine.read(t.views[view], where, site);
    });
  } else if (auto write = mlir::dyn_cast<WriteOp>(op)) {
    emit(op, [view = view_slot(write.getBuffer()), at = slots(write.getIndices()), value = slot(write.getValue()),
              site = site(op), op](Thread& t) {
      const int64_t where = t.machine.position(t.views[view], indices(t, at, op), site, "writes");
      t.machine.write(t.views[view], where, t.scalars[value], site);
    });
  } else if (auto combine_op = mlir::dyn_cast<CombineOp>(op)) {
    emit(op, [view = view_slot(combine_op.getBuffer()), at = slots(combine_op.getIndices()),
              value = slot(combine_op.getValue()), combine = combine_op.getCombine(),
              propagate_nan = combine_op.getPropagateNan(), site = site(op), op](Thread& t) {
      const int64_t where = t.machine.position(t.views[view], indices(t, at, op), site, "combines into");
      t.machine.combine(t.views[view], where, combine, t.scalars[value], propagate_nan, /*atomic=*/false, site);
    });
  } else if (auto atomic = mlir::dyn_cast<AtomicOp>(op)) {
    emit(op, [view = view_slot(atomic.getBuffer()), at = slots(atomic.getIndices()), value = slot(atomic.getValue()),
              combine = atomic.getCombine(), to = slot(atomic.getPrevious()), site = site(op), op](Thread& t) {
      const int64_t where = t.machine.position(t.views[view], indices(t, at, op), site, "updates");
      Scalar previous = t.machine.combine(t.views[view], where, combine, t.scalars[value], /*propagate_nan=*/false,
                                          /*atomic=*/true, site);
      // Others may come before or after.
      if (t.machine.concurrent(*t.views[view].memory)) previous.error = kUnknown;
      t.scalars[to] = previous;
    });
  } else if (auto gemm_op = mlir::dyn_cast<GemmOp>(op)) {
    gemm(gemm_op);
  } else if (auto sparse = mlir::dyn_cast<SparseGemmOp>(op)) {
    sparse_gemm(sparse);
  } else if (auto reduce_op = mlir::dyn_cast<ReduceOp>(op)) {
    reduce(reduce_op);
  } else if (auto scan_op = mlir::dyn_cast<ScanOp>(op)) {
    scan(scan_op);
  } else {
    return false;
  }
  return true;
}

}  // namespace deep_accel::tile::interpreter
