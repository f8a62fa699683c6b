// Loading images, and checking arguments against signatures.
#include "deep_accel/runtime/kernel.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "deep_accel/base/error.h"
#include "tests/runtime/compile_c.h"

namespace deep_accel {
namespace {

constexpr const char* kScale = R"(
SIGNATURE({'name': 'scale', 'args': [
  {'name': 'x', 'kind': 'tensor', 'dtype': 'f32', 'role': 'in', 'dims': ['N', 4], 'strides': [null, 1]},
  {'name': 'y', 'kind': 'tensor', 'dtype': 'f32', 'role': 'out', 'dims': ['N', '?'], 'strides': null},
  {'name': 'alpha', 'kind': 'scalar', 'dtype': 'f32'},
  {'name': 'n', 'kind': 'scalar', 'dtype': 'i8'}],
  'phases': [{'axes': 1, 'order': 'rows'}], 'arena_bytes': 128, 'target': 'test', 'imports': [], 'extra': [1, 2]})END
// x, 2 sizes, 2 strides; y, 2 sizes, 2 strides; alpha; n
int64_t scale_plan(const KernelContext* c, const int64_t* p, int64_t* g) { g[0] = p[1]; return 0; }
void scale_phase0(const KernelContext* c, const int64_t* p, int64_t x, int64_t y, int64_t z) {
  const float* in = (const float*)p[0] + x * p[3];
  float* out = (float*)p[5] + x * p[8];
  union { int32_t i; float f; } alpha = {(int32_t)p[10]};
  for (int i = 0; i < 4; ++i) out[i] = in[i] * alpha.f + p[11];
}
)";

const Kernel& scale() {
  static std::shared_ptr<const Kernel> kernel = kernel_from_c(kScale);
  return *kernel;
}

template <typename Exception>
std::string launch_error(const std::vector<Argument>& arguments) {
  try {
    launch(scale(), arguments);
  } catch (const Exception& error) {
    return error.what();
  } catch (const std::exception& error) {
    return std::string("another exception: ") + error.what();
  }
  return "nothing was thrown";
}

TEST(Kernel, LoadsAndRuns) {
  EXPECT_EQ(scale().name(), "scale");
  EXPECT_EQ(scale().signature().target, "test");
  EXPECT_NE(scale().signature().json.find("extra"), std::string::npos);
  Tensor x = Tensor::full(DType::f32, {3, 4}, 2), y = Tensor::zeros(DType::f32, {3, 4});
  launch(scale(), {x, y, 1.5, -1});
  EXPECT_EQ(y.values(), std::vector<double>(12, 2.0));
  // A view with gaps between the rows, which this signature allows.
  Tensor wide = Tensor::full(DType::f32, {3, 8}, 1);
  launch(scale(), {wide.slice(1, 4, 8), y, 4, true});
  EXPECT_EQ(y.values(), std::vector<double>(12, 5.0));
  launch(scale(), {Tensor::zeros(DType::f32, {0, 4}), Tensor::zeros(DType::f32, {0, 4}), 1.0f, 1});
}

TEST(Kernel, MessagesNameArgumentExpectedGotAndRemedy) {
  Tensor x = Tensor::zeros(DType::f32, {3, 4}), y = Tensor::zeros(DType::f32, {3, 4});
  EXPECT_EQ(launch_error<TypeError>({x, y}), "kernel 'scale': expected 4 arguments (x, y, alpha, n), got 2");
  EXPECT_EQ(launch_error<TypeError>({x.to(DType::f16), y, 1, 1}),
            "kernel 'scale': argument 'x': expected a tensor of f32, got f16[3, 4]; convert it with to()");
  EXPECT_EQ(launch_error<TypeError>({1.0, y, 1, 1}),
            "kernel 'scale': argument 'x': expected a tensor of f32, got a number");
  EXPECT_EQ(launch_error<ShapeError>({x.reshape({12}), y, 1, 1}),
            "kernel 'scale': argument 'x': expected 2 dimensions [N, 4], got f32[12]; reshape it");
  EXPECT_EQ(
      launch_error<ShapeError>({x.reshape({4, 3}), y, 1, 1}),
      "kernel 'scale': argument 'x': dimension 1 must be 4, got f32[4, 3]; this kernel was compiled for that size");
  EXPECT_EQ(
      launch_error<ShapeError>({x, y.slice(0, 0, 2), 1, 1}),
      "kernel 'scale': argument 'y': dimension 0 is 2, but 'N' is 3, from dimension 0 of argument 'x' [3, 4]; the two "
      "must be equal");
  EXPECT_EQ(launch_error<ShapeError>({Tensor::zeros(DType::f32, {4, 3}).transpose(), y, 1, 1}),
            "kernel 'scale': argument 'x': expected stride 1 in dimension 1, got f32[3, 4] with strides [1, 3]; "
            "call contiguous() on it");
  EXPECT_EQ(
      launch_error<ShapeError>({x, Tensor::zeros(DType::f32, {3, 8}).slice(1, 0, 4), 1, 1}),
      "kernel 'scale': argument 'y': expected row-major memory without gaps, got f32[3, 4] with strides [8, 1]; give a "
      "contiguous tensor");
  EXPECT_EQ(launch_error<TypeError>({x, y, x, 1}),
            "kernel 'scale': argument 'alpha': expected a number of f32, got a tensor f32[3, 4]");
  EXPECT_EQ(
      launch_error<TypeError>({x, y, 1, 1.5}),
      "kernel 'scale': argument 'n': expected a number of i8, got the floating point number 1.500000; round it first");
  EXPECT_EQ(launch_error<ValueError>({x, y, 1, 128}), "kernel 'scale': argument 'n': 128 does not fit i8");
  EXPECT_EQ(
      launch_error<ValueError>({y, y, 1, 1}),
      "kernel 'scale': argument 'y': the kernel writes it, but it shares memory with argument 'x'; give one of them "
      "memory of its own (copy())");
  static float memory[13] = {};
  Tensor constant = Tensor::from_memory(memory, DType::f32, {3, 4}, std::nullopt, nullptr, false);
  EXPECT_EQ(launch_error<ValueError>({x, constant, 1, 1}),
            "kernel 'scale': argument 'y': the kernel writes it, but its memory is read-only; give a tensor that can "
            "be written");
  Tensor crooked = Tensor::from_memory(reinterpret_cast<char*>(memory) + 1, DType::f32, {3, 4});
  EXPECT_EQ(launch_error<ValueError>({crooked, y, 1, 1}),
            "kernel 'scale': argument 'x': its memory is not aligned to 4 bytes; call copy() on it");
}

TEST(Kernel, InterleavedViewsDoNotOverlap) {
  Tensor both = Tensor::full(DType::f32, {6, 4}, 1);
  Tensor x = both.slice(0, 0, 3), y = both.slice(0, 3, 6);
  launch(scale(), {x, y, 2, 0});
  EXPECT_EQ(both.values()[0], 1);
  EXPECT_EQ(both.values()[12], 2);
}

TEST(Kernel, ImagesThatAreNoneAreRefused) {
  std::vector<std::byte> image = compile_c(kScale);
  auto refused = [](std::span<const std::byte> bytes) {
    try {
      Kernel::load(bytes);
      return std::string("was loaded");
    } catch (const ValueError& error) {
      return std::string(error.what());
    }
  };
  EXPECT_NE(refused({}).find("too short"), std::string::npos);
  std::vector<std::byte> garbage(5000, std::byte{0x5a});
  EXPECT_NE(refused(garbage).find("not an ELF file"), std::string::npos);
  for (size_t size = 0; size < image.size(); size += 97) {
    std::string message = refused(std::span(image).first(size));
    // The end holds only section headers, which the loader does not read.
    if (message == "was loaded") EXPECT_GT(size, image.size() / 2) << size;
  }
  auto with = [&](size_t offset, auto value) {
    std::vector<std::byte> changed = image;
    std::memcpy(changed.data() + offset, &value, sizeof value);
    return refused(changed);
  };
  EXPECT_NE(with(offsetof(Elf64_Ehdr, e_machine), uint16_t{EM_SPARC}).find("is for machine 2,"), std::string::npos);
  EXPECT_NE(with(offsetof(Elf64_Ehdr, e_type), uint16_t{ET_REL}).find("not a shared library"), std::string::npos);
  EXPECT_NE(with(EI_CLASS, uint8_t{ELFCLASS32}).find("64-bit"), std::string::npos);
  EXPECT_NE(with(offsetof(Elf64_Ehdr, e_phoff), uint64_t{UINT64_MAX - 8}).find("damaged"), std::string::npos);
  EXPECT_NE(with(offsetof(Elf64_Ehdr, e_phnum), uint16_t{0}).find("not a shared library"), std::string::npos);
}

TEST(Kernel, MissingSymbolsAndBadSignatures) {
  auto error = [](const std::string& source) {
    try {
      kernel_from_c(source);
      return std::string("was loaded");
    } catch (const ValueError& error) {
      return std::string(error.what());
    }
  };
  EXPECT_NE(error("int x;").find("does not export 'deep_accel_signature'"), std::string::npos);
  EXPECT_NE(error("SIGNATURE({'name': 'k', 'args': [], 'phases': [{'axes': 1}]})END").find("does not export 'k_plan'"),
            std::string::npos);
  EXPECT_NE(error("SIGNATURE({'name': 'k', 'args': [], 'phases': [{'axes': 1}]})END int k_plan;").find("'k_phase0'"),
            std::string::npos);
  auto parse = [](std::string json) {
    std::replace(json.begin(), json.end(), '\'', '"');
    try {
      KernelSignature::parse(json);
      return std::string("was parsed");
    } catch (const ValueError& error) {
      return std::string(error.what());
    }
  };
  EXPECT_EQ(parse("{"), "kernel signature: text: not valid JSON");
  EXPECT_EQ(parse("[]"), "kernel signature: kernel: expected an object");
  EXPECT_EQ(parse("{'args': []}"), "kernel signature: kernel: 'name' is missing");
  EXPECT_EQ(parse("{'name': 'a b', 'args': [], 'phases': []}"), "kernel signature: name: 'a b' is not a name");
  EXPECT_EQ(parse("{'name': 'k', 'args': [{'name': 'x', 'kind': 'ship', 'dtype': 'f32'}], 'phases': []}"),
            "kernel signature: args[0]: kind 'ship' is not one of tensor, scalar");
  EXPECT_EQ(
      parse("{'name': 'k', 'args': [{'name': 'x', 'kind': 'tensor', 'dtype': 'f32', 'role': 'in', 'dims': [-1]}], "
            "'phases': []}"),
      "kernel signature: args[0].dims[0]: expected at least 0");
  EXPECT_EQ(parse("{'name': 'k', 'args': [{'name': 'x', 'kind': 'tensor', 'dtype': 'f32', 'role': 'in', 'dims': [1], "
                  "'strides': []}], 'phases': []}"),
            "kernel signature: args[0].strides: expected one for each dimension");
  EXPECT_EQ(parse("{'name': 'k', 'args': [], 'phases': [{'axes': 4}]}"),
            "kernel signature: phases[0].axes: expected at most 3");
  EXPECT_EQ(parse("{'name': 'k', 'args': [], 'phases': [{'axes': 1, 'order': 'swizzle:0'}]}"),
            "kernel signature: phases[0]: block order 'swizzle:0' is not one of rows, columns, swizzle:<group of at "
            "least 1>");
}

constexpr const char* kImporting = R"(
SIGNATURE({'name': 'importing', 'args': [{'name': 'y', 'kind': 'tensor', 'dtype': 'f64', 'role': 'out', 'dims': [1]}],
  'phases': [{'axes': 1}], 'imports': ['deep_accel_test_extern', 'cos']})END
double (*deep_accel_import_deep_accel_test_extern)(double);
double (*deep_accel_import_cos)(double);
int64_t importing_plan(const KernelContext* c, const int64_t* p, int64_t* g) { return 0; }
void importing_phase0(const KernelContext* c, const int64_t* p, int64_t x, int64_t y, int64_t z) {
  *(double*)p[0] = deep_accel_import_deep_accel_test_extern(20) + deep_accel_import_cos(0);
}
)";

