// What a text must satisfy before MLIR's parser, which is recursive and knows no limits, may see it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace deep_accel::tile {

// Says where and what is too much ("12:5: brackets are nested more than 256 deep"), or nothing.
std::optional<std::string> text_problem(std::string_view text);

}  // namespace deep_accel::tile
