// deep_accel.Tensor and deep_accel.DType.
#include "deep_accel/base/error.h"
#include "deep_accel/base/numeric.h"
#include "deep_accel/runtime/dlpack.h"
#include "python/native/native.h"

namespace deep_accel::python {

namespace {

nb::tuple tuple_of(const Dims& dims) {
  nb::list list;
  for (int64_t value : dims) list.append(value);
  return nb::tuple(list);
}

// NumPy's spelling of the memory; types that NumPy lacks as plain bytes of their width.
nb::dict array_interface(const Tensor& tensor) {
  static constexpr const char* kFormats[] = {"<f8", "<f4", "<f2", "<V2", "|V1", "|V1", "|V1",
                                             "<i8", "<i4", "<i2", "|i1", "|V1", "|u1", "|b1"};
  if (is_packed(tensor.dtype())) {
    throw TypeError("NumPy cannot view packed " + std::string(name(tensor.dtype())) +
                    "; use numpy(), which unpacks a copy");
  }
  nb::dict result;
  nb::list strides;
  for (int64_t stride : tensor.strides()) strides.append(stride * (bits(tensor.dtype()) / 8));
  result["version"] = 3;
  result["shape"] = tuple_of(tensor.shape());
  result["strides"] = nb::tuple(strides);
  result["typestr"] = kFormats[static_cast<int>(tensor.dtype())];
  result["data"] = nb::make_tuple(reinterpret_cast<uintptr_t>(tensor.data()), !tensor.writable());
  return result;
}

template <typename Managed>
void drop(PyObject* capsule, const char* name) {
  if (!PyCapsule_IsValid(capsule, name)) return;  // somebody has taken it over
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, name));
  if (managed && managed->deleter) managed->deleter(managed);
}

nb::object to_capsule(const Tensor& tensor, nb::handle stream, std::optional<std::pair<int, int>> max_version,
                      std::optional<std::pair<int, int>> dl_device, std::optional<bool> copy) {
  if (!stream.is_none()) throw ValueError("__dlpack__: 'stream' must be None for memory of the CPU");
  if (dl_device && *dl_device != std::pair(1, 0)) {
    PyErr_SetString(PyExc_BufferError, "__dlpack__: tensors live on the CPU, device (1, 0)");
    throw nb::python_error();
  }
  const Tensor source = copy.value_or(false) ? tensor.copy() : tensor;
  if (max_version && max_version->first >= 1) {
    return nb::steal(PyCapsule_New(dlpack::to_dlpack_versioned(source), "dltensor_versioned", [](PyObject* capsule) {
      drop<dlpack::DLManagedTensorVersioned>(capsule, "dltensor_versioned");
    }));
  }
  return nb::steal(PyCapsule_New(dlpack::to_dlpack(source), "dltensor",
                                 [](PyObject* capsule) { drop<dlpack::DLManagedTensor>(capsule, "dltensor"); }));
}

Tensor index(const Tensor& tensor, nb::handle key) {
  const nb::tuple keys = nb::isinstance<nb::tuple>(key) ? nb::borrow<nb::tuple>(key) : nb::make_tuple(key);
  Tensor view = tensor;
  int axis = 0;
  for (nb::handle entry : keys) {
    if (axis >= view.rank()) throw IndexError("too many indices for " + tensor.description());
    if (PySlice_Check(entry.ptr())) {
      auto part = [&](const char* which) {
        nb::object value = entry.attr(which);
        return value.is_none() ? std::optional<int64_t>() : nb::cast<int64_t>(value);
      };
      view = view.slice(axis, part("start"), part("stop"), part("step").value_or(1));
      ++axis;
    } else {
      view = view.select(axis, nb::cast<int64_t>(entry));
    }
  }
  return view;
}

}  // namespace

