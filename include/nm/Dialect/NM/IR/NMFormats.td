//===- NMFormats.td - Dense, condensed and packed weights --*- tablegen -*-===//
//
// Part of NMOps.td.
//
//===----------------------------------------------------------------------===//

#ifndef NM_DIALECT_NM_IR_NMFORMATS_TD
#define NM_DIALECT_NM_IR_NMFORMATS_TD

def NM_Dense : NM_Shaped<NM_WeightElement, [2]>;
def NM_CondensedValues : NM_Shaped<NM_WeightElement, [2]>;
def NM_CondensedIndices : NM_Shaped<I8, [2]>;
def NM_PackedValues : NM_Shaped<NM_WeightElement, [3]>;
def NM_PackedIndices : NM_Shaped<I8, [3]>;
def NM_PackedLists : NM_Shaped<I8, [3]>;
def NM_Dim : ConfinedAttr<DefaultValuedAttr<I64Attr, "0">,
                          [IntNonNegative, IntMaxValue<1>]>;

/// A format op that iterates over (k, n) of a dense matrix.
class NM_DenseFormatOp<string mnemonic> : NM_DestinationOp<mnemonic> {
  let hasFolder = 1;
  code domainDefinition = [{
    SmallVector<Range> $cppClass::getIterationDomain(OpBuilder &builder) {
      return detail::getDenseDomain(builder, getLoc(), getDense(), getDim());
    }

    SmallVector<utils::IteratorType> $cppClass::getLoopIteratorTypes() {
      return {utils::IteratorType::parallel, utils::IteratorType::parallel};
    }
  }];
  let extraClassDefinition = domainDefinition;
}

/// One whose result is a dense matrix.
class NM_DenseResultOp<string mnemonic> : NM_DenseFormatOp<mnemonic> {
  let extraClassDefinition = domainDefinition # [{
    LogicalResult $cppClass::getResultTilePosition(
        OpBuilder &, unsigned, ArrayRef<OpFoldResult> offsets,
        ArrayRef<OpFoldResult> sizes, SmallVector<OpFoldResult> &resultOffsets,
        SmallVector<OpFoldResult> &resultSizes) {
      SliceRegion region = detail::swapUnlessKFirst(
          {llvm::to_vector(offsets), llvm::to_vector(sizes)}, getDim());
      resultOffsets = region.offsets;
      resultSizes = region.sizes;
      return success();
    }

    FailureOr<TilingResult>
    $cppClass::generateResultTileValue(OpBuilder &builder, unsigned,
                                       ArrayRef<OpFoldResult> offsets,
                                       ArrayRef<OpFoldResult> sizes) {
      SliceRegion tile = detail::swapUnlessKFirst(
          {llvm::to_vector(offsets), llvm::to_vector(sizes)}, getDim());
      return getTiledImplementation(builder, tile.offsets, tile.sizes);
    }
  }];
}

def NM_CompressOp : NM_DenseFormatOp<"compress"> {
  let summary = "dense weights to condensed form";
  let description = [{
    Takes a dense matrix that obeys the pattern to its condensed form. `dim` is
    the position of k in the dense operand. A window with more than N non-zero
    units is refused: when the operand is constant, by an error that names the
    column, the k range and the count; at run time, by `cf.assert`. -0.0 is a
    zero. Nothing is dropped; `nm.prune` does that.

    Unstructured weights become a bitmap, the indices, and the kept ones, each of
    one row: values `[1×kept]` and indices `[1×⌈k/8⌉·n]`.
    include/nm/Format/Unstructured.h has both to the bit.

    Constraints:
    * (C1) the dense operand, the values and the indices are related as in
      `nm.spmm` (C3), with k and n taken from the dense operand.
    * (C2) dense operand and values have one element type.
    * (C3) operands are all tensors or all memrefs of strided layouts; on
      tensors there is one result for each output, of its type.

    ```mlir
    %v, %i = nm.compress <2:4> ins(%b : tensor<64x48xf32>)
      outs(%v0, %i0 : tensor<32x48xf32>, tensor<32x48xi8>)
      -> tensor<32x48xf32>, tensor<32x48xi8>
    ```
  }];
  let arguments = (ins NM_PatternAttr:$pattern, NM_Dim:$dim, NM_Dense:$dense,
                       NM_CondensedValues:$values, NM_CondensedIndices:$indices);
  let assemblyFormat = [{
    $pattern (`dim` $dim^)? `ins` `(` $dense `:` type($dense) `)`
    `outs` `(` $values `,` $indices `:` type($values) `,` type($indices) `)`
    attr-dict (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return ::mlir::MutableOperandRange(*this, /*start=*/1, /*length=*/2);
    }
  }];
}

