// Arrays of other libraries as tensors, without copies: the buffer protocol, __array_interface__, DLPack.
#include <map>
#include <memory>

#include "deep_accel/base/error.h"
#include "deep_accel/runtime/dlpack.h"
#include "python/native/native.h"

namespace deep_accel::python {

namespace {

// The dtype of a buffer's format (struct module, native sizes), where we have it.
std::optional<DType> dtype_of_format(const char* format, Py_ssize_t itemsize) {
  if (!format) return DType::u8;
  if (*format == '@' || *format == '=' || *format == '<') ++format;
  if (!*format || format[1]) return std::nullopt;
  switch (*format) {
    case 'd':
      return DType::f64;
    case 'f':
      return DType::f32;
    case 'e':
      return DType::f16;
    case '?':
      return DType::boolean;
    case 'B':
      return DType::u8;
    case 'b':
      return DType::i8;
    case 'h':
      return DType::i16;
    case 'i':
    case 'l':
    case 'q':
      return itemsize == 8 ? DType::i64 : DType::i32;
    default:
      return std::nullopt;
  }
}

// Runs where the last share of the memory goes, on any thread.
std::function<void()> release_later(std::shared_ptr<Py_buffer> view) {
  return [view]() mutable {
    if (!Py_IsInitialized()) return;
    nb::gil_scoped_acquire gil;
    PyBuffer_Release(view.get());
  };
}

std::function<void()> forget_later(nb::handle object) {
  PyObject* pointer = object.inc_ref().ptr();
  return [pointer] {
    if (!Py_IsInitialized()) return;
    nb::gil_scoped_acquire gil;
    Py_DECREF(pointer);
  };
}

Dims strides_in_elements(const Py_ssize_t* bytes, const Dims& shape, Py_ssize_t itemsize) {
  Dims strides = row_major_strides(shape);
  for (int i = 0; bytes && i < shape.size(); ++i) {
    if (bytes[i] % itemsize != 0) {
      throw ShapeError("array: its stride of " + std::to_string(bytes[i]) + " bytes in dimension " + std::to_string(i) +
                       " is no multiple of the element's " + std::to_string(itemsize) + " bytes; make it contiguous");
    }
    strides[i] = bytes[i] / itemsize;
  }
  return strides;
}

std::optional<Tensor> from_buffer_protocol(nb::handle object, bool keep) {
  if (!PyObject_CheckBuffer(object.ptr())) return std::nullopt;
  auto view = std::make_shared<Py_buffer>();
  if (PyObject_GetBuffer(object.ptr(), view.get(), PyBUF_RECORDS_RO) != 0) {
    PyErr_Clear();
    return std::nullopt;
  }
  const auto dtype = dtype_of_format(view->format, view->itemsize);
  if (!dtype) {
    PyBuffer_Release(view.get());
    return std::nullopt;
  }
  try {
    Dims shape;
    for (int i = 0; i < view->ndim; ++i) shape.push_back(view->shape[i]);
    const Dims strides = strides_in_elements(view->strides, shape, view->itemsize);
    const bool writable = !view->readonly;
    if (keep) return Tensor::from_memory(view->buf, *dtype, shape, strides, release_later(view), writable);
    Tensor tensor = Tensor::from_memory(view->buf, *dtype, shape, strides, nullptr, writable);
    PyBuffer_Release(view.get());
    return tensor;
  } catch (...) {
    PyBuffer_Release(view.get());
    throw;
  }
}

// Dtypes that NumPy knows through ml_dtypes have no format; their arrays do have the interface.
std::optional<Tensor> from_array_interface(nb::handle object) {
  if (!nb::hasattr(object, "__array_interface__") || !nb::hasattr(object, "dtype")) return std::nullopt;
  const DType dtype = dtype_from_object(object.attr("dtype"));
  nb::dict interface = nb::cast<nb::dict>(object.attr("__array_interface__"));
  const auto itemsize = nb::cast<Py_ssize_t>(object.attr("dtype").attr("itemsize"));
  if (is_packed(dtype)) {
    throw TypeError("array: NumPy holds one " + std::string(name(dtype)) +
                    " a byte, our tensors two; use Tensor.from_numpy(array), which packs a copy");
  }
  if (nb::cast<std::string>(interface["typestr"]).starts_with('>')) {
    throw TypeError("array: its elements are big-endian; convert it with array.astype(array.dtype.newbyteorder('='))");
  }
  Dims shape;
  for (nb::handle size : nb::cast<nb::tuple>(interface["shape"])) shape.push_back(nb::cast<int64_t>(size));
  std::vector<Py_ssize_t> bytes;
  if (!nb::object(interface["strides"]).is_none()) {
    for (nb::handle stride : nb::cast<nb::tuple>(interface["strides"])) bytes.push_back(nb::cast<Py_ssize_t>(stride));
  }
  auto data = nb::cast<nb::tuple>(interface["data"]);
  return Tensor::from_memory(reinterpret_cast<void*>(nb::cast<uintptr_t>(data[0])), dtype, shape,
                             strides_in_elements(bytes.empty() ? nullptr : bytes.data(), shape, itemsize),
                             forget_later(object), !nb::cast<bool>(data[1]));
}

template <typename Managed>
Tensor take(nb::handle capsule, const char* before, const char* after) {
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule.ptr(), before));
  if (!managed) throw nb::python_error();
  // The other library's deleter may need the interpreter, on whatever thread ours runs.
  Tensor tensor = dlpack::from_dlpack(managed);
  PyCapsule_SetName(capsule.ptr(), after);
  return tensor;
}

std::optional<Tensor> from_dlpack_object(nb::handle object) {
  if (!nb::hasattr(object, "__dlpack__")) return std::nullopt;
  nb::object capsule;
  try {
    capsule = object.attr("__dlpack__")(nb::arg("max_version") = nb::make_tuple(1, 1));
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_TypeError)) throw;
    capsule = object.attr("__dlpack__")();
  }
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor_versioned")) {
    return take<dlpack::DLManagedTensorVersioned>(capsule, "dltensor_versioned", "used_dltensor_versioned");
  }
  return take<dlpack::DLManagedTensor>(capsule, "dltensor", "used_dltensor");
}

}  // namespace

DType dtype_from_object(nb::handle object) {
  DType dtype;
  if (nb::try_cast<DType>(object, dtype)) return dtype;
  if (nb::isinstance<nb::str>(object)) return parse_dtype(nb::cast<std::string>(object));
  // np.dtype has a name, np.float32 (a type) and torch.float32 have one in their text.
  nb::object name = nb::getattr(object, "name", nb::none());
  if (!nb::isinstance<nb::str>(name)) name = nb::getattr(object, "__name__", nb::none());
  std::string text =
      nb::isinstance<nb::str>(name) ? nb::cast<std::string>(name) : nb::cast<std::string>(nb::str(object));
  if (const size_t dot = text.rfind('.'); dot != std::string::npos) text = text.substr(dot + 1);
  return parse_dtype(text);
}

Tensor tensor_from_object(nb::handle object, bool keep) {
  Tensor* tensor = nullptr;
  if (nb::try_cast<Tensor*>(object, tensor) && tensor) return *tensor;
  if (auto result = from_buffer_protocol(object, keep)) return *result;
  if (auto result = from_array_interface(object)) return *result;
  if (auto result = from_dlpack_object(object)) return *result;
  throw TypeError("expected a tensor, a NumPy array or an object with __dlpack__, got " +
                  nb::cast<std::string>(nb::str(object.type())) + "; convert it with np.asarray");
}

}  // namespace deep_accel::python
