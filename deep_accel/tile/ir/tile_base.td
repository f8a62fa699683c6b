// The tile dialect: its types and attributes. The operations stand in structure_ops.td, move_ops.td, compute_ops.td,
// thread_ops.td and check_ops.td.
#ifndef DEEP_ACCEL_TILE_BASE_TD
#define DEEP_ACCEL_TILE_BASE_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/BuiltinTypeInterfaces.td"
include "mlir/IR/BuiltinTypes.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "tile_interface.td"

def Tile_Dialect : Dialect {
  let name = "tile";
  let cppNamespace = "::deep_accel::tile";
  let summary = "Kernels as graphs of tile loads, computations and stores";
  let description = [{
    A kernel works on tensors in global memory and on tiles: small buffers of static shape in a typed memory space. All
    operations are in destination-passing style: they name the buffers that they read and write, and memory is ordered by
    program order. Scalars and control flow are the upstream `arith`, `math`, `scf` and `index` dialects.

    Element types of buffers are storage types. Arithmetic happens in the *compute type* of a storage type: f64 for f64;
    f32 for f32, f16, bf16, f8E4M3FN, f8E5M2 and `!tile.f4E2M1FN`; i64 for i64; i1 for i1; i32 for every other integer.
    Reads widen to the compute type, writes narrow to the storage type: floats round to nearest even and overflow as the
    type's standard says; integers wrap. Signless and signed integers are signed; `ui8` is unsigned. Packed types
    (`i4`, `!tile.f4E2M1FN`) hold two elements a byte, the even index in the low nibble.
  }];
  let extraClassDeclaration = [{ void register_operations(); }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
                           "::mlir::index::IndexDialect"];
}

class Tile_Type<string name, string mnemonic_, list<Trait> traits = []> : TypeDef<Tile_Dialect, name, traits> {
  let mnemonic = mnemonic_;
}

def Tile_Token : Tile_Type<"Token", "token"> {
  let summary = "what an asynchronous load returns and `tile.wait` takes";
  let description = [{It says nothing but that the load was begun.}];
}

def Tile_F4E2M1FN : Tile_Type<"F4E2M1FN", "f4E2M1FN", [MemRefElementTypeInterface]> {
  let summary = "4-bit float of the OCP microscaling formats: 0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives";
  let description = [{An element type of buffers, two elements a byte; what is too large becomes 6.}];
}

class Tile_I32Enum<string name, string summary, list<I32EnumAttrCase> cases> : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::deep_accel::tile";
  let genSpecializedAttr = 0;
}

def Tile_Space : Tile_I32Enum<"Space", "memory space of a buffer", [
  I32EnumAttrCase<"global", 0>,    // tensors that outlive the kernel, or a workspace that all blocks see
  I32EnumAttrCase<"shared", 1>,    // a tile that the whole block sees
  I32EnumAttrCase<"fragment", 2>,  // a tile of the block that lives in registers where it can
  I32EnumAttrCase<"local", 3>      // private to a thread of tile.threads; elsewhere to the block
]>;
def Tile_SpaceAttr : EnumAttr<Tile_Dialect, Tile_Space, "space"> {
  let description = [{
    - `global`: tensors that outlive the kernel, or a workspace that all blocks of all phases see;
    - `shared`: a tile that the whole block sees;
    - `fragment`: a tile of the block that lives in registers where it can;
    - `local`: private to a thread of `tile.threads`; elsewhere to the block.

    A buffer's space is the last parameter of its type: `memref<64x32xf16, #tile.space<shared>>`.
  }];
  let assemblyFormat = "`<` $value `>`";
}

def Tile_Combine : Tile_I32Enum<"Combine", "how values are combined", [
  I32EnumAttrCase<"add", 0>, I32EnumAttrCase<"mul", 1>, I32EnumAttrCase<"max", 2>, I32EnumAttrCase<"min", 3>,
  I32EnumAttrCase<"absadd", 4>, I32EnumAttrCase<"absmax", 5>,
  I32EnumAttrCase<"bits_and", 6, "and">, I32EnumAttrCase<"bits_or", 7, "or">, I32EnumAttrCase<"bits_xor", 8, "xor">,
  I32EnumAttrCase<"exchange", 9>  // the new value wins; atomics only
]>;
def Tile_CombineAttr : EnumAttr<Tile_Dialect, Tile_Combine, "combine"> {
  let description = [{
    - `add`, `mul`, `max`, `min` of numbers; integers wrap;
    - `absadd`, `absmax`: with the absolute value of what comes;
    - `and`, `or`, `xor` of the bits of integers, and of booleans;
    - `exchange`: the new value wins; atomics only.
  }];
}

