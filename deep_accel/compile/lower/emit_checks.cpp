// Atomics, assertions, prints and foreign calls: what reaches outside of the block.
#include "deep_accel/base/text.h"
#include "deep_accel/compile/lower/emitter.h"
#include "deep_accel/compile/passes/guard_accesses.h"
#include "deep_accel/compile/passes/window.h"
#include "deep_accel/runtime/kernel.h"

namespace deep_accel::compile {

using mlir::Value;
namespace arith = mlir::arith;
namespace scf = mlir::scf;
namespace LLVM = mlir::LLVM;

namespace {

LLVM::AtomicOrdering ordering(tile::MemoryOrder order) {
  switch (order) {
    case tile::MemoryOrder::relaxed:
      return LLVM::AtomicOrdering::monotonic;
    case tile::MemoryOrder::acquire:
      return LLVM::AtomicOrdering::acquire;
    case tile::MemoryOrder::release:
      return LLVM::AtomicOrdering::release;
    case tile::MemoryOrder::acq_rel:
      return LLVM::AtomicOrdering::acq_rel;
    case tile::MemoryOrder::seq_cst:
      return LLVM::AtomicOrdering::seq_cst;
  }
  return LLVM::AtomicOrdering::seq_cst;
}

std::optional<LLVM::AtomicBinOp> atomic_kind(tile::Combine combine, bool is_float) {
  switch (combine) {
    case tile::Combine::add:
      return is_float ? LLVM::AtomicBinOp::fadd : LLVM::AtomicBinOp::add;
    case tile::Combine::max:
      return is_float ? LLVM::AtomicBinOp::fmax : LLVM::AtomicBinOp::max;
    case tile::Combine::min:
      return is_float ? LLVM::AtomicBinOp::fmin : LLVM::AtomicBinOp::min;
    case tile::Combine::bits_and:
      return LLVM::AtomicBinOp::_and;
    case tile::Combine::bits_or:
      return LLVM::AtomicBinOp::_or;
    case tile::Combine::bits_xor:
      return LLVM::AtomicBinOp::_xor;
    case tile::Combine::exchange:
      return LLVM::AtomicBinOp::xchg;
    default:
      return std::nullopt;
  }
}

}  // namespace

mlir::LogicalResult Emitter::emit_atomic(tile::AtomicOp op) {
  const BufferRef& ref = buffer(op.getBuffer());
  Value operand = value(op.getValue());
  const auto kind = atomic_kind(op.getCombine(), mlir::isa<mlir::FloatType>(operand.getType()));
  if (!kind) return op.emitOpError("has no atomic form of '") << tile::stringifyCombine(op.getCombine()) << "'";
  Value where = elements_.address(ref, elements_.position(ref, values(op.getIndices())));
  map_.map(op.getPrevious(),
           builder_.create<LLVM::AtomicRMWOp>(*kind, where, operand, ordering(op.getMemoryOrder())).getResult());
  return mlir::success();
}

Value Emitter::text_address(llvm::StringRef text) {
  const std::string name = "deep_accel_text_" + std::to_string(texts_++) + "_" +
                           std::to_string(std::distance(module_.getBody()->begin(), module_.getBody()->end()));
  std::string bytes = text.str();
  bytes.push_back('\0');
  {
    mlir::OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointToStart(module_.getBody());
    auto type = LLVM::LLVMArrayType::get(builder_.getI8Type(), bytes.size());
    builder_.create<LLVM::GlobalOp>(type, /*isConstant=*/true, LLVM::Linkage::Internal, name,
                                    builder_.getStringAttr(bytes));
  }
  return builder_.create<LLVM::AddressOfOp>(pointer_type(), name);
}

void Emitter::fail_unless(Value condition, llvm::StringRef message) {
  Value failed = builder_.create<arith::XOrIOp>(condition, builder_.create<arith::ConstantIntOp>(1, 1));
  auto branch = builder_.create<scf::IfOp>(failed, /*withElseRegion=*/false);
  mlir::OpBuilder::InsertionGuard guard(builder_);
  builder_.setInsertionPointToStart(branch.thenBlock());
  Value fail = load_context(ContextLayout::fail);
  auto type =
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(builder_.getContext()), {pointer_type(), pointer_type()});
  Value text = text_address(message);
  builder_.create<LLVM::CallOp>(type, mlir::ValueRange{fail, context_, text});
}

void Emitter::emit_assert(tile::AssertOp op, Value condition) {
  std::string where;
  if (auto location = op.getLoc()->findInstanceOf<mlir::FileLineColLoc>()) {
    where = location.getFilename().str() + ":" + std::to_string(location.getLine()) + ": ";
  }
  const std::string kind = op->hasAttr(kIndexErrorAttribute) ? std::string(1, kIndexErrorMark) : "";
  fail_unless(condition, kind + where + op.getMessage().str());
}

