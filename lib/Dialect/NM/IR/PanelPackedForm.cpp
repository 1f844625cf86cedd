//===- PanelPackedForm.cpp - #nm.packing, weights in panels ---------------===//

#include "Quantization.h"
#include "StorageTiling.h"

#include "nm/Format/PackedForm.h"
#include "nm/Format/SplitFloats.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::nm;

LogicalResult PackingAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                  int64_t panel, int64_t indexBits,
                                  int64_t chunkRows, int64_t chunkColumns,
                                  int64_t indexRows, int64_t colInfo,
                                  int64_t tileRows, int64_t splits,
                                  int64_t laneWords, int64_t bits) {
  // (C1) to (C8); what depends on the pattern is checked where both meet.
  if (panel < 1 || panel > ::nm::kMaxBlock)
    return emitError() << "expected panel in 1.." << ::nm::kMaxBlock
                       << ", but got " << panel;
  if (indexBits < 0 || indexBits > 8)
    return emitError() << "expected index_bits in 0..8, but got " << indexBits;
  for (auto [name, value] : {std::pair("chunk_rows", chunkRows),
                             std::pair("chunk_columns", chunkColumns),
                             std::pair("index_rows", indexRows)})
    if (value < 1 || value > ::nm::kMaxBlock)
      return emitError() << "expected " << name << " in 1.." << ::nm::kMaxBlock
                         << ", but got " << value;
  if (colInfo < 0 || colInfo > ::nm::kMaxBlock)
    return emitError() << "expected col_info in 0.." << ::nm::kMaxBlock
                       << ", but got " << colInfo;
  if (tileRows < 0 || tileRows > ::nm::kMaxBlock)
    return emitError() << "expected tile_rows in 0.." << ::nm::kMaxBlock
                       << ", but got " << tileRows;
  if (splits < 1 || splits > ::nm::kMaxSplits)
    return emitError() << "expected splits in 1.." << ::nm::kMaxSplits
                       << ", but got " << splits;
  if (splits > 1 && tileRows == 0)
    return emitError() << "expected tile_rows with splits, but got none";
  if (laneWords < 1 || laneWords > ::nm::kMaxBlock)
    return emitError() << "expected lane_words in 1.." << ::nm::kMaxBlock
                       << ", but got " << laneWords;
  return bits == 0 ? success() : verifyQuantizedBits(emitError, bits);
}

LogicalResult
PackingAttr::verifyWeights(function_ref<InFlightDiagnostic()> emitError,
                           const ::nm::Pattern &pattern, Type element) const {
  if (::nm::Status status = getPacking().verify(pattern); !status)
    return emitError() << status.error().message;
  // (C8).
  if (getBits() != 0 && element && !element.isSignlessInteger(8))
    return emitError() << "expected quantized weights of i8 for " << getBits()
                       << " bits, but got " << element;
  // (C6): before they are packed, and behind.
  if (getSplits() > 1) {
    if (!element || element.isF32() || element.isBF16())
      return success();
    return emitError() << "expected elements of f32 for splits, but got "
                       << element;
  }
  if (getTileRows() == 0 || !element)
    return success();
  unsigned bits = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 0;
  if (bits != 8 && bits != 16)
    return emitError() << "expected elements of 8 or 16 bits for tile_rows, "
                          "but got "
                       << element;
  constexpr int64_t kRows = ::nm::PanelPacking::kByteInstructionRows;
  if (bits == 8 && getTileRows() % kRows != 0)
    return emitError() << "expected tile_rows of a multiple of " << kRows
                       << " for elements of 8 bits, but got " << getTileRows();
  return success();
}

Type PackingAttr::getPackedType(Type elementType) const {
  return getSplits() > 1 ? BFloat16Type::get(getContext()) : elementType;
}

int64_t PackingAttr::countSplits() const { return getSplits(); }

StorageShape PackingAttr::getStorageShape(const ::nm::Pattern &pattern,
                                          int64_t rows, int64_t columns) const {
  ::nm::PanelPacking panel = getPacking();
  int64_t panels = mapSize(
      columns, [&](int64_t n) { return llvm::divideCeil(n, panel.panel); });
  int64_t chunkRows = mapSize(rows, [&](int64_t rows) {
    return panel.chunkRowsOf(pattern, rows / pattern.bk);
  });
  int64_t indexRows = mapSize(rows, [&](int64_t rows) {
    return panel.indexRowsOf(pattern, rows / pattern.bk);
  });
  int64_t indexPanels = mapSize(
      panels, [&](int64_t panels) { return panel.indexPanelsOf(panels); });
  StorageShape shape{{panels, chunkRows, panel.chunkRowElements()},
                     {indexPanels, indexRows, panel.bytesPerIndexRow(pattern)}};
  if (panel.hasLists())
    shape.lists = shape.indices;
  return shape;
}

int64_t PackingAttr::getColumnStep(const ::nm::Pattern &pattern) const {
  return getPacking().columnStep(pattern);
}

int64_t PackingAttr::getRowStep(const ::nm::Pattern &pattern) const {
  return getPacking().windowStep(pattern) * pattern.windowRows();
}

StorageRegion PackingAttr::getStorageRegion(OpBuilder &builder, Location loc,
                                            const ::nm::Pattern &pattern,
                                            Range1D k, Range1D n) const {
  auto scale = [&](Range1D range, int64_t divisor, int64_t factor) {
    return scaleRange(builder, loc, range, divisor, factor);
  };
  ::nm::PanelPacking panel = getPacking();
  // Columns are padded to whole units before they are cut into panels.
  Range1D panels = scale(scale(n, pattern.bn, pattern.bn), panel.panel, 1);
  Range1D unitRows = scale(k, pattern.windowRows(), pattern.n);
  int64_t step = panel.unitStep(pattern);
  Range1D indexRows = scale(unitRows, step, step / panel.indexRows);
  OpFoldResult zero = builder.getIndexAttr(0);
  StorageRegion region;
  region.values.append(panels);
  if (panel.isQuantized())
    region.values.append(
        scale(k, panel.squareWindows(pattern) * pattern.windowRows(),
              panel.squaresOfStep(pattern)));
  else if (panel.tileRows != 0)
    region.values.append(
        scale(scale(k, pattern.windowRows(), pattern.keptRows()),
              panel.tileRows, panel.storedTileRows()));
  else
    region.values.append(
        scale(indexRows, 1, panel.indexRows * pattern.bk / panel.chunkRows));
  region.values.append({zero, builder.getIndexAttr(panel.chunkRowElements())});
  // The indices of a tile that has lists are filled up.
  if (int64_t ofTile = panel.panelsOfTile())
    panels = scale(panels, ofTile, ofTile);
  region.indices.append(panels);
  region.indices.append(indexRows);
  region.indices.append(
      {zero, builder.getIndexAttr(panel.bytesPerIndexRow(pattern))});
  if (panel.hasLists())
    region.lists = region.indices;
  return region;
}

void PackingAttr::pack(const ::nm::CondensedView &weights, void *values,
                       uint8_t *indices, uint8_t *lists) const {
  ::nm::packValues(weights, getPacking(), values);
  ::nm::packIndices(weights, getPacking(), indices, lists);
}
