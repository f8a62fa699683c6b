// Prefetches: line by line where the program asks for them, or shared out among the turns of a product or a map.
#include "deep_accel/compile/lower/emitter.h"

namespace deep_accel::compile {

using mlir::Value;
namespace arith = mlir::arith;
namespace scf = mlir::scf;
namespace LLVM = mlir::LLVM;

void Emitter::enter_condition(tile::PrefetchOp op) {
  if (!op.getWhen()) return;
  auto branch = builder_.create<scf::IfOp>(value(op.getWhen()), /*withElseRegion=*/false);
  builder_.setInsertionPointToStart(branch.thenBlock());
}

// A prefetch with a host waits for it; the others are issued at once.
void Emitter::emit_prefetch(tile::PrefetchOp op) {
  if (prefetch_host(op) != PrefetchHost::none) {
    ahead_.push_back(op);
    return;
  }
  mlir::OpBuilder::InsertionGuard guard(builder_);
  enter_condition(op);
  scf::ForOp loop =
      make_loop(elements_.index(int64_t{0}), elements_.index(prefetch_lines(op)), elements_.index(int64_t{1}));
  emit_prefetch_line(op, line_address(op, loop.getInductionVar()));
}

int64_t Emitter::elements_per_line(tile::PrefetchOp op) {
  return std::max<int64_t>(target_.line * 8 / tile::storage_bits(buffer(op.getSource()).storage), 1);
}

int64_t Emitter::prefetch_lines(tile::PrefetchOp op) {
  const auto sizes = op.getSizes();
  if (sizes.empty()) return 1;
  int64_t lines = llvm::divideCeil(sizes.back(), elements_per_line(op));
  for (int64_t size : sizes.drop_back()) lines *= size;
  return lines;
}

// Lines of the window are counted along its rows.
Value Emitter::line_address(tile::PrefetchOp op, Value line) {
  const BufferRef& ref = buffer(op.getSource());
  llvm::SmallVector<Value> indices = values(op.getIndices());
  const auto sizes = op.getSizes();
  // Dimensions of the window are the buffer's last ones.
  const size_t first = indices.size() - sizes.size();
  for (size_t dim = sizes.size(); dim-- > 0;) {
    const bool inner = dim + 1 == sizes.size();
    const int64_t step = inner ? elements_per_line(op) : 1;
    const int64_t steps = llvm::divideCeil(sizes[dim], step);
    if (steps == 1) continue;
    Value here = dim == 0 ? line : builder_.createOrFold<arith::RemUIOp>(line, elements_.index(steps));
    indices[first + dim] = elements_.add(indices[first + dim], elements_.mul(here, builder_.getIndexAttr(step)));
    line = builder_.createOrFold<arith::DivUIOp>(line, elements_.index(steps));
  }
  return elements_.address(ref, elements_.position(ref, indices));
}

void Emitter::emit_prefetch_line(tile::PrefetchOp op, Value address) {
  builder_.create<LLVM::Prefetch>(address, static_cast<uint32_t>(op.getWrite() ? 1 : 0),
                                  static_cast<uint32_t>(4 - op.getLevel()), /*cache=*/1u);
}

llvm::SmallVector<PrefetchRun> Emitter::prefetch_share(PrefetchHost host, Value turn, int64_t turns) {
  llvm::SmallVector<PrefetchRun> runs;
  for (tile::PrefetchOp op : ahead_) {
    if (prefetch_host(op) != host) continue;
    const int64_t lines = prefetch_lines(op);
    int64_t each = llvm::divideCeil(lines, turns), run = 1;
    if (each == 1) {
      // Where turns are more than lines, some ask for a line again, which costs less than asking whether.
      Value line = elements_.mul(turn, builder_.getIndexAttr(lines));
      runs.push_back({op, line_address(op, builder_.createOrFold<arith::DivUIOp>(line, elements_.index(turns))), 1});
      continue;
    }
    // Lines of a row lie side by side: a share that does not leave its row needs one address.
    const BufferRef& ref = buffer(op.getSource());
    const auto sizes = op.getSizes();
    if (!sizes.empty() && mlir::getConstantIntValue(ref.strides.back()) == 1) {
      const int64_t row = llvm::divideCeil(sizes.back(), elements_per_line(op));
      while (each < row && row % each != 0) ++each;
      if (each > row) each = llvm::alignTo(each, row);
      run = std::min(each, row);
    }
    Value line = elements_.mul(turn, builder_.getIndexAttr(each));
    for (int64_t i = 0; i < each; i += run) {
      runs.push_back({op, line_address(op, elements_.add(line, elements_.index(i))), run});
    }
  }
  return runs;
}

void Emitter::emit_prefetch_run(const PrefetchRun& run) {
  tile::PrefetchOp op = run.op;
  mlir::OpBuilder::InsertionGuard guard(builder_);
  enter_condition(op);
  for (int64_t i = 0; i < run.lines; ++i) {
    const auto bytes = static_cast<int32_t>(i * target_.line);
    emit_prefetch_line(op, builder_.create<LLVM::GEPOp>(pointer_type(), builder_.getI8Type(), run.start,
                                                        llvm::ArrayRef<LLVM::GEPArg>{bytes}));
  }
}

void Emitter::emit_prefetches_in_loop(llvm::ArrayRef<PrefetchRun> runs, Value index, int64_t end, int64_t step) {
  const int64_t turns = llvm::divideCeil(end, step);
  for (const PrefetchRun& run : runs) {
    const int64_t each = llvm::divideCeil(run.lines, turns), bytes = llvm::divideCeil(run.lines, each) * target_.line;
    Value along =
        bytes % end == 0
            ? elements_.mul(index, builder_.getIndexAttr(bytes / end))
            : builder_.create<arith::DivUIOp>(elements_.mul(index, builder_.getIndexAttr(bytes)), elements_.index(end))
                  .getResult();
    Value offset = builder_.create<arith::IndexCastOp>(builder_.getI64Type(), along);
    Value start = builder_.create<LLVM::GEPOp>(pointer_type(), builder_.getI8Type(), run.start,
                                               llvm::ArrayRef<LLVM::GEPArg>{offset});
    for (int64_t i = 0; i < each; ++i) {
      emit_prefetch_line(run.op,
                         builder_.create<LLVM::GEPOp>(pointer_type(), builder_.getI8Type(), start,
                                                      llvm::ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(i * bytes)}));
    }
  }
}

void Emitter::end_prefetches(PrefetchHost host) {
  llvm::erase_if(ahead_, [&](tile::PrefetchOp op) { return prefetch_host(op) == host; });
}

}  // namespace deep_accel::compile
