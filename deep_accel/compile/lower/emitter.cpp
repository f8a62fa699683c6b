// The statements of a kernel, one function a phase and one for the plan.
#include "deep_accel/compile/lower/emitter.h"

#include "deep_accel/base/round_up.h"
#include "deep_accel/compile/lower/lower.h"
#include "deep_accel/compile/passes/layout.h"

namespace deep_accel::compile {

using mlir::Value;
namespace arith = mlir::arith;
namespace scf = mlir::scf;
namespace LLVM = mlir::LLVM;

namespace {

// Where the arguments' values lie among the launch's parameters (runtime/kernel.h).
llvm::SmallVector<int64_t> parameter_slots(tile::KernelOp kernel) {
  llvm::SmallVector<int64_t> slots;
  int64_t slot = 0;
  for (mlir::Type type : kernel.getArgumentTypes()) {
    slots.push_back(slot);
    auto buffer = mlir::dyn_cast<mlir::MemRefType>(type);
    slot += buffer ? 1 + 2 * buffer.getRank() : 1;
  }
  return slots;
}

}  // namespace

mlir::LogicalResult lower_kernels(mlir::ModuleOp module, const Target& target) {
  for (auto kernel : llvm::make_early_inc_range(module.getOps<tile::KernelOp>())) {
    mlir::ImplicitLocOpBuilder builder(kernel.getLoc(), module.getContext());
    if (mlir::failed(Emitter(builder, target, module).emit_kernel(kernel))) return mlir::failure();
    kernel.erase();
  }
  return mlir::success();
}

bool writes_exactly(Value value, mlir::Type element) {
  auto read = value.getDefiningOp<tile::ReadOp>();
  if (read && read.getBuffer().getType().getElementType() == element) return true;
  mlir::Attribute constant;
  return mlir::matchPattern(value, mlir::m_Constant(&constant)) &&
         (mlir::matchPattern(value, mlir::m_AnyZeroFloat()) || mlir::matchPattern(value, mlir::m_Zero()));
}

mlir::LogicalResult Emitter::emit_kernel(tile::KernelOp kernel) {
  builder_.setInsertionPointAfter(kernel);
  if (mlir::failed(emit_plan(kernel))) return mlir::failure();
  int64_t phase = 0;
  for (auto grid : kernel.getBody().front().getOps<tile::GridOp>()) {
    if (mlir::failed(emit_phase(kernel, grid, phase++))) return mlir::failure();
  }
  return mlir::success();
}

mlir::LogicalResult Emitter::emit_plan(tile::KernelOp kernel) {
  mlir::OpBuilder::InsertionGuard guard(builder_);
  mlir::Type ptr = pointer_type(), i64 = builder_.getI64Type();
  auto function = builder_.create<mlir::func::FuncOp>((kernel.getSymName() + "_plan").str(),
                                                      builder_.getFunctionType({ptr, ptr, ptr}, {i64}));
  mlir::Block* entry = function.addEntryBlock();
  if (mlir::failed(begin_function(kernel, entry, /*is_plan=*/true))) return mlir::failure();
  if (target_.vscale > 0) {
    // Registers that are shorter than the vectors that the code is written in would drop lanes without a word.
    Value scale = builder_.create<mlir::vector::VectorScaleOp>();
    Value enough = builder_.create<arith::CmpIOp>(arith::CmpIPredicate::uge, scale, elements_.index(target_.vscale));
    fail_unless(enough, "the kernel was compiled for vectors of " + std::to_string(target_.vector_bits) +
                            " bits or more (target '" + target_.name + "'), and this processor's are shorter");
  }
  int64_t phase = 0;
  for (auto grid : kernel.getBody().front().getOps<tile::GridOp>()) {
    for (auto [axis, extent] : llvm::enumerate(grid.getExtents())) {
      Value size = builder_.create<arith::IndexCastOp>(i64, value(extent));
      Value where = builder_.create<LLVM::GEPOp>(
          ptr, i64, entry->getArgument(2),
          llvm::ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(3 * phase + static_cast<int64_t>(axis))});
      builder_.create<LLVM::StoreOp>(size, where);
    }
    ++phase;
  }
  Value bytes = builder_.create<arith::ConstantIntOp>(workspace_bytes_, 64);
  builder_.create<mlir::func::ReturnOp>(bytes);
  return mlir::success();
}

