//===- NMTiles.td - Tiles on their way through a GPU -------*- tablegen -*-===//
//
// What a thread block does to tiles as a whole: slots of rings of buffers,
// copies to them, and waits for those. convert-nm-to-gpu expands each op into
// what one thread does.
//
//===----------------------------------------------------------------------===//

#ifndef NM_DIALECT_NM_IR_NMTILES_TD
#define NM_DIALECT_NM_IR_NMTILES_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/EnumAttr.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/ViewLikeInterface.td"
include "nm/Dialect/NM/IR/NMAttributes.td"

//===----------------------------------------------------------------------===//
// Attributes and types
//===----------------------------------------------------------------------===//

def NM_TileLayoutAttr
    : NM_Attr<"TileLayout", "tile_layout",
              [DeclareAttrInterfaceMethods<MemRefLayoutAttrInterface,
                 ["isIdentity", "verifyLayout", "getStridesAndOffset"]>]> {
  let summary = "the layout of a buffer whose elements are permuted";
  let description = [{
    Shared memory has 32 banks of 4 bytes (CUDA programming guide, "Shared
    Memory"). Elements that a warp accesses at once are permuted such that they
    lie in different ones. A permutation is linear over the bits of an
    element's indices: each bit of its place is the XOR of some of them.

    The element at indices (i, j, ...) stands at place (i', j', ...), and
    `strides` times that in memory. First `xor` changes the indices:
    `d:b with e:c for n` XORs the n bits of index d from bit b on with as many
    bits of index e, from bit c on. Then `order` moves the bits of each index:
    bit b of the place is the bit that the b-th number of its list names. Bits
    past a list stay.

    With `panels = [P, S]` columns, places along the last dimension, are cut
    into panels of P, S elements apart: column c stands at c / P·S + c mod P. So
    wgmma reads operands that are contiguous along m or n (PTX ISA,
    "Asynchronous Warpgroup Level Matrix Shared Memory Layout").

    As a layout of memrefs it is part of the type of the buffer, so that all
    who use the buffer agree on it.

    Constraints:
    * (C1) each list of `order` names its first bits, each once; there are as
      many lists as dimensions, or none.
    * (C2) a dimension that is XORed into another is not changed itself.
    * (C3) the memref has as many dimensions as there are strides.
    * (C4) the last stride of a layout with panels is 1, 1 <= P <= S, P divides
      the columns, and a panel's rows take at most S elements. Neither `xor` nor
      `order` moves a column to another panel.

    ```mlir
    // Eight times each fourth row of 32: row 5 = 0b00101 stands at 0b01001 = 9.
    #nm.tile_layout<[68, 1], order = [[2, 3, 4, 0, 1], []]>
    // 16-byte words of f32 in rows of 128 bytes, by bits 2 to 4 of the row.
    #nm.tile_layout<[32, 1], offset = ?, xor = [1:2 with 0:2 for 3]>
    // 48 rows of f16 in panels of 128-byte rows, with wgmma's 128-byte swizzle.
    #nm.tile_layout<[64, 1], panels = [64, 3072], xor = [1:3 with 0:0 for 3]>
    ```
  }];
  let parameters = (ins
    ArrayRefParameter<"int64_t">:$strides,
    "bool":$hasDynamicOffset,
    ArrayRefParameter<"::mlir::DenseI64ArrayAttr">:$order,
    // Five numbers each: see nm::BitXor.
    ArrayRefParameter<"int64_t">:$xors,
    // Of their columns and of how far apart they are; 0 for none.
    "int64_t":$panelColumns, "int64_t":$panelStride);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let builders = [
    AttrBuilder<(ins "ArrayRef<int64_t>":$strides, "bool":$hasDynamicOffset,
                     "const ::nm::TileLayout &":$layout)>
  ];
  let extraClassDeclaration = [{
    /// The permutation as the format arithmetic of lib/Format takes it.
    ::nm::TileLayout getLayout() const;
    /// The layout without the permutation.
    StridedLayoutAttr getStridedLayout() const;
    /// The layout of buffers that are `stride` elements apart.
    TileLayoutAttr withLeadingDim(int64_t stride) const;
    /// The places along the last dimension of a buffer of `columns`.
    int64_t countPlaces(int64_t columns) const;
    LogicalResult verifyPanels(
        ArrayRef<int64_t> shape,
        function_ref<InFlightDiagnostic()> emitError) const;
  }];
}

def NM_RowListAttr : NM_Attr<"RowList", "row_list"> {
  let summary = "how a list names the rows of a tile that are copied";
  let description = [{
    Of `windows` windows of weights of `pattern`, in which `packing` has lists
    of the rows that some columns use (`col_info`), a copy takes just the rows
    of A that the lists name, in their order. Without `col_info` the indices of
    a panel are the list: they name the rows that its columns keep. k is
    dimension `dim` of the tile that is copied to: 0 of [k x m], 1 of [m x k].

    Constraints:
    * (C1) windows >= 1, and `dim` is 0 or 1.
    * (C2) `packing` fits `pattern`. It has `col_info`, or bytes for indices,
      one for each unit row of a panel, without chunks.

    ```mlir
    #nm.row_list<pattern = <3:32, block = 1x32>,
                 packing = <panel = 32, index_bits = 8, col_info = 128>,
                 windows = 1>
    ```
  }];
  let parameters = (ins "::mlir::nm::PatternAttr":$pattern,
                        "::mlir::nm::PackingAttr":$packing,
                        "int64_t":$windows,
                        DefaultValuedParameter<"int64_t", "0">:$dim);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The packing with lists: those of one panel where it has none.
    ::nm::PanelPacking getLists() const;
    /// The entries of a window's list, in units of k.
    int64_t getUnitsOfWindow() const;
    /// The rows of all windows.
    int64_t countRows() const;
  }];
}