// One array for all prints of a function, as long as the longest, in the entry block: there it is part of the frame,
// also where the print stands in a loop.
Value Emitter::print_slots(int64_t count) {
  mlir::OpBuilder::InsertionGuard guard(builder_);
  auto function = context_.getParentRegion()->getParentOfType<mlir::func::FuncOp>();
  builder_.setInsertionPointToStart(&function.getBody().front());
  if (print_slots_ && mlir::getConstantIntValue(print_slots_.getArraySize()) >= count) return print_slots_;
  Value slots = builder_.create<arith::ConstantIntOp>(std::max<int64_t>(count, 1), 64);
  if (print_slots_) {
    print_slots_.getArraySizeMutable().assign(slots);
  } else {
    print_slots_ = builder_.create<LLVM::AllocaOp>(pointer_type(), builder_.getF64Type(), slots);
  }
  return print_slots_;
}

void Emitter::emit_print(tile::PrintOp op) {
  int64_t count = 0;
  llvm::SmallVector<std::string> places;  // the "{}" of each operand: of a tile, one for each element
  for (Value operand : op.getValues()) {
    auto type = mlir::dyn_cast<mlir::MemRefType>(operand.getType());
    const int64_t elements = type ? type.getNumElements() : 1;
    count += elements;
    std::string place = elements == 0 ? "" : "{}";
    for (int64_t i = 1; i < elements; ++i) place += ", {}";
    places.push_back(type ? "[" + place + "]" : place);
  }
  Value slots = print_slots(count);
  auto put = [&](Value number, Value slot) {
    Value index = builder_.create<arith::IndexCastOp>(builder_.getI64Type(), slot);
    Value where = builder_.create<LLVM::GEPOp>(pointer_type(), builder_.getF64Type(), slots, mlir::ValueRange{index});
    if (number.getType().isIndex()) number = builder_.create<arith::IndexCastOp>(builder_.getI64Type(), number);
    builder_.create<LLVM::StoreOp>(convert_compute(builder_, number, builder_.getF64Type()), where);
  };
  int64_t first = 0;
  for (Value operand : op.getValues()) {
    auto type = mlir::dyn_cast<mlir::MemRefType>(operand.getType());
    if (!type) {
      put(value(operand), elements_.index(first++));
      continue;
    }
    mlir::OpBuilder::InsertionGuard guard(builder_);
    llvm::SmallVector<Value> indices;
    Value slot = elements_.index(int64_t{0});
    for (int64_t size : type.getShape()) {
      scf::ForOp loop = make_loop(elements_.index(int64_t{0}), elements_.index(size), elements_.index(int64_t{1}));
      indices.push_back(loop.getInductionVar());
      slot = elements_.add(elements_.mul(slot, builder_.getIndexAttr(size)), loop.getInductionVar());
    }
    const BufferRef& ref = buffer(operand);
    put(elements_.load(ref, elements_.position(ref, indices), 1), elements_.add(slot, elements_.index(first)));
    first += type.getNumElements();
  }
  const std::string text =
      fill_placeholders(op.getText().str(), places.size(), [&](size_t index) { return places[index]; });
  mlir::Type i64 = builder_.getI64Type();
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(builder_.getContext()),
                                          {pointer_type(), pointer_type(), i64, pointer_type()});
  Value print = load_context(ContextLayout::print), total = builder_.create<arith::ConstantIntOp>(count, 64);
  builder_.create<LLVM::CallOp>(type, mlir::ValueRange{print, context_, text_address(text), total, slots});
}

mlir::LogicalResult Emitter::emit_extern(tile::ExternOp op) {
  const std::string name = "deep_accel_import_" + op.getSymbol().str();
  if (!module_.lookupSymbol(name)) {
    mlir::OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointToStart(module_.getBody());
    auto global = builder_.create<LLVM::GlobalOp>(pointer_type(), /*isConstant=*/false, LLVM::Linkage::External, name,
                                                  mlir::Attribute());
    mlir::Block* init = builder_.createBlock(&global.getInitializerRegion());
    builder_.setInsertionPointToStart(init);
    builder_.create<LLVM::ReturnOp>(builder_.create<LLVM::ZeroOp>(pointer_type()).getResult());
  }
  Value slot = builder_.create<LLVM::AddressOfOp>(pointer_type(), name);
  Value function = builder_.create<LLVM::LoadOp>(pointer_type(), slot);
  llvm::SmallVector<Value> arguments{function};
  llvm::SmallVector<mlir::Type> types;
  for (Value operand : op.getOperands()) {
    Value argument;
    if (mlir::isa<mlir::MemRefType>(operand.getType())) {
      const BufferRef& ref = buffer(operand);
      argument = elements_.address(ref, ref.offset ? ref.offset : elements_.index(int64_t{0}));
    } else {
      argument = value(operand);
      if (argument.getType().isIndex()) argument = builder_.create<arith::IndexCastOp>(builder_.getI64Type(), argument);
    }
    arguments.push_back(argument);
    types.push_back(argument.getType());
  }
  mlir::Type result = LLVM::LLVMVoidType::get(builder_.getContext());
  const bool index_result = op.getResult() && op.getResult().getType().isIndex();
  if (op.getResult()) result = index_result ? builder_.getI64Type() : op.getResult().getType();
  auto call = builder_.create<LLVM::CallOp>(LLVM::LLVMFunctionType::get(result, types), arguments);
  if (op.getResult()) {
    Value returned = call.getResult();
    if (index_result) returned = builder_.create<arith::IndexCastOp>(builder_.getIndexType(), returned);
    map_.map(op.getResult(), returned);
  }
  return mlir::success();
}

}  // namespace deep_accel::compile
