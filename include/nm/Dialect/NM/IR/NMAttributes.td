//===- NMAttributes.td - Attributes of the nm dialect ------*- tablegen -*-===//

#ifndef NM_DIALECT_NM_IR_NMATTRIBUTES_TD
#define NM_DIALECT_NM_IR_NMATTRIBUTES_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/TensorEncoding.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "nm/Dialect/NM/IR/NMDialect.td"
include "nm/Dialect/NM/IR/NMPackedFormInterface.td"

/// The libraries that a process has loaded. Whoever asks for one loads it.
def NM_LibraryResource : Resource<"::mlir::nm::LibraryResource">;

class NM_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<NM_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

def NM_PatternAttr : NM_Attr<"Pattern", "pattern"> {
  let summary = "N kept of every M units of bk×bn along k, or weights anywhere";
  let description = [{
    Of `unstructured` weights any may be kept, of all of them at most `kept`,
    where that is given, and with a block whole units of it. As fields they have
    M = 0 and N = kept, 0 for any number.

    Constraints:
    * (C1) 1 ≤ N ≤ M ≤ 256.
    * (C2) 1 ≤ bk, bn ≤ 65536.
    * (C3) of unstructured weights 1 ≤ kept ≤ 2^40.

    The block is written along k first, whichever dimension of a type k is.

    ```mlir
    #nm.pattern<2:4>                      // element-wise
    #nm.pattern<8:32, block = 1x32>       // vector-wise, VW32
    #nm.pattern<1:2, block = 4x4>         // block-wise, BW4x4
    #nm.pattern<unstructured>             // any number of weights, anywhere
    #nm.pattern<unstructured, kept = 409> // 409 of them at most
    #nm.pattern<unstructured, block = 4x4> // in whole blocks
    ```
  }];
  let parameters = (ins "int64_t":$n, "int64_t":$m, "int64_t":$bk,
                        "int64_t":$bn);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let builders = [
    AttrBuilder<(ins "const ::nm::Pattern &":$pattern), [{
      return $_get($_ctxt, pattern.n, pattern.m, pattern.bk, pattern.bn);
    }]>
  ];
  let extraClassDeclaration = [{
    /// The pattern as the format arithmetic of lib/Format takes it.
    ::nm::Pattern getPattern() const {
      return {getN(), getM(), getBk(), getBn()};
    }
  }];
}

def NM_EncodingAttr
    : NM_Attr<"Encoding", "encoding",
              [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let summary = "marks a tensor type as a weight with an N:M pattern";
  let description = [{
    `dim` is the position of k in the type: 0 for B[k×n] (the default), 1 for
    a PyTorch-style W[n×k].

    Constraints, besides those of `#nm.pattern`:
    * (C1) the type is a ranked 2-d tensor of static shape, with k and n at most
      2^40.
    * (C2) `dim` is 0 or 1.
    * (C3) the element type is f32, f16, bf16, i8, f8E4M3FN or f8E5M2.
    * (C4) bk is at most the size of dimension `dim`, and bn at most the size
      of the other one. Unstructured weights are at most 2^40.

    ```mlir
    tensor<4096x4096xf32, #nm.encoding<2:4>>
    tensor<1536x384xf16, #nm.encoding<8:32, block = 1x32, dim = 1>>
    tensor<1536x384xf32, #nm.encoding<unstructured, kept = 58983, dim = 1>>
    ```
  }];
  let parameters = (ins "::mlir::nm::PatternAttr":$pattern,
                        DefaultValuedParameter<"int64_t", "0">:$dim);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// k and n of a weight of `shape`.
    int64_t getK(ArrayRef<int64_t> shape) const { return shape[getDim()]; }
    int64_t getN(ArrayRef<int64_t> shape) const { return shape[1 - getDim()]; }
  }];
}

