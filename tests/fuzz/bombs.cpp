#include "bombs.h"

namespace deep_accel::test {
namespace {

using Text = std::string;

Text number(int64_t value) { return std::to_string(value); }

template <typename Line>
Text lines(int64_t count, const Line& line) {
  Text text;
  for (int64_t i = 0; i < count; ++i) text += line(i) + "\n";
  return text;
}

Text repeated(const Text& text, int64_t count) {
  Text all;
  for (int64_t i = 0; i < count; ++i) all += text;
  return all;
}

const Text kAliases = "#g = #tile.space<global>\n#s = #tile.space<shared>\n#f = #tile.space<fragment>\n";

// One block of a kernel that reads A and writes B, with constants and a tile of 64 floats.
Text block(const Text& body, const Text& before = "") {
  return kAliases +
         R"(tile.kernel @k(%A: memref<?xf32, #g> {tile.name = "A", tile.dims = ["N"], tile.role = "in"},
               %B: memref<?xf32, #g> {tile.name = "B", tile.dims = ["N"], tile.role = "out"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
)" + before +
         R"(  tile.grid (%b) = (%c1) {
    %t = tile.alloc "t" : memref<64xf32, #s>
    tile.fill %t, %zero : memref<64xf32, #s>, f32
)" + body +
         "  }\n}\n";
}

const Text kRead = " : memref<64xf32, #s> -> f32";
const Text kWrite = " : f32, memref<64xf32, #s>";

// %i<n> is twice %i<n - 1>: as a tree it has 2^n leaves.
Text doubling(const Text& first, int64_t count) {
  return "%i0 = arith.addi " + first + ", %c0 : index\n" + lines(count, [](int64_t i) {
           return "%i" + number(i + 1) + " = arith.addi %i" + number(i) + ", %i" + number(i) + " : index";
         });
}

