// The operations' own code: builders, assembly of those with regions, and small questions about them.
#include "deep_accel/tile/ir/dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/FunctionImplementation.h"

#define GET_OP_CLASSES
#include "deep_accel/tile/ir/tile_ops.cpp.inc"

namespace deep_accel::tile {

using mlir::OpAsmParser;
using mlir::OpAsmPrinter;
using mlir::OperationState;
using mlir::ParseResult;

void TileDialect::register_operations() {
  addOperations<
#define GET_OP_LIST
#include "deep_accel/tile/ir/tile_ops.cpp.inc"
      >();
}

namespace {

// "(%i, %j)": the region's arguments, all of type index.
ParseResult parse_region_arguments(OpAsmParser& parser, llvm::SmallVectorImpl<OpAsmParser::Argument>& arguments) {
  if (parser.parseArgumentList(arguments, OpAsmParser::Delimiter::Paren)) return mlir::failure();
  for (auto& argument : arguments) argument.type = parser.getBuilder().getIndexType();
  return mlir::success();
}

// The region after the header, its block made even where the text leaves it out. Operands are resolved behind it: the
// parser replaces the placeholder of a name that is not known yet once the name is defined, and where that happens in
// the region it would leave an operand that was resolved before dangling.
ParseResult parse_body(OpAsmParser& parser, OperationState& state, llvm::ArrayRef<OpAsmParser::Argument> arguments) {
  mlir::Region* body = state.addRegion();
  if (parser.parseRegion(*body, arguments)) return mlir::failure();
  if (body->empty()) {
    body->emplaceBlock();
    for (const auto& argument : arguments) body->front().addArgument(argument.type, state.location);
  }
  return mlir::success();
}

void print_region_arguments(OpAsmPrinter& printer, mlir::Region& body) {
  printer << " (";
  llvm::interleaveComma(body.getArguments(), printer, [&](mlir::Value value) { printer << value; });
  printer << ")";
}

void print_body(OpAsmPrinter& printer, mlir::Region& body) {
  printer << ' ';
  printer.printRegion(body, /*printEntryBlockArgs=*/false, /*printBlockTerminators=*/false);
}

void add_body(mlir::OpBuilder& builder, OperationState& state, unsigned arguments) {
  mlir::OpBuilder::InsertionGuard guard(builder);
  mlir::Region* body = state.addRegion();
  llvm::SmallVector<mlir::Type> types(arguments, builder.getIndexType());
  llvm::SmallVector<mlir::Location> locations(arguments, state.location);
  builder.createBlock(body, {}, types, locations);
}

}  // namespace

// tile.kernel ---------------------------------------------------------------------------------------------------------

void KernelOp::build(mlir::OpBuilder& builder, OperationState& state, llvm::StringRef name,
                     llvm::ArrayRef<mlir::Type> args, llvm::ArrayRef<mlir::DictionaryAttr> arg_attrs) {
  state.addAttribute(getSymNameAttrName(state.name), builder.getStringAttr(name));
  state.addAttribute(getFunctionTypeAttrName(state.name), mlir::TypeAttr::get(builder.getFunctionType(args, {})));
  llvm::SmallVector<mlir::Attribute> attributes(arg_attrs.begin(), arg_attrs.end());
  if (!attributes.empty()) state.addAttribute(getArgAttrsAttrName(state.name), builder.getArrayAttr(attributes));
  mlir::OpBuilder::InsertionGuard guard(builder);
  mlir::Region* body = state.addRegion();
  llvm::SmallVector<mlir::Location> locations(args.size(), state.location);
  builder.createBlock(body, {}, args, locations);
}

ParseResult KernelOp::parse(OpAsmParser& parser, OperationState& state) {
  auto build_type = [](mlir::Builder& builder, llvm::ArrayRef<mlir::Type> args, llvm::ArrayRef<mlir::Type> results,
                       mlir::function_interface_impl::VariadicFlag,
                       std::string&) { return builder.getFunctionType(args, results); };
  return mlir::function_interface_impl::parseFunctionOp(
      parser, state, /*allowVariadic=*/false, getFunctionTypeAttrName(state.name), build_type,
      getArgAttrsAttrName(state.name), getResAttrsAttrName(state.name));
}

void KernelOp::print(OpAsmPrinter& printer) {
  mlir::function_interface_impl::printFunctionOp(printer, *this, /*isVariadic=*/false, getFunctionTypeAttrName(),
                                                 getArgAttrsAttrName(), getResAttrsAttrName());
}

llvm::StringRef KernelOp::arg_name(unsigned index) {
  auto name = getArgAttrOfType<mlir::StringAttr>(index, "tile.name");
  return name ? name.getValue() : llvm::StringRef();
}

Role KernelOp::arg_role(unsigned index) {
  auto role = getArgAttrOfType<mlir::StringAttr>(index, "tile.role");
  return role ? symbolizeRole(role.getValue()).value_or(Role::in) : Role::in;
}

llvm::SmallVector<llvm::StringRef> KernelOp::arg_dims(unsigned index) {
  llvm::SmallVector<llvm::StringRef> dims;
  if (auto names = getArgAttrOfType<mlir::ArrayAttr>(index, "tile.dims")) {
    for (auto name : names.getAsRange<mlir::StringAttr>()) dims.push_back(name.getValue());
  }
  return dims;
}

std::optional<std::pair<unsigned, unsigned>> KernelOp::find_dim(llvm::StringRef name) {
  for (unsigned index = 0; index < getNumArguments(); ++index) {
    for (auto [dim, symbol] : llvm::enumerate(arg_dims(index))) {
      if (symbol == name) return std::make_pair(index, static_cast<unsigned>(dim));
    }
  }
  return std::nullopt;
}

// tile.read -----------------------------------------------------------------------------------------------------------

void ReadOp::build(mlir::OpBuilder& builder, OperationState& state, mlir::Value buffer, mlir::ValueRange indices) {
  build(builder, state, compute_type(mlir::cast<mlir::MemRefType>(buffer.getType()).getElementType()), buffer, indices);
}

// tile.grid -----------------------------------------------------------------------------------------------------------

void GridOp::build(mlir::OpBuilder& builder, OperationState& state, mlir::ValueRange extents, OrderAttr order) {
  state.addOperands(extents);
  if (order) state.addAttribute(getOrderAttrName(state.name), order);
  add_body(builder, state, extents.size());
}

ParseResult GridOp::parse(OpAsmParser& parser, OperationState& state) {
  llvm::SmallVector<OpAsmParser::Argument> arguments;
  llvm::SmallVector<OpAsmParser::UnresolvedOperand> extents;
  if (parse_region_arguments(parser, arguments) || parser.parseEqual() ||
      parser.parseOperandList(extents, OpAsmParser::Delimiter::Paren) ||
      parser.parseOptionalAttrDictWithKeyword(state.attributes) || parse_body(parser, state, arguments)) {
    return mlir::failure();
  }
  return parser.resolveOperands(extents, parser.getBuilder().getIndexType(), state.operands);
}

void GridOp::print(OpAsmPrinter& printer) {
  print_region_arguments(printer, getBody());
  printer << " = (" << getExtents() << ")";
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs());
  print_body(printer, getBody());
}

