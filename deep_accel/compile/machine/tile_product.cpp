// See tile_product.h.
#include "deep_accel/compile/machine/tile_product.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicsX86.h"

namespace deep_accel::compile {
namespace {

using llvm::Value;
namespace Intrinsic = llvm::Intrinsic;

Intrinsic::ID multiply(TileProduct::Kind kind) {
  switch (kind) {
    case TileProduct::Kind::bf16:
      return Intrinsic::x86_tdpbf16ps_internal;
    case TileProduct::Kind::signed_signed:
      return Intrinsic::x86_tdpbssd_internal;
    case TileProduct::Kind::signed_unsigned:
      return Intrinsic::x86_tdpbsud_internal;
    case TileProduct::Kind::unsigned_signed:
      return Intrinsic::x86_tdpbusd_internal;
    case TileProduct::Kind::unsigned_unsigned:
      return Intrinsic::x86_tdpbuud_internal;
  }
  return Intrinsic::not_intrinsic;
}

// The function's tile registers: sums in rows and columns of registers, all alive through the loop.
class TileLoop {
 public:
  TileLoop(llvm::Function& function, const TileProduct& product)
      : function_(function), product_(product), builder_(function.getContext()) {}

  void emit() {
    auto block = [&](const char* name) { return llvm::BasicBlock::Create(function_.getContext(), name, &function_); };
    llvm::BasicBlock *entry = block("entry"), *loop = block("loop"), *exit = block("exit");
    builder_.SetInsertPoint(entry);
    llvm::SmallVector<Value*> sums;
    each_sum([&](int64_t i, int64_t j) { sums.push_back(first_sum(i, j)); });
    builder_.CreateBr(loop);

    builder_.SetInsertPoint(loop);
    llvm::PHINode* step = builder_.CreatePHI(builder_.getInt64Ty(), 2);
    step->addIncoming(builder_.getInt64(0), entry);
    llvm::SmallVector<llvm::PHINode*> running;
    for (Value* sum : sums) {
      running.push_back(builder_.CreatePHI(sum->getType(), 2));
      running.back()->addIncoming(sum, entry);
    }
    llvm::SmallVector<Value*> a, b;
    Value* a_first = builder_.CreateGEP(builder_.getInt8Ty(), argument(0), scaled(step, TileProduct::kBytes));
    for (int64_t i = 0; i < row_tiles(); ++i) {
      a.push_back(load(rows(i), TileProduct::kBytes, at(a_first, argument(1), i, 0), argument(1)));
    }
    Value* b_first = builder_.CreateGEP(builder_.getInt8Ty(), argument(2),
                                        builder_.CreateMul(scaled(step, TileProduct::kRows), argument(3)));
    for (int64_t j = 0; j < column_tiles(); ++j) {
      b.push_back(load(TileProduct::kRows, bytes(j), at(b_first, argument(3), 0, j), argument(3)));
    }
    size_t sum = 0;
    each_sum([&](int64_t i, int64_t j) {
      sums[sum] = builder_.CreateIntrinsic(multiply(product_.kind), {},
                                           {short_of(rows(i)), short_of(bytes(j)), short_of(TileProduct::kBytes),
                                            running[sum], a[static_cast<size_t>(i)], b[static_cast<size_t>(j)]});
      ++sum;
    });
    Value* next = builder_.CreateAdd(step, builder_.getInt64(1));
    step->addIncoming(next, loop);
    for (auto [phi, value] : llvm::zip_equal(running, sums)) phi->addIncoming(value, loop);
    builder_.CreateCondBr(builder_.CreateICmpULT(next, argument(6)), loop, exit);

    builder_.SetInsertPoint(exit);
    sum = 0;
    each_sum([&](int64_t i, int64_t j) {
      builder_.CreateIntrinsic(
          Intrinsic::x86_tilestored64_internal, {},
          {short_of(rows(i)), short_of(bytes(j)), at(argument(4), argument(5), i, j), argument(5), sums[sum++]});
    });
    builder_.CreateRetVoid();
  }

 private:
  Value* argument(unsigned index) { return function_.getArg(index); }
  Value* short_of(int64_t value) { return builder_.getInt16(static_cast<uint16_t>(value)); }
  Value* scaled(Value* value, int64_t factor) { return builder_.CreateMul(value, builder_.getInt64(factor)); }

  int64_t row_tiles() const { return (product_.rows + TileProduct::kRows - 1) / TileProduct::kRows; }
  int64_t column_tiles() const { return (4 * product_.columns + TileProduct::kBytes - 1) / TileProduct::kBytes; }
  int64_t rows(int64_t i) const { return std::min(TileProduct::kRows, product_.rows - i * TileProduct::kRows); }
  int64_t bytes(int64_t j) const {
    return std::min(TileProduct::kBytes, 4 * product_.columns - j * TileProduct::kBytes);
  }

  template <typename Function>
  void each_sum(Function function) {
    for (int64_t i = 0; i < row_tiles(); ++i) {
      for (int64_t j = 0; j < column_tiles(); ++j) function(i, j);
    }
  }

  // Where tile (i, j) of a matrix begins.
  Value* at(Value* first, Value* stride, int64_t i, int64_t j) {
    Value* offset =
        builder_.CreateAdd(scaled(stride, i * TileProduct::kRows), builder_.getInt64(j * TileProduct::kBytes));
    return builder_.CreateGEP(builder_.getInt8Ty(), first, offset);
  }
  Value* load(int64_t rows, int64_t bytes, Value* address, Value* stride) {
    return builder_.CreateIntrinsic(Intrinsic::x86_tileloadd64_internal, {},
                                    {short_of(rows), short_of(bytes), address, stride});
  }
  Value* first_sum(int64_t i, int64_t j) {
    if (!product_.clear) return load(rows(i), bytes(j), at(argument(4), argument(5), i, j), argument(5));
    return builder_.CreateIntrinsic(Intrinsic::x86_tilezero_internal, {}, {short_of(rows(i)), short_of(bytes(j))});
  }

  llvm::Function& function_;
  const TileProduct& product_;
  llvm::IRBuilder<> builder_;
};

}  // namespace

void define_tile_product(llvm::Function& function, const TileProduct& product) {
  TileLoop(function, product).emit();
  // The registers' shapes are set up once a call.
  function.addFnAttr(llvm::Attribute::NoInline);
}

}  // namespace deep_accel::compile
