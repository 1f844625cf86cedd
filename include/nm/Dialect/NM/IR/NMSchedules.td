//===- NMSchedules.td - A schedule for each strategy -------*- tablegen -*-===//

#ifndef NM_DIALECT_NM_IR_NMSCHEDULES_TD
#define NM_DIALECT_NM_IR_NMSCHEDULES_TD

include "nm/Dialect/NM/IR/NMAttributes.td"
include "nm/Dialect/NM/IR/NMScheduleInterface.td"
include "mlir/IR/EnumAttr.td"

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

/// Sizes in elements, as in `[64, 128, 32]`; may be left out.
def NM_Sizes : OptionalArrayRefParameter<"int64_t"> {
  let parser = "parseSizes($_parser)";
  let printer = "printSizes($_printer, $_self)";
}

/// A number that may be left out.
def NM_Count : OptionalParameter<"std::optional<int64_t>"> {
  let parser = "parseCount($_parser)";
  let printer = "$_printer << *$_self";
}

/// `true` or `false`, or neither where it is left out.
def NM_Choice : OptionalParameter<"std::optional<bool>"> {
  let parser = "parseChoice($_parser)";
  let printer = "$_printer << *$_self";
}

/// A case of an enum, which may be left out.
class NM_Case<string enum>
    : OptionalParameter<"std::optional<::mlir::nm::" # enum # ">"> {
  let parser = "parseCase<::mlir::nm::" # enum # ">($_parser, symbolize"
               # enum # ", symbolize" # enum # ", stringify" # enum # ")";
  let printer = "$_printer << stringify" # enum # "(*$_self)";
}

def NM_TileOrder : I32EnumAttr<"TileOrder", "the order of A's tile", [
    I32EnumAttrCase<"KMajor", 0, "k_major">,
    I32EnumAttrCase<"Interleaved", 1, "interleaved">,
    I32EnumAttrCase<"RowMajor", 2, "row_major">]> {
  let cppNamespace = "::mlir::nm";
  let genSpecializedAttr = 0;
}

def NM_OptionalPacking : OptionalParameter<"::mlir::nm::PackingAttr">;

class NM_ScheduleAttr<string name, string strategy>
    : NM_Attr<name # "Schedule", strategy, [NM_ScheduleAttrInterface]> {
  let assemblyFormat = "(`<` struct(params)^ `>`)?";
  let genVerifyDecl = 1;
  code ofAll = "::llvm::StringRef getStrategyName() const { return \""
               # strategy # "\"; }" # [{
    ::mlir::DictionaryAttr getParameters() const;
  }];
  let extraClassDefinition = [{
    ::mlir::DictionaryAttr $cppClass::getParameters() const {
      ParameterList list(getContext());
  }] # !interleave(!foreach(i, !range(!size(parameters)),
           "list.add(\"" # !getdagname(parameters, i) # "\", getImpl()->"
                         # !getdagname(parameters, i) # ");"), "\n") # [{
      return list.take();
    }
  }];
}

//===----------------------------------------------------------------------===//
// Strategies
//===----------------------------------------------------------------------===//

def NM_LoopsScheduleAttr : NM_Attr<"LoopsSchedule", "loops",
                                   [NM_ScheduleAttrInterface]> {
  let summary = "the reference: one loop for each dimension";
  let description = [{
    It makes every product, on a CPU and on a GPU, where a thread makes one
    element of C, and none fast.

    ```mlir
    #nm.loops
    ```
  }];
  let extraClassDeclaration = [{
    ::llvm::StringRef getStrategyName() const { return "loops"; }
    bool isForCPU() const { return true; }
  }];
}