class NM_Type<string name, string typeMnemonic>
    : TypeDef<NM_Dialect, name, []> {
  let mnemonic = typeMnemonic;
}

def NM_TokenType : NM_Type<"Token", "token"> {
  let summary = "a copy that is in flight";
  let description = [{
    What `nm.copy` and `nm.group` return, and `nm.await` takes. It stands for
    copies of the thread block that have been issued, and may not have arrived.
    That of `nm.wait` stands for a step that is over.
  }];
}

def NM_FragmentType : NM_Type<"Fragment", "fragment"> {
  let summary = "a tile in the registers of a thread block's threads";
  let description = [{
    What `nm.load_tile` has loaded, on its way to a buffer of type
    `destination`.

    ```mlir
    !nm.fragment<memref<32x64xf32, #gpu.address_space<workgroup>>>
    ```
  }];
  let parameters = (ins "::mlir::MemRefType":$destination);
  let assemblyFormat = "`<` $destination `>`";
}

def NM_BarriersType : NM_Type<"Barriers", "barriers"> {
  let summary = "a ring of mbarriers";
  let description = [{
    Barriers in workgroup memory for the warps of a block that have roles of
    their own (PTX ISA, "mbarrier"). Steps, which are numbered from 0, take
    turns in its `stages` barriers. The step of a barrier is over when all that
    `nm.signal` says of it has happened, which `nm.wait` waits for; only then
    may the step `stages` later be signalled.

    Constraints:
    * (C1) stages >= 1.

    ```mlir
    !nm.barriers<4>
    ```
  }];
  let parameters = (ins "int64_t":$stages);
  let assemblyFormat = "`<` $stages `>`";
  let genVerifyDecl = 1;
}

def NM_CopyKind : I32EnumAttr<"CopyKind", "how a tile is copied", [
    I32EnumAttrCase<"Direct", 0, "direct">,
    I32EnumAttrCase<"Matrices", 1, "matrices">,
    I32EnumAttrCase<"Elements", 2, "elements">,
    I32EnumAttrCase<"Squares", 3, "squares">,
    I32EnumAttrCase<"Bulk", 4, "bulk">,
    I32EnumAttrCase<"Tensor", 5, "tensor">]> {
  let cppNamespace = "::mlir::nm";
  let genSpecializedAttr = 0;
}
def NM_CopyKindAttr : EnumAttr<NM_Dialect, NM_CopyKind, "copy_kind"> {
  let assemblyFormat = "`<` $value `>`";
}

