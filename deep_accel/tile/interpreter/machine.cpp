// Running instructions, and every access to an element.
#include "deep_accel/tile/interpreter/machine.h"

#include <numeric>
#include <random>

#include "deep_accel/tile/ir/program_impl.h"

namespace deep_accel::tile::interpreter {
namespace {

// Looking at the clock costs more than a step.
constexpr int64_t kStepsBetweenClocks = 1000;
constexpr auto kPollInterval = std::chrono::milliseconds(20);

}  // namespace

std::string where(mlir::Operation* op) {
  const std::string place = location_text(op->getLoc());
  return place.empty() ? place : place + ": ";
}

void Machine::run(Thread& thread, size_t end) {
  while (thread.pc != end) {
    const Instruction& instruction = code_.instructions[thread.pc++];
    count_steps(1);
    instruction.run(thread);
    if (thread.wait.kind != Wait::Kind::none) return;
  }
}

void Machine::count_steps(int64_t steps) {
  result_.steps += steps;
  if (options_.max_steps > 0 && result_.steps > options_.max_steps) {
    throw StepLimitError("the kernel took more than " + std::to_string(options_.max_steps) +
                         " steps in the interpreter; give it smaller arguments, or a larger max_steps");
  }
  if (options_.interrupted && result_.steps - steps_at_poll_ > kStepsBetweenClocks) poll();
}

void Machine::poll() {
  steps_at_poll_ = result_.steps;
  const auto now = std::chrono::steady_clock::now();
  if (now < next_poll_) return;
  next_poll_ = now + kPollInterval;
  if (options_.interrupted()) throw Interrupted("the kernel was interrupted in the interpreter");
}

// Undefined and undecided values --------------------------------------------------------------------------------------

uint32_t Machine::new_origin(mlir::Operation* op, std::string text) {
  origins_.push_back(where(op) + std::move(text));
  return static_cast<uint32_t>(origins_.size());
}

void Machine::require_defined(const Scalar& value, mlir::Operation* op, const std::string& use) {
  if (value.origin == 0) return;
  std::string text = explain(value.origin) + "; the value " + use;
  const std::string place = location_text(op->getLoc());
  if (!place.empty()) text += " at " + place;
  throw ValueError(text);
}

void Machine::note_unstable(mlir::Operation* op, const std::string& what) {
  if (result_.unstable.empty()) result_.unstable = where(op) + what;
}

int64_t Machine::decided(const Scalar& value, mlir::Operation* op, const char* what) {
  require_defined(value, op, std::string("decides ") + what);
  if (value.error != 0) note_unstable(op, std::string(what) + " hangs on a comparison that rounding may decide");
  return value.integer;
}

std::vector<int64_t> Machine::sequence(int64_t count) {
  std::vector<int64_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), int64_t{0});
  if (options_.order == Order::reversed) std::reverse(order.begin(), order.end());
  if (options_.order == Order::shuffled) {
    std::mt19937_64 random(options_.seed * 0x9e3779b97f4a7c15u + shuffles_++);
    for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
  }
  return order;
}

// Races and asynchronous loads ----------------------------------------------------------------------------------------

namespace {

uint64_t ones(int count) { return count >= 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1; }

// Where an element of a view lies among the cells.
struct Bits {
  int64_t first, last;  // cells
  int shift;            // of its bits in the only cell, where it is not wider
  int width, cell_width;
  uint16_t mask;  // of the cell's written bits

  Bits(const View& view, int64_t position)
      : width(bits(view.element.dtype)), cell_width(bits(view.memory->element.dtype)) {
    const int64_t bit = position * width;
    first = bit / cell_width;
    last = (bit + width - 1) / cell_width;
    shift = static_cast<int>(bit % cell_width);
    mask = static_cast<uint16_t>((width >= cell_width ? view.memory->whole() : ones(width / 4)) << (shift / 4));
  }
};

const char* verb_of(Touch touch, bool past) {
  switch (touch) {
    case Touch::read:
      return past ? "read" : "reads";
    case Touch::write:
      return past ? "wrote" : "writes";
    case Touch::combine:
      return past ? "combined into" : "combines into";
    case Touch::atomic:
      return past ? "updated" : "updates";
  }
  return "";
}

// What combining into an element may round: the value is kept in the compute type, or narrowed after each step to the
// type of the element, where both this machine and the compiled code may have rounded otherwise.
struct Precision {
  bool is_narrow;
  double unit;      // relative, of one step
  double whole;     // below it, integers and their sums are exact
  double largest;   // above it, a partial result may have overflowed
  double smallest;  // absolute, of a product