def NM_VectorScheduleAttr : NM_ScheduleAttr<"Vector", "vector"> {
  let summary = "vectors of a CPU";
  let description = [{
    `block` is the tile [m, n, k] that one task makes, and `thread` the tile
    [m, n] that is summed in registers; vectors run along its longer side.
    `packing` is the packed form that the weights take. What is left out, the
    cost model chooses.

    Constraints:
    * (C1) `block` has three sizes or none, each 1 to 2^40; `thread` two or
      none, each 1 to 1024.
    * (C2) `packing` has no `col_info`.

    ```mlir
    #nm.vector<block = [64, 512, 128], thread = [64, 6],
               packing = <panel = 16, index_bits = 8>>
    ```
  }];
  let parameters = (ins NM_Sizes:$block, NM_Sizes:$thread,
                        NM_OptionalPacking:$packing);
  let extraClassDeclaration = ofAll # [{
    bool isForCPU() const { return true; }
    BlockTiling getTiling() const;
    PackedFormAttrInterface getPackedForm(const ::nm::Pattern &pattern) const;
    bool canRead(const ::nm::Pattern &pattern, PackedFormAttrInterface packedForm) const;
  }];
}

def NM_AmxScheduleAttr : NM_ScheduleAttr<"Amx", "amx"> {
  let summary = "the tile unit of a CPU, AMX";
  let description = [{
    Products of bf16 with sums of f32 by `tdpbf16ps` (Intel 64 and IA-32 SDM,
    "Intel AMX Instruction Set Reference"). Weights are packed as tiles of 16
    columns and 32 kept rows. Where all weights are kept, the product is dense.
    Where units choose rows of A, the kept ones are copied side by side for the
    columns that share them, and what is multiplied is dense again (exact
    gather).

    `block` is the tile [m, n, k] that one task makes; A is laid out for k of its
    rows at a time, and sums of as many are added to those before. `packing` is
    the packed form that the weights take. What is left out, the cost model
    chooses; of an op's own schedule m is 256 and k 512.

    AMX takes subnormal numbers of bf16 for zero, and makes none.

    Constraints:
    * (C1) `block` has three sizes or none, each 1 to 2^40.
    * (C2) `packing` has panels of a multiple of 16 columns, chunks of 32 rows
      and one column, index_bits = 8, and no `col_info`.
    * (C3) on an op, `packing` is given, and the pattern keeps all weights or has
      units of a multiple of its panel's columns. Units of an odd height have at
      most 256 kept rows in two windows.

    ```mlir
    #nm.amx<block = [256, 2048, 512],
            packing = <panel = 32, index_bits = 8, chunk_rows = 32,
                       index_rows = 32>>
    ```
  }];
  let parameters = (ins NM_Sizes:$block, NM_OptionalPacking:$packing);
  let extraClassDeclaration = ofAll # [{
    bool isForCPU() const { return true; }
    BlockTiling getTiling() const;
    PackedFormAttrInterface getPackedForm(const ::nm::Pattern &pattern) const;
    ::llvm::LogicalResult verifyPattern(
        ::llvm::function_ref<::mlir::InFlightDiagnostic()> emitError,
        const ::nm::Pattern &pattern) const;
  }];
}

