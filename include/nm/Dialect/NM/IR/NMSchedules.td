//===- NMSchedules.td - A schedule for each strategy -------*- tablegen -*-===//

#ifndef NM_DIALECT_NM_IR_NMSCHEDULES_TD
#define NM_DIALECT_NM_IR_NMSCHEDULES_TD

include "nm/Dialect/NM/IR/NMScheduleInterface.td"
include "nm/Dialect/NM/IR/NMScheduleParameters.td"

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

/// What schedules of kernels have, and those that do not take all patterns.
defvar nmOfKernels = [{
    bool isForGPU() const { return true; }
    BlockTiling getTiling() const;
    PackedFormAttrInterface getPackedForm(const ::nm::Pattern &pattern) const;
}];
defvar nmOfSomePatterns = !strconcat(nmOfKernels, [{
    ::llvm::LogicalResult verifyPattern(
        ::llvm::function_ref<::mlir::InFlightDiagnostic()> emitError,
        const ::nm::Pattern &pattern) const;
}]);

class NM_ScheduleAttr<string name, string strategy>
    : NM_Attr<name # "Schedule", strategy, [NM_ScheduleAttrInterface]> {
  let assemblyFormat = "(`<` struct(params)^ `>`)?";
  let genVerifyDecl = 1;
  /// The checks of several fields together, which the verifier makes after those
  /// of single fields: `Cluster` names verifyCluster of ScheduleChecks.h. nm-tblgen
  /// generates the verifier.
  list<string> checks = [];
  code ofAll = "::llvm::StringRef getStrategyName() const { return \""
               # strategy # "\"; }" # [{
    ::mlir::DictionaryAttr getParameters() const;
  }];
  let extraClassDefinition = [{
    ::mlir::DictionaryAttr $cppClass::getParameters() const {
      ParameterList list(getContext());
  }] # !interleave(!foreach(i, !range(!size(parameters)),
           !if(!eq(!getdagname(parameters, i), "source"), "",
             "list.add(\"" # !getdagname(parameters, i) # "\", getImpl()->"
                           # !getdagname(parameters, i) # ");")), "\n") # [{
      return list.take();
    }
  }];
}

/// Names are mnemonics: of schedules of warpgroups, and of warps.
def NM_SourceKind : I32EnumAttr<"SourceKind",
    "where an operand of tensor cores comes from", [
    I32EnumAttrCase<"Gathered", 0, "wgmma">,
    I32EnumAttrCase<"Selected", 1, "wgmma_select">,
    I32EnumAttrCase<"Sparse", 2, "wgmma_sp">,
    I32EnumAttrCase<"MmaGathered", 3, "mma_sync">,
    I32EnumAttrCase<"MmaSparse", 4, "mma_sp">,
    I32EnumAttrCase<"MmaBitmap", 5, "mma_bitmap">,
    I32EnumAttrCase<"MmaImage", 6, "mma_image">]> {
  let cppNamespace = "::mlir::nm";
  let genSpecializedAttr = 0;
}
/// The mnemonic.
def NM_Source : NM_Case<"SourceKind", "Gathered">;

/// A case of the parameter `source`, with the parameters that schedules lack then.
class NM_SourceOf<string name, list<string> names> {
  string symbol = name;
  list<string> lacks = names;
}