// tile.pipeline -------------------------------------------------------------------------------------------------------

void PipelineOp::build(mlir::OpBuilder& builder, OperationState& state, mlir::Value lower, mlir::Value upper,
                       mlir::Value step, int64_t stages) {
  state.addOperands({lower, upper, step});
  state.addAttribute(getStagesAttrName(state.name), builder.getI64IntegerAttr(stages));
  add_body(builder, state, 1);
}

ParseResult PipelineOp::parse(OpAsmParser& parser, OperationState& state) {
  OpAsmParser::Argument iv;
  OpAsmParser::UnresolvedOperand lower, upper, step;
  mlir::Type index = parser.getBuilder().getIndexType();
  mlir::IntegerAttr stages;
  if (parser.parseArgument(iv) || parser.parseEqual() || parser.parseOperand(lower) || parser.parseKeyword("to") ||
      parser.parseOperand(upper) || parser.parseKeyword("step") || parser.parseOperand(step) ||
      parser.parseKeyword("stages") || parser.parseLParen() ||
      parser.parseAttribute(stages, parser.getBuilder().getI64Type(), getStagesAttrName(state.name),
                            state.attributes) ||
      parser.parseRParen() || parser.parseOptionalAttrDictWithKeyword(state.attributes)) {
    return mlir::failure();
  }
  iv.type = index;
  if (parse_body(parser, state, iv)) return mlir::failure();
  return parser.resolveOperands({lower, upper, step}, index, state.operands);
}

void PipelineOp::print(OpAsmPrinter& printer) {
  printer << ' ' << induction_variable() << " = " << getLower() << " to " << getUpper() << " step " << getStep()
          << " stages(" << getStages() << ")";
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(), {getStagesAttrName()});
  print_body(printer, getBody());
}

// tile.map ------------------------------------------------------------------------------------------------------------

void MapOp::build(mlir::OpBuilder& builder, OperationState& state, llvm::ArrayRef<mlir::OpFoldResult> sizes) {
  llvm::SmallVector<mlir::Value> dynamic;
  llvm::SmallVector<int64_t> fixed;
  mlir::dispatchIndexOpFoldResults(sizes, dynamic, fixed);
  state.addOperands(dynamic);
  state.addAttribute(getStaticSizesAttrName(state.name), builder.getDenseI64ArrayAttr(fixed));
  add_body(builder, state, sizes.size());
}

llvm::SmallVector<mlir::OpFoldResult> MapOp::mixed_sizes() {
  mlir::Builder builder(getContext());
  return mlir::getMixedValues(getStaticSizes(), getSizes(), builder);
}

