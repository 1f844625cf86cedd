//===- MmaSyncOperands.cpp - Where strategy mma_sync has operands ---------===//

#include "nm/GPU/Strategies/Mma/MmaSyncOperands.h"

#include "nm/GPU/Select/GpuSchedule.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace mlir::nm;

/// Columns of the squares that ldmatrix loads, and of a matrix.
static constexpr int64_t kSquare = 16, kMatrix = 8;
/// Windows that ldmatrix takes a row of each at once.
static constexpr int64_t kWindows = 8;

/// Bits of the number of a word of 16 bytes in a line of all banks.
static constexpr int64_t kBitsOfLine = 3;

static ::nm::TileLayout getWordOrder(ArrayRef<int64_t> shape,
                                     std::vector<::nm::BitXor> swizzle) {
  ::nm::TileLayout layout;
  layout.order.resize(shape.size());
  layout.xors = std::move(swizzle);
  return layout;
}

/// Has rows that are shorter than a line share each line with those of the next
/// windows, for rows of windows that start at multiples of 2^`bit`: the first
/// bits of a window's number come first in a row's place, and the next ones are
/// XORed into its words. For example rows of 32 bytes of windows of 32 rows:
/// four windows have their first rows in the first line, then their second
/// ones, and of windows 4 to 7 the two words of each row change places.
static void interleaveWindows(::nm::TileLayout &layout, int64_t bit) {
  int64_t ofWord = layout.xors.empty() ? 0 : layout.xors.front().count;
  int64_t ofRow = kBitsOfLine - ofWord;
  for (::nm::BitXor &moved : layout.xors)
    moved.fromBit = bit + ofRow;
  // Each row has a place in its line as it is.
  if (bit == 0)
    return;
  std::vector<int64_t> &rows = layout.order[layout.order.size() - 2];
  for (int64_t i = 0; i < ofRow; ++i)
    rows.push_back(bit + i);
  for (int64_t i = 0; i < bit; ++i)
    rows.push_back(i);
}

/// Whether rows are whole lines of memory.
static bool hasLines(const ::nm::TileLayout &layout) {
  return !layout.xors.empty() && layout.xors.front().count == kBitsOfLine;
}

MemRefLayoutAttrInterface mlir::nm::getMatrixLayout(MLIRContext *context,
                                                    ArrayRef<int64_t> shape,
                                                    int64_t windowRows,
                                                    int64_t bits) {
  // A word of 16 bytes has as many more elements as these are narrower.
  constexpr int64_t kHalf = 16;
  std::vector<::nm::BitXor> swizzle = ::nm::getMatrixSwizzle(
      shape.back() * bits / kHalf, int64_t(shape.size()));
  for (::nm::BitXor &moved : swizzle)
    moved.bit += llvm::Log2_64(kHalf / bits);
  ::nm::TileLayout layout = getWordOrder(shape, std::move(swizzle));
  // Rows of whole lines of memory are free to have their words in any order.
  if (hasLines(layout))
    layout.xors.front().fromBit = llvm::Log2_64(windowRows);
  else if (windowRows > 1)
    interleaveWindows(layout, llvm::countr_zero(uint64_t(windowRows)));
  return TileLayoutAttr::get(context, computeStrides(shape),
                             /*hasDynamicOffset=*/false, layout);
}

std::optional<::nm::TileLayout> mlir::nm::getMatrixOrder(MemRefType type) {
  auto layout = dyn_cast<TileLayoutAttr>(type.getLayout());
  if (!layout || !type.hasStaticShape() || type.getRank() < 2)
    return std::nullopt;
  ::nm::TileLayout found = layout.getLayout();
  // As it is, whatever windows it is for.
  ArrayRef<int64_t> shape = type.getShape();
  ::nm::TileLayout wanted =
      getWordOrder(shape, ::nm::getMatrixSwizzle(shape.back(), type.getRank()));
  ArrayRef<int64_t> rows = found.order[shape.size() - 2];
  if (hasLines(wanted) && found.xors.size() == 1)
    wanted.xors.front().fromBit = found.xors.front().fromBit;
  else if (!rows.empty())
    interleaveWindows(wanted, rows.front());
  if (layout != TileLayoutAttr::get(type.getContext(), computeStrides(shape),
                                    layout.getHasDynamicOffset(), wanted))
    return std::nullopt;
  return wanted;
}