/// A schedule that has a mnemonic for each of its cases of its first parameter,
/// `source`, in place of the parameter's name and value. `strategy` is what these
/// mnemonics start with. The dialect's parser adds the source.
class NM_SourcedScheduleAttr<string name, string strategy>
    : NM_ScheduleAttr<name, strategy> {
  let assemblyFormat = "`` custom<Source>($source) (`<` struct("
      # !interleave(!foreach(i, !range(1, !size(parameters)),
                             "$" # !getdagname(parameters, i)), ", ")
      # ")^ `>`)?";
  list<NM_SourceOf> sources;
  let ofAll = [{
    ::llvm::StringRef getStrategyName() const {
      return getSource() ? stringifySourceKind(*getSource()) : getMnemonic();
    }
    ::mlir::DictionaryAttr getParameters() const;
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
    bool isReference() const { return true; }
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
    * (C3) with `kept`, `tile_rows` or `word_rows` is given, too, and no
      `packing`; they are as in `#nm.columns` or `#nm.bitmap_panels`.

    With `kept` and `tile_rows`, weights of which so many are not zero are packed
    as `#nm.columns`, and zeros are skipped. Vectors run along m, for `thread`
    rows at a time, or, where that has one row, along the weights of a column.

    With `kept` and `word_rows` they are packed as `#nm.bitmap_panels`. Vectors
    run along n: they are expanded once for `thread` rows of m, at most 10,
    whose sums are in registers. Lanes without a weight take no part in a product.

    ```mlir
    #nm.vector<block = [256, 512, 4096], thread = [64, 1], kept = 1677721,
               tile_rows = 256>
    #nm.vector<block = [1, 512, 4096], thread = [1, 64], kept = 1677721,
               word_rows = 2>
    #nm.vector<block = [64, 512, 128], thread = [64, 6],
               packing = <panel = 16, index_bits = 8>>
    ```
  }];
  let parameters = (ins NM_BlockSizes:$block, NM_Sizes:$thread,
                        NM_UnlistedPacking:$packing,
                        NM_OfColumns:$kept, NM_OfColumns:$tile_rows,
                        NM_OfColumns:$word_rows);
  let checks = ["Columns", "ColumnsOrPanels"];
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
    "Intel AMX Instruction Set Reference"), and of i8 with sums of i32, modulo
    2^32, by `tdpbssd`. Weights are packed as tiles of 16 columns and 32 kept
    rows, of i8 64. In chunks of 32 rows, i8 is multiplied by `vpdpbusd` of
    AVX512_VNNI. Where all weights are kept, the product is dense.
    Where units choose rows of A, the kept ones are copied side by side for the
    columns that share them, and what is multiplied is dense again (exact
    gather). Weights of bf16 with bitmaps (index_bits = 0) are packed without
    their zeros, which `vpexpandw` of AVX512_VBMI2 puts between them in a scratch
    tile: the product is dense. In chunks of two rows of bf16, or four of i8,
    weights are words of 32 bits, one a lane, of units of one weight: `vpermb` of
    AVX512_VBMI takes the values of A that each lane's word meets, which
    `vdpbf16ps` or `vpdpbusd` multiplies.

    `block` is the tile [m, n, k] that one task makes; A is laid out for k of its
    rows at a time, and sums of as many are added to those before. `packing` is
    the packed form that the weights take. What is left out, the cost model
    chooses; of an op's own schedule m is 256 and k 512.

    AMX takes subnormal numbers of bf16 for zero, and makes none.

    Constraints:
    * (C1) `block` has three sizes or none, each 1 to 2^40.
    * (C2) `packing` has panels of a multiple of 16 columns, chunks of 32 or 64
      rows and one column, index_bits = 8, and no `col_info`; or index_bits = 0
      and chunks of index_rows rows, fewer than 32; or chunks of 2 or 4 rows, and
      index rows of 32 bits.
    * (C3) on an op, `packing` is given, and the pattern keeps all weights or has
      units of a multiple of its panel's columns. Units of an odd height have at
      most 256 kept rows in two windows. With index_bits = 0, units have one row,
      and index_rows are the kept rows of an even number of rows of k, 18 to 32.
      With chunks of 2 or 4 rows, units have one row and one column, and windows
      that have whole chunks are at most 64 bytes of A, and in whole index rows.

    ```mlir
    #nm.amx<block = [256, 2048, 512],
            packing = <panel = 32, index_bits = 8, chunk_rows = 32,
                       index_rows = 32>>
    ```
  }];
  let parameters = (ins NM_BlockSizes:$block,
                        NM_PackingOf<"Amx">:$packing);
  let extraClassDeclaration = ofAll # [{
    bool isForCPU() const { return true; }
    bool isForTileUnit() const { return true; }
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

    The tile of A is copied to shared memory in the kind `copy_a`: `direct`, as
    it is; or transposed, through registers by `elements` or by 4 x 4 `squares`,
    or by matrix loads (`matrices`) from a staging buffer, which asynchronous
    copies fill. There it lies in the order `layout_a`: `m_major`, rows of m;
    `interleaved`, such rows in groups of 32, each fourth one beside the other,
    so that squares are stored without bank conflicts; or `row_major`, rows of
    k, which lanes of a warp that have units of their own read by 16 bytes.

    With `prefetch = true`, indices that all of a warp's columns share are
    loaded from where they are to registers, a tile ahead, rather than copied to
    shared memory as the values. With `defer = true`, the last products of a
    tile are made with the next tile, when loads of its first operands have yet
    to arrive.

    With `promote = true`, long sums keep their precision: a thread adds at most
    96 kept rows, a chain, in its registers, and then the chains' sums to promoted sums
    in shared memory, which take 4 · m · n · slice_k bytes beside the stages. It
    is printed where it is true, which the cost model makes it for more than
    24 576 kept rows, as far as there is memory.

    Tiles that go through registers are loaded while the tile before is
    multiplied. With `late_loads = true` they are asked for behind the barrier of
    that tile, where ptxas puts them off to save registers, and not before it.

    With `pad_a`, rows of an A of 16-bit elements that is made in memory of its
    own, before the product, start at multiples of so many elements there, at
    which accesses are fast: selection asks for 64 of an m-major A, else for 8.
    Left out, they start at multiples of 8, as those of each temporary of 16 bits.

    `packing` is the packed form that the weights take. With `pack = true` a
    block stages only the rows of A that its columns use, which
    `nm-pack-weights` lists for it: the packed form gets `col_info`, the columns
    of a block tile.

    What is left out of a schedule that an option gives, the cost model chooses.
    What an op's own leaves out is one, false or none, `split_k` what
    `cluster_k` is, `layout_a` is `m_major`, and `copy_a` is `direct` for a
    m-major A or a row-major tile of it, else `elements`.
    nm-stage-shared-memory refuses what does not fit the operands.

    Constraints:
    * (C1) `block` has three sizes or none, each 1 to 2^40; `warp` and `thread`
      two or none, each 1 to 1024.
    * (C2) 1 ≤ stages, split_k, group_m ≤ 65536, and 1 ≤ slice_k ≤ 32.
    * (C3) 1 ≤ cluster_k ≤ 8 divides split_k.
    * (C4) `packing` has no `col_info` of its own, and `copy_a` is neither
      `bulk` nor `tensor`. On an op, `pack = true` comes with a `block` and a
      `packing`, and `#nm.packing` (C4) holds for what it makes of that.
    * (C5) `pad_a` is a multiple of 8, at most 64.

    ```mlir
    #nm.simt<block = [128, 128, 128], warp = [64, 32], thread = [8, 8],
             stages = 2, pack = true, packing = <panel = 32, index_bits = 8>>
    ```
  }];
  let parameters = (ins NM_BlockSizes:$block, NM_Sizes:$warp, NM_Sizes:$thread,
                        NM_Count:$stages, NM_Count:$split_k,
                        NM_ClusterK:$cluster_k, NM_SliceK:$slice_k,
                        NM_Count:$group_m, NM_ThreadCopy:$copy_a,
                        NM_Case<"TileOrder", "MMajor">:$layout_a,
                        NM_Choice:$prefetch, NM_Choice:$defer, NM_Choice:$pack,
                        NM_Flag:$promote, NM_Flag:$late_loads,
                        NM_Padding:$pad_a, NM_UnlistedPacking:$packing);
  let checks = ["Cluster"];
  let extraClassDeclaration = !strconcat(ofAll, nmOfSomePatterns, [{
    /// Panels of whole rows can be read where warps fit them.
    bool canRead(const ::nm::Pattern &pattern, PackedFormAttrInterface packedForm) const;
    TileOrder getOrderOfA() const {
      return getLayoutA().value_or(TileOrder::MMajor);
    }
    bool packsRows() const { return getPack().value_or(false); }
    bool isPromoted() const { return getPromote().value_or(false); }
    ScheduleAttrInterface withoutPack() const;
  }]);
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

    With `early_bytes`, each warp asks the second-level cache for that many bytes
    of its block's weights, and of their indices, before the kernel waits for the
    one before it. Left out, it asks for none. The cost model has them for one
    row of A and blocks that find room beside the kernel before. `pad_a` is as in
    `#nm.simt`.

    Constraints: (C1), (C2), (C5) as for `#nm.simt`; `packing` has no `col_info`.
    (C3) 0 ≤ early_bytes ≤ 65536, a multiple of 128, a line of the cache; else
    than 0, the m of `block`, where it is given, is 1.

    ```mlir
    #nm.gemv<block = [1, 32, 256], warp = [1, 32], thread = [1, 1], stages = 2,
             slice_k = 4, packing = <panel = 32, index_bits = 2, chunk_rows = 4,
                                     index_rows = 8>>
    ```
  }];
  let parameters = (ins NM_BlockSizes:$block, NM_Sizes:$warp, NM_Sizes:$thread,
                        NM_Count:$stages, NM_Count:$split_k, NM_SliceK:$slice_k,
                        NM_CountUnless<0, "0, 65536, 128">:$early_bytes,
                        NM_Padding:$pad_a, NM_UnlistedPacking:$packing);
  let checks = ["EarlyBytes"];
  let extraClassDeclaration = !strconcat(ofAll, nmOfKernels);
}

