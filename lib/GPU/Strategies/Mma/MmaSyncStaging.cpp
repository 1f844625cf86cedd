//===- MmaSyncStaging.cpp - Operand tiles of strategy mma_sync ------------===//

#include "GPU/Strategies/Mma/MmaSyncStaging.h"

#include "GPU/Stage/StagedOperands.h"

#include "nm/Dialect/NM/IR/Chip.h"
#include "nm/GPU/Strategies/Mma/MmaSyncOperands.h"

using namespace mlir;
using namespace mlir::nm;

/// Windows that ldmatrix takes a row of each at once.
static constexpr int64_t kWindows = 8;

namespace {
/// The operand tiles of one product in workgroup memory.
class Staging {
public:
  Staging(OpBuilder &builder, SpMMOp op, const GpuTile &tile,
          std::optional<RowsOfTile> rows)
      : builder(builder), loc(op.getLoc()), op(op), tile(tile),
        rows(std::move(rows)) {}

  /// Bytes of all stages.
  uint64_t countBytes() const;
  /// The rows of A's tile.
  int64_t countRows() const { return rows ? rows->count() : tile.k; }
  void emit();

private:
  MemRefType getBufferType(ArrayRef<int64_t> shape,
                           int64_t windowRows = 1) const {
    return getWorkgroupType(
        shape, op.getValuesType().getElementType(),
        getMatrixLayout(op.getContext(), shape, windowRows));
  }
  MemRefType typeOfA() const;
  MemRefType typeOfValues() const {
    return getBufferType(getWeightShape(op, tile).values);
  }
  bool isStagedRowMajor() const {
    return staysRowMajor(op.getTransposeA(), rows.has_value(), tile.k);
  }
  bool readsInPlace() const {
    return readsWeightsInPlace(op.getPanelPacking());
  }

  OpBuilder &builder;
  Location loc;
  mutable SpMMOp op;
  const GpuTile &tile;
  /// The rows of A that are staged, if not all.
  std::optional<RowsOfTile> rows;
};
} // namespace

/// The type of A's tile. From an m-major tile, ldmatrix reads a row of each of
/// eight windows where there are as many.
MemRefType Staging::typeOfA() const {
  if (isStagedRowMajor())
    return getBufferType({tile.m, tile.k});
  int64_t windows = tile.k / op.getPattern().getPattern().windowRows();
  int64_t apart = windows % kWindows == 0 ? countRows() / windows : 1;
  return getBufferType({countRows(), tile.m}, apart);
}

uint64_t Staging::countBytes() const {
  SmallVector<MemRefType> buffers = {typeOfA()};
  if (!readsInPlace())
    buffers.push_back(typeOfValues());
  return countSharedBytes(op, tile, buffers);
}

void Staging::emit() {
  builder.setInsertionPoint(op);
  OperandCopies copies(builder, loc);
  bool isRowMajor = isStagedRowMajor();
  Value a = copies.copyToNew(op.getA(), typeOfA(),
                             !op.getTransposeA() && !isRowMajor, rows);
  StorageShape weights = getWeightShape(op, tile);
  Value values = readsInPlace()
                     ? castOpen(builder, loc, op.getValues(), weights.values)
                     : copies.copyToNew(op.getValues(), typeOfValues());
  SmallVector<Value> operands = {
      a, values, castOpen(builder, loc, op.getIndices(), weights.indices),
      castOutput(builder, op, tile)};
  size_t buffers = readsInPlace() ? 1 : 2;
  SpMMOp staged =
      replaceByStaged(builder, op, copies.finish(), operands, buffers);
  staged.setTransposeA(!isRowMajor);
  if (rows)
    setGatheredRows(staged, *rows);
}

LogicalResult mlir::nm::stageMmaSyncOperands(OpBuilder &builder, SpMMOp op) {
  FailureOr<GpuTile> tile = GpuTile::get(op);
  FailureOr<::nm::GpuChip> chip = getChip(op);
  if (failed(tile) || failed(chip) || failed(verifyMmaSyncTile(op, *tile)))
    return failure();
  FailureOr<std::optional<RowsOfTile>> rows = RowsOfTile::takeFrom(op, *tile);
  if (failed(rows))
    return failure();
  Staging staging(builder, op, *tile, std::move(*rows));
  if (failed(verifyStageBytes(op, *tile, staging.countRows(), tile->m,
                              staging.countBytes(), chip->sharedPerBlock)))
    return failure();
  staging.emit();
  return success();
}