def NM_PackingAttr
    : NM_Attr<"Packing", "packing",
              [DeclareAttrInterfaceMethods<NM_PackedFormAttrInterface,
                                           ["getPackedType", "countSplits"]>]> {
  let summary = "how weights are re-laid for one schedule (the packed form)";
  let description = [{
    Columns are cut into panels of `panel`, each panel stored whole, so that a
    kernel streams it: values `[⌈ñ/panel⌉ × w × panel]`, zero beyond ñ, and
    indices `[⌈ñ/panel⌉ × w/bk × s]` bytes. A unit row of a panel has
    G = max(1, panel/bn) indices of `index_bits` bits each, little-endian, in
    s = ⌈G·index_bits/8⌉ bytes.

    A kernel whose threads each read many rows of few columns wants those side
    by side. Values then stand in chunks of `chunk_rows` × `chunk_columns`, the
    chunks of a row of chunks one after the other, and the `index_rows` indices
    of a group of columns in one string of bits of its own; include/nm/Format/PackedForm.h
    has the layout to the bit. Values are
    `[⌈ñ/panel⌉ × w'/chunk_rows × panel·chunk_rows]` and indices
    `[⌈ñ/panel⌉ × ⌈w/bk/index_rows⌉ × s]` bytes, where w' is w, rounded up to
    whole index rows.

    With `index_bits` of 0 such a string is a bitmap of each of its windows: of M
    bits, of which those of the kept units are set. It takes fewer bits than N
    indices where some fifth and more of a window of 32 is kept.

    A kernel that stages only the rows of A that its columns use wants a list of
    them. `col_info` is the number of columns that share one: the indices are
    places in the list of their window, which has R = N·G·col_info/panel
    positions in the window, ascending, the last one repeated up to R. The lists
    are an array of their own, of the indices' shape: of both, each tile has
    col_info/panel panels, to which the last tile is filled up.

    Strategy wgmma copies weights to shared memory a tile at a time. With
    `tile_rows` they are stored as its instructions read them there: tiles of so
    many rows, each filled up to a multiple of 16, with the 128-byte swizzle;
    those of 8 bits contiguous along k, without one.
    include/nm/Format/PackedForm.h has the layout. Where bk divides `tile_rows`,
    the last tile's indices are filled up with zeros, too.

    With `splits` of 2 or 3, each f32 weight is stored as a sum of so many bf16
    splits, the largest first, of which include/nm/Format/SplitFloats.h says what
    they are. All rows of a tile are there once for each split. Products of such
    weights take A as `nm.split_floats` makes it.

    With `lane_words` of L, each of four threads takes 4·L kept rows that follow
    one another, as strategy wgmma_select does. Of each 16·L rows of a tile, in
    groups of four, group t·L + u then stands at place u·4 + t, so that what four
    threads take at a time stands side by side: of L = 3, groups 0, 3, 6, 9, then
    1, 4, 7, 10, then 2, 5, 8, 11. Index rows, of four rows each, stand likewise.

    With `bits` of 4 or 8, values are quantized (`#nm.quantization`), so many bits
    each, with 2^(bits-1) added so that none is negative, for strategy mma_sync.
    A panel has a square for each 16 kept rows, `[⌈ñ/panel⌉ × w'/16 ×
    2·panel·bits]` bytes, in which the values of a lane's fragments of mma.sync
    (PTX ISA, "Matrix Fragments for mma.m16n8k16") stand side by side. `chunk_rows
    = 16` has squares of rows that follow one another, and `chunk_rows = 2` of two
    rows of each of eight windows; w' is w, rounded up to windows that are whole
    squares. include/nm/Format/QuantizedSquares.h has the layout to the bit.

    Constraints:
    * (C1) 1 ≤ panel ≤ 65536, and panel is a multiple or a divisor of bn.
    * (C2) ⌈log2 M⌉ ≤ index_bits ≤ 8, and index_bits ≥ 1; or index_bits is 0, M
      at most 32, index_rows a multiple of N and more than 1, and tile_rows 0.
    * (C3) 1 ≤ index_rows ≤ 65536; chunk_rows divides index_rows·bk, and
      chunk_columns divides panel.
    * (C4) col_info is 0, for indices without lists, or a multiple of panel, with
      index_bits = 8 and neither chunks nor index_rows, and R < M.
    * (C5) tile_rows is 0, for rows in their order, or at most 65536, for
      elements of 16 bits, or a multiple of 32 for those of 8, in panels of a
      multiple of 64 columns without chunks or col_info. index_rows·bk divides
      it where index_rows is not 1.
    * (C6) splits is 1, 2 or 3; with more than one, tile_rows is not 0, and
      weights are f32 before they are packed and bf16 behind.
    * (C7) 1 ≤ lane_words ≤ 65536; with more than 1, bk = 1, index_rows = 4, and
      tile_rows is a multiple of 16·lane_words.
    * (C8) `bits` is 4 or 8, or left out. With it, values are i8, panel is a power
      of two and at least 16, chunk_rows is 16, or 2 where N·bk is even, and
      chunk_columns, index_rows, col_info, tile_rows, splits and lane_words are
      left out; (C3) does not hold for chunk_rows.

    ```mlir
    #nm.packing<panel = 128, index_bits = 8, tile_rows = 64>
    #nm.packing<panel = 128, index_bits = 8, tile_rows = 32, splits = 3>
    #nm.packing<panel = 64, index_bits = 4, index_rows = 4, tile_rows = 96, lane_words = 3>
    #nm.packing<panel = 16, index_bits = 2>
    #nm.packing<panel = 32, index_bits = 8, col_info = 128>
    #nm.packing<panel = 32, index_bits = 5, chunk_rows = 4, index_rows = 32>
    #nm.packing<panel = 32, index_bits = 0, chunk_rows = 8, index_rows = 32>
    #nm.packing<panel = 32, index_bits = 8, chunk_rows = 16, bits = 4>
    ```
  }];
  let parameters = (ins
    "int64_t":$panel, "int64_t":$index_bits,
    DefaultValuedParameter<"int64_t", "1">:$chunk_rows,
    DefaultValuedParameter<"int64_t", "1">:$chunk_columns,
    DefaultValuedParameter<"int64_t", "1">:$index_rows,
    DefaultValuedParameter<"int64_t", "0">:$col_info,
    DefaultValuedParameter<"int64_t", "0">:$tile_rows,
    DefaultValuedParameter<"int64_t", "1">:$splits,
    DefaultValuedParameter<"int64_t", "1">:$lane_words,
    DefaultValuedParameter<"int64_t", "0">:$bits);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let builders = [
    AttrBuilder<(ins "const ::nm::PanelPacking &":$packing), [{
      return $_get($_ctxt, packing.panel, packing.indexBits, packing.chunkRows,
                   packing.chunkColumns, packing.indexRows, packing.colInfo,
                   packing.tileRows, packing.splits, packing.laneWords,
                   packing.bits);
    }]>
  ];
  let extraClassDeclaration = [{
    /// The packing as the format arithmetic of lib/Format takes it.
    ::nm::PanelPacking getPacking() const {
      return {getPanel(), getIndexBits(), getChunkRows(), getChunkColumns(),
              getIndexRows(), getColInfo(), getTileRows(), getSplits(),
              getLaneWords(), getBits()};
    }
  }];
}

