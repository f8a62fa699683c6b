// What a text must satisfy before MLIR's parser may see it.
#include "deep_accel/tile/text_limits.h"

#include <gtest/gtest.h>

#include "deep_accel/base/error.h"
#include "deep_accel/tile/program.h"

namespace deep_accel::tile {
namespace {

std::string repeated(const std::string& text, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text;
  return all;
}

std::string problem(const std::string& text) { return text_problem(text).value_or("none"); }

TEST(TextLimits, BracketsNestTo256) {
  for (const char* brackets : {"()", "[]", "{}", "<>"}) {
    const std::string open(1, brackets[0]), close(1, brackets[1]);
    EXPECT_EQ(problem(repeated(open, 256) + repeated(close, 256)), "none");
    EXPECT_EQ(problem("\n " + repeated(open, 257)), "2:258: brackets are nested more than 256 deep; split the kernel");
    EXPECT_EQ(problem(repeated(open + close, 10000)), "none");
  }
  EXPECT_EQ(problem(repeated("([{<", 64) + repeated(">}])", 64)), "none");
  EXPECT_NE(problem(repeated("([{<", 65)), "none");
  // Brackets that nobody opened do not make up for others.
  EXPECT_NE(problem(repeated(")", 1000) + repeated("(", 257)), "none");
}

TEST(TextLimits, ArrowsStringsAndCommentsAreNoBrackets) {
  EXPECT_EQ(problem(repeated("() -> () ", 1000)), "none");
  EXPECT_EQ(problem("\"" + repeated("(", 1000) + "\""), "none");
  EXPECT_EQ(problem("\"a \\\" " + repeated("(", 1000) + "\""), "none");
  EXPECT_EQ(problem("// " + repeated("(", 1000) + "\nnext"), "none");
  // A string ends with its line, whatever follows.
  EXPECT_NE(problem("\"open\n" + repeated("(", 257)), "none");
  EXPECT_NE(problem("// comment\n" + repeated("(", 257)), "none");
  // The end of the text within a string, an escape, a comment.
  for (const char* text : {"", "\"", "\"\\", "//", "/", "-", "a"}) EXPECT_EQ(problem(text), "none") << text;
}

TEST(TextLimits, ForeignWordsAreNamedWithTheirPlace) {
  EXPECT_EQ(problem("a\n  dense<0>"),
            "2:3: 'dense' is not part of the tile dialect; layouts are strided<...>, and lists [...] or "
            "array<i64: ...>");
  for (const char* word : {"affine_map", "affine_set", "dense", "sparse", "dense_resource"}) {
    EXPECT_NE(problem(word), "none") << word;
    for (const char* mark : {"@", "#", "!", "^"}) EXPECT_EQ(problem(mark + std::string(word)), "none");
    EXPECT_EQ(problem("%" + std::string(word) + " = arith.constant true"), "none");
    EXPECT_EQ(problem(std::string(word) + "_x"), "none");
    EXPECT_EQ(problem("x_" + std::string(word)), "none");
    EXPECT_EQ(problem("\"" + std::string(word) + "\" // " + word), "none");
  }
}

TEST(TextLimits, TextsHave16MiBAtMost) {
  const size_t most = size_t{16} << 20;
  EXPECT_EQ(problem(std::string(most, '\n')), "none");
  EXPECT_EQ(problem(std::string(most + 1, '\n')), "1:1: the text has 16777217 bytes; programs have at most 16777216");
}

TEST(TextLimits, NumbersAreShort) {
  EXPECT_EQ(problem(std::string(1000, '9')), "none");
  EXPECT_EQ(problem(" " + std::string(1001, '9')), "1:2: a number has more than 1000 characters");
  EXPECT_EQ(problem("a" + std::string(2000, '9')), "none");
}

TEST(TextLimits, AliasesMayNotStandForMoreThanMemoryHolds) {
  std::string doubling = "#a0 = [1]\n";
  for (int i = 0; i < 60; ++i) {
    const std::string before = "#a" + std::to_string(i);
    doubling += "#a" + std::to_string(i + 1) + " = [" + before + ", " + before + "]\n";
  }
  EXPECT_NE(problem(doubling).find("with its aliases written out, the text has more than 67108864 bytes"),
            std::string::npos);
  EXPECT_EQ(problem(doubling.substr(0, doubling.find("#a15 ="))), "none");
  const std::string large = "#a = [" + repeated("1234567, ", 20000) + "0]\n";
  EXPECT_EQ(problem(large + repeated("%c = arith.constant {note = #a} 1 : index\n", 100)), "none");
  EXPECT_NE(problem(large + repeated("%c = arith.constant {note = #a} 1 : index\n", 1000)), "none");
  // Locations as MLIR prints them, at the end.
  EXPECT_EQ(problem("tile.kernel @k() {\n} loc(#loc1)\n#loc = loc(\"a\":1:1)\n#loc1 = loc(callsite(#loc at #loc))\n"),
            "none");
}

TEST(TextLimits, ListsAreOf64Bits) {
  EXPECT_EQ(problem("{a = array<i64: 1, 2>, b = array<i64>}"), "none");
  EXPECT_EQ(problem("{a = array<i1: 1, 0>}"),
            "1:12: 'array<i1' is not part of the tile dialect; lists of numbers are array<i64: ...>");
  EXPECT_NE(problem("array < i7 : 1>"), "none");
}

TEST(TextLimits, NamesAreDefinedBeforeTheyAreUsed) {
  const std::string wrong[] = {
      "scf.if %c {\n  %c = arith.constant true\n}",
      "%r = scf.if %r -> (i1) {\n  scf.yield %x : i1\n}",
      "%a = arith.addi %c, %x : i1\n%c = arith.constant true",
      "%a, %b = tile.two %a : i1",
      "tile.grid (%b) = (%c) {\n  %c = arith.constant 1 : index\n}",
      "scf.while (%v = %c, %w = %x) : (i1, i1) -> () {\n}",
      "scf.while (%v = %x, %w = %c) : (i1, i1) -> () {\n}",
      // Defined, but in another scope.
      "scf.for %c = %x to %x step %x {\n}\nscf.if %c {\n}",
      "tile.grid (%c) = (%x) {\n}\nscf.if %c {\n}",
      "tile.kernel @k(%c: i1 {tile.name = \"c\"}) {\n}\ntile.kernel @l() {\n  scf.if %c {\n  }\n}",
      "\"scf.if\"(%x) ({\n  tile.fill %c, %x\n}) : (i1) -> ()",
      "tile.print \"c\", %c : i1",
      "tile.load %x[%x, %c] into %x",
  };
  for (const std::string& text : wrong) {
    EXPECT_NE(problem("%x = arith.constant true\n" + text).find("is used before it is defined"), std::string::npos)
        << text;
  }
  EXPECT_EQ(problem("\n  scf.if %c {"), "2:10: '%c' is used before it is defined");
  const std::string right[] = {
      "%c = arith.constant true\nscf.if %c {\n}",
      "%a, %c = tile.two : i1, i1\nscf.if %c {\n}",
      "%a:2, %c:3 = tile.two : i1, i1\nscf.if %c#1 {\n}",
      "%c = arith.constant true scf.if %c {}",
      "tile.kernel @k(%n: index {tile.name = \"n\"}, %c: i1 {tile.name = \"c\"}) attributes {x = {}} {\nscf.if %c "
      "{\n}\n}",
      "tile.kernel @\"k\"(%c: i1) {\nscf.if %c {\n}\n}",
      "tile.grid (%b, %c) = (%x, %x) attributes {order = #tile.order<rows>} {\n  scf.if %c {\n  }\n}",
      "tile.map (%i, %c) in [4, %x] {\n  scf.if %c {\n  }\n}",
      "tile.threads (%c) in [4] {\n  scf.if %c {\n  }\n}",
      "tile.pipeline %c = %x to %x step %x stages(2) {\n  scf.if %c {\n  }\n}",
      "scf.for %c = %x to %x step %x {\n  scf.if %c {\n  }\n}",
      "%r = scf.for %i = %x to %x step %x iter_args(%c = %x) -> (i1) {\n  scf.if %c {\n  }\n  scf.yield %c : i1\n}",
      "scf.while (%c = %x) : (i1) -> i1 {\n  scf.if %c {\n  }\n  scf.condition(%c) %c : i1\n}"
      " do {\n^bb0(%d: i1):\n  scf.if %d {\n  }\n  scf.yield %d : i1\n}",
      "%c = scf.if %x -> (i1) {\n}\nscf.yield %c : i1",
      "\"tile.map\"(%x) ({\n^bb0(%i: index):\n  %c = arith.constant true\n  scf.if %c {\n  }\n}) : (index) -> ()",
      "%t = tile.alloc \"t\" {align = 128} : memref<8xf32>\ntile.print \"a {}\", %t, %x : i1, i1",
      "tile.extern @f(%x, %x) reads [0] : (i1, i1) -> ()\n%p = index.cmp slt(%x, %x)\n%z = arith.addi %p, %p : i1",
  };
  for (const std::string& text : right) {
    EXPECT_EQ(problem("%x = arith.constant true\n" + text), "none") << text;
  }
}

TEST(TextLimits, ProgramsSayWhereTheirTextGoesWrong) {
  try {
    Program::parse("tile.kernel @k() {\n" + repeated("(", 300), "deep.mlir");
    FAIL();
  } catch (const ValueError& error) {
    EXPECT_STREQ(error.what(), "deep.mlir:2:256: brackets are nested more than 256 deep; split the kernel");
  }
}

}  // namespace
}  // namespace deep_accel::tile
