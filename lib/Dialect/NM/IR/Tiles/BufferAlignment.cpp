//===- BufferAlignment.cpp - Where buffers may start ----------------------===//

#include "nm/Dialect/NM/IR/BufferAlignment.h"

#include "nm/Dialect/NM/IR/NM.h"

using namespace mlir;
using namespace mlir::nm;

/// Rows of a panel after which a swizzle repeats.
static constexpr int64_t kSwizzledRows = 8;

int64_t mlir::nm::getBufferAlignment(MemRefType type) {
  auto tile = dyn_cast<TileLayoutAttr>(type.getLayout());
  if (!tile || tile.getPanelColumns() == 0 || tile.getXors().empty())
    return kLineBytes;
  return std::max(kLineBytes, kSwizzledRows * tile.getPanelColumns() *
                                  type.getElementTypeBitWidth() / 8);
}