  Precision(DType dtype, DType compute) : is_narrow(bits(dtype) < bits(compute)) {
    const double roundoff = unit_roundoff(is_narrow ? dtype : compute);
    unit = is_narrow ? 2 * roundoff : roundoff;
    whole = is_narrow ? std::min(1 / roundoff, deep_accel::largest(dtype)) : 0x1p24;
    largest = deep_accel::largest(is_narrow ? dtype : compute);
    smallest = is_narrow ? decode(dtype, 1) : 0;
  }
};

// What a place that touches memory does to it.
const char* past_verb(mlir::Operation* op) {
  if (mlir::isa<ReadOp>(op)) return "read";
  if (mlir::isa<WriteOp>(op)) return "wrote";
  return "touched";
}

}  // namespace

void Machine::report_race(const Memory& memory, int64_t cell, const Agents& agents, Touch touch, Site site,
                          const TouchRecord& other) {
  const auto& name = agent_text_[static_cast<size_t>(agents.level)];
  mlir::Operation *op = code_.sites[site], *other_op = code_.sites[other.site];
  std::string text = "race on element " + memory.index_text(cell) + " of " + memory.name + ": " + name(agents.current) +
                     " " + verb_of(touch, false) + " it here, and " + name(other.agent) + " " + past_verb(other_op) +
                     " it at " + location_text(other_op->getLoc()) + "; ";
  switch (agents.level) {
    case Level::grid:
      text +=
          "blocks of a phase run in any order and in parallel: give each its own elements, use atomics, or start "
          "another phase (tile.grid)";
      break;
    case Level::threads:
      text += "threads run in any order between barriers: put a tile.barrier between the two";
      break;
    case Level::map:
      text += "iterations of tile.map run in any order: use tile.combine for sums, or scf.for for a sequence";
      break;
  }
  fail<ValueError>(op, text);
}

void Machine::touch(Memory& memory, int64_t first, int64_t last, Touch touch, Site site) {
  count_steps(1);
  if (!options_.check_races) return;
  for (Agents& agents : agents_) {
    if (agents.current < 0) continue;
    if (agents.level == Level::grid && !memory.is_global) continue;
    if (agents.level == Level::threads && memory.of_thread) continue;
    std::vector<Shadow>& shadows = memory.shadows.of(agents.level, memory.cells.size());
    for (int64_t cell = first; cell <= last; ++cell) {
      const TouchRecord* other = record_touch(shadows[static_cast<size_t>(cell)], agents, touch, site);
      if (other) report_race(memory, cell, agents, touch, site, *other);
    }
  }
}

uint32_t Machine::start_load(mlir::Operation* op, const View& tile) {
  loads_.emplace_back(op, tile);
  const auto load = static_cast<uint32_t>(loads_.size());
  set_pending(tile, load);
  return load;
}

void Machine::finish_load(uint32_t load) {
  View& tile = loads_[load - 1].second;
  if (!tile.memory) return;
  set_pending(tile, 0);
  tile = View{};
}

void Machine::set_pending(const View& view, uint32_t load) {
  for_each_index(view.sizes, [&](const Indices& index) {
    const Bits where(view, place(view, index));
    for (int64_t cell = where.first; cell <= where.last; ++cell) {
      view.memory->cells[static_cast<size_t>(cell)].pending = load;
    }
  });
}

bool Machine::concurrent(const Memory& memory) const {
  return llvm::any_of(agents_, [&](const Agents& agents) {
    return agents.current >= 0 && agents.count > 1 && (agents.level != Level::grid || memory.is_global);
  });
}

void Machine::check_pending(const Memory& memory, const Cell& cell, int64_t number, Site site, const char* verb) {
  if (cell.pending == 0) return;
  mlir::Operation* load = loads_[cell.pending - 1].first;
  fail<ValueError>(code_.sites[site], std::string(verb) + " element " + memory.index_text(number) + " of " +
                                          memory.name + ", whose tile.async_load at " + location_text(load->getLoc()) +
                                          " may still be under way; put a tile.wait for its token before");
}

