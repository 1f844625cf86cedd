//===- NMOps.td - Operations of the nm dialect -------------*- tablegen -*-===//

#ifndef NM_DIALECT_NM_IR_NMOPS_TD
#define NM_DIALECT_NM_IR_NMOPS_TD

include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/TilingInterface.td"
include "nm/Dialect/NM/IR/NMAttributes.td"
include "nm/Dialect/NM/IR/NMInterfaces.td"
include "nm/Dialect/NM/IR/NMRecord.td"
include "nm/Dialect/NM/IR/NMSchedules.td"

def NM_WeightElement : AnyTypeOf<[F32, F16, BF16, I8, F8E4M3FN, F8E5M2]>;
def NM_ResultElement : AnyTypeOf<[F32, F16, BF16, I32, I8, F8E4M3FN,
                                  F8E5M2]>;
/// What an epilogue computes with.
def NM_EpilogueElement : AnyTypeOf<[AnyFloat, AnySignlessInteger]>;
def NM_EpilogueOperand : AnyTypeOf<[RankedTensorOf<[NM_EpilogueElement]>,
                                    MemRefOf<[NM_EpilogueElement]>]>;

/// A ranked tensor, or a memref in any memory space.
class NM_Shaped<Type element, list<int> ranks>
    : AnyTypeOf<[TensorRankOf<[element], ranks>, MemRefRankOf<[element], ranks>]>;
def NM_Activations : AnyTypeOf<[RankedTensorOf<[NM_WeightElement]>,
                                MemRefOf<[NM_WeightElement]>]>;
def NM_Output : AnyTypeOf<[RankedTensorOf<[NM_ResultElement]>,
                           MemRefOf<[NM_ResultElement]>]>;
/// Rank 2 condensed, rank 3 packed.
def NM_Values : NM_Shaped<NM_WeightElement, [2, 3]>;
def NM_Indices : NM_Shaped<I8, [2, 3]>;
/// Beside packed indices alone.
def NM_Lists : NM_Shaped<I8, [3]>;
def NM_Scales : NM_Shaped<AnyTypeOf<[F16, BF16]>, [2]>;

class NM_Op<string mnemonic, list<Trait> traits = []>
    : Op<NM_Dialect, mnemonic, traits>;