/// An order that include/nm/Format/SparseOperand.h names.
def NM_SparseOrder
    : AttrOrTypeParameter<"::nm::SparseOperand::Order", "mma, wgmma or "
                                                        "wgmma_pairs"> {
  let parser = "parseSparseOrder($_parser)";
  let printer = "$_printer << ::nm::orderName($_self)";
}

def NM_SparseOperandAttr
    : NM_Attr<"SparseOperand", "sparse_operand",
              [DeclareAttrInterfaceMethods<NM_PackedFormAttrInterface,
                                           ["getPackedPattern",
                                            "getPackedType", "countSplits"]>]> {
  let summary = "weights as the sparse operand of a tensor core";
  let description = [{
    Of each aligned group of four along k, two are stored, so that the tensor
    core skips the other two (PTX ISA, "Sparse matrix storage"). Columns are cut
    into blocks of C, 16 for `mma` (mma.sp.sync) and 64 for `wgmma`
    (wgmma.mma_async.sp), and k into steps of 64. `wgmma_pairs` is `wgmma` with
    the columns in an order that gives each thread the sums of neighbours. Values are
    `[⌈n/C⌉ × ⌈k/64⌉ × 32·C]`, in the order that the instruction reads them, and
    indices the instruction's metadata, `[⌈n/C⌉ × ⌈k/64⌉ × 8·C]` bytes;
    include/nm/Format/SparseOperand.h has both to the bit.

    A group that keeps fewer than two is filled up with zeros, which are kept
    weights then: products of packed weights have the pattern 2:4.

    With `bits` of 4 or 8, values are quantized (`#nm.quantization`), so many
    bits each, with 2^(bits-1) added so that none is negative. In order `mma` a
    lane's values of an instruction are one word or two, whose order lets a mask
    cut out two values at a time. In the other orders they are where the values
    of 16 bits are to be that `nm-pack-weights` has made of them at each call.
    Of weights of 4 bits, 2:4 then takes 0.1875 of what dense ones of f16 take,
    scales not counted.

    With `splits` of 2 or 3, each f32 weight is stored as a sum of so many bf16
    splits (include/nm/Format/SplitFloats.h), of which a step has all first ones,
    then all second ones, and so on: values are `[⌈n/C⌉ × ⌈k/64⌉ × splits·32·C]`.
    Products of such weights take A as `nm.split_floats` makes it. A zero that
    fills up has splits that no weight has, so that it can be told apart from a
    kept zero.

    Constraints:
    * (C1) the pattern keeps at most two of each aligned four rows: 1:M for
      M > 1, 2:M where 4 divides M, and 1:M of units of two rows for an even M;
      units have any number of columns.
    * (C2) weights are f16, bf16, i8, f8E4M3FN or f8E5M2; with `bits`, they are
      i8 and activations f16 or bf16; with `splits`, they are f32 before they are
      packed and bf16 behind.
    * (C3) `bits` is 4 or 8, or left out.
    * (C4) `splits` is 1, 2 or 3; with more than one, `order` is not `mma`.

    ```mlir
    #nm.sparse_operand<mma>
    #nm.sparse_operand<wgmma_pairs, splits = 3>
    #nm.sparse_operand<mma, bits = 4>
    ```
  }];
  let parameters = (ins NM_SparseOrder:$order,
      DefaultValuedParameter<"int64_t", "0">:$bits,
      DefaultValuedParameter<"int64_t", "1">:$splits);
  let assemblyFormat = "`<` $order (`,` struct($bits, $splits)^)? `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The form of weights of type `element`, as the format arithmetic of
    /// lib/Format takes it.
    ::nm::SparseOperand getOperand(::mlir::Type element) const;
  }];
}

