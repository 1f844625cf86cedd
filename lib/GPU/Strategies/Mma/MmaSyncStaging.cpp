//===- MmaSyncStaging.cpp - Operand tiles of strategy mma_sync ------------===//

#include "GPU/Strategies/Mma/MmaSyncStaging.h"

#include "GPU/Stage/StagedOperands.h"

#include "nm/GPU/Strategies/Mma/MmaSyncOperands.h"

using namespace mlir;
using namespace mlir::nm;

/// Windows that ldmatrix takes a row of each at once.
static constexpr int64_t kWindows = 8;
/// Rows of A's m-major tile from which on those of k are whole lines of memory.
static constexpr int64_t kRowsOfLine = 64;

namespace {
/// The operand tiles of one product in workgroup memory.
class Staging : public ListedStaging {
public:
  using ListedStaging::ListedStaging;

private:
  LogicalResult verify(const ::nm::GpuChip &chip) override;
  Buffers listBuffers() override;
  void emit() override;

  MemRefType getBufferType(ArrayRef<int64_t> shape, int64_t windowRows = 1) {
    return getWorkgroupType(
        shape, getElementTypeOrSelf(op.getA()),
        getMatrixLayout(op.getContext(), shape, windowRows));
  }
  MemRefType typeOfA();
  MemRefType typeOfValues();
  MemRefType typeOfQuantized();
  MemRefType typeOfScales();
  bool isQuantized() { return bool(op.getQuantizationAttr()); }
  int64_t countWindows() {
    return tile.k / op.getPattern().getPattern().windowRows();
  }
  /// Whether each slice has as many windows as ldmatrix reads rows of, and rows
  /// of the tile share lines.
  bool sharesLines() {
    return tile.m < kRowsOfLine && countWindows() % tile.sliceK == 0 &&
           countWindows() / tile.sliceK % kWindows == 0;
  }
  bool isStagedRowMajor() {
    return staysRowMajor(op.getTransposeA(), rows.has_value(), tile.k);
  }
  bool readsInPlace() { return readsWeightsInPlace(op.getPanelPacking()); }
};
} // namespace

/// The type of A's tile. From an m-major tile, ldmatrix reads a row of each of
/// eight windows where there are as many.
MemRefType Staging::typeOfA() {
  if (isStagedRowMajor())
    return getBufferType({tile.m, tile.k});
  int64_t apart =
      countWindows() % kWindows == 0 ? countRows() / countWindows() : 1;
  // Rows that share lines have an order for windows of 2^i rows. Rows of a list
  // are copied in its own.
  bool haveOrder =
      sharesLines() && !rows && llvm::isPowerOf2_64(uint64_t(apart));
  if (tile.m % kRowsOfLine != 0 && !haveOrder)
    apart = 1;
  return getBufferType({countRows(), tile.m}, apart);
}

/// The type of the weights' tile. The rows that ldmatrix reads together are at
/// one place of each of eight windows. In blocks of more rows each is read by
/// few instructions for its products, and stays where it is.
MemRefType Staging::typeOfValues() {
  SmallVector<int64_t, 3> shape = getWeights().values;
  int64_t kept = op.getPattern().getPattern().keptRows();
  // Of eight windows of N rows, three bits of a row differ, from the lowest of
  // N on.
  return getBufferType(shape, sharesLines() ? kept & -kept : 1);
}

/// Quantized values, of which lanes load words side by side.
MemRefType Staging::typeOfQuantized() {
  return getPlainWorkgroupType(getWeights().values, builder.getI8Type());
}

/// The scales of a tile's groups of k, and columns.
MemRefType Staging::typeOfScales() {
  return getPlainWorkgroupType(getShapeOfScales(op, tile),
                               getElementTypeOrSelf(op.getScales()));
}

LogicalResult Staging::verify(const ::nm::GpuChip &) {
  return failed(verifyMmaSyncTile(op, tile)) ? failure() : takeRows();
}

OperandStaging::Buffers Staging::listBuffers() {
  Buffers buffers = {countRows(), tile.m, {typeOfA()}};
  if (isQuantized())
    buffers.ofStage.append({typeOfQuantized(), typeOfScales()});
  else if (!readsInPlace())
    buffers.ofStage.push_back(typeOfValues());
  return buffers;
}

void Staging::emit() {
  bool isRowMajor = isStagedRowMajor();
  Value a =
      copyToNew(op.getA(), typeOfA(), !op.getTransposeA() && !isRowMajor, rows);
  StorageShape weights = getWeights();
  Value values =
      readsInPlace()
          ? castOpen(builder, loc, op.getValues(), weights.values)
          : copyToNew(op.getValues(),
                      isQuantized() ? typeOfQuantized() : typeOfValues());
  SmallVector<Value> operands = {
      a, values, castOpen(builder, loc, op.getIndices(), weights.indices)};
  // Fewer at the end of k and n.
  if (isQuantized())
    operands.push_back(copyToNew(op.getScales(), typeOfScales()));
  size_t buffers = operands.size();
  operands.push_back(castOutput(builder, op, tile));
  replaceListed(finish(), operands, buffers, /*isMMajor=*/!isRowMajor);
}

LogicalResult mlir::nm::stageMmaSyncOperands(OpBuilder &builder, SpMMOp op) {
  return stageOperands<Staging>(builder, op);
}