TEST(Kernel, Imports) {
  std::vector<std::byte> image = compile_c(kImporting);
  try {
    Kernel::load(image);
    FAIL();
  } catch (const ValueError& error) {
    EXPECT_NE(std::string(error.what()).find("needs the external function 'deep_accel_test_extern'"),
              std::string::npos);
    EXPECT_NE(std::string(error.what()).find("register_extern"), std::string::npos);
  }
  register_extern("deep_accel_test_extern", reinterpret_cast<void*>(+[](double v) { return v + 1; }));
  Tensor y = Tensor::zeros(DType::f64, {1});
  launch(*Kernel::load(image), {y});
  EXPECT_EQ(y.at({0}), 22);  // cos comes from the process
}

// Descriptors' numbers come again; the loader must not take the second library for the first.
TEST(Kernel, ManyKernelsAreToldApart) {
  std::vector<std::shared_ptr<const Kernel>> kernels;
  for (int i = 0; i < 6; ++i) {
    kernels.push_back(
        kernel_from_c("int64_t k_plan(const KernelContext* c, const int64_t* p, int64_t* g) { return 0; }\n"
                      "void k_phase0(const KernelContext* c, const int64_t* p, int64_t x, int64_t y, int64_t z)"
                      "{ *(int32_t*)p[0] = " +
                      std::to_string(i) +
                      "; }\n"
                      "SIGNATURE({'name': 'k', 'args': [{'name': 'y', 'kind': 'tensor', 'dtype': 'i32', "
                      "'role': 'out', 'dims': [1]}], 'phases': [{'axes': 1}]})END"));
  }
  Tensor y = Tensor::zeros(DType::i32, {1});
  for (int i = 0; i < 6; ++i) {
    launch(*kernels[static_cast<size_t>(i)], {y});
    EXPECT_EQ(y.at({0}), i);
  }
}

}  // namespace
}  // namespace deep_accel