// Elements ------------------------------------------------------------------------------------------------------------

int64_t Machine::position(const View& view, llvm::ArrayRef<int64_t> index, Site site, const char* verb) {
  int64_t at = view.offset;
  for (size_t dim = 0; dim < index.size(); ++dim) {
    if (index[dim] < 0 || index[dim] >= view.sizes[dim]) {
      fail<IndexError>(code_.sites[site], std::string(verb) + " element " + text(index) + " of " + view.memory->name +
                                              ", which has shape " + text(view.sizes) +
                                              "; keep the indices inside, or move whole tiles with tile.load and "
                                              "tile.store, which clip");
    }
    at += index[dim] * view.strides[dim];
  }
  return at;
}

namespace {

uint64_t pattern_of(const Cell& cell, const ElementType& element) {
  return is_float(element.dtype) ? encode(element.dtype, cell.scalar.real)
                                 : encode_integer(element.dtype, cell.scalar.integer);
}

Scalar of_pattern(uint64_t pattern, const ElementType& element, double error) {
  return is_float(element.dtype) ? Scalar::of_real(decode(element.dtype, pattern), error)
                                 : Scalar::of_integer(decode_integer(element.dtype, pattern), error);
}

}  // namespace

Scalar Machine::fetch(const View& view, int64_t position, Site site, double* magnitude) {
  Memory& memory = *view.memory;
  const Bits bits_at(view, position);
  double error = 0;
  uint64_t pattern = 0;
  for (int64_t number = bits_at.first; number <= bits_at.last; ++number) {
    Cell& cell = memory.cells[static_cast<size_t>(number)];
    check_pending(memory, cell, number, site, "reads");
    if ((cell.written & bits_at.mask) != bits_at.mask) {
      if (cell.scalar.origin == 0) {
        cell.scalar.origin = new_origin(code_.sites[site], "reads element " + memory.index_text(number) + " of " +
                                                               memory.name + " before it was written");
      }
      return Scalar::undefined(cell.scalar.origin);
    }
    if (cell.scalar.origin != 0) return Scalar::undefined(cell.scalar.origin);
    if (view.same_type()) {
      if (magnitude) *magnitude = cell.magnitude;
      return cell.scalar;
    }
    // Bits of a value that is not known exactly are not known at all.
    if (cell.scalar.error != 0) error = kUnknown;
    const uint64_t bits_here = pattern_of(cell, memory.element);
    if (bits_at.width <= bits_at.cell_width) {
      pattern = (bits_here >> bits_at.shift) & ones(bits_at.width);
    } else {
      pattern |= bits_here << ((number - bits_at.first) * bits_at.cell_width);
    }
  }
  const Scalar value = of_pattern(pattern, view.element, error);
  if (magnitude) *magnitude = is_float(view.element.dtype) ? std::abs(value.real) : 0;
  return value;
}

void Machine::store(const View& view, int64_t position, const Scalar& value, double magnitude, Site site,
                    uint32_t terms) {
  Memory& memory = *view.memory;
  const Bits bits_at(view, position);
  Scalar stored = value;
  const DType dtype = view.element.dtype;
  if (is_float(dtype)) {
    const bool keeps_double = dtype == DType::f64 || (dtype == DType::f32 && !memory.is_global);
    if (!keeps_double && value.origin == 0) stored = rounded_to(dtype, value);
  } else {
    stored.integer = decode_integer(dtype, encode_integer(dtype, value.integer));
  }
  for (int64_t number = bits_at.first; number <= bits_at.last; ++number) {
    Cell& cell = memory.cells[static_cast<size_t>(number)];
    check_pending(memory, cell, number, site, "writes");
    if (memory.read_only) {
      fail<ValueError>(code_.sites[site], "writes element " + memory.index_text(number) + " of " + memory.name +
                                              ", which is an input; give the argument the role \"out\" or \"inout\"");
    }
    if (memory.is_global) {
      require_defined(stored, code_.sites[site],
                      "is written to element " + memory.index_text(number) + " of " + memory.name);
    }
    cell.dirty = true;
    cell.terms = terms;
    if (view.same_type()) {
      cell.scalar = stored;
      cell.magnitude = magnitude;
      cell.written = memory.whole();
      continue;
    }
    const uint64_t bits_new = is_float(dtype) ? encode(dtype, stored.real) : encode_integer(dtype, stored.integer);
    const bool undefined = stored.origin != 0;
    if (bits_at.width >= bits_at.cell_width) {
      const uint64_t bits_here =
          (bits_new >> ((number - bits_at.first) * bits_at.cell_width)) & ones(bits_at.cell_width);
      cell.scalar = of_pattern(bits_here, memory.element, stored.error == 0 ? 0 : kUnknown);
    } else {
      const uint64_t kept = cell.written == 0 ? 0 : pattern_of(cell, memory.element);
      const uint64_t bits_here = (kept & ~(ones(bits_at.width) << bits_at.shift)) | (bits_new << bits_at.shift);
      const double error = stored.error == 0 && cell.scalar.error == 0 ? 0 : kUnknown;
      const uint32_t origin = cell.written == 0 ? 0 : cell.scalar.origin;
      cell.scalar = of_pattern(bits_here, memory.element, error);
      cell.scalar.origin = origin;
    }
    if (undefined) cell.scalar.origin = stored.origin;
    cell.magnitude = is_float(memory.element.dtype) ? std::abs(cell.scalar.real) : 0;
    cell.written |= bits_at.mask;
  }
}

