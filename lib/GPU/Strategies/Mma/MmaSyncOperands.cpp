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

static ::nm::TileLayout getWordOrder(ArrayRef<int64_t> shape,
                                     std::vector<::nm::BitXor> swizzle) {
  ::nm::TileLayout layout;
  layout.order.resize(shape.size());
  layout.xors = std::move(swizzle);
  return layout;
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
  // Rows of whole lines of memory are free to have their words in any order.
  constexpr int64_t kBitsOfLine = 3;
  if (!swizzle.empty() && swizzle.front().count == kBitsOfLine)
    swizzle.front().fromBit = llvm::Log2_64(windowRows);
  return TileLayoutAttr::get(context, computeStrides(shape),
                             /*hasDynamicOffset=*/false,
                             getWordOrder(shape, std::move(swizzle)));
}

std::optional<std::vector<::nm::BitXor>>
mlir::nm::getMatrixSwizzle(MemRefType type) {
  auto layout = dyn_cast<TileLayoutAttr>(type.getLayout());
  if (!layout || !type.hasStaticShape())
    return std::nullopt;
  // As it is, if from other rows.
  int64_t rank = type.getRank();
  std::vector<::nm::BitXor> swizzle =
      ::nm::getMatrixSwizzle(type.getShape().back(), rank);
  std::vector<::nm::BitXor> found = layout.getLayout().xors;
  if (found.size() == 1 && swizzle.size() == 1)
    swizzle.front().fromBit = found.front().fromBit;
  if (layout != TileLayoutAttr::get(type.getContext(),
                                    computeStrides(type.getShape()),
                                    layout.getHasDynamicOffset(),
                                    getWordOrder(type.getShape(), swizzle)))
    return std::nullopt;
  return swizzle;
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

static LogicalResult verifyForm(SpMMOp op, const GpuTile &tile) {
  PackingAttr packing = op.getPanelPacking();
  int64_t units = op.getPattern().getPattern().bn;
  if (!packing)
    return op.emitOpError()
           << "expected weights packed in panels for strategy mma_sync";
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
