//===- NMSums.td - Sums that several make together ---------*- tablegen -*-===//

#ifndef NM_DIALECT_NM_IR_NMSUMS_TD
#define NM_DIALECT_NM_IR_NMSUMS_TD

include "mlir/Dialect/SCF/IR/DeviceMappingInterface.td"
include "nm/Dialect/NM/IR/NMAttributes.td"

def NM_ClusterBlockAttr
    : NM_Attr<"ClusterBlock", "cluster_block",
              [DeclareAttrInterfaceMethods<DeviceMappingAttrInterface>]> {
  let summary = "iterations are the blocks of one thread block cluster";
  let description = [{
    The mapping of an `scf.forall` inside one over thread blocks: each
    iteration is a block of a cluster (CUDA programming guide, 5.2.1), and each
    iteration of the loop around it a cluster.

    ```mlir
    scf.forall (%part) in (4) {
      ...
    } {mapping = [#nm.cluster_block]}
    ```
  }];
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

def NM_Partials : AnyTypeOf<[RankedTensorOf<[F32, I32]>,
                             MemRefOf<[F32, I32]>]>;

def NM_CombineOp : NM_DestinationOp<"combine"> {
  let summary = "adds up partial sums, in a fixed order";
  let description = [{
    C += P[0] + P[1] + ..., where the first dimension of the partial sums P is
    the parts. An element's parts are added one after the other, in their own
    type. Their sum is added to C, and the result is rounded once, to C's type.

    The order of the parts depends on nothing but the element's place, so that
    results are the same from run to run. It is that of their numbers; in a
    thread block cluster, the block that adds up an element starts with its own
    part and goes round.

    `nm-tile-to-gpu-blocks` makes it of products whose k several blocks share,
    and PartialReductionOpInterface of `nm.spmm` and `nm.spmv` merges by it. Where
    the warps of one block share k (`slice_k`), their sums never are in memory
    as tensors: the schedule says so, and the strategy combines them inside the
    tile, in the order of the warps.

    Constraints:
    * (C1) C has at least one dimension, and the partial sums one more, the
      first; their other sizes are C's. Every size is at most 2^40.
    * (C2) partial sums of f32 go to a C of f32, f16 or bf16, and those of i32
      to one of i32.
    * (C3) operands are all tensors or all memrefs of strided layouts; on
      tensors there is one result, of C's type.

    ```mlir
    %r = nm.combine ins(%p : tensor<4x64x128xf32>)
                    outs(%c : tensor<64x128xf32>) -> tensor<64x128xf32>
    ```
  }];
  let arguments = (ins NM_Partials:$partials, NM_Output:$c);
  let assemblyFormat = [{
    `ins` `(` $partials `:` type($partials) `)` `outs` `(` $c `:` type($c) `)`
    attr-dict (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getCMutable(); }
    ::mlir::ShapedType getPartialsType() {
      return ::llvm::cast<::mlir::ShapedType>(getPartials().getType());
    }
    ::mlir::ShapedType getCType() {
      return ::llvm::cast<::mlir::ShapedType>(getC().getType());
    }
  }];
}

#endif // NM_DIALECT_NM_IR_NMSUMS_TD