ParseResult MapOp::parse(OpAsmParser& parser, OperationState& state) {
  llvm::SmallVector<OpAsmParser::Argument> arguments;
  llvm::SmallVector<OpAsmParser::UnresolvedOperand> sizes;
  mlir::DenseI64ArrayAttr fixed;
  if (parse_region_arguments(parser, arguments) || parser.parseKeyword("in") ||
      mlir::parseDynamicIndexList(parser, sizes, fixed) || parser.parseOptionalAttrDictWithKeyword(state.attributes)) {
    return mlir::failure();
  }
  state.addAttribute(getStaticSizesAttrName(state.name), fixed);
  if (parse_body(parser, state, arguments)) return mlir::failure();
  return parser.resolveOperands(sizes, parser.getBuilder().getIndexType(), state.operands);
}

void MapOp::print(OpAsmPrinter& printer) {
  print_region_arguments(printer, getBody());
  printer << " in ";
  mlir::printDynamicIndexList(printer, *this, getSizes(), getStaticSizes());
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(), {getStaticSizesAttrName()});
  print_body(printer, getBody());
}

// tile.threads --------------------------------------------------------------------------------------------------------

void ThreadsOp::build(mlir::OpBuilder& builder, OperationState& state, llvm::ArrayRef<int64_t> extents) {
  state.addAttribute(getExtentsAttrName(state.name), builder.getDenseI64ArrayAttr(extents));
  add_body(builder, state, extents.size());
}

int64_t ThreadsOp::count() {
  int64_t count = 1;
  for (int64_t extent : getExtents()) count *= extent;
  return count;
}

ParseResult ThreadsOp::parse(OpAsmParser& parser, OperationState& state) {
  llvm::SmallVector<OpAsmParser::Argument> arguments;
  llvm::SmallVector<int64_t> extents;
  auto parse_extent = [&] { return parser.parseInteger(extents.emplace_back()); };
  if (parse_region_arguments(parser, arguments) || parser.parseKeyword("in") ||
      parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, parse_extent) ||
      parser.parseOptionalAttrDictWithKeyword(state.attributes)) {
    return mlir::failure();
  }
  state.addAttribute(getExtentsAttrName(state.name), parser.getBuilder().getDenseI64ArrayAttr(extents));
  return parse_body(parser, state, arguments);
}

void ThreadsOp::print(OpAsmPrinter& printer) {
  print_region_arguments(printer, getBody());
  printer << " in [";
  llvm::interleaveComma(getExtents(), printer);
  printer << "]";
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(), {getExtentsAttrName()});
  print_body(printer, getBody());
}

// Which dimension of the larger buffer a tile's dimension stands for --------------------------------------------------

namespace {

int64_t window_dim(std::optional<llvm::ArrayRef<int64_t>> dims, mlir::Type buffer, mlir::Type tile, int64_t index) {
  if (dims) return (*dims)[index];
  return mlir::cast<mlir::MemRefType>(buffer).getRank() - mlir::cast<mlir::MemRefType>(tile).getRank() + index;
}

// For gathers: the last dimensions with `axis` left out.
int64_t window_dim_without(int64_t axis, mlir::Type buffer, mlir::Type tile, int64_t index) {
  llvm::SmallVector<int64_t> others;
  for (int64_t dim = 0; dim < mlir::cast<mlir::MemRefType>(buffer).getRank(); ++dim) {
    if (dim != axis) others.push_back(dim);
  }
  return others[others.size() - mlir::cast<mlir::MemRefType>(tile).getRank() + index];
}

}  // namespace

int64_t SliceOp::source_dim(int64_t index) { return window_dim(getDims(), getSource().getType(), getType(), index); }
int64_t LoadOp::source_dim(int64_t index) {
  return window_dim(getDims(), getSource().getType(), getTile().getType(), index);
}
int64_t AsyncLoadOp::source_dim(int64_t index) {
  return window_dim(getDims(), getSource().getType(), getTile().getType(), index);
}
int64_t StoreOp::dest_dim(int64_t index) {
  return window_dim(getDims(), getDest().getType(), getTile().getType(), index);
}
int64_t AtomicStoreOp::dest_dim(int64_t index) {
  return window_dim(getDims(), getDest().getType(), getTile().getType(), index);
}
int64_t GatherOp::source_dim(int64_t index) {
  return window_dim_without(getAxis(), getSource().getType(), getTile().getType(), index);
}
int64_t ScatterOp::dest_dim(int64_t index) {
  return window_dim_without(getAxis(), getDest().getType(), getTile().getType(), index);
}

int64_t GemmOp::m() { return getAcc().getType().getDimSize(0); }
int64_t GemmOp::n() { return getAcc().getType().getDimSize(1); }
int64_t GemmOp::k() { return getA().getType().getDimSize(getTransposeA() ? 0 : 1); }

LayoutWish GemmOp::layout_wish(mlir::OpOperand& operand) {
  if (operand.get() == getA()) return LayoutWish::LhsPanels;
  if (operand.get() == getB()) return LayoutWish::RhsPanels;
  return LayoutWish::Any;
}

}  // namespace deep_accel::tile
