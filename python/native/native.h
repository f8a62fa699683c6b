// What the files of the native module share.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>

#include "deep_accel/runtime/tensor.h"
#include "deep_accel/tile/builder.h"

namespace nb = nanobind;

namespace deep_accel::python {

void bind_errors(nb::module_& m);
void bind_tensor(nb::module_& m);
void bind_runtime(nb::module_& m);
void bind_kernel(nb::module_& m);
void bind_scalar(nb::module_& m);
void bind_builder(nb::module_& m);
void bind_place(nb::module_& m);
void bind_gemm(nb::module_& m);

// arrays.cpp: any object with a buffer, an __array_interface__ or __dlpack__, without a copy. Unless `keep`, the caller
// keeps the object alive for as long as the tensor. Throws TypeError.
Tensor tensor_from_object(nb::handle object, bool keep = true);
// A dtype from our DType, its name, a NumPy dtype or a type like np.float32.
DType dtype_from_object(nb::handle object);

// kernel.cpp: runs Python's handlers of signals that came; whether one of them raised (KeyboardInterrupt).
bool signalled();

// scalar.cpp: a Scalar, a number, or an object with __tile_scalar__().
tile::Scalar scalar_from_object(nb::handle object);
bool is_scalar_like(nb::handle object);

// place.cpp: the innermost line of Python outside of this package.
tile::Builder::Place current_place();
// The builder of the state with that place.
tile::Builder at_current_place(const std::shared_ptr<tile::BuilderState>& state);

// A parameter that takes whatever scalar_from_object takes.
struct AnyScalar {
  tile::Scalar scalar;
};

inline tile::Scalars scalars(const std::vector<AnyScalar>& values) {
  tile::Scalars result;
  for (const AnyScalar& value : values) result.push_back(value.scalar);
  return result;
}

struct AnyDType {
  DType dtype = DType::f32;
};

}  // namespace deep_accel::python

namespace nanobind::detail {

template <>
struct type_caster<deep_accel::python::AnyScalar> {
  bool from_python(handle source, uint32_t, cleanup_list*) noexcept {
    if (!deep_accel::python::is_scalar_like(source)) return false;
    try {
      value.scalar = deep_accel::python::scalar_from_object(source);
    } catch (...) {
      PyErr_Clear();
      return false;
    }
    return true;
  }
  NB_TYPE_CASTER(deep_accel::python::AnyScalar, const_name("Scalar | float"))
};

template <>
struct type_caster<deep_accel::python::AnyDType> {
  bool from_python(handle source, uint32_t, cleanup_list*) noexcept {
    try {
      value.dtype = deep_accel::python::dtype_from_object(source);
    } catch (...) {
      PyErr_Clear();
      return false;
    }
    return true;
  }
  NB_TYPE_CASTER(deep_accel::python::AnyDType, const_name("DType | str"))
};

}  // namespace nanobind::detail