def NM_SyncScope : I32EnumAttr<"SyncScope", "the threads that wait together", [
    I32EnumAttrCase<"Block", 0, "block">,
    I32EnumAttrCase<"Warp", 1, "warp">,
    I32EnumAttrCase<"Thread", 2, "thread">,
    I32EnumAttrCase<"Warpgroup", 3, "warpgroup">]> {
  let cppNamespace = "::mlir::nm";
  let genSpecializedAttr = 0;
}
def NM_SyncScopeAttr : EnumAttr<NM_Dialect, NM_SyncScope, "sync_scope"> {
  let assemblyFormat = "`<` $value `>`";
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

class NM_TileOp<string mnemonic, list<Trait> traits = []>
    : Op<NM_Dialect, mnemonic, traits>;

def NM_SlotOp : NM_TileOp<"slot", [
    Pure, DeclareOpInterfaceMethods<ViewLikeOpInterface>]> {
  let summary = "one buffer of a ring";
  let description = [{
    A ring is a memref whose first dimension counts buffers, its slots, which
    tiles take in turns.

    Constraints:
    * (C1) the result has the ring's type without its first dimension, at an
      offset that is not known.

    ```mlir
    %slot = nm.slot %ring[%i]
      : memref<2x32x64xf32, strided<[2176, 68, 1]>, #gpu.address_space<workgroup>>
      to memref<32x64xf32, strided<[68, 1], offset: ?>, #gpu.address_space<workgroup>>
    ```
  }];
  let arguments = (ins AnyMemRef:$ring, Index:$index);
  let results = (outs AnyMemRef:$slot);
  let assemblyFormat = [{
    $ring `[` $index `]` attr-dict `:` type($ring) `to` type($slot)
  }];
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "::mlir::Value":$ring,
                                 "::mlir::Value":$index)>];
  let extraClassDeclaration = [{
    /// The type of a slot of `ring`.
    static ::mlir::MemRefType getSlotType(::mlir::MemRefType ring);
  }];
}

def NM_AliasOp : NM_TileOp<"alias", [
    Pure, DeclareOpInterfaceMethods<ViewLikeOpInterface>]> {
  let summary = "the memory of a buffer as one of another type";
  let description = [{
    For a buffer that is needed while another is not.

    Constraints:
    * (C1) both are of static shape in workgroup memory, and the result takes no
      more bytes, and starts at no larger multiples of them.

    ```mlir
    %staging = nm.alias %slot
      : memref<32x64xf32, strided<[68, 1], offset: ?>, #gpu.address_space<workgroup>>
      to memref<1x4x16x32xf32, #gpu.address_space<workgroup>>
    ```
  }];
  let arguments = (ins AnyMemRef:$source);
  let results = (outs AnyMemRef:$view);
  let assemblyFormat = "$source attr-dict `:` type($source) `to` type($view)";
  let hasVerifier = 1;
}

