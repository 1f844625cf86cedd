//===- RowBody.cpp - The body of a linalg op on rows ----------------------===//

#include "GPU/Rows/RowBody.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::nm;

Value mlir::nm::widen(OpBuilder &builder, Location loc, Value value,
                      int64_t width) {
  if (width == 1 || isa<VectorType>(value.getType()))
    return value;
  return vector::BroadcastOp::create(
      builder, loc, VectorType::get(width, value.getType()), value);
}

/// The indices of loop `dim`: of the last one, those of neighbouring columns.
static Value getIndex(OpBuilder &builder, Location loc, const RowPlace &place,
                      unsigned dim, unsigned columnLoop) {
  Value first = place.indices[dim];
  if (dim != columnLoop || place.width == 1)
    return first;
  SmallVector<Value> indices;
  for (int64_t i = 0; i < place.width; ++i)
    indices.push_back(arith::AddIOp::create(
        builder, loc, first, arith::ConstantIndexOp::create(builder, loc, i)));
  return vector::FromElementsOp::create(
      builder, loc, VectorType::get(place.width, builder.getIndexType()),
      indices);
}

/// `inner` on what its operands became; on vectors if one of them is.
static void cloneWidened(OpBuilder &builder, Operation &inner,
                         IRMapping &mapping, int64_t width) {
  Location loc = inner.getLoc();
  SmallVector<Value> operands =
      llvm::map_to_vector(inner.getOperands(), [&](Value value) {
        return mapping.lookupOrDefault(value);
      });
  bool isVector = llvm::any_of(
      operands, [](Value value) { return isa<VectorType>(value.getType()); });
  if (!isVector) {
    builder.clone(inner, mapping);
    return;
  }
  OperationState state(loc, inner.getName());
  for (Value value : operands)
    state.operands.push_back(widen(builder, loc, value, width));
  for (Type type : inner.getResultTypes())
    state.types.push_back(VectorType::get(width, type));
  state.attributes = inner.getAttrDictionary().getValue();
  mapping.map(inner.getResults(), builder.create(state)->getResults());
}

SmallVector<Value> mlir::nm::inlineRowBody(OpBuilder &builder, const RowOp &row,
                                           ArrayRef<Value> arguments,
                                           const RowPlace &place,
                                           ValueRange wanted) {
  if (!row.hasBody())
    return SmallVector<Value>(arguments.take_front());
  Block &body = row.getBody();
  unsigned columnLoop = place.indices.size() - 1;
  IRMapping mapping;
  for (auto [argument, value] : llvm::zip(body.getArguments(), arguments))
    if (value)
      mapping.map(argument, value);
  for (Operation &inner : body.without_terminator()) {
    if (llvm::is_contained(row.combiners, &inner))
      continue;
    if (auto index = dyn_cast<linalg::IndexOp>(inner))
      mapping.map(index.getResult(), getIndex(builder, inner.getLoc(), place,
                                              index.getDim(), columnLoop));
    else
      cloneWidened(builder, inner, mapping, place.width);
  }
  SmallVector<Value> results;
  for (Value value : wanted)
    results.push_back(mapping.lookupOrDefault(value));
  if (!wanted.empty())
    return results;
  for (auto [i, yielded] :
       llvm::enumerate(body.getTerminator()->getOperands())) {
    Value result = yielded;
    if (row.kind == RowOp::Reduction) {
      Operation *combiner = row.combiners[i];
      BlockArgument running = body.getArgument(row.inputs.size() + i);
      result = combiner->getOperand(combiner->getOperand(0) == running ? 1 : 0);
    }
    results.push_back(mapping.lookupOrDefault(result));
  }
  return results;
}
