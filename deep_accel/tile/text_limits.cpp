// What a text must satisfy before MLIR's parser, which is recursive and knows no limits, may see it.
#include "deep_accel/tile/text_limits.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace deep_accel::tile {
namespace {

constexpr size_t kLargestText = size_t{16} << 20;
constexpr int kDeepest = 256;

// Words of MLIR's that a kernel has no use for, and whose parsers recurse or allocate without brackets to count.
constexpr std::array<std::string_view, 5> kForeignWords = {"affine_map", "affine_set", "dense", "sparse",
                                                           "dense_resource"};

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' || c == '.';
}

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  std::optional<std::string> problem() {
    while (at_ < text_.size()) {
      if (auto found = step()) return found;
    }
    return std::nullopt;
  }

 private:
  std::optional<std::string> step() {
    const char c = text_[at_];
    if (c == '"') return skip_string();
    if (c == '/' && next() == '/') return skip_comment();
    if (c == '-' && next() == '>') {
      at_ += 2;
      return std::nullopt;
    }
    if (is_word(c)) return word();
    if (c == '(' || c == '[' || c == '{' || c == '<') ++depth_;
    if ((c == ')' || c == ']' || c == '}' || c == '>') && depth_ > 0) --depth_;
    if (depth_ > kDeepest) {
      return here("brackets are nested more than " + std::to_string(kDeepest) + " deep; split the kernel");
    }
    ++at_;
    return std::nullopt;
  }

  std::optional<std::string> skip_string() {
    for (++at_; at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n'; ++at_) {
      if (text_[at_] == '\\') ++at_;
    }
    ++at_;
    return std::nullopt;
  }

  std::optional<std::string> skip_comment() {
    at_ = std::min(text_.find('\n', at_), text_.size());
    return std::nullopt;
  }

  std::optional<std::string> word() {
    const size_t begin = at_;
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    // Names of values, symbols and aliases may be any word.
    if (begin > 0 && std::string_view("%@#!^").find(text_[begin - 1]) != std::string_view::npos) return std::nullopt;
    for (std::string_view foreign : kForeignWords) {
      if (text_.substr(begin, at_ - begin) != foreign) continue;
      at_ = begin;
      return here("'" + std::string(foreign) +
                  "' is not part of the tile dialect; layouts are strided<...>, and lists "
                  "[...] or array<i64: ...>");
    }
    return std::nullopt;
  }

  char next() const { return at_ + 1 < text_.size() ? text_[at_ + 1] : '\0'; }

  std::string here(const std::string& what) const {
    size_t line = 1, begin = 0;
    for (size_t i = 0; i < at_; ++i) {
      if (text_[i] == '\n') ++line, begin = i + 1;
    }
    return std::to_string(line) + ":" + std::to_string(at_ - begin + 1) + ": " + what;
  }

  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

std::optional<std::string> text_problem(std::string_view text) {
  if (text.size() > kLargestText) {
    return "1:1: the text has " + std::to_string(text.size()) + " bytes; programs have at most " +
           std::to_string(kLargestText);
  }
  return Scanner(text).problem();
}

}  // namespace deep_accel::tile
