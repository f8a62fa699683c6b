// What a text must satisfy before MLIR's parser, which is recursive and knows no limits, may see it.
#include "deep_accel/tile/text_limits.h"

#include <array>
#include <cstddef>
#include <unordered_map>

#include "deep_accel/tile/text_lexer.h"
#include "deep_accel/tile/text_names.h"

namespace deep_accel::tile {
namespace {

using Kind = TextToken::Kind;

constexpr size_t kLargestText = size_t{16} << 20;
constexpr int kDeepest = 256;
// MLIR takes time that grows with the square of a number's digits. Shapes ("64x32xf32") are as long at most.
constexpr size_t kLongestNumber = 1000;

// Words of MLIR's that a kernel has no use for, and whose parsers recurse or allocate without brackets to count.
constexpr std::array<std::string_view, 5> kForeignWords = {"affine_map", "affine_set", "dense", "sparse",
                                                           "dense_resource"};

std::string here(std::string_view text, size_t at, const std::string& what) {
  size_t line = 1, begin = 0;
  for (size_t i = 0; i < at; ++i) {
    if (text[i] == '\n') ++line, begin = i + 1;
  }
  return std::to_string(line) + ":" + std::to_string(at - begin + 1) + ": " + what;
}

std::optional<std::string> token_problem(std::string_view text) {
  TextLexer lexer(text);
  int depth = 0;
  // At an array's type: others than i64 crash MLIR's printer where they are not a whole number of bytes.
  bool in_array = false;
  TextToken before;
  for (TextToken token = lexer.next(); token.kind != Kind::end; token = lexer.next()) {
    if (token.kind == Kind::word) {
      if (token.text[0] >= '0' && token.text[0] <= '9' && token.text.size() > kLongestNumber) {
        return here(text, token.at, "a number has more than " + std::to_string(kLongestNumber) + " characters");
      }
      for (std::string_view foreign : kForeignWords) {
        if (token.text != foreign) continue;
        return here(text, token.at,
                    "'" + std::string(foreign) +
                        "' is not part of the tile dialect; layouts are strided<...>, and "
                        "lists [...] or array<i64: ...>");
      }
    }
    if (before.is("array") && token.is("<")) in_array = true;
    if (in_array && token.kind == Kind::word) {
      if (!token.is("i64")) {
        return here(text, token.at,
                    "'array<" + std::string(token.text) +
                        "' is not part of the tile dialect; lists of numbers are array<i64: ...>");
      }
      in_array = false;
    }
    before = token;
    if (token.kind != Kind::sign || token.text.size() != 1) continue;
    const char c = token.text[0];
    if (c == '(' || c == '[' || c == '{' || c == '<') ++depth;
    if ((c == ')' || c == ']' || c == '}' || c == '>') && depth > 0) --depth;
    if (depth > kDeepest) {
      return here(text, token.at,
                  "brackets are nested more than " + std::to_string(kDeepest) + " deep; split the kernel");
    }
  }
  return std::nullopt;
}

// Aliases (#name = ..., !name = ...) are written once and stand for their text wherever they are used, in other aliases
// too: a few lines may stand for more than any memory holds, which messages and prints would write out.
std::optional<std::string> alias_problem(std::string_view text) {
  std::unordered_map<std::string_view, size_t> sizes;  // of what each alias stands for
  TextLexer lexer(text);
  size_t total = 0, begin_of_alias = 0;
  std::string_view alias;
  auto close = [&] {
    if (!alias.empty()) sizes[alias] = total - begin_of_alias;
    alias = {};
  };
  TextToken before, token = lexer.next();
  while (token.kind != Kind::end) {
    const TextToken after = lexer.next();
    const bool refers = token.kind == Kind::name && (token.text[0] == '#' || token.text[0] == '!');
    if (refers && after.is("=") && !before.is(",") && !before.is("{")) {
      close();
      alias = token.text;
      begin_of_alias = total;
    } else if (token.kind == Kind::word && token.text.find('.') != std::string_view::npos) {
      close();  // an operation: the definition is over
    }
    const auto known = refers ? sizes.find(token.text) : sizes.end();
    total += token.text.size() + (known == sizes.end() ? 0 : known->second);
    if (total > 4 * kLargestText) {
      return here(text, token.at,
                  "with its aliases written out, the text has more than " + std::to_string(4 * kLargestText) +
                      " bytes; use fewer or shorter ones");
    }
    before = token;
    token = after;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> text_problem(std::string_view text) {
  if (text.size() > kLargestText) {
    return "1:1: the text has " + std::to_string(text.size()) + " bytes; programs have at most " +
           std::to_string(kLargestText);
  }
  if (auto problem = token_problem(text)) return problem;
  if (auto problem = alias_problem(text)) return problem;
  if (const auto use = use_before_definition(text)) {
    return here(text, use->at, "'" + std::string(use->text) + "' is used before it is defined");
  }
  return std::nullopt;
}

}  // namespace deep_accel::tile
