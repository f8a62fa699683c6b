// The words and signs of a program's text, cut as MLIR's own lexer cuts them, as far as the checks before it need.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace deep_accel::tile {

struct TextToken {
  enum class Kind { end, word, value, name, string, sign };
  Kind kind = Kind::end;
  // word: "tile.load", "64x32xf32". value: "%a". name: "@kernel", "#alias", "!alias", "^label". sign: one character, or
  // "->".
  std::string_view text;
  size_t at = 0;  // where it begins

  bool is(std::string_view wanted) const { return text == wanted && kind != Kind::string; }
};

class TextLexer {
 public:
  explicit TextLexer(std::string_view text) : text_(text) {}

  TextToken next() {
    skip_blanks();
    if (at_ >= text_.size()) return {TextToken::Kind::end, {}, text_.size()};
    const size_t begin = at_;
    const char c = text_[at_];
    auto token = [&](TextToken::Kind kind) { return TextToken{kind, text_.substr(begin, at_ - begin), begin}; };
    if (c == '"') {
      skip_string();
      return token(TextToken::Kind::string);
    }
    if (c == '%' || c == '@' || c == '#' || c == '!' || c == '^') {
      ++at_;
      while (at_ < text_.size() && (is_word(text_[at_]) || text_[at_] == '-')) ++at_;
      return token(c == '%' ? TextToken::Kind::value : TextToken::Kind::name);
    }
    if (is_word(c)) {
      while (at_ < text_.size() && is_word(text_[at_])) ++at_;
      return token(TextToken::Kind::word);
    }
    at_ += c == '-' && at_ + 1 < text_.size() && text_[at_ + 1] == '>' ? 2 : 1;
    return token(TextToken::Kind::sign);
  }

 private:
  static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
           c == '.';
  }

  void skip_blanks() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '/' && at_ + 1 < text_.size() && text_[at_ + 1] == '/') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
        ++at_;
      } else {
        return;
      }
    }
  }

  // A string ends with its line at the latest.
  void skip_string() {
    for (++at_; at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n'; ++at_) {
      if (text_[at_] == '\\') ++at_;
    }
    at_ = std::min(at_ + 1, text_.size());
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace deep_accel::tile