void bind_tensor(nb::module_& m) {
  nb::enum_<DType> dtype(m, "DType", "The element types of tensors and kernels.");
  for (DType value : all_dtypes()) dtype.value(std::string(name(value)).c_str(), value);

  m.def("parse_dtype", &dtype_from_object, nb::arg("dtype"),
        "The DType of a name ('float16', 'bf16', ...), a NumPy dtype, or a DType. Raises TypeError.");
  m.def("dtype_name", [](AnyDType d) { return std::string(name(d.dtype)); }, nb::arg("dtype"));
  m.def("dtype_bits", [](AnyDType d) { return bits(d.dtype); }, nb::arg("dtype"));
  m.def("is_float", [](AnyDType d) { return is_float(d.dtype); }, nb::arg("dtype"));
  m.def(
      "largest", [](AnyDType d) { return largest(d.dtype); }, nb::arg("dtype"), "The largest finite value of a dtype.");
  m.def(
      "decode", [](AnyDType d, uint64_t pattern) { return decode(d.dtype, pattern); }, nb::arg("dtype"),
      nb::arg("pattern"), "The value of a bit pattern.");
  m.def(
      "encode", [](AnyDType d, double value) { return encode(d.dtype, value); }, nb::arg("dtype"), nb::arg("value"),
      "The bit pattern of a value, rounded to nearest even.");

  nb::class_<Tensor>(m, "Tensor", "An array of one dtype: shape, strides and a share in memory. Indexing makes views.")
      .def_static(
          "empty", [](std::vector<int64_t> shape, AnyDType d) { return Tensor::empty(d.dtype, shape); },
          nb::arg("shape"), nb::arg("dtype") = "f32", "A new tensor with undefined contents.")
      .def_static(
          "zeros", [](std::vector<int64_t> shape, AnyDType d) { return Tensor::zeros(d.dtype, shape); },
          nb::arg("shape"), nb::arg("dtype") = "f32", "A new tensor of zeros.")
      .def_static(
          "full",
          [](std::vector<int64_t> shape, double value, AnyDType d) { return Tensor::full(d.dtype, shape, value); },
          nb::arg("shape"), nb::arg("value"), nb::arg("dtype") = "f32", "A new tensor of one value.")
      .def_static(
          "_from_object", [](nb::handle object) { return tensor_from_object(object); }, nb::arg("object"))
      .def_prop_ro("dtype", &Tensor::dtype, "The element type.")
      .def_prop_ro(
          "shape", [](const Tensor& t) { return tuple_of(t.shape()); }, "The sizes.")
      .def_prop_ro(
          "strides", [](const Tensor& t) { return tuple_of(t.strides()); }, "The strides, in elements.")
      .def_prop_ro("ndim", &Tensor::rank, "The number of dimensions.")
      .def_prop_ro("size", &Tensor::size, "The number of elements.")
      .def_prop_ro("nbytes", &Tensor::bytes, "The bytes that the elements take when contiguous.")
      .def_prop_ro("writable", &Tensor::writable, "Whether the memory may be written.")
      .def_prop_ro("is_contiguous", &Tensor::is_contiguous, "Row-major without gaps.")
      .def_prop_ro(
          "data_ptr", [](const Tensor& t) { return reinterpret_cast<uintptr_t>(t.data()); },
          "The address of the first element.")
      .def_prop_ro("__array_interface__", &array_interface)
      .def(
          "reshape", [](const Tensor& t, std::vector<int64_t> shape) { return t.reshape(shape); }, nb::arg("shape"),
          "A view of another shape; one size may be -1.")
      .def("transpose", &Tensor::transpose, nb::arg("axis0") = -2, nb::arg("axis1") = -1,
           "A view with two axes swapped.")
      .def(
          "permute", [](const Tensor& t, std::vector<int64_t> axes) { return t.permute(axes); }, nb::arg("axes"),
          "A view with the axes in another order.")
      .def(
          "expand", [](const Tensor& t, std::vector<int64_t> shape) { return t.expand(shape); }, nb::arg("shape"),
          "A view in which axes of size 1 are repeated.")
      .def("contiguous", &Tensor::contiguous, "This tensor where contiguous, else a copy that is.")
      .def("copy", &Tensor::copy, "A new contiguous tensor with the same values.")
      .def(
          "to", [](const Tensor& t, AnyDType d) { return t.to(d.dtype); }, nb::arg("dtype"),
          "This tensor where it has that dtype, else a converted copy.")
      .def(
          "copy_from", [](const Tensor& t, nb::handle source) { t.copy_from(tensor_from_object(source)); },
          nb::arg("source"), "Write another array's elements into this memory, converting and broadcasting.")
      .def("fill", &Tensor::fill, nb::arg("value"), "Set every element.")
      .def("tolist", &Tensor::values, "All elements in row-major order, as floats.")
      .def("__getitem__", &index, nb::arg("key"))
      .def("__len__", [](const Tensor& t) { return t.dim(0); })
      .def("__repr__", [](const Tensor& t) { return "deep_accel.Tensor(" + t.description() + ")"; })
      .def("__dlpack__", &to_capsule, nb::kw_only(), nb::arg("stream") = nb::none(),
           nb::arg("max_version") = nb::none(), nb::arg("dl_device") = nb::none(), nb::arg("copy") = nb::none())
      .def("__dlpack_device__", [](const Tensor&) { return std::pair(1, 0); });
}

}  // namespace deep_accel::python
