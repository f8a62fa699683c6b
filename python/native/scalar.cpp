// Scalars of a kernel that is being traced, with Python's operators.
#include "deep_accel/base/error.h"
#include "python/native/native.h"

namespace deep_accel::python {

using tile::Operand;
using tile::Scalar;
using tile::ScalarType;

namespace {

// Sets the place of what the scalars' builder does next.
void locate(const Scalar& a, const Scalar& b = 0, const Scalar& c = 0) {
  for (const Scalar* scalar : {&a, &b, &c}) {
    if (scalar->state()) {
      at_current_place(scalar->state());
      return;
    }
  }
}

using Unary = Scalar (*)(const Operand&);
using Binary = Scalar (*)(const Operand&, const Operand&);

void unary(nb::module_& m, const char* name, Unary function, const char* doc) {
  m.def(name, [function](const AnyScalar& x) { return locate(x.scalar), function(x.scalar); }, nb::arg("x"), doc);
}

void binary(nb::module_& m, const char* name, Binary function, const char* doc) {
  m.def(
      name,
      [function](const AnyScalar& a, const AnyScalar& b) {
        return locate(a.scalar, b.scalar), function(a.scalar, b.scalar);
      },
      nb::arg("a"), nb::arg("b"), doc);
}

// Both orders of an operator.
void infix(nb::class_<Scalar>& c, const char* name, Binary function) {
  const std::string left = std::string("__") + name + "__", right = std::string("__r") + name + "__";
  c.def(
      left.c_str(), [function](const Scalar& a, const AnyScalar& b) { return locate(a), function(a, b.scalar); },
      nb::is_operator());
  c.def(
      right.c_str(), [function](const Scalar& b, const AnyScalar& a) { return locate(b), function(a.scalar, b); },
      nb::is_operator());
}

void relation(nb::class_<Scalar>& c, const char* name, Binary function) {
  c.def(
      name, [function](const Scalar& a, const AnyScalar& b) { return locate(a), function(a, b.scalar); },
      nb::is_operator());
}

// Python's true division: of integers too it gives a fraction.
Scalar true_divide(const Operand& a, const Operand& b) {
  if (a.scalar().is_floating() || b.scalar().is_floating()) return a / b;
  return Operand(cast(a, ScalarType::f32)) / Operand(cast(b, ScalarType::f32));
}

}  // namespace

bool is_scalar_like(nb::handle object) {
  return nb::isinstance<Scalar>(object) || PyBool_Check(object.ptr()) || PyLong_Check(object.ptr()) ||
         PyFloat_Check(object.ptr()) || nb::hasattr(object, "__tile_scalar__") ||
         (PyIndex_Check(object.ptr()) && !nb::hasattr(object, "__len__")) ||
         (PyNumber_Check(object.ptr()) && nb::hasattr(object, "dtype") && nb::hasattr(object, "item") &&
          nb::cast<int>(nb::getattr(object, "ndim", nb::int_(1))) == 0);
}

Scalar scalar_from_object(nb::handle object) {
  if (nb::isinstance<Scalar>(object)) return *nb::inst_ptr<Scalar>(object);
  if (PyBool_Check(object.ptr())) return object.ptr() == Py_True;
  if (nb::hasattr(object, "__tile_scalar__")) return scalar_from_object(nb::object(object.attr("__tile_scalar__")()));
  if (PyIndex_Check(object.ptr())) return nb::cast<int64_t>(nb::steal(PyNumber_Index(object.ptr())));
  const double number = PyFloat_AsDouble(object.ptr());
  if (number == -1 && PyErr_Occurred()) throw nb::python_error();
  return number;
}

void bind_scalar(nb::module_& m) {
  nb::enum_<ScalarType>(m, "ScalarType", "The types in which kernels compute.")
      .value("f64", ScalarType::f64)
      .value("f32", ScalarType::f32)
      .value("i64", ScalarType::i64)
      .value("i32", ScalarType::i32)
      .value("bool", ScalarType::boolean)
      .value("index", ScalarType::index);

  nb::class_<Scalar> c(m, "Scalar", "A number that the kernel computes when it runs.");
  infix(c, "add", tile::operator+);
  infix(c, "sub", static_cast<Binary>(tile::operator-));
  infix(c, "mul", tile::operator*);
  infix(c, "truediv", true_divide);
  infix(c, "floordiv", tile::floor_div);
  infix(c, "mod", tile::floor_mod);
  infix(c, "pow", tile::pow);
  infix(c, "and", tile::operator&);
  infix(c, "or", tile::operator|);
  infix(c, "xor", tile::operator^);
  infix(c, "lshift", tile::operator<<);
  infix(c, "rshift", tile::operator>>);
  relation(c, "__lt__", tile::operator<);
  relation(c, "__le__", tile::operator<=);
  relation(c, "__gt__", tile::operator>);
  relation(c, "__ge__", tile::operator>=);
  relation(c, "__eq__", tile::operator==);
  relation(c, "__ne__", tile::operator!=);
  c.def("__neg__", [](const Scalar& a) { return locate(a), -Operand(a); })
      .def("__pos__", [](const Scalar& a) { return a; })
      .def("__invert__", [](const Scalar& a) { return locate(a), ~Operand(a); })
      .def("__abs__", [](const Scalar& a) { return locate(a), tile::abs(a); })
      .def("__hash__", [](const Scalar& a) { return reinterpret_cast<intptr_t>(a.value()) >> 4; })
      .def("__bool__",
           [](const Scalar& a) -> bool {
             if (auto known = a.constant()) return *known != 0;
             const auto place = current_place();
             throw TypeError(
                 place.file + ":" + std::to_string(place.line) +
                 ": the truth of a value that the kernel computes is not known while it is written; in a "
                 "function under @T.prim_func, @T.macro or @jit 'if', 'while', 'and', 'or', 'not' work on it; "
                 "elsewhere use T.if_then_else, T.all_of, T.any_of");
           })
      .def("__index__",
           [](const Scalar& a) -> int64_t {
             if (auto known = a.constant()) return *known;
             const auto place = current_place();
             throw TypeError(place.file + ":" + std::to_string(place.line) +
                             ": a plain integer is needed here (a shape, a Python list's index), got a value that the "
                             "kernel computes; use a number, or T.unroll for the loop whose variable it is");
           })
      .def(
          "astype", [](const Scalar& a, AnyDType d) { return locate(a), tile::cast(Operand(a), d.dtype); },
          nb::arg("dtype"), "The value converted to a dtype.")
      .def_prop_ro("type", &Scalar::type, "The type in which it computes.")
      .def_prop_ro("constant", &Scalar::constant, "The value where it is an integer known now, else None.")
      .def_prop_ro("is_literal", &Scalar::is_literal)
      .def_prop_ro(
          "number",
          [](const Scalar& a) -> nb::object {
            if (auto known = a.constant())
              return a.is_boolean() ? nb::object(nb::bool_(*known != 0)) : nb::object(nb::int_(*known));
            if (a.is_literal()) return nb::float_(a.number());
            return nb::none();
          },
          "The Python number where it is known now, else None.")
      .def("__repr__", [](const Scalar& a) {
        if (a.is_literal()) return "Scalar(" + std::to_string(a.number()) + ")";
        return "Scalar(" + std::string(tile::name(a.type())) + ")";
      });

  unary(m, "exp", tile::exp, "e to the power x.");
  unary(m, "exp2", tile::exp2, "2 to the power x.");
  unary(m, "expm1", tile::expm1, "exp(x) - 1, exact near 0.");
  unary(m, "log", tile::log, "Natural logarithm.");
  unary(m, "log2", tile::log2, "Logarithm to base 2.");
  unary(m, "log10", tile::log10, "Logarithm to base 10.");
  unary(m, "log1p", tile::log1p, "log(1 + x), exact near 0.");
  unary(m, "sqrt", tile::sqrt, "Square root.");
  unary(m, "rsqrt", tile::rsqrt, "1 / sqrt(x).");
  unary(m, "sin", tile::sin, "Sine.");
  unary(m, "cos", tile::cos, "Cosine.");
  unary(m, "tan", tile::tan, "Tangent.");
  unary(m, "tanh", tile::tanh, "Hyperbolic tangent.");
  unary(m, "erf", tile::erf, "The error function.");
  unary(m, "sigmoid", tile::sigmoid, "1 / (1 + exp(-x)).");
  unary(m, "floor", tile::floor, "Round down.");
  unary(m, "ceil", tile::ceil, "Round up.");
  unary(m, "trunc", tile::trunc, "Round towards zero.");
  unary(m, "round", tile::round, "Round to nearest, ties to even.");
  unary(m, "abs", tile::abs, "Absolute value.");
  unary(m, "isnan", tile::is_nan, "Whether x is not a number.");
  unary(m, "isinf", tile::is_inf, "Whether x is infinite.");
  unary(m, "logical_not", tile::operator!, "not x, of a value that the kernel computes.");
  binary(m, "min", tile::min, "The lesser; of a NaN and a number, the number.");
  binary(m, "max", tile::max, "The greater; of a NaN and a number, the number.");
  binary(m, "pow", tile::pow, "a to the power b.");
  binary(m, "floordiv", tile::floor_div, "The quotient rounded down.");
  binary(m, "floormod", tile::floor_mod, "The remainder with the divisor's sign.");
  binary(m, "ceildiv", tile::ceil_div, "The quotient rounded up.");
  binary(m, "truncdiv", tile::operator/, "The quotient rounded towards zero, as in C.");
  binary(m, "truncmod", tile::operator%, "The remainder with the dividend's sign, as in C.");
  binary(m, "logical_and", tile::operator&&, "a and b, both computed.");
  binary(m, "logical_or", tile::operator||, "a or b, both computed.");
  binary(m, "equal", tile::operator==, "a == b.");
  m.def(
      "fma",
      [](AnyScalar a, AnyScalar b, AnyScalar c) {
        return locate(a.scalar, b.scalar, c.scalar), tile::fma(a.scalar, b.scalar, c.scalar);
      },
      nb::arg("a"), nb::arg("b"), nb::arg("c"), "a * b + c, rounded once.");
  m.def(
      "clamp",
      [](AnyScalar x, AnyScalar low, AnyScalar high) {
        return locate(x.scalar, low.scalar, high.scalar), tile::clamp(x.scalar, low.scalar, high.scalar);
      },
      nb::arg("x"), nb::arg("low"), nb::arg("high"), "x, not below low and not above high.");
  m.def(
      "select",
      [](AnyScalar c, AnyScalar a, AnyScalar b) {
        return locate(c.scalar, a.scalar, b.scalar), tile::select(c.scalar, a.scalar, b.scalar);
      },
      nb::arg("condition"), nb::arg("a"), nb::arg("b"), "a where the condition holds, else b; both are computed.");
  m.def(
      "cast", [](AnyScalar x, AnyDType d) { return locate(x.scalar), tile::cast(x.scalar, d.dtype); }, nb::arg("x"),
      nb::arg("dtype"), "The value converted to a dtype (and held in the type in which that computes).");
  m.def(
      "cast_type", [](AnyScalar x, ScalarType t) { return locate(x.scalar), tile::cast(x.scalar, t); }, nb::arg("x"),
      nb::arg("type"));
  m.def(
      "reinterpret",
      [](AnyScalar x, AnyDType from, AnyDType to) {
        return locate(x.scalar), tile::reinterpret(x.scalar, from.dtype, to.dtype);
      },
      nb::arg("x"), nb::arg("source"), nb::arg("dtype"), "The same bits as another dtype of the same width.");
}

}  // namespace deep_accel::python