def Tile_MemoryOrder : Tile_I32Enum<"MemoryOrder", "ordering of an atomic operation", [
  I32EnumAttrCase<"relaxed", 0>, I32EnumAttrCase<"acquire", 1>, I32EnumAttrCase<"release", 2>,
  I32EnumAttrCase<"acq_rel", 3>, I32EnumAttrCase<"seq_cst", 4>
]>;
def Tile_MemoryOrderAttr : EnumAttr<Tile_Dialect, Tile_MemoryOrder, "memory_order"> {
  let description = [{The orders of C++'s `std::memory_order`, towards other blocks.}];
}

def Tile_Shuffle : Tile_I32Enum<"Shuffle", "which lane a shuffle reads", [
  I32EnumAttrCase<"index", 0>, I32EnumAttrCase<"up", 1>, I32EnumAttrCase<"down", 2>,
  I32EnumAttrCase<"lane_xor", 3, "xor">
]>;
def Tile_ShuffleAttr : EnumAttr<Tile_Dialect, Tile_Shuffle, "shuffle"> {
  let description = [{See `tile.shuffle`.}];
}

def Tile_Vote : Tile_I32Enum<"Vote", "how a vote joins the lanes' conditions", [
  I32EnumAttrCase<"any", 0>, I32EnumAttrCase<"all", 1>, I32EnumAttrCase<"count", 2>
]>;
def Tile_VoteAttr : EnumAttr<Tile_Dialect, Tile_Vote, "vote"> {
  let description = [{See `tile.vote`.}];
}

def Tile_Role : Tile_I32Enum<"Role", "what a kernel does with an argument", [
  I32EnumAttrCase<"in", 0>, I32EnumAttrCase<"out", 1>, I32EnumAttrCase<"inout", 2>
]>;

def Tile_Walk : Tile_I32Enum<"Walk", "order in which the blocks of a grid start", [
  I32EnumAttrCase<"rows", 0>, I32EnumAttrCase<"columns", 1>, I32EnumAttrCase<"swizzle", 2>
]>;
def Tile_OrderAttr : AttrDef<Tile_Dialect, "Order"> {
  let mnemonic = "order";
  let summary = "the order in which the blocks of a grid start";
  let description = [{
    - `rows`: the last axis of the grid is the fastest;
    - `columns`: the first is the fastest;
    - `swizzle, panel`: in panels of so many blocks, so that blocks that run at one time read much the same.
  }];
  let parameters = (ins EnumParameter<Tile_Walk>:$walk, DefaultValuedParameter<"int64_t", "0">:$panel);
  let assemblyFormat = "`<` $walk (`,` $panel^)? `>`";
}

// Buffers -------------------------------------------------------------------------------------------------------------

def Tile_Buffer : Type<CPred<"::deep_accel::tile::is_buffer($_self)">, "buffer in a tile memory space",
                       "::mlir::MemRefType">;
def Tile_OnChip : Type<CPred<"::deep_accel::tile::is_tile($_self)">,
                       "tile of static shape in shared, fragment or local memory", "::mlir::MemRefType">;
def Tile_Global : Type<CPred<"::deep_accel::tile::is_global($_self)">, "buffer in global memory", "::mlir::MemRefType">;
def Tile_Compute : Type<CPred<"::deep_accel::tile::is_compute_type($_self)">,
                        "compute type (f64, f32, i64, i32 or i1)">;
def Tile_Scalar : Type<CPred<"::deep_accel::tile::is_compute_type($_self) || $_self.isIndex()">,
                       "compute type or index">;

class Tile_BufferArg<list<MemoryEffect> effects, Type type = Tile_Buffer> : Arg<type, "", effects>;
class Reads<Type type = Tile_Buffer> : Arg<type, "", [MemRead]>;
class Writes<Type type = Tile_Buffer> : Arg<type, "", [MemWrite]>;
class Updates<Type type = Tile_Buffer> : Arg<type, "", [MemRead, MemWrite]>;

class Tile_Op<string mnemonic, list<Trait> traits = []> : Op<Tile_Dialect, mnemonic, traits>;
class Tile_BufferOp<string mnemonic, list<Trait> traits = []>
    : Tile_Op<mnemonic, !listconcat([DeclareOpInterfaceMethods<Tile_OpInterface, ["accesses", "cost"]>], traits)>;

#endif
