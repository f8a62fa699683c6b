#include "mutate.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

namespace deep_accel::test {
namespace {

using Tokens = std::vector<std::string>;
using Random = std::mt19937_64;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }
bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || c == '$' || c == '.';
}

// Where the token that begins at `at` ends.
size_t token_end(std::string_view text, size_t at) {
  auto while_true = [&](size_t from, auto predicate) {
    while (from < text.size() && predicate(text[from])) ++from;
    return from;
  };
  const char c = text[at];
  if (is_blank(c)) return while_true(at, is_blank);
  if (c == '"') {
    const size_t end = text.find('"', at + 1);
    return end == std::string_view::npos ? text.size() : end + 1;
  }
  if (c == '/' && at + 1 < text.size() && text[at + 1] == '/') return std::min(text.find('\n', at), text.size());
  if (c == '-' && at + 1 < text.size() && (text[at + 1] == '>' || is_digit(text[at + 1]))) {
    return text[at + 1] == '>' ? at + 2 : while_true(at + 1, is_digit);
  }
  if (c == '%' || c == '@' || c == '#' || c == '!' || c == '^') return while_true(at + 1, is_word);
  // "64" and "x" of "64x32xf32" are tokens of their own.
  if (is_digit(c)) return while_true(at, [](char d) { return is_digit(d) || d == '.'; });
  if (c == 'x' && at + 1 < text.size() && at > 0 && (is_digit(text[at - 1]) || text[at - 1] == '?')) return at + 1;
  if (is_word(c)) return while_true(at, is_word);
  return at + 1;
}

bool is_number(const std::string& token) {
  return is_digit(token[0]) || (token[0] == '-' && token.size() > 1 && is_digit(token[1]));
}

const Tokens kNumbers = {"0",
                         "-1",
                         "1",
                         "2",
                         "3",
                         "4",
                         "5",
                         "7",
                         "8",
                         "16",
                         "17",
                         "31",
                         "64",
                         "65",
                         "255",
                         "257",
                         "1000",
                         "4096",
                         "65536",
                         "1000000",
                         "2147483647",
                         "2147483648",
                         "-2147483648",
                         "4294967295",
                         "4294967296",
                         "9223372036854775807",
                         "-9223372036854775808",
                         "9223372036854775808",
                         "18446744073709551616",
                         "99999999999999999999999999999999999999",
                         "1.5",
                         "0x1F",
                         "1e400"};
const Tokens kTypes = {"f32",
                       "f16",
                       "bf16",
                       "f64",
                       "i1",
                       "i4",
                       "i8",
                       "ui8",
                       "si8",
                       "i16",
                       "i32",
                       "i64",
                       "ui64",
                       "index",
                       "f8E4M3FN",
                       "f8E5M2",
                       "f8E4M3FNUZ",
                       "!tile.f4E2M1FN",
                       "!tile.token",
                       "i128",
                       "i0",
                       "i16777215",
                       "f80",
                       "f128",
                       "tf32",
                       "none",
                       "vector<4xf32>",
                       "vector<[4]xf32>",
                       "tensor<?xf32>",
                       "complex<f32>",
                       "tuple<i32, f32>",
                       "memref<f32>",
                       "memref<4xf32, #tile.space<shared>>",
                       "memref<*xf32>"};
const Tokens kSpaces = {"global", "shared", "fragment", "local"};
const Tokens kCombines = {"add", "mul", "max", "min", "absadd", "absmax", "and", "or", "xor", "exchange"};

bool is_one_of(const Tokens& list, const std::string& token) {
  return std::find(list.begin(), list.end(), token) != list.end();
}

bool is_operation(const std::string& token) {
  for (const char* dialect : {"tile.", "arith.", "math.", "scf.", "index."}) {
    if (token.starts_with(dialect)) return true;
  }
  return false;
}

template <typename List>
const auto& pick(const List& list, Random& random) {
  return list[random() % list.size()];
}

std::string joined(const Tokens& tokens) {
  std::string text;
  for (const std::string& token : tokens) text += token;
  return text;
}

Tokens lines_of(const std::string& text) {
  Tokens lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line + "\n");
  return lines;
}

// A token of a kind, or none.
template <typename Predicate>
size_t find_one(const Tokens& tokens, Random& random, Predicate predicate) {
  std::vector<size_t> found;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (predicate(tokens[i])) found.push_back(i);
  }
  return found.empty() ? tokens.size() : pick(found, random);
}

// Replaces a token of a kind: that one, or, so that the text stays of one piece, each like it.
template <typename Predicate>
void replace(Tokens& tokens, const Tokens& by, Random& random, Predicate predicate) {
  const size_t at = find_one(tokens, random, predicate);
  if (at == tokens.size()) return;
  const std::string old = tokens[at], now = pick(by, random);
  if (random() % 2 == 0) {
    tokens[at] = now;
  } else {
    std::replace(tokens.begin(), tokens.end(), old, now);
  }
}