bool mlir::nm::readsWeightsInPlace(PackingAttr packing) {
  return ::nm::hasMmaSyncFragments(packing.getPacking());
}

static LogicalResult verifyTypes(SpMMOp op) {
  auto product = cast<SparseProductOpInterface>(*op);
  Type element = product.getAType().getElementType();
  if (element.isF16() || element.isBF16())
    return success();
  return op.emitOpError()
         << "expected f16 or bf16 operands for strategy mma_sync, but got "
         << element;
}

/// Checks the packed form of quantized weights, whose squares take rows in the
/// order that KeptOrder has for so many windows.
static LogicalResult verifyQuantizedForm(SpMMOp op, const GpuTile &tile) {
  PackingAttr packing = op.getPanelPacking();
  ::nm::Pattern pattern = op.getPattern().getPattern();
  int64_t panel = packing.getPanel(),
          windows = tile.k / pattern.windowRows() / tile.sliceK,
          rows = windows % kWindows == 0 ? 2 : kSquare;
  if (packing.getIndexBits() == 8 && packing.getChunkRows() == rows &&
      pattern.keptRows() % 2 == 0 && pattern.bn % kMatrix == 0 &&
      panel <= std::max(pattern.bn, kSquare) && tile.warpN % panel == 0)
    return success();
  return op.emitOpError()
         << "expected packing with index_bits = 8, chunk_rows = " << rows
         << " for slices of " << windows
         << " windows that keep an even number of rows, and panels of 16, 32, "
            "64, ... columns of one unit, or two of 8 columns, that divide a "
            "warp's "
         << tile.warpN
         << ", for quantized weights in strategy mma_sync, but got " << packing
         << " of " << op.getPatternAttr();
}

static LogicalResult verifyForm(SpMMOp op, const GpuTile &tile) {
  PackingAttr packing = op.getPanelPacking();
  int64_t units = op.getPattern().getPattern().bn;
  if (!packing)
    return op.emitOpError()
           << "expected weights packed in panels for strategy mma_sync";
  if (packing.getBits() != 0)
    return verifyQuantizedForm(op, tile);
  bool isInPlace = readsWeightsInPlace(packing);
  if (packing.getIndexBits() != 8 ||
      (!packing.getPacking().isRowWise() && !isInPlace) ||
      packing.getPanel() > units || packing.getPanel() % kMatrix != 0 ||
      !llvm::isPowerOf2_64(packing.getPanel()))
    return op.emitOpError()
           << "expected packing with index_bits = 8, in rows or in chunks of 2 "
              "or 4 rows, and panels of 8, 16, 32, ... columns of one unit for "
              "strategy mma_sync, but got "
           << packing << " for units of " << units << " columns";
  ::nm::Pattern pattern = op.getPattern().getPattern();
  // Of a slice.
  int64_t windows = tile.k / pattern.windowRows() / tile.sliceK;
  if (isInPlace && (windows % kWindows != 0 || pattern.bk != 1 ||
                    pattern.n % packing.getIndexRows() != 0))
    return op.emitOpError()
           << "expected tiles of a multiple of " << kWindows
           << " windows that keep a multiple of index_rows = "
           << packing.getIndexRows()
           << " single rows each for chunks of weights in strategy mma_sync, "
              "but got "
           << windows << " windows of " << op.getPatternAttr();
  int64_t panel = packing.getPanel();
  if (panel % tile.warpN == 0 || tile.warpN % panel == 0)
    return success();
  return op.emitOpError() << "expected a warp's " << tile.warpN
                          << " columns to be a multiple or a divisor of a "
                             "panel's "
                          << panel << " for strategy mma_sync";
}

LogicalResult mlir::nm::verifyMmaSyncTile(SpMMOp op, const GpuTile &tile) {
  if (failed(verifyTypes(op)))
    return failure();
  if (tile.warpM % kSquare != 0 || tile.warpN % kSquare != 0)
    return op.emitOpError() << "expected a warp tile of multiples of "
                            << kSquare << " for strategy mma_sync, but got "
                            << tile.warpM << " x " << tile.warpN;
  return verifyForm(op, tile);
}