def NM_SimtColumnsScheduleAttr
    : NM_ScheduleAttr<"SimtColumns", "simt_columns"> {
  let summary = "weights kept anywhere, on a GPU's CUDA cores";
  let description = [{
    Unstructured weights are packed as `#nm.columns<kept, tile_rows>`, whose one
    tile is all of k. A warp walks along the weights of one column: lanes have
    `thread` rows of A each, read alike which row of A and which weight come
    next, and add up products in registers. `block` and `warp` are the tiles
    [m, n, k] and [m, n] of a block and a warp; a block takes all of k at once.
    `slice_k` warps take equal parts of a column's weights, and their sums are
    combined in the order of the warps. What is left out, the cost model
    chooses.

    Without `kept` and `tile_rows`, weights are constants of pattern 1:1, which
    become code: a warp has several columns, and its code a multiply-add for
    each of their weights that is not zero, and a load for each row of A that
    one of them has a weight in. `slice_k` warps have parts of k then. `pad_a` is
    as in `#nm.simt`.

    Constraints:
    * (C1), (C2), (C5) as for `#nm.simt`.
    * (C3) `kept` and `tile_rows` are given together, as in `#nm.columns`.
    * (C4) `warp` has 32, 64 or 128 rows, 32 times those of `thread`, and as
      many columns: one with `kept`, else at most 64.

    ```mlir
    #nm.simt_columns<block = [128, 8, 512], warp = [128, 1], thread = [4, 1],
                     slice_k = 2, kept = 26214, tile_rows = 512>
    #nm.simt_columns<block = [128, 16, 64], warp = [32, 16], thread = [1, 16],
                     slice_k = 2>
    ```
  }];
  let parameters = (ins NM_BlockSizes:$block, NM_Sizes:$warp, NM_Sizes:$thread,
      NM_SliceK:$slice_k, NM_OfColumns:$kept, NM_OfColumns:$tile_rows,
      NM_Padding:$pad_a);
  let checks = ["Columns", "WarpsOfColumns"];
  let extraClassDeclaration = !strconcat(ofAll, nmOfKernels, [{
    bool skipsZeros() const { return true; }
  }]);
}