def NM_BitmapAttr
    : NM_Attr<"Bitmap", "bitmap",
              [DeclareAttrInterfaceMethods<NM_PackedFormAttrInterface,
                                           ["getPackedPattern"]>]> {
  let summary = "weights as bits of where they are, and the kept ones";
  let description = [{
    A bit for each weight says whether it is kept, and the kept ones stand side
    by side, so that lanes put zeros between them in registers. Columns are cut
    into blocks of 16, and k into steps, in each of which four neighbouring
    lanes have a run of rows each: s steps of 4·R rows, where
    include/nm/Format/Bitmap.h says what R is, a multiple of 32. A run has S
    places for values, as many as the pattern keeps of R aligned rows at most.
    Values are `[⌈n/16⌉ × s × 64·S]`, and indices the bits,
    `[⌈n/16⌉ × s × 8·R]` bytes; Bitmap.h has both to the bit. 8:16 takes 0.5625
    of dense weights of 16 bits, and 0.625 of dense weights of 8 bits.

    Products of packed weights have the pattern S:R, whose windows are runs.

    Of weights that all are kept (1:1), those that are not zero are stored, so
    that a kernel skips zeros that follow no pattern. Columns are then cut into
    slices of 32, two blocks, and k into s steps of 128 rows. Of a step each
    lane has two strings of values, of two columns' runs each, and there is room
    for 64 slots, of which it has as many as the longest string. Values are
    `[⌈n/32⌉ × s × 4096]`, and indices the bits and that number,
    `[⌈n/32⌉ × s × 528]` bytes; include/nm/Format/BitmapStrings.h has both to the
    bit. Kernels read the slots that there are: of half of the weights, kept at
    random, 0.71 of dense ones. The pattern stays 1:1.

    Constraints:
    * (C1) the form is smaller than dense weights: of 32 rows, S < 30 for
      weights of 16 bits, and S < 28 for weights of 8 bits; or the pattern is
      1:1, in units of one weight.
    * (C2) weights are f16, bf16, i8, f8E4M3FN or f8E5M2, of pattern 1:1 f16 or
      bf16; S is even for those of 8 bits.

    ```mlir
    #nm.bitmap
    ```
  }];
}

