// Kernels compiled for other processors, run under qemu's user emulation, against the interpreter: objects as
// `deepaccel tile compile --target` writes them, linked with driver.c by the processors' own gcc.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstring>
#include <string>

#include "deep_accel/base/error.h"
#include "deep_accel/base/files.h"
#include "deep_accel/compile/compiler.h"
#include "deep_accel/compile/verify/verify.h"
#include "deep_accel/runtime/device.h"
#include "deep_accel/tile/signature.h"
#include "tests/replaced.h"
#include "tests/temporary_folder.h"

namespace deep_accel {
namespace {

namespace fs = std::filesystem;

struct Machine {
  std::string target;
  std::string compiler;
  std::string emulator;  // with the processor that it plays
};

struct CrossCase {
  std::string name;
  std::string kernel;
  std::vector<std::pair<std::string, std::string>> words;  // replaced in the kernel's text
};

void run(const std::string& command) {
  const std::string with_errors = command + " 2>&1";
  std::FILE* pipe = ::popen(with_errors.c_str(), "r");
  if (!pipe) throw Error("cannot run " + command);
  std::string output;
  char part[512];
  for (size_t count; (count = std::fread(part, 1, sizeof part, pipe)) > 0;) output.append(part, count);
  const int status = ::pclose(pipe);
  if (status != 0) throw ValueError(command + " failed with status " + std::to_string(status) + ": " + output);
}

std::string numbers(const Dims& dims) {
  std::string text;
  for (int64_t dim : dims) text += (text.empty() ? "" : ",") + std::to_string(dim);
  return text.empty() ? "-" : text;
}

// The memory from the tensor's first element to its last.
std::span<std::byte> memory_of(const Tensor& tensor) {
  int64_t last = 0;
  for (int axis = 0; axis < tensor.rank(); ++axis) last += (tensor.shape()[axis] - 1) * tensor.strides()[axis];
  const int64_t bytes = tensor.size() == 0 ? 0 : bytes_for(tensor.dtype(), last + 1);
  return {static_cast<std::byte*>(bytes == 0 ? nullptr : tensor.data()), static_cast<size_t>(bytes)};
}

int64_t bits_of(const ArgumentSpec& spec, const Argument& argument) {
  if (argument.kind() != Argument::Kind::floating) return argument.integer();
  int64_t result = 0;
  const auto single = static_cast<float>(argument.floating());
  const double wide = argument.floating();
  if (spec.dtype == DType::f64) {
    std::memcpy(&result, &wide, sizeof wide);
  } else {
    std::memcpy(&result, &single, sizeof single);
  }
  return result;
}

// A kernel as a program for the machine.
class ForeignKernel {
 public:
  ForeignKernel(const tile::Program& program, const Machine& machine)
      : machine_(machine), signature_(tile::signature_of(program, "")) {
    const fs::path object = folder_.path() / "kernel.o";
    write_file_atomically(object, compile::object(program, {.target = machine.target}));
    run(machine.compiler + " -std=c11 -O1 -static -DKERNEL=" + signature_.name + " " + DEEP_ACCEL_CROSS_FOLDER +
        "/driver.c " + object.string() + " -lm -o " + executable().string());
  }

  void launch(std::span<const Argument> arguments) const {
    std::string command = machine_.emulator + " " + executable().string();
    for (size_t i = 0; i < arguments.size(); ++i) {
      const ArgumentSpec& spec = signature_.args[i];
      if (!spec.is_tensor) {
        command += " scalar:" + std::to_string(bits_of(spec, arguments[i]));
        continue;
      }
      const Tensor& tensor = arguments[i].tensor();
      write_file_atomically(file(i), memory_of(tensor));
      command += std::string(spec.writes() ? " inout:" : " in:") + file(i).string() + ":" + numbers(tensor.shape()) +
                 ":" + numbers(tensor.strides());
    }
    run(command);
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (!signature_.args[i].writes()) continue;
      const std::vector<std::byte> bytes = read_file(file(i));
      const std::span<std::byte> memory = memory_of(arguments[i].tensor());
      if (bytes.size() != memory.size()) throw Error("the driver wrote as much as it read, and yet not");
      if (!bytes.empty()) std::memcpy(memory.data(), bytes.data(), bytes.size());
    }
  }

 private:
  fs::path executable() const { return folder_.path() / "kernel"; }
  fs::path file(size_t argument) const { return folder_.path() / ("argument" + std::to_string(argument)); }