mlir::LogicalResult Emitter::emit_phase(tile::KernelOp kernel, tile::GridOp grid, int64_t phase) {
  mlir::OpBuilder::InsertionGuard guard(builder_);
  mlir::Type ptr = pointer_type(), i64 = builder_.getI64Type();
  auto function = builder_.create<mlir::func::FuncOp>((kernel.getSymName() + "_phase" + std::to_string(phase)).str(),
                                                      builder_.getFunctionType({ptr, ptr, i64, i64, i64}, {}));
  mlir::Block* entry = function.addEntryBlock();
  if (mlir::failed(begin_function(kernel, entry, /*is_plan=*/false))) return mlir::failure();
  arena_ = load_context(ContextLayout::arena);
  for (auto [axis, argument] : llvm::enumerate(grid.getBody().getArguments())) {
    map_.map(argument, builder_.create<arith::IndexCastOp>(builder_.getIndexType(), entry->getArgument(2 + axis)));
  }
  if (mlir::failed(emit_block(grid.getBody().front()))) return mlir::failure();
  builder_.setLoc(kernel.getLoc());
  builder_.create<mlir::func::ReturnOp>();
  return mlir::success();
}

mlir::LogicalResult Emitter::begin_function(tile::KernelOp kernel, mlir::Block* entry, bool is_plan) {
  builder_.setInsertionPointToStart(entry);
  builder_.setLoc(kernel.getLoc());
  map_.clear();
  buffers_.clear();
  context_ = entry->getArgument(0);
  params_ = entry->getArgument(1);
  const auto slots = parameter_slots(kernel);
  for (auto [index, argument] : llvm::enumerate(kernel.getBody().getArguments())) {
    const int64_t slot = slots[index];
    auto type = mlir::dyn_cast<mlir::MemRefType>(argument.getType());
    if (!type) {
      Value bits = load_i64(params_, slot);
      mlir::Type wanted = argument.getType();
      Value scalar = bits;
      if (wanted.isIndex()) {
        scalar = builder_.create<arith::IndexCastOp>(wanted, bits);
      } else if (wanted.isF64()) {
        scalar = builder_.create<arith::BitcastOp>(wanted, bits);
      } else if (!wanted.isInteger(64)) {
        mlir::Type narrow = builder_.getIntegerType(wanted.getIntOrFloatBitWidth());
        scalar = builder_.create<arith::TruncIOp>(narrow, bits);
        if (wanted.isF32()) scalar = builder_.create<arith::BitcastOp>(wanted, scalar);
      }
      map_.map(argument, scalar);
      continue;
    }
    BufferRef ref;
    ref.element = ref.storage = type.getElementType();
    ref.argument = true;
    Value pointer_slot = builder_.create<LLVM::GEPOp>(pointer_type(), builder_.getI64Type(), params_,
                                                      llvm::ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(slot)});
    ref.base = builder_.create<LLVM::LoadOp>(pointer_type(), pointer_slot);
    const int64_t rank = type.getRank();
    for (int64_t dim = 0; dim < rank; ++dim) {
      if (type.isDynamicDim(static_cast<unsigned>(dim))) {
        ref.sizes.push_back(param_index(slot + 1 + dim));
      } else {
        ref.sizes.push_back(builder_.getIndexAttr(type.getDimSize(static_cast<unsigned>(dim))));
      }
    }
    if (auto strided = mlir::dyn_cast<mlir::StridedLayoutAttr>(type.getLayout())) {
      for (auto [dim, stride] : llvm::enumerate(strided.getStrides())) {
        if (mlir::ShapedType::isDynamic(stride)) {
          ref.strides.push_back(param_index(slot + 1 + rank + static_cast<int64_t>(dim)));
        } else {
          ref.strides.push_back(builder_.getIndexAttr(stride));
        }
      }
    } else {
      // Contiguous: products of the later sizes, which fold where those are static.
      mlir::OpFoldResult stride = builder_.getIndexAttr(1);
      ref.strides.resize(static_cast<size_t>(rank), stride);
      for (int64_t dim = rank; dim-- > 0;) {
        ref.strides[dim] = stride;
        const auto size = mlir::getConstantIntValue(ref.sizes[dim]), fixed = mlir::getConstantIntValue(stride);
        if (size && fixed) {
          stride = builder_.getIndexAttr(*size * *fixed);
        } else {
          stride = elements_.mul(elements_.index(stride), ref.sizes[dim]);
        }
      }
    }
    buffers_[argument] = ref;
  }
  workspace_bytes_ = 0;
  print_slots_ = {};
  for (mlir::Operation& op : kernel.getBody().front()) {
    if (mlir::isa<tile::GridOp>(op)) continue;
    // What stands outside of grids is computed in every function, but printed once.
    if (mlir::isa<tile::PrintOp>(op) && !is_plan) continue;
    if (mlir::failed(emit(op))) return mlir::failure();
  }
  return mlir::success();
}

