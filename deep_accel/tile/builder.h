// Builder: writes a kernel of the tile dialect from C++.
//
//   Builder k("scale");
//   auto [N] = k.dims("N");
//   auto X = k.input("X", DType::f32, {N}), Y = k.output("Y", DType::f32, {N});
//   k.grid({ceil_div(N, 256)}, [&](Index b) {
//     auto x = k.fragment(DType::f32, {256}, "x");
//     k.load(X, {b * 256}, x);
//     k.map({256}, [&](Index i) { x(i) = 2 * x(i); });
//     k.store(x, Y, {b * 256});
//   });
//   Program program = k.finish();
//
// What each operation means stands in docs/reference/tile.md. Every call remembers the line it was made from, which
// then stands in every message. Mistakes are thrown at the call: ShapeError for shapes and ranks, TypeError for dtypes
// and kinds of buffers, ValueError for the rest.
#pragma once

#include <array>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

#include "deep_accel/tile/buffer.h"
#include "deep_accel/tile/program.h"
#include "deep_accel/tile/scalar.h"

namespace deep_accel::tile {

enum class ArgumentRole : uint8_t { in, out, inout, automatic };  // automatic: by what the kernel does with it
enum class Combination : uint8_t { add, mul, max, min, abs_add, abs_max, bits_and, bits_or, bits_xor, exchange };
enum class Ordering : uint8_t { relaxed, acquire, release, acq_rel, seq_cst };
enum class ShuffleMode : uint8_t { index, up, down, lane_xor };
enum class VoteMode : uint8_t { any, all, count };
enum class BlockWalk : uint8_t { rows, columns, swizzle };

struct GridOptions {
  BlockWalk walk = BlockWalk::rows;
  int64_t panel = 8;    // of the swizzle
  int64_t threads = 0;  // a hint; 0: none
};

struct LoadOptions {
  std::optional<Scalar> fill = std::nullopt;  // what elements outside the source read as; absent: zero
  std::vector<int64_t> dims = {};             // the source's dimensions that the tile's stand for; empty: the last ones
};

struct GemmOptions {
  bool transpose_a = false;
  bool transpose_b = false;
  bool clear = false;  // start from zero instead of adding to what the accumulator holds
  std::optional<TileBuffer> scale_a = std::nullopt, scale_b = std::nullopt;
};

struct ReduceOptions {
  bool clear = true;  // false: combine with what the destination holds
  bool propagate_nan = false;
};

struct ScanOptions {
  bool reverse = false;
  bool exclusive = false;
};

struct PipelineOptions {
  int64_t stages = 1;
  std::vector<int64_t> stage = {},
                       order = {};  // by hand, an entry for each statement with an effect; empty: by the compiler
};

struct ConvolutionWindow {
  std::array<int64_t, 2> kernel{1, 1}, stride{1, 1}, dilation{1, 1};
  std::array<int64_t, 4> pad{0, 0, 0, 0};  // top, left, bottom, right
};

// A load that may be under way.
struct Token {
  const void* value = nullptr;
};

class Builder {
 public:
  using Where = std::source_location;

  // Throws ValueError where the name is not an identifier.
  explicit Builder(std::string_view name, Where where = Where::current());
  // For the builder's own parts: another hand on the same kernel.
  explicit Builder(std::shared_ptr<BuilderState> state) : state_(std::move(state)) {}
  ~Builder();
  Builder(Builder&&) noexcept;
  Builder& operator=(Builder&&) noexcept;

  // Verifies and hands over the kernel; the builder is finished then. Throws ValueError with every message of the
  // verifier.
  Program finish();

  // Arguments ---------------------------------------------------------------------------------------------------------

  // A size that the arguments decide: it must stand in some tensor's shape. The same name is the same size.
  Scalar dim(std::string_view name, Where where = Where::current());
  // auto [M, N] = k.dims("M", "N");
  template <typename... Names>
  std::array<Scalar, sizeof...(Names)> dims(const Names&... names) {
    return {dim(names)...};
  }

  // Tensors, contiguous in row-major order. A size is a number, a dim, or an expression of dims (checked at each
  // launch).
  TileBuffer input(std::string_view name, DType dtype, const Scalars& shape, Where where = Where::current());
  TileBuffer output(std::string_view name, DType dtype, const Scalars& shape, Where where = Where::current());
  TileBuffer inout(std::string_view name, DType dtype, const Scalars& shape, Where where = Where::current());
  // A tensor with strides: absent ones are free, numbers are required.
  TileBuffer strided(std::string_view name, DType dtype, const Scalars& shape,
                     const std::vector<std::optional<int64_t>>& strides, ArgumentRole role,
                     Where where = Where::current());
  TileBuffer argument(std::string_view name, DType dtype, const Scalars& shape, ArgumentRole role,
                      Where where = Where::current());
  // A number given at the launch.
  Scalar scalar(std::string_view name, ScalarType type, Where where = Where::current());

