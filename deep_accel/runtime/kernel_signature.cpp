// Reading a kernel's signature; every complaint says where in the text it is.
#include "deep_accel/runtime/kernel_signature.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <nlohmann/json.hpp>

#include "deep_accel/base/error.h"
#include "deep_accel/base/shape.h"

namespace deep_accel {
namespace {

using Json = nlohmann::json;

[[noreturn]] void fail(const std::string& where, const std::string& what) {
  throw ValueError("kernel signature: " + where + ": " + what);
}

const Json& member(const Json& object, const char* key, const std::string& where) {
  if (!object.is_object()) fail(where, "expected an object");
  auto found = object.find(key);
  if (found == object.end()) fail(where, std::string("'") + key + "' is missing");
  return *found;
}

std::string text(const Json& object, const char* key, const std::string& where) {
  const Json& value = member(object, key, where);
  if (!value.is_string()) fail(where, std::string("'") + key + "' must be a text");
  return value.get<std::string>();
}

int64_t integer(const Json& value, const std::string& where, int64_t least) {
  if (!value.is_number_integer() || (value.is_number_unsigned() && value.get<uint64_t>() > INT64_MAX)) {
    fail(where, "expected an integer");
  }
  if (value.get<int64_t>() < least) fail(where, "expected at least " + std::to_string(least));
  return value.get<int64_t>();
}

const Json& list(const Json& value, const std::string& where) {
  if (!value.is_array()) fail(where, "expected a list");
  return value;
}

bool is_identifier(const std::string& name) {
  auto letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '$'; };
  return !name.empty() && std::all_of(name.begin(), name.end(), letter);
}

DimSpec parse_dim(const Json& value, KernelSignature& signature, const std::string& where) {
  if (value.is_number()) return {DimSpec::Kind::fixed, integer(value, where, 0)};
  if (!value.is_string()) fail(where, "a size must be an integer, a name, or \"?\"");
  std::string symbol = value.get<std::string>();
  if (symbol == "?") return {};
  if (!is_identifier(symbol)) fail(where, "'" + symbol + "' is not a name");
  auto found = std::find(signature.symbols.begin(), signature.symbols.end(), symbol);
  if (found == signature.symbols.end()) found = signature.symbols.insert(found, symbol);
  return {DimSpec::Kind::symbol, found - signature.symbols.begin()};
}

ArgumentSpec::Role parse_role(const std::string& role, const std::string& where) {
  if (role == "in") return ArgumentSpec::Role::in;
  if (role == "out") return ArgumentSpec::Role::out;
  if (role == "inout") return ArgumentSpec::Role::inout;
  fail(where, "role '" + role + "' is not one of in, out, inout");
}

ArgumentSpec parse_argument(const Json& value, KernelSignature& signature, const std::string& where) {
  ArgumentSpec argument;
  argument.name = text(value, "name", where);
  argument.dtype = [&] {
    try {
      return parse_dtype(text(value, "dtype", where));
    } catch (const TypeError& error) {
      fail(where, error.what());
    }
  }();
  std::string kind = text(value, "kind", where);
  if (kind != "tensor" && kind != "scalar") fail(where, "kind '" + kind + "' is not one of tensor, scalar");
  argument.is_tensor = kind == "tensor";
  if (!argument.is_tensor) return argument;

  argument.role = parse_role(text(value, "role", where), where);
  for (const Json& dim : list(member(value, "dims", where), where + ".dims")) {
    argument.dims.push_back(parse_dim(dim, signature, where + ".dims[" + std::to_string(argument.dims.size()) + "]"));
  }
  if (argument.dims.size() > static_cast<size_t>(kMaxRank)) {
    fail(where, "more than " + std::to_string(kMaxRank) + " dimensions");
  }
  auto strides = value.find("strides");
  if (strides == value.end() || strides->is_null()) return argument;
  argument.contiguous = false;
  for (const Json& stride : list(*strides, where + ".strides")) {
    if (stride.is_null()) {
      argument.strides.push_back({});
    } else {
      argument.strides.push_back({DimSpec::Kind::fixed, integer(stride, where + ".strides", INT64_MIN)});
    }
  }
  if (argument.strides.size() != argument.dims.size()) fail(where + ".strides", "expected one for each dimension");
  return argument;
}

}  // namespace

BlockOrder BlockOrder::parse(std::string_view text) {
  if (text == "rows") return {Kind::rows, 8};
  if (text == "columns") return {Kind::columns, 8};
  if (text.starts_with("swizzle:")) {
    std::string_view number = text.substr(8);
    int64_t group = 0;
    auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), group);
    if (error == std::errc() && end == number.data() + number.size() && group >= 1) return {Kind::swizzle, group};
  }
  throw ValueError("block order '" + std::string(text) +
                   "' is not one of rows, columns, swizzle:<group of at least 1>");
}

std::string BlockOrder::to_string() const {
  if (kind == Kind::rows) return "rows";
  if (kind == Kind::columns) return "columns";
  return "swizzle:" + std::to_string(group);
}

KernelSignature KernelSignature::parse(std::string_view content) {
  Json root = Json::parse(content, nullptr, /*allow_exceptions=*/false);
  if (root.is_discarded()) fail("text", "not valid JSON");
  KernelSignature signature;
  signature.json = content;
  signature.name = text(root, "name", "kernel");
  if (!is_identifier(signature.name)) fail("name", "'" + signature.name + "' is not a name");
  for (const Json& value : list(member(root, "args", "kernel"), "args")) {
    std::string where = "args[" + std::to_string(signature.args.size()) + "]";
    ArgumentSpec argument = parse_argument(value, signature, where);
    signature.params_count += argument.is_tensor ? 1 + 2 * static_cast<int>(argument.dims.size()) : 1;
    signature.args.push_back(std::move(argument));
  }
  for (const Json& value : list(member(root, "phases", "kernel"), "phases")) {
    std::string where = "phases[" + std::to_string(signature.phases.size()) + "]";
    PhaseSpec phase;
    phase.axes = static_cast<int>(integer(member(value, "axes", where), where + ".axes", 0));
    if (phase.axes > 3) fail(where + ".axes", "expected at most 3");
    if (value.contains("order")) {
      try {
        phase.order = BlockOrder::parse(text(value, "order", where));
      } catch (const ValueError& error) {
        fail(where, error.what());
      }
    }
    if (value.contains("marks_bytes")) {
      phase.marks_bytes = integer(value["marks_bytes"], where + ".marks_bytes", 0);
    }
    signature.phases.push_back(phase);
  }
  if (root.contains("arena_bytes")) signature.arena_bytes = integer(root["arena_bytes"], "arena_bytes", 0);
  for (const PhaseSpec& phase : signature.phases) {
    if (phase.marks_bytes > signature.arena_bytes) fail("phases", "expected marks_bytes to be at most arena_bytes");
  }
  if (root.contains("target")) signature.target = text(root, "target", "kernel");
  if (root.contains("imports")) {
    for (const Json& symbol : list(root["imports"], "imports")) {
      if (!symbol.is_string() || !is_identifier(symbol.get<std::string>()))
        fail("imports", "expected names of symbols");
      signature.imports.push_back(symbol.get<std::string>());
    }
  }
  return signature;
}

}  // namespace deep_accel
