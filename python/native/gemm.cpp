// deep_accel.gemm, on tensors.
#include "deep_accel/kernels/gemm/gemm.h"

#include "deep_accel/base/error.h"
#include "python/native/native.h"

namespace deep_accel::python {

namespace {

Tensor operand(nb::handle object, const char* argument) {
  try {
    return tensor_from_object(object, /*keep=*/false);
  } catch (const TypeError& error) {
    throw TypeError(std::string("gemm: argument '") + argument + "': " + error.what());
  }
}

std::optional<Tensor> optional_operand(nb::handle object, const char* argument) {
  if (object.is_none()) return std::nullopt;
  return operand(object, argument);
}

std::optional<DType> optional_dtype(nb::handle object) {
  if (object.is_none()) return std::nullopt;
  return dtype_from_object(object);
}

Tensor multiply(nb::handle a, nb::handle b, nb::handle c, nb::handle out, double alpha, double beta, nb::handle bias,
                const std::optional<std::string>& activation, bool trans_a, bool trans_b, nb::handle precision,
                nb::handle out_dtype, std::optional<int64_t> tile_size, std::optional<int> threads) {
  GemmOptions options;
  const Tensor left = operand(a, "a"), right = operand(b, "b");
  options.c = optional_operand(c, "c");
  options.out = optional_operand(out, "out");
  options.bias = optional_operand(bias, "bias");
  options.alpha = alpha, options.beta = beta;
  if (activation) options.activation = parse_activation(*activation);
  options.trans_a = trans_a, options.trans_b = trans_b;
  options.precision = optional_dtype(precision);
  options.out_dtype = optional_dtype(out_dtype);
  if (tile_size && *tile_size < 1) {
    throw ValueError("gemm: option 'tile_size': a number above 0 expected, got " + std::to_string(*tile_size));
  }
  options.tile_size = tile_size.value_or(0);
  if (threads && *threads < 1) {
    throw ValueError("gemm: option 'threads': a number above 0 expected, got " + std::to_string(*threads));
  }
  options.threads = threads.value_or(0);
  options.interrupted = signalled;
  nb::gil_scoped_release release;
  return gemm(left, right, options);
}

}  // namespace

void bind_gemm(nb::module_& m) {
  m.def("gemm", &multiply, nb::arg("a"), nb::arg("b"), nb::arg("c").none(), nb::arg("out").none(), nb::arg("alpha"),
        nb::arg("beta"), nb::arg("bias").none(), nb::arg("activation").none(), nb::arg("trans_a"), nb::arg("trans_b"),
        nb::arg("precision").none(), nb::arg("out_dtype").none(), nb::arg("tile_size").none(),
        nb::arg("threads").none(), "A matrix product; see deep_accel.gemm.");
}

}  // namespace deep_accel::python
