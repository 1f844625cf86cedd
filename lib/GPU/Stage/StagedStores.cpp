//===- StagedStores.cpp - Tiles of C by way of shared memory --------------===//

#include "GPU/Stage/StagedStores.h"

#include "GPU/Stage/StagedOperands.h"

#include "nm/GPU/Stage/AccessWidth.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::nm;

/// What stores C's tile: the product's own operand, or where its sums are in
/// memory of the block that no one else sees, the epilogue's.
static OpOperand *findStoredTile(SpMMOp op) {
  auto blocks = op->getParentOfType<scf::ForallOp>();
  Value view = op.getC();
  while (
      isa_and_present<memref::CastOp, memref::SubViewOp>(view.getDefiningOp()))
    view = view.getDefiningOp()->getOperand(0);
  auto sums = view.getDefiningOp<memref::AllocOp>();
  if (!sums || !blocks->isProperAncestor(sums))
    return &op.getCMutable();
  for (auto epilogue : blocks.getOps<linalg::GenericOp>())
    return &epilogue.getDpsInitsMutable()[0];
  return &op.getCMutable();
}

static int64_t countSlots(SpMMOp op) {
  return op.getScheduleAttr().getTiling().slotsOfC;
}

/// The slots of all warpgroups, of the type of C that is stored; null where
/// there are none.
static MemRefType getStoreSlots(SpMMOp op, const GpuTile &tile) {
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

int64_t mlir::nm::getStoreBytes(SpMMOp op, const GpuTile &tile) {
  MemRefType slots = getStoreSlots(op, tile);
  return slots ? getWorkgroupBytes(slots) : 0;
}

LogicalResult mlir::nm::verifyStagedStores(SpMMOp op, const GpuTile &tile) {
  if (countSlots(op) == 0)
    return success();
  constexpr int64_t kStoreBytes = 16, kElementBits = 16;
  Value c = findStoredTile(op)->get();
  auto type = cast<MemRefType>(c.getType());
  int64_t bits = type.getElementTypeBitWidth();
  if (bits != kElementBits)
    return op.emitOpError() << "expected C to have elements of " << kElementBits
                            << " bits for 'c_slots', but got " << type;
  SmallVector<int64_t> extents(type.getRank(), StageStoresOp::kSlotSide);
  if (getCopyWidth(c, extents) * bits / 8 != kStoreBytes)
    return op.emitOpError()
           << "expected rows of C at multiples of " << kStoreBytes
           << " bytes for 'c_slots', but got " << type;
  return success();
}

void mlir::nm::stageStores(OpBuilder &builder, SpMMOp op, const GpuTile &tile) {
  MemRefType type = getStoreSlots(op, tile);
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