def NM_DecompressOp : NM_DenseResultOp<"decompress"> {
  let summary = "condensed form to dense weights";
  let description = [{
    Writes the dense matrix that the condensed form stands for, zeros included.
    `dim` is the position of k in the dense output.

    Constraints: (C1), (C2), (C3) as for `nm.compress`.

    ```mlir
    %b = nm.decompress <2:4>
      ins(%v, %i : tensor<32x48xf32>, tensor<32x48xi8>)
      outs(%b0 : tensor<64x48xf32>) -> tensor<64x48xf32>
    ```
  }];
  let arguments = (ins NM_PatternAttr:$pattern, NM_Dim:$dim,
                       NM_CondensedValues:$values, NM_CondensedIndices:$indices,
                       NM_Dense:$dense);
  let assemblyFormat = [{
    $pattern (`dim` $dim^)?
    `ins` `(` $values `,` $indices `:` type($values) `,` type($indices) `)`
    `outs` `(` $dense `:` type($dense) `)` attr-dict (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return getDenseMutable();
    }
  }];
}

def NM_PruneOp : NM_DenseResultOp<"prune"> {
  let summary = "keeps the N largest units of every window";
  let description = [{
    Keeps, in every window of every block column, the N units of largest
    magnitude (the sum of squares of a unit's elements; ties keep the lower
    position) and writes zero elsewhere. It is the only op that drops weights,
    and no pass inserts it. `dim` is the position of k. Of unstructured weights
    it keeps the `kept` largest, of equal ones those of the first columns.

    Constraints:
    * (C1) input and output have the same shape and element type.
    * (C2) operands are all tensors or all memrefs of strided layouts; on
      tensors there is one result, of the output's type.

    ```mlir
    %p = nm.prune <2:4> dim 1 ins(%w : tensor<48x64xf32>)
      outs(%p0 : tensor<48x64xf32>) -> tensor<48x64xf32>
    ```
  }];
  let arguments = (ins NM_PatternAttr:$pattern, NM_Dim:$dim, NM_Dense:$dense,
                       NM_Dense:$pruned);
  let assemblyFormat = [{
    $pattern (`dim` $dim^)? `ins` `(` $dense `:` type($dense) `)`
    `outs` `(` $pruned `:` type($pruned) `)` attr-dict (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return getPrunedMutable();
    }
  }];
}

def NM_PackOp : NM_Op<"pack", [
    DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
                                 ["reifyResultShapes"]>]> {
  let summary = "condensed form to packed form";
  let description = [{
    Re-lays condensed weights for one schedule, as the packed form says.

    Constraints:
    * (C1) inputs are in condensed form, outputs in the packed form of the same
      weights. There are `lists` where that has lists of rows, and else none.
    * (C2) one element type for the values; with splits, f32 and bf16.
    * (C3) operands are all tensors or all memrefs of strided layouts; on
      tensors there is one result for each output, of its type.

    ```mlir
    %pv, %pi = nm.pack <2:4> #nm.packing<panel = 16, index_bits = 2>
      ins(%v, %i : tensor<32x48xf32>, tensor<32x48xi8>)
      outs(%pv0, %pi0 : tensor<3x32x16xf32>, tensor<3x32x4xi8>)
      -> tensor<3x32x16xf32>, tensor<3x32x4xi8>
    %qv, %qi, %ql = nm.pack <3:32, block = 1x32>
      #nm.packing<panel = 32, index_bits = 8, col_info = 64>
      ins(%w, %j : tensor<6x64xf32>, tensor<6x2xi8>)
      outs(%qv0, %qi0 : tensor<2x6x32xf32>, tensor<2x6x1xi8>)
      lists(%ql0 : tensor<2x6x1xi8>)
      -> tensor<2x6x32xf32>, tensor<2x6x1xi8>, tensor<2x6x1xi8>
    ```
  }];
  let arguments = (ins NM_PatternAttr:$pattern,
                       NM_PackedFormAttrInterface:$packing,
                       NM_CondensedValues:$values, NM_CondensedIndices:$indices,
                       NM_PackedValues:$packedValues,
                       NM_PackedIndices:$packedIndices,
                       Optional<NM_PackedLists>:$packedLists);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $pattern $packing
    `ins` `(` $values `,` $indices `:` type($values) `,` type($indices) `)`
    `outs` `(` $packedValues `,` $packedIndices `:` type($packedValues) `,`
               type($packedIndices) `)`
    (`lists` `(` $packedLists^ `:` type($packedLists) `)`)?
    attr-dict (`->` type($results)^)?
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return ::mlir::MutableOperandRange(*this, /*start=*/2,
                                         getNumOperands() - 2);
    }
  }];
}

#endif // NM_DIALECT_NM_IR_NMFORMATS_TD
