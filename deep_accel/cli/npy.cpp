// The format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
// A magic string, a version, the length of a header, the header (a Python dictionary as text), the elements.
#include "deep_accel/cli/npy.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstring>
#include <string_view>

#include "deep_accel/base/error.h"
#include "deep_accel/base/files.h"

namespace deep_accel::cli {
namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);

struct Header {
  std::string descr;  // "<f4"
  bool fortran_order = false;
  std::vector<int64_t> shape;
};

// Reads the few Python literals that a header consists of.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  Header parse() {
    Header header;
    bool descr = false, order = false, shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string key = string();
      expect(':');
      if (key == "descr" && !descr) {
        if (peek() == '[') fail("has a structured element type; save one field alone");
        header.descr = string();
        descr = true;
      } else if (key == "fortran_order" && !order) {
        header.fortran_order = boolean();
        order = true;
      } else if (key == "shape" && !shape) {
        header.shape = tuple();
        shape = true;
      } else {
        fail("has an unexpected key '" + key + "' in its header");
      }
      if (!accept(',') && peek() != '}') fail("has a malformed header");
    }
    if (peek() != '\0' || !descr || !order || !shape) fail("has an incomplete header");
    return header;
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw ValueError(name_ + " is no valid .npy file: it " + why);
  }

  char peek() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char wanted) {
    if (peek() != wanted || at_ >= text_.size()) return false;
    ++at_;
    return true;
  }
  void expect(char wanted) {
    if (!accept(wanted)) fail(std::string("lacks a '") + wanted + "' in its header");
  }
  std::string string() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') fail("lacks a quoted string in its header");
    const size_t end = text_.find(quote, ++at_);
    if (end == std::string_view::npos) fail("has an open string in its header");
    std::string value(text_.substr(at_, end - at_));
    at_ = end + 1;
    return value;
  }
  bool boolean() {
    peek();
    for (std::string_view word : {"True", "False"}) {
      if (text_.substr(at_).starts_with(word)) {
        at_ += word.size();
        return word == "True";
      }
    }
    fail("lacks True or False in its header");
  }
  std::vector<int64_t> tuple() {
    std::vector<int64_t> values;
    expect('(');
    while (!accept(')')) {
      peek();
      int64_t value = 0;
      const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
      if (error != std::errc() || value < 0) fail("has a malformed shape");
      at_ = static_cast<size_t>(end - text_.data());
      values.push_back(value);
      if (!accept(',') && peek() != ')') fail("has a malformed shape");
    }
    return values;
  }

  std::string_view text_;
  const std::string& name_;
  size_t at_ = 0;
};

bool is_eight_bit_float(DType dtype) { return dtype == DType::f8e4m3 || dtype == DType::f8e5m2; }

// The dtype that a file's elements are read as; bits of a type that NumPy lacks count as `wanted`.
DType element_type(const std::string& descr, std::optional<DType> wanted, const std::string& name) {
  const std::string kind = descr.empty() ? "" : descr.substr(1);
  const bool bytes = kind == "u1" || kind == "V1";
  if (wanted && bytes && (is_eight_bit_float(*wanted) || is_packed(*wanted))) return *wanted;
  if (wanted == DType::bf16 && kind == "V2") return DType::bf16;
  static constexpr std::pair<std::string_view, DType> kTypes[] = {
      {"f8", DType::f64}, {"f4", DType::f32}, {"f2", DType::f16}, {"i8", DType::i64},    {"i4", DType::i32},
      {"i2", DType::i16}, {"i1", DType::i8},  {"u1", DType::u8},  {"b1", DType::boolean}};
  for (const auto& [text, dtype] : kTypes) {
    if (kind != text) continue;
    if (descr[0] == '>' && bits(dtype) > 8) {
      throw TypeError(name + " holds big-endian elements ('" + descr +
                      "'); save array.astype(array.dtype.newbyteorder('<'))");
    }
    return dtype;
  }
  throw TypeError(name + " holds elements of type '" + descr +
                  "'; supported are float64/32/16, int64/32/16/8, uint8, bool, and the bits of bfloat16, float8, "
                  "float4_e2m1fn and int4 where the argument has such a type");
}

uint32_t little_endian(std::span<const std::byte> bytes) {
  uint32_t value = 0;
  for (size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<uint32_t>(bytes[i]);
  return value;
}

}  // namespace

