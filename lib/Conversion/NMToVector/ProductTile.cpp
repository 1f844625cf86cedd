//===- ProductTile.cpp - What becomes of a tile's sums --------------------===//

#include "ProductTile.h"

#include "nm/Dialect/NM/IR/Epilogue.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::nm;

/// Where an epilogue's operand, whose dimensions run over loops of
/// (batch..., m, n), has the element at `positions` in these loops.
static SmallVector<Value> select(AffineMap map, ArrayRef<Value> positions) {
  SmallVector<Value> indices;
  for (unsigned i = 0; i < map.getNumResults(); ++i)
    indices.push_back(positions[map.getDimPosition(i)]);
  return indices;
}

/// The dimension of an operand that runs over `loop`, if one does.
static std::optional<int64_t> findDim(AffineMap map, unsigned loop) {
  for (unsigned i = 0; i < map.getNumResults(); ++i)
    if (map.getDimPosition(i) == loop)
      return i;
  return std::nullopt;
}

SmallVector<Value> ProductTile::positionsOf(Value row, Value column) const {
  SmallVector<Value> positions(batch);
  if (!isVector)
    positions.push_back(row);
  positions.push_back(column);
  return positions;
}

void ProductTile::write(VectorEmitter &emitter, Value sums, Value row,
                        Value column, bool alongM, Value width) const {
  SmallVector<Value> indices = indicesOfC(row, column);
  SparseProductOpInterface op = epilogue;
  if (!op)
    return emitter.accumulate(sums, c, indices, width);
  // Rows past the last one are not stored, but must not be read either.
  Value inside =
      alongM ? row : emitter.min(row, emitter.sub(m, emitter.index(1)));
  SmallVector<Value> positions = positionsOf(inside, column);
  auto along = static_cast<unsigned>(positions.size() - (alongM ? 2 : 1));
  SmallVector<Value> arguments = {sums};
  for (auto [i, operand] : llvm::enumerate(op.getEpilogueOperands())) {
    AffineMap map = getEpilogueMap(op, i);
    arguments.push_back(emitter.loadAlong(operand, select(map, positions),
                                          findDim(map, along), width));
  }
  Value result = inlineElementwise(emitter.b, emitter.b.getLoc(),
                                   op.getEpilogue(), arguments);
  emitter.maskedStore(result, c, indices, width);
}

void ProductTile::writeScalar(VectorEmitter &emitter, Value sum, Value row,
                              Value column) const {
  SmallVector<Value> indices = indicesOfC(row, column);
  SparseProductOpInterface op = epilogue;
  if (!op)
    return emitter.accumulateScalar(sum, c, indices);
  SmallVector<Value> positions = positionsOf(row, column), arguments = {sum};
  for (auto [i, operand] : llvm::enumerate(op.getEpilogueOperands()))
    arguments.push_back(memref::LoadOp::create(
        emitter.b, operand, select(getEpilogueMap(op, i), positions)));
  Value result = inlineElementwise(emitter.b, emitter.b.getLoc(),
                                   op.getEpilogue(), arguments);
  memref::StoreOp::create(emitter.b, result, c, indices);
}