Scalar Machine::read(const View& view, int64_t position, Site site) {
  const Bits bits_at(view, position);
  touch(*view.memory, bits_at.first, bits_at.last, Touch::read, site);
  return fetch(view, position, site);
}

void Machine::write(const View& view, int64_t position, Scalar value, Site site) {
  const Bits bits_at(view, position);
  touch(*view.memory, bits_at.first, bits_at.last, Touch::write, site);
  store(view, position, value, is_float(view.element.dtype) ? std::abs(value.real) : 0, site);
}

Scalar Machine::combine(const View& view, int64_t position, Combine kind, const Scalar& value, bool propagate_nan,
                        bool atomic, Site site) {
  const Bits bits_at(view, position);
  touch(*view.memory, bits_at.first, bits_at.last, atomic ? Touch::atomic : Touch::combine, site);
  double magnitude = 0;
  const Scalar before = fetch(view, position, site, &magnitude);
  if (kind == Combine::exchange) {
    store(view, position, value, std::abs(value.real), site);
    return before;
  }
  const ScalarType& type = view.element.compute;
  const bool sum = kind == Combine::add || kind == Combine::absadd;
  Scalar after = combined(type, kind, before, value, propagate_nan);
  uint32_t terms = 0;
  if (type.is_float && sum) {
    const Cell& cell = view.memory->cells[static_cast<size_t>(bits_at.first)];
    const Precision precision(view.element.dtype, type.dtype);
    const double rounded_so_far = before.error == 0 ? 0 : precision.unit * cell.terms * magnitude;
    magnitude += std::abs(value.real);
    terms = cell.terms + 1;
    // The terms may come in any order: each of n additions rounds a partial sum no larger than the absolute values
    // together (Higham, section 4.2). Small integers stay exact in every order.
    const bool exact = before.error == 0 && value.error == 0 && std::trunc(before.real) == before.real &&
                       std::trunc(value.real) == value.real && magnitude < precision.whole;
    if (std::isfinite(after.real) && after.error < kUnknown && !exact) {
      after.error = std::max(0.0, before.error - rounded_so_far) + value.error + precision.unit * terms * magnitude;
      if (!(magnitude <= precision.largest)) after.error = kUnknown;
    }
    if (atomic) result_.atomic_floats = true;
  } else if (type.is_float) {
    magnitude = std::abs(after.real);
    const Precision precision(view.element.dtype, type.dtype);
    if (kind == Combine::mul && precision.is_narrow && std::isfinite(after.real)) {
      after.error += precision.unit * magnitude + precision.smallest;
      if (!(magnitude <= precision.largest)) after.error = kUnknown;
    }
  }
  store(view, position, after, magnitude, site, terms);
  return before;
}

