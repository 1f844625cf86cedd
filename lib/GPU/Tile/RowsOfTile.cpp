//===- RowsOfTile.cpp - The rows of A that a tile's columns use -----------===//
//------------===//

#include "GPU/Tile/RowsOfTile.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::nm;

/// Takes the lists from `op`, whose indices are then those of a tile.
static RowsOfTile takeLists(SpMMOp op, const GpuTile &tile) {
  OpBuilder builder(op);
  ::nm::Pattern pattern = op.getPattern().getPattern();
  PackingAttr lists = op.getPanelPacking();
  ::nm::PanelPacking packing = lists.getPacking();
  // Tiles are filled up, so that all have as many panels.
  auto takeWhole = [&](Value array) -> Value {
    if (cast<MemRefType>(array.getType()).getDimSize(0) ==
        packing.panelsOfTile())
      return array;
    SmallVector<OpFoldResult> offsets(3, builder.getIndexAttr(0)),
        strides(3, builder.getIndexAttr(1)),
        sizes = memref::getMixedSizes(builder, op.getLoc(), array);
    sizes[0] = builder.getIndexAttr(packing.panelsOfTile());
    return memref::SubViewOp::create(builder, op.getLoc(), array, offsets,
                                     sizes, strides);
  };
  Value list = takeWhole(op.getLists());
  op.getIndicesMutable().assign(takeWhole(op.getIndices()));
  op.getListsMutable().clear();
  op.setPackingAttr(
      PackingAttr::get(builder.getContext(), packing.withoutColInfo()));
  return {list, RowListAttr::get(op.getContext(), op.getPattern(), lists,
                                 tile.k / pattern.windowRows(), /*dim=*/0)};
}

FailureOr<std::optional<RowsOfTile>> RowsOfTile::takeFrom(SpMMOp op,
                                                          const GpuTile &tile) {
  PackingAttr packing = op.getPanelPacking();
  int64_t columns = packing ? packing.getColInfo() : 0;
  if (columns == 0 && op.getScheduleAttr().packsRows())
    return op.emitOpError() << "expected weights with col_info, as "
                               "nm-pack-weights makes them where the schedule "
                               "says pack = true";
  if (columns == 0)
    return std::optional<RowsOfTile>();
  if (columns != tile.n)
    return op.emitOpError() << "expected col_info of the block tile's "
                            << tile.n << " columns, but got " << packing;
  return std::optional<RowsOfTile>(takeLists(op, tile));
}
