//===- TileEpilogue.cpp - What a block does with its sums -----------------===//

#include "GPU/Sums/TileEpilogue.h"

#include "GPU/Tile/BlockMemory.h"

#include "nm/Dialect/NM/IR/Epilogue.h"
#include "nm/GPU/Stage/AccessWidth.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::nm;

SmallVector<OpOperand *> TileEpilogue::listSums() const {
  OpOperand *init = op.getDpsInitOperand(0);
  if (op.payloadUsesValueFromOperand(init))
    return {init};
  return llvm::filter_to_vector(
      op.getDpsInputOperands(), [&](OpOperand *input) {
        return memory && findOwnMemory(input->get()) == memory;
      });
}

OpOperand *TileEpilogue::getSums() const {
  SmallVector<OpOperand *> sums = listSums();
  return sums.empty() ? nullptr : sums.front();
}

OpOperand *TileEpilogue::getSecondSums() const {
  SmallVector<OpOperand *> sums = listSums();
  return sums.size() < 2 ? nullptr : sums[1];
}

bool TileEpilogue::combinesNeighbours() const {
  OpOperand *second = getSecondSums();
  return second &&
         !cast<MemRefType>(second->get().getType()).isLastDimUnitStride();
}

/// Whether `op` computes each element of its result from elements at the same
/// place.
static bool isElementwise(linalg::GenericOp op) {
  return op.hasPureBufferSemantics() && op.getNumDpsInits() == 1 &&
         op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity() &&
         llvm::all_of(op.getBody()->without_terminator(),
                      [](Operation &inner) { return isEpilogueOp(&inner); }) &&
         llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) {
           return map.isProjectedPermutation();
         });
}

FailureOr<std::optional<TileEpilogue>> TileEpilogue::find(Block &block,
                                                          Value sums) {
  Value memory = findMemory(sums);
  auto isOfSums = [&](Value operand) { return findMemory(operand) == memory; };
  std::optional<TileEpilogue> found;
  for (auto op : block.getOps<linalg::GenericOp>()) {
    if (found || !llvm::any_of(op->getOperands(), isOfSums) ||
        !isElementwise(op))
      return op.emitOpError() << "expected one elementwise op after the "
                                 "products of a block, which takes their sums";
    found = TileEpilogue(op, findOwnMemory(sums));
  }
  return found;
}

/// Elements of `operand` from `offset` after `indices` on: one, or as many as
/// `type` has, which have to be in bounds.
static Value loadAt(OpBuilder &builder, Location loc, Value operand,
                    AffineMap map, ArrayRef<Value> indices, int64_t offset,
                    VectorType type, int64_t aligned,
                    function_ref<Value(unsigned, Value)> clamp) {
  SmallVector<Value> at;
  for (unsigned i = 0; i < map.getNumResults(); ++i) {
    unsigned loop = map.getDimPosition(i);
    Value index = indices[loop];
    if (loop == map.getNumDims() - 1 && offset != 0)
      index = builder.createOrFold<arith::AddIOp>(
          loc, index, arith::ConstantIndexOp::create(builder, loc, offset));
    at.push_back(clamp ? clamp(loop, index) : index);
  }
  if (!type)
    return memref::LoadOp::create(builder, loc, operand, at);
  int64_t bytes = type.getElementTypeBitWidth() / 8;
  return vector::LoadOp::create(builder, loc, type, operand, at,
                                /*nontemporal=*/false,
                                llvm::MaybeAlign(aligned * bytes));
}

Value mlir::nm::loadOperand(OpBuilder &builder, Location loc, Value operand,
                            AffineMap map, ArrayRef<Value> indices,
                            VectorType type, int64_t aligned,
                            function_ref<Value(unsigned, Value)> clamp) {
  auto memref = cast<MemRefType>(operand.getType());
  auto load = [&](int64_t offset, VectorType type) {
    return loadAt(builder, loc, operand, map, indices, offset, type, aligned,
                  clamp);
  };
  if (!type)
    return load(0, {});
  type = type.clone(memref.getElementType());
  unsigned along = map.getNumDims() - 1;
  if (!map.isFunctionOfDim(along))
    return vector::BroadcastOp::create(builder, loc, type, load(0, {}));
  // A vector of bits would be packed, where memory has a byte for each.
  bool isContiguous = map.getDimPosition(map.getNumResults() - 1) == along &&
                      memref.isLastDimUnitStride() &&
                      memref.getElementTypeBitWidth() >= 8;
  if (isContiguous && !clamp)
    return load(0, type);
  SmallVector<Value> elements;
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    elements.push_back(load(i, {}));
  return vector::FromElementsOp::create(builder, loc, type, elements);
}

/// How many elements the address of a vector of an operand is a multiple of.
/// Sums are at multiples of their number along the last dimension of C.
static int64_t getAlignment(Value operand, AffineMap map, VectorType type) {
  if (map.getNumResults() == 0)
    return 1;
  SmallVector<int64_t> extents(map.getNumResults(), type.getNumElements());
  return getAccessWidth(operand, extents);
}

SmallVector<Value> TileEpilogue::read(OpBuilder &builder,
                                      ArrayRef<Value> position, VectorType type,
                                      ArrayRef<bool> mayPassEnd) const {
  Location loc = op.getLoc();
  // A tile has one of each dimension that the position leaves out.
  size_t leading = op.getNumLoops() - position.size();
  SmallVector<Value> indices;
  if (leading != 0)
    indices.assign(leading, arith::ConstantIndexOp::create(builder, loc, 0));
  llvm::append_range(indices, position);
  auto clamp = [&](unsigned loop, Value index) -> Value {
    if (loop < leading || !mayPassEnd[loop - leading])
      return index;
    Value size = builder.createOrFold<memref::DimOp>(loc, getC(), loop);
    Value last = builder.createOrFold<arith::SubIOp>(
        loc, size, arith::ConstantIndexOp::create(builder, loc, 1));
    return builder.createOrFold<arith::MinUIOp>(loc, index, last);
  };
  OpOperand *sums = getSums(), *second = getSecondSums();
  SmallVector<Value> operands;
  for (OpOperand &operand : op->getOpOperands()) {
    bool isRead = &operand != sums && &operand != second &&
                  op.payloadUsesValueFromOperand(&operand);
    if (!isRead) {
      operands.push_back({});
      continue;
    }
    AffineMap map = op.getMatchingIndexingMap(&operand);
    bool isClamped = llvm::is_contained(mayPassEnd, true);
    operands.push_back(loadOperand(
        builder, loc, operand.get(), map, indices, type,
        type ? getAlignment(operand.get(), map, type) : 1,
        isClamped ? function_ref<Value(unsigned, Value)>(clamp) : nullptr));
  }
  return operands;
}

Value TileEpilogue::apply(OpBuilder &builder, Value sum, Value second,
                          ArrayRef<Value> operands) const {
  SmallVector<Value> arguments(operands);
  if (OpOperand *operand = getSecondSums())
    arguments[operand->getOperandNumber()] = second;
  for (Value &argument : arguments)
    if (!argument)
      argument = sum;
  return inlineElementwise(builder, op.getLoc(), *op.getBody(), arguments);
}

void TileEpilogue::erase(RewriterBase &rewriter) const {
  rewriter.eraseOp(op);
  if (memory)
    eraseOwnMemory(rewriter, memory);
}
