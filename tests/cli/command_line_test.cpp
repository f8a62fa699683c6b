// Whatever stands on the command line, the command ends with status 0, or with a message and status 2: right command
// lines with words lost, doubled, exchanged and replaced, each in a folder of its own with files good and bad.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <random>
#include <sstream>

#include "deep_accel/base/files.h"
#include "deep_accel/base/text.h"
#include "deep_accel/cli/cli.h"
#include "deep_accel/cli/npy.h"
#include "tests/fuzz/watched.h"

namespace deep_accel::cli {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

// Y = alpha X, with a size, a scalar, and a packed tensor besides.
constexpr const char* kProgram = R"mlir(
#g = #tile.space<global>
tile.kernel @scale(%X: memref<?x16xf32, #g> {tile.name = "X", tile.dims = ["M", ""], tile.role = "in"},
                   %I: memref<16xi4, #g> {tile.name = "I", tile.dims = [""], tile.role = "in"},
                   %Y: memref<?x16xf32, #g> {tile.name = "Y", tile.dims = ["M", ""], tile.role = "out"},
                   %alpha: f32 {tile.name = "alpha"}, %n: i32 {tile.name = "n"}) {
  %M = tile.dim "M"
  tile.grid (%i) = (%M) {
    tile.map (%j) in [16] {
      %x = tile.read %X[%i, %j] : memref<?x16xf32, #g> -> f32
      %y = arith.mulf %x, %alpha : f32
      tile.write %y, %Y[%i, %j] : f32, memref<?x16xf32, #g>
    }
  }
}
)mlir";

const std::vector<Words> kCommandLines = {
    {"tile", "run",      "scale.mlir", "--dim",     "M=7", "--input",  "X=x.npy", "--input", "alpha=0.5", "--input",
     "n=3",  "--output", "Y=y.npy",    "--threads", "2",   "--repeat", "2",       "--seed",  "3",         "--json"},
    {"tile", "run", "scale.mlir", "--kernel", "scale", "--input", "I=i.npy"},
    {"tile", "verify", "scale.mlir", "--kernel", "scale", "--cases", "2", "--threads", "1,2", "--dim", "M=5", "--seed",
     "1", "--target", "host", "--json"},
    {"tile", "opt", "scale.mlir", "--stop-after", "fuse-maps", "--print-after-each", "--target", "x86-64-avx512"},
    {"tile", "opt", "scale.mlir", "--parse-only", "--locations", "-o", "out.mlir"},
    {"tile", "opt", "--list"},
    {"tile", "compile", "scale.mlir", "--target", "aarch64-neon", "-O", "1", "-o", "k.s"},
    {"tile", "compile", "scale.mlir", "--emit", "llvm", "-O0"},
    {"tile", "compile", "--list-targets"},
    {"tile", "explain", "scale.mlir", "--dim", "M=5", "--target", "host", "--json"},
    {"cache", "list", "--json"},
    {"cache", "stats"},
    {"cache", "clear"},
    {"--version"},
    {"tile", "run", "--help"},
};

const Words kWords = {"",
                      "-",
                      "--",
                      "---",
                      "=",
                      "M=",
                      "=7",
                      "M=0",
                      "M=-1",
                      "M=x",
                      "M=7.5",
                      "M=1e3",
                      "M=0x10",
                      "m=7",
                      "N=7",
                      "alpha=",
                      "alpha=x",
                      "alpha=nan",
                      "alpha=-inf",
                      "alpha=1e99",
                      "n=0.5",
                      "X=cut.npy",
                      "X=wide.npy",
                      "X=absent.npy",
                      "X=empty.npy",
                      "X=.",
                      "X=i.npy",
                      "I=x.npy",
                      "Y=x.npy",
                      "Y=",
                      "Y=.",
                      "X=y.npy",
                      "Y=a/b.npy",
                      "0",
                      "-1",
                      "1025",
                      "1e1",
                      "2147483648",
                      "two",
                      "1,,2",
                      "1,0",
                      ",",
                      "scale",
                      "scales",
                      ".",
                      "absent.mlir",
                      "empty.mlir",
                      "x.npy",
                      "host",
                      "x86-64",
                      "aarch64",
                      "no-target",
                      "asm",
                      "obj",
                      "k.o",
                      "k.so",
                      "k.ll",
                      "k.xyz",
                      "-h",
                      "--help",
                      "--json=1",
                      "--dim=M=3",
                      "--no-such",
                      "--emit",
                      "--kernel",
                      "--output",
                      "--stop-after",
                      "-O9",
                      "\xff\xfe",
                      "{\"a\": 1}",
                      "%s%n",
                      "-o",
                      "M=9223372036854775807",
                      "M=4611686018427387904",
                      "M=99999999999999999999",
                      "18446744073709551615",
                      "18446744073709551616",
                      "M=1099511627776"};