def NM_SimtScheduleAttr : NM_ScheduleAttr<"Simt", "simt"> {
  let summary = "tiles in shared memory, multiplied on a GPU's CUDA cores";
  let description = [{
    `block` is the tile [m, n, k] that one thread block makes, `warp` the tile
    [m, n] of a warp, and `thread` that of a thread, which it sums in
    registers. `stages` is the number of buffers that copies to shared memory
    take turns in, and `split_k` the number of parts that k is cut into.
    `cluster_k` of those are summed by the blocks of one thread block cluster
    over distributed shared memory (CUDA programming guide, 5.2.1 and 5.2.9;
    compute capability 9.0). `slice_k` groups of a block's warps take the same
    tile of C and turns along k, and their sums are combined inside the tile, in
    the order of the groups; the others are combined by `nm.combine`.

    Blocks of neighbouring numbers run at a time, and share what the
    second-level cache holds. `group_m` tiles along m are numbered together: all
    their tiles along n, of each n those of the group first, and then the next
    group's. Of 3 x 2 tiles, blocks 0 to 5 are (0, 0), (0, 1), (1, 0), (1, 1),
    (2, 0), (2, 1) in groups of one, and (0, 0), (1, 0), (0, 1), (1, 1), (2, 0),
    (2, 1) in groups of two.

    The tile of A is copied to shared memory in the way `copy_a`: `direct`, as
    it is; or transposed, through registers by `elements` or by 4 x 4 `squares`,
    or by matrix loads (`matrices`) from a staging buffer, which asynchronous
    copies fill. There it lies in the order `layout_a`: `k_major`, rows of m;
    `interleaved`, such rows in groups of 32, each fourth one beside the other,
    so that squares are stored without bank conflicts; or `row_major`, rows of
    k, which lanes of a warp that have units of their own read by 16 bytes.

    With `prefetch = true`, indices that all of a warp's columns share are
    loaded from where they are to registers, a tile ahead, rather than copied to
    shared memory as the values. With `defer = true`, the last products of a
    tile are made with the next tile, when loads of its first operands have yet
    to arrive.

    With `totals = true`, long sums keep their precision: a thread adds at most
    96 kept rows, a chain, in its registers, and then the chains' sums to totals
    in shared memory, which take 4 · m · n · slice_k bytes beside the stages. It
    is printed where it is true, which the cost model makes it for more than
    24 576 kept rows, as far as there is memory.

    `packing` is the packed form that the weights take. With `pack = true` a
    block stages only the rows of A that its columns use, which
    `nm-pack-weights` lists for it: the packed form gets `col_info`, the columns
    of a block tile.

    What is left out of a schedule that an option gives, the cost model chooses.
    What an op's own leaves out is one, false or none, `split_k` what
    `cluster_k` is, `layout_a` is `k_major`, and `copy_a` is `direct` for a
    k-major A or a row-major tile of it, else `elements`.
    nm-stage-shared-memory refuses what does not fit the operands.

    Constraints:
    * (C1) `block` has three sizes or none, each 1 to 2^40; `warp` and `thread`
      two or none, each 1 to 1024.
    * (C2) 1 ≤ stages, split_k, group_m ≤ 65536, and 1 ≤ slice_k ≤ 32.
    * (C3) 1 ≤ cluster_k ≤ 8 divides split_k.
    * (C4) `packing` has no `col_info` of its own, and `copy_a` is neither
      `bulk` nor `tensor`. On an op, `pack = true` comes with a `block` and a
      `packing`, and `#nm.packing` (C4) holds for what it makes of that.

    ```mlir
    #nm.simt<block = [128, 128, 128], warp = [64, 32], thread = [8, 8],
             stages = 2, pack = true, packing = <panel = 32, index_bits = 8>>
    ```
  }];
  let parameters = (ins NM_Sizes:$block, NM_Sizes:$warp, NM_Sizes:$thread,
                        NM_Count:$stages, NM_Count:$split_k,
                        NM_Count:$cluster_k, NM_Count:$slice_k,
                        NM_Count:$group_m, NM_Case<"CopyWay">:$copy_a,
                        NM_Case<"TileOrder">:$layout_a, NM_Choice:$prefetch,
                        NM_Choice:$defer, NM_Choice:$pack, NM_Choice:$totals,
                        NM_OptionalPacking:$packing);
  let extraClassDeclaration = ofAll # [{
    bool isForGPU() const { return true; }
    BlockTiling getTiling() const;
    /// The packing of weights of `pattern`, with the lists of rows that `pack`
    /// asks for.
    PackedFormAttrInterface getPackedForm(const ::nm::Pattern &pattern) const;
    /// Panels of whole rows can be read where warps fit them.
    bool canRead(const ::nm::Pattern &pattern, PackedFormAttrInterface packedForm) const;
    ::llvm::LogicalResult verifyPattern(
        ::llvm::function_ref<::mlir::InFlightDiagnostic()> emitError,
        const ::nm::Pattern &pattern) const;

    TileOrder getOrderOfA() const {
      return getLayoutA().value_or(TileOrder::KMajor);
    }
    bool prefetchesIndices() const { return getPrefetch().value_or(false); }
    bool defersProducts() const { return getDefer().value_or(false); }
    bool packsRows() const { return getPack().value_or(false); }
    bool hasTotals() const { return getTotals().value_or(false); }
    ScheduleAttrInterface withoutPack() const;
  }];
}

