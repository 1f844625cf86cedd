//===- PanelTiles.cpp - Matrices as panels of 16 bytes --------------------===//
//
// A lane reads and writes 16 bytes at a time. The lanes of a warp are four side
// by side in each of eight rows, so that what they read is 64 bytes of each
// row, and what they write 128 bytes of each panel: whole sectors of memory on
// either side. A thread has four such places along its row.
//
//===----------------------------------------------------------------------===//

#include "GPU/Layouts/PanelTiles.h"

#include "GPU/Layouts/Transposition.h"

#include "GPU/Expand/ThreadEmitter.h"
#include "GPU/Sums/TileEpilogue.h"

#include "nm/Dialect/NM/IR/Epilogue.h"
#include "nm/GPU/Stage/AccessWidth.h"
#include "nm/GPU/Tile/GpuTile.h"

using namespace mlir;
using namespace mlir::nm;

/// Bits of a row of a panel.
static constexpr int64_t kPanelBits = 128;
/// Panels that a warp takes at a time, rows of each that it takes, and how many
/// times it does so.
static constexpr int64_t kPanelsAtOnce = 4,
                         kRowsOfWarp = kWarpSize / kPanelsAtOnce, kTimes = 4;
static constexpr int64_t kWarps = 8, kRowTile = kWarps * kRowsOfWarp,
                         kPanelTile = kPanelsAtOnce * kTimes;

/// The loop of panels; those of rows and of columns follow it.
static unsigned getPanelLoop(linalg::GenericOp op) {
  return op.getNumLoops() - 3;
}

bool mlir::nm::makesPanels(linalg::GenericOp op) {
  if (op.getNumLoops() < 3)
    return false;
  auto type = cast<MemRefType>(op.getDpsInits()[0].getType());
  Type element = type.getElementType();
  int64_t columns = type.getShape().back();
  // A vector of bits would be packed, where memory has a byte for each.
  if (ShapedType::isDynamic(columns) || !element.isIntOrFloat() ||
      element.getIntOrFloatBitWidth() < 8 ||
      columns * element.getIntOrFloatBitWidth() != kPanelBits)
    return false;
  unsigned panels = getPanelLoop(op), last = op.getNumLoops() - 1;
  bool hasPanels = false;
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    if (!op.payloadUsesValueFromOperand(&operand) || !map.isFunctionOfDim(last))
      continue;
    if (getContiguousLoop(op, operand) != last)
      return false;
    unsigned rank = map.getNumResults();
    hasPanels |= rank >= 2 && map.getDimPosition(rank - 2) == panels;
  }
  return hasPanels && getContiguousLoop(op, *op.getDpsInitOperand(0)) == last;
}

namespace {
class PanelTile {
public:
  PanelTile(OpBuilder &builder, linalg::GenericOp op)
      : builder(builder), op(op), loc(op.getLoc()), output(op.getDpsInits()[0]),
        panels(getPanelLoop(op)), rows(panels + 1),
        launch(builder, loc, output, getTiles(), getOrder(), kWarps * kWarpSize,
               /*sharedBytes=*/0),
        e{builder, loc} {}

  void emit();

private:
  SmallVector<int64_t> getTiles();
  SmallVector<unsigned> getOrder();
  SmallVector<Value> getPlace(int64_t time);
  Value findWhether(ArrayRef<Value> at);
  Value make(ArrayRef<Value> at);
  void write(Value elements, ArrayRef<Value> at);
  MemRefType typeOfOutput() { return cast<MemRefType>(output.getType()); }
  VectorType typeOfRow() {
    return VectorType::get(typeOfOutput().getShape().back(),
                           typeOfOutput().getElementType());
  }

  OpBuilder &builder;
  linalg::GenericOp op;
  Location loc;
  Value output;
  unsigned panels, rows;
  TileLaunch launch;
  ThreadEmitter e;
};
} // namespace

SmallVector<int64_t> PanelTile::getTiles() {
  SmallVector<int64_t> tiles(op.getNumLoops(), 1);
  tiles[panels] = kPanelTile;
  tiles[rows] = kRowTile;
  tiles.back() = typeOfOutput().getShape().back();
  return tiles;
}

/// Neighbouring blocks read along rows.
SmallVector<unsigned> PanelTile::getOrder() {
  SmallVector<unsigned> order = {panels, rows, rows + 1};
  for (unsigned loop = panels; loop-- > 0;)
    order.push_back(loop);
  return order;
}

/// Where the thread is for the `time`th time.
SmallVector<Value> PanelTile::getPlace(int64_t time) {
  SmallVector<Value> at(launch.getFirst());
  auto [warp, lane] = e.split(launch.getThread(), kWarpSize);
  auto [row, panel] = e.split(lane, kPanelsAtOnce);
  at[rows] = e.add(at[rows], e.add(e.mul(warp, kRowsOfWarp), row));
  at[panels] = e.add(at[panels], e.add(panel, time * kPanelsAtOnce));
  return at;
}

/// Whether there is something at `at`; null where there always is.
Value PanelTile::findWhether(ArrayRef<Value> at) {
  Value exists;
  for (auto [loop, tile] : {std::pair(panels, kPanelTile), {rows, kRowTile}}) {
    int64_t size = typeOfOutput().getDimSize(loop);
    if (ShapedType::isDynamic(size) || size % tile != 0)
      exists = e.both(exists, e.less(at[loop], launch.getSizes()[loop]));
  }
  return exists;
}

/// The row of a panel at `at`.
Value PanelTile::make(ArrayRef<Value> at) {
  SmallVector<Value> arguments;
  for (OpOperand &operand : op->getOpOperands()) {
    Type element = getElementTypeOrSelf(operand.get().getType());
    if (!op.payloadUsesValueFromOperand(&operand)) {
      arguments.push_back(e.zero(typeOfRow().clone(element)));
      continue;
    }
    AffineMap map = op.getMatchingIndexingMap(&operand);
    SmallVector<int64_t> extents(map.getNumResults(), 1);
    if (!extents.empty())
      extents.back() = typeOfRow().getNumElements();
    int64_t aligned =
        extents.empty() ? 1 : getAccessWidth(operand.get(), extents);
    arguments.push_back(loadOperand(builder, loc, operand.get(), map, at,
                                    typeOfRow(), aligned));
  }
  return inlineElementwise(builder, loc, *op.getBody(), arguments);
}

void PanelTile::write(Value elements, ArrayRef<Value> at) {
  vector::StoreOp::create(builder, loc, elements, output, at,
                          /*nontemporal=*/false,
                          llvm::MaybeAlign(kPanelBits / 8));
}

void PanelTile::emit() {
  SmallVector<SmallVector<Value>> places;
  for (int64_t time = 0; time < kTimes; ++time)
    places.push_back(getPlace(time));
  if (findWhether(places.front())) {
    for (const SmallVector<Value> &at : places)
      e.onlyIf(findWhether(at), [&] { write(make(at), at); });
    return;
  }
  // All are in flight before the first is waited for.
  SmallVector<Value> elements;
  for (const SmallVector<Value> &at : places)
    elements.push_back(make(at));
  for (auto [vector, at] : llvm::zip(elements, places))
    write(vector, at);
}

void mlir::nm::launchPanelTiles(OpBuilder &builder, linalg::GenericOp op) {
  OpBuilder::InsertionGuard guard(builder);
  PanelTile(builder, op).emit();
}