/// An op that writes its `outs` operands: on tensors it has a result for each,
/// on memrefs none.
class NM_DestinationOp<string mnemonic, list<Trait> traits = [],
                       list<string> tilingFromOperands = []>
    : NM_Op<mnemonic, !listconcat(traits, [
        DestinationStyleOpInterface,
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
        DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
                                 ["reifyResultShapes"]>,
        DeclareOpInterfaceMethods<TilingInterface, !listconcat([
          "getIterationDomain", "getLoopIteratorTypes",
          "getTiledImplementation", "getResultTilePosition",
          "generateResultTileValue"], tilingFromOperands)>])> {
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

def NM_AllowedArithmetic
    : DefaultValuedAttr<NM_ArithmeticAttr, "::mlir::nm::Arithmetic::F32">;
def NM_EpilogueMaps : DefaultValuedAttr<AffineMapArrayAttr, "{}">;

class NM_ProductOp<string mnemonic>
    : NM_DestinationOp<mnemonic, [
        IsolatedFromAbove,
        AttrSizedOperandSegments,
        DeclareOpInterfaceMethods<NM_SparseProductOpInterface>,

        DeclareOpInterfaceMethods<PartialReductionOpInterface, [
          "generateInitialTensorForPartialReduction", "tileToPartialReduction",
          "mergeReductions", "getPartialResultTilePosition"]>], [
        "getIterationDomainTileFromOperandTiles",
        "getTiledImplementationFromOperandTiles"]> {
  // One, or none: upstream's clone of an op crashes on a region without blocks.
  let regions = (region VariadicRegion<SizedRegion<1>>:$epilogues);
  let hasCanonicalizer = 1;
  let hasRegionVerifier = 1;
  // lib/Dialect/NM/IR/Bytecode.cpp stores fields by name.
  let useCustomPropertiesEncoding = 1;
  code productDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getCMutable(); }
  }];
  let extraClassDefinition = [{
    SmallVector<Range> $cppClass::getIterationDomain(OpBuilder &builder) {
      return detail::getProductDomain(*this, builder);
    }

    SmallVector<utils::IteratorType> $cppClass::getLoopIteratorTypes() {
      return detail::getProductIteratorTypes(*this);
    }

    FailureOr<TilingResult>
    $cppClass::getTiledImplementation(OpBuilder &builder,
                                      ArrayRef<OpFoldResult> offsets,
                                      ArrayRef<OpFoldResult> sizes) {
      return detail::tileProduct(
          *this, builder, {llvm::to_vector(offsets), llvm::to_vector(sizes)});
    }

    LogicalResult $cppClass::getResultTilePosition(
        OpBuilder &, unsigned, ArrayRef<OpFoldResult> offsets,
        ArrayRef<OpFoldResult> sizes, SmallVector<OpFoldResult> &resultOffsets,
        SmallVector<OpFoldResult> &resultSizes) {
      SliceRegion region = detail::getProductRegionOfC(
          *this, {llvm::to_vector(offsets), llvm::to_vector(sizes)});
      resultOffsets = region.offsets;
      resultSizes = region.sizes;
      return success();
    }

    FailureOr<TilingResult>
    $cppClass::generateResultTileValue(OpBuilder &builder, unsigned,
                                       ArrayRef<OpFoldResult> offsets,
                                       ArrayRef<OpFoldResult> sizes) {
      return detail::tileProduct(
          *this, builder,
          detail::getProductTileOfC(
              *this, builder,
              {llvm::to_vector(offsets), llvm::to_vector(sizes)}));
    }

    LogicalResult $cppClass::getIterationDomainTileFromOperandTiles(
        OpBuilder &builder, ArrayRef<unsigned> operands,
        ArrayRef<SmallVector<OpFoldResult>> offsets,
        ArrayRef<SmallVector<OpFoldResult>> sizes,
        SmallVectorImpl<OpFoldResult> &domainOffsets,
        SmallVectorImpl<OpFoldResult> &domainSizes) {
      FailureOr<SliceRegion> tile = detail::getProductTileOfOperands(
          *this, builder, operands, offsets, sizes);
      if (failed(tile))
        return failure();
      domainOffsets.assign(tile->offsets);
      domainSizes.assign(tile->sizes);
      return success();
    }

    FailureOr<TilingResult>
    $cppClass::getTiledImplementationFromOperandTiles(
        OpBuilder &builder, ArrayRef<unsigned> operands,
        ArrayRef<SmallVector<OpFoldResult>> offsets,
        ArrayRef<SmallVector<OpFoldResult>> sizes) {
      FailureOr<SliceRegion> tile = detail::getProductTileOfOperands(
          *this, builder, operands, offsets, sizes);
      if (failed(tile))
        return failure();
      return detail::tileProduct(*this, builder, *tile);
    }

    FailureOr<SmallVector<Value>>
    $cppClass::generateInitialTensorForPartialReduction(
        OpBuilder &builder, Location, ArrayRef<OpFoldResult> sizes,
        const llvm::SetVector<unsigned> &reductionDims) {
      FailureOr<Value> sums =
          detail::createPartialSums(*this, builder, sizes, reductionDims);
      if (failed(sums))
        return failure();
      return SmallVector<Value>{*sums};
    }

    FailureOr<TilingResult> $cppClass::tileToPartialReduction(
        OpBuilder &builder, Location, ReductionTilingStrategy strategy,
        ValueRange init, ArrayRef<OpFoldResult> offsets,
        ArrayRef<OpFoldResult> sizes,
        const llvm::SetVector<unsigned> &reductionDims,
        ArrayRef<OpFoldResult> splitReductionIvs) {
      return detail::tileToPart(
          *this, builder, strategy, init,
          {llvm::to_vector(offsets), llvm::to_vector(sizes)}, reductionDims,
          splitReductionIvs.front());
    }

    FailureOr<MergeResult> $cppClass::mergeReductions(
        OpBuilder &builder, Location, ValueRange partials,
        const llvm::SetVector<unsigned> &) {
      return mergePartialSums(builder, *this, partials.front());
    }

    LogicalResult $cppClass::getPartialResultTilePosition(
        OpBuilder &builder, unsigned, ReductionTilingStrategy,
        ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> sizes,
        const llvm::SetVector<unsigned> &,
        ArrayRef<OpFoldResult> splitReductionIvs,
        SmallVector<OpFoldResult> &resultOffsets,
        SmallVector<OpFoldResult> &resultSizes) {
      SliceRegion region = detail::getRegionOfPart(
          *this, builder, {llvm::to_vector(offsets), llvm::to_vector(sizes)},
          splitReductionIvs.front());
      resultOffsets = region.offsets;
      resultSizes = region.sizes;
      return success();
    }
  }];
}