def NM_GemvColumnsScheduleAttr
    : NM_ScheduleAttr<"GemvColumns", "gemv_columns"> {
  let summary = "few rows of A and weights kept anywhere, on a GPU";
  let description = [{
    Unstructured weights are packed as `#nm.ell<steps, bits = gap_bits, parts =
    slice_k>`. A lane walks along the weights of one column, and adds up
    products of all rows of A, which are in shared memory. `block`, `warp` and
    `thread` are the tiles of a block, a warp and a thread; a block takes all of
    k at once, a warp 32 columns and a thread one. Weights of `stages` steps are
    on their way at once. `slice_k` warps take parts of a slice's steps, and
    their sums are combined in the order of the warps. `early_bytes` is as in
    `#nm.gemv`. What is left out, the cost model chooses.

    Constraints:
    * (C1), (C2) as for `#nm.simt`; `stages` is at most 4; `early_bytes` as for
      `#nm.gemv`.
    * (C3) `steps` comes with `gap_bits`; both are as in `#nm.ell`.
    * (C4) `warp` has 32 columns and `thread` one, and both the rows of `block`.

    ```mlir
    #nm.gemv_columns<block = [1, 32, 4096], warp = [1, 32], thread = [1, 1],
                     stages = 2, slice_k = 16, steps = 134, gap_bits = 4>
    ```
  }];
  let parameters = (ins NM_BlockSizes:$block, NM_Sizes:$warp, NM_Sizes:$thread,
                        NM_CountIn<"1, 4">:$stages, NM_SliceK:$slice_k,
                        NM_CountUnless<0, "0, 65536, 128">:$early_bytes,
                        NM_CountUnless<0>:$steps, NM_CountUnless<0>:$gap_bits);
  let checks = ["EarlyBytes", "Ell"];
  let extraClassDeclaration = !strconcat(ofAll, nmOfKernels, [{
    bool skipsZeros() const { return true; }
  }]);
}

