// The builder, for the tracer of deep_accel.tile: every call takes the place of the user's line.
#include "deep_accel/tile/builder.h"

#include "python/native/native.h"

namespace deep_accel::python {

using tile::Builder;
using tile::Combination;
using tile::Scalar;
using tile::TileBuffer;

namespace {

using Ints = std::vector<int64_t>;
using Any = std::vector<AnyScalar>;

std::optional<Scalar> optional_scalar(const std::optional<AnyScalar>& value) {
  return value ? std::optional(value->scalar) : std::nullopt;
}

Builder& here(Builder& builder) {
  builder.set_place(current_place());
  return builder;
}

void bind_enums(nb::module_& m) {
  nb::enum_<Combination>(m, "Combination", "How values are combined.")
      .value("add", Combination::add)
      .value("mul", Combination::mul)
      .value("max", Combination::max)
      .value("min", Combination::min)
      .value("abs_add", Combination::abs_add)
      .value("abs_max", Combination::abs_max)
      .value("bits_and", Combination::bits_and)
      .value("bits_or", Combination::bits_or)
      .value("bits_xor", Combination::bits_xor)
      .value("exchange", Combination::exchange);
  nb::enum_<tile::MemorySpace>(m, "MemorySpace", "Where a buffer lives.")
      .value("global_", tile::MemorySpace::global)
      .value("shared", tile::MemorySpace::shared)
      .value("fragment", tile::MemorySpace::fragment)
      .value("local", tile::MemorySpace::local);
  nb::enum_<tile::ArgumentRole>(m, "Role", "What a kernel does with an argument.")
      .value("in_", tile::ArgumentRole::in)
      .value("out", tile::ArgumentRole::out)
      .value("inout", tile::ArgumentRole::inout)
      .value("automatic", tile::ArgumentRole::automatic);
  nb::enum_<tile::Ordering>(m, "Ordering", "Memory order of an atomic operation.")
      .value("relaxed", tile::Ordering::relaxed)
      .value("acquire", tile::Ordering::acquire)
      .value("release", tile::Ordering::release)
      .value("acq_rel", tile::Ordering::acq_rel)
      .value("seq_cst", tile::Ordering::seq_cst);
  nb::enum_<tile::ShuffleMode>(m, "ShuffleMode")
      .value("index", tile::ShuffleMode::index)
      .value("up", tile::ShuffleMode::up)
      .value("down", tile::ShuffleMode::down)
      .value("lane_xor", tile::ShuffleMode::lane_xor);
  nb::enum_<tile::VoteMode>(m, "VoteMode")
      .value("any", tile::VoteMode::any)
      .value("all", tile::VoteMode::all)
      .value("count", tile::VoteMode::count);
  nb::enum_<tile::BlockWalk>(m, "BlockWalk")
      .value("rows", tile::BlockWalk::rows)
      .value("columns", tile::BlockWalk::columns)
      .value("swizzle", tile::BlockWalk::swizzle);
}

}  // namespace

void bind_builder(nb::module_& m) {
  bind_enums(m);
  nb::class_<TileBuffer>(m, "TileBuffer", "A tensor or a tile of a kernel that is being traced.")
      .def_prop_ro("dtype", &TileBuffer::dtype)
      .def_prop_ro("space", &TileBuffer::space)
      .def_prop_ro("ndim", &TileBuffer::rank)
      .def_prop_ro("shape", &TileBuffer::shape)
      .def_prop_ro("name", &TileBuffer::name);
  nb::class_<tile::Token>(m, "Token", "A load that may be under way.");

  using B = Builder;
  nb::class_<B>(m, "Builder", "Writes a kernel of the tile dialect, one operation a call.")
      .def(
          "__init__", [](B* self, const std::string& name) { here(*new (self) B(name)); }, nb::arg("name"))
      .def(
          "finish", [](B& b) { return here(b).finish(); }, "Verify and hand over the kernel.")
      .def(
          "dim", [](B& b, const std::string& name) { return here(b).dim(name); }, nb::arg("name"))
      .def(
          "argument",
          [](B& b, const std::string& name, AnyDType d, const Any& shape, tile::ArgumentRole role,
             const std::optional<std::vector<std::optional<int64_t>>>& strides) {
            return here(b).strided(name, d.dtype, scalars(shape),
                                   strides.value_or(std::vector<std::optional<int64_t>>()), role);
          },
          nb::arg("name"), nb::arg("dtype"), nb::arg("shape"), nb::arg("role") = tile::ArgumentRole::automatic,
          nb::arg("strides") = nb::none())
      .def(
          "scalar", [](B& b, const std::string& name, tile::ScalarType t) { return here(b).scalar(name, t); },
          nb::arg("name"), nb::arg("type"))
      .def(
          "alloc",
          [](B& b, tile::MemorySpace space, AnyDType d, const Ints& shape, const std::string& name) {
            return here(b).alloc(space, d.dtype, shape, name);
          },
          nb::arg("space"), nb::arg("dtype"), nb::arg("shape"), nb::arg("name") = "")
      .def(
          "slice",
          [](B& b, const TileBuffer& s, const Any& at, const Ints& sizes, const Ints& dims) {
            return here(b).slice(s, scalars(at), sizes, dims);
          },
          nb::arg("source"), nb::arg("offsets"), nb::arg("sizes"), nb::arg("dims") = Ints())
      .def(
          "reshape", [](B& b, const TileBuffer& s, const Ints& shape) { return here(b).reshape(s, shape); },
          nb::arg("source"), nb::arg("shape"))
      .def(
          "bitcast", [](B& b, const TileBuffer& s, AnyDType d) { return here(b).bitcast(s, d.dtype); },
          nb::arg("source"), nb::arg("dtype"))
      .def(
          "load",
          [](B& b, const TileBuffer& s, const Any& at, const TileBuffer& tile, const std::optional<AnyScalar>& fill,
             const Ints& dims) { here(b).load(s, scalars(at), tile, {optional_scalar(fill), dims}); },
          nb::arg("source"), nb::arg("at"), nb::arg("tile"), nb::arg("fill") = nb::none(), nb::arg("dims") = Ints())
      .def(
          "async_load",
          [](B& b, const TileBuffer& s, const Any& at, const TileBuffer& tile, const std::optional<AnyScalar>& fill,
             const Ints& dims) { return here(b).async_load(s, scalars(at), tile, {optional_scalar(fill), dims}); },
          nb::arg("source"), nb::arg("at"), nb::arg("tile"), nb::arg("fill") = nb::none(), nb::arg("dims") = Ints())
      .def(
          "wait", [](B& b, const std::vector<tile::Token>& tokens) { here(b).wait(tokens); }, nb::arg("tokens"))
      .def(
          "store",
          [](B& b, const TileBuffer& t, const TileBuffer& d, const Any& at, const Ints& dims) {
            here(b).store(t, d, scalars(at), dims);
          },
          nb::arg("tile"), nb::arg("dest"), nb::arg("at"), nb::arg("dims") = Ints())
      .def(
          "copy", [](B& b, const TileBuffer& s, const TileBuffer& d) { here(b).copy(s, d); }, nb::arg("source"),
          nb::arg("dest"))
      .def(
          "transpose",
          [](B& b, const TileBuffer& s, const TileBuffer& d, const Ints& p) { here(b).transpose(s, d, p); },
          nb::arg("source"), nb::arg("dest"), nb::arg("permutation"))
      .def(
          "gather",
          [](B& b, const TileBuffer& s, const Any& at, const TileBuffer& rows, const TileBuffer& t, int64_t axis,
             const std::optional<AnyScalar>& fill) {
            here(b).gather(s, scalars(at), rows, t, axis, optional_scalar(fill));
          },
          nb::arg("source"), nb::arg("at"), nb::arg("rows"), nb::arg("tile"), nb::arg("axis") = 0,
          nb::arg("fill") = nb::none())
      .def(
          "scatter",
          [](B& b, const TileBuffer& t, const TileBuffer& d, const Any& at, const TileBuffer& rows, int64_t axis,
             std::optional<Combination> c) { here(b).scatter(t, d, scalars(at), rows, axis, c); },
          nb::arg("tile"), nb::arg("dest"), nb::arg("at"), nb::arg("rows"), nb::arg("axis") = 0,
          nb::arg("combination") = nb::none())
      .def(
          "im2col",
          [](B& b, const TileBuffer& image, AnyScalar pixel, AnyScalar column, const TileBuffer& t,
             std::pair<int64_t, int64_t> kernel, std::pair<int64_t, int64_t> stride,
             std::pair<int64_t, int64_t> dilation, const Ints& pad) {
            tile::ConvolutionWindow w{
                {kernel.first, kernel.second}, {stride.first, stride.second}, {dilation.first, dilation.second}, {}};
            for (size_t i = 0; i < 4 && i < pad.size(); ++i) w.pad[i] = pad[i];
            here(b).im2col(image, pixel.scalar, column.scalar, t, w);
          },
          nb::arg("image"), nb::arg("pixel"), nb::arg("column"), nb::arg("tile"), nb::arg("kernel"), nb::arg("stride"),
          nb::arg("dilation"), nb::arg("pad"))
      .def(
          "prefetch",
          [](B& b, const TileBuffer& s, const Any& at, const Ints& sizes, int64_t level, bool write) {
            here(b).prefetch(s, scalars(at), sizes, level, write);
          },
          nb::arg("source"), nb::arg("at"), nb::arg("sizes"), nb::arg("level") = 2, nb::arg("write") = false)
      .def(
          "read", [](B& b, const TileBuffer& s, const Any& at) { return here(b).read(s, scalars(at)); },
          nb::arg("buffer"), nb::arg("indices"))
      .def(
          "write",
          [](B& b, AnyScalar v, const TileBuffer& s, const Any& at) { here(b).write(v.scalar, s, scalars(at)); },
          nb::arg("value"), nb::arg("buffer"), nb::arg("indices"))
      .def(
          "read_guarded",
          [](B& b, const TileBuffer& s, const Any& at, AnyScalar outside) {
            return here(b).read_guarded(s, scalars(at), outside.scalar);
          },
          nb::arg("buffer"), nb::arg("indices"), nb::arg("outside") = 0)
      .def(
          "write_guarded",
          [](B& b, AnyScalar v, const TileBuffer& s, const Any& at) {
            here(b).write_guarded(v.scalar, s, scalars(at));
          },
          nb::arg("value"), nb::arg("buffer"), nb::arg("indices"))
      .def(
          "combine",
          [](B& b, Combination c, AnyScalar v, const TileBuffer& s, const Any& at) {
            here(b).combine(c, v.scalar, s, scalars(at));
          },
          nb::arg("combination"), nb::arg("value"), nb::arg("buffer"), nb::arg("indices"))
      .def(
          "accumulate",
          [](B& b, Combination c, AnyScalar v, const TileBuffer& s, const Any& at) {
            here(b).accumulate(c, v.scalar, s, scalars(at));
          },
          nb::arg("combination"), nb::arg("value"), nb::arg("buffer"), nb::arg("indices"))
      .def(
          "gemm",
          [](B& b, const TileBuffer& x, const TileBuffer& y, const TileBuffer& acc, bool ta, bool tb, bool clear,
             std::optional<TileBuffer> sa,
             std::optional<TileBuffer> sb) { here(b).gemm(x, y, acc, {ta, tb, clear, sa, sb}); },
          nb::arg("a"), nb::arg("b"), nb::arg("acc"), nb::arg("transpose_a") = false, nb::arg("transpose_b") = false,
          nb::arg("clear") = false, nb::arg("scale_a") = nb::none(), nb::arg("scale_b") = nb::none())
      .def(
          "sparse_gemm",
          [](B& b, const TileBuffer& a, const TileBuffer& e, const TileBuffer& y, const TileBuffer& acc, bool tb,
             bool clear) { here(b).sparse_gemm(a, e, y, acc, tb, clear); },
          nb::arg("a"), nb::arg("positions"), nb::arg("b"), nb::arg("acc"), nb::arg("transpose_b") = false,
          nb::arg("clear") = false)
      .def(
          "reduce",
          [](B& b, Combination c, const TileBuffer& s, const TileBuffer& d, int64_t dim, bool clear, bool nan) {
            here(b).reduce(c, s, d, dim, {clear, nan});
          },
          nb::arg("combination"), nb::arg("source"), nb::arg("dest"), nb::arg("dim") = -1, nb::arg("clear") = true,
          nb::arg("propagate_nan") = false)
      .def(
          "scan",
          [](B& b, Combination c, const TileBuffer& s, const TileBuffer& d, int64_t dim, bool reverse, bool exclusive) {
            here(b).scan(c, s, d, dim, {reverse, exclusive});
          },
          nb::arg("combination"), nb::arg("source"), nb::arg("dest"), nb::arg("dim") = 0, nb::arg("reverse") = false,
          nb::arg("exclusive") = false)
      .def(
          "fill", [](B& b, const TileBuffer& t, AnyScalar v) { here(b).fill(t, v.scalar); }, nb::arg("tile"),
          nb::arg("value"))
      .def(
          "atomic",
          [](B& b, Combination c, AnyScalar v, const TileBuffer& s, const Any& at, tile::Ordering o) {
            return here(b).atomic(c, v.scalar, s, scalars(at), o);
          },
          nb::arg("combination"), nb::arg("value"), nb::arg("buffer"), nb::arg("indices"),
          nb::arg("order") = tile::Ordering::relaxed)
      .def(
          "atomic_store",
          [](B& b, Combination c, const TileBuffer& t, const TileBuffer& d, const Any& at, const Ints& dims,
             tile::Ordering o) { here(b).atomic_store(c, t, d, scalars(at), dims, o); },
          nb::arg("combination"), nb::arg("tile"), nb::arg("dest"), nb::arg("at"), nb::arg("dims") = Ints(),
          nb::arg("order") = tile::Ordering::relaxed)
      .def(
          "barrier", [](B& b, std::optional<int64_t> id, std::optional<int64_t> n) { here(b).barrier(id, n); },
          nb::arg("id") = nb::none(), nb::arg("count") = nb::none())
      .def(
          "shuffle",
          [](B& b, tile::ShuffleMode mode, AnyScalar v, AnyScalar lane, int64_t w) {
            return here(b).shuffle(mode, v.scalar, lane.scalar, w);
          },
          nb::arg("mode"), nb::arg("value"), nb::arg("lane"), nb::arg("width") = 32)
      .def(
          "vote", [](B& b, tile::VoteMode mode, AnyScalar c, int64_t w) { return here(b).vote(mode, c.scalar, w); },
          nb::arg("mode"), nb::arg("condition"), nb::arg("width") = 32)
      .def(
          "assume", [](B& b, AnyScalar c) { here(b).assume(c.scalar); }, nb::arg("condition"))
      .def(
          "assert_", [](B& b, AnyScalar c, const std::string& message) { here(b).assert_(c.scalar, message); },
          nb::arg("condition"), nb::arg("message"))
      .def(
          "print", [](B& b, const std::string& text, const Any& values) { here(b).print(text, scalars(values)); },
          nb::arg("text"), nb::arg("values"))
      .def(
          "print_buffer", [](B& b, const std::string& text, const TileBuffer& buffer) { here(b).print(text, buffer); },
          nb::arg("text"), nb::arg("buffer"))
      .def(
          "extern_",
          [](B& b, const std::string& symbol, const nb::list& operands, std::optional<tile::ScalarType> result) {
            std::vector<B::ExternOperand> values;
            for (nb::handle operand : operands) {
              if (nb::isinstance<nb::tuple>(operand)) {
                values.emplace_back(nb::cast<TileBuffer>(operand[0]), nb::cast<tile::ArgumentRole>(operand[1]));
              } else {
                values.emplace_back(scalar_from_object(operand));
              }
            }
            return here(b).extern_(symbol, values, result);
          },
          nb::arg("symbol"), nb::arg("operands"), nb::arg("result") = nb::none())
      .def(
          "begin_grid",
          [](B& b, const Any& extents, tile::BlockWalk walk, int64_t panel, int64_t threads) {
            return here(b).begin_grid(scalars(extents), {walk, panel, threads});
          },
          nb::arg("extents"), nb::arg("walk") = tile::BlockWalk::rows, nb::arg("panel") = 8, nb::arg("threads") = 0)
      .def(
          "begin_map", [](B& b, const Any& sizes) { return here(b).begin_map(scalars(sizes)); }, nb::arg("sizes"))
      .def(
          "begin_threads", [](B& b, const Ints& extents) { return here(b).begin_threads(extents); }, nb::arg("extents"))
      .def(
          "begin_pipeline",
          [](B& b, AnyScalar lower, AnyScalar upper, AnyScalar step, int64_t stages, const Ints& stage,
             const Ints& order) {
            return here(b).begin_pipeline(lower.scalar, upper.scalar, step.scalar, {stages, stage, order});
          },
          nb::arg("lower"), nb::arg("upper"), nb::arg("step"), nb::arg("stages") = 1, nb::arg("stage") = Ints(),
          nb::arg("order") = Ints())
      .def(
          "begin_for",
          [](B& b, AnyScalar lower, AnyScalar upper, AnyScalar step, const Any& initial) {
            return here(b).begin_for(lower.scalar, upper.scalar, step.scalar, scalars(initial));
          },
          nb::arg("lower"), nb::arg("upper"), nb::arg("step"), nb::arg("initial"))
      .def(
          "begin_while", [](B& b, const Any& initial) { return here(b).begin_while(scalars(initial)); },
          nb::arg("initial"))
      .def(
          "begin_while_body", [](B& b, AnyScalar c) { return here(b).begin_while_body(c.scalar); },
          nb::arg("condition"))
      .def(
          "begin_if", [](B& b, AnyScalar c) { here(b).begin_if(c.scalar); }, nb::arg("condition"))
      .def("begin_else", [](B& b) { here(b).begin_else(); })
      .def(
          "end_if",
          [](B& b, const Any& then_values, const Any& else_values) {
            return here(b).end_if(scalars(then_values), scalars(else_values));
          },
          nb::arg("then_values"), nb::arg("else_values"))
      .def(
          "end", [](B& b, const Any& values) { return here(b).end(scalars(values)); }, nb::arg("values") = nb::list())
      .def(
          "constant_difference",
          [](B& b, AnyScalar x, AnyScalar y) { return b.constant_difference(x.scalar, y.scalar); }, nb::arg("a"),
          nb::arg("b"))
      .def(
          "surely_within", [](B& b, AnyScalar i, AnyScalar size) { return b.surely_within(i.scalar, size.scalar); },
          nb::arg("index"), nb::arg("size"))
      .def(
          "visible", [](B& b, const Scalar& s) { return b.visible(s); }, nb::arg("value"))
      .def("place", [](B& b) { return here(b).place(); })
      .def_prop_ro("open_regions", &B::open_regions);
}

}  // namespace deep_accel::python
