// Describe the problem, choose a configuration, find its kernel, launch it on views.
#include "deep_accel/kernels/gemm/gemm.h"

#include <array>
#include <string>
#include <utility>

#include "deep_accel/base/error.h"
#include "deep_accel/kernels/gemm/choose.h"
#include "deep_accel/kernels/gemm/kernels.h"
#include "deep_accel/kernels/gemm/problem.h"
#include "deep_accel/runtime/kernel.h"

namespace deep_accel {
namespace {

using namespace kernels;

// The view of three dimensions that a kernel takes, `offset` elements after the matrix's start.
Tensor view(const Matrix& m, Layout layout, int64_t batch, int64_t rows, int64_t columns, int64_t offset) {
  const int64_t step = m.batch_strides.empty() ? 0 : m.batch_strides[m.batch_strides.size() - 1];
  const Tensor& t = m.tensor;
  const bool turned = layout == Layout::columns;
  const Dims shape{batch, turned ? columns : rows, turned ? rows : columns};
  const Dims strides{step, turned ? m.column_stride : m.row_stride, turned ? m.row_stride : m.column_stride};
  if (batch * rows * columns == 0) return Tensor::empty(t.dtype(), shape);
  return Tensor::from_buffer(t.buffer(), t.dtype(), shape, strides, t.offset() + offset);
}

class Launcher {
 public:
  Launcher(const GemmProblem& problem, const Kernel& kernel, const GemmOptions& options)
      : p_(problem), kernel_(kernel), options_(options) {
    launch_.threads = options.threads;
    launch_.interrupted = options.interrupted;
  }

  // All products; the axes of the batch before the last one by one.
  void run(int axis, const std::array<int64_t, 4>& offsets) const {
    if (axis >= p_.batch.size() - 1) return one(offsets);
    for (int64_t i = 0; i < p_.batch[axis]; ++i) {
      run(axis + 1,
          {offsets[0] + i * p_.a.batch_strides[axis], offsets[1] + i * p_.b.batch_strides[axis],
           offsets[2] + i * p_.out.batch_strides[axis], offsets[3] + (p_.c ? i * p_.c->batch_strides[axis] : 0)});
    }
  }

 private:
  void one(const std::array<int64_t, 4>& offsets) const {
    const GemmKind& kind = p_.kind;
    const GemmSizes& s = p_.sizes;
    std::array<Argument, 7> arguments{0, 0, 0, 0, 0, 0, 0};
    size_t count = 0;
    arguments[count++] = view(p_.a, kind.a_layout, s.batch, s.m, s.k, offsets[0]);
    arguments[count++] = view(p_.b, kind.b_layout, s.batch, s.k, s.n, offsets[1]);
    if (kind.addend == Addend::separate) {
      arguments[count++] = view(*p_.c, kind.c_layout, s.batch, s.m, s.n, offsets[3]);
    }
    if (p_.bias) arguments[count++] = *p_.bias;
    arguments[count++] = view(p_.out, kind.out_layout, s.batch, s.m, s.n, offsets[2]);
    if (kind.scaled) arguments[count++] = number(options_.alpha);
    if (p_.c) arguments[count++] = number(options_.beta);
    launch(kernel_, std::span<const Argument>(arguments.data(), count), launch_);
  }

  Argument number(double value) const {
    return is_integer(p_.kind.out) ? Argument(static_cast<int64_t>(value)) : Argument(value);
  }

  const GemmProblem& p_;
  const Kernel& kernel_;
  const GemmOptions& options_;
  LaunchOptions launch_;
};

}  // namespace

Activation parse_activation(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, Activation>, 5> kNames{{{"none", Activation::none},
                                                                           {"relu", Activation::relu},
                                                                           {"gelu", Activation::gelu},
                                                                           {"gelu_tanh", Activation::gelu_tanh},
                                                                           {"silu", Activation::silu}}};
  for (const auto& [name, activation] : kNames) {
    if (name == text) return activation;
  }
  throw ValueError("gemm: option 'activation': none, relu, gelu, gelu_tanh or silu expected, got '" +
                   std::string(text) + "'");
}

Tensor gemm(const Tensor& a, const Tensor& b, const GemmOptions& options) {
  const GemmProblem problem = describe_gemm(a, b, options);
  if (problem.result.size() == 0) return problem.result;
  const Kernel& kernel = gemm_kernel(choose_gemm(problem.kind, problem.sizes, options.tile_size));
  Launcher(problem, kernel, options).run(0, {0, 0, 0, 0});
  return problem.result;
}

}  // namespace deep_accel
