// From LLVM IR to optimised IR, assembly and object files.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "deep_accel/compile/target/target.h"
#include "llvm/IR/Module.h"

namespace llvm {
class TargetMachine;
}

namespace deep_accel::compile {

// LLVM's code generator for one target. Not for two threads at a time.
class MachineCode {
 public:
  // `optimisation` is LLVM's level, 0 to 3. UnsupportedError where this build's LLVM lacks the architecture.
  MachineCode(const Target& target, int optimisation);
  ~MachineCode();

  // How the target lays out data, in LLVM's words.
  std::string data_layout() const;
  // LLVM's passes of the level. The loop and SLP vectorisers are left out: the code that we give is in vectors already.
  void optimise(llvm::Module& module) const;
  std::vector<std::byte> object(llvm::Module& module) const;
  std::string assembly(llvm::Module& module) const;

 private:
  int optimisation_;
  std::unique_ptr<llvm::TargetMachine> machine_;
};

}  // namespace deep_accel::compile
