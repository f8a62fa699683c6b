// The two directions; the older and the versioned structure share everything but their frame.
#include "deep_accel/runtime/dlpack.h"

#include <memory>

#include "deep_accel/base/error.h"

namespace deep_accel::dlpack {
namespace {

DataType to_data_type(DType dtype) {
  auto width = static_cast<uint8_t>(bits(dtype));
  switch (dtype) {
    case DType::f64:
    case DType::f32:
    case DType::f16:
      return {kFloat, width, 1};
    case DType::bf16:
      return {kBfloat, width, 1};
    case DType::f8e4m3:
      return {kFloat8E4m3fn, width, 1};
    case DType::f8e5m2:
      return {kFloat8E5m2, width, 1};
    case DType::f4e2m1:
      return {kFloat4E2m1fn, width, 1};
    case DType::u8:
      return {kUInt, width, 1};
    case DType::boolean:
      return {kBool, width, 1};
    default:
      return {kInt, width, 1};
  }
}

DType from_data_type(DataType type) {
  if (type.lanes == 1) {
    for (DType dtype : all_dtypes()) {
      DataType ours = to_data_type(dtype);
      if (ours.code == type.code && ours.bits == type.bits) return dtype;
    }
  }
  throw TypeError("DLPack type code " + std::to_string(type.code) + " of " + std::to_string(type.bits) + " bits and " +
                  std::to_string(type.lanes) + " lanes is not supported; convert the tensor before handing it over");
}

// What the structure's pointers point to, and the share in the memory.
template <typename Managed>
struct Export {
  Tensor tensor;
  Dims shape, strides;
  Managed managed{};
};

template <typename Managed>
Managed* make(const Tensor& tensor) {
  if (is_packed(tensor.dtype()) && !tensor.is_contiguous()) {
    throw ShapeError("a packed " + tensor.description() +
                     " can be handed over only when contiguous; call contiguous()");
  }
  auto made = std::make_unique<Export<Managed>>();
  made->tensor = tensor;
  made->shape = tensor.shape();
  made->strides = tensor.strides();
  made->managed.dl_tensor = {.data = tensor.data(),
                             .device = {kCpu, 0},
                             .ndim = tensor.rank(),
                             .dtype = to_data_type(tensor.dtype()),
                             .shape = made->shape.begin(),
                             .strides = made->strides.begin(),
                             .byte_offset = 0};
  made->managed.manager_ctx = made.get();
  made->managed.deleter = [](Managed* self) { delete static_cast<Export<Managed>*>(self->manager_ctx); };
  return &made.release()->managed;
}

template <typename Managed>
Tensor take(Managed* managed, bool writable) {
  const DLTensor& from = managed->dl_tensor;
  // Pinned host memory of other vendors would do too, but nobody here could say when their queue has finished with it.
  if (from.device.device_type != kCpu) {
    throw UnsupportedError("a DLPack tensor on device type " + std::to_string(from.device.device_type) +
                           " cannot be used; copy it to the CPU first");
  }
  DType dtype = from_data_type(from.dtype);
  if (from.ndim < 0 || (from.ndim > 0 && !from.shape)) throw ValueError("a DLPack tensor has no shape");
  auto dims = [&](const int64_t* values) { return Dims(std::span(values, static_cast<size_t>(from.ndim))); };
  std::optional<Dims> strides;
  if (from.strides) strides = dims(from.strides);
  Tensor probe;  // everything that can throw comes before the structure is taken over
  void* data = static_cast<char*>(from.data) + from.byte_offset;
  Dims shape = from.ndim ? dims(from.shape) : Dims();
  probe = Tensor::from_memory(data, dtype, shape, strides, nullptr, writable);
  return Tensor::from_memory(
      data, dtype, shape, strides,
      [managed] {
        if (managed->deleter) managed->deleter(managed);
      },
      writable);
}

}  // namespace

DLManagedTensor* to_dlpack(const Tensor& tensor) {
  if (!tensor.writable()) {
    throw ValueError("read-only memory cannot be handed over by DLPack before version 1.0; copy() it first");
  }
  return make<DLManagedTensor>(tensor);
}

DLManagedTensorVersioned* to_dlpack_versioned(const Tensor& tensor) {
  DLManagedTensorVersioned* managed = make<DLManagedTensorVersioned>(tensor);
  managed->version = {kMajorVersion, kMinorVersion};
  managed->flags = tensor.writable() ? 0 : kFlagReadOnly;
  return managed;
}

Tensor from_dlpack(DLManagedTensor* managed) {
  if (!managed) throw ValueError("the DLPack tensor is null");
  return take(managed, true);
}

Tensor from_dlpack(DLManagedTensorVersioned* managed) {
  if (!managed) throw ValueError("the DLPack tensor is null");
  // Another major version may have laid out the rest differently.
  if (managed->version.major != kMajorVersion) {
    throw UnsupportedError("DLPack version " + std::to_string(managed->version.major) + " is not supported; expected " +
                           std::to_string(kMajorVersion));
  }
  if (managed->dl_tensor.dtype.bits < 8 && (managed->flags & kFlagSubbytePadded)) {
    throw UnsupportedError("DLPack tensors with sub-byte elements padded to bytes are not supported; pack them first");
  }
  return take(managed, !(managed->flags & kFlagReadOnly));
}

}  // namespace deep_accel::dlpack