std::vector<Bomb> make() {
  std::vector<Bomb> all;
  auto add = [&](const Text& name, std::function<Text()> text) { all.push_back({name, std::move(text)}); };

  add("an index in a map that doubles", [] {
    return block("tile.map (%m) in [64] {\n" + doubling("%m", 62) +
                 "%z = arith.andi %i62, %c1 : index\n%v = tile.read %t[%z]" + kRead + "\ntile.write %v, %t[%m]" +
                 kWrite + "\n}\n");
  });
  add("a window's origin that doubles", [] {
    return block(doubling("%b", 62) + "tile.load %A[%i62] into %t : memref<?xf32, #g>, memref<64xf32, #s>\n" +
                 "tile.store %t into %B[%i62] : memref<64xf32, #s>, memref<?xf32, #g>\n");
  });
  add("a window's origin of minima that doubles", [] {
    return block("%i0 = arith.addi %b, %c1 : index\n" +
                 lines(62,
                       [](int64_t i) {
                         return "%i" + number(i + 1) + " = arith.minsi %i" + number(i) + ", %i" + number(i) +
                                " : index";
                       }) +
                 "tile.load %A[%i62] into %t : memref<?xf32, #g>, memref<64xf32, #s>\n");
  });
  add("two maps with indices that double", [] {
    const Text map = "tile.map (%m) in [64] {\n" + doubling("%m", 62) +
                     "%z = arith.remui %i62, %c2 : index\n%v = tile.read %t[%z]" + kRead + "\ntile.write %v, %u[%z]" +
                     kWrite + "\n}\n";
    return block("%u = tile.alloc \"u\" : memref<64xf32, #s>\n" + map + map);
  });
  add("a value that doubles", [] {
    return block("tile.map (%m) in [64] {\n%v0 = tile.read %t[%m]" + kRead + "\n" +
                 lines(500,
                       [](int64_t i) {
                         return "%v" + number(i + 1) + " = arith.addf %v" + number(i) + ", %v" + number(i) + " : f32";
                       }) +
                 "tile.write %v500, %t[%m]" + kWrite + "\n}\n");
  });
  add("a long chain of indices", [] {
    return block(
        "%i0 = arith.addi %b, %c1 : index\n" +
        lines(5000, [](int64_t i) { return "%i" + number(i + 1) + " = arith.muli %i" + number(i) + ", %b : index"; }) +
        "tile.load %A[%i5000] into %t : memref<?xf32, #g>, memref<64xf32, #s>\n");
  });
  add("a long chain of indices in a map", [] {
    return block(
        "tile.map (%m) in [64] {\n%i0 = arith.addi %m, %c1 : index\n" +
        lines(3000, [](int64_t i) { return "%i" + number(i + 1) + " = arith.muli %i" + number(i) + ", %m : index"; }) +
        "%z = arith.remui %i3000, %c2 : index\n%v = tile.read %t[%z]" + kRead + "\ntile.write %v, %t[%m]" + kWrite +
        "\n}\n");
  });
  add("loops in loops", [] {
    return block(lines(200, [](int64_t i) { return "scf.for %k" + number(i) + " = %c0 to %c2 step %c1 {"; }) +
                 "tile.fill %t, %zero : memref<64xf32, #s>, f32\n" + repeated("}\n", 200));
  });
  add("pipelines in pipelines", [] {
    return block(
        lines(60, [](int64_t i) { return "tile.pipeline %k" + number(i) + " = %c0 to %c2 step %c1 stages(2) {"; }) +
        "tile.load %A[%k59] into %t : memref<?xf32, #g>, memref<64xf32, #s>\n" + repeated("}\n", 60));
  });
  add("branches in branches", [] {
    return block("%yes = arith.cmpi slt, %b, %c1 : index\n" + repeated("scf.if %yes {\n", 200) +
                 "tile.fill %t, %zero : memref<64xf32, #s>, f32\n" + repeated("}\n", 200));
  });
  add("many tiles", [] {
    return block(lines(1500,
                       [](int64_t i) {
                         return "%t" + number(i) + " = tile.alloc \"t\" : memref<64xf32, #s>\ntile.fill %t" +
                                number(i) + ", %zero : memref<64xf32, #s>, f32";
                       }) +
                 lines(1499, [](int64_t i) {
                   return "tile.copy %t" + number(i) + " to %t" + number(i + 1) +
                          " : memref<64xf32, #s>, memref<64xf32, #s>";
                 }));
  });
  add("many maps over one tile", [] {
    return block(repeated("tile.map (%m) in [64] {\n%v = tile.read %t[%m]" + kRead +
                              "\n%w = arith.addf %v, %v : f32\ntile.write %w, %t[%m]" + kWrite + "\n}\n",
                          600));
  });
  add("many loads", [] {
    return block(
        repeated("tile.load %A[%b] into %t : memref<?xf32, #g>, memref<64xf32, #s>\n"
                 "tile.store %t into %B[%b] : memref<64xf32, #s>, memref<?xf32, #g>\n",
                 200));
  });
  add("many products", [] {
    return block(
        "%p = tile.alloc \"p\" : memref<64x64xf32, #s>\n%q = tile.alloc \"q\" : memref<64x64xf32, #s>\n"
        "%acc = tile.alloc \"acc\" : memref<64x64xf32, #f>\n"
        "tile.fill %p, %zero : memref<64x64xf32, #s>, f32\ntile.fill %q, %zero : memref<64x64xf32, #s>, f32\n" +
        repeated("tile.gemm %p, %q, %acc clear : memref<64x64xf32, #s>, memref<64x64xf32, #s>, "
                 "memref<64x64xf32, #f>\n",
                 60));
  });
  add("many phases", [] {
    Text text = kAliases + "tile.kernel @k() {\n%c1 = arith.constant 1 : index\n%zero = arith.constant 0.0 : f32\n";
    return text +
           repeated(
               "tile.grid (%b) = (%c1) {\n%t = tile.alloc \"t\" : memref<64xf32, #s>\n"
               "tile.fill %t, %zero : memref<64xf32, #s>, f32\ntile.print \"t\", %t : memref<64xf32, #s>\n}\n",
               150) +
           "}\n";
  });
  add("many kernels", [] {
    return lines(200, [](int64_t i) {
      return "tile.kernel @k" + number(i) + "() {\n%c1 = arith.constant 1 : index\ntile.grid (%b) = (%c1) {\n}\n}";
    });
  });
  add("many arguments", [] {
    Text text = kAliases + "tile.kernel @k(";
    for (int64_t i = 0; i < 400; ++i) {
      text += (i ? ", " : "") + Text("%A") + number(i) + ": memref<?xf32, #g> {tile.name = \"A" + number(i) +
              "\", tile.dims = [\"N" + number(i) + "\"], tile.role = \"in\"}";
    }
    return text + ") {\n%c1 = arith.constant 1 : index\ntile.grid (%b) = (%c1) {\n}\n}\n";
  });
  add("prints of large tiles", [] {
    return block("%p = tile.alloc \"p\" : memref<64x64xf32, #s>\ntile.fill %p, %zero : memref<64x64xf32, #s>, f32\n" +
                 repeated("tile.print \"p\", %p : memref<64x64xf32, #s>\n", 3));
  });
  add("threads and barriers", [] {
    return block("tile.threads (%x) in [64] {\n" +
                 lines(60,
                       [](int64_t i) {
                         return "%v" + number(i) + " = tile.read %t[%x]" + kRead + "\ntile.barrier\ntile.write %v" +
                                number(i / 2) + ", %t[%x]" + kWrite + "\ntile.barrier";
                       }) +
                 "}\n");
  });
  add("tiles that no arena holds", [] {
    return block(
        "%p = tile.alloc \"p\" : memref<131072x1048576xf32, #s>\n"
        "tile.fill %p, %zero : memref<131072x1048576xf32, #s>, f32\n");
  });
  add("a workspace that no machine has", [] {
    return block("tile.load %W[%c0] into %t : memref<4294967296xf32, #g>, memref<64xf32, #s>\n",
                 "%W = tile.alloc \"w\" : memref<4294967296xf32, #g>\n");
  });
  add("attributes that double", [] {
    Text aliases = "#a0 = [1, 2]\n" + lines(60, [](int64_t i) {
                     return "#a" + number(i + 1) + " = [#a" + number(i) + ", #a" + number(i) + "]";
                   });
    return aliases + "tile.kernel @k() attributes {note = #a60} {\n%c1 = arith.constant 1 : index\n}\n";
  });
  add("types that double", [] {
    Text aliases = "!t0 = tuple<i32, i32>\n" + lines(60, [](int64_t i) {
                     return "!t" + number(i + 1) + " = tuple<!t" + number(i) + ", !t" + number(i) + ">";
                   });
    return aliases + "tile.kernel @k() {\n%c1 = \"arith.constant\"() : () -> !t60\n}\n";
  });
  add("locations that double", [] {
    Text text =
        "tile.kernel @k() {\n%c1 = arith.constant 1 : index loc(#l60)\n}\n#l0 = loc(\"a\":1:1)\n#l1 = loc(\"b\":1:1)\n";
    return text + lines(60, [](int64_t i) {
             return "#l" + number(i + 2) + " = loc(callsite(#l" + number(i) + " at #l" + number(i + 1) + "))";
           });
  });
  add("a large attribute used often", [] {
    Text text = "#a = [" + repeated("1234567, ", 20000) + "0]\ntile.kernel @k() {\n";
    return text + lines(5000, [](int64_t i) { return "%c" + number(i) + " = arith.constant {note = #a} 1 : index"; }) +
           "}\n";
  });
  add("a long name", [] {
    return "tile.kernel @" + Text(1 << 20, 'k') +
           "() {\n%c1 = arith.constant 1 : index\ntile.grid (%b) = (%c1) {\n}\n}\n";
  });
  add("a long text", [] { return block("tile.print \"" + Text(1 << 20, 'x') + "\"\n"); });
  add("a long line of signs", [] { return Text(1 << 20, '-'); });
  add("a long line of keywords", [] { return repeated("tile.kernel ", 1 << 16); });
  add("a number of many digits",
      [] { return "tile.kernel @k() {\n%c = arith.constant " + Text(1 << 16, '9') + " : index\n}\n"; });
  add("a type of many dimensions", [] {
    return "tile.kernel @k() {\n%c1 = arith.constant 1 : index\ntile.grid (%b) = (%c1) {\n%t = tile.alloc \"t\" : "
           "memref<" +
           repeated("1x", 20000) + "f32, #tile.space<shared>>\n}\n}\n";
  });
  add("much scalar code", [] {
    return block("%v0 = tile.read %t[%c0]" + kRead + "\n" +
                 lines(400, [](int64_t i) { return "%v" + number(i + 1) + " = math.sin %v" + number(i) + " : f32"; }) +
                 "tile.write %v400, %t[%c0]" + kWrite + "\n");
  });
  add("many element accesses", [] {
    return block(lines(2000, [](int64_t i) {
      return "%v" + number(i) + " = tile.read %t[%c1]" + kRead + "\ntile.write %v" + number(i) + ", %t[%c0]" + kWrite;
    }));
  });
  add("a map with a large body", [] {
    return block("tile.map (%m) in [64] {\n" +
                 lines(1000,
                       [](int64_t i) {
                         return "%v" + number(i) + " = tile.read %t[%m]" + kRead + "\n%w" + number(i) +
                                " = math.exp %v" + number(i) + " : f32\ntile.write %w" + number(i) + ", %t[%m]" +
                                kWrite;
                       }) +
                 "}\n");
  });
  // Each test of one number says something about the others.
  add("an index from data under many conditions", [] {
    return block("%f = tile.read %t[%c0]" + kRead + "\n%x = arith.fptosi %f : f32 to i64\n" +
                 "%i = arith.index_cast %x : i64 to index\n" +
                 lines(40,
                       [](int64_t n) {
                         return "%l" + number(n) + " = arith.constant " + number(100 + n) + " : i64\n%q" + number(n) +
                                " = arith.cmpi slt, %x, %l" + number(n) + " : i64\nscf.if %q" + number(n) + " {";
                       }) +
                 "tile.write %f, %t[%i]" + kWrite + "\n" + repeated("}", 40) + "\n");
  });
  add("a constant that is used very often", [] {
    return "tile.kernel @k() {\n%c1 = arith.constant 1 : index\n" +
           lines(100'000, [](int64_t i) { return "%s" + number(i) + " = arith.addi %c1, %c1 : index"; }) + "}\n";
  });
  return all;
}

}  // namespace

const std::vector<Bomb>& bombs() {
  static const std::vector<Bomb> all = make();
  return all;
}

}  // namespace deep_accel::test
