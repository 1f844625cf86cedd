//===- StoreOps.cpp - Tiles of C on their way out of a GPU ----------------===//

#include "TileTypes.h"

using namespace mlir;
using namespace mlir::nm;

Value StageStoresOp::getViewSource() { return getTile(); }

LogicalResult StageStoresOp::verify() {
  constexpr int64_t kSlotRank = 4, kElementBits = 16;
  MemRefType tile = getBufferType(getTile()), slots = getBufferType(getSlots());
  // (C1).
  if (tile.getElementTypeBitWidth() != kElementBits || !isOfTensorMap(tile))
    return emitOpError() << "expected a tile of " << kElementBits
                         << "-bit elements whose rows are contiguous and "
                            "multiples of "
                         << kBulkUnitBytes << " bytes apart, but got " << tile;
  // (C2).
  if (failed(verifyElementTypes(*this, tile, slots)) ||
      failed(verifyIsInWorkgroup(*this, "slots", slots)))
    return failure();
  if (slots.getRank() != kSlotRank || slots.getDimSize(2) != kSlotSide ||
      slots.getDimSize(3) != kSlotSide || !hasTileOrStridedLayout(slots) ||
      !isSwizzledPanels(getTypeAtOffset(slots, kSlotRank - 2)))
    return emitOpError() << "expected slots [warpgroups x slots x " << kSlotSide
                         << " x " << kSlotSide << "] of swizzled rows, but got "
                         << slots;
  return success();
}
