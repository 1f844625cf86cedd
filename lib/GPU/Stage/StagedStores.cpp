//===- StagedStores.cpp - Tiles of C by way of shared memory --------------===//

#include "GPU/Stage/StagedStores.h"

#include "GPU/Stage/StagedOperands.h"

#include "nm/GPU/Stage/OperandDemands.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::nm;

static int64_t countSlots(SpMMOp op) {
  return op.getScheduleAttr().getTiling().storeBuffers;
}

/// The slots of all warpgroups, of the type of C that is stored; null where
/// there are none.
static MemRefType getStoreBufferViews(SpMMOp op) {
  constexpr int64_t kSide = StageStoresOp::kSlotSide;
  int64_t slots = countSlots(op);
  if (slots == 0)
    return {};
  int64_t warpgroups = op.getScheduleAttr().getTiling().countConsumers() /
                       ::nm::kWarpgroupThreads;
  auto type = cast<MemRefType>(findStoredTile(op)->get().getType());
  return getPanelledType({warpgroups, slots, kSide, kSide},
                         type.getElementType());
}

LogicalResult mlir::nm::verifyStagedStores(SpMMOp op) {
  if (countSlots(op) == 0)
    return success();
  constexpr int64_t kElementBits = 16;
  Value c = findStoredTile(op)->get();
  auto type = cast<MemRefType>(c.getType());
  int64_t bits = type.getElementTypeBitWidth();
  if (bits != kElementBits)
    return op.emitOpError() << "expected C to have elements of " << kElementBits
                            << " bits for 'store_buffers', but got " << type;
  int64_t bytes = getLeastRowBytesOfC(op.getScheduleAttr());
  if (!hasRowsAt(c, bytes))
    return op.emitOpError() << "expected rows of C at multiples of " << bytes
                            << " bytes for 'store_buffers', but got " << type;
  return success();
}

void mlir::nm::stageStores(OpBuilder &builder, SpMMOp op) {
  MemRefType type = getStoreBufferViews(op);
  if (!type)
    return;
  OpBuilder::InsertionGuard guard(builder);
  auto blocks = op->getParentOfType<scf::ForallOp>();
  builder.setInsertionPointToStart(blocks.getBody());
  Value slots = memref::AllocOp::create(builder, op.getLoc(), type);
  OpOperand *stored = findStoredTile(op);
  builder.setInsertionPoint(stored->getOwner());
  stored->set(
      StageStoresOp::create(builder, op.getLoc(), stored->get(), slots));
}
