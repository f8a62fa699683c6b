// Words in the texts of tests.
#pragma once

#include <string>
#include <string_view>

namespace deep_accel::test {

// The text with `with` wherever `what` stood.
inline std::string replaced(std::string text, std::string_view what, std::string_view with) {
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size()) {
    text.replace(at, what.size(), with);
  }
  return text;
}

}  // namespace deep_accel::test