  // Structure ---------------------------------------------------------------------------------------------------------

  // A phase of the kernel: the body for each block of a grid of one to three extents, in parallel.
  template <typename Body>
  void grid(const Scalars& extents, Body&& body, const GridOptions& options = {}, Where where = Where::current()) {
    call(body, begin_grid(extents, options, where));
    end({}, where);
  }

  // Memory. In a grid: a tile of the block, contents undefined. `workspace` is global memory that all blocks of all
  // phases see; outside a grid.
  TileBuffer alloc(MemorySpace space, DType dtype, const std::vector<int64_t>& shape, std::string_view name = "",
                   Where where = Where::current());
  TileBuffer shared(DType dtype, const std::vector<int64_t>& shape, std::string_view name = "",
                    Where where = Where::current());
  TileBuffer fragment(DType dtype, const std::vector<int64_t>& shape, std::string_view name = "",
                      Where where = Where::current());
  TileBuffer local(DType dtype, const std::vector<int64_t>& shape, std::string_view name = "",
                   Where where = Where::current());
  TileBuffer workspace(DType dtype, const std::vector<int64_t>& shape, std::string_view name = "",
                       Where where = Where::current());

  // Views. `dims` names the dimensions of the source that stay; the others have size 1 in the window and vanish.
  TileBuffer slice(const TileBuffer& source, const Scalars& offsets, const std::vector<int64_t>& sizes,
                   const std::vector<int64_t>& dims = {}, Where where = Where::current());
  TileBuffer reshape(const TileBuffer& source, const std::vector<int64_t>& shape, Where where = Where::current());
  TileBuffer bitcast(const TileBuffer& source, DType dtype, Where where = Where::current());

  // A loop in order, iterations overlapping where nobody can tell.
  template <typename Body>
  void pipelined(const Scalar& count, int64_t stages, Body&& body, Where where = Where::current()) {
    call(body, {begin_pipeline(0, count, 1, {stages, {}, {}}, where)});
    end({}, where);
  }
  template <typename Body>
  void for_(const Scalar& lower, const Scalar& upper, Body&& body, const Scalar& step = 1,
            Where where = Where::current()) {
    call(body, {begin_for(lower, upper, step, {}, where)[0]});
    end({}, where);
  }
  // With values that go from one iteration to the next: body(i, values) returns the next ones; the last are the result.
  template <typename Body>
  Scalars for_(const Scalar& lower, const Scalar& upper, const Scalars& initial, Body&& body, const Scalar& step = 1,
               Where where = Where::current()) {
    Scalars arguments = begin_for(lower, upper, step, initial, where);
    const Scalars next = body(arguments[0], Scalars(arguments.begin() + 1, arguments.end()));
    return end(next, where);
  }
  template <typename Condition, typename Body>
  Scalars while_(const Scalars& initial, Condition&& condition, Body&& body, Where where = Where::current()) {
    const Scalar go_on = condition(begin_while(initial, where));
    return end(body(begin_while_body(go_on, where)), where);
  }
  template <typename Then>
  void if_(const Operand& condition, Then&& then) {
    begin_if(condition.scalar(), condition.where());
    then();
    end_if({}, {}, condition.where());
  }
  template <typename Then, typename Else>
  void if_(const Operand& condition, Then&& then, Else&& otherwise) {
    begin_if(condition.scalar(), condition.where());
    then();
    begin_else(condition.where());
    otherwise();
    end_if({}, {}, condition.where());
  }
  // The one or the other value; only the one is computed.
  template <typename Then, typename Else>
  Scalar if_value(const Operand& condition, Then&& then, Else&& otherwise) {
    begin_if(condition.scalar(), condition.where());
    const Scalar a = then();
    begin_else(condition.where());
    const Scalar b = otherwise();
    return end_if({a}, {b}, condition.where())[0];
  }

  // Moves -------------------------------------------------------------------------------------------------------------

