//===- NMTransformOps.td - The phases as transform ops -----*- tablegen -*-===//
//
// In pipeline order.
//
//===----------------------------------------------------------------------===//

#ifndef NM_DIALECT_NM_TRANSFORMOPS_NMTRANSFORMOPS_TD
#define NM_DIALECT_NM_TRANSFORMOPS_NMTRANSFORMOPS_TD

include "mlir/Dialect/Transform/IR/TransformDialect.td"
include "mlir/Dialect/Transform/IR/TransformTypes.td"
include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "nm/Dialect/NM/IR/NMScheduleInterface.td"

/// A transform op that runs a phase's function on payload ops. `effects` say
/// what becomes of the handle: most phases consume it.
class NM_PhaseOp<string mnemonic, dag stageResults,
                 list<Trait> effects = [FunctionalStyleTransformOpTrait,
                                        MemoryEffectsOpInterface]>
    : Op<Transform_Dialect, "nm." # mnemonic, effects # [
        DeclareOpInterfaceMethods<TransformOpInterface>,
        ReportTrackingListenerFailuresOpTrait]> {
  let cppNamespace = "::mlir::nm";
  let arguments = (ins TransformHandleTypeInterface:$target);
  let results = stageResults;
  let assemblyFormat = [{
    $target attr-dict `:` functional-type(operands, results)
  }];
}

def NM_TransformFuseEpilogueOp : NM_PhaseOp<"fuse_epilogue",
    (outs TransformHandleTypeInterface:$product)> {
  let summary = "fuses what follows a product to its epilogue";
  let description = [{
    Of each payload op, `nm.spmm` or `nm.spmv` on tensors, the linalg ops that
    take its result become its epilogue, as by `nm-fuse-epilogue`.

    Consumes the handle. The result is the product that has the epilogue.
    Silenceable failure where there is nothing to fuse, which says why.

    ```mlir
    %fused = transform.nm.fuse_epilogue %product
      : (!transform.any_op) -> !transform.any_op
    ```
  }];
}

def NM_TransformSelectScheduleOp : NM_PhaseOp<"select_schedule", (outs),
    [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "gives products their schedules";
  let description = [{
    Each payload op, `nm.spmm` or `nm.spmv`, gets a schedule from the cost model
    and a record of the choice: as by `nm-select-gpu-schedule` where the payload
    is in a module with a chip (`nm.chip`), else as by `nm-select-schedule`. The
    attributes are the options of these: `schedule`, in whole or in part;
    `dense_fallback`; and for a CPU its `features` and `threads`.

    Changes the payload in place, and does not consume the handle. Silenceable
    failure where no schedule fits.

    ```mlir
    transform.nm.select_schedule %product
      {schedule = #nm.simt<stages = 3>, dense_fallback = false} : !transform.any_op
    ```
  }];
  let arguments = (ins TransformHandleTypeInterface:$target,
    OptionalAttr<NM_ScheduleAttrInterface>:$schedule,
    DefaultValuedAttr<BoolAttr, "true">:$dense_fallback,
    DefaultValuedAttr<StrAttr, "\"\"">:$features,
    DefaultValuedAttr<I64Attr, "0">:$threads);
  let assemblyFormat = [{
    $target attr-dict `:` type($target)
  }];
}

def NM_TransformTileOp : NM_PhaseOp<"tile",
    (outs TransformHandleTypeInterface:$loops,
          TransformHandleTypeInterface:$products)> {
  let summary = "cuts products into the tiles of their schedules";
  let description = [{
    Each payload op, `nm.spmm` or `nm.spmv` on tensors with a schedule, becomes
    an `scf.forall` over tiles: as by `nm-tile-to-gpu-blocks` with a schedule for
    a GPU, else as by `nm-tile-to-blocks`.

    Consumes the handle. The results are the loops over blocks, more than one
    for a product whose k is split, and none for one that a CPU makes in one
    tile; and the products of a tile, more than one with strategy `cublas`.

    ```mlir
    %loops, %tiles = transform.nm.tile %product
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    ```
  }];
}

def NM_TransformStageOp : NM_PhaseOp<"stage",
    (outs TransformHandleTypeInterface:$product)> {
  let summary = "copies the operand tiles of products to workgroup memory";
  let description = [{
    Each payload op, an `nm.spmm` on memrefs with a schedule for a GPU in an
    `scf.forall` over blocks, takes copies of its operands, as by
    `nm-stage-shared-memory`.

    Consumes the handle. The result is the product of the copies.

    ```mlir
    %staged = transform.nm.stage %tile : (!transform.any_op) -> !transform.any_op
    ```
  }];
}

def NM_TransformPipelineOp : NM_PhaseOp<"pipeline",
    (outs TransformHandleTypeInterface:$products)> {
  let summary = "lets copies to workgroup memory run ahead of their use";
  let description = [{
    The copies of each payload op, an `nm.spmm` whose operands were staged, run
    ahead of it, or warps get roles, as by `nm-pipeline-copies`.

    Consumes the handle. The results are the products of the loop and of what is
    left behind it.

    ```mlir
    %products = transform.nm.pipeline %staged
      : (!transform.any_op) -> !transform.any_op
    ```
  }];
}

def NM_TransformExpandOp : NM_PhaseOp<"expand",
    (outs TransformHandleTypeInterface:$launches)> {
  let summary = "expands tiles to what a GPU's threads do";
  let description = [{
    Each payload op, an `scf.forall` on memrefs that is mapped to GPU blocks,
    becomes a `gpu.launch`, in which the products and copies are those of one
    thread, as by `convert-nm-to-gpu`.

    Consumes the handle. The result is the launch.

    ```mlir
    %launch = transform.nm.expand %loop : (!transform.any_op) -> !transform.any_op
    ```
  }];
}

#endif // NM_DIALECT_NM_TRANSFORMOPS_NMTRANSFORMOPS_TD
