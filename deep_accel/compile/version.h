// Which compiler this is, for the keys of caches.
#pragma once

#include <string>

namespace deep_accel::compile {

// Version, LLVM's version, and what tells this build from others.
const std::string& version();

}  // namespace deep_accel::compile