Value Emitter::load_i64(Value pointer, int64_t slot) {
  Value where = builder_.create<LLVM::GEPOp>(pointer_type(), builder_.getI64Type(), pointer,
                                             llvm::ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(slot)});
  return builder_.create<LLVM::LoadOp>(builder_.getI64Type(), where);
}

Value Emitter::param_index(int64_t slot) {
  return builder_.create<arith::IndexCastOp>(builder_.getIndexType(), load_i64(params_, slot));
}

Value Emitter::load_context(int64_t byte_offset) {
  Value where = builder_.create<LLVM::GEPOp>(pointer_type(), builder_.getI8Type(), context_,
                                             llvm::ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(byte_offset)});
  return builder_.create<LLVM::LoadOp>(pointer_type(), where);
}

llvm::SmallVector<Value> Emitter::values(mlir::ValueRange originals) {
  return llvm::map_to_vector(originals, [&](Value original) { return value(original); });
}

scf::ForOp Emitter::make_loop(Value lower, Value upper, Value step, mlir::ValueRange carried) {
  auto loop = builder_.create<scf::ForOp>(lower, upper, step, carried);
  builder_.setInsertionPointToStart(loop.getBody());  // before the terminator, where one came with it
  return loop;
}

mlir::LogicalResult Emitter::emit_block(mlir::Block& block) {
  llvm::SmallVector<tile::PrefetchOp> outer = std::exchange(ahead_, {});
  for (mlir::Operation& op : block) {
    if (mlir::failed(emit(op))) return mlir::failure();
  }
  ahead_ = std::move(outer);
  return mlir::success();
}

