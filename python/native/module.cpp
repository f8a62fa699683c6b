// The native module deep_accel._native.
#include "python/native/native.h"

NB_MODULE(_native, m) {
  using namespace deep_accel::python;
  m.doc() = "The compiled part of DeepAccel; use it through the package deep_accel.";
  m.attr("__version__") = DEEP_ACCEL_VERSION;
  bind_errors(m);
  bind_place(m);
  bind_tensor(m);
  bind_runtime(m);
  bind_scalar(m);
  bind_builder(m);
  bind_kernel(m);
  bind_gemm(m);
}