Words command_line(uint64_t number) {
  std::mt19937_64 random(0x9e3779b97f4a7c15u * (number + 1));
  auto below = [&](size_t end) { return static_cast<size_t>(random() % end); };
  Words words = kCommandLines[number % kCommandLines.size()];
  for (size_t changes = below(4); changes > 0 && !words.empty(); --changes) {
    const size_t at = below(words.size());
    switch (below(6)) {
      case 0:
        words.erase(words.begin() + static_cast<long>(at));
        break;
      case 1:
        words.insert(words.begin() + static_cast<long>(at), words[below(words.size())]);
        break;
      case 2:
        std::swap(words[at], words[below(words.size())]);
        break;
      case 3:
        if (!words[at].empty()) words[at].resize(below(words[at].size()));
        break;
      default:
        words[at] = kWords[below(kWords.size())];
    }
  }
  return words;
}

// The files that command lines name, as they were.
void lay_out(const fs::path& folder) {
  fs::remove_all(folder);
  fs::create_directory(folder);
  fs::current_path(folder);
  write_file_atomically("scale.mlir", std::string(kProgram));
  write_file_atomically("empty.mlir", std::string());
  write_file_atomically("empty.npy", std::string());
  write_npy("x.npy", Tensor::zeros(DType::f32, {7, 16}));
  write_npy("wide.npy", Tensor::zeros(DType::f32, {7, 17}));
  write_npy("i.npy", Tensor::zeros(DType::i4, {16}));
  const std::string whole = read_text("x.npy");
  write_file_atomically("cut.npy", whole.substr(0, whole.size() - 1));
}

// What is wrong with how the command ended; empty: nothing.
std::string defect_of(const Words& words) {
  std::vector<const char*> argv{"deepaccel"};
  for (const std::string& word : words) argv.push_back(word.c_str());
  std::ostringstream errors;
  std::streambuf* const before = std::cerr.rdbuf(errors.rdbuf());
  const int status = cli_main(static_cast<int>(argv.size()), argv.data());
  std::cerr.rdbuf(before);
  if (status == 0) return "";
  const std::string message = errors.str();
  if (message.find("deepaccel: error: ") == std::string::npos) return "status " + std::to_string(status) + " alone";
  // Sizes may be more than the machine has memory for.
  if (status == 2 || (status == 1 && message.find("memory") != std::string::npos)) return "";
  return "status " + std::to_string(status) + ": " + message;
}

TEST(CommandLine, AnyWordsAreObeyedOrRefused) {
  const fs::path scratch = fs::temp_directory_path() / ("command_line_test." + std::to_string(::getpid()));
  fs::create_directory(scratch);
  const char* const cache = std::getenv("DEEP_ACCEL_CACHE_DIR");
  const std::string cache_before = cache ? cache : "";
  ::setenv("DEEP_ACCEL_CACHE_DIR", (scratch / "cache").c_str(), 1);
  test::Limits limits;
  limits.seconds = 10;
  limits.total_seconds = 300;
  constexpr uint64_t kCount = 1500;
  const test::WatchedRun run = test::run_watched(0, kCount, limits, [&](uint64_t number) {
    lay_out(scratch / std::to_string(::getpid()));
    return defect_of(command_line(number));
  });
  for (const test::Failure& failure : run.failures) {
    ADD_FAILURE() << failure.input << ": deepaccel " << join(command_line(failure.input), " ") << "\n" << failure.what;
  }
  if (run.failures.empty()) EXPECT_EQ(run.done, kCount);
  cache ? ::setenv("DEEP_ACCEL_CACHE_DIR", cache_before.c_str(), 1) : ::unsetenv("DEEP_ACCEL_CACHE_DIR");
  fs::remove_all(scratch);
}

}  // namespace
}  // namespace deep_accel::cli
