// Finding a target by its name.
#include "deep_accel/compile/target/target.h"

#include "deep_accel/base/error.h"
#include "deep_accel/base/text.h"

namespace deep_accel::compile {
namespace {

std::vector<std::span<const Target>> tables() {
  return {x86_targets(), aarch64_targets(), riscv_targets(), loongarch_targets()};
}

}  // namespace

std::vector<std::string> known_targets() {
  std::vector<std::string> names;
  for (std::span<const Target> table : tables()) {
    for (const Target& target : table) names.push_back(target.name);
  }
  return names;
}

const Target& find_target(const std::string& name) {
  if (name == "host") return host_target();
  for (std::span<const Target> table : tables()) {
    for (const Target& target : table) {
      if (target.name == name) return target;
    }
  }
  std::vector<std::string> names = known_targets();
  names.insert(names.begin(), "host");
  throw UnsupportedError("no target is called '" + name + "'" + did_you_mean(name, names) +
                         "; there are: " + join(names));
}

}  // namespace deep_accel::compile