bool is_visible(const std::string& token) { return !is_blank(token[0]) && !token.starts_with("//"); }

}  // namespace

std::vector<std::string> tokens_of(std::string_view text) {
  Tokens tokens;
  for (size_t at = 0; at < text.size();) {
    const size_t end = token_end(text, at);
    tokens.emplace_back(text.substr(at, end - at));
    at = end;
  }
  return tokens;
}

Mutator::Mutator(std::vector<std::string> corpus) : corpus_(std::move(corpus)) {
  std::set<std::string> words;
  for (const std::string& text : corpus_) {
    for (std::string& token : tokens_of(text)) {
      if (is_visible(token)) words.insert(std::move(token));
    }
    for (std::string& line : lines_of(text)) {
      if (line.find("tile.") != std::string::npos && !line.starts_with("//")) lines_.push_back(std::move(line));
    }
  }
  words_.assign(words.begin(), words.end());
}

std::string Mutator::input(uint64_t number) const {
  Random random(0x9e3779b97f4a7c15u * (number + 1));
  std::string text = corpus_[number % corpus_.size()];
  return mutate(std::move(text), random);
}

std::string Mutator::mutate(std::string text, Random& random) const {
  // Most programs with many changes are refused at the first of them: few changes reach furthest.
  const uint64_t changes = 1 + (random() % 2) * (random() % 4);
  for (uint64_t i = 0; i < changes; ++i) text = change(text, random);
  return text;
}

std::string Mutator::change(const std::string& text, Random& random) const {
  Tokens tokens = tokens_of(text), lines = lines_of(text);
  if (tokens.empty() || lines.empty()) return pick(corpus_, random);
  const size_t at = find_one(tokens, random, is_visible);
  if (at == tokens.size()) return pick(corpus_, random);
  switch (random() % 20) {
    case 0:
      tokens.erase(tokens.begin() + static_cast<long>(at));
      return joined(tokens);
    case 1:
      tokens.insert(tokens.begin() + static_cast<long>(at), tokens[at]);
      return joined(tokens);
    case 2:
      std::swap(tokens[at], tokens[find_one(tokens, random, is_visible)]);
      return joined(tokens);
    case 3:
      tokens[at] = pick(words_, random);
      return joined(tokens);
    case 4:
      return text.substr(0, random() % text.size());
    case 5: {
      std::string bytes = text;
      bytes[random() % bytes.size()] = static_cast<char>(random());
      return bytes;
    }
    case 6:
      lines.erase(lines.begin() + static_cast<long>(random() % lines.size()));
      return joined(lines);
    case 7:
      lines.insert(lines.begin() + static_cast<long>(random() % lines.size()), pick(lines, random));
      return joined(lines);
    case 8:
      std::swap(lines[random() % lines.size()], lines[random() % lines.size()]);
      return joined(lines);
    case 9:
      lines.insert(lines.begin() + static_cast<long>(random() % lines.size()), pick(lines_, random));
      return joined(lines);
    case 10:
    case 11:
      replace(tokens, kTypes, random, [](const std::string& token) { return is_one_of(kTypes, token); });
      return joined(tokens);
    case 12:
      replace(tokens, kSpaces, random, [](const std::string& token) { return is_one_of(kSpaces, token); });
      return joined(tokens);
    case 13: {
      // Operations of one dialect for each other.
      const size_t place = find_one(tokens, random, is_operation);
      if (place == tokens.size()) return text;
      const std::string dialect = tokens[place].substr(0, tokens[place].find('.') + 1);
      Tokens others;
      for (const std::string& word : words_) {
        if (word.starts_with(dialect)) others.push_back(word);
      }
      tokens[place] = pick(others, random);
      return joined(tokens);
    }
    case 14:
      replace(tokens, kCombines, random, [](const std::string& token) { return is_one_of(kCombines, token); });
      return joined(tokens);
    case 15: {
      // One value for another.
      const size_t place = find_one(tokens, random, [](const std::string& token) { return token[0] == '%'; });
      const size_t other = find_one(tokens, random, [](const std::string& token) { return token[0] == '%'; });
      if (place != tokens.size()) tokens[place] = tokens[other];
      return joined(tokens);
    }
    default:
      replace(tokens, kNumbers, random, is_number);
      return joined(tokens);
  }
}

std::vector<std::string> repository_programs() {
  namespace fs = std::filesystem;
  std::set<fs::path> paths;
  for (const char* folder : {"tests", "examples", "bench", "docs"}) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(DEEP_ACCEL_SOURCE_DIR) / folder)) {
      if (entry.path().extension() == ".mlir") paths.insert(entry.path());
    }
  }
  std::vector<std::string> texts;
  for (const fs::path& path : paths) {
    std::ifstream file(path);
    std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    constexpr std::string_view kBorder = "// -----";
    while (true) {
      const size_t border = text.find(kBorder);
      texts.push_back(text.substr(0, border));
      if (border == std::string::npos) break;
      text = text.substr(border + kBorder.size());
    }
  }
  return texts;
}

}  // namespace deep_accel::test