def NM_CopyOp : NM_TileOp<"copy", [AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "copies a tile to workgroup memory";
  let description = [{
    All threads of the block copy a part of `source` each. `destination` is
    whole: where the source is smaller, the rest is filled with zeros, and
    where `condition` is given and false, all of it is.

    The kind is one of
    * `direct`: asynchronous copies of 4 to 16 bytes that go through no
      registers (PTX ISA, `cp.async`). The result is a token.
    * `matrices`: from workgroup memory, transposed on the way by `ldmatrix`
      (PTX ISA, "Warp-level matrix load instruction"). The source is a staging
      buffer of fragments of 16 x 32 elements of a tile [m x k],
      `[k/32 x m/16 x 16 x 32]`. A warp takes the fragments that it has copied
      there itself. Complete when the op is.
    * `bulk`: copies of bytes that follow one another on either side (PTX ISA,
      `cp.async.bulk`), which one thread of a role starts: one copy where the
      source is contiguous, else one for each index of the first dimension. The
      result is a token, which `nm.signal` takes. The first dimension of the
      source may be smaller: its last index is then copied for those behind it.
      With `rows`, the indices that these name are copied.
    * `tensor`: as `bulk`, but of a box of a tensor whose rows are any number of
      bytes apart (PTX ISA, `cp.async.bulk.tensor`), to rows that follow one
      another or to panels, with a swizzle or without. A tensor map, which the
      host makes (`nm.tensor_map`), says where the rows are. With `unfilled`,
      places behind the source's end in that dimension are not filled with zeros,
      which takes twice as long as a fetch: what an earlier copy left there must
      not get into what is stored.

    A copy to a staging buffer, or from it, is of a part of the fragments: of n
    parts, `part [i, n]` has fragment w + i·warps for warp w.

    With `rows`, a list names the rows to copy, or columns where its `dim` is 1.

    A copy of a role names its barriers: it writes `after` an `nm.wait`, and
    `arrives` at the barrier of a step, where its token is signalled. What it
    reads of a list it may read before that wait.

    Constraints:
    * (C1) source and destination have one element type, and the destination is
      in workgroup memory and has a static shape.
    * (C2) `direct` has a token, and accesses of at least 4 bytes; `matrices`
      has none, its source is a staging buffer of f32 in workgroup memory and
      its destination the tile `[k x m]`. `bulk` has a token, no `condition`,
      and a contiguous destination. Its source is contiguous, too, but for the
      first dimension, and has the same static shape, where that may be unknown
      or smaller, and with `rows` larger; copies are of multiples of 16 bytes, as
      many apart.
      `tensor` has a token, no `condition`, and sizes of the source that are
      those of the destination, smaller or unknown; with `rows`, the second may
      be larger. The source's last stride is 1, and its others, where they are
      known, multiples of 16 bytes. The destination is contiguous or has panels of
      16, 32, 64 or 128 bytes, XORed as wgmma reads them, and no more, or of as
      many 16 bytes as 256 columns have, or fewer, without `xor` and `order`.
    * (C3) `part` has 0 <= i < n; it is given where one of the two is a staging
      buffer, and there only.
    * (C4) `rows` go `direct`, `bulk` where the list is of dimension 0, or
      `tensor` where it is of dimension 1: units of as many bytes as a panel has,
      or a multiple.
    * (C5) `unfilled` is a dimension of the destination of a `tensor` copy.
    * (C6) `after` is the token of an `nm.wait` in the same block, and comes with
      `arrives`.

    ```mlir
    %t = nm.copy <direct> %a to %slot : memref<16x128xf32, strided<[256, 1], offset: ?>>
      to memref<16x128xf32, #gpu.address_space<workgroup>> -> !nm.token
    %u = nm.copy <bulk> %v to %next after %free arrives %full[%step] : <4>
      : memref<1x64x128xf16> to memref<1x64x128xf16, #gpu.address_space<workgroup>> -> !nm.token
    nm.copy <matrices> %staging to %slot part [0, 2]
      : memref<1x8x16x32xf32, #gpu.address_space<workgroup>>
      to memref<32x128xf32, #gpu.address_space<workgroup>>
    ```
  }];
  let arguments = (ins NM_CopyKindAttr:$kind, AnyMemRef:$source,
                       AnyMemRef:$destination, Optional<AnyMemRef>:$rows,
                       Optional<I1>:$condition, Optional<NM_TokenType>:$after,
                       Optional<NM_BarriersType>:$barriers,
                       Optional<Index>:$step,
                       OptionalAttr<NM_RowListAttr>:$row_list,
                       OptionalAttr<DenseI64ArrayAttr>:$part,
                       OptionalAttr<I64Attr>:$unfilled);
  let results = (outs Optional<NM_TokenType>:$token);
  let builders = [OpBuilder<(ins
    "::mlir::nm::CopyKind":$kind, "::mlir::Value":$source,
    "::mlir::Value":$destination,
    CArg<"::mlir::ArrayRef<int64_t>", "{}">:$part,
    CArg<"::mlir::Value", "{}">:$rows,
    CArg<"::mlir::nm::RowListAttr", "{}">:$rowList)>];
  let extraClassDeclaration = [{
    /// Whether one thread starts it, and it arrives at an mbarrier by itself.
    bool isBulk() {
      return getKind() == ::mlir::nm::CopyKind::Bulk ||
             getKind() == ::mlir::nm::CopyKind::Tensor;
    }
    /// The wait behind which it may write; null where it names none.
    ::mlir::nm::WaitOp getWait();
  }];
  let assemblyFormat = [{
    $kind $source `to` $destination (`part` $part^)? (`unfilled` $unfilled^)?
    (`rows` $rows^ $row_list `:` type($rows))? (`where` $condition^)?
    (`after` $after^)?
    (`arrives` $barriers^ `[` $step `]` `:` type($barriers))?
    attr-dict `:` type($source) `to` type($destination) (`->` type($token)^)?
  }];
  let hasVerifier = 1;
}

