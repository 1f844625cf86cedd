//===- WeightTile.cpp - Access to staged weights --------------------------===//

#include "GPU/Expand/WeightTile.h"

#include "nm/Support/Warp.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <numeric>

using namespace mlir;
using namespace mlir::nm;

/// Weights that one access reads.
static constexpr int64_t kChunk = ::nm::kAccessWords;
/// Bytes of the widest load from shared memory.
static constexpr int64_t kMaxLoadBytes = 16;

WeightTile::WeightTile(SpMMOp op)
    : loc(op.getLoc()), pattern(op.getPattern().getPattern()),
      packing(op.getPanelPacking()), values(op.getValues()),
      indices(op.getIndices()),
      numUnitRows(
          cast<MemRefType>(indices.getType()).getDimSize(packing ? 1 : 0)) {}

LogicalResult WeightTile::verify(SpMMOp op) {
  if (!op.getPackingAttr())
    return success();
  PackingAttr packing = op.getPanelPacking();
  if (!packing)
    return op.emitOpError() << "expected weights condensed or in panels for "
                               "strategy simt, but got "
                            << op.getPackingAttr();
  // A thread then takes its positions without masks and shifts.
  if (packing.getIndexBits() != 8 || !packing.getPacking().isRowWise())
    return op.emitOpError() << "expected packing with index_bits = 8 and "
                               "without chunks for strategy simt, but got "
                            << packing;
  if (packing.getColInfo() != 0)
    return op.emitOpError()
           << "expected A's tile packed by the lists of col_info, as "
              "nm-stage-shared-memory does, but got "
           << packing;
  return success();
}

static Value divide(OpBuilder &builder, Location loc, Value value,
                    int64_t divisor) {
  if (divisor == 1)
    return value;
  return builder.createOrFold<arith::DivUIOp>(
      loc, value, arith::ConstantIndexOp::create(builder, loc, divisor));
}

static Value remainder(OpBuilder &builder, Location loc, Value value,
                       int64_t divisor) {
  return builder.createOrFold<arith::RemUIOp>(
      loc, value, arith::ConstantIndexOp::create(builder, loc, divisor));
}

SmallVector<Value> WeightTile::valueIndices(OpBuilder &builder, Value row,
                                            Value column) {
  if (!isPacked())
    return {row, column};
  int64_t panel = packing.getPanel();
  return {divide(builder, loc, column, panel), row,
          remainder(builder, loc, column, panel)};
}

Value WeightTile::loadValues(OpBuilder &builder, Value row, Value column) {
  auto type = cast<MemRefType>(values.getType());
  auto vectorType = VectorType::get(kChunk, type.getElementType());
  // Rows of the tile are whole multiples of a chunk, so chunks are aligned,
  // unless panels are narrower.
  if (!isPacked() || packing.getPanel() % kChunk == 0)
    return vector::LoadOp::create(builder, loc, vectorType, values,
                                  valueIndices(builder, row, column),
                                  /*nontemporal=*/false, llvm::MaybeAlign(16));
  SmallVector<Value> elements;
  for (int64_t i = 0; i < kChunk; ++i) {
    Value next = builder.createOrFold<arith::AddIOp>(
        loc, column, arith::ConstantIndexOp::create(builder, loc, i));
    elements.push_back(memref::LoadOp::create(
        builder, loc, values, valueIndices(builder, row, next)));
  }
  return vector::FromElementsOp::create(builder, loc, vectorType, elements);
}

bool WeightTile::hasContiguousColumns() const {
  return isPacked() && packing.getPacking().bytesPerIndexRow(pattern) == 1;
}

SmallVector<Value> WeightTile::loadContiguous(OpBuilder &builder, Value first,
                                              int64_t count, Value panel) {
  SmallVector<ReassociationIndices> panelRows = {{0}, {1, 2}};
  Value bytes =
      memref::CollapseShapeOp::create(builder, loc, indices, panelRows);
  // `first` is a multiple of `count`, and panels are unitRows bytes apart.
  int64_t width = std::gcd(std::gcd(count, numUnitRows), kMaxLoadBytes);
  auto type = VectorType::get(width, builder.getI8Type());
  SmallVector<Value> positions;
  for (int64_t offset = 0; offset < count; offset += width) {
    Value row = builder.createOrFold<arith::AddIOp>(
        loc, first, arith::ConstantIndexOp::create(builder, loc, offset));
    Value loaded = vector::LoadOp::create(
        builder, loc, type, bytes, ValueRange{panel, row},
        /*nontemporal=*/false, llvm::MaybeAlign(width));
    for (int64_t i = 0; i < width; ++i)
      positions.push_back(vector::ExtractOp::create(builder, loc, loaded, i));
  }
  return positions;
}

SmallVector<Value> WeightTile::positionIndices(OpBuilder &builder, Value row,
                                               Value column) {
  if (!isPacked())
    return {row, divide(builder, loc, column, pattern.bn)};
  int64_t panel = packing.getPanel();
  Value inPanel = remainder(builder, loc, column, panel);
  return {divide(builder, loc, column, panel), row,
          divide(builder, loc, inPanel, pattern.bn)};
}

SmallVector<Value> WeightTile::loadPositions(OpBuilder &builder, Value first,
                                             int64_t count, Value column) {
  if (hasContiguousColumns())
    return loadContiguous(builder, first, count,
                          divide(builder, loc, column, packing.getPanel()));
  SmallVector<Value> positions;
  for (int64_t i = 0; i < count; ++i) {
    Value row = builder.createOrFold<arith::AddIOp>(
        loc, first, arith::ConstantIndexOp::create(builder, loc, i));
    positions.push_back(memref::LoadOp::create(
        builder, loc, indices, positionIndices(builder, row, column)));
  }
  return positions;
}

bool WeightTile::hasUnitsInChunk() const {
  return pattern.bn < kChunk && kChunk % pattern.bn == 0 &&
         (!isPacked() || packing.getPanel() % kChunk == 0);
}

SmallVector<Value> WeightTile::loadPositionsOfChunk(OpBuilder &builder,
                                                    Value row, Value column) {
  int64_t units = kChunk / pattern.bn;
  Value loaded = vector::LoadOp::create(
      builder, loc, VectorType::get(units, builder.getI8Type()), indices,
      positionIndices(builder, row, column), /*nontemporal=*/false,
      llvm::MaybeAlign(units));
  SmallVector<Value> positions;
  for (int64_t i = 0; i < units; ++i)
    positions.push_back(vector::ExtractOp::create(builder, loc, loaded, i));
  return positions;
}
