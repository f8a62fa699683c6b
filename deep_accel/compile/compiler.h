// The compiler: from programs in the tile dialect to machine code, just in time or ahead of time.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "deep_accel/tile/program.h"

namespace deep_accel {
class Kernel;
}

namespace deep_accel::compile {

// What of the result is wanted.
struct Options {
  std::string target = "host";    // a name of target_names()
  int optimisation = 3;           // LLVM's level, 0 to 3
  std::string stop_after = "";    // for ir(): the pass after which to stop; empty runs all
  bool print_after_each = false;  // for ir(): the program after each pass, one text after the other
};

struct PassInfo {
  std::string name;
  std::string summary;
};

// The passes in the order in which they run.
std::vector<PassInfo> passes();
// Names of the targets that can be asked for; "host" is the machine that we run on.
std::vector<std::string> target_names();

// The program's text after some or all passes on MLIR (see Options).
std::string ir(const tile::Program& program, const Options& options = {});
// LLVM IR after LLVM's own passes; the target's assembly.
std::string llvm_ir(const tile::Program& program, const Options& options = {});
std::string assembly(const tile::Program& program, const Options& options = {});
// A relocatable object file (ELF) for the target.
std::vector<std::byte> object(const tile::Program& program, const Options& options = {});
// A shared library image for the host, which Kernel::load takes.
std::vector<std::byte> library(const tile::Program& program, const Options& options = {});

// The kernel ready to launch: from memory, from the disk cache, or compiled now. `name` may be empty where the program
// has one kernel. Throws ValueError with the source line where the program is malformed, UnsupportedError where the
// target cannot do it.
std::shared_ptr<const Kernel> jit(const tile::Program& program, const std::string& name = "",
                                  const Options& options = {});

// What the compiler decided for each kernel and why, as JSON text (see docs/tilelang.md, "explain"). With sizes of
// named dimensions, {"M", 1024}, it also estimates a whole launch; ValueError for a name that no kernel has.
std::string explain(const tile::Program& program, const Options& options = {},
                    const std::map<std::string, int64_t>& sizes = {});

}  // namespace deep_accel::compile
