// The compiler's report on a program (compile::explain) as text for people.
#pragma once

#include <string>

namespace deep_accel::cli {

// `report` is compile::explain's JSON. Throws ValueError where it is no such report.
std::string explain_text(const std::string& report);

}  // namespace deep_accel::cli