def NM_GemvScheduleAttr : NM_ScheduleAttr<"Gemv", "gemv"> {
  let summary = "few rows of A, on a GPU";
  let description = [{
    Weights go from global memory to registers, and the rows of A to shared
    memory. `block`, `warp` and `thread` are the tiles of a block, a warp and a
    thread, as in `#nm.simt`. With `stages = 2` the next step's weights are
    loaded before this one's are used. `split_k` is the number of parts that k
    is cut into, `slice_k` the number of warps that take the same tile of C and
    turns along k, whose sums are combined as in `#nm.simt`, and `packing` the
    packed form that the weights take. What is left out is as in `#nm.simt`.

    Constraints: (C1), (C2) as for `#nm.simt`; `packing` has no `col_info`.

    ```mlir
    #nm.gemv<block = [1, 32, 256], warp = [1, 32], thread = [1, 1], stages = 2,
             slice_k = 4, packing = <panel = 32, index_bits = 2, chunk_rows = 4,
                                     index_rows = 8>>
    ```
  }];
  let parameters = (ins NM_Sizes:$block, NM_Sizes:$warp, NM_Sizes:$thread,
                        NM_Count:$stages, NM_Count:$split_k, NM_Count:$slice_k,
                        NM_OptionalPacking:$packing);
  let extraClassDeclaration = ofAll # [{
    bool isForGPU() const { return true; }
    BlockTiling getTiling() const;
    PackedFormAttrInterface getPackedForm(const ::nm::Pattern &pattern) const;
  }];
}

def NM_MmaSyncScheduleAttr : NM_ScheduleAttr<"MmaSync", "mma_sync"> {
  let summary = "the tensor cores of all chips, by mma.sync";
  let description = [{
    Products of f16 and bf16 with sums of f32 by `mma.sync.m16n8k16`, for units
    of a multiple of 8 columns. `block` is the tile [m, n, k] of a block, and
    `warp` that [m, n] of a warp; which of it a lane has follows from the
    instruction. `stages` is the number of buffers that copies to shared memory
    take turns in. `split_k`, `cluster_k` and `slice_k` are as in `#nm.simt`:
    each of the warps that share a tile of C has windows of its own of a tile of
    k, which is rounded up to as many for each. `packing` is the packed form
    that the weights take, with panels of one unit's columns, and `pack` as in
    `#nm.simt`. What is left out is as there, too.

    Constraints: (C1), (C2), (C3) and (C4) as for `#nm.simt`.

    ```mlir
    #nm.mma_sync<block = [128, 256, 64], warp = [128, 32], stages = 4,
                 packing = <panel = 32, index_bits = 8>>
    ```
  }];
  let parameters = (ins NM_Sizes:$block, NM_Sizes:$warp, NM_Count:$stages,
                        NM_Count:$split_k, NM_Count:$cluster_k,
                        NM_Count:$slice_k, NM_Choice:$pack,
                        NM_OptionalPacking:$packing);
  let extraClassDeclaration = ofAll # [{
    bool isForGPU() const { return true; }
    BlockTiling getTiling() const;
    PackedFormAttrInterface getPackedForm(const ::nm::Pattern &pattern) const;
    ::llvm::LogicalResult verifyPattern(
        ::llvm::function_ref<::mlir::InFlightDiagnostic()> emitError,
        const ::nm::Pattern &pattern) const;
    bool packsRows() const { return getPack().value_or(false); }
    ScheduleAttrInterface withoutPack() const;
  }];
}

