// Assumptions, assertions, prints, and calls of C functions.
#include <ffi.h>

#include <cstdio>
#include <cstring>

#include "deep_accel/base/text.h"
#include "deep_accel/tile/interpreter/decode.h"

namespace deep_accel::tile::interpreter {

namespace {

// As compiled code prints it, which hands over doubles.
std::string number_text(const Scalar& value, bool is_float) {
  if (value.origin != 0) return "undefined";
  return printed_number(is_float ? value.real : static_cast<double>(value.integer));
}

// What a print shows for one operand.
struct Printed {
  bool is_view = false, is_float = false;
  Slot slot = 0;
};

std::string printed_text(Thread& t, const Printed& operand, Site site) {
  if (!operand.is_view) return number_text(t.scalars[operand.slot], operand.is_float);
  const View& view = t.views[operand.slot];
  std::string text = "[";
  for_each_index(view.sizes, [&](const Indices& index) {
    if (text.size() > 1) text += ", ";
    text += number_text(t.machine.read(view, place(view, index), site), view.element.compute.is_float);
  });
  return text + "]";
}

// A tile as C sees it, for the length of a call.
struct CBuffer {
  std::vector<std::byte> bytes;
  void* address = nullptr;
};

ffi_type* ffi_type_of(mlir::Type type) {
  if (!type) return &ffi_type_void;
  if (mlir::isa<mlir::MemRefType>(type)) return &ffi_type_pointer;
  if (type.isF64()) return &ffi_type_double;
  if (type.isF32()) return &ffi_type_float;
  if (type.isInteger(32)) return &ffi_type_sint32;
  if (type.isInteger(1)) return &ffi_type_uint8;
  return &ffi_type_sint64;
}

uint64_t bits_of(const Scalar& value, const ScalarType& type) {
  return type.is_float ? encode(type.dtype, value.real) : static_cast<uint64_t>(value.integer);
}

}  // namespace

void Decoder::print(PrintOp op) {
  std::vector<Printed> operands;
  for (mlir::Value value : op.getValues()) {
    if (mlir::isa<mlir::MemRefType>(value.getType())) {
      operands.push_back({true, false, view_slot(value)});
    } else {
      operands.push_back({false, scalar_type(value.getType()).is_float, slot(value)});
    }
  }
  emit(op, [text = op.getText().str(), operands, site = site(op)](Thread& t) {
    std::string line =
        fill_placeholders(text, operands.size(), [&](size_t index) { return printed_text(t, operands[index], site); });
    if (t.machine.options().print) return t.machine.options().print(line);
    line += '\n';
    std::fwrite(line.data(), 1, line.size(), stdout);
    std::fflush(stdout);
  });
}

// The function sees copies of the tiles, in their storage types; what it writes is copied back.
void Decoder::call(ExternOp op) {
  struct Operand {
    bool is_view = false, reads = false, writes = false;
    Slot slot = 0;
    ScalarType type;
    ffi_type* ffi = nullptr;
  };
  std::vector<Operand> operands;
  for (mlir::Value value : op.getOperands()) {
    Operand operand;
    operand.is_view = mlir::isa<mlir::MemRefType>(value.getType());
    operand.slot = operand.is_view ? view_slot(value) : slot(value);
    if (!operand.is_view) operand.type = scalar_type(value.getType());
    operand.ffi = ffi_type_of(value.getType());
    operands.push_back(operand);
  }
  for (int64_t number : op.getReads()) operands[static_cast<size_t>(number)].reads = true;
  for (int64_t number : op.getWrites()) operands[static_cast<size_t>(number)].writes = true;
  const mlir::Type result_type = op.getResult() ? op.getResult().getType() : mlir::Type();
  emit(op, [operands, symbol = op.getSymbol().str(), site = site(op), operation = op.getOperation(),
            result = result_type ? std::optional(slot(op.getResult())) : std::nullopt,
            result_scalar = result_type ? scalar_type(result_type) : ScalarType{},
            result_ffi = ffi_type_of(result_type)](Thread& t) {
    void* address = find_extern(symbol);
    if (!address) {
      fail<ValueError>(operation, "the external function '" + symbol +
                                      "' is neither registered nor in the process; call register_extern(\"" + symbol +
                                      "\", address)");
    }
    std::vector<CBuffer> buffers(operands.size());
    std::vector<uint64_t> scalars(operands.size());
    std::vector<ffi_type*> types;
    std::vector<void*> values;
    bool exact = true;
    for (size_t i = 0; i < operands.size(); ++i) {
      const Operand& operand = operands[i];
      types.push_back(operand.ffi);
      if (!operand.is_view) {
        const Scalar& value = t.scalars[operand.slot];
        t.machine.require_defined(value, operation, "is passed to '" + symbol + "'");
        exact = exact && value.error == 0;
        scalars[i] = bits_of(value, operand.type);
        values.push_back(&scalars[i]);
        continue;
      }
      const View& view = t.views[operand.slot];
      const DType dtype = view.element.dtype;
      buffers[i].bytes.resize(static_cast<size_t>(bytes_for(dtype, view.count())) + 1);
      int64_t number = 0;
      for_each_index(view.sizes, [&](const Indices& index) {
        const int64_t at = number++;
        if (!operand.reads) return;
        const Scalar value = t.machine.read(view, place(view, index), site);
        t.machine.require_defined(value, operation, "is passed to '" + symbol + "'");
        exact = exact && value.error == 0;
        if (is_float(dtype)) {
          store_element(dtype, buffers[i].bytes.data(), at, value.real);
        } else {
          store_integer(dtype, buffers[i].bytes.data(), at, value.integer);
        }
      });
      buffers[i].address = buffers[i].bytes.data();
      values.push_back(&buffers[i].address);
    }
    ffi_cif interface;
    if (ffi_prep_cif(&interface, FFI_DEFAULT_ABI, static_cast<unsigned>(types.size()), result_ffi, types.data()) !=
        FFI_OK) {
      fail<UnsupportedError>(operation, "'" + symbol + "' cannot be called from the interpreter on this machine");
    }
    uint64_t returned = 0;
    ffi_call(&interface, reinterpret_cast<void (*)()>(address), &returned, values.data());

    // What C code does to errors of its inputs is not known.
    const double error = exact ? 0 : kUnknown;
    for (size_t i = 0; i < operands.size(); ++i) {
      if (!operands[i].writes) continue;
      const View& view = t.views[operands[i].slot];
      const DType dtype = view.element.dtype;
      int64_t number = 0;
      for_each_index(view.sizes, [&](const Indices& index) {
        const int64_t at = number++;
        const Scalar value = is_float(dtype)
                                 ? Scalar::of_real(load_element(dtype, buffers[i].bytes.data(), at), error)
                                 : Scalar::of_integer(load_integer(dtype, buffers[i].bytes.data(), at), error);
        t.machine.write(view, place(view, index), value, site);
      });
    }
    if (!result) return;
    t.scalars[*result] = result_scalar.is_float
                             ? Scalar::of_real(deep_accel::decode(result_scalar.dtype, returned), error)
                             : Scalar::of_integer(wrap(static_cast<int64_t>(returned), result_scalar.width), error);
  });
}

bool Decoder::check(mlir::Operation* op) {
  if (auto assume = mlir::dyn_cast<AssumeOp>(op)) {
    emit(op, [condition = slot(assume.getCondition()), op](Thread& t) {
      if (!t.machine.decided(t.scalars[condition], op, "an assumption")) {
        fail<AssumptionError>(op,
                              "the assumption does not hold, on which compiled code relies; test the arguments before "
                              "the launch, or drop tile.assume");
      }
    });
  } else if (auto assertion = mlir::dyn_cast<AssertOp>(op)) {
    emit(op, [condition = slot(assertion.getCondition()), message = assertion.getMessage().str(), op](Thread& t) {
      if (!t.machine.decided(t.scalars[condition], op, "an assertion")) fail<AssertionError>(op, message);
    });
  } else if (auto print_op = mlir::dyn_cast<PrintOp>(op)) {
    print(print_op);
  } else if (auto extern_op = mlir::dyn_cast<ExternOp>(op)) {
    call(extern_op);
  } else {
    return false;
  }
  return true;
}

}  // namespace deep_accel::tile::interpreter
