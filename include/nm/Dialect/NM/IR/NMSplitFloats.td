//===- NMSplitFloats.td - Activations of bf16 splits -------*- tablegen -*-===//

#ifndef NM_DIALECT_NM_IR_NMTERMS_TD
#define NM_DIALECT_NM_IR_NMTERMS_TD

def NM_SplitFloatsOp : NM_Op<"split_floats", [
    DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
                                 ["reifyResultShapes"]>]> {
  let summary = "activations of f32 as sums of bf16 splits";
  let description = [{
    Writes each element of A as `splits` elements of bf16 whose sum it is; the
    more, the closer. include/nm/Format/SplitFloats.h says which. A product of
    weights whose packing has as many splits takes them.

    The output is m-major, whatever A is: with `transpose`, A is given as [m×k].
    For each 64 rows of m it has 64 columns of the first split, then 64 of the
    second, and so on; m is filled up with zeros to a multiple of 64.

    With `windows` of W rows of k, the output has each window as W/2 - 1 groups
    of four rows, of which neighbours share two: rows 0 to 3 of it, then 2 to 5,
    and so on. What is behind the end of k is zero.

    Constraints:
    * (C1) A is f32 of rank at least 2, [batch... × k × m], or m before k with
      `transpose`; the output is bf16, [batch... × k × splits·⌈m/64⌉·64], with
      ⌈k/W⌉·(2W - 4) rows in place of k where there are windows.
    * (C2) `splits` is 2 or 3, and `windows` is an even number from 6 to 256.
    * (C3) operands are both tensors or both memrefs of strided layouts; on
      tensors there is one result, of the output's type.

    ```mlir
    %s = nm.split_floats 3 transpose ins(%a : tensor<100x512xf32>)
      outs(%s0 : tensor<512x384xbf16>) -> tensor<512x384xbf16>
    ```
  }];
  let arguments = (ins
      ConfinedAttr<I64Attr, [IntMinValue<2>, IntMaxValue<3>]>:$splits,
      UnitAttr:$transpose,
      OptionalAttr<ConfinedAttr<I64Attr, [IntMinValue<6>, IntMaxValue<256>]>>:$windows,
      AnyTypeOf<[RankedTensorOf<[F32]>, MemRefOf<[F32]>]>:$a,
      AnyTypeOf<[RankedTensorOf<[BF16]>, MemRefOf<[BF16]>]>:$output);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $splits (`transpose` $transpose^)? (`windows` $windows^)? `ins` `(` $a `:` type($a) `)`
    `outs` `(` $output `:` type($output) `)` attr-dict (`->` type($results)^)?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return getOutputMutable();
    }
    ::mlir::ShapedType getAType() {
      return ::llvm::cast<::mlir::ShapedType>(getA().getType());
    }
    /// The dimensions of A.
    int64_t getMDim() { return getAType().getRank() - (getTranspose() ? 2 : 1); }
    int64_t getKDim() { return getAType().getRank() - (getTranspose() ? 1 : 2); }
    /// The output's shape where A's is `shape`, sizes of which may be dynamic.
    static ::llvm::SmallVector<int64_t> getOutputShape(
        ::llvm::ArrayRef<int64_t> shape, bool transpose, int64_t splits,
        ::std::optional<int64_t> windows = ::std::nullopt);
  }];
}

def NM_RecomputeFromOp : NM_Op<"recompute_from", [
    DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
                                 ["reifyResultShapes"]>]> {
  let summary = "makes sums of split floats again that are not finite";
  let description = [{
    `sums` is what products of split floats have added to, and A, the values and
    the indices are what they have in all. Sums that did not come out finite are
    made again from these by multiply-adds of f32 on the CUDA cores, and the
    others stay: the splits of an infinite, a NaN or a huge value do not add up
    to it, but say which it is. Zeros that fill groups of `#nm.sparse_operand`
    up, and are no weights, are left out.

    Constraints: those of `nm.spmm` on A, the values, the indices and C, with a
    `packing` that has splits.

    ```mlir
    nm.recompute_from <8:32, block = 1x128>
      packing #nm.packing<panel = 128, index_bits = 8, tile_rows = 32, splits = 3>
      ins(%a, %values, %indices : memref<512x384xbf16>, memref<1x384x128xbf16>,
                                  memref<1x128x1xi8>)
      outs(%c : memref<128x128xf32>)
    ```
  }];
  let arguments = (ins NM_PatternAttr:$pattern,
                       NM_PackedFormAttrInterface:$packing,
                       NM_Activations:$a, NM_Values:$values,
                       NM_Indices:$indices, NM_Output:$sums);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $pattern `packing` $packing
    `ins` `(` $a `,` $values `,` $indices `:` type($a) `,` type($values) `,`
              type($indices) `)`
    `outs` `(` $sums `:` type($sums) `)` attr-dict (`->` type($results)^)?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return getSumsMutable();
    }
  }];
}

#endif // NM_DIALECT_NM_IR_NMTERMS_TD
