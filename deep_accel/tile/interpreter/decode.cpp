// Structure and control flow.
#include "deep_accel/tile/interpreter/decode.h"

#include "deep_accel/runtime/kernel_signature.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

namespace deep_accel::tile::interpreter {

namespace scf = mlir::scf;

ScalarType scalar_type(mlir::Type type) {
  ScalarType result;
  if (auto integer = mlir::dyn_cast<mlir::IntegerType>(type)) {
    result.width = static_cast<int>(integer.getWidth());
  } else if (mlir::isa<mlir::FloatType>(type)) {
    result.is_float = true;
    result.width = static_cast<int>(type.getIntOrFloatBitWidth());
    result.dtype = element_type(type).dtype;
  }
  return result;
}

ElementType element_type(mlir::Type storage) {
  ElementType element;
  element.dtype = dtype_of(storage);
  element.compute.is_float = is_float(element.dtype);
  if (element.compute.is_float) {
    element.compute.dtype = element.dtype == DType::f64 ? DType::f64 : DType::f32;
    element.compute.width = bits(element.compute.dtype);
  } else {
    element.compute.width = element.dtype == DType::i64 ? 64 : element.dtype == DType::boolean ? 1 : 32;
  }
  return element;
}

Slot Decoder::slot(mlir::Value value) {
  auto [entry, added] = slots_.try_emplace(value, code_.scalars);
  if (added) ++code_.scalars;
  return entry->second;
}

Slot Decoder::view_slot(mlir::Value value) {
  auto [entry, added] = views_.try_emplace(value, code_.views);
  if (added) ++code_.views;
  return entry->second;
}

llvm::SmallVector<Slot, 4> Decoder::slots(mlir::ValueRange values) {
  llvm::SmallVector<Slot, 4> result;
  for (mlir::Value value : values) result.push_back(slot(value));
  return result;
}

void Decoder::assign(Thread& thread, llvm::ArrayRef<Slot> from, llvm::ArrayRef<Slot> to) {
  llvm::SmallVector<Scalar, 8> values;
  for (Slot source : from) values.push_back(thread.scalars[source]);
  for (size_t i = 0; i < to.size(); ++i) thread.scalars[to[i]] = values[i];
}

Indices Decoder::indices(Thread& thread, llvm::ArrayRef<Slot> slots, mlir::Operation* op) {
  Indices result;
  for (Slot slot : slots) result.push_back(thread.machine.decided(thread.scalars[slot], op, "an address"));
  return result;
}

void Decoder::decode(const std::vector<Indices>& sizes) {
  sizes_ = &sizes;
  if (code_.sites.empty()) code_.sites.push_back(nullptr);
  block(kernel_.getBody().front());
}

void Decoder::block(mlir::Block& block) {
  for (mlir::Operation& op : block) {
    if (op.hasTrait<mlir::OpTrait::IsTerminator>()) return;  // its parent knows what it means
    operation(&op);
  }
}

void Decoder::operation(mlir::Operation* op) {
  if (structure(op) || control(op) || scalar(op) || move(op) || compute(op) || check(op) || threads(op)) return;
  fail<UnsupportedError>(op, "the interpreter does not know '" + op->getName().getStringRef().str() +
                                 "'; kernels take tile, arith, math and index operations, and scf.for, scf.while, "
                                 "scf.if and scf.index_switch");
}

bool Decoder::structure(mlir::Operation* op) {
  if (auto dim = mlir::dyn_cast<DimOp>(op)) {
    const auto found = kernel_.find_dim(dim.getName());
    if (!found) fail<ValueError>(op, "no argument has a dimension named '" + dim.getName().str() + "'");
    const int64_t size = (*sizes_)[found->first][found->second];
    emit(op, [to = slot(dim.getResult()), size](Thread& t) { t.scalars[to] = Scalar::of_integer(size); });
  } else if (auto extent = mlir::dyn_cast<ExtentOp>(op)) {
    emit(op, [to = slot(extent.getResult()), view = view_slot(extent.getBuffer()), dim = extent.getDim()](Thread& t) {
      t.scalars[to] = Scalar::of_integer(t.views[view].sizes[dim]);
    });
  } else if (auto alloc_op = mlir::dyn_cast<AllocOp>(op)) {
    alloc(alloc_op);
  } else if (auto slice_op = mlir::dyn_cast<SliceOp>(op)) {
    slice(slice_op);
  } else if (auto reshape = mlir::dyn_cast<ReshapeOp>(op)) {
    Indices shape(reshape.getType().getShape());
    emit(op, [to = view_slot(reshape.getResult()), from = view_slot(reshape.getSource()), shape](Thread& t) {
      View view = t.views[from];
      view.sizes = shape;
      view.strides = row_major(shape);
      t.views[to] = view;
    });
  } else if (auto cast = mlir::dyn_cast<BitcastOp>(op)) {
    const ElementType element = element_type(cast.getType().getElementType());
    emit(op, [to = view_slot(cast.getResult()), from = view_slot(cast.getSource()), element](Thread& t) {
      View view = t.views[from];
      const int64_t old_bits = bits(view.element.dtype), new_bits = bits(element.dtype);
      auto scale = [&](int64_t count) { return count * old_bits / new_bits; };
      view.element = element;
      view.offset = scale(view.offset);
      if (old_bits != new_bits) {
        view.sizes.back() = scale(view.sizes.back());
        for (size_t dim = 0; dim + 1 < view.strides.size(); ++dim) view.strides[dim] = scale(view.strides[dim]);
      }
      t.views[to] = view;
    });
  } else if (auto grid_op = mlir::dyn_cast<GridOp>(op)) {
    grid(grid_op);
  } else if (auto map_op = mlir::dyn_cast<MapOp>(op)) {
    map(map_op);
  } else {
    return false;
  }
  return true;
}

namespace {

// As the runtime does before a worker's first block.
void set_marks(Memory& memory) {
  for (Cell& cell : memory.cells) {
    cell.scalar = Scalar::of_integer(static_cast<int64_t>(kMarksByte * uint64_t{0x0101010101010101}));
    cell.written = memory.whole();
  }
}

}  // namespace

void Decoder::alloc(AllocOp op) {
  auto type = op.getBuffer().getType();
  const auto kept = op->getAttrOfType<mlir::StringAttr>("tile.kept");
  emit(op, [to = view_slot(op.getBuffer()), name = buffer_name(op.getBuffer()),
            element = element_type(type.getElementType()), shape = Indices(type.getShape()),
            count = type.getNumElements(), global = space_of(type) == Space::global,
            operation = kept ? op.getOperation() : nullptr, marks = kept && kept.getValue() == "marks"](Thread& t) {
    // All blocks of a phase run on one worker, which finds in a kept tile what it left there.
    if (operation && t.machine.kept(operation)) {
      t.views[to] = whole_view(t.machine.kept(operation));
      return;
    }
    t.machine.count_steps(count);
    auto memory = make_memory(name, element, shape);
    memory->is_global = global;
    memory->of_thread = t.number >= 0;
    if (marks) set_marks(*memory);
    if (operation) t.machine.kept(operation) = memory;
    t.views[to] = whole_view(memory);
  });
}

void Decoder::slice(SliceOp op) {
  Indices dims, shape(op.getType().getShape());
  for (size_t dim = 0; dim < shape.size(); ++dim) dims.push_back(op.source_dim(static_cast<int64_t>(dim)));
  emit(op, [to = view_slot(op.getResult()), from = view_slot(op.getSource()), at = slots(op.getOffsets()), dims, shape,
            operation = op.getOperation()](Thread& t) {
    const View& source = t.views[from];
    const Indices offsets = indices(t, at, operation);
    Indices window(offsets.size(), 1);
    for (size_t dim = 0; dim < dims.size(); ++dim) window[static_cast<size_t>(dims[dim])] = shape[dim];
    View view{source.memory, source.element, source.offset, shape, {}};
    for (size_t dim = 0; dim < offsets.size(); ++dim) {
      if (offsets[dim] < 0 || offsets[dim] > source.sizes[dim] - window[dim]) {
        fail<IndexError>(operation, "takes a window of " + text(window) + " at " + text(offsets) + " of " +
                                        source.memory->name + ", which has shape " + text(source.sizes) +
                                        "; a view lies inside its buffer: move with tile.load, which clips");
      }
      view.offset += offsets[dim] * source.strides[dim];
    }
    for (int64_t dim : dims) view.strides.push_back(source.strides[static_cast<size_t>(dim)]);
    t.views[to] = view;
  });
}

namespace {

// The index of a point of a space, counted in row-major order.
Indices point_of(int64_t number, llvm::ArrayRef<int64_t> extents) {
  Indices index(extents.size(), 0);
  for (size_t dim = extents.size(); dim-- > 0;) {
    index[dim] = number % extents[dim];
    number /= extents[dim];
  }
  return index;
}

int64_t points(llvm::ArrayRef<int64_t> extents, mlir::Operation* op, const char* what) {
  int64_t count = 1;
  for (int64_t extent : extents) {
    if (extent < 0) fail<ValueError>(op, std::string(what) + " has the negative extent " + std::to_string(extent));
    if (__builtin_mul_overflow(count, extent, &count) || count > INT32_MAX) {
      fail<ValueError>(op, std::string(what) + " of " + text(extents) + " is too large to interpret");
    }
  }
  return count;
}

// Runs a body once for each point, each an agent of its own.
void run_points(Thread& t, Level level, const char* what, llvm::ArrayRef<int64_t> extents,
                llvm::ArrayRef<Slot> arguments, mlir::Operation* op, size_t begin, size_t end) {
  Machine& machine = t.machine;
  const int64_t count = points(extents, op, what);
  Agents& agents = machine.agents(level);
  const Agents around = agents;
  auto text_around = machine.agent_text(level);
  ++agents.epoch;
  agents.count = count;
  machine.agent_text(level) = [what, shape = Indices(extents)](int32_t number) {
    return std::string(what) + " " + text(point_of(number, shape));
  };
  for (int64_t number : machine.sequence(count)) {
    agents.current = static_cast<int32_t>(number);
    const Indices index = point_of(number, extents);
    for (size_t dim = 0; dim < index.size(); ++dim) t.scalars[arguments[dim]] = Scalar::of_integer(index[dim]);
    machine.run(t, begin, end);
  }
  agents.current = around.current;
  agents.count = around.count;
  machine.agent_text(level) = text_around;
  t.pc = end;
}

}  // namespace

void Decoder::grid(GridOp op) {
  const size_t at = reserve(op);
  const auto arguments = slots(op.getBody().getArguments());
  block(op.getBody().front());
  fill(at, [extents = slots(op.getExtents()), arguments, begin = at + 1, end = here(),
            operation = op.getOperation()](Thread& t) {
    t.machine.drop_kept();
    run_points(t, Level::grid, "block", indices(t, extents, operation), arguments, operation, begin, end);
  });
}

void Decoder::map(MapOp op) {
  const size_t at = reserve(op);
  const auto arguments = slots(op.getBody().getArguments());
  block(op.getBody().front());
  fill(at, [sizes = Indices(op.getStaticSizes()), dynamic = slots(op.getSizes()), arguments, begin = at + 1,
            end = here(), operation = op.getOperation()](Thread& t) {
    Indices extents = sizes;
    size_t next = 0;
    for (int64_t& extent : extents) {
      if (!mlir::ShapedType::isDynamic(extent)) continue;
      // A negative run-time size is an empty range, as in scf.for.
      extent = std::max<int64_t>(0, t.machine.decided(t.scalars[dynamic[next++]], operation, "the size of a map"));
    }
    run_points(t, Level::map, "iteration", extents, arguments, operation, begin, end);
  });
}

// Control flow --------------------------------------------------------------------------------------------------------

bool Decoder::control(mlir::Operation* op) {
  if (auto for_op = mlir::dyn_cast<scf::ForOp>(op)) {
    loop(op, *for_op.getBody(), for_op.getLowerBound(), for_op.getUpperBound(), for_op.getStep());
  } else if (auto pipeline = mlir::dyn_cast<PipelineOp>(op)) {
    loop(op, pipeline.getBody().front(), pipeline.getLower(), pipeline.getUpper(), pipeline.getStep());
  } else if (auto if_op = mlir::dyn_cast<scf::IfOp>(op)) {
    decode_if(if_op);
  } else if (auto while_op = mlir::dyn_cast<scf::WhileOp>(op)) {
    decode_while(while_op);
  } else if (auto switch_op = mlir::dyn_cast<scf::IndexSwitchOp>(op)) {
    decode_switch(switch_op);
  } else {
    return false;
  }
  return true;
}

// scf.for and tile.pipeline: the index is the body's first argument, carried values are the others.
void Decoder::loop(mlir::Operation* op, mlir::Block& body, mlir::Value lower, mlir::Value upper, mlir::Value step) {
  const auto inits =
      mlir::isa<scf::ForOp>(op) ? slots(mlir::cast<scf::ForOp>(op).getInitArgs()) : llvm::SmallVector<Slot, 4>{};
  const auto carried = slots(body.getArguments().drop_front());
  const auto results = slots(op->getResults());
  const Slot iv = slot(body.getArgument(0)), from = slot(lower), to = slot(upper), by = slot(step);
  const int width = scalar_type(lower.getType()).width;
  emit(op, [=](Thread& t) {
    t.machine.decided(t.scalars[to], op, "how often a loop runs");
    t.machine.decided(t.scalars[from], op, "how often a loop runs");
    const int64_t stride = t.machine.decided(t.scalars[by], op, "how often a loop runs");
    if (stride <= 0) fail<ValueError>(op, "the loop's step is " + std::to_string(stride) + "; steps are positive");
    assign(t, inits, carried);
    t.scalars[iv] = t.scalars[from];
  });
  const size_t test = reserve(op);
  block(body);
  llvm::SmallVector<Slot, 4> yielded;
  if (body.mightHaveTerminator()) {
    if (auto yield = mlir::dyn_cast<scf::YieldOp>(body.back())) yielded = slots(yield.getOperands());
  }
  emit(op, [=](Thread& t) {
    assign(t, yielded, carried);
    int64_t next = 0;
    // Past the largest index the loop is over, whatever its bound.
    if (__builtin_add_overflow(t.scalars[iv].integer, t.scalars[by].integer, &next) || wrap(next, width) != next) {
      next = t.scalars[to].integer;
    }
    t.scalars[iv] = Scalar::of_integer(next);
    t.pc = test;
  });
  const size_t end = here();
  fill(test, [=](Thread& t) {
    if (t.scalars[iv].integer < t.scalars[to].integer) return;
    assign(t, carried, results);
    t.pc = end;
  });
}

void Decoder::decode_if(scf::IfOp op) {
  const Slot condition = slot(op.getCondition());
  const auto results = slots(op.getResults());
  const size_t test = reserve(op);
  block(*op.thenBlock());
  const size_t leave = reserve(op);
  size_t otherwise = here();
  if (op.elseBlock()) block(*op.elseBlock());
  const auto yielded = [&](mlir::Block* branch) {
    return branch ? slots(branch->getTerminator()->getOperands()) : llvm::SmallVector<Slot, 4>{};
  };
  emit(op, [results, values = yielded(op.elseBlock())](Thread& t) { assign(t, values, results); });
  const size_t end = here();
  fill(leave, [results, values = yielded(op.thenBlock()), end](Thread& t) {
    assign(t, values, results);
    t.pc = end;
  });
  fill(test, [condition, otherwise, operation = op.getOperation()](Thread& t) {
    if (!t.machine.decided(t.scalars[condition], operation, "which way a branch goes")) t.pc = otherwise;
  });
}

void Decoder::decode_while(scf::WhileOp op) {
  const auto inits = slots(op.getInits()), before = slots(op.getBeforeArguments()),
             after = slots(op.getAfterArguments());
  const auto results = slots(op.getResults());
  emit(op, [inits, before](Thread& t) { assign(t, inits, before); });
  const size_t start = here();
  block(*op.getBeforeBody());
  auto condition = op.getConditionOp();
  const auto passed = slots(condition.getArgs());
  const size_t test = reserve(op);
  block(*op.getAfterBody());
  emit(op, [values = slots(op.getYieldOp().getOperands()), before, start](Thread& t) {
    assign(t, values, before);
    t.pc = start;
  });
  const size_t end = here();
  fill(test,
       [holds = slot(condition.getCondition()), passed, after, results, end, operation = op.getOperation()](Thread& t) {
         if (t.machine.decided(t.scalars[holds], operation, "how often a loop runs")) return assign(t, passed, after);
         assign(t, passed, results);
         t.pc = end;
       });
}

void Decoder::decode_switch(scf::IndexSwitchOp op) {
  const auto results = slots(op.getResults());
  const size_t test = reserve(op);
  std::map<int64_t, size_t> starts;
  std::vector<std::pair<size_t, llvm::SmallVector<Slot, 4>>> leaves;
  auto branch = [&](mlir::Block& body) {
    const size_t start = here();
    block(body);
    leaves.emplace_back(reserve(op), slots(body.getTerminator()->getOperands()));
    return start;
  };
  for (auto [number, value] : llvm::enumerate(op.getCases())) {
    starts[value] = branch(op.getCaseBlock(static_cast<unsigned>(number)));
  }
  const size_t otherwise = branch(op.getDefaultBlock());
  const size_t end = here();
  for (const auto& [at, values] : leaves) {
    fill(at, [results, values = values, end](Thread& t) {
      assign(t, values, results);
      t.pc = end;
    });
  }
  fill(test, [argument = slot(op.getArg()), starts, otherwise, operation = op.getOperation()](Thread& t) {
    const auto found = starts.find(t.machine.decided(t.scalars[argument], operation, "which way a branch goes"));
    t.pc = found == starts.end() ? otherwise : found->second;
  });
}

}  // namespace deep_accel::tile::interpreter
