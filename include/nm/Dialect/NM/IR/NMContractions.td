//===- NMContractions.td - Products of computed operands ---*- tablegen -*-===//

#ifndef NM_DIALECT_NM_IR_NMCONTRACTIONS_TD
#define NM_DIALECT_NM_IR_NMCONTRACTIONS_TD

include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/TilingInterface.td"
include "nm/Dialect/NM/IR/NMAttributes.td"

def NM_ComputedElement : AnyTypeOf<[F32, F16, BF16]>;
def NM_ComputedOperand : AnyTypeOf<[RankedTensorOf<[NM_ComputedElement]>,
                                    MemRefOf<[NM_ComputedElement]>]>;

/// An op on computed operands whose maps say which loop each dimension runs
/// along, as those of linalg ops do.
class NM_ContractionOp<string mnemonic, list<Trait> traits = []>
    : Op<NM_Dialect, mnemonic, !listconcat(traits, [
        DestinationStyleOpInterface,
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
        DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
                                 ["reifyResultShapes"]>])> {
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let hasVerifier = 1;
  code mapDeclarations = [{
    /// The map of operand `i`.
    ::mlir::AffineMap getMap(unsigned i) {
      return ::llvm::cast<::mlir::AffineMapAttr>(getIndexingMaps()[i])
          .getValue();
    }
    ::mlir::ShapedType getOperandType(unsigned i) {
      return ::llvm::cast<::mlir::ShapedType>(getOperand(i).getType());
    }
    unsigned getNumLoops() { return getMap(0).getNumDims(); }
  }];
}

def NM_ContractOp : NM_ContractionOp<"contract"> {
  let summary = "a sum of products of two computed operands";
  let description = [{
    C += A · B, where neither operand is a weight: the products of attention, and
    others with batches. As in `linalg.contract`, three maps say which loop each
    dimension of A, B and C runs along. A loop of all three is a batch, one of A
    and C belongs to m, one of B and C to n, and one of A and B to k, along which
    products are added. Each may consist of several loops, as m of a group of
    heads and of rows.

    Sums are in f32, and an element of C is rounded once. `arithmetic` is what
    they may be computed by; see `#nm.arithmetic`.

    `convert-linalg-to-nm` makes it for GPUs. `nm-call-cublas` makes a call of
    the library of it, and, for where there is none, the `linalg.generic` that
    has the same maps.

    Constraints:
    * (C1) the maps have the same loops, and each result of theirs is another
      loop, one for each dimension of the operand.
    * (C2) every loop is a batch, or belongs to m, n or k; some belong to k.
    * (C3) A and B have the same element type, and C has that or f32.
    * (C4) dimensions that run along one loop have the same size, and every size
      is at most 2^40.
    * (C5) an `arithmetic` other than `f32` is of operands of f32, and is not
      `fast_accum`.
    * (C6) operands are all tensors or all memrefs of strided layouts; on
      tensors there is one result, of C's type.

    ```mlir
    // The scores of 4 heads of queries for each of 2 of keys.
    %r = nm.contract indexing_maps = [affine_map<(h, g, m, n, k) -> (h, g, m, k)>,
                                      affine_map<(h, g, m, n, k) -> (h, n, k)>,
                                      affine_map<(h, g, m, n, k) -> (h, g, m, n)>]
      ins(%q, %k : tensor<2x4x64x32xf16>, tensor<2x96x32xf16>)
      outs(%c : tensor<2x4x64x96xf32>) -> tensor<2x4x64x96xf32>
    ```
  }];
  let arguments = (ins NM_ComputedOperand:$a, NM_ComputedOperand:$b,
                       NM_ComputedOperand:$c,
                       AffineMapArrayAttr:$indexing_maps,
                       DefaultValuedAttr<NM_ArithmeticAttr,
                         "::mlir::nm::Arithmetic::F32">:$arithmetic);
  let assemblyFormat = [{
    `indexing_maps` `=` $indexing_maps (`arithmetic` $arithmetic^)?
    `ins` `(` $a `,` $b `:` type($a) `,` type($b) `)`
    `outs` `(` $c `:` type($c) `)` attr-dict (`->` type($results)^)?
  }];
  let extraClassDeclaration = mapDeclarations # [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getCMutable(); }
  }];
}

include "nm/Dialect/NM/IR/NMAttention.td"

#endif // NM_DIALECT_NM_IR_NMCONTRACTIONS_TD