Tensor parse_npy(std::span<const std::byte> file, const std::string& name, std::optional<DType> wanted) {
  auto fail = [&](const std::string& why) { throw ValueError(name + " is no valid .npy file: it " + why); };
  if (file.size() < 10 || std::memcmp(file.data(), kMagic.data(), kMagic.size()) != 0) {
    fail("does not start with NumPy's magic string");
  }
  const int version = static_cast<int>(file[6]);
  if (version < 1 || version > 3) fail("has the unknown version " + std::to_string(version));
  const size_t length_bytes = version == 1 ? 2 : 4, start = 8 + length_bytes;
  if (file.size() < start) fail("ends within its header");
  const size_t header_bytes = little_endian(file.subspan(8, length_bytes));
  if (file.size() - start < header_bytes) fail("ends within its header");
  const std::string_view text(reinterpret_cast<const char*>(file.data()) + start, header_bytes);
  const Header header = HeaderParser(text, name).parse();

  const DType dtype = element_type(header.descr, wanted, name);
  if (header.shape.size() > kMaxRank) fail("has " + std::to_string(header.shape.size()) + " axes");
  std::vector<int64_t> shape = header.shape;
  if (is_packed(dtype)) {
    if (shape.empty()) fail("has no axis, and so cannot hold two elements a byte");
    shape.back() = checked_mul(shape.back(), 2, "the elements of a packed last axis");
  }
  if (header.fortran_order) {
    if (is_packed(dtype) && shape.size() > 1) fail("holds packed elements in Fortran order");
    std::reverse(shape.begin(), shape.end());
  }
  const int64_t needed = bytes_for(dtype, element_count(Dims(shape)));
  const std::span<const std::byte> data = file.subspan(start + header_bytes);
  if (static_cast<int64_t>(data.size()) != needed) {
    fail("has " + std::to_string(data.size()) + " bytes of elements where its shape needs " + std::to_string(needed));
  }
  Tensor tensor = Tensor::empty(dtype, Dims(shape));
  if (needed > 0) std::memcpy(tensor.data(), data.data(), static_cast<size_t>(needed));
  if (header.fortran_order) {
    Dims axes = Dims::filled(tensor.rank(), 0);
    for (int i = 0; i < tensor.rank(); ++i) axes[i] = tensor.rank() - 1 - i;
    tensor = tensor.permute(axes).contiguous();
  }
  return wanted ? tensor.to(*wanted) : tensor;
}

std::vector<std::byte> npy_bytes(const Tensor& tensor) {
  const Tensor source = tensor.contiguous();
  std::vector<int64_t> shape = source.shape().to_vector();
  std::string descr;
  switch (source.dtype()) {
    case DType::f64:
      descr = "<f8";
      break;
    case DType::f32:
      descr = "<f4";
      break;
    case DType::f16:
      descr = "<f2";
      break;
    case DType::bf16:
      descr = "<V2";
      break;
    case DType::f8e4m3:
    case DType::f8e5m2:
      descr = "|V1";
      break;
    case DType::i64:
      descr = "<i8";
      break;
    case DType::i32:
      descr = "<i4";
      break;
    case DType::i16:
      descr = "<i2";
      break;
    case DType::i8:
      descr = "|i1";
      break;
    case DType::u8:
      descr = "|u1";
      break;
    case DType::boolean:
      descr = "|b1";
      break;
    case DType::f4e2m1:
    case DType::i4:
      descr = "|u1";
      // Rows that end within a byte have no axis of whole bytes: the elements as one list then.
      if (!shape.empty() && shape.back() % 2 == 0) {
        shape.back() /= 2;
      } else {
        shape = {source.bytes()};
      }
      break;
  }
  std::string header = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (";
  for (int64_t size : shape) header += std::to_string(size) + (shape.size() == 1 ? "," : ", ");
  if (shape.size() > 1) header.resize(header.size() - 2);
  header += "), }";
  const size_t start = 10;  // the elements begin at a multiple of 64
  header.append(63 - (start + header.size()) % 64, ' ');
  header += '\n';

  std::vector<std::byte> file(start + header.size() + static_cast<size_t>(source.bytes()));
  std::memcpy(file.data(), kMagic.data(), kMagic.size());
  file[6] = std::byte{1};
  file[8] = static_cast<std::byte>(header.size() & 0xff);
  file[9] = static_cast<std::byte>(header.size() >> 8);
  std::memcpy(file.data() + start, header.data(), header.size());
  if (source.bytes() > 0) {
    std::memcpy(file.data() + start + header.size(), source.data(), static_cast<size_t>(source.bytes()));
  }
  return file;
}

Tensor read_npy(const std::string& path, std::optional<DType> wanted) {
  return parse_npy(read_file(path), path, wanted);
}

void write_npy(const std::string& path, const Tensor& tensor) { write_file_atomically(path, npy_bytes(tensor)); }

}  // namespace deep_accel::cli
