// Vector mathematics against libm in a longer format: f32 against f64, f64 against long double. The bounds are those
// that vector_math.h states. `--exhaustive` goes over all 2^32 arguments of f32.
#include <gtest/gtest.h>

#include <cstdio>
#include <random>
#include <string>

#include "jit.h"
#include "samples.h"

namespace deep_accel::test {
namespace {

template <typename T>
struct Reference {
  const char* name;
  T (*function)(T);
};

template <typename T>
T sigmoid(T x) {
  return 1 / (1 + std::exp(-x));
}

template <typename T>
T exact_rsqrt(T x) {
  return 1 / std::sqrt(x);
}

template <typename T>
const std::vector<Reference<T>>& references() {
  static const std::vector<Reference<T>> all = {{"exp", std::exp},   {"exp2", std::exp2},  {"expm1", std::expm1},
                                                {"log", std::log},   {"log2", std::log2},  {"log1p", std::log1p},
                                                {"tanh", std::tanh}, {"erf", std::erf},    {"sin", std::sin},
                                                {"cos", std::cos},   {"sigmoid", sigmoid}, {"rsqrt", exact_rsqrt}};
  return all;
}

struct Worst {
  double error = 0;
  double at = 0, at_second = 0, got = 0;
  void see(double e, double x, double result, double y = 0) {
    if (e > error) *this = {e, x, y, result};
  }
};

std::string describe(const Worst& w) {
  char text[200];
  std::snprintf(text, sizeof text, "%.3f ulp at %a (%a), got %a", w.error, w.at, w.at_second, w.got);
  return text;
}

Worst worst_f32(const JitRequest& request, double (*reference)(double)) {
  const JitFunction f(request);
  Worst worst[2];
  std::vector<float> results[2];
  for_f32_arguments([&](const std::vector<float>& x, int thread) {
    auto& out = results[thread];
    out.resize(x.size());
    f(x.data(), nullptr, out.data(), static_cast<int64_t>(x.size()));
    for (size_t i = 0; i < x.size(); ++i) {
      worst[thread].see(ulp_error(out[i], reference(static_cast<double>(x[i]))), x[i], out[i]);
    }
  });
  return worst[0].error > worst[1].error ? worst[0] : worst[1];
}

class UnaryF32 : public testing::TestWithParam<Reference<double>> {};

TEST_P(UnaryF32, IsWithinTwoUlp) {
  const Worst worst = worst_f32({.function = GetParam().name}, GetParam().function);
  std::printf("  %-8s f32  %s\n", GetParam().name, describe(worst).c_str());
  EXPECT_LE(worst.error, 2.0) << describe(worst);
}

#if defined(__x86_64__)
TEST_P(UnaryF32, IsWithinTwoUlpWithoutFma) {
  const Worst worst =
      worst_f32({.function = GetParam().name, .lanes = 4, .cpu = "x86-64", .fma = false}, GetParam().function);
  std::printf("  %-8s f32 without fma  %s\n", GetParam().name, describe(worst).c_str());
  EXPECT_LE(worst.error, 2.0) << describe(worst);
}

// The instruction that AVX-512 has for powers of two; where the processor has none, its expansion for other processors
// is what the tests above run.
class ScaledExponential : public testing::TestWithParam<Reference<double>> {};

TEST_P(ScaledExponential, IsWithinTwoUlpInEveryShape) {
  if (!__builtin_cpu_supports("avx512vl")) GTEST_SKIP() << "this processor has no AVX-512";
  const Worst worst = worst_f32({.function = GetParam().name, .scalef = true}, GetParam().function);
  std::printf("  %-8s f32 scaled  %s\n", GetParam().name, describe(worst).c_str());
  EXPECT_LE(worst.error, 2.0) << describe(worst);
  std::vector<float> x;
  for (uint32_t i = 0; i < 4096 * 48; ++i) x.push_back(std::bit_cast<float>(i * 21845u + (mix(i) & 0x3fff)));
  std::vector<float> expected(x.size()), got(x.size());
  JitFunction({.function = GetParam().name, .scalef = true})(x.data(), nullptr, expected.data(),
                                                             static_cast<int64_t>(x.size()));
  for (int lanes : {0, 2, 4, 6, 8, 24, 32}) {
    JitFunction({.function = GetParam().name, .lanes = lanes, .scalef = true})(x.data(), nullptr, got.data(),
                                                                               static_cast<int64_t>(x.size()));
    for (size_t i = 0; i < x.size(); ++i) {
      ASSERT_TRUE(got[i] == expected[i] || (std::isnan(got[i]) && std::isnan(expected[i])))
          << lanes << " lanes at " << x[i] << ": " << got[i] << ", not " << expected[i];
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Math, ScaledExponential,
                         testing::Values(Reference<double>{"exp", std::exp}, Reference<double>{"exp2", std::exp2}),
                         [](const auto& info) { return std::string(info.param.name); });
#endif

TEST_P(UnaryF32, IsTheSameForScalarsAndOtherVectors) {
  const JitFunction scalar({.function = GetParam().name, .lanes = 0}), four({.function = GetParam().name, .lanes = 4}),
      eight({.function = GetParam().name, .lanes = 8}), six({.function = GetParam().name, .lanes = 6});
  std::vector<float> x;
  for (uint32_t i = 0; i < 4096 * 6; ++i) x.push_back(std::bit_cast<float>(i * 174763u + (mix(i) & 0xffff)));
  const auto run = [&](const JitFunction& f) {
    std::vector<float> out(x.size());
    f(x.data(), nullptr, out.data(), static_cast<int64_t>(x.size()));
    std::vector<uint32_t> patterns;
    for (const float value : out) patterns.push_back(std::isnan(value) ? 0x7fc00000 : std::bit_cast<uint32_t>(value));
    return patterns;
  };
  const auto expected = run(scalar);
  EXPECT_EQ(run(four), expected);
  EXPECT_EQ(run(eight), expected);
  EXPECT_EQ(run(six), expected);
}

INSTANTIATE_TEST_SUITE_P(Math, UnaryF32, testing::ValuesIn(references<double>()),
                         [](const auto& info) { return std::string(info.param.name); });

// Random bit patterns (every exponent alike), random numbers where the functions have their turns, and the special
// ones.
std::vector<double> f64_arguments(uint32_t seed, size_t count) {
  std::mt19937_64 random(seed);
  std::vector<double> x;
  for (uint64_t exponent = 0; exponent < 4096; ++exponent) {
    for (int offset = -4; offset < 4; ++offset) {
      x.push_back(std::bit_cast<double>((exponent << 52) + static_cast<uint64_t>(offset)));
    }
  }
  // Next to multiples of pi/2, where sin and cos lose most; the first is the nearest of all to one (Muller, "Elementary
  // Functions").
  for (int i = 0; i < 8; ++i) x.push_back(std::ldexp(6381956970095103.0, 797));
  const long double half_pi = 1.57079632679489661923132169163975144L;
  for (int i = 0; i < 1 << 15; ++i) {
    const auto n = static_cast<long double>(random() >> (random() % 40 + 24));
    x.push_back(static_cast<double>(n * half_pi));
  }
  while (x.size() < count) {
    const double unit = std::ldexp(static_cast<double>(random() >> 11), -53);
    switch (x.size() % 4) {
      case 0:
        x.push_back(std::bit_cast<double>(random()));
        break;
      case 1:
        x.push_back((unit - 0.5) * 4);
        break;
      case 2:
        x.push_back((unit - 0.5) * 80);
        break;
      default:
        x.push_back((unit - 0.5) * 1600);
        break;
    }
  }
  return x;
}

class UnaryF64 : public testing::TestWithParam<Reference<long double>> {};

TEST_P(UnaryF64, IsWithinFourUlp) {
  if (std::numeric_limits<long double>::digits <= 53) FAIL() << "long double is no reference on this machine";
  const uint32_t seed = 20240607;
  const auto x = f64_arguments(seed, exhaustive ? 1 << 24 : 1 << 20);
  std::vector<double> out(x.size());
  for (const bool fma : {true, false}) {
    const JitFunction f({.function = GetParam().name, .type = "f64", .lanes = 8, .fma = fma});
    f(x.data(), nullptr, out.data(), static_cast<int64_t>(x.size()));
    Worst worst;
    for (size_t i = 0; i < x.size(); ++i) {
      worst.see(ulp_error(out[i], GetParam().function(static_cast<long double>(x[i]))), x[i], out[i]);
    }
    std::printf("  %-8s f64 %s  %s (seed %u)\n", GetParam().name, fma ? "fma" : "   ", describe(worst).c_str(), seed);
    EXPECT_LE(worst.error, 4.0) << describe(worst);
  }
}

INSTANTIATE_TEST_SUITE_P(Math, UnaryF64, testing::ValuesIn(references<long double>()),
                         [](const auto& info) { return std::string(info.param.name); });

// Pairs for pow: special with special, bases near 1 with large powers, whole powers, anything with anything.
template <typename T, typename Bits>
void pow_arguments(size_t count, uint32_t seed, std::vector<T>& x, std::vector<T>& y) {
  using Limits = std::numeric_limits<T>;
  const T infinity = Limits::infinity();
  std::vector<T> special = {0,
                            1,
                            2,
                            3,
                            0.5,
                            1.5,
                            2.5,
                            127,
                            128,
                            Limits::max(),
                            Limits::min(),
                            Limits::denorm_min(),
                            infinity,
                            Limits::quiet_NaN(),
                            std::nextafter(T(1), T(2)),
                            std::nextafter(T(1), T(0)),
                            std::ldexp(T(1), Limits::digits),
                            std::ldexp(T(1), Limits::digits) - 1,
                            std::ldexp(T(1), Limits::digits - 1) - T(0.5),
                            T(1e10),
                            T(1e30)};
  const size_t half = special.size();
  for (size_t i = 0; i < half; ++i) special.push_back(-special[i]);
  for (const T a : special) {
    for (const T b : special) {
      x.push_back(a);
      y.push_back(b);
    }
  }
  std::mt19937_64 random(seed);
  const auto unit = [&] { return static_cast<T>(std::ldexp(static_cast<double>(random() >> 11), -53)); };
  while (x.size() % 16 || x.size() < count) {
    const T any = std::bit_cast<T>(static_cast<Bits>(random()));
    switch (x.size() % 4) {
      case 0:
        x.push_back(any);
        y.push_back(std::bit_cast<T>(static_cast<Bits>(random())));
        break;
      case 1: {  // results all over the range, wherever the base is
        x.push_back(std::abs(any));
        const T log = std::log2(std::abs(any));
        y.push_back((unit() - T(0.5)) * T(2.2) * Limits::max_exponent / log);
        break;
      }
      case 2: {
        x.push_back(1 + (unit() - T(0.5)) * std::ldexp(T(1), -static_cast<int>(random() % Limits::digits)));
        const T log = std::log2(x.back());
        y.push_back((unit() - T(0.5)) * T(2.2) * Limits::max_exponent / log);
        break;
      }
      default:
        x.push_back((unit() - T(0.5)) * 32);
        y.push_back(std::round((unit() - T(0.5)) * 64));
        break;
    }
  }
}

TEST(Pow, F32IsWithinTwoUlp) {
  const uint32_t seed = 7;
  std::vector<float> x, y;
  pow_arguments<float, uint32_t>(exhaustive ? 1 << 27 : 1 << 22, seed, x, y);
  std::vector<float> out(x.size());
  for (const bool fma : {true, false}) {
    const JitFunction f({.function = "pow", .fma = fma});
    f(x.data(), y.data(), out.data(), static_cast<int64_t>(x.size()));
    Worst worst;
    for (size_t i = 0; i < x.size(); ++i) {
      const double want = std::pow(static_cast<double>(x[i]), static_cast<double>(y[i]));
      worst.see(ulp_error(out[i], want), x[i], out[i], y[i]);
    }
    std::printf("  pow      f32 %s  %s (seed %u)\n", fma ? "fma" : "   ", describe(worst).c_str(), seed);
    EXPECT_LE(worst.error, 2.0) << describe(worst);
  }
}

TEST(Pow, F64IsWithinFourUlp) {
  const uint32_t seed = 8;
  std::vector<double> x, y;
  pow_arguments<double, uint64_t>(exhaustive ? 1 << 24 : 1 << 20, seed, x, y);
  std::vector<double> out(x.size());
  for (const bool fma : {true, false}) {
    const JitFunction f({.function = "pow", .type = "f64", .lanes = 8, .fma = fma});
    f(x.data(), y.data(), out.data(), static_cast<int64_t>(x.size()));
    Worst worst;
    for (size_t i = 0; i < x.size(); ++i) {
      const long double want = std::pow(static_cast<long double>(x[i]), static_cast<long double>(y[i]));
      worst.see(ulp_error(out[i], want), x[i], out[i], y[i]);
    }
    std::printf("  pow      f64 %s  %s (seed %u)\n", fma ? "fma" : "   ", describe(worst).c_str(), seed);
    EXPECT_LE(worst.error, 4.0) << describe(worst);
  }
}

#if defined(__x86_64__)
// The vector instructions of the longest run of code without a label, moves aside.
size_t count_vector_instructions(const std::string& text) {
  size_t arithmetic = 0, most = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    if (line.find(':') != std::string::npos) arithmetic = 0;
    const bool moves = line.find("vmov") != std::string::npos || line.find("vbroadcast") != std::string::npos;
    if (line.find("zmm") != std::string::npos && !moves) most = std::max(most, ++arithmetic);
    at = end + 1;
  }
  return most;
}

// exp decides how fast softmax is.
TEST(Instructions, ExpHasSixteen) {
  for (const auto& [name, function] : references<double>()) {
    const size_t count = count_vector_instructions(assembly_of({.function = name, .cpu = "x86-64-v4"}));
    std::printf("  %-8s f32  %zu instructions for 16 lanes (AVX-512)\n", name, count);
    EXPECT_GT(count, 0u) << name;
    if (std::string_view(name) == "exp") {
      EXPECT_LE(count, 16u);
    }
  }
}
#endif

}  // namespace
}  // namespace deep_accel::test
