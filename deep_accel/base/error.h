// What the library throws. One root and a few children, each of which arrives in Python as the natural built-in.
//
// A message names the argument, what was expected, what came, and what to do about it; where a source line of a kernel
// is known, it comes first ("softmax.py:12: ...").
#pragma once

#include <stdexcept>
#include <string>

namespace deep_accel {

// Root of every error of this library; itself an internal failure ("this should not happen"): RuntimeError in Python.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message) : std::runtime_error(message) {}
  ~Error() override;
};

// A shape, rank or stride that does not fit: ValueError in Python.
class ShapeError : public Error {
 public:
  using Error::Error;
  ~ShapeError() override;
};

// A dtype or a kind of argument that does not fit: TypeError in Python.
class TypeError : public Error {
 public:
  using Error::Error;
  ~TypeError() override;
};

// A value out of its range, or a malformed text: ValueError in Python.
class ValueError : public Error {
 public:
  using Error::Error;
  ~ValueError() override;
};

// Something valid that this machine, target or build cannot do: NotImplementedError in Python.
class UnsupportedError : public Error {
 public:
  using Error::Error;
  ~UnsupportedError() override;
};

// A file or a device that could not be read or written: OSError in Python.
class IoError : public Error {
 public:
  using Error::Error;
  ~IoError() override;
};

// An index outside its bounds: IndexError in Python.
class IndexError : public Error {
 public:
  using Error::Error;
  ~IndexError() override;
};

// Memory that could not be had: MemoryError in Python.
class OutOfMemoryError : public Error {
 public:
  using Error::Error;
  ~OutOfMemoryError() override;
};

// Somebody asked for a stop (Ctrl-C) while work was going on: KeyboardInterrupt in Python.
class Interrupted : public Error {
 public:
  using Error::Error;
  ~Interrupted() override;
};

}  // namespace deep_accel