  void load(const TileBuffer& source, const Scalars& at, const TileBuffer& tile, const LoadOptions& options = {},
            Where where = Where::current());
  void store(const TileBuffer& tile, const TileBuffer& dest, const Scalars& at, const std::vector<int64_t>& dims = {},
             Where where = Where::current());
  void copy(const TileBuffer& source, const TileBuffer& dest, Where where = Where::current());
  void transpose(const TileBuffer& source, const TileBuffer& dest, const std::vector<int64_t>& permutation = {1, 0},
                 Where where = Where::current());
  void gather(const TileBuffer& source, const Scalars& at, const TileBuffer& rows, const TileBuffer& tile,
              int64_t axis = 0, std::optional<Scalar> fill = std::nullopt, Where where = Where::current());
  void scatter(const TileBuffer& tile, const TileBuffer& dest, const Scalars& at, const TileBuffer& rows,
               int64_t axis = 0, std::optional<Combination> combination = std::nullopt, Where where = Where::current());
  void im2col(const TileBuffer& image, const Scalar& pixel, const Scalar& column, const TileBuffer& tile,
              const ConvolutionWindow& window, std::optional<Scalar> fill = std::nullopt,
              Where where = Where::current());
  void prefetch(const TileBuffer& source, const Scalars& at, const std::vector<int64_t>& sizes, int64_t level = 2,
                bool write = false, Where where = Where::current());
  Token async_load(const TileBuffer& source, const Scalars& at, const TileBuffer& tile, const LoadOptions& options = {},
                   Where where = Where::current());
  void wait(const std::vector<Token>& tokens, Where where = Where::current());

  // Compute -----------------------------------------------------------------------------------------------------------

  // A scalar body for each point of an index space, in any order.
  template <typename Body>
  void map(const Scalars& sizes, Body&& body, Where where = Where::current()) {
    call(body, begin_map(sizes, where));
    end({}, where);
  }
  Scalar read(const TileBuffer& buffer, const Scalars& indices, Where where = Where::current());
  void write(const Scalar& value, const TileBuffer& buffer, const Scalars& indices, Where where = Where::current());
  // Of elements that may lie outside: read as `outside`, and are not written.
  Scalar read_guarded(const TileBuffer& buffer, const Scalars& indices, const Scalar& outside = 0,
                      Where where = Where::current());
  void write_guarded(const Scalar& value, const TileBuffer& buffer, const Scalars& indices,
                     Where where = Where::current());
  // element = combination(element, value); the way in which a map's iterations may meet in one element.
  void combine(Combination combination, const Scalar& value, const TileBuffer& buffer, const Scalars& indices,
               bool propagate_nan = false, Where where = Where::current());
  // buffer(indices) += value: as a combination where iterations of the surrounding map meet in one element.
  void accumulate(Combination combination, const Scalar& value, const TileBuffer& buffer, const Scalars& indices,
                  Where where = Where::current());
  void gemm(const TileBuffer& a, const TileBuffer& b, const TileBuffer& acc, const GemmOptions& options = {},
            Where where = Where::current());
  void sparse_gemm(const TileBuffer& a, const TileBuffer& positions, const TileBuffer& b, const TileBuffer& acc,
                   bool transpose_b = false, bool clear = false, Where where = Where::current());
  void reduce(Combination combination, const TileBuffer& source, const TileBuffer& dest, int64_t dim = -1,
              const ReduceOptions& options = {}, Where where = Where::current());
  void scan(Combination combination, const TileBuffer& source, const TileBuffer& dest, int64_t dim = 0,
            const ScanOptions& options = {}, Where where = Where::current());
  void fill(const TileBuffer& tile, const Scalar& value, Where where = Where::current());
  // The value before.
  Scalar atomic(Combination combination, const Scalar& value, const TileBuffer& buffer, const Scalars& indices,
                Ordering order = Ordering::relaxed, Where where = Where::current());
  void atomic_store(Combination combination, const TileBuffer& tile, const TileBuffer& dest, const Scalars& at,
                    const std::vector<int64_t>& dims = {}, Ordering order = Ordering::relaxed,
                    Where where = Where::current());

  // Threads, checks, foreign code -------------------------------------------------------------------------------------

  // A body for each thread of the block; one to three extents, the first the fastest.
  template <typename Body>
  void threads(const std::vector<int64_t>& extents, Body&& body, Where where = Where::current()) {
    call(body, begin_threads(extents, where));
    end({}, where);
  }
  void barrier(std::optional<int64_t> id = std::nullopt, std::optional<int64_t> count = std::nullopt,
               Where where = Where::current());
  Scalar shuffle(ShuffleMode mode, const Scalar& value, const Scalar& lane, int64_t width = 32,
                 Where where = Where::current());
  Scalar vote(VoteMode mode, const Scalar& condition, int64_t width = 32, Where where = Where::current());

