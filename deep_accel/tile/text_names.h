// Names of values that are used before they are defined.
//
// MLIR's parser lets a name be used first and defined later, and gives it a placeholder meanwhile. Where the definition
// stands in a region deeper than the use, its code ends in dangling pointers: scf.if and scf.while take their operands
// before they read their regions, and after an error a region is destroyed while uses outside of it still hang on its
// values. No kernel has a use for such names, which are an error in any case.
#pragma once

#include <optional>
#include <string_view>

#include "deep_accel/tile/text_lexer.h"

namespace deep_accel::tile {

// The first name that no text before it defines in an enclosing scope.
std::optional<TextToken> use_before_definition(std::string_view text);

}  // namespace deep_accel::tile