def NM_SpMMOp : NM_ProductOp<"spmm"> {
  let summary = "dense activations times N:M-sparse weights: C += A · B";
  let description = [{
    C[m×n] += A[m×k] · B[k×n], with B in condensed form, or in packed form
    where `packing` is given. Products are summed in f32 (i32 for i8), the sum
    is added to C, and the result is rounded once, at the end. k-rows that B
    has in its padding (a ragged last window) contribute nothing.

    Long sums in f32 are made of chains of 64 to 128 kept rows, whose sums are
    added up in the same way, so that their error grows with log(k). On a GPU
    that is for sums of more than 24 576 kept rows, and of some schedules for
    none: see `nm/Schedule/SumChains.h`.

    A pruned weight contributes nothing, whatever activation it meets: the
    other columns of a row with an infinite or NaN activation stay as they are.
    A value that is stored is a kept weight, also where it is zero, and zero
    times infinity is NaN. `nm.compress` stores such zeros where a window has
    fewer than N non-zero units, at the lowest positions that are free. Dense
    weights, which `nm-select-schedule` and `nm-select-gpu-schedule` fall back
    to where they are estimated to be faster, store all zeros: there, an
    infinite or NaN activation makes every column of its row infinite or NaN.
    Of patterns other than 2:4 and 1:2, `#nm.sparse_operand` stores some zeros,
    which all but split floats are multiplied with.
    Their option `dense-fallback=false` forbids both.

    With `transpose_a`, A is given as [k×m]; with `transpose_c`, C is given as
    [n×m]. A and C may have equal leading batch dimensions, all multiplied by
    the same B. m, and the batch, may be dynamic.

    With `panels_a = r`, an A of 8-bit elements is in panels of 16 columns: those
    of one m side by side, and behind them those of the next. A is then given as
    [k/16 × 16·⌈m/r⌉·r], with anything in what fills up m to a multiple of r. So
    the rows of a block that gathers units of 16 rows of k and more follow one
    another, where those of a row-major A are k bytes apart.

    ```mlir
    %r = nm.spmm <2:4, block = 16x64> panels_a 128
      ins(%a, %v, %i : tensor<32x2048xi8>, tensor<256x64xi8>, tensor<16x1xi8>)
      outs(%c : tensor<100x64xi32>) -> tensor<100x64xi32>
    ```

    With `gathered = [W, L]`, A is a tile that a block has gathered: of each of W
    windows it has L of the M units, one after another, and its k is W·M·bk. With
    L = N these are the units that are kept, in their order, and A has kept row r
    at row r; behind them may be rows of zeros, for which the values have as
    many. Else the indices are positions among the L.

    ```mlir
    nm.spmm <2:8, block = 8x64> transpose_a gathered [2, 2] schedule #wgmma
      ins(%tile, %v, %i : memref<32x64xf16, #panels, #gpu.address_space<workgroup>>,
          memref<1x32x64xf16, #panels, #gpu.address_space<workgroup>>,
          memref<1x4x1xi8, strided<[16, 1, 1], offset: ?>>)
      outs(%c : memref<64x64xf16, strided<[4096, 1], offset: ?>>)
    ```

    Constraints:
    * (C1) A and C have the same rank, at least 2, and equal batch dimensions
      and m. Where `packing` has splits, A is m-major and has the columns that
      `nm.split_floats` makes of m. `panels_a`, 1 to 2^40, comes with an A of 8-bit
      elements, without `transpose_a`, and with no schedule, `#nm.loops`, or
      `#nm.wgmma` with `copy_a = bulk`.
    * (C2) A and the values have the same element type, but for values that are
      quantized (Q1); C has A's type or f32 for floats, and i32 for i8. With an
      epilogue, C has any of f32, f16, bf16, i32, i8, f8E4M3FN and f8E5M2.
    * (C3) an unstructured pattern comes without `packing`; values are [1×kept]
      and indices [1×⌈k/8⌉·n] then. Else values are [w×ñ] and indices [w/bk × ñ/bn], with
      w = ⌈k/(M·bk)⌉·N·bk and ñ = ⌈n/bn⌉·bn; or, with `packing`, as
      that packed form says, which may have `lists`, the rows of A that columns
      use, beside them. There are lists where it has, and else none. Every size
      is at most 2^40.
    * (C4) operands are all tensors or all memrefs of strided layouts; on
      tensors there is one result, of C's type.
    * (C5) an `arithmetic` other than `f32` has f32 operands, or splits of them:
      three for `f32`, at least two for `bf16x3` and `tf32`, and none for
      `ieee`; `fast_accum` has operands of f8E4M3FN or f8E5M2.
    * (C6) `gathered` is [W, L] with W >= 1 and N <= L <= M, of an A in a memref
      and a schedule for a GPU. A has W·L·bk rows, or more with L = N; the values
      then have rows for each of A's.

    ```mlir
    %r = nm.spmm <2:4>
      ins(%a, %v, %i : tensor<?x64xf32>, tensor<32x48xf32>, tensor<32x48xi8>)
      outs(%c : tensor<?x48xf32>) -> tensor<?x48xf32>
    %s = nm.spmm <3:32, block = 1x32>
      packing #nm.packing<panel = 32, index_bits = 8, col_info = 64>
      ins(%a, %pv, %pi : tensor<?x64xf32>, tensor<2x6x32xf32>, tensor<2x6x1xi8>)
      lists(%pl : tensor<2x6x1xi8>)
      outs(%d : tensor<?x64xf32>) -> tensor<?x64xf32>
    ```

    An `epilogue` is a region that takes each sum, in the type that products
    are summed in, and one element of each of its operands, and yields the
    element of C. It runs once for each element of C, after its last product.
    C = epilogue(A · B, operands) is then written and not read: what is to be
    added to the sum (a residual, or what C had) is an operand like any other,
    so that C may have a type that sums never have. Each operand has an affine
    map from (batch..., m, n) to its dimensions; a dimension that the map leaves
    out is one that the operand is broadcast along. The region does all
    rounding itself.

    ```mlir
    %r = nm.spmm <2:4>
      ins(%a, %v, %i : tensor<?x64xf32>, tensor<32x48xf32>, tensor<32x48xi8>)
      outs(%c : tensor<?x48xf16>) -> tensor<?x48xf16>
      epilogue ins(%bias : tensor<48xf32>) maps [affine_map<(m, n) -> (n)>] {
      ^bb0(%sum: f32, %b: f32):
        %zero = arith.constant 0.0 : f32
        %biased = arith.addf %sum, %b : f32
        %relu = arith.maximumf %biased, %zero : f32
        %y = arith.truncf %relu : f32 to f16
        nm.yield %y : f16
      }
    ```

    Constraints of an epilogue:
    * (E1) its arguments are the sum, f32 (i32 for i8), then an element of each
      operand.
    * (E2) there is one map for each operand. It takes (batch..., m, n), or (n)
      of `nm.spmv`, to distinct ones of these, as many as the operand has
      dimensions; sizes agree with C's.
    * (E3) the region has constants and elementwise scalar ops without side
      effects, and ends with `nm.yield` of C's element type. It uses no value
      from outside of it.

    `arithmetic` is what the sums may be computed by; see `#nm.arithmetic`.

    With `quantization`, values are integers of 4 or 8 bits, and a weight is one
    of them times the scale of its column and group of k, rounded to A's type.
    `scales` are [⌈k/group⌉ × n], as they come; `nm.pack` leaves them.

    ```mlir
    %r = nm.spmm <2:4> quantization <bits = 4, group = 32>
      ins(%a, %v, %i : tensor<?x64xf16>, tensor<32x48xi8>, tensor<32x48xi8>)
      scales(%s : tensor<2x48xf16>)
      outs(%c : tensor<?x48xf16>) -> tensor<?x48xf16>
    ```

    Constraints of quantized weights:
    * (Q1) A is f16 or bf16, and the values are i8, a byte each where they are
      condensed. With `packing`, that is an `#nm.sparse_operand<mma>` or an
      `#nm.packing` of as many bits, and values are its bytes.
    * (Q2) the scales have A's element type and the shape [⌈k/group⌉ × n].
    * (Q3) group is a multiple of the window's M·bk rows.
    * (Q4) a schedule is `#nm.loops`, or `#nm.mma_sp` or `#nm.mma_sync` with as
      many bits. In these, group divides k of the block, and k of a slice is a
      multiple or a divisor of it, and in `#nm.mma_sp` group is a multiple of 32;
      or group is at least k. Or, until they are
      packed, it is any whose packed form quantized values can have, too:
      `nm-pack-weights` then dequantizes them, and no quantization is left.

    N:M SpMM is described in NM-SpMM (Ma et al., IPDPS 2025) and nmSPARSE
    (Lin et al., MLSys 2023).
  }];
  let arguments = (ins NM_PatternAttr:$pattern,
                       NM_Activations:$a, NM_Values:$values,
                       NM_Indices:$indices,
                       Optional<NM_Lists>:$lists,
                       Optional<NM_Scales>:$scales,
                       Variadic<NM_EpilogueOperand>:$epilogueOperands,
                       NM_Output:$c,
                       UnitAttr:$transpose_a, UnitAttr:$transpose_c,
                       OptionalAttr<I64Attr>:$panels_a,
                       OptionalAttr<NM_PackedFormAttrInterface>:$packing,
                       OptionalAttr<NM_ScheduleAttrInterface>:$schedule,
                       NM_AllowedArithmetic:$arithmetic,
                       NM_EpilogueMaps:$epilogue_maps,
                       OptionalAttr<NM_QuantizationAttr>:$quantization,
                       OptionalAttr<DenseI64ArrayAttr>:$gathered);
  let assemblyFormat = [{
    $pattern (`transpose_a` $transpose_a^)? (`transpose_c` $transpose_c^)?
    (`panels_a` $panels_a^)? (`gathered` $gathered^)? (`packing` $packing^)? (`schedule` $schedule^)?
    (`arithmetic` $arithmetic^)? (`quantization` $quantization^)?
    `ins` `(` $a `,` $values `,` $indices `:` type($a) `,` type($values) `,`
              type($indices) `)`
    (`lists` `(` $lists^ `:` type($lists) `)`)?
    (`scales` `(` $scales^ `:` type($scales) `)`)?
    `outs` `(` $c `:` type($c) `)` attr-dict (`->` type($results)^)?
    (`epilogue` (`ins` `(` $epilogueOperands^ `:` type($epilogueOperands) `)`
                 `maps` $epilogue_maps)? $epilogues^)?
  }];
  let extraClassDeclaration = productDeclaration # [{
    /// The m to whose multiple the panels of A are filled up; 0 where A is not
    /// in panels.
    int64_t getRowsOfPanels() { return getPanelsA().value_or(0); }
  }];
}