  void assume(const Scalar& condition, Where where = Where::current());
  // The launch fails with the message where the condition does not hold.
  void assert_(const Scalar& condition, std::string_view message, Where where = Where::current());
  void print(std::string_view text, const Scalars& values = {}, Where where = Where::current());
  void print(std::string_view text, const TileBuffer& buffer, Where where = Where::current());

  // An operand of a foreign function: a scalar, or a buffer that it reads, writes, or both.
  struct ExternOperand {
    ExternOperand(const Scalar& scalar) : scalar(scalar) {}
    ExternOperand(const TileBuffer& buffer, ArgumentRole role) : buffer(buffer), role(role) {}
    std::optional<Scalar> scalar;
    std::optional<TileBuffer> buffer;
    ArgumentRole role = ArgumentRole::in;
  };
  // Calls a C function; `result` absent: void.
  std::optional<Scalar> extern_(std::string_view symbol, const std::vector<ExternOperand>& operands,
                                std::optional<ScalarType> result = std::nullopt, Where where = Where::current());

  // For faces that do not pass bodies as functions --------------------------------------------------------------------
  // Each begin_... opens a body, in which all that follows stands, and returns its variables; end closes the innermost.

  Scalars begin_grid(const Scalars& extents, const GridOptions& options = {}, Where where = Where::current());
  Scalars begin_map(const Scalars& sizes, Where where = Where::current());
  Scalars begin_threads(const std::vector<int64_t>& extents, Where where = Where::current());
  Scalar begin_pipeline(const Scalar& lower, const Scalar& upper, const Scalar& step,
                        const PipelineOptions& options = {}, Where where = Where::current());
  // The loop's variable, then the values carried.
  Scalars begin_for(const Scalar& lower, const Scalar& upper, const Scalar& step, const Scalars& initial = {},
                    Where where = Where::current());
  Scalars begin_while(const Scalars& initial, Where where = Where::current());
  Scalars begin_while_body(const Scalar& condition, Where where = Where::current());
  void begin_if(const Scalar& condition, Where where = Where::current());
  void begin_else(Where where = Where::current());
  // A value of each branch for each result; the types are made to agree.
  Scalars end_if(const Scalars& then_values, const Scalars& else_values, Where where = Where::current());
  // `values`: what loops carry to the next iteration. Returns what they carried out of the last.
  Scalars end(const Scalars& values = {}, Where where = Where::current());

  // In place of the C++ line, until called with nothing: where in the user's own program the next calls stand.
  struct Place {
    std::string file;
    int line = 0, column = 0;
  };
  void set_place(std::optional<Place> place);
  // "file:line:column" of the place that the last call was made from.
  std::string place() const;

  // a - b, where that is a constant whatever the values are.
  std::optional<int64_t> constant_difference(const Scalar& a, const Scalar& b) const;
  // Whether 0 <= index < size for sure.
  bool surely_within(const Scalar& index, const Scalar& size) const;
  // What is open, from the outside in: "grid", "map", "threads", "pipeline", "for", "while", "if".
  std::vector<std::string> open_regions() const;
  // Whether the value can be used here: its region is still open.
  bool visible(const Scalar& value) const;
  const std::shared_ptr<BuilderState>& state() const { return state_; }

 private:
  template <typename Body>
  static void call(Body& body, const Scalars& v) {
    if constexpr (std::is_invocable_v<Body&, const Scalars&> && !std::is_invocable_v<Body&, Scalar>) {
      body(v);
    } else if constexpr (std::is_invocable_v<Body&, Scalar, Scalar, Scalar, Scalar>) {
      require_variables(v, 4), body(v[0], v[1], v[2], v[3]);
    } else if constexpr (std::is_invocable_v<Body&, Scalar, Scalar, Scalar>) {
      require_variables(v, 3), body(v[0], v[1], v[2]);
    } else if constexpr (std::is_invocable_v<Body&, Scalar, Scalar>) {
      require_variables(v, 2), body(v[0], v[1]);
    } else {
      require_variables(v, 1), body(v[0]);
    }
  }
  // ShapeError where a body takes another number of variables than its loop has.
  static void require_variables(const Scalars& variables, size_t wanted);

  std::shared_ptr<BuilderState> state_;
};

}  // namespace deep_accel::tile
