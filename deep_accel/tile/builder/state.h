// The builder's state: the kernel so far, where the next operation goes, and the small steps that all its parts share.
#pragma once

#include <map>
#include <source_location>
#include <string>
#include <vector>

#include "deep_accel/base/error.h"
#include "deep_accel/tile/builder.h"
#include "deep_accel/tile/ir/dialect.h"
#include "deep_accel/tile/ir/program_impl.h"

namespace deep_accel::tile {

class BuilderState : public std::enable_shared_from_this<BuilderState> {
 public:
  using Where = std::source_location;
  enum class Kind { grid, pipeline, map, threads, for_loop, if_then, if_else, while_condition, while_body };
  struct Region {
    Kind kind;
    mlir::Operation* op;
    mlir::OpBuilder::InsertPoint resume;  // where to go on after it
  };

  BuilderState();

  // Location
  // ------------------------------------------------------------------------------------------------------------
  // Remembers where the user stands; throws ValueError where the builder is finished.
  void at(const Where& where);
  mlir::Location location() const { return *location_; }
  std::string place() const { return location_text(*location_); }
  void set_place(std::optional<Builder::Place> place);

  template <typename E = ValueError>
  [[noreturn]] void fail(const std::string& message) const {
    const std::string where = place();
    throw E(where.empty() ? message : where + ": " + message);
  }
  template <typename E = ValueError>
  [[noreturn]] void fail(std::string_view function, std::string_view argument, const std::string& expected,
                         const std::string& got, const std::string& remedy) const {
    fail<E>(std::string(function) + ": '" + std::string(argument) + "' must be " + expected + ", got " + got + "; " +
            remedy);
  }

  // Values
  // --------------------------------------------------------------------------------------------------------------
  static mlir::Value unwrap(const Scalar& scalar) { return mlir::Value::getFromOpaquePointer(scalar.value()); }
  static mlir::TypedValue<mlir::MemRefType> unwrap(const TileBuffer& buffer) {
    return mlir::cast<mlir::TypedValue<mlir::MemRefType>>(mlir::Value::getFromOpaquePointer(buffer.value()));
  }
  Scalar wrap(mlir::Value value);
  Scalars wrap(mlir::ValueRange values);
  TileBuffer wrap_buffer(mlir::Value value);
  mlir::Type mlir_type(ScalarType type);
  static ScalarType scalar_type(mlir::Type type);
  mlir::Type storage_type(DType dtype);

  mlir::Value constant(mlir::TypedAttr attribute);
  mlir::Value constant(ScalarType type, double number);
  mlir::Value integer_constant(ScalarType type, int64_t number);
  // The scalar as a value of the type, converted where it has another.
  mlir::Value value(const Scalar& scalar, ScalarType type);
  // As it is; a literal in its own type.
  mlir::Value value(const Scalar& scalar) { return value(scalar, scalar.type()); }
  mlir::Value index(const Scalar& scalar, std::string_view function, std::string_view argument);
  llvm::SmallVector<mlir::Value> indices(const Scalars& scalars, std::string_view function, std::string_view argument);
  // One index for each dimension of the buffer; ShapeError otherwise.
  llvm::SmallVector<mlir::Value> positions(const TileBuffer& buffer, const Scalars& scalars, std::string_view function);
  mlir::Value convert(mlir::Value value, ScalarType to);
  // Throws ValueError where the value's region is closed, or the scalar is another kernel's.
  void require_visible(const Scalar& scalar) const;
  bool visible(mlir::Value value) const;
  void require_own(const TileBuffer& buffer, std::string_view function, std::string_view argument) const;

  // The type in which an operation on both is done.
  static ScalarType common_type(const Scalar& a, const Scalar& b);

  // Operations
  // ------------------------------------------------------------------------------------------------------------
  template <typename Op, typename... Arguments>
  Op create(Arguments&&... arguments) {
    return builder.create<Op>(location(), std::forward<Arguments>(arguments)...);
  }
  // The operation's result, simplified where it can be.
  template <typename Op, typename... Arguments>
  mlir::Value folded(Arguments&&... arguments) {
    return fold(create<Op>(std::forward<Arguments>(arguments)...));
  }
  mlir::Value fold(mlir::Operation* op);
  // Runs the operation's verifier: throws ValueError with what it says.
  void check(mlir::Operation* op);
  template <typename Op, typename... Arguments>
  Op checked(Arguments&&... arguments) {
    Op op = create<Op>(std::forward<Arguments>(arguments)...);
    check(op);
    return op;
  }

  void open(Kind kind, mlir::Operation* op, mlir::Block* body);
  void close();
  bool inside(Kind kind) const;
  static std::string_view kind_name(Kind kind);

  void require_tile(const TileBuffer& buffer, std::string_view function, std::string_view argument) const;
  // Tile sizes of two buffers, for messages: "f32[64, 32]".
  static std::string describe(const TileBuffer& buffer);
  static std::string shape_text(llvm::ArrayRef<int64_t> shape);
  void require_equal_shapes(const TileBuffer& a, const TileBuffer& b, std::string_view function,
                            std::string_view name_a, std::string_view name_b) const;
  // Checks a window's place and dims, and returns the attribute for dims.
  mlir::DenseI64ArrayAttr window_dims(const TileBuffer& larger, const TileBuffer& tile,
                                      const std::vector<int64_t>& dims, std::string_view function);
  mlir::Value fill_value(const std::optional<Scalar>& fill, const TileBuffer& tile);

  std::shared_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  KernelOp kernel;
  mlir::OpBuilder builder;
  std::vector<Region> regions;
  bool finished = false;

  struct Argument {
    std::string name;
    bool is_tensor = true;
    ArgumentRole role = ArgumentRole::in;
    std::vector<std::string> dims;          // "" where static
    std::vector<mlir::OpFoldResult> shape;  // not Scalars, which would keep this state alive
  };
  std::vector<Argument> arguments;
  // Dims by name, with the place of their first mention.
  struct Dim {
    mlir::Value value;
    mlir::Location location;
  };
  std::map<std::string, Dim> dims;
  mlir::Operation* last_preamble = nullptr;  // constants and dims stand up to here, at the kernel's beginning
  Scalar dim(const std::string& name);
  mlir::OpBuilder preamble_builder();

 private:
  std::optional<mlir::Location> location_;
  std::optional<mlir::Location> place_;
  bool placed_ = false;  // whether the kernel has its place
  std::map<std::pair<const void*, const void*>, mlir::Value> constants_;
};

// The state that the operands belong to, or null where all are literals. ValueError where they belong to two kernels.
std::shared_ptr<BuilderState> state_of(std::initializer_list<const Operand*> operands);

// What is known of integers without running the kernel.
struct Interval {
  std::optional<int64_t> low, high;  // inclusive
};
Interval interval_of(mlir::Value value);
std::optional<int64_t> constant_difference(mlir::Value a, mlir::Value b);

}  // namespace deep_accel::tile
