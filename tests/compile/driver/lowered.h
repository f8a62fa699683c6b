// Machine code of hand-written functions in upstream dialects, for tests that do not see MLIR.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace deep_accel::test {

std::vector<std::byte> library_of_lowered(const std::string& code, const std::string& signature);
std::vector<std::byte> object_of_lowered(const std::string& code, const std::string& target);
std::string assembly_of_lowered(const std::string& code, const std::string& target);

}  // namespace deep_accel::test
