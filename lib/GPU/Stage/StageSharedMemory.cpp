//===- StageSharedMemory.cpp - Operand tiles to workgroup memory ----------===//

#include "nm/GPU/Phases.h"

#include "GPU/Select/GpuStrategy.h"

#include "nm/Dialect/NM/IR/CheckDivisors.h"
#include "nm/Dialect/NM/IR/CollectOps.h"
#include "nm/GPU/Tile/GpuTile.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::nm {
#define GEN_PASS_DEF_NMSTAGESHAREDMEMORY
#include "nm/GPU/Passes.h.inc"
} // namespace mlir::nm

using namespace mlir;
using namespace mlir::nm;

/// A view of `memref` without its first `count` dimensions, which a tile has
/// one of even where their type does not say so.
static Value dropLeadingDims(OpBuilder &builder, Location loc, Value memref,
                             int64_t count) {
  auto type = cast<MemRefType>(memref.getType());
  SmallVector<OpFoldResult> offsets(type.getRank(), builder.getIndexAttr(0)),
      strides(type.getRank(), builder.getIndexAttr(1)),
      sizes = memref::getMixedSizes(builder, loc, memref);
  std::fill_n(sizes.begin(), count, builder.getIndexAttr(1));
  MemRefType reduced = memref::SubViewOp::inferRankReducedResultType(
      type.getShape().drop_front(count), type, offsets, sizes, strides);
  return memref::SubViewOp::create(builder, loc, reduced, memref, offsets,
                                   sizes, strides);
}

/// Removes the batch dimensions from A and C.
static void dropBatchDims(OpBuilder &builder, SpMMOp op) {
  int64_t batchDims = op.getNumBatchDims();
  if (batchDims == 0)
    return;
  builder.setInsertionPoint(op);
  for (OpOperand *operand : {&op.getAMutable(), &op.getCMutable()})
    operand->set(
        dropLeadingDims(builder, op.getLoc(), operand->get(), batchDims));
}

/// Whether it is a tile of a block.
static bool isTile(SpMMOp op) {
  return hasGpuSchedule(op) && op.hasPureBufferSemantics() &&
         op->getParentOfType<scf::ForallOp>();
}

LogicalResult mlir::nm::stageSharedMemory(OpBuilder &builder, SpMMOp op) {
  if (!isTile(op))
    return op.emitOpError()
           << "expected operands that are memrefs and a schedule for a GPU, in "
              "an scf.forall over blocks, as nm-tile-to-gpu-blocks and "
              "bufferization make it";
  dropBatchDims(builder, op);
  const GpuStrategy *strategy = findGpuStrategy(op.getScheduleAttr());
  return strategy ? strategy->stage(builder, op) : success();
}

namespace {
struct NMStageSharedMemory
    : mlir::nm::impl::NMStageSharedMemoryBase<NMStageSharedMemory> {
  using NMStageSharedMemoryBase::NMStageSharedMemoryBase;

  void runOnOperation() override {
    if (failed(checkDivisors(getOperation())))
      return signalPassFailure();
    OpBuilder builder(&getContext());
    for (auto op : collectOps<SpMMOp>(getOperation(), isTile))
      if (failed(stageSharedMemory(builder, op)))
        return signalPassFailure();
  }
};
} // namespace