def NM_ColumnsAttr
    : NM_Attr<"Columns", "columns",
              [DeclareAttrInterfaceMethods<NM_PackedFormAttrInterface>]> {
  let summary = "the weights of each column that are not zero";
  let description = [{
    Of weights that all are kept (1:1), those that are not zero, so that a
    kernel skips zeros that follow no pattern. k is cut into tiles of
    `tile_rows`. Values are `[1 × 1 × kept+64]`: of the first tile those of the
    first column in the order of k, then those of the second column, and so on,
    then those of the second tile, and zeros behind the last one. Indices are
    `[1 × 1 × (kept+64)·b]` bytes: the row of each in its tile, in b = 1 byte
    where tiles have at most 256 rows, and else in b = 2. Lists are `[n ×
    ⌈k/tile_rows⌉ × 8]` bytes: where the values of a column in a tile begin and
    end, in 4 bytes each. Numbers are little-endian.

    Weights of which more than `kept` are not zero are not packed: a constant is
    refused, and a program stops.

    Constraints:
    * (C1) the pattern is 1:1, in units of one weight.
    * (C2) 1 ≤ kept < 2^32.
    * (C3) 1 ≤ tile_rows ≤ 65536.

    ```mlir
    #nm.columns<kept = 1000, tile_rows = 256>
    ```
  }];
  let parameters = (ins "int64_t":$kept, "int64_t":$tile_rows);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The form as the format arithmetic of lib/Format takes it.
    ::nm::ColumnsForm getForm() const { return {getKept(), getTileRows()}; }
  }];
}

def NM_BitmapPanelsAttr
    : NM_Attr<"BitmapPanels", "bitmap_panels",
              [DeclareAttrInterfaceMethods<NM_PackedFormAttrInterface>]> {
  let summary = "the weights that are not zero, and bits that say where";
  let description = [{
    Of weights that all are kept (1:1), those that are not zero, for vectors
    that put zeros between them (`vexpandps` of AVX512F, `vpexpandw` and
    `vpexpandb` of AVX512_VBMI2). Columns are cut into panels of 64, each of four
    vectors of 16 lanes; a lane has `word_rows` neighbours along k of its
    column. Indices are `[⌈n/64⌉ × ⌈k/word_rows⌉ × 8·word_rows]` bytes: a bit for
    each weight, of a vector after the other, of each lane after lane, of which
    bits are in the order of k; it is 1 where the weight is not zero. Values are
    `[1 × 1 × kept+64]`: those weights in the order of their bits, of a panel
    after the other, and zeros behind the last one. Lists are `[⌈n/64⌉ × 1 × 4]`
    bytes: where the values of a panel begin, little-endian.

    Weights of which more than `kept` are not zero are not packed: a constant is
    refused, and a program stops.

    Constraints:
    * (C1) the pattern is 1:1, in units of one weight.
    * (C2) 1 ≤ kept < 2^32.
    * (C3) word_rows is 1, 2 or 4.
    * (C4) word_rows is 1 for weights of f32, f16 or bf16, 2 for bf16, or 4 for
      i8.

    ```mlir
    #nm.bitmap_panels<kept = 1000, word_rows = 2>
    ```
  }];
  let parameters = (ins "int64_t":$kept, "int64_t":$word_rows);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The form as the format arithmetic of lib/Format takes it.
    ::nm::BitmapPanels getForm() const { return {getKept(), getWordRows()}; }
  }];
}

def NM_EllAttr
    : NM_Attr<"Ell", "ell",
              [DeclareAttrInterfaceMethods<NM_PackedFormAttrInterface>]> {
  let summary = "the weights of each column that are not zero, by gaps or rows";
  let description = [{
    Of weights that all are kept (1:1), those that are not zero, for lanes that
    walk along a column each (sliced ELLPACK; Monakov et al., "Automatically
    Tuning Sparse Matrix-Vector Multiplication for GPU Architectures", 2010).
    Columns are cut into slices of 32, the columns of a slice into steps of 16
    weights. A gap of `bits` bits says how many rows a weight is behind the one
    before in its column; where that takes more, zeros stand between. With 16
    bits each weight has its row, and the weights of a column are ordered so
    that eight neighbouring lanes have rows of different remainders by 8.

    Values are `[⌈n/32⌉ × steps × 512]`, 16 bytes of each column side by side;
    indices the gaps or rows, `[⌈n/32⌉ × steps × 64·bits]` bytes; lists
    `[⌈n/32⌉ × parts+1 × 64]` bytes: the number of steps that a slice has, and
    where each of `parts` parts of these steps begins.
    include/nm/Format/Ell.h has all to the bit. A kernel reads the steps that a
    slice has.

    Weights of which a column takes more than `steps` steps are not packed: a
    constant is refused, and a program stops.

    Constraints:
    * (C1) the pattern is 1:1, in units of one weight.
    * (C2) 1 ≤ steps ≤ 4096; `bits` is 2, 4, 8 or 16; 1 ≤ parts ≤ 32.

    ```mlir
    #nm.ell<steps = 134, bits = 4, parts = 16>
    ```
  }];
  let parameters = (ins "int64_t":$steps, "int64_t":$bits, "int64_t":$parts);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The form as the format arithmetic of lib/Format takes it.
    ::nm::EllForm getForm() const {
      return {getSteps(), getBits(), getParts()};
    }
  }];
}

