// DLPack (https://dmlc.github.io/dlpack, version 1.1): tensors to and from other libraries without a copy. The
// structures are declared here as the specification lays them out; they are an interface between binaries, so nothing
// may change.
#pragma once

#include <cstdint>

#include "deep_accel/runtime/tensor.h"

namespace deep_accel::dlpack {

inline constexpr uint32_t kMajorVersion = 1;
inline constexpr uint32_t kMinorVersion = 1;

enum DeviceType : int32_t { kCpu = 1 };

// Kinds of elements; the width in bits stands beside. From kFloat8E3m4 on new in version 1.1.
enum TypeCode : uint8_t {
  kInt = 0,
  kUInt = 1,
  kFloat = 2,
  kOpaqueHandle = 3,
  kBfloat = 4,
  kComplex = 5,
  kBool = 6,
  kFloat8E3m4 = 7,
  kFloat8E4m3 = 8,
  kFloat8E4m3b11fnuz = 9,
  kFloat8E4m3fn = 10,
  kFloat8E4m3fnuz = 11,
  kFloat8E5m2 = 12,
  kFloat8E5m2fnuz = 13,
  kFloat8E8m0fnu = 14,
  kFloat6E2m3fn = 15,
  kFloat6E3m2fn = 16,
  kFloat4E2m1fn = 17,
};

struct Device {
  DeviceType device_type;
  int32_t device_id;
};

struct DataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};

struct DLTensor {
  void* data;
  Device device;
  int32_t ndim;
  DataType dtype;
  int64_t* shape;
  int64_t* strides;  // in elements; null: row-major
  uint64_t byte_offset;
};

// Before version 1.0, capsules named "dltensor".
struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(DLManagedTensor* self);
};

struct Version {
  uint32_t major;
  uint32_t minor;
};

inline constexpr uint64_t kFlagReadOnly = 1;
inline constexpr uint64_t kFlagIsCopied = 2;
inline constexpr uint64_t kFlagSubbytePadded = 4;  // sub-byte elements take a byte each

// From version 1.0, capsules named "dltensor_versioned".
struct DLManagedTensorVersioned {
  Version version;
  void* manager_ctx;
  void (*deleter)(DLManagedTensorVersioned* self);
  uint64_t flags;
  DLTensor dl_tensor;
};

// The result holds a share in the memory until its deleter is called, on any thread. The older form cannot say that
// memory is read-only: to_dlpack throws ValueError for such a tensor. Throw ShapeError for a packed type that starts
// within a byte or is not contiguous.
DLManagedTensor* to_dlpack(const Tensor& tensor);
DLManagedTensorVersioned* to_dlpack_versioned(const Tensor& tensor);

// Takes the structure over: its deleter is called once, when the last view is gone. On an exception (UnsupportedError
// for another device, TypeError for a type that we lack, ValueError for malformed contents) it stays the caller's.
Tensor from_dlpack(DLManagedTensor* managed);
Tensor from_dlpack(DLManagedTensorVersioned* managed);

}  // namespace deep_accel::dlpack