mlir::LogicalResult Emitter::emit(mlir::Operation& op) {
  builder_.setLoc(op.getLoc());
  return llvm::TypeSwitch<mlir::Operation*, mlir::LogicalResult>(&op)
      .Case([&](tile::DimOp dim) {
        auto kernel = dim->getParentOfType<tile::KernelOp>();
        const auto place = *kernel.find_dim(dim.getName());
        const BufferRef& ref = buffer(kernel.getBody().getArgument(place.first));
        map_.map(dim.getResult(), elements_.index(ref.sizes[place.second]));
        return mlir::success();
      })
      .Case([&](tile::ExtentOp extent) {
        const BufferRef& ref = buffer(extent.getBuffer());
        map_.map(extent.getResult(), elements_.index(ref.sizes[extent.getDim()]));
        return mlir::success();
      })
      .Case([&](tile::AllocOp alloc) { return emit_alloc(alloc), mlir::success(); })
      .Case([&](tile::SliceOp slice) { return emit_slice(slice), mlir::success(); })
      .Case([&](tile::ReshapeOp reshape) { return emit_reshape(reshape), mlir::success(); })
      .Case([&](tile::BitcastOp bitcast) { return emit_bitcast(bitcast), mlir::success(); })
      .Case([&](tile::ReadOp read) {
        const BufferRef& ref = buffer(read.getBuffer());
        Value position = elements_.position(ref, values(read.getIndices()));
        map_.map(read.getValue(), elements_.load(ref, position, 1));
        return mlir::success();
      })
      .Case([&](tile::WriteOp write) {
        const BufferRef& ref = buffer(write.getBuffer());
        Value position = elements_.position(ref, values(write.getIndices()));
        elements_.store(ref, value(write.getValue()), position, 1, {}, writes_exactly(write.getValue(), ref.element));
        return mlir::success();
      })
      .Case([&](tile::CombineOp combine) {
        const BufferRef& ref = buffer(combine.getBuffer());
        Value position = elements_.position(ref, values(combine.getIndices()));
        Value joined = combined(builder_, combine.getCombine(), elements_.load(ref, position, 1),
                                value(combine.getValue()), combine.getPropagateNan());
        elements_.store(ref, joined, position, 1);
        return mlir::success();
      })
      .Case([&](tile::AtomicOp atomic) { return emit_atomic(atomic); })
      .Case([&](tile::PrefetchOp prefetch) { return emit_prefetch(prefetch), mlir::success(); })
      .Case([&](tile::AssertOp check) { return emit_assert(check, value(check.getCondition())), mlir::success(); })
      .Case([&](tile::PrintOp print) { return emit_print(print), mlir::success(); })
      .Case([&](tile::ExternOp call) { return emit_extern(call); })
      .Case([&](tile::AssumeOp assume) {
        builder_.create<LLVM::AssumeOp>(value(assume.getCondition()));
        return mlir::success();
      })
      .Case([&](tile::PipelineOp pipeline) { return emit_pipeline(pipeline); })
      .Case([&](tile::MapOp map) { return emit_map(map); })
      .Case([&](tile::GemmOp gemm) { return emit_gemm(gemm); })
      .Default([&](mlir::Operation* other) -> mlir::LogicalResult {
        if (mlir::isa<tile::TileDialect>(other->getDialect())) {
          return other->emitError("'") << other->getName() << "' should have been lowered before code is emitted";
        }
        return emit_generic(*other);
      });
}

// Upstream operations: cloned, their regions emitted.
mlir::LogicalResult Emitter::emit_generic(mlir::Operation& op) {
  if (op.getNumRegions() == 0) {
    builder_.clone(op, map_);
    return mlir::success();
  }
  mlir::Operation* copy = op.cloneWithoutRegions(map_);
  builder_.insert(copy);
  for (auto [from, to] : llvm::zip_equal(op.getRegions(), copy->getRegions())) {
    for (mlir::Block& block : from) {
      mlir::Block* target = new mlir::Block();
      to.push_back(target);
      for (mlir::BlockArgument argument : block.getArguments()) {
        map_.map(argument, target->addArgument(argument.getType(), argument.getLoc()));
      }
      mlir::OpBuilder::InsertionGuard guard(builder_);
      builder_.setInsertionPointToStart(target);
      if (mlir::failed(emit_block(block))) return mlir::failure();
    }
  }
  return mlir::success();
}

mlir::LogicalResult Emitter::emit_pipeline(tile::PipelineOp op) {
  mlir::OpBuilder::InsertionGuard guard(builder_);
  scf::ForOp loop = make_loop(value(op.getLower()), value(op.getUpper()), value(op.getStep()));
  map_.map(op.induction_variable(), loop.getInductionVar());
  return emit_block(op.getBody().front());
}

