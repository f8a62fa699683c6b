// A scan with a stack of scopes, one for each pair of braces. It knows the forms in which the dialects of kernels
// define names: results before "=", arguments of regions in the parentheses of tile.kernel, tile.grid, tile.map,
// tile.threads and of labels, loop variables, and values that loops carry ("%a = %b" in parentheses).
#include "deep_accel/tile/text_names.h"

#include <algorithm>
#include <deque>
#include <unordered_set>
#include <vector>

namespace deep_accel::tile {
namespace {

using Kind = TextToken::Kind;
using Names = std::vector<std::string_view>;

struct Scope {
  std::unordered_set<std::string_view> names;
  Names results;               // of the operation that is being read: known after it
  bool is_dictionary = false;  // of attributes, rather than a region
  size_t lists = 0;            // parentheses that were open before
};

// What a pair of parentheses holds: the arguments of a region that follows, or of the one that a label stands in.
enum class List { none, arguments, label, other };

bool is_digit(std::string_view c) { return c >= "0" && c <= "9"; }

// "tile.load", or the "tile.load" of the generic form; not "1.5".
bool is_operation(const TextToken& token) {
  if (token.kind == Kind::string) return true;
  return token.kind == Kind::word && token.text.find('.') != std::string_view::npos &&
         !is_digit(token.text.substr(0, 1));
}

class Scan {
 public:
  explicit Scan(std::string_view text) : lexer_(text) { scopes_.emplace_back(); }

  std::optional<TextToken> run() {
    for (TextToken token = take(); token.kind != Kind::end; token = take()) {
      if (token.kind == Kind::value) {
        if (auto use = value(token)) return use;
      } else if (token.is("{")) {
        open();
      } else if (token.is("}")) {
        if (scopes_.size() > 1) {
          lists_.resize(std::min(lists_.size(), scopes_.back().lists), List::other);
          scopes_.pop_back();
        }
      } else if (token.is("(")) {
        lists_.push_back(list_kind());
      } else if (token.is(")")) {
        if (in_list()) lists_.pop_back();
      } else if (is_operation(token)) {
        operation();
      }
      before_previous_ = previous_;
      previous_ = token;
    }
    return std::nullopt;
  }

 private:
  TextToken take() {
    if (ahead_.empty()) return lexer_.next();
    const TextToken token = ahead_.front();
    ahead_.pop_front();
    return token;
  }
  const TextToken& peek(size_t index = 0) {
    while (ahead_.size() <= index) ahead_.push_back(lexer_.next());
    return ahead_[index];
  }

  // What the parenthesis that opens holds.
  List list_kind() const {
    if (previous_.is("tile.grid") || previous_.is("tile.map") || previous_.is("tile.threads")) return List::arguments;
    if (previous_.kind == Kind::name && previous_.text[0] == '^') return List::label;
    const bool is_kernel =
        previous_.kind == Kind::name && previous_.text[0] == '@' && before_previous_.is("tile.kernel");
    return is_kernel || (previous_.kind == Kind::string && before_previous_.is("@")) ? List::arguments : List::other;
  }

  void operation() {
    if (scopes_.back().is_dictionary || previous_.is(",")) return;  // a key, or a string among operands
    // Results that stand before this operation are its own; others belong to one that is over.
    if (!previous_.is("=")) flush();
  }

  void flush() {
    Scope& scope = scopes_.back();
    scope.names.insert(scope.results.begin(), scope.results.end());
    scope.results.clear();
  }

  // A region, or a dictionary of attributes, which begins with a key.
  void open() {
    const TextToken& first = peek();
    const bool is_key = (first.kind == Kind::word || first.kind == Kind::string) &&
                        (peek(1).is("=") || peek(1).is(",") || peek(1).is("}"));
    const bool is_empty_dictionary = first.is("}") && (in_list() || previous_.is("attributes") || previous_.is("="));
    scopes_.emplace_back();
    scopes_.back().lists = lists_.size();
    scopes_.back().is_dictionary = is_key || is_empty_dictionary;
    if (scopes_.back().is_dictionary) return;
    scopes_.back().names.insert(arguments_.begin(), arguments_.end());
    arguments_.clear();
  }

  bool in_list() const { return lists_.size() > scopes_.back().lists; }

  bool known(std::string_view name) const {
    for (const Scope& scope : scopes_) {
      if (scope.names.contains(name)) return true;
    }
    return false;
  }

  // "%a", "%a:2" and "%b" of "%a:2, %b = ": a list of results that begins here.
  bool begins_results() {
    size_t at = 0;
    while (true) {
      if (peek(at).is(":") && is_digit(peek(at + 1).text.substr(0, 1))) at += 2;
      if (peek(at).is("=")) return true;
      if (!peek(at).is(",") || peek(at + 1).kind != Kind::value || at > 64) return false;
      at += 2;
    }
  }

  std::optional<TextToken> value(const TextToken& token) {
    const List list = in_list() ? lists_.back() : List::none;
    if (list == List::label) {  // whose region is open already
      scopes_.back().names.insert(token.text);
      return std::nullopt;
    }
    if (list == List::arguments || previous_.is("tile.pipeline") || previous_.is("scf.for") ||
        (list == List::other && peek().is("="))) {
      arguments_.push_back(token.text);
      return std::nullopt;
    }
    if (list == List::none && !previous_.is("=") && begins_results()) {
      if (!previous_.is(",")) flush();
      scopes_.back().results.push_back(token.text);
      return std::nullopt;
    }
    return known(token.text) ? std::nullopt : std::optional(token);
  }

  TextLexer lexer_;
  std::deque<TextToken> ahead_;
  TextToken previous_, before_previous_;
  std::vector<Scope> scopes_;
  std::vector<List> lists_;  // the parentheses that are open
  Names arguments_;          // of the region that opens next
};

}  // namespace

std::optional<TextToken> use_before_definition(std::string_view text) { return Scan(text).run(); }

}  // namespace deep_accel::tile
