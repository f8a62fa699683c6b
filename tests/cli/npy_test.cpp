// Files in NumPy's format: what is written is read, and whatever bytes a file has, reading ends with a tensor or a
// message.
#include "deep_accel/cli/npy.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "deep_accel/base/error.h"
#include "tests/fuzz/watched.h"

namespace deep_accel::cli {
namespace {

std::vector<std::byte> file_of(const std::string& header, size_t data_bytes, int version = 1) {
  std::string text("\x93NUMPY", 6);
  text += static_cast<char>(version);
  text += '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) text += static_cast<char>(header.size() >> (8 * i));
  text += header + std::string(data_bytes, '\x01');
  const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
  return {bytes, bytes + text.size()};
}

std::string header_of(const std::string& descr, const std::string& shape, const std::string& order = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
}

std::string error_of(const std::vector<std::byte>& file, std::optional<DType> wanted = std::nullopt) {
  try {
    parse_npy(file, "a.npy", wanted);
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

TEST(Npy, EveryDtypeComesBack) {
  for (DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16, DType::f8e4m3, DType::f8e5m2, DType::f4e2m1,
                      DType::i64, DType::i32, DType::i16, DType::i8, DType::u8, DType::i4, DType::boolean}) {
    for (const Dims& shape : {Dims{3, 4}, Dims{0, 6}, Dims{2, 1, 2}, Dims{8}}) {
      Tensor tensor = Tensor::zeros(dtype, shape);
      for (int64_t i = 0; i < tensor.size(); ++i) {
        Dims index = Dims::filled(shape.size(), 0);
        int64_t rest = i;
        for (int d = shape.size(); d-- > 0;) index[d] = rest % shape[d], rest /= shape[d];
        tensor.set(index, static_cast<double>(i % 2));
      }
      const Tensor back = parse_npy(npy_bytes(tensor), "a.npy", dtype);
      EXPECT_EQ(back.shape(), shape) << name(dtype);
      EXPECT_EQ(back.values(), tensor.values()) << name(dtype);
    }
  }
}

TEST(Npy, FortranOrderIsTransposed) {
  std::vector<std::byte> file = file_of(header_of("|i1", "(2, 3)", "True"), 6);
  for (size_t i = 0; i < 6; ++i) file[file.size() - 6 + i] = static_cast<std::byte>(i);
  const Tensor tensor = parse_npy(file, "a.npy", std::nullopt);
  EXPECT_EQ(tensor.shape(), (Dims{2, 3}));
  EXPECT_EQ(tensor.values(), (std::vector<double>{0, 2, 4, 1, 3, 5}));
}

TEST(Npy, MessagesSayWhatIsWrong) {
  EXPECT_EQ(error_of({}), "a.npy is no valid .npy file: it does not start with NumPy's magic string");
  EXPECT_EQ(error_of(file_of(header_of("<f4", "(2,)"), 7)),
            "a.npy is no valid .npy file: it has 7 bytes of elements where its shape needs 8");
  EXPECT_NE(error_of(file_of(header_of("<f4", "(2,)"), 8, 4)).find("unknown version 4"), std::string::npos);
  EXPECT_NE(error_of(file_of(header_of(">f4", "(2,)"), 8)).find("big-endian"), std::string::npos);
  EXPECT_NE(error_of(file_of(header_of("<c8", "(2,)"), 8)).find("'<c8'"), std::string::npos);
  EXPECT_NE(error_of(file_of(header_of("<f4", "(-1,)"), 8)).find("malformed shape"), std::string::npos);
  EXPECT_NE(error_of(file_of(header_of("<f4", "(99999999999999999999,)"), 8)).find("malformed shape"),
            std::string::npos);
  EXPECT_NE(error_of(file_of(header_of("<f4", "(4611686018427387904, 4611686018427387904)"), 8)), "none");
  EXPECT_NE(error_of(file_of(header_of("<f4", "(9223372036854775807,)"), 8)), "none");
  EXPECT_NE(error_of(file_of(header_of("|u1", "(9223372036854775807,)"), 8), DType::i4), "none");
  EXPECT_NE(error_of(file_of(header_of("<f4", "(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1)"), 4)).find("13 axes"),
            std::string::npos);
  for (const char* header : {"", "{", "{}", "}", "{'descr'", "{'descr': '<f4'}", "{'shape': (1,)", "{'descr': [('a',",
                             "{'descr': '<f4', 'descr': '<f4'", "{\"x\": 1}", "{'fortran_order': Maybe"}) {
    EXPECT_NE(error_of(file_of(header, 8)).find("a.npy is no valid .npy file"), std::string::npos) << header;
  }
  // A header that says it is longer than the file.
  std::vector<std::byte> file = file_of(header_of("<f4", "(2,)"), 8, 2);
  file[11] = std::byte{0xff};
  EXPECT_EQ(error_of(file), "a.npy is no valid .npy file: it ends within its header");
}

// Whole files with bytes changed, lost and added, and pieces of headers put together at random.
std::vector<std::byte> mutation(uint64_t number) {
  std::mt19937_64 random(number + 1);
  const std::string pieces[] = {
      "{", "}", "'descr'", ":",  "'<f4'", "'|V1'", "'fortran_order'",     "True", "False", "'shape'", "(", ")",
      ",", "1", "0",       "-3", " ",     "\n",    "9223372036854775807", "'",    "\"",    "[",       "2"};
  std::vector<std::byte> file;
  if (number % 2 == 0) {
    std::string header;
    for (uint64_t i = random() % 30; i > 0; --i) header += pieces[random() % std::size(pieces)];
    file = file_of(header, random() % 64, 1 + static_cast<int>(random() % 3));
  } else {
    file = file_of(header_of("<f4", "(2, 3)", random() % 2 == 0 ? "True" : "False"), 24,
                   1 + static_cast<int>(random() % 3));
  }
  for (uint64_t i = random() % 4; i > 0 && !file.empty(); --i) {
    const auto at = static_cast<long>(random() % file.size());
    switch (random() % 4) {
      case 0:
        file[static_cast<size_t>(at)] = static_cast<std::byte>(random());
        break;
      case 1:
        file.erase(file.begin() + at);
        break;
      case 2:
        file.insert(file.begin() + at, static_cast<std::byte>(random()));
        break;
      default:
        file.resize(static_cast<size_t>(at));
    }
  }
  return file;
}

TEST(Npy, AnyBytesAreReadOrRefused) {
  constexpr DType kWanted[] = {DType::f32, DType::f8e4m3, DType::i4, DType::bf16, DType::i64};
  const test::WatchedRun run = test::run_watched(0, 40'000, {.seconds = 5}, [&](uint64_t number) -> std::string {
    const std::optional<DType> wanted =
        number % 3 == 0 ? std::nullopt : std::optional(kWanted[number % std::size(kWanted)]);
    return error_of(mutation(number), wanted).empty() ? "an error without a message" : "";
  });
  for (const test::Failure& failure : run.failures) ADD_FAILURE() << failure.input << ": " << failure.what;
}

}  // namespace
}  // namespace deep_accel::cli