void Machine::accumulate(const View& view, int64_t position, const Scalar& sum, double magnitude, int64_t terms,
                         bool clear, Site site) {
  const Bits bits_at(view, position);
  touch(*view.memory, bits_at.first, bits_at.last, Touch::write, site);
  double before_magnitude = 0;
  Scalar before = clear ? Scalar::of_real(0) : fetch(view, position, site, &before_magnitude);
  if (before.origin != 0 || sum.origin != 0) {
    return store(view, position, Scalar::undefined(before.origin ? before.origin : sum.origin), 0, site);
  }
  const ScalarType& type = view.element.compute;
  magnitude += before_magnitude;
  Scalar after = Scalar::of_real(before.real + sum.real, before.error + sum.error);
  const double rounding = static_cast<double>(terms) * (unit_roundoff(type.dtype) * magnitude);
  if (std::isfinite(after.real)) {
    after.error = std::isfinite(round_to(type.dtype, magnitude)) ? after.error + rounding : kUnknown;
  }
  store(view, position, after, magnitude, site);
}

// Values in general ---------------------------------------------------------------------------------------------------

Scalar converted(const Scalar& value, const ScalarType& from, const ScalarType& to) {
  if (value.origin != 0) return value;
  if (from.is_float) {
    if (!to.is_float) return to_integer(value, to.width, /*is_signed=*/true);
    return to.dtype == from.dtype || to.dtype == DType::f64 ? value : finish(to.dtype, value.real, value.error);
  }
  if (to.is_float) return to_real(value, to.dtype, from.width, /*is_signed=*/from.width != 1);
  if (to.width == 1) return Scalar::of_integer(value.integer != 0, value.error);
  return Scalar::of_integer(wrap(value.integer, to.width), value.error);
}

Scalar combined(const ScalarType& type, Combine kind, const Scalar& a, const Scalar& b, bool propagate_nan) {
  if (a.origin != 0 || b.origin != 0) return Scalar::undefined(a.origin ? a.origin : b.origin);
  if (type.is_float) {
    const Scalar magnitude = Scalar::of_real(std::abs(b.real), b.error);
    switch (kind) {
      case Combine::add:
        return add(type.dtype, a, b);
      case Combine::absadd:
        return add(type.dtype, a, magnitude);
      case Combine::mul:
        return multiply(type.dtype, a, b);
      case Combine::max:
        return extreme(a, b, true, propagate_nan);
      case Combine::absmax:
        return extreme(a, magnitude, true, propagate_nan);
      case Combine::min:
        return extreme(a, b, false, propagate_nan);
      default:
        return b;
    }
  }
  const auto x = static_cast<uint64_t>(a.integer), y = static_cast<uint64_t>(b.integer);
  const uint64_t magnitude = b.integer < 0 ? 0 - y : y;
  auto value = [&]() -> int64_t {
    switch (kind) {
      case Combine::add:
        return static_cast<int64_t>(x + y);
      case Combine::absadd:
        return static_cast<int64_t>(x + magnitude);
      case Combine::mul:
        return static_cast<int64_t>(x * y);
      case Combine::max:
        return std::max(a.integer, b.integer);
      case Combine::absmax:
        return std::max(a.integer, wrap(static_cast<int64_t>(magnitude), type.width));
      case Combine::min:
        return std::min(a.integer, b.integer);
      case Combine::bits_and:
        return a.integer & b.integer;
      case Combine::bits_or:
        return a.integer | b.integer;
      case Combine::bits_xor:
        return a.integer ^ b.integer;
      case Combine::exchange:
        return b.integer;
    }
    return 0;
  };
  return Scalar::of_integer(wrap(value(), type.width), std::max(a.error, b.error));
}

Scalar identity(const ScalarType& type, Combine kind) {
  const double infinity = std::numeric_limits<double>::infinity();
  const bool real = type.is_float;
  switch (kind) {
    case Combine::mul:
      return real ? Scalar::of_real(1) : Scalar::of_integer(1);
    case Combine::max:
      return real ? Scalar::of_real(-infinity)
                  : Scalar::of_integer(wrap(static_cast<int64_t>(uint64_t{1} << (type.width - 1)), type.width));
    case Combine::min:
      return real ? Scalar::of_real(infinity)
                  : Scalar::of_integer(static_cast<int64_t>(unsigned_of(-1, type.width) >> 1));
    case Combine::bits_and:
      return Scalar::of_integer(wrap(-1, type.width));
    default:
      return real ? Scalar::of_real(0) : Scalar::of_integer(0);
  }
}

}  // namespace deep_accel::tile::interpreter
