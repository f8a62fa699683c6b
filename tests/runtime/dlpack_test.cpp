// DLPack in both directions, and what it must refuse. The type codes are the specification's (dlpack.h, version 1.1).
#include "deep_accel/runtime/dlpack.h"

#include <gtest/gtest.h>

#include "deep_accel/base/error.h"

namespace deep_accel::dlpack {
namespace {

// The specification fixes these for 64-bit machines.
static_assert(sizeof(DLTensor) == 48);
static_assert(offsetof(DLTensor, byte_offset) == 40);
static_assert(sizeof(DLManagedTensor) == 64);
static_assert(offsetof(DLManagedTensorVersioned, dl_tensor) == 32);

TEST(DLPack, RoundTripsEveryDtypeWithoutCopying) {
  for (DType dtype : all_dtypes()) {
    Tensor t = Tensor::full(dtype, {2, 4}, 1);
    DLManagedTensorVersioned* managed = to_dlpack_versioned(t);
    EXPECT_EQ(managed->dl_tensor.dtype.bits, bits(dtype));
    Tensor back = from_dlpack(managed);
    EXPECT_EQ(back.data(), t.data());
    EXPECT_EQ(back.dtype(), dtype);
    EXPECT_EQ(back.values(), t.values());
    Tensor older = from_dlpack(to_dlpack(t));
    EXPECT_EQ(older.data(), t.data());
  }
}

TEST(DLPack, TypeCodes) {
  auto code = [](DType dtype) {
    DLManagedTensor* managed = to_dlpack(Tensor::zeros(dtype, {2}));
    int result = managed->dl_tensor.dtype.code;
    managed->deleter(managed);
    return result;
  };
  EXPECT_EQ(code(DType::i4), 0);
  EXPECT_EQ(code(DType::u8), 1);
  EXPECT_EQ(code(DType::f16), 2);
  EXPECT_EQ(code(DType::bf16), 4);
  EXPECT_EQ(code(DType::boolean), 6);
  EXPECT_EQ(code(DType::f8e4m3), 10);
  EXPECT_EQ(code(DType::f8e5m2), 12);
  EXPECT_EQ(code(DType::f4e2m1), 17);
}

TEST(DLPack, ViewsKeepTheMemoryAlive) {
  Tensor t = Tensor::full(DType::f32, {3, 4}, 7).transpose();
  DLManagedTensorVersioned* managed = to_dlpack_versioned(t);
  t = Tensor();
  EXPECT_EQ(managed->dl_tensor.strides[0], 1);
  EXPECT_EQ(managed->dl_tensor.shape[0], 4);
  Tensor back = from_dlpack(managed);
  EXPECT_EQ(back.at({3, 2}), 7);
}

TEST(DLPack, TheDeleterRunsOnce) {
  static int deleted;
  deleted = 0;
  float data[4] = {1, 2, 3, 4};
  int64_t shape[1] = {3};
  DLManagedTensor managed{
      {data, {kCpu, 0}, 1, {kFloat, 32, 1}, shape, nullptr, 4}, nullptr, [](DLManagedTensor*) { ++deleted; }};
  {
    Tensor t = from_dlpack(&managed);
    EXPECT_EQ(t.values(), (std::vector<double>{2, 3, 4}));
    Tensor view = t.select(0, 1);
  }
  EXPECT_EQ(deleted, 1);
  // Refused: the structure stays the caller's.
  managed.dl_tensor.device.device_type = static_cast<DeviceType>(2);
  EXPECT_THROW(from_dlpack(&managed), UnsupportedError);
  managed.dl_tensor.device.device_type = kCpu;
  managed.dl_tensor.dtype = {kComplex, 64, 1};
  EXPECT_THROW(from_dlpack(&managed), TypeError);
  managed.dl_tensor.dtype = {kFloat, 32, 2};
  EXPECT_THROW(from_dlpack(&managed), TypeError);
  managed.dl_tensor.dtype = {kFloat, 32, 1};
  managed.dl_tensor.ndim = -1;
  EXPECT_THROW(from_dlpack(&managed), ValueError);
  managed.dl_tensor.ndim = 1;
  shape[0] = -5;
  EXPECT_THROW(from_dlpack(&managed), ShapeError);
  EXPECT_EQ(deleted, 1);
}

TEST(DLPack, ReadOnlyAndVersions) {
  static const float data[2] = {1, 2};
  Tensor constant = Tensor::from_memory(const_cast<float*>(data), DType::f32, {2}, std::nullopt, nullptr, false);
  EXPECT_THROW(to_dlpack(constant), ValueError);
  DLManagedTensorVersioned* managed = to_dlpack_versioned(constant);
  EXPECT_EQ(managed->flags, kFlagReadOnly);
  managed->version.major = 2;
  EXPECT_THROW(from_dlpack(managed), UnsupportedError);
  managed->version.major = 1;
  EXPECT_FALSE(from_dlpack(managed).writable());
  EXPECT_THROW(to_dlpack(Tensor::zeros(DType::i4, {4, 4}).transpose()), ShapeError);
}

}  // namespace
}  // namespace deep_accel::dlpack
