// Our exceptions in Python: each is the natural built-in as well as deep_accel.Error.
#include <array>
#include <new>

#include "deep_accel/base/error.h"
#include "python/native/native.h"

namespace deep_accel::python {

namespace {

enum Kind { kError, kShape, kType, kValue, kUnsupported, kIo, kIndex, kMemory, kKinds };
std::array<PyObject*, kKinds> types{};

void set(Kind kind, const std::exception& error) { PyErr_SetString(types[kind], error.what()); }

void translate(const std::exception_ptr& pointer, void*) {
  try {
    std::rethrow_exception(pointer);
  } catch (const ShapeError& error) {
    set(kShape, error);
  } catch (const TypeError& error) {
    set(kType, error);
  } catch (const ValueError& error) {
    set(kValue, error);
  } catch (const UnsupportedError& error) {
    set(kUnsupported, error);
  } catch (const IoError& error) {
    set(kIo, error);
  } catch (const IndexError& error) {
    set(kIndex, error);
  } catch (const OutOfMemoryError& error) {
    set(kMemory, error);
  } catch (const Interrupted& error) {
    // Usually Python has set KeyboardInterrupt itself, when it was asked for signals.
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_KeyboardInterrupt, error.what());
  } catch (const Error& error) {
    set(kError, error);
  }
}

PyObject* make(nb::module_& m, const char* name, const char* doc, PyObject* built_in) {
  nb::object bases = types[kError] ? nb::make_tuple(nb::handle(types[kError]), nb::handle(built_in))
                                   : nb::make_tuple(nb::handle(built_in));
  PyObject* type = PyErr_NewExceptionWithDoc((std::string("deep_accel.") + name).c_str(), doc, bases.ptr(), nullptr);
  if (!type) throw nb::python_error();
  m.attr(name) = nb::handle(type);
  return type;
}

}  // namespace

void bind_errors(nb::module_& m) {
  types[kError] =
      make(m, "Error", "Root of this library's exceptions; itself an internal failure.", PyExc_RuntimeError);
  types[kShape] = make(m, "ShapeError", "A shape, rank or stride that does not fit.", PyExc_ValueError);
  types[kType] = make(m, "DTypeError", "A dtype or a kind of argument that does not fit.", PyExc_TypeError);
  types[kValue] = make(m, "InvalidValueError", "A value out of its range, or a malformed text.", PyExc_ValueError);
  types[kUnsupported] =
      make(m, "UnsupportedError", "Valid, but not on this machine, target or build.", PyExc_NotImplementedError);
  types[kIo] = make(m, "IoError", "A file or device that could not be read or written.", PyExc_OSError);
  types[kIndex] = make(m, "OutOfBoundsError", "An index outside its bounds.", PyExc_IndexError);
  types[kMemory] = make(m, "OutOfMemoryError", "Memory that could not be had.", PyExc_MemoryError);
  nb::register_exception_translator(translate);
}

}  // namespace deep_accel::python
