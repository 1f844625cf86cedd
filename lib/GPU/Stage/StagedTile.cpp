//===- StagedTile.cpp - The parts of a staged tile ------------------------===//

#include "GPU/Stage/StagedTile.h"

#include "nm/Dialect/NM/IR/BufferAlignment.h"
#include "nm/GPU/Tile/GpuTile.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;
using namespace mlir::nm;

bool mlir::nm::isForStores(memref::AllocOp buffer) {
  return llvm::any_of(buffer->getUsers(), llvm::IsaPred<StageStoresOp>);
}

FailureOr<StagedTile> StagedTile::get(SpMMOp product) {
  StagedTile tile;
  tile.product = product;
  for (Operation &op : *product->getBlock()) {
    // An epilogue's sums are a buffer too, but in no memory of the block's. The
    // slots that C leaves through are no tile's of k.
    if (auto buffer = dyn_cast<memref::AllocOp>(op);
        buffer &&
        gpu::GPUDialect::hasWorkgroupMemoryAddressSpace(buffer.getType()) &&
        !isForStores(buffer))
      tile.buffers.push_back(buffer);
    else if (auto load = dyn_cast<LoadTileOp>(op))
      tile.loads.push_back(load);
    else if (auto store = dyn_cast<StoreTileOp>(op))
      tile.stores.push_back(store);
    else if (auto copy = dyn_cast<CopyOp>(op))
      (!copy.getPart()                      ? tile.copies
       : copy.getKind() == CopyKind::Direct ? tile.partCopies
                                            : tile.partMoves)
          .push_back(copy);
    else if (auto await = dyn_cast<AwaitOp>(op);
             await && await.getScope() == SyncScope::Block &&
             !await.getTokens().empty()) {
      tile.await = await;
      tile.group = await.getTokens().front().getDefiningOp<GroupOp>();
    }
  }
  if (!tile.group || tile.group->getBlock() != product->getBlock())
    return product.emitOpError()
           << "expected copies of its operands that are awaited beside it, as "
              "nm-stage-shared-memory makes them";
  if (!tile.partMoves.empty()) {
    tile.stagingBuffer =
        tile.partMoves.front().getSource().getDefiningOp<memref::AllocOp>();
    llvm::erase(tile.buffers, tile.stagingBuffer);
  }
  if (tile.partMoves.size() != tile.partCopies.size() ||
      (!tile.partMoves.empty() && !tile.stagingBuffer))
    return product.emitOpError()
           << "expected as many copies to a staging buffer as from it";
  return tile;
}

MemRefType mlir::nm::getRingType(MemRefType type, int64_t stages) {
  SmallVector<int64_t> shape(type.getShape());
  shape.insert(shape.begin(), stages);
  int64_t bytes =
              llvm::alignTo(getWorkgroupBytes(type), getBufferAlignment(type)),
          apart = bytes * 8 / type.getElementTypeBitWidth();
  auto prepend = [&](ArrayRef<int64_t> strides) {
    SmallVector<int64_t> all = {apart};
    llvm::append_range(all, strides);
    return all;
  };
  MemRefLayoutAttrInterface layout;
  if (auto tile = dyn_cast<TileLayoutAttr>(type.getLayout()))
    layout = tile.withLeadingDim(apart);
  else
    layout = StridedLayoutAttr::get(type.getContext(), /*offset=*/0,
                                    prepend(type.getStridesAndOffset().first));
  return MemRefType::get(shape, type.getElementType(), layout,
                         type.getMemorySpace());
}
