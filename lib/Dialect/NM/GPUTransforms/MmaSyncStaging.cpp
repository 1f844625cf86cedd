//===- MmaSyncStaging.cpp - Operand tiles of strategy mma_sync ------------===//

#include "MmaSyncStaging.h"

#include "StagedOperands.h"

#include "nm/Dialect/NM/GPUTransforms/AccessWidth.h"
#include "nm/Dialect/NM/GPUTransforms/MmaSyncOperands.h"
#include "nm/Dialect/NM/IR/Chip.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <numeric>

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
    return getWorkgroupType(shape,
                            getMatrixLayout(op.getContext(), shape, windowRows),
                            op.getValuesType().getElementType());
  }
  MemRefType typeOfA() const;
  MemRefType typeOfValues() const {
    return getBufferType(getWeightShape(op, tile).values);
  }
  void copy(Value source, Value destination, int64_t width, bool transpose,
            bool takesRows);
  Value stageValues();

  OpBuilder &builder;
  Location loc;
  mutable SpMMOp op;
  const GpuTile &tile;
  /// The rows of A that are staged, if not all.
  std::optional<RowsOfTile> rows;

  /// Of copies that are awaited with the tile.
  SmallVector<Value> tokens;
  /// What is in registers, and where it goes.
  SmallVector<std::pair<Value, Value>> fragments;
};
} // namespace

/// ldmatrix reads a row of each of eight windows where there are as many.
MemRefType Staging::typeOfA() const {
  int64_t windows = tile.k / op.getPattern().getPattern().windowRows();
  int64_t apart = windows % kWindows == 0 ? countRows() / windows : 1;
  return getBufferType({countRows(), tile.m}, apart);
}

uint64_t Staging::countBytes() const {
  int64_t bytes = getWorkgroupBytes(typeOfA());
  if (!readsWeightsInPlace(op.getPanelPacking()))
    bytes += getWorkgroupBytes(typeOfValues());
  return llvm::SaturatingMultiply<uint64_t>(bytes, tile.stages);
}

/// Copies asynchronously what stays as it is, `width` elements at a time; by
/// elements what is transposed, or too narrow for that.
void Staging::copy(Value source, Value destination, int64_t width,
                   bool transpose, bool takesRows) {
  auto type = cast<MemRefType>(destination.getType());
  Value list = takesRows ? rows->list : Value();
  RowListAttr listAttr = takesRows ? rows->attr : RowListAttr();
  if (!transpose && width * type.getElementTypeBitWidth() / 8 >= kMinAsyncBytes)
    tokens.push_back(CopyOp::create(builder, loc, CopyWay::Direct, source,
                                    destination, /*part=*/ArrayRef<int64_t>(),
                                    list, listAttr)
                         .getToken());
  else
    fragments.push_back(
        {LoadTileOp::create(builder, loc, CopyWay::Elements, source, transpose,
                            type, list, listAttr),
         destination});
}

Value Staging::stageValues() {
  if (readsWeightsInPlace(op.getPanelPacking()))
    return castOpen(builder, loc, op.getValues(),
                    getWeightShape(op, tile).values);
  Value values = memref::AllocOp::create(builder, loc, typeOfValues());
  copy(op.getValues(), values,
       getAccessWidth(op.getValues(), typeOfValues().getShape()),
       /*transpose=*/false, /*takesRows=*/false);
  return values;
}

void Staging::emit() {
  builder.setInsertionPoint(op);
  Value a = memref::AllocOp::create(builder, loc, typeOfA());
  copy(op.getA(), a, getAccessWidth(op.getA(), typeOfA().getShape()),
       /*transpose=*/!op.getTransposeA(), /*takesRows=*/rows.has_value());
  SmallVector<Value> operands = {
      a, stageValues(),
      castOpen(builder, loc, op.getIndices(), getWeightShape(op, tile).indices),
      castOutput(builder, op, tile)};
  Value group = GroupOp::create(builder, loc, tokens);
  for (auto [loaded, buffer] : fragments)
    StoreTileOp::create(builder, loc, loaded, buffer);
  AwaitOp::create(builder, loc, SyncScope::Block, group);
  auto staged = cast<SpMMOp>(
      clone(builder, op, /*newResultTypes=*/TypeRange(), operands));
  staged.setTransposeA(true);
  if (rows)
    setPackedPattern(staged, *rows);
  // The next tile is copied over this one.
  if (isa<scf::ForOp>(op->getParentOp()))
    ReleaseOp::create(builder, loc, SyncScope::Block,
                      ArrayRef(operands).take_front(
                          readsWeightsInPlace(op.getPanelPacking()) ? 1 : 2));
  op.erase();
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
  uint64_t bytes = staging.countBytes(), maxBytes = chip->sharedPerBlock;
  if (bytes > maxBytes)
    return op.emitOpError()
           << "expected tiles of at most " << maxBytes
           << " bytes of shared memory, but " << tile->stages << " stages of a "
           << staging.countRows() << " x " << tile->m
           << " tile of A with its weights take " << bytes;
  staging.emit();
  return success();
}
