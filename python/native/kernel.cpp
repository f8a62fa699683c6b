// Programs and kernels: text, compiling, launching, interpreting.
#include "deep_accel/runtime/kernel.h"

#include <array>

#include "deep_accel/base/error.h"
#include "deep_accel/compile/compiler.h"
#include "deep_accel/tile/interpreter/interpreter.h"
#include "deep_accel/tile/program.h"
#include "deep_accel/tile/signature.h"
#include "python/native/native.h"

namespace deep_accel::python {

bool signalled() {
  nb::gil_scoped_acquire gil;
  return PyErr_CheckSignals() != 0;
}

namespace {

// What has __index__ is an integer, what else has __float__ a float; arrays of one element have both, others neither.
Argument number_of(nb::handle object, const std::string& kernel, const std::string& name) {
  if (PyIndex_Check(object.ptr())) {
    if (nb::object integer = nb::steal(PyNumber_Index(object.ptr())); integer.is_valid()) {
      int overflow = 0;
      const long long value = PyLong_AsLongLongAndOverflow(integer.ptr(), &overflow);
      if (!overflow) return Argument(static_cast<int64_t>(value));
      throw ValueError(kernel + ": argument '" + name + "': " + nb::cast<std::string>(nb::str(integer)) +
                       " does not fit 64 bits");
    }
    PyErr_Clear();
  }
  const double number = PyFloat_AsDouble(object.ptr());
  if (number == -1 && PyErr_Occurred()) {
    PyErr_Clear();
    throw TypeError(kernel + ": argument '" + name + "': a number expected, got " +
                    nb::cast<std::string>(nb::str(object.type())) + "; give an int or a float");
  }
  return Argument(number);
}

// One Argument for each of the kernel's; the caller keeps the objects alive.
std::vector<Argument> arguments_of(const KernelSignature& signature, const nb::args& arguments) {
  std::vector<Argument> values;
  values.reserve(arguments.size());
  const auto& specs = signature.args;
  if (arguments.size() != specs.size()) {
    throw TypeError(signature.name + ": " + std::to_string(specs.size()) + " arguments expected, got " +
                    std::to_string(arguments.size()));
  }
  size_t i = 0;
  for (nb::handle argument : arguments) {
    const ArgumentSpec& spec = specs[i++];
    if (spec.is_tensor) {
      try {
        values.emplace_back(tensor_from_object(argument, /*keep=*/false));
      } catch (const TypeError& error) {
        throw TypeError(signature.name + ": argument '" + spec.name + "': " + error.what());
      }
    } else if (PyBool_Check(argument.ptr())) {
      values.emplace_back(argument.is(nb::handle(Py_True)));
    } else {
      values.push_back(number_of(argument, signature.name, spec.name));
    }
  }
  return values;
}

void print_line(std::string_view line) {
  nb::gil_scoped_acquire gil;
  PySys_FormatStdout("%s\n", std::string(line).c_str());
}

// Runs a kernel in the interpreter. The most that compiled code may differ stands in `bounds`.
nb::dict interpret(const tile::Program& program, const std::string& kernel, nb::args arguments, bool check_races) {
  const auto values = arguments_of(tile::signature_of(program, kernel), arguments);
  tile::InterpreterOptions options;
  options.check_races = check_races;
  options.print = print_line;
  options.interrupted = signalled;
  tile::InterpreterResult result;
  {
    nb::gil_scoped_release release;
    result = tile::interpret(program, kernel, values, options);
  }
  nb::dict d;
  d["bounds"] = result.bounds, d["unstable"] = result.unstable, d["steps"] = result.steps;
  return d;
}

// A kernel with its program; what a call needs is prepared once.
class Compiled {
 public:
  Compiled(tile::Program program, const std::string& name, const compile::Options& options)
      : program_(std::move(program)), options_(options), kernel_(compile::jit(program_, name, options_)) {}

  const KernelSignature& signature() const { return kernel_->signature(); }
  const tile::Program& program() const { return program_; }
  const compile::Options& options() const { return options_; }

  void launch(nb::args arguments, int threads) const {
    const auto values = arguments_of(signature(), arguments);
    LaunchOptions options;
    options.threads = threads;
    options.interrupted = signalled;
    options.print = print_line;
    nb::gil_scoped_release release;
    deep_accel::launch(*kernel_, values, options);
  }