include "nm/Dialect/NM/IR/NMMmaSchedules.td"
include "nm/Dialect/NM/IR/NMWgmmaSchedules.td"

def NM_CublasScheduleAttr : NM_ScheduleAttr<"Cublas", "cublas"> {
  let summary = "a call of cuBLAS with dense weights";
  let description = [{
    Of a product whose A is `nm.patches`, which stands under `nm.has_cudnn`, it is
    a call of cuDNN for the convolution that the product is.

    `own` is the schedule of our own product, for machines where the library
    cannot be loaded and for products that it refuses; `#nm.loops` where it is
    left out. Weights are row-major, or, with `packing`, the k of each column
    stand side by side, as cuBLAS wants i8: chunks of k rows and one column.
    `pad_a` is as in `#nm.simt`.

    Constraints:
    * (C1) `own` is a schedule for a GPU other than `#nm.cublas`, or
      `#nm.loops`.
    * (C2) `packing` has chunks of one column, as high as an index row, and no
      `col_info`; `own` is then `#nm.loops`.
    * (C3) `pad_a` as for `#nm.simt` (C5).

    ```mlir
    #nm.cublas<own = #nm.simt<block = [64, 128, 32], warp = [32, 64],
                              thread = [8, 8], stages = 2>>
    #nm.cublas<own = #nm.loops, packing = <panel = 32, index_bits = 1,
                                           chunk_rows = 4096, index_rows = 4096>>
    ```
  }];
  let parameters =
      (ins OptionalParameter<"::mlir::nm::ScheduleAttrInterface">:$own,
          NM_OptionalPacking:$packing, NM_Padding:$pad_a);
  let extraClassDeclaration = ofAll#[{
    bool isForGPU() const { return true; }
    bool isLibraryCall() const { return true; }
    BlockTiling getTiling() const;
    PackedFormAttrInterface getPackedForm(const ::nm::Pattern &pattern) const;
  }];
}

#endif // NM_DIALECT_NM_IR_NMSCHEDULES_TD
