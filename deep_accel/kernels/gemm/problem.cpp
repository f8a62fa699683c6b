#include "deep_accel/kernels/gemm/problem.h"

#include <array>
#include <cmath>
#include <utility>

#include "deep_accel/base/error.h"

namespace deep_accel::kernels {
namespace {

std::string text(DType dtype) { return std::string(name(dtype)); }

bool is_operand(DType dtype) {
  switch (dtype) {
    case DType::f64:
    case DType::f32:
    case DType::f16:
    case DType::bf16:
    case DType::i8:
    case DType::u8:
      return true;
    default:
      return false;
  }
}

void require_operand(const char* argument, DType dtype) {
  if (is_operand(dtype)) return;
  throw TypeError(std::string("gemm: argument '") + argument + "': f64, f32, f16, bf16, i8 or u8 expected, got " +
                  text(dtype) + "; convert it to one of them");
}

void choose_types(GemmKind& kind, DType a, DType b, const GemmOptions& options) {
  require_operand("a", a);
  require_operand("b", b);
  const bool integers = is_integer(a);
  if (is_integer(b) != integers || (!integers && a != b)) {
    throw TypeError("gemm: argument 'b': " + (integers ? "i8 or u8" : text(a)) + " expected, as 'a' is " + text(a) +
                    ", got " + text(b) + "; convert one of them");
  }
  kind.a = a, kind.b = b, kind.multiply_a = a, kind.multiply_b = b;
  if (options.precision) {
    const DType wanted = *options.precision;
    if (integers || !is_operand(wanted) || is_integer(wanted)) {
      throw TypeError("gemm: option 'precision': " +
                      (integers ? "none expected, as products of 8-bit integers are exact, got "
                                : std::string("f64, f32, f16 or bf16 expected, got ")) +
                      text(wanted));
    }
    kind.multiply_a = kind.multiply_b = wanted;
  }
  kind.sum = integers ? DType::i32 : kind.multiply_a == DType::f64 ? DType::f64 : DType::f32;
  kind.out = options.out_dtype ? *options.out_dtype : options.out ? options.out->dtype() : integers ? DType::i32 : a;
  if (options.out && options.out->dtype() != kind.out) {
    throw TypeError("gemm: argument 'out': " + text(kind.out) + " expected, as 'out_dtype' says, got " +
                    options.out->description());
  }
  const bool plain_float = is_float(kind.out) && is_operand(kind.out);
  if (!plain_float && !(integers && kind.out == DType::i32)) {
    throw TypeError("gemm: option 'out_dtype': f64, f32, f16" + std::string(integers ? ", bf16 or i32" : " or bf16") +
                    " expected, got " + text(kind.out));
  }
}

void require_number(const GemmKind& kind, const char* option, double value) {
  if (!is_integer(kind.out) || (value == std::trunc(value) && std::abs(value) <= 0x1p31 - 1)) return;
  throw ValueError(std::string("gemm: option '") + option + "': an integer of 32 bits expected, as the output is " +
                   text(kind.out) + ", got " + std::to_string(value) + "; ask for out_dtype f32");
}

// The last two axes of a tensor, or its only one as a row or a column.
struct Sides {
  Dims batch, batch_strides;
  int64_t rows = 1, columns = 1, row_stride = 0, column_stride = 0;
};

Sides sides_of(const char* argument, const Tensor& t, bool transposed, bool vector_is_row) {
  Sides s;
  const int rank = t.rank();
  if (rank == 0) {
    throw ShapeError(std::string("gemm: argument '") + argument + "': at least 1 dimension expected, got " +
                     t.description() + "; reshape it to [1, 1]");
  }
  if (rank == 1) {
    s.rows = vector_is_row ? 1 : t.shape()[0];
    s.columns = vector_is_row ? t.shape()[0] : 1;
    s.row_stride = vector_is_row ? 0 : t.strides()[0];
    s.column_stride = vector_is_row ? t.strides()[0] : 0;
    return s;
  }
  for (int i = 0; i < rank - 2; ++i) s.batch.push_back(t.shape()[i]), s.batch_strides.push_back(t.strides()[i]);
  s.rows = t.shape()[rank - 2], s.columns = t.shape()[rank - 1];
  s.row_stride = t.strides()[rank - 2], s.column_stride = t.strides()[rank - 1];
  if (transposed) std::swap(s.rows, s.columns), std::swap(s.row_stride, s.column_stride);
  return s;
}

// Strides over the axes of `batch` of something whose own are the last of them.
Dims broadcast_strides(const Dims& shape, const Dims& strides, const Dims& batch) {
  Dims result = Dims::filled(batch.size(), 0);
  const int shift = batch.size() - shape.size();
  for (int i = 0; i < shape.size(); ++i) result[i + shift] = shape[i] == 1 ? 0 : strides[i];
  return result;
}

Dims broadcast_batches(const Tensor& a, const Tensor& b, const Sides& left, const Sides& right) {
  try {
    return broadcast_shapes(left.batch, right.batch);
  } catch (const ShapeError&) {
    throw ShapeError("gemm: argument 'b': axes before the last two that broadcast with those of 'a' expected, got a " +
                     a.description() + " and b " + b.description());
  }
}

// The output, or what is added to it: `argument` broadcast to the result.
Matrix like_result(const char* argument, const Tensor& c, const Tensor& result, int axes, bool vector_a,
                   bool vector_b) {
  Tensor view;
  try {
    view = c.expand(result.shape());
  } catch (const Error&) {
    throw ShapeError(std::string("gemm: argument '") + argument + "': a shape that broadcasts to " +
                     to_string(result.shape()) + " expected, got " + c.description());
  }
  Matrix m{c, Dims(), 0, 0};
  for (int i = 0; i < axes; ++i) m.batch_strides.push_back(view.strides()[i]);
  int axis = axes;
  if (!vector_a) m.row_stride = view.strides()[axis++];
  if (!vector_b) m.column_stride = view.strides()[axis];
  return m;
}

void check_output(const Tensor& out, const Dims& shape) {
  if (!(out.shape() == shape)) {
    throw ShapeError("gemm: argument 'out': shape " + to_string(shape) + " expected, got " + out.description());
  }
  if (!out.writable()) throw ValueError("gemm: argument 'out': its memory is read-only; give one that can be written");
  for (int i = 0; i < out.rank(); ++i) {
    if (out.strides()[i] == 0 && out.shape()[i] > 1 && out.size() > 0) {
      throw ValueError("gemm: argument 'out': dimension " + std::to_string(i) +
                       " repeats the same elements (stride 0); give a tensor with memory of its own");
    }
  }
}

void check_overlap(const Tensor& out, const char* argument, const Tensor& operand) {
  if (!out.overlaps(operand)) return;
  throw ValueError(std::string("gemm: argument 'out': memory of its own expected, but it shares some with '") +
                   argument + "'; give another output, or a copy() of '" + argument + "'");
}

Layout layout_of(int64_t rows, int64_t columns, int64_t row_stride, int64_t column_stride) {
  if (column_stride == 1 || columns == 1) return Layout::rows;
  if (row_stride == 1 || rows == 1) return Layout::columns;
  return Layout::any;
}

// The transposed product, out^T = b^T a^T.
void transpose(GemmProblem& p) {
  std::swap(p.a, p.b);
  std::swap(p.sizes.m, p.sizes.n);
  std::swap(p.kind.a, p.kind.b);
  std::swap(p.kind.multiply_a, p.kind.multiply_b);
  if (p.kind.bias_axis != BiasAxis::none) {
    p.kind.bias_axis = p.kind.bias_axis == BiasAxis::rows ? BiasAxis::columns : BiasAxis::rows;
  }
  auto turn = [](Matrix& m) { std::swap(m.row_stride, m.column_stride); };
  turn(p.a), turn(p.b), turn(p.out);
  if (p.c) turn(*p.c);
}

std::vector<Matrix*> matrices(GemmProblem& p) {
  std::vector<Matrix*> all{&p.a, &p.b, &p.out};
  if (p.c) all.push_back(&*p.c);
  return all;
}

void drop_axis(GemmProblem& p, int axis) {
  p.batch.erase(axis);
  for (Matrix* m : matrices(p)) m->batch_strides.erase(axis);
}

void merge_batches(GemmProblem& p) {
  for (int i = p.batch.size() - 1; i >= 0; --i) {
    if (p.batch[i] == 1) drop_axis(p, i);
  }
  for (int i = p.batch.size() - 2; i >= 0; --i) {
    bool regular = true;
    for (Matrix* m : matrices(p)) regular &= m->batch_strides[i] == m->batch_strides[i + 1] * p.batch[i + 1];
    if (!regular) continue;
    p.batch[i + 1] *= p.batch[i];
    drop_axis(p, i);
  }
  // Rows of one product instead of a product each: b is then packed once for all.
  while (!p.batch.empty() && p.kind.bias_axis != BiasAxis::rows) {
    const int last = p.batch.size() - 1;
    bool as_rows = p.b.batch_strides[last] == 0;
    for (Matrix* m : matrices(p)) {
      if (m == &p.b) continue;
      if (p.sizes.m == 1) {
        m->row_stride = as_rows ? m->batch_strides[last] : m->row_stride;
      } else {
        as_rows &= m->batch_strides[last] == m->row_stride * p.sizes.m;
      }
    }
    if (!as_rows) break;
    p.sizes.m *= p.batch[last];
    drop_axis(p, last);
  }
}

}  // namespace

GemmProblem describe_gemm(const Tensor& a, const Tensor& b, const GemmOptions& options) {
  GemmProblem p;
  choose_types(p.kind, a.dtype(), b.dtype(), options);
  const Sides left = sides_of("a", a, options.trans_a, true), right = sides_of("b", b, options.trans_b, false);
  if (left.columns != right.rows) {
    throw ShapeError("gemm: argument 'b': " + std::to_string(left.columns) + " rows expected (K), as 'a' is " +
                     a.description() + (options.trans_a ? " transposed" : "") + ", got " + b.description() +
                     (options.trans_b ? " transposed" : ""));
  }
  p.batch = broadcast_batches(a, b, left, right);
  p.sizes = {1, left.rows, right.columns, left.columns};
  Dims shape = p.batch;
  if (a.rank() > 1) shape.push_back(left.rows);
  if (b.rank() > 1) shape.push_back(right.columns);
  if (options.out) check_output(*options.out, shape);
  p.result = options.out ? *options.out : Tensor::empty(p.kind.out, shape);

  p.a = {a, broadcast_strides(left.batch, left.batch_strides, p.batch), left.row_stride, left.column_stride};
  p.b = {b, broadcast_strides(right.batch, right.batch_strides, p.batch), right.row_stride, right.column_stride};
  p.out = like_result("out", p.result, p.result, p.batch.size(), a.rank() == 1, b.rank() == 1);
  require_number(p.kind, "alpha", options.alpha);
  require_number(p.kind, "beta", options.beta);
  p.kind.scaled = options.alpha != 1;
  if (options.beta != 0) {
    if (!options.c) throw ValueError("gemm: argument 'c': a tensor expected, as 'beta' is not 0, got none");
    p.c = like_result("c", *options.c, p.result, p.batch.size(), a.rank() == 1, b.rank() == 1);
    const bool same = options.c->size() == p.result.size() && p.result.size() > 0 && options.c->dtype() == p.kind.out &&
                      options.c->data() == p.result.data() && options.c->strides() == p.result.strides();
    p.kind.addend = same ? Addend::in_place : Addend::separate;
    p.kind.c = options.c->dtype();
    if (p.kind.c != p.kind.out) require_operand("c", p.kind.c);
  }
  if (options.bias) {
    if (options.bias->rank() != 1 || options.bias->shape()[0] != right.columns) {
      throw ShapeError("gemm: argument 'bias': shape [" + std::to_string(right.columns) +
                       "] expected, a number for each column, got " + options.bias->description());
    }
    p.bias = options.bias;
    p.kind.bias_axis = BiasAxis::columns;
    p.kind.bias = options.bias->dtype();
    if (p.kind.bias != p.kind.out) require_operand("bias", p.kind.bias);
  }
  if (options.out) {
    check_overlap(p.result, "a", a);
    check_overlap(p.result, "b", b);
    if (p.kind.addend == Addend::separate) check_overlap(p.result, "c", *options.c);
    if (options.bias) check_overlap(p.result, "bias", *options.bias);
  }
  if (p.kind.out == DType::i32 && options.activation != Activation::none && options.activation != Activation::relu) {
    throw ValueError("gemm: option 'activation': none or relu expected, as the output is i32; ask for out_dtype f32");
  }
  p.kind.activation = options.activation;
  if (p.result.size() == 0) return p;

  if (p.sizes.m > 1 && p.sizes.n > 1 && p.out.row_stride == 1 && p.out.column_stride != 1) transpose(p);
  merge_batches(p);
  if (p.sizes.n <= kFewRows && p.sizes.m > kFewRows) transpose(p);
  if (!p.batch.empty()) p.sizes.batch = p.batch[p.batch.size() - 1];
  const GemmSizes& s = p.sizes;
  p.kind.a_layout = layout_of(s.m, s.k, p.a.row_stride, p.a.column_stride);
  p.kind.b_layout = layout_of(s.k, s.n, p.b.row_stride, p.b.column_stride);
  p.kind.out_layout = p.out.column_stride == 1 || s.n == 1 ? Layout::rows : Layout::any;
  if (p.c) p.kind.c_layout = layout_of(s.m, s.n, p.c->row_stride, p.c->column_stride);
  return p;
}

}  // namespace deep_accel::kernels
