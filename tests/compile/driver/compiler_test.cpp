// The compiler's interface: lists, texts, messages, reports, signatures.
#include "deep_accel/compile/compiler.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "deep_accel/base/error.h"
#include "deep_accel/tile/signature.h"
#include "programs.h"

namespace deep_accel {
namespace {

using tile::Program;

template <typename ErrorType, typename Function>
std::string message_of(Function&& function) {
  try {
    function();
  } catch (const ErrorType& error) {
    return error.what();
  }
  ADD_FAILURE() << "nothing of the expected kind was thrown";
  return "";
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Compiler, PassesHaveNamesAndSummaries) {
  std::vector<compile::PassInfo> passes = compile::passes();
  ASSERT_FALSE(passes.empty());
  for (const compile::PassInfo& pass : passes) {
    EXPECT_FALSE(pass.name.empty());
    EXPECT_FALSE(pass.summary.empty()) << pass.name;
  }
  EXPECT_EQ(compile::target_names().front(), "host");
}

TEST(Compiler, IrStopsWhereAsked) {
  Program program = Program::parse(test::kProductProgram);
  compile::Options options{.stop_after = compile::passes().front().name};
  const std::string before = program.text();
  std::string text = compile::ir(program, options);
  EXPECT_TRUE(contains(text, "tile.gemm")) << text;
  EXPECT_EQ(program.text(), before) << "the caller's program is left alone";
  EXPECT_EQ(Program::parse(text).kernels(), std::vector<std::string>{"product"});

  options.print_after_each = true;
  EXPECT_TRUE(compile::ir(program, options).starts_with("// After " + options.stop_after));

  options.stop_after = options.stop_after + "x";
  EXPECT_TRUE(contains(message_of<ValueError>([&] { compile::ir(program, options); }), "did you mean"));
}

TEST(Compiler, MessagesNameWhatIsThere) {
  Program one = Program::parse(test::kProductProgram);
  EXPECT_TRUE(contains(message_of<ValueError>([&] { compile::jit(one, "produkt"); }), "did you mean 'product'"));
  EXPECT_TRUE(contains(message_of<UnsupportedError>([&] { compile::object(one, {.target = "vax"}); }), "x86-64-avx2"));
  EXPECT_TRUE(contains(message_of<ValueError>([&] { compile::object(one, {.optimisation = 4}); }), "0 to 3"));
  EXPECT_TRUE(contains(message_of<ValueError>([&] { compile::jit(Program::parse("")); }), "no kernels"));
#if defined(__x86_64__)
  EXPECT_TRUE(contains(message_of<UnsupportedError>([&] { compile::library(one, {.target = "riscv64-v"}); }),
                       "does not run on this machine"));
#endif
}

TEST(Compiler, RefusalsNameTheSourceLine) {
  std::string text = test::kCopyProgram;
  for (size_t at; (at = text.find("memref<128xf32")) != std::string::npos;) {
    text.replace(at, std::string("memref<128xf32").size(), "memref<40000000xf32");
  }
  // The grid stands in the text's seventh line, the tile in its ninth.
  const Program program = Program::parse(text, "large.mlir");
  const std::string message = message_of<ValueError>([&] { compile::jit(program); });
  EXPECT_TRUE(message.starts_with("large.mlir:7:3: ")) << message;
  EXPECT_TRUE(contains(message, "large.mlir:9:10: ")) << message;
}

TEST(Compiler, ExplainCountsTheProduct) {
  auto report =
      nlohmann::json::parse(compile::explain(Program::parse(test::kProductProgram), {.target = "x86-64-avx2"}));
  EXPECT_EQ(report["target"]["name"], "x86-64-avx2");
  EXPECT_EQ(report["target"]["peaks"], "nominal");
  ASSERT_EQ(report["kernels"].size(), 1u);
  const auto& phase = report["kernels"][0]["phases"][0];
  EXPECT_EQ(report["kernels"][0]["name"], "product");
  EXPECT_GE(phase["buffers"].size(), 1u);
  EXPECT_TRUE(phase["decisions"].is_array());
  EXPECT_EQ(phase["cost"]["loops_known"], true);
  // 2 M N K of the product and M N of the scaling; reading 8 rows of f16 and all of B, writing 8 rows of C.
  EXPECT_EQ(phase["cost"]["flops"], 2 * 8 * 16 * 32 + 8 * 16);
  EXPECT_EQ(phase["cost"]["bytes"], 8 * 32 * 2 + 32 * 16 * 4 + 8 * 16 * 4);
  EXPECT_GE(phase["estimated_seconds"].get<double>(), phase["roofline_seconds"].get<double>());
}

TEST(Compiler, ExplainSaysWhatBecameOfLoopsAndProducts) {
  auto report =
      nlohmann::json::parse(compile::explain(Program::parse(test::kProductProgram), {.target = "x86-64-avx2"}));
  const auto& phase = report["kernels"][0]["phases"][0];
  ASSERT_EQ(phase["gemms"].size(), 1u);
  EXPECT_EQ(phase["gemms"][0]["lanes"], 8);  // f32 in 256 bits
  ASSERT_GE(phase["loops"].size(), 1u);
  for (const auto& loop : phase["loops"]) {
    EXPECT_GE(loop["count"], 1);
    EXPECT_EQ(loop["lanes"], 8) << loop;
    EXPECT_EQ(loop["axis"], 1) << loop;
    ASSERT_GE(loop["lines"].size(), 1u) << loop;
    EXPECT_EQ(loop["lines"][0].get<std::string>().substr(0, 7), "<text>:") << loop;
  }
  EXPECT_TRUE(report["kernels"][0]["launch"].is_null()) << "M is not given";
}

TEST(Compiler, ExplainCountsALaunch) {
  const Program program = Program::parse(test::kProductProgram);
  auto report = nlohmann::json::parse(compile::explain(program, {.target = "x86-64-avx2"}, {{"M", 24}}));
  const auto& launch = report["kernels"][0]["launch"];
  // Three blocks; M x 32 of f16, 32 x 16 of f32, M x 16 of f32.
  EXPECT_EQ(launch["flops"], 3 * (2 * 8 * 16 * 32 + 8 * 16));
  EXPECT_EQ(launch["tensor_bytes"], 24 * 32 * 2 + 32 * 16 * 4 + 24 * 16 * 4);
  EXPECT_EQ(launch["sizes"]["M"], 24);
  EXPECT_GE(launch["estimated_seconds"].get<double>(), launch["roofline_seconds"].get<double>());
  EXPECT_TRUE(contains(message_of<ValueError>([&] { compile::explain(program, {}, {{"Q", 1}}); }),
                       "no kernel has a dimension named 'Q'"));
  EXPECT_TRUE(contains(message_of<ValueError>([&] { compile::explain(program, {}, {{"M", -1}}); }), "is -1"));
}

TEST(Compiler, ThreadsMayShareAProgram) {
  Program program = Program::parse(test::kProductProgram);
  const compile::Options options{.stop_after = compile::passes().front().name};
  const std::string expected = compile::ir(program, options);
  std::vector<std::string> found(4);
  std::vector<std::thread> threads;
  for (std::string& text : found) threads.emplace_back([&] { text = compile::ir(program, options); });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& text : found) EXPECT_EQ(text, expected);
}

TEST(Signature, SaysWhatTheKernelSays) {
  KernelSignature signature = tile::signature_of(Program::parse(test::kProductProgram));
  EXPECT_EQ(signature.name, "product");
  ASSERT_EQ(signature.args.size(), 4u);
  const ArgumentSpec& a = signature.args[0];
  EXPECT_EQ(a.name, "A");
  EXPECT_EQ(a.dtype, DType::f16);
  EXPECT_EQ(a.role, ArgumentSpec::Role::in);
  EXPECT_TRUE(a.contiguous);
  ASSERT_EQ(a.dims.size(), 2u);
  EXPECT_EQ(a.dims[0].kind, DimSpec::Kind::symbol);
  EXPECT_EQ(a.dims[1].kind, DimSpec::Kind::fixed);
  EXPECT_EQ(a.dims[1].value, 32);
  EXPECT_EQ(signature.args[2].role, ArgumentSpec::Role::inout);
  EXPECT_EQ(signature.args[2].dims[0].value, a.dims[0].value) << "both are M";
  EXPECT_FALSE(signature.args[3].is_tensor);
  EXPECT_EQ(signature.symbols, std::vector<std::string>{"M"});
  ASSERT_EQ(signature.phases.size(), 1u);
  EXPECT_EQ(signature.phases[0].axes, 1);
  EXPECT_EQ(signature.phases[0].order.to_string(), "swizzle:4");
}

}  // namespace
}  // namespace deep_accel