def NM_SpMVOp : NM_ProductOp<"spmv"> {
  let summary = "a dense vector times N:M-sparse weights: y += x · B";
  let description = [{
    y[n] += x[k] · B[k×n]: `nm.spmm` with m = 1 and no m dimension. A
    matrix-vector product W[n×k] · x[k] is the same op on the condensed form of
    W's transpose.

    Constraints:
    * (C1) x and y have rank 1.
    * (C2), (C3), (C4), (C5) and the epilogue as for `nm.spmm`.

    ```mlir
    %y = nm.spmv <1:4>
      ins(%x, %v, %i : tensor<64xf16>, tensor<16x48xf16>, tensor<16x48xi8>)
      outs(%y0 : tensor<48xf32>) -> tensor<48xf32>
    ```
  }];
  let arguments = (ins NM_PatternAttr:$pattern,
                       NM_Activations:$a, NM_Values:$values,
                       NM_Indices:$indices,
                       Optional<NM_Lists>:$lists,
                       Optional<NM_Scales>:$scales,
                       Variadic<NM_EpilogueOperand>:$epilogueOperands,
                       NM_Output:$c,
                       OptionalAttr<NM_PackedFormAttrInterface>:$packing,
                       OptionalAttr<NM_ScheduleAttrInterface>:$schedule,
                       NM_AllowedArithmetic:$arithmetic,
                       NM_EpilogueMaps:$epilogue_maps,
                       OptionalAttr<NM_QuantizationAttr>:$quantization);
  let assemblyFormat = [{
    $pattern (`packing` $packing^)? (`schedule` $schedule^)?
    (`arithmetic` $arithmetic^)? (`quantization` $quantization^)?
    `ins` `(` $a `,` $values `,` $indices `:` type($a) `,` type($values) `,`
              type($indices) `)`
    (`lists` `(` $lists^ `:` type($lists) `)`)?
    (`scales` `(` $scales^ `:` type($scales) `)`)?
    `outs` `(` $c `:` type($c) `)` attr-dict (`->` type($results)^)?
    (`epilogue` (`ins` `(` $epilogueOperands^ `:` type($epilogueOperands) `)`
                 `maps` $epilogue_maps)? $epilogues^)?
  }];
  let extraClassDeclaration = productDeclaration;
}