void Emitter::emit_alloc(tile::AllocOp op) {
  auto type = mlir::cast<mlir::MemRefType>(op.getType());
  BufferRef ref;
  ref.element = ref.storage = type.getElementType();
  const llvm::SmallVector<int64_t> shape = physical_shape(op);
  int64_t stride = 1;
  llvm::SmallVector<int64_t> strides(shape.size());
  for (size_t dim = shape.size(); dim-- > 0;) {
    strides[dim] = stride;
    stride *= shape[dim];
  }
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    ref.strides.push_back(builder_.getIndexAttr(strides[dim]));
    ref.sizes.push_back(builder_.getIndexAttr(type.getDimSize(static_cast<unsigned>(dim))));
  }
  if (auto storage = op->getAttrOfType<mlir::TypeAttr>("tile.storage")) ref.storage = storage.getValue();
  if (auto panels = op->getAttrOfType<mlir::DenseI64ArrayAttr>("tile.panels")) {
    const int64_t axis = panels[0];
    ref.panels = Panels{axis, panels[1], type.getShape().take_back(2)[1 - axis], panels.size() > 2 ? panels[2] : 1};
  }
  int64_t offset;
  Value base;
  if (tile::space_of(type) == tile::Space::global) {
    offset = workspace_bytes_;
    workspace_bytes_ += round_up(physical_bytes(op), 64);
    base = load_context(ContextLayout::workspace);
  } else {
    offset = op->getAttrOfType<mlir::IntegerAttr>("tile.offset").getInt();
    base = arena_;
  }
  // Workspaces may be larger than 32 bits count.
  Value bytes = builder_.create<arith::ConstantIntOp>(offset, 64);
  ref.base =
      builder_.create<LLVM::GEPOp>(pointer_type(), builder_.getI8Type(), base, llvm::ArrayRef<LLVM::GEPArg>{bytes});
  buffers_[op.getBuffer()] = ref;
}

void Emitter::emit_slice(tile::SliceOp op) {
  BufferRef ref = buffer(op.getSource());
  BufferRef result = ref;
  result.offset = elements_.position(ref, values(op.getOffsets()));
  result.strides.clear();
  result.sizes.clear();
  auto type = mlir::cast<mlir::MemRefType>(op.getType());
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    result.strides.push_back(ref.strides[op.source_dim(dim)]);
    result.sizes.push_back(builder_.getIndexAttr(type.getDimSize(static_cast<unsigned>(dim))));
  }
  if (ref.panels && result.rank() < ref.rank()) {
    // One of several tiles: a tile like any other.
    result.base = elements_.address(ref, result.offset);
    result.offset = {};
  }
  buffers_[op.getResult()] = result;
}

void Emitter::emit_reshape(tile::ReshapeOp op) {
  BufferRef result = buffer(op.getSource());
  auto type = mlir::cast<mlir::MemRefType>(op.getType());
  result.strides.assign(static_cast<size_t>(type.getRank()), builder_.getIndexAttr(1));
  result.sizes.clear();
  int64_t stride = 1;
  for (int64_t dim = type.getRank(); dim-- > 0;) {
    result.strides[dim] = builder_.getIndexAttr(stride);
    stride *= type.getDimSize(static_cast<unsigned>(dim));
  }
  for (int64_t size : type.getShape()) result.sizes.push_back(builder_.getIndexAttr(size));
  buffers_[op.getResult()] = result;
}

void Emitter::emit_bitcast(tile::BitcastOp op) {
  BufferRef result = buffer(op.getSource());
  auto type = mlir::cast<mlir::MemRefType>(op.getType());
  const int64_t from = tile::storage_bits(result.element), to = tile::storage_bits(type.getElementType());
  result.element = result.storage = type.getElementType();
  auto rescale = [&](mlir::OpFoldResult count) -> mlir::OpFoldResult {
    if (auto constant = mlir::getConstantIntValue(count)) return builder_.getIndexAttr(*constant * from / to);
    Value scaled = elements_.mul(mlir::cast<Value>(count), builder_.getIndexAttr(from));
    return builder_.create<arith::DivUIOp>(scaled, elements_.index(to)).getResult();
  };
  if (result.offset) result.offset = elements_.index(rescale(result.offset));
  const size_t last = result.strides.size() - 1;
  for (size_t dim = 0; dim < last; ++dim) result.strides[dim] = rescale(result.strides[dim]);
  result.sizes[last] = rescale(result.sizes[last]);
  buffers_[op.getResult()] = result;
}

}  // namespace deep_accel::compile
