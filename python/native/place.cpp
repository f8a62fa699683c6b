// Where in the user's Python program we are: the innermost frame whose file is not of this package.
#include <cstring>

#include "python/native/native.h"

namespace deep_accel::python {

namespace {

std::string package_folder;

// The column, counted from 1; 0 where Python does not know it.
int column_of(PyFrameObject* frame, PyCodeObject* code) {
  int line = 0, column = 0, end_line = 0, end_column = 0;
  const int at = PyFrame_GetLasti(frame);
  if (at < 0 || !PyCode_Addr2Location(code, at, &line, &column, &end_line, &end_column) || column < 0) return 0;
  return column + 1;
}

}  // namespace

tile::Builder::Place current_place() {
  tile::Builder::Place place;
  PyFrameObject* frame = PyThreadState_GetFrame(PyThreadState_Get());
  while (frame) {
    PyCodeObject* code = PyFrame_GetCode(frame);
    const char* file = PyUnicode_AsUTF8(code->co_filename);
    const bool ours = file && std::strncmp(file, package_folder.c_str(), package_folder.size()) == 0;
    if (file && !ours) {
      place.file = file;
      place.line = PyFrame_GetLineNumber(frame);
      place.column = column_of(frame, code);
    }
    Py_DECREF(code);
    if (!place.file.empty()) {
      Py_DECREF(frame);
      break;
    }
    PyFrameObject* outer = PyFrame_GetBack(frame);
    Py_DECREF(frame);
    frame = outer;
  }
  PyErr_Clear();
  return place;
}

tile::Builder at_current_place(const std::shared_ptr<tile::BuilderState>& state) {
  tile::Builder builder(state);
  builder.set_place(current_place());
  return builder;
}

void bind_place(nb::module_& m) {
  m.def(
      "set_package_folder", [](const std::string& folder) { package_folder = folder; }, nb::arg("folder"),
      "Frames of files below this folder are not taken for the user's.");
  m.def(
      "current_place",
      []() {
        const auto place = current_place();
        return place.file.empty() ? std::string()
                                  : place.file + ":" + std::to_string(place.line) + ":" + std::to_string(place.column);
      },
      "'file:line:column' of the user's code that is running.");
}

}  // namespace deep_accel::python