 private:
  tile::Program program_;
  compile::Options options_;
  std::shared_ptr<const Kernel> kernel_;
};

nb::list describe(const KernelSignature& signature) {
  nb::list result;
  for (const ArgumentSpec& spec : signature.args) {
    nb::dict d;
    d["name"] = spec.name, d["is_tensor"] = spec.is_tensor, d["dtype"] = spec.dtype;
    d["role"] = spec.role == ArgumentSpec::Role::in ? "in" : spec.role == ArgumentSpec::Role::out ? "out" : "inout";
    nb::list dims;
    for (const DimSpec& dim : spec.dims) {
      if (dim.kind == DimSpec::Kind::fixed) {
        dims.append(dim.value);
      } else if (dim.kind == DimSpec::Kind::symbol) {
        dims.append(signature.symbols[static_cast<size_t>(dim.value)]);
      } else {
        dims.append(nb::none());
      }
    }
    d["dims"] = dims;
    result.append(d);
  }
  return result;
}

compile::Options make_options(const std::string& target, int optimisation) {
  compile::Options options;
  options.target = target;
  options.optimisation = optimisation;
  return options;
}

}  // namespace

void bind_kernel(nb::module_& m) {
  nb::class_<tile::Program>(m, "Program", "A module of kernels in the tile dialect.")
      .def_static(
          "parse", [](const std::string& text, const std::string& name) { return tile::Program::parse(text, name); },
          nb::arg("text"), nb::arg("name") = "<text>", "Parse the dialect's text. Raises ValueError.")
      .def_static("parse_file", &tile::Program::parse_file, nb::arg("path"), "Read and parse a file.")
      .def("text", &tile::Program::text, nb::arg("locations") = false, "The dialect's text.")
      .def_prop_ro("kernels", &tile::Program::kernels, "The kernels' names.")
      .def(
          "arguments",
          [](const tile::Program& p, const std::string& kernel) { return describe(tile::signature_of(p, kernel)); },
          nb::arg("kernel") = "", "What each argument of a kernel is.")
      .def("__repr__", [](const tile::Program& p) { return p.text(); });

  m.def(
      "ir",
      [](const tile::Program& p, const std::string& target, const std::string& stop_after) {
        compile::Options options = make_options(target, 3);
        options.stop_after = stop_after;
        return compile::ir(p, options);
      },
      nb::arg("program"), nb::arg("target") = "host", nb::arg("stop_after") = "",
      "The program after the compiler's passes.");
  m.def(
      "llvm_ir",
      [](const tile::Program& p, const std::string& target) { return compile::llvm_ir(p, make_options(target, 3)); },
      nb::arg("program"), nb::arg("target") = "host", "LLVM IR after LLVM's own passes.");
  m.def(
      "assembly",
      [](const tile::Program& p, const std::string& target) { return compile::assembly(p, make_options(target, 3)); },
      nb::arg("program"), nb::arg("target") = "host", "The target's assembly.");
  m.def(
      "explain",
      [](const tile::Program& p, const std::string& target) { return compile::explain(p, make_options(target, 3)); },
      nb::arg("program"), nb::arg("target") = "host", "What the compiler decided and why, as JSON text.");
  m.def("interpret", &interpret, nb::arg("program"), nb::arg("kernel"), nb::arg("arguments"),
        nb::arg("check_races") = true,
        "Run a kernel in the reference interpreter (double precision, bounds and races checked).");
  m.def("target_names", &compile::target_names, "Targets that can be asked for.");

  nb::class_<Compiled>(m, "CompiledKernel", "Machine code of one kernel, ready to launch.")
      .def(
          "__init__",
          [](Compiled* self, const tile::Program& program, const std::string& name, const std::string& target,
             int optimisation) {
            nb::gil_scoped_release release;
            new (self) Compiled(program, name, make_options(target, optimisation));
          },
          nb::arg("program"), nb::arg("name") = "", nb::arg("target") = "host", nb::arg("optimisation") = 3)
      .def("launch", &Compiled::launch, nb::arg("arguments"), nb::arg("threads") = 0,
           "Run it on one array or number for each argument. Ctrl-C stops it.")
      .def_prop_ro("program", &Compiled::program)
      .def_prop_ro("name", [](const Compiled& k) { return k.signature().name; })
      .def_prop_ro(
          "arguments", [](const Compiled& k) { return describe(k.signature()); }, "What each argument is.")
      .def_prop_ro(
          "arena_bytes", [](const Compiled& k) { return k.signature().arena_bytes; }, "Scratch memory a thread.")
      .def_prop_ro("target", [](const Compiled& k) { return k.signature().target; });
}

}  // namespace deep_accel::python