def NM_QuantizationAttr : NM_Attr<"Quantization", "quantization"> {
  let summary = "weights of few bits, with a scale for each group of k";
  let description = [{
    Of a byte of the values, the low `bits` are a signed integer. The weight
    that it stands for is that, converted to the type of the activations
    exactly, times the scale of its column and of its k / `group`, rounded to
    that type. Scales are finite.

    Constraints:
    * (C1) `bits` is 4 or 8.
    * (C2) 1 ≤ group ≤ 2^40.

    ```mlir
    #nm.quantization<bits = 4, group = 128>
    ```
  }];
  let parameters = (ins "int64_t":$bits, "int64_t":$group);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def NM_ChipAttr : NM_Attr<"Chip", "chip"> {
  let summary = "the GPU that a module is compiled for";
  let description = [{
    A module has it as `nm.chip`, which `nm-attach-chip` sets. Passes read from
    it what blocks may use, and the cost models what the chip can do.

    Constraints:
    * (C1) the name is that of a chip that the compiler knows, as ptxas has it.

    ```mlir
    module attributes {nm.chip = #nm.chip<"sm_90a">} {
    ```
  }];
  let parameters = (ins StringRefParameter<>:$name);
  let assemblyFormat = "`<` $name `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// What is known of it.
    ::nm::GpuChip getChip() const;
  }];
}

def NM_Arithmetic : I32EnumAttr<"Arithmetic", "what sums may be computed by", [
    I32EnumAttrCase<"F32", 0, "f32">,
    I32EnumAttrCase<"IEEE", 1, "ieee">,
    I32EnumAttrCase<"BF16x3", 2, "bf16x3">,
    I32EnumAttrCase<"TF32", 3, "tf32">,
    I32EnumAttrCase<"FastAccum", 4, "fast_accum">]> {
  let cppNamespace = "::mlir::nm";
  let genSpecializedAttr = 0;
}

def NM_ArithmeticAttr : EnumAttr<NM_Dialect, NM_Arithmetic, "arithmetic"> {
  let summary = "what a product may be computed by";
  let description = [{
    * `ieee`: multiply-adds in f32, each rounded once.
    * `f32`, the default: anything as accurate as f32. The error of a sum is at
      most 1.5 times that of a chain of f32 multiply-adds in the order of k.
    * `bf16x3`: operands as sums of bf16 splits, three products of which are
      made; the error of a product is about 2^-16 of it.
    * `tf32`: operands rounded to TensorFloat-32, of 10 bits of mantissa.
    * `fast_accum`, of operands of f8E4M3FN and f8E5M2: sums as the tensor cores
      make them, whose accumulators have some 13 bits of mantissa (on sm_90;
      `CUBLASLT_MATMUL_DESC_FAST_ACCUM` of cuBLASLt). The error of a sum grows
      with k, to about 1e-3 for k = 4096. Else what they sum of each tile of k is
      added to sums of f32.

    Sums are f32 in each. A strategy may be more accurate than it has to be, but
    which strategy was estimated to be fastest never makes a result less
    accurate than the product allows. But for `fast_accum`, products of other
    types have one arithmetic: their operands' products are exact in the type that
    they are summed in.

    A linalg op says it by the attribute `nm.arithmetic`:

    ```mlir
    linalg.matmul {nm.arithmetic = #nm.arithmetic<tf32>} ins(...) outs(...)
    ```
  }];
  let assemblyFormat = "`<` $value `>`";
}

#endif // NM_DIALECT_NM_IR_NMATTRIBUTES_TD
