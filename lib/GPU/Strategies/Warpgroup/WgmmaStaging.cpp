//===- WgmmaStaging.cpp - Operand tiles of strategy wgmma -----------------===//

#include "GPU/Strategies/Warpgroup/WgmmaStaging.h"

#include "GPU/Stage/StagedOperands.h"

#include "nm/Dialect/NM/IR/ElementTypes.h"
#include "nm/Dialect/NM/IR/ScheduleFields.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace mlir::nm;

/// Bytes of the k of an instruction, of the widest row of a panel, and of the
/// widest copy.
static constexpr int64_t kInstructionBytes = 32, kPanelBytes = 128,
                         kCopyBytes = 16;

namespace {
class WgmmaStaging : public OperandStaging {
public:
  WgmmaStaging(OpBuilder &builder, SpMMOp op, const GpuTile &tile)
      : OperandStaging(builder, op, tile),
        pattern(op.getPattern().getPattern()),
        splits(cast<SparseProductOpInterface>(*op).countSplits()),
        element(getElement()),
        rows(llvm::alignTo(countKeptRows(), instructionK())) {}

private:
  LogicalResult verify(const ::nm::GpuChip &chip) override;
  Buffers listBuffers() override {
    return {rows, tile.m, {typeOfA(), typeOfValues()}};
  }
  void emit() override;

  int64_t countKeptRows() const {
    return tile.k / pattern.windowRows() * pattern.keptRows();
  }
  MemRefType typeOfOperand(int64_t columns, bool isPacked);
  MemRefType typeOfA() {
    return isOfBytes() ? typeOfBytes()
                       : typeOfOperand(splits * tile.m, /*isPacked=*/false);
  }
  MemRefType typeOfBytes();
  MemRefType typeOfValues();
  bool isOfBytes() const { return element.getIntOrFloatBitWidth() == 8; }
  bool isInPanels() { return op.getPanelsA().has_value(); }
  int64_t instructionK() const {
    return kInstructionBytes * 8 / element.getIntOrFloatBitWidth();
  }
  ::nm::ScheduleFields getSchedule() { return getFields(op.getScheduleAttr()); }
  LogicalResult verifyOperands(const ::nm::GpuChip &chip);
  LogicalResult verifyBytes();
  LogicalResult verifyRowsOfA(const ::nm::GpuChip &chip);
  /// A window of one unit keeps all rows, as do the units that
  /// nm-tile-to-blocks has cut them to.
  bool keepsAllRows() const { return pattern.n == pattern.m; }
  /// Whether the tile has what A has: no rows that no weight is of, and none
  /// that fill it up.
  bool hasRowsOfA() const { return keepsAllRows() && rows == tile.k; }
  Value castPanels();
  RowListAttr getListOfA();
  Value copyA();
  Value copyValues();

  ::nm::Pattern pattern;
  /// The number of splits of each element.
  int64_t splits;
  Type element;
  /// Kept rows of the tile, and rows of zeros that fill up an instruction.
  int64_t rows;
};
} // namespace

/// Packed weights have a dimension for their one panel.
MemRefType WgmmaStaging::typeOfOperand(int64_t columns, bool isPacked) {
  SmallVector<int64_t> shape = {rows, columns};
  if (isPacked)
    shape.insert(shape.begin(), 1);
  return getPanelledType(shape, op.getValuesType().getElementType());
}

/// Packed by tiles, weights have wgmma's order wherever they are.
MemRefType WgmmaStaging::typeOfValues() {
  if (!hasProducers())
    return typeOfOperand(tile.n, /*isPacked=*/true);
  return getWorkgroupType({1, splits * rows, tile.n},
                          op.getValuesType().getElementType());
}

/// Rows of A as they are, of kept units. Tensor copies take a unit at a time,
/// which has whole panels then. What is in panels already stays so.
MemRefType WgmmaStaging::typeOfBytes() {
  if (isInPanels())
    return getWorkgroupType(
        {rows / kPanelColumnsOfA, tile.m * kPanelColumnsOfA}, element);
  bool isOfUnits =
      (getSchedule().copyA == ::nm::CopyKind::Tensor) && !keepsAllRows();
  int64_t panel = std::gcd(isOfUnits ? pattern.bk : rows, kPanelBytes);
  return getPanelledType({tile.m, rows}, element, panel);
}

LogicalResult WgmmaStaging::verifyBytes() {
  if (op.getTransposeA())
    return op.emitOpError() << "expected a row-major A for strategy wgmma, "
                               "which cannot transpose "
                            << element;
  if (!hasProducers())
    return op.emitOpError() << "expected producers for strategy wgmma, which "
                               "has no other copies of "
                            << element;
  if (pattern.bk % kCopyBytes != 0 || rows != countKeptRows())
    return op.emitOpError() << "expected units of a multiple of " << kCopyBytes
                            << " rows, in tiles of a multiple of "
                            << instructionK() << ", but got " << pattern.str()
                            << " and tiles of " << countKeptRows();
  return success();
}