def NM_MmaSpScheduleAttr : NM_ScheduleAttr<"MmaSp", "mma_sp"> {
  let summary = "weights that tensor cores skip the zeros of, on all chips";
  let description = [{
    Products of f16 and bf16 with sums of f32 by `mma.sp.sync.m16n8k32`, and of
    i8 with sums of i32 and f8E4M3FN and f8E5M2 with sums of f32 by `m16n8k64`,
    which skip two of each four weights (PTX ISA, "Matrix multiply-accumulate
    operation using mma.sp instruction"), for patterns that keep at most two of
    each aligned four rows; `#nm.sparse_operand`, which packs the weights, says
    which. 8-bit floats take a chip of sm_89 or later. Their sums, which the
    tensor cores cut off, are those of one instruction, and are added to others
    of f32. Where the pattern keeps fewer, a zero in place of one that is pruned
    meets an activation, so that an infinite or NaN one makes NaN of it.

    `block` is the tile [m, n, k] that one thread block makes, and `warp` the
    tile [m, n] of a warp; which of it a lane has follows from the instruction.
    `stages` is the number of buffers that copies to shared memory take turns
    in. `split_k`, `cluster_k` and `slice_k` are as in `#nm.simt`: each of the
    warps that share a tile of C has steps of 64 rows of its own of a tile of k,
    which is rounded up to as many for each. What is left out, the cost model
    chooses.

    `bits` is that of the `quantization` of the product, if it has one: weights
    stay so many bits in memory, and are converted in registers.

    Constraints:
    * (C1) `block` has three sizes or none, each 1 to 2^40, and k is a multiple
      of 64. `warp` has two or none, which divide the block's: m a multiple of
      8, n of 16.
    * (C2) 1 ≤ stages, split_k ≤ 65536, and 1 ≤ slice_k ≤ 32.
    * (C3) 1 ≤ cluster_k ≤ 8 divides split_k.
    * (C4) `bits` is 4 or 8, or left out.

    ```mlir
    #nm.mma_sp<block = [128, 128, 64], warp = [64, 64], stages = 4>
    #nm.mma_sp<block = [8, 32, 512], warp = [8, 32], slice_k = 8, bits = 4>
    #nm.mma_sp<block = [8, 32, 512], warp = [8, 32], stages = 5, slice_k = 8>
    ```
  }];
  let parameters = (ins NM_Sizes:$block, NM_Sizes:$warp, NM_Count:$stages,
                        NM_Count:$split_k, NM_Count:$cluster_k,
                        NM_Count:$slice_k, NM_Count:$bits);
  let extraClassDeclaration = ofAll # [{
    bool isForGPU() const { return true; }
    BlockTiling getTiling() const;
    PackedFormAttrInterface getPackedForm(const ::nm::Pattern &pattern) const;
  }];
}