  Machine machine_;
  KernelSignature signature_;
  TemporaryFolder folder_;
};

std::string text_of(const CrossCase& c) {
  const std::vector<std::byte> bytes = read_file(fs::path(DEEP_ACCEL_CROSS_FOLDER) / "kernels" / c.kernel);
  std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for (const auto& [word, value] : c.words) text = test::replaced(text, word, value);
  return text;
}

const std::string kArm = "aarch64-linux-gnu-gcc", kRiscv = "riscv64-linux-gnu-gcc";
// From the least machine that a target runs on to one that has more.
const Machine kMachines[] = {
    {"aarch64-neon", kArm, "qemu-aarch64 -cpu max,sve128=on"},
    {"aarch64-sve", kArm, "qemu-aarch64 -cpu max,sve256=on"},
    {"aarch64-sve", kArm, "qemu-aarch64 -cpu max,sve512=on"},
    {"aarch64-sve512", kArm, "qemu-aarch64 -cpu max,sve512=on"},
    {"riscv64", kRiscv, "qemu-riscv64 -cpu rv64,v=false"},
    {"riscv64-v", kRiscv, "qemu-riscv64 -cpu rv64,v=true,vext_spec=v1.0,vlen=128"},
    {"riscv64-v", kRiscv, "qemu-riscv64 -cpu rv64,v=true,vext_spec=v1.0,vlen=256"},
};
const CrossCase kCases[] = {
    {"product_f32", "product.mlir", {{"{A}", "f32"}, {"{B}", "f32"}, {"{C}", "f32"}, {"{0}", "0.0"}}},
    {"product_f64", "product.mlir", {{"{A}", "f64"}, {"{B}", "f64"}, {"{C}", "f64"}, {"{0}", "0.0"}}},
    {"product_f16", "product.mlir", {{"{A}", "f16"}, {"{B}", "f16"}, {"{C}", "f32"}, {"{0}", "0.0"}}},
    {"product_bf16", "product.mlir", {{"{A}", "bf16"}, {"{B}", "bf16"}, {"{C}", "f32"}, {"{0}", "0.0"}}},
    {"product_i8", "product.mlir", {{"{A}", "i8"}, {"{B}", "i8"}, {"{C}", "i32"}, {"{0}", "0"}}},
    {"product_u8", "product.mlir", {{"{A}", "ui8"}, {"{B}", "ui8"}, {"{C}", "i32"}, {"{0}", "0"}}},
    {"product_transposed_f32",
     "product_transposed.mlir",
     {{"{A}", "f32"}, {"{B}", "f32"}, {"{C}", "f32"}, {"{0}", "0.0"}}},
    {"product_transposed_i8", "product_transposed.mlir", {{"{A}", "i8"}, {"{B}", "i8"}, {"{C}", "i32"}, {"{0}", "0"}}},
    {"softmax", "softmax.mlir", {}},
    {"layer_norm", "layer_norm.mlir", {}},
    {"attention", "attention.mlir", {}},
};

void expect_interpreters_results(const Machine& machine, const CrossCase& c) {
  const tile::Program program = tile::Program::parse(text_of(c), c.kernel);
  const ForeignKernel kernel(program, machine);
  compile::VerifyOptions options;
  options.target = machine.target;
  options.cases = 4;
  options.threads = {1};
  options.max_steps = 200'000;
  options.launch = [&](std::span<const Argument> arguments) { kernel.launch(arguments); };
  const compile::VerifyReport report = compile::verify(program, "", options);
  EXPECT_TRUE(report.passed()) << machine.emulator << '\n' << report.text();
  int64_t compared = 0, incomparable = 0;
  for (const compile::VerifyCase& result : report.cases) {
    compared += result.compared;
    incomparable += result.incomparable;
  }
  EXPECT_GT(compared, incomparable) << report.text();
}

class Cross : public testing::TestWithParam<std::tuple<Machine, CrossCase>> {};

TEST_P(Cross, MatchesTheInterpreter) {
  const auto& [machine, c] = GetParam();
  expect_interpreters_results(machine, c);
}

// AMX's tile registers, played by amx_emulator.c on a processor that has the rest of the target's instructions.
TEST(CrossMachine, TileRegistersMatchTheInterpreter) {
  const CpuInfo& cpu = host_cpu();
  if (cpu.architecture != "x86-64" || !cpu.has("avx512bw") || !cpu.has("avx512vl")) {
    GTEST_SKIP() << "this processor has no AVX-512";
  }
  const Machine machine{"x86-64-amx", std::string(DEEP_ACCEL_TEST_CC) + " " DEEP_ACCEL_CROSS_FOLDER "/amx_emulator.c",
                        ""};
  const std::pair<std::string, std::string> long_rows{"24", "128"}, integers{"{C}", "i32"}, zero{"{0}", "0"};
  for (const char* file : {"product.mlir", "product_transposed.mlir"}) {
    for (const auto& [a, b] : {std::pair("i8", "i8"), {"i8", "ui8"}, {"ui8", "i8"}, {"ui8", "ui8"}}) {
      expect_interpreters_results(machine, {"tiles", file, {{"{A}", a}, {"{B}", b}, integers, zero, long_rows}});
    }
    expect_interpreters_results(
        machine, {"tiles", file, {{"{A}", "bf16"}, {"{B}", "bf16"}, {"{C}", "f32"}, {"{0}", "0.0"}, long_rows}});
  }
}

// A processor with shorter registers than the code is written for says so.
TEST(CrossMachine, ShortRegistersAreRefused) {
  const CrossCase softmax{"softmax", "softmax.mlir", {}};
  const tile::Program program = tile::Program::parse(text_of(softmax), softmax.kernel);
  const ForeignKernel kernel(program, {"aarch64-sve", kArm, "qemu-aarch64 -cpu max,sve128=on"});
  const Tensor x = Tensor::zeros(DType::f32, {3, 83}), y = Tensor::zeros(DType::f32, {3, 83});
  try {
    const std::vector<Argument> arguments = {x, y};
    kernel.launch(arguments);
    FAIL() << "it ran";
  } catch (const ValueError& error) {
    EXPECT_NE(std::string(error.what()).find("compiled for vectors of 256 bits or more"), std::string::npos)
        << error.what();
  }
}

std::string case_name(const testing::TestParamInfo<Cross::ParamType>& info) {
  const auto& [machine, c] = info.param;
  std::string name = c.name + "_" + machine.target + machine.emulator.substr(machine.emulator.rfind(',') + 1);
  for (char& letter : name) {
    if (!std::isalnum(static_cast<unsigned char>(letter))) letter = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(Machines, Cross, testing::Combine(testing::ValuesIn(kMachines), testing::ValuesIn(kCases)),
                         case_name);

}  // namespace
}  // namespace deep_accel
