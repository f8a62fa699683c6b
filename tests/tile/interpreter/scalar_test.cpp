// Scalar operations against their definitions, one element at a time.
#include <cmath>
#include <limits>

#include "kernels.h"

namespace deep_accel::tile::test {
namespace {

const double kInfinity = std::numeric_limits<double>::infinity();
const double kNan = std::numeric_limits<double>::quiet_NaN();

// C[i] = body of %a = A[i], %b = B[i], which defines %c.
std::string elementwise(int count, const std::string& in, const std::string& out, const std::string& body,
                        const std::string& in_compute = "", const std::string& out_compute = "") {
  const std::string n = std::to_string(count), from = n + "x" + in, to = n + "x" + out;
  const std::string ca = in_compute.empty() ? in : in_compute, cc = out_compute.empty() ? out : out_compute;
  return block({argument("A", from, "in"), argument("B", from, "in"), argument("C", to, "out")},
               "tile.map (%i) in [" + n + "] {\n%a = tile.read %A[%i] : " + global(from) + " -> " + ca +
                   "\n%b = tile.read %B[%i] : " + global(from) + " -> " + ca + "\n" + body +
                   "\ntile.write %c, %C[%i] : " + cc + ", " + global(to) + "\n}\n");
}

struct Operation {
  std::string text;
  double a, b, wanted;
};

void check(const std::string& type, DType dtype, DType out_dtype, const std::vector<Operation>& operations,
           const std::string& out_type) {
  for (const Operation& operation : operations) {
    SCOPED_TRACE(operation.text);
    Tensor a = tensor(dtype, {1}, {operation.a}), b = tensor(dtype, {1}, {operation.b});
    Tensor c = Tensor::zeros(out_dtype, {1});
    run(elementwise(1, type, out_type, operation.text), {a, b, c});
    const double got = c.at({0});
    if (std::isnan(operation.wanted)) {
      EXPECT_TRUE(std::isnan(got)) << got;
    } else {
      EXPECT_EQ(got, operation.wanted);
    }
  }
}

TEST(InterpreterScalar, Integers32) {
  check("i32", DType::i32, DType::i32,
        {
            {"%c = arith.addi %a, %b : i32", 2147483647, 1, -2147483648.0},
            {"%c = arith.subi %a, %b : i32", -2147483648.0, 1, 2147483647},
            {"%c = arith.muli %a, %b : i32", 65536, 65537, 65536},
            {"%c = arith.divsi %a, %b : i32", -7, 2, -3},
            {"%c = arith.divui %a, %b : i32", -1, 2, 2147483647},
            {"%c = arith.ceildivsi %a, %b : i32", 7, 2, 4},
            {"%c = arith.ceildivsi %a, %b : i32", -7, 2, -3},
            {"%c = arith.ceildivui %a, %b : i32", 7, 2, 4},
            {"%c = arith.floordivsi %a, %b : i32", -7, 2, -4},
            {"%c = arith.floordivsi %a, %b : i32", 7, -2, -4},
            {"%c = arith.remsi %a, %b : i32", -7, 2, -1},
            {"%c = arith.remui %a, %b : i32", -1, 10, 5},  // 4294967295 mod 10
            {"%c = arith.andi %a, %b : i32", 12, 10, 8},
            {"%c = arith.ori %a, %b : i32", 12, 10, 14},
            {"%c = arith.xori %a, %b : i32", 12, 10, 6},
            {"%c = arith.shli %a, %b : i32", 3, 31, -2147483648.0},
            {"%c = arith.shrsi %a, %b : i32", -8, 1, -4},
            {"%c = arith.shrui %a, %b : i32", -8, 1, 2147483644},
            {"%c = arith.maxsi %a, %b : i32", -1, 1, 1},
            {"%c = arith.maxui %a, %b : i32", -1, 1, -1},
            {"%c = arith.minsi %a, %b : i32", -1, 1, -1},
            {"%c = arith.minui %a, %b : i32", -1, 1, 1},
            {"%c, %o = arith.addui_extended %a, %b : i32, i1", -1, 3, 2},
            {"%o, %i1 = arith.addui_extended %a, %b : i32, i1\n%c = arith.extui %i1 : i1 to i32", -1, 3, 1},
            {"%lo, %c = arith.mulsi_extended %a, %b : i32", -2, 3, -1},
            {"%lo, %c = arith.mului_extended %a, %b : i32", -2, 3, 2},
            {"%c = math.absi %a : i32", -5, 0, 5},
            {"%c = math.ctpop %a : i32", -1, 0, 32},
            {"%c = math.ctlz %a : i32", 1, 0, 31},
            {"%c = math.cttz %a : i32", 8, 0, 3},
            {"%c = math.cttz %a : i32", 0, 0, 32},
            {"%c = math.ipowi %a, %b : i32", 3, 4, 81},
            {"%c = math.ipowi %a, %b : i32", -1, -3, -1},
        },
        "i32");
}

TEST(InterpreterScalar, ConversionsOfIntegers) {
  check("i32", DType::i32, DType::i32,
        {
            {"%t = arith.trunci %a : i32 to i8\n%c = arith.extsi %t : i8 to i32", 200, 0, -56},
            {"%t = arith.trunci %a : i32 to i8\n%c = arith.extui %t : i8 to i32", 200, 0, 200},
            {"%t = arith.index_cast %a : i32 to index\n%c = arith.index_cast %t : index to i32", -3, 0, -3},
            {"%t = arith.index_castui %a : i32 to index\n%h = index.constant 16\n%s = index.shru %t, %h\n"
             "%c = arith.index_castui %s : index to i32",
             -1, 0, 65535},
            {"%t = arith.bitcast %a : i32 to f32\n%n = arith.negf %t : f32\n%c = arith.bitcast %n : f32 to i32",
             1065353216 /* 1.0f */, 0, -1082130432.0 /* -1.0f */},
            {"%t = arith.cmpi ult, %a, %b : i32\n%c = arith.extui %t : i1 to i32", -1, 1, 0},
            {"%t = arith.cmpi slt, %a, %b : i32\n%c = arith.extui %t : i1 to i32", -1, 1, 1},
            {"%t = arith.cmpi slt, %a, %b : i32\n%c = arith.extsi %t : i1 to i32", -1, 1, -1},
            {"%t = arith.cmpi eq, %a, %b : i32\n%c = arith.select %t, %a, %b : i32", 4, 5, 5},
        },
        "i32");
  // 2^53 + 1 is exact as an integer, and rounds as a double.
  Tensor a = Tensor::zeros(DType::i64, {1}), b = Tensor::zeros(DType::i64, {1}), c = Tensor::zeros(DType::i64, {1});
  *a.data<int64_t>() = (int64_t{1} << 53) + 1;
  run(elementwise(1, "i64", "i64", "%c = arith.addi %a, %b : i64"), {a, b, c});
  EXPECT_EQ(*c.data<int64_t>(), (int64_t{1} << 53) + 1);
}

TEST(InterpreterScalar, Index) {
  const std::string cast = "%x = arith.index_cast %a : i32 to index\n%y = arith.index_cast %b : i32 to index\n";
  const std::string back = "\n%c = arith.index_cast %z : index to i32";
  struct Case {
    const char* op;
    double a, b, wanted;
  };
  for (const Case& test :
       std::vector<Case>{{"add", 3, 4, 7},    {"sub", 3, 4, -1},       {"mul", 3, 4, 12},     {"divs", -7, 2, -3},
                         {"divu", 7, 2, 3},   {"ceildivs", -7, 2, -3}, {"ceildivu", 7, 2, 4}, {"floordivs", -7, 2, -4},
                         {"rems", -7, 2, -1}, {"remu", 7, 4, 3},       {"maxs", -1, 1, 1},    {"maxu", -1, 1, -1},
                         {"mins", -1, 1, -1}, {"minu", -1, 1, 1},      {"shl", 3, 2, 12},     {"shrs", -8, 1, -4},
                         {"shru", 8, 1, 4},   {"and", 12, 10, 8},      {"or", 12, 10, 14},    {"xor", 12, 10, 6}}) {
    check("i32", DType::i32, DType::i32,
          {{cast + "%z = index." + test.op + " %x, %y" + back, test.a, test.b, test.wanted}}, "i32");
  }
  check("i32", DType::i32, DType::i32,
        {{cast + "%p = index.cmp slt(%x, %y)\n%c = arith.extui %p : i1 to i32", -1, 1, 1},
         {cast + "%p = index.cmp ult(%x, %y)\n%c = arith.extui %p : i1 to i32", -1, 1, 0},
         {"%s = index.sizeof\n%c = arith.index_cast %s : index to i32", 0, 0, 64},
         {"%s = index.casts %a : i32 to index\n%c = index.casts %s : index to i32", -9, 0, -9},
         {"%t = index.bool.constant true\n%c = arith.select %t, %a, %b : i32", 1, 2, 1}},
        "i32");
}

TEST(InterpreterScalar, Floats) {
  check("f64", DType::f64, DType::f64,
        {
            {"%c = arith.addf %a, %b : f64", 0.1, 0.2, 0.1 + 0.2},
            {"%c = arith.subf %a, %b : f64", 0.1, 0.2, 0.1 - 0.2},
            {"%c = arith.mulf %a, %b : f64", 0.1, 0.2, 0.1 * 0.2},
            {"%c = arith.divf %a, %b : f64", 0.1, 0.3, 0.1 / 0.3},
            {"%c = arith.divf %a, %b : f64", 1, 0, kInfinity},
            {"%c = arith.remf %a, %b : f64", -7.5, 2, -1.5},
            {"%c = arith.negf %a : f64", 2, 0, -2},
            {"%c = arith.maximumf %a, %b : f64", 1, kNan, kNan},
            {"%c = arith.maxnumf %a, %b : f64", 1, kNan, 1},
            {"%c = arith.minimumf %a, %b : f64", kNan, 1, kNan},
            {"%c = arith.minnumf %a, %b : f64", kNan, 1, 1},
            {"%c = arith.minnumf %a, %b : f64", 2, 1, 1},
            {"%c = math.fma %a, %b, %b : f64", 2, 3, 9},
            {"%c = math.absf %a : f64", -2, 0, 2},
            {"%c = math.ceil %a : f64", -1.5, 0, -1},
            {"%c = math.floor %a : f64", -1.5, 0, -2},
            {"%c = math.trunc %a : f64", -1.5, 0, -1},
            {"%c = math.round %a : f64", 2.5, 0, 3},
            {"%c = math.roundeven %a : f64", 2.5, 0, 2},
            {"%c = math.roundeven %a : f64", 0.49999999999999994, 0, 0},
            {"%c = math.copysign %a, %b : f64", 3, -1, -3},
            {"%c = math.sqrt %a : f64", 2, 0, std::sqrt(2.0)},
            {"%c = math.rsqrt %a : f64", 4, 0, 0.5},
            {"%c = math.cbrt %a : f64", 27, 0, std::cbrt(27.0)},
            {"%c = math.exp %a : f64", 1, 0, std::exp(1.0)},
            {"%c = math.exp2 %a : f64", 10, 0, 1024},
            {"%c = math.expm1 %a : f64", 1e-10, 0, std::expm1(1e-10)},
            {"%c = math.log %a : f64", 0, 0, -kInfinity},
            {"%c = math.log2 %a : f64", 8, 0, 3},
            {"%c = math.log10 %a : f64", 1000, 0, 3},
            {"%c = math.log1p %a : f64", 1e-10, 0, std::log1p(1e-10)},
            {"%c = math.sin %a : f64", 1, 0, std::sin(1.0)},
            {"%c = math.cos %a : f64", 1, 0, std::cos(1.0)},
            {"%c = math.tan %a : f64", 1, 0, std::tan(1.0)},
            {"%c = math.sinh %a : f64", 1, 0, std::sinh(1.0)},
            {"%c = math.cosh %a : f64", 1, 0, std::cosh(1.0)},
            {"%c = math.tanh %a : f64", 1, 0, std::tanh(1.0)},
            {"%c = math.asin %a : f64", 0.5, 0, std::asin(0.5)},
            {"%c = math.acos %a : f64", 0.5, 0, std::acos(0.5)},
            {"%c = math.atan %a : f64", 0.5, 0, std::atan(0.5)},
            {"%c = math.asinh %a : f64", 0.5, 0, std::asinh(0.5)},
            {"%c = math.acosh %a : f64", 1.5, 0, std::acosh(1.5)},
            {"%c = math.atanh %a : f64", 0.5, 0, std::atanh(0.5)},
            {"%c = math.atan2 %a, %b : f64", 1, -1, std::atan2(1.0, -1.0)},
            {"%c = math.erf %a : f64", 0.5, 0, std::erf(0.5)},
            {"%c = math.powf %a, %b : f64", 2, 0.5, std::sqrt(2.0)},
            {"%n = arith.constant -2 : i32\n%c = math.fpowi %a, %n : f64, i32", 4, 0, 0.0625},
        },
        "f64");
}

TEST(InterpreterScalar, ComparisonsOfFloats) {
  struct Case {
    const char* predicate;
    bool less, equal, greater, unordered;
  };
  // From the definition of the predicates in the LLVM language reference (fcmp).
  const Case cases[] = {
      {"oeq", false, true, false, false}, {"ogt", false, false, true, false}, {"oge", false, true, true, false},
      {"olt", true, false, false, false}, {"ole", true, true, false, false},  {"one", true, false, true, false},
      {"ord", true, true, true, false},   {"ueq", false, true, false, true},  {"ugt", false, false, true, true},
      {"uge", false, true, true, true},   {"ult", true, false, false, true},  {"ule", true, true, false, true},
      {"une", true, false, true, true},   {"uno", false, false, false, true}, {"false", false, false, false, false},
      {"true", true, true, true, true}};
  Tensor a = tensor(DType::f32, {4}, {1, 2, 3, kNan}), b = tensor(DType::f32, {4}, {2, 2, 2, 2});
  for (const Case& test : cases) {
    Tensor c = Tensor::zeros(DType::boolean, {4});
    run(elementwise(4, "f32", "i1", std::string("%c = arith.cmpf ") + test.predicate + ", %a, %b : f32"), {a, b, c});
    EXPECT_EQ(c.values(), (std::vector<double>{double(test.less), double(test.equal), double(test.greater),
                                               double(test.unordered)}))
        << test.predicate;
  }
}

TEST(InterpreterScalar, FloatsToIntegersTruncateAndSaturate) {
  Tensor a = tensor(DType::f32, {6}, {-1.9, 1.9, 3e9, -3e9, kNan, kInfinity}), c = Tensor::zeros(DType::i32, {6});
  run(elementwise(6, "f32", "i32", "%c = arith.fptosi %a : f32 to i32"), {a, a, c});
  EXPECT_EQ(c.values(), (std::vector<double>{-1, 1, 2147483647, -2147483648.0, 0, 2147483647}));
  run(elementwise(6, "f32", "i32", "%c = arith.fptoui %a : f32 to i32"), {a, a, c});
  EXPECT_EQ(c.values(), (std::vector<double>{0, 1, 3000000000.0 - 4294967296.0, 0, 0, -1}));
  Tensor integers = tensor(DType::i32, {2}, {-1, 5}), reals = Tensor::zeros(DType::f64, {2});
  run(elementwise(2, "i32", "f64", "%c = arith.uitofp %a : i32 to f64"), {integers, integers, reals});
  EXPECT_EQ(reals.values(), (std::vector<double>{4294967295.0, 5}));
  run(elementwise(2, "i32", "f64", "%c = arith.sitofp %a : i32 to f64"), {integers, integers, reals});
  EXPECT_EQ(reals.values(), (std::vector<double>{-1, 5}));
}

// Every narrow storage type: what is written is what the tensor's own conversion gives.
TEST(InterpreterScalar, StorageTypesRound) {
  const std::vector<double> values = {0, 1, -1.3, 0.7, 449, 300, 7, 1e5, 1e-3, 65519};
  struct Type {
    const char* text;
    DType dtype;
  };
  for (Type type : {Type{"f16", DType::f16}, Type{"bf16", DType::bf16}, Type{"f8E4M3FN", DType::f8e4m3},
                    Type{"f8E5M2", DType::f8e5m2}, Type{"!tile.f4E2M1FN", DType::f4e2m1}, Type{"f32", DType::f32}}) {
    Tensor a = tensor(DType::f32, {10}, values), c = Tensor::zeros(type.dtype, {10});
    run(elementwise(10, "f32", type.text, "%c = arith.addf %a, %b : f32", "", "f32"),
        {a, Tensor::zeros(DType::f32, {10}), c});
    const std::vector<double> wanted = a.to(type.dtype).values(), got = c.values();
    for (size_t i = 0; i < wanted.size(); ++i) {
      EXPECT_TRUE(got[i] == wanted[i] || (std::isnan(got[i]) && std::isnan(wanted[i])))
          << type.text << ": " << values[i] << " gives " << got[i] << ", not " << wanted[i];
    }
  }
  for (Type type : {Type{"i4", DType::i4}, Type{"i8", DType::i8}, Type{"ui8", DType::u8}, Type{"i16", DType::i16}}) {
    Tensor a = tensor(DType::i32, {5}, {0, 5, -3, 200, 70000}), c = Tensor::zeros(type.dtype, {5});
    run(elementwise(5, "i32", type.text, "%c = arith.addi %a, %b : i32", "", "i32"),
        {a, Tensor::zeros(DType::i32, {5}), c});
    EXPECT_EQ(c.values(), a.to(type.dtype).values()) << type.text;
  }
}

TEST(InterpreterScalar, UndefinedOperations) {
  Tensor a = tensor(DType::i32, {1}, {7}), zero = Tensor::zeros(DType::i32, {1}), c = Tensor::zeros(DType::i32, {1});
  EXPECT_EQ(error_of<ValueError>(elementwise(1, "i32", "i32", "%c = arith.divsi %a, %b : i32"), {a, zero, c}),
            "k.mlir:8:6: divides 7 by zero; test the divisor before");
  Tensor smallest = tensor(DType::i32, {1}, {-2147483648.0}), minus = tensor(DType::i32, {1}, {-1});
  EXPECT_NE(error_of<ValueError>(elementwise(1, "i32", "i32", "%c = arith.divsi %a, %b : i32"), {smallest, minus, c})
                .find("overflows"),
            std::string::npos);
  Tensor forty = tensor(DType::i32, {1}, {40});
  const std::string shifted =
      error_of<ValueError>(elementwise(1, "i32", "i32", "%c = arith.shli %a, %b : i32"), {a, forty, c});
  EXPECT_EQ(
      shifted.find("k.mlir:8:6: shifts by 40 where the type has 32 bits; the value is written to element [0] of 'C'"),
      0u)
      << shifted;
  EXPECT_NE(error_of<ValueError>(elementwise(1, "i32", "i32", "%c = ub.poison : i32"), {a, a, c}).find("ub.poison"),
            std::string::npos);
  // One that is not chosen does no harm.
  run(elementwise(1, "i32", "i32",
                  "%s = arith.shli %a, %b : i32\n%t = arith.constant false\n%c = arith.select %t, %s, %a : i32"),
      {a, forty, c});
  EXPECT_EQ(c.at({0}), 7);
}

}  // namespace
}  // namespace deep_accel::tile::test