def NM_WgmmaScheduleAttr : NM_ScheduleAttr<"Wgmma", "wgmma"> {
  let summary = "exact gather: kept rows of A on a GPU's tensor cores";
  let description = [{
    A block copies just the rows of a k-major A that its columns keep, which
    makes the rest a dense product, C^T = B^T·A: the weights, contiguous along
    n, are wgmma's first operand of 64 rows, and the rows of A, contiguous along
    m, its second (PTX ISA, "Asynchronous Warpgroup Level Matrix
    Multiply-Accumulate"; sm_90a).

    `block` is the tile [m, n, k] that one thread block makes, and `warpgroup`
    the tile [m, n] of four warps, whose sums are in registers. All columns of a
    block share their units: n is the panel of `packing`, and no more than a
    unit's columns. `stages` is the number of buffers that copies take turns in;
    the product of a tile reads its own while the next one starts. `split_k` and
    `group_m` are as in `#nm.simt`; parts of k are of whole tiles. What is left
    out, the cost model chooses.

    With `producers`, so many warps of their own copy, and the warpgroups
    multiply; the roles meet at barriers in shared memory (`nm.warps`). The rows
    of A are copied by `cp.async`, the weights by one bulk copy a tile, for which
    the packed form has them in tiles. With `blocks`, there are at most so many
    blocks, which take turns at the tiles of C, and the next tile is copied
    while the last one is stored.

    A product of f32 is one of bf16 terms, which `packing` says the number of:
    with three, six products of terms make up for one of f32, and with two,
    three. Tensor cores cut off what sums of theirs have no bits for, so that
    they make only the sums of a tile, which the CUDA cores add up. A kernel
    before makes the terms of A, of whatever layout (`nm.split_terms`). A sum of
    more than 24 576 kept rows keeps its precision in parts of k of at most 8192
    each, as the cost model has them.

    Operands of 8 bits, i8 with sums of i32 and f8E4M3FN or f8E5M2 with sums of
    f32, are contiguous along k, for the instructions transpose none: of a row-major A,
    each block copies the units of each row that its columns keep, which are
    multiples of 16 rows of k, and weights stand in tiles of columns. They come
    with producers. `copy_a` is how these copy A: `direct`, by `cp.async`, or
    `tensor`, by one tensor copy for each unit, which one thread starts and rows
    at multiples of 16 bytes allow. With `totals = true` the tensor cores make
    the sums of a tile, which the CUDA cores add to totals of f32: those of f8
    are else cut off after 13 bits of mantissa or so.

    Constraints:
    * (C1) `block` has three sizes or none, each 1 to 2^40; `warpgroup` two or
      none, multiples of 64, with m at most 256.
    * (C2) 3 ≤ stages ≤ 65536, 1 ≤ split_k ≤ 65536.
    * (C3) `packing` has no `col_info`, no chunks, and index_bits = 8.
    * (C4) on an op, `block`, `warpgroup` and `packing` are given. The block's n
      is the panel, which is no more than bn; the warpgroup's tile divides the
      block's. With producers, `packing` has a tile of k as `tile_rows`, and
      none without them.
    * (C5) `producers` is 0 or a multiple of 4, at most 16; `blocks` and
      `group_m` are 1 to 65536. `blocks` comes with producers, and on an op so
      does `group_m` > 1.
    * (C6) `copy_a` is `direct` or `tensor`. On an op, `tensor`, `totals = true`
      and operands of 8 bits come with producers, and without terms.

    ```mlir
    #nm.wgmma<block = [256, 128, 256], warpgroup = [256, 64], stages = 4,
              producers = 4, blocks = 132, group_m = 4,
              packing = <panel = 128, index_bits = 8, tile_rows = 64>>
    #nm.wgmma<block = [512, 64, 128], warpgroup = [256, 64], stages = 3,
              producers = 4, blocks = 132, copy_a = tensor, totals = true,
              packing = <panel = 64, index_bits = 8, tile_rows = 128>>
    #nm.wgmma<block = [256, 128, 256], warpgroup = [256, 64], stages = 4,
              packing = <panel = 128, index_bits = 8>>
    ```
  }];
  let parameters = (ins NM_Sizes:$block, NM_Sizes:$warpgroup, NM_Count:$stages,
                        NM_Count:$split_k, NM_Count:$producers, NM_Count:$blocks,
                        NM_Count:$group_m, NM_Case<"CopyWay">:$copy_a,
                        NM_Choice:$totals, NM_OptionalPacking:$packing);
  let extraClassDeclaration = ofAll # [{
    bool isForGPU() const { return true; }
    BlockTiling getTiling() const;
    PackedFormAttrInterface getPackedForm(const ::nm::Pattern &pattern) const;
    ::llvm::LogicalResult verifyPattern(
        ::llvm::function_ref<::mlir::InFlightDiagnostic()> emitError,
        const ::nm::Pattern &pattern) const;
    int64_t countProducers() const { return getProducers().value_or(0); }
    bool hasTotals() const { return getTotals().value_or(false); }
    bool hasTensorCopies() const {
      return getCopyA().value_or(CopyWay::Direct) == CopyWay::Tensor;
    }
  }];
}