/// That A can be copied in the schedule's way.
LogicalResult WgmmaStaging::verifyRowsOfA(const ::nm::GpuChip &chip) {
  if ((getSchedule().copyA == ::nm::CopyKind::Bulk) != isInPanels() ||
      (isInPanels() && op.getRowsOfPanels() != tile.m))
    return op.emitOpError() << "expected panels_a of " << tile.m
                            << " rows with 'copy_a = bulk', and only there, "
                               "but got "
                            << op.getRowsOfPanels();
  auto a = cast<MemRefType>(op.getA().getType());
  if (isInPanels() && a.getDimSize(0) != tile.k / kPanelColumnsOfA)
    return op.emitOpError() << "expected panels_a of whole windows, " << tile.k
                            << " rows of k in a tile, but got " << a;
  if (isInPanels())
    return verifyHasWgmma(op, chip);
  return mlir::nm::verifyRowsOfA(op, chip);
}

LogicalResult WgmmaStaging::verifyOperands(const ::nm::GpuChip &chip) {
  if (!isOfBytes() && !op.getTransposeA())
    return op.emitOpError() << "expected an m-major A, with transpose_a, for "
                               "strategy wgmma, which copies its rows";
  if (!isOfBytes() && (getSchedule().promote ||
                       (getSchedule().copyA == ::nm::CopyKind::Tensor) ||
                       (getSchedule().copyA == ::nm::CopyKind::Bulk)))
    return op.emitOpError() << "expected operands of 8 bits for 'promote' and "
                               "'copy_a = tensor' or 'bulk', but got "
                            << element;
  if (isOfBytes() && failed(verifyBytes()))
    return failure();
  return verifyRowsOfA(chip);
}

LogicalResult WgmmaStaging::verify(const ::nm::GpuChip &chip) {
  if (!element.isF16() && !element.isBF16() && !element.isInteger(8) &&
      !isFloat8(element))
    return op.emitOpError()
           << "expected operands of f16, bf16, i8, f8E4M3FN or f8E5M2 "
              "for strategy wgmma, but got "
           << element;
  if (failed(verifyOperands(chip)))
    return failure();
  if (rows > ::nm::kMaxBlock)
    return op.emitOpError() << "expected at most " << ::nm::kMaxBlock
                            << " kept rows in a tile, but got " << rows;
  if (hasProducers() && op.getPanelPacking().getTileRows() != countKeptRows())
    return op.emitOpError() << "expected weights packed in tiles of the "
                            << countKeptRows() << " rows that a tile keeps, "
                            << "but got " << op.getPackingAttr();
  return success();
}

/// The panels of A with all of the tile's rows, whose number the type of a tile
/// at the edge of C does not say.
Value WgmmaStaging::castPanels() {
  auto type = cast<MemRefType>(op.getA().getType());
  SmallVector<int64_t> shape(type.getShape());
  shape.back() = tile.m * kPanelColumnsOfA;
  auto whole = MemRefType::get(shape, type.getElementType(), type.getLayout(),
                               type.getMemorySpace());
  return whole == type ? op.getA()
                       : memref::CastOp::create(builder, loc, whole, op.getA());
}

/// The list of rows of the tile, of which panels have several each.
RowListAttr WgmmaStaging::getListOfA() {
  ::nm::Pattern listed = pattern;
  if (isInPanels())
    listed.bk /= kPanelColumnsOfA;
  return RowListAttr::get(builder.getContext(),
                          PatternAttr::get(builder.getContext(), listed),
                          op.getPanelPacking(), tile.k / pattern.windowRows(),
                          /*dim=*/isOfBytes() && !isInPanels() ? 1 : 0);
}

/// The rows that the weights' indices name.
Value WgmmaStaging::copyA() {
  auto way = static_cast<CopyKind>(getSchedule().copyA);
  Value source = isInPanels() ? castPanels() : op.getA();
  if (keepsAllRows())
    return copyToNew(way, source, typeOfA());
  Value indices = op.getIndices();
  int64_t units = tile.k / pattern.windowRows() * pattern.n;
  if (hasProducers() && op.getPanelPacking().getPacking().unitStep(pattern) > 1)
    indices = castToWhole(builder, loc, indices, units);
  return copyToNew(way, source, typeOfA(), indices, getListOfA());
}

Value WgmmaStaging::copyValues() {
  MemRefType type = typeOfValues();
  if (!hasProducers())
    return copyToNew(CopyKind::Direct, op.getValues(), type);
  return copyToNew(CopyKind::Bulk,
                   castToWhole(builder, loc, op.getValues(), splits * rows),
                   type);
}

void WgmmaStaging::emit() {
  // What one thread starts comes first.
  Value values = hasProducers() ? copyValues() : Value(), a = copyA();
  if (!values)
    values = copyValues();
  Value indices = castOpen(builder, loc, op.getIndices(), getWeights().indices);
  SmallVector<Value> operands = {a, values, indices,
                                 castOutput(builder, op, tile)};
  // Bulk and tensor copies write through wgmma's own proxy.
  bool isAsync =
      (getSchedule().copyA == ::nm::CopyKind::Tensor) || isInPanels();
  bool isGathered = !hasRowsOfA();
  SpMMOp staged =
      replace(finish(), operands, /*buffers=*/2, /*asyncProxy=*/!isAsync);
  if (isGathered)
    staged.setGathered(ArrayRef({tile.k / pattern.windowRows(), pattern.n}));
}

LogicalResult mlir::nm::stageWgmmaOperands(OpBuilder &builder, SpMMOp op) {
  return stageOperands<WgmmaStaging>(builder, op);
}
