//===- NMAttention.td - Attention as one op ----------------*- tablegen -*-===//

#ifndef NM_DIALECT_NM_IR_NMATTENTION_TD
#define NM_DIALECT_NM_IR_NMATTENTION_TD

def NM_AttentionMaskElement : AnyTypeOf<[F32, F16, BF16, I1]>;
def NM_AttentionMask : AnyTypeOf<[RankedTensorOf<[NM_AttentionMaskElement]>,
                                  MemRefOf<[NM_AttentionMaskElement]>]>;

def NM_AttentionLengthsElement : AnyTypeOf<[I32, I64]>;
def NM_AttentionLengths
    : AnyTypeOf<[RankedTensorOf<[NM_AttentionLengthsElement]>,
                 MemRefOf<[NM_AttentionLengthsElement]>]>;

def NM_AttentionOp
    : NM_ContractionOp<"attention", [
        AttrSizedOperandSegments,
        DeclareOpInterfaceMethods<TilingInterface, [
          "getIterationDomain", "getLoopIteratorTypes",
          "getTiledImplementation", "getResultTilePosition",
          "generateResultTileValue"]>]> {
  let summary = "attention: what rows of queries see of keys and values";
  let description = [{
    O = softmax(scale · Q · Kᵀ + mask) · V, as PyTorch's
    `scaled_dot_product_attention` has it. As in `nm.contract`, a map for each
    operand says which loop its dimensions run along. A loop of Q, K, V and O is
    a batch, as of sequences and of heads; one of Q and O alone belongs to the
    rows of queries: the last of these, in the loops' order, is the row, and
    others are heads that share keys and values. One loop is of K and V alone, the keys;
    one of Q and K alone, the depth of a score; and one of V and O alone, the
    width of a result.

    With `causal`, row i sees keys 0 to i, whatever `lengths` are: both count from
    the first key, as of prompts that are padded behind their ends. With `lengths`,
    of i32 or i64, a row sees keys 0 to lengths - 1 of its batch: one below 0 counts
    as 0, and one above the number of keys as that. Keys and values behind are not
    read, or whatever they hold, NaN too, has no effect, and tiles of them take no
    time; where FlashAttention's `seqlens_k` aligns `causal` with the last key, a
    mask does. A mask of i1 says which keys a row
    sees; one of floats is added to the scores, where -inf hides a key. A row
    that sees no key is zero, as in PyTorch, and not the mean of what is hidden.

    Scores, their exponentials and sums are in f32; exponentials may be rounded
    to V's element type before they are multiplied, and O is rounded once.

    Tiling (TilingInterface) is along the maps' loops. Batches, rows and the width
    of a result are parallel: of 2 heads of 96 rows, tiles of one head and 32 rows
    are 6. Keys and depth are reductions, and a tile has all of them, since a
    softmax takes whole rows of scores. With `causal` a tile has all rows, or the
    first ones, because its rows count from 0. Other tiles are errors.

    For CPUs `convert-nm-to-vector` makes loops over tiles of it, which keep no
    more than a tile of scores. For GPUs it is a call of cuDNN where that
    has it, without a mask and lengths, and can be loaded, else a kernel (`convert-attention-to-gpu`), and
    what that does not take `nm-decompose-attention` makes products and sums of.

    Constraints:
    * (C1) the maps have the same loops, and each result of theirs is another
      loop, one for each dimension of the operand.
    * (C2) loops are as above, one each of keys, depth and width, and at least
      one of rows. The mask runs along batches, rows and keys, and lengths along
      batches.
    * (C3) Q, K, V and O have the same element type.
    * (C4) dimensions that run along one loop have the same size, and every size
      is at most 2^40.
    * (C5) operands are all tensors or all memrefs of strided layouts; on
      tensors there is one result, of O's type.

    ```mlir
    %r = nm.attention indexing_maps = [affine_map<(h, g, m, n, d, e) -> (h, g, m, d)>,
                                       affine_map<(h, g, m, n, d, e) -> (h, n, d)>,
                                       affine_map<(h, g, m, n, d, e) -> (h, n, e)>,
                                       affine_map<(h, g, m, n, d, e) -> (h, g, m, e)>]
      scale = 1.250000e-01 causal
      ins(%q, %k, %v : tensor<2x4x96x64xf16>, tensor<2x96x64xf16>, tensor<2x96x64xf16>)
      outs(%o : tensor<2x4x96x64xf16>) -> tensor<2x4x96x64xf16>
    ```
  }];
  let arguments = (ins NM_ComputedOperand:$q, NM_ComputedOperand:$k,
                       NM_ComputedOperand:$v, Optional<NM_AttentionMask>:$mask,
                       Optional<NM_AttentionLengths>:$lengths,
                       NM_ComputedOperand:$o,
                       AffineMapArrayAttr:$indexing_maps, F32Attr:$scale,
                       UnitAttr:$causal);
  let assemblyFormat = [{
    `indexing_maps` `=` $indexing_maps `scale` `=` $scale (`causal` $causal^)?
    `ins` `(` $q `,` $k `,` $v `:` type($q) `,` type($k) `,` type($v) `)`
    (`mask` `(` $mask^ `:` type($mask) `)`)?
    (`lengths` `(` $lengths^ `:` type($lengths) `)`)?
    `outs` `(` $o `:` type($o) `)` attr-dict (`->` type($results)^)?
  }];
  let extraClassDeclaration = mapDeclarations # [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOMutable(); }
  }];
}

def NM_HasCudnnOp : Op<NM_Dialect, "has_cudnn", [
    MemoryEffects<[MemRead<NM_LibraryResource>,
                   MemWrite<NM_LibraryResource>]>]> {
  let summary = "whether cuDNN can be loaded where the program runs";
  let description = [{
    The condition under which `nm.attention` is a call of cuDNN, as
    `nm.has_cublas` is that of a product of cuBLAS.

    ```mlir
    %loaded = nm.has_cudnn
    ```
  }];
  let results = (outs I1:$loaded);
  let assemblyFormat = "attr-dict";
  let hasCanonicalizeMethod = 1;
}

#endif // NM_DIALECT_NM_IR_NMATTENTION_TD