def NM_LoadTileOp : NM_TileOp<"load_tile", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "loads a tile to the registers of the block's threads";
  let description = [{
    The first half of a copy through registers, which `nm.store_tile` ends: the
    loads are in flight until then. With `transpose`, the tile that is stored
    is the source's transpose. The kind is one of
    * `elements`: loads as wide as the source allows, and stores of single
      elements.
    * `squares`: a thread transposes squares of 4 x 4 elements in its registers,
      so that loads and stores are of 16 bytes.

    Rows are as for `nm.copy`.

    Constraints:
    * (C1) the fragment's destination has the source's element type and rank.
    * (C2) `squares` come with `transpose`.

    ```mlir
    %f = nm.load_tile <squares> %a transpose : memref<64x32xf32, strided<[256, 1], offset: ?>>
      -> !nm.fragment<memref<32x64xf32, #gpu.address_space<workgroup>>>
    ```
  }];
  let arguments = (ins NM_CopyKindAttr:$kind, AnyMemRef:$source,
                       UnitAttr:$transpose, Optional<AnyMemRef>:$rows,
                       OptionalAttr<NM_RowListAttr>:$row_list);
  let results = (outs NM_FragmentType:$fragment);
  let builders = [OpBuilder<(ins
    "::mlir::nm::CopyKind":$kind, "::mlir::Value":$source, "bool":$transpose,
    "::mlir::MemRefType":$destination,
    CArg<"::mlir::Value", "{}">:$rows,
    CArg<"::mlir::nm::RowListAttr", "{}">:$rowList)>];
  let assemblyFormat = [{
    $kind $source (`transpose` $transpose^)?
    (`rows` $rows^ $row_list `:` type($rows))?
    attr-dict `:` type($source) `->` type($fragment)
  }];
  let hasVerifier = 1;
}

def NM_StoreTileOp : NM_TileOp<"store_tile", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "stores a tile from registers to workgroup memory";
  let description = [{
    Waits for what `nm.load_tile` has loaded, and stores it.

    Constraints:
    * (C1) the destination is what the fragment was loaded for, at any offset.

    ```mlir
    nm.store_tile %f to %slot : !nm.fragment<memref<32x64xf32, #gpu.address_space<workgroup>>>
      to memref<32x64xf32, #gpu.address_space<workgroup>>
    ```
  }];
  let arguments = (ins NM_FragmentType:$fragment, AnyMemRef:$destination);
  let assemblyFormat = [{
    $fragment `to` $destination attr-dict
    `:` type($fragment) `to` type($destination)
  }];
  let hasVerifier = 1;
}

def NM_GroupOp : NM_TileOp<"group", []> {
  let summary = "copies that are awaited together";
  let description = [{
    Ends a group: the asynchronous copies of the tokens, which were issued since
    the group before. Groups arrive in the order in which they were ended (PTX
    ISA, `cp.async.commit_group`).

    ```mlir
    %group = nm.group %t0, %t1
    ```
  }];
  let arguments = (ins Variadic<NM_TokenType>:$tokens);
  let results = (outs NM_TokenType:$group);
  let assemblyFormat = "$tokens attr-dict";
}

def NM_AwaitOp : NM_TileOp<"await"> {
  let hasVerifier = 1;
  let summary = "waits until copies have arrived";
  let description = [{
    Waits for the groups of copies that `tokens` stand for, which may have
    arrived before, and then for the other threads of the warp or block: behind
    it all of them can read what was copied. With scope `thread` it waits for
    the thread's own copies only. Without tokens it is a barrier alone.

    wgmma and bulk copies read shared memory through another proxy than the
    copies of threads write it (PTX ISA, "Async proxy"). With `async_proxy` they
    can read what was copied, too.

    Constraints:
    * (C1) tokens are of `nm.group`, maybe carried by loops.
    * (C2) the scope is not `warpgroup`.

    ```mlir
    nm.await <block> %group
    nm.await <block> async_proxy %group
    ```
  }];
  let arguments = (ins NM_SyncScopeAttr:$scope, UnitAttr:$async_proxy,
                       Variadic<NM_TokenType>:$tokens);
  let assemblyFormat = [{
    $scope (`async_proxy` $async_proxy^)? ($tokens^)? attr-dict
  }];
  let builders = [OpBuilder<(ins "::mlir::nm::SyncScope":$scope,
                                 "::mlir::ValueRange":$tokens), [{
    build($_builder, $_state, scope, /*async_proxy=*/false, tokens);
  }]>];
}

def NM_ReleaseOp : NM_TileOp<"release"> {
  let hasVerifier = 1;
  let summary = "lets buffers be written again";
  let description = [{
    Behind it, what the threads of the warp or block have read of the buffers
    before may be overwritten.

    Constraints:
    * (C1) the scope is not `warpgroup`.

    ```mlir
    nm.release <block> %slot : memref<32x64xf32, #gpu.address_space<workgroup>>
    ```
  }];
  let arguments = (ins NM_SyncScopeAttr:$scope, Variadic<AnyMemRef>:$buffers);
  let assemblyFormat = [{
    $scope $buffers attr-dict `:` type($buffers)
  }];
}

#endif // NM_DIALECT_NM_IR_NMTILES_TD
