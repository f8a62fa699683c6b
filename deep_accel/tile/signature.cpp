// From a tile.kernel to its signature (runtime/kernel_signature.h has the format).
#include "deep_accel/tile/signature.h"

#include "deep_accel/base/error.h"
#include "deep_accel/base/text.h"
#include "deep_accel/tile/ir/program_impl.h"
#include "llvm/Support/JSON.h"

namespace deep_accel::tile {
namespace {

std::string dtype_name(mlir::Type type) { return std::string(name(type.isIndex() ? DType::i64 : dtype_of(type))); }

llvm::json::Value dim_json(int64_t size, llvm::StringRef name) {
  if (!mlir::ShapedType::isDynamic(size)) return size;
  return name.empty() ? "?" : name;
}

// The contiguous layout is null; else one entry a dimension, null where it is known only at run time.
llvm::json::Value strides_json(mlir::MemRefType type) {
  if (type.getLayout().isIdentity()) return nullptr;
  llvm::SmallVector<int64_t> strides;
  int64_t offset = 0;
  llvm::json::Array values;
  if (mlir::failed(mlir::getStridesAndOffset(type, strides, offset))) {
    return llvm::json::Array(std::vector<llvm::json::Value>(type.getRank(), nullptr));
  }
  for (int64_t stride : strides) {
    values.push_back(mlir::ShapedType::isDynamic(stride) ? llvm::json::Value(nullptr) : llvm::json::Value(stride));
  }
  return values;
}

llvm::json::Object argument_json(KernelOp kernel, unsigned index) {
  llvm::json::Object argument{{"name", kernel.arg_name(index)}};
  auto buffer = mlir::dyn_cast<mlir::MemRefType>(kernel.getArgumentTypes()[index]);
  if (!buffer) {
    argument["kind"] = "scalar";
    argument["dtype"] = dtype_name(kernel.getArgumentTypes()[index]);
    return argument;
  }
  argument["kind"] = "tensor";
  argument["dtype"] = dtype_name(buffer.getElementType());
  argument["role"] = stringifyRole(kernel.arg_role(index));
  const llvm::SmallVector<llvm::StringRef> names = kernel.arg_dims(index);
  llvm::json::Array dims;
  for (int64_t d = 0; d < buffer.getRank(); ++d) {
    dims.push_back(dim_json(buffer.getDimSize(d), d < static_cast<int64_t>(names.size()) ? names[d] : ""));
  }
  argument["dims"] = std::move(dims);
  argument["strides"] = strides_json(buffer);
  return argument;
}

std::string order_text(std::optional<OrderAttr> order) {
  if (!order || !*order) return "rows";
  std::string text = stringifyWalk(order->getWalk()).str();
  if (order->getWalk() == Walk::swizzle) text += ":" + std::to_string(order->getPanel() > 0 ? order->getPanel() : 8);
  return text;
}

}  // namespace

std::string signature_json(mlir::Operation* operation, const std::string& target) {
  auto kernel = mlir::cast<KernelOp>(operation);
  llvm::json::Array arguments, phases, imports;
  for (unsigned i = 0; i < kernel.getArgumentTypes().size(); ++i) arguments.push_back(argument_json(kernel, i));
  int64_t arena_bytes = 0;
  llvm::SetVector<llvm::StringRef> symbols;
  kernel->walk([&](mlir::Operation* op) {
    if (auto grid = mlir::dyn_cast<GridOp>(op)) {
      auto number = [&](const char* name) -> int64_t {
        auto attribute = grid->getAttrOfType<mlir::IntegerAttr>(name);
        return attribute ? attribute.getInt() : 0;
      };
      phases.push_back(llvm::json::Object{{"axes", static_cast<int64_t>(grid.getExtents().size())},
                                          {"order", order_text(grid.getOrder())},
                                          {"marks_bytes", number("tile.marks_bytes")}});
      arena_bytes = std::max(arena_bytes, number("tile.kept_bytes") + number("tile.arena_bytes"));
    } else if (auto call = mlir::dyn_cast<ExternOp>(op)) {
      symbols.insert(call.getSymbol());
    }
  });
  for (llvm::StringRef symbol : symbols) imports.push_back(symbol);
  llvm::json::Value signature = llvm::json::Object{{"name", kernel.getSymName()},
                                                   {"args", std::move(arguments)},
                                                   {"phases", std::move(phases)},
                                                   {"arena_bytes", arena_bytes},
                                                   {"target", target},
                                                   {"imports", std::move(imports)}};
  std::string text;
  llvm::raw_string_ostream(text) << signature;
  return text;
}

KernelSignature signature_of(const Program& program, const std::string& kernel) {
  KernelOp found;
  int count = 0;
  program.impl().module->walk([&](KernelOp candidate) {
    ++count;
    if (kernel.empty() || candidate.getSymName() == kernel) found = candidate;
  });
  const std::vector<std::string> names = program.kernels();
  if (!found) {
    throw ValueError("the program has no kernel '" + kernel + "'" + did_you_mean(kernel, names) +
                     "; it has: " + join(names));
  }
  if (kernel.empty() && count > 1) throw ValueError("the program has several kernels; name one of: " + join(names));
  return KernelSignature::parse(signature_json(found));
}

}  // namespace deep_accel::tile