def NM_WgmmaSpScheduleAttr : NM_ScheduleAttr<"WgmmaSp", "wgmma_sp"> {
  let summary = "weights that a Hopper's tensor cores skip the zeros of";
  let description = [{
    Products of f16, bf16, f8E4M3FN and f8E5M2 with sums of f32, and of i8 with
    sums of i32, by `wgmma.mma_async.sp` (PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Operation using
    wgmma.mma_async.sp instruction"; sm_90a), for the patterns of `#nm.mma_sp`,
    with the same meaning of zeros that fill up. The weights of 64
    columns are the sparse operand, and rows of A, contiguous along k or along
    m, the other, so that sums are of C^T. Both are read from shared memory,
    where metadata is, too, of which each thread loads a word for 64 rows of
    k. Operands of 8 bits are contiguous along k. Sums of 8-bit floats, which
    the tensor cores cut off, are those of one tile, and are added to totals of f32.

    `block` is the tile [m, n, k] that one thread block makes, and `warpgroup`
    the tile [m, n] of four warps, whose sums are in registers. `stages` is the
    number of buffers that copies take turns in; the product of a tile reads its
    own while the next one starts. `split_k` and `cluster_k` are as in
    `#nm.simt`. What is left out, the cost model chooses.

    With `producers`, so many warps of their own copy, and the warpgroups
    multiply; the roles meet at barriers in shared memory (`nm.warps`). Tiles of
    A go by tensor copies, for which the host makes a map of A at each launch,
    weights and metadata by bulk copies: a thread starts each. Sums leave from
    registers, so that weights are packed as `#nm.sparse_operand<wgmma_pairs>`.
    `blocks` and `group_m` are as in `#nm.wgmma`.

    A product of f32 is one of so many bf16 `terms`, as in `#nm.wgmma`: of a
    tile the tensor cores make six products of terms, or three, and their sums
    are added to totals of f32. A step of metadata serves all of them. A kernel
    before makes the terms of A (`nm.split_terms`). Zeros that fill groups up
    are no weights: sums that are not finite are made again without them.

    Constraints:
    * (C1) `block` has three sizes or none, each 1 to 2^40, and k is a multiple
      of 64. `warpgroup` has two or none, multiples of 64 that divide the
      block's, with m at most 256.
    * (C2) 3 ≤ stages ≤ 65536, 1 ≤ split_k ≤ 65536.
    * (C3) 1 ≤ cluster_k ≤ 8 divides split_k.
    * (C4) `producers` is 0 or a multiple of 4, at most 16; `blocks` and
      `group_m` are 1 to 65536. `blocks` and `group_m` > 1 come with producers;
      with these, cluster_k is 1. On an op, rows of A then start at multiples of
      16 bytes, and where k of `block` is not 64, it divides the product's k.
    * (C5) `terms` is 2 or 3, or left out. On an op, it comes with producers, for
      operands of f32; stages may then be 2, and k of `block` is 64.

    ```mlir
    #nm.wgmma_sp<block = [256, 128, 64], warpgroup = [256, 64], stages = 5>
    #nm.wgmma_sp<block = [256, 128, 64], warpgroup = [256, 64], stages = 5,
                 producers = 4, blocks = 132>
    #nm.wgmma_sp<block = [128, 128, 64], warpgroup = [128, 64], stages = 3,
                 producers = 4, blocks = 132, terms = 3>
    ```
  }];
  let parameters = (ins NM_Sizes:$block, NM_Sizes:$warpgroup, NM_Count:$stages,
                        NM_Count:$split_k, NM_Count:$cluster_k,
                        NM_Count:$producers, NM_Count:$blocks,
                        NM_Count:$group_m, NM_Count:$terms);
  let extraClassDeclaration = ofAll # [{
    bool isForGPU() const { return true; }
    BlockTiling getTiling() const;
    PackedFormAttrInterface getPackedForm(const ::nm::Pattern &pattern) const;
    ::llvm::LogicalResult verifyPattern(
        ::llvm::function_ref<::mlir::InFlightDiagnostic()> emitError,
        const ::nm::Pattern &pattern) const;
    int64_t countProducers() const { return getProducers().value_or(0); }
    int64_t countTerms() const { return getTerms().value_or(1); }
  }];
}

def NM_CublasScheduleAttr : NM_ScheduleAttr<"Cublas", "cublas"> {
  let summary = "a call of cuBLAS with dense weights";
  let description = [{
    `own` is the schedule of our own product, for machines where the library
    cannot be loaded and for products that it refuses; `#nm.loops` where it is
    left out. Weights are row-major, or, with `packing`, the k of each column
    stand side by side, as cuBLAS wants i8: chunks of k rows and one column.

    Constraints:
    * (C1) `own` is a schedule for a GPU other than `#nm.cublas`, or
      `#nm.loops`.
    * (C2) `packing` has chunks of one column, as high as an index row, and no
      `col_info`; `own` is then `#nm.loops`.

    ```mlir
    #nm.cublas<own = #nm.simt<block = [64, 128, 32], warp = [32, 64],
                              thread = [8, 8], stages = 2>>
    #nm.cublas<own = #nm.loops, packing = <panel = 32, index_bits = 1,
                                           chunk_rows = 4096, index_rows = 4096>>
    ```
  }];
  let parameters = (ins
      OptionalParameter<"::mlir::nm::ScheduleAttrInterface">:$own,
      NM_OptionalPacking:$packing);
  let extraClassDeclaration = ofAll # [{
    bool isForGPU() const { return true; }
    PackedFormAttrInterface getPackedForm(const ::nm::Pattern &pattern) const;
  }];
}

#endif // NM_DIALECT_NM_IR_NMSCHEDULES_TD