def NM_YieldOp : NM_Op<"yield", [
    Pure, Terminator, ParentOneOf<["SpMMOp", "SpMVOp"]>]> {
  let summary = "ends an epilogue";
  let description = [{
    Gives the element of C that a product's epilogue makes.

    ```mlir
    nm.yield %y : f16
    ```
  }];
  let arguments = (ins NM_EpilogueElement:$value);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

include "nm/Dialect/NM/IR/NMFormats.td"
include "nm/Dialect/NM/IR/NMSplitFloats.td"

//===----------------------------------------------------------------------===//
// The program edge
//===----------------------------------------------------------------------===//

def NM_EncodedTensor : Type<
    CPred<"::llvm::isa<::mlir::RankedTensorType>($_self) && "
          "::llvm::isa_and_present<::mlir::nm::EncodingAttr>("
          "::llvm::cast<::mlir::RankedTensorType>($_self).getEncoding())">,
    "ranked tensor with an #nm.encoding", "::mlir::RankedTensorType">;

def NM_ValuesTensor : 2DTensorOf<[NM_WeightElement]>;
def NM_IndicesTensor : 2DTensorOf<[I8]>;

def NM_DisassembleOp : NM_Op<"disassemble", [Pure]> {
  let summary = "an encoded tensor's condensed values and indices";
  let description = [{
    Splits a tensor with an `#nm.encoding` into its condensed parts. It bridges
    the program edge until `nm-materialize-storage` replaces the encoded tensor
    (a constant or a function argument) by the parts themselves.

    Constraints:
    * (C1) the operand carries an `#nm.encoding`.
    * (C2) values and indices are its condensed form, of static shape: see
      `nm.spmm` (C3).

    ```mlir
    %v, %i = nm.disassemble %w
      : tensor<64x48xf32, #nm.encoding<2:4>> -> tensor<32x48xf32>, tensor<32x48xi8>
    ```
  }];
  let arguments = (ins NM_EncodedTensor:$encoded);
  let results = (outs NM_ValuesTensor:$values, NM_IndicesTensor:$indices);
  let assemblyFormat = [{
    $encoded attr-dict `:` type($encoded) `->` type($values) `,` type($indices)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
  let builders = [OpBuilder<(ins "::mlir::Value":$encoded)>];
}

def NM_AssembleOp : NM_Op<"assemble", [Pure]> {
  let summary = "an encoded tensor from its condensed values and indices";
  let description = [{
    The inverse of `nm.disassemble`.

    Constraints: (C1), (C2) as there, for the result.

    ```mlir
    %w = nm.assemble %v, %i
      : tensor<32x48xf32>, tensor<32x48xi8> -> tensor<64x48xf32, #nm.encoding<2:4>>
    ```
  }];
  let arguments = (ins NM_ValuesTensor:$values, NM_IndicesTensor:$indices);
  let results = (outs NM_EncodedTensor:$encoded);
  let assemblyFormat = [{
    $values `,` $indices attr-dict `:` type($values) `,` type($indices) `->`
    type($encoded)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

//===----------------------------------------------------------------------===//
// Libraries
//===----------------------------------------------------------------------===//

def NM_HasCublasOp : NM_Op<"has_cublas", [
    MemoryEffects<[MemRead<NM_LibraryResource>,
                   MemWrite<NM_LibraryResource>]>]> {
  let summary = "whether cuBLAS can be loaded where the program runs";
  let description = [{
    The condition under which a product of strategy `cublas` runs; see
    `nm-call-cublas`. Loads the library where it is not yet, which changes the
    process: it is the same throughout a process, but each product has a
    condition of its own, and two are never merged: cuBLAS may refuse one product
    and take the other. One that is not used goes.

    ```mlir
    %loaded = nm.has_cublas
    ```
  }];
  let results = (outs I1:$loaded);
  let assemblyFormat = "attr-dict";
  let hasCanonicalizeMethod = 1;
}

include "nm/Dialect/NM/IR/NMSums.td"
include "nm/Dialect/NM/IR/NMTiles.td"
include "nm/Dialect/NM/IR/NMRoles.td"
include "nm/Dialect/NM/IR/NMStores.td"
include "nm/Dialect/NM/IR/NMTensorMaps.td"

#endif // NM_DIALECT_NM_IR_NMOPS_TD
