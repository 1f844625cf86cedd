//===- CombineBlocks.cpp - Blocks that add up partial sums ----------------===//

#include "GPU/Tile/CombineBlocks.h"

#include "GPU/Sums/TileEpilogue.h"
#include "GPU/Tile/BlockMemory.h"

#include "nm/Dialect/NM/IR/Epilogue.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::nm;

/// Parts of which a thread loads an element at once.
static constexpr int64_t kMaxParts = 64;

namespace {
class CombinedElements {
public:
  CombinedElements(RewriterBase &rewriter, CombineOp op, linalg::FillOp fill,
                   std::optional<TileEpilogue> epilogue)
      : rewriter(rewriter), loc(op.getLoc()), op(op), fill(fill),
        epilogue(std::move(epilogue)) {}

  LogicalResult verify();
  void expand();

private:
  Value slicePart(int64_t part);
  Value addInitial(OpBuilder &builder, Value sum, Value before);
  Value convert(OpBuilder &builder, Type type, Value value);
  bool startsFromZero() {
    return fill && (matchPattern(fill.value(), m_AnyZeroFloat()) ||
                    matchPattern(fill.value(), m_Zero()));
  }

  RewriterBase &rewriter;
  Location loc;
  CombineOp op;
  linalg::FillOp fill;
  std::optional<TileEpilogue> epilogue;
};
} // namespace

LogicalResult CombinedElements::verify() {
  if (!op.hasPureBufferSemantics())
    return op.emitOpError() << "expected operands to be memrefs, which "
                               "bufferization makes of tensors";
  int64_t parts = op.getPartialsType().getDimSize(0);
  // A dynamic number is negative.
  if (parts < 1 || parts > kMaxParts)
    return op.emitOpError()
           << "expected a constant number of parts in 1.." << kMaxParts
           << " in blocks, but got " << op.getPartialsType();
  if (epilogue && !fill)
    return op.emitOpError() << "expected sums that an epilogue takes to start "
                               "from a fill";
  return success();
}

/// A view of one part, without the dimension of parts.
Value CombinedElements::slicePart(int64_t part) {
  auto type = cast<MemRefType>(op.getPartials().getType());
  SmallVector<OpFoldResult> offsets(type.getRank(), rewriter.getIndexAttr(0)),
      strides(type.getRank(), rewriter.getIndexAttr(1)),
      sizes = memref::getMixedSizes(rewriter, loc, op.getPartials());
  offsets[0] = rewriter.getIndexAttr(part);
  sizes[0] = rewriter.getIndexAttr(1);
  MemRefType reduced = memref::SubViewOp::inferRankReducedResultType(
      type.getShape().drop_front(), type, offsets, sizes, strides);
  return memref::SubViewOp::create(rewriter, loc, reduced, op.getPartials(),
                                   offsets, sizes, strides);
}

/// Converts between C's type and that of the sums.
Value CombinedElements::convert(OpBuilder &builder, Type type, Value value) {
  if (value.getType() == type)
    return value;
  if (type.getIntOrFloatBitWidth() > value.getType().getIntOrFloatBitWidth())
    return arith::ExtFOp::create(builder, loc, type, value);
  return arith::TruncFOp::create(builder, loc, type, value);
}

static Value add(OpBuilder &builder, Location loc, Value lhs, Value rhs) {
  if (isa<FloatType>(lhs.getType()))
    return arith::AddFOp::create(builder, loc, lhs, rhs);
  return arith::AddIOp::create(builder, loc, lhs, rhs);
}

/// What C was filled with, or `before`, plus the sum.
Value CombinedElements::addInitial(OpBuilder &builder, Value sum,
                                   Value before) {
  if (!startsFromZero())
    sum =
        add(builder, loc,
            convert(builder, sum.getType(), fill ? fill.value() : before), sum);
  return convert(builder, op.getCType().getElementType(), sum);
}

void CombinedElements::expand() {
  rewriter.setInsertionPoint(op);
  if (epilogue)
    rewriter.setInsertionPoint(epilogue->getOp());
  auto rank = static_cast<unsigned>(op.getCType().getRank());
  int64_t parts = op.getPartialsType().getDimSize(0);
  AffineMap identity = rewriter.getMultiDimIdentityMap(rank);
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps(parts, identity);
  for (int64_t part = 0; part < parts; ++part)
    inputs.push_back(slicePart(part));
  // Of the epilogue's operands, the sums are not read any more.
  llvm::SmallDenseMap<OpOperand *, size_t> places;
  if (epilogue)
    for (OpOperand *operand : epilogue->getOp().getDpsInputOperands()) {
      if (operand == epilogue->getSums())
        continue;
      places[operand] = inputs.size();
      inputs.push_back(operand->get());
      maps.push_back(epilogue->getOp().getMatchingIndexingMap(operand));
    }
  maps.push_back(identity);
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  auto emitBody = [&](OpBuilder &builder, Location, ValueRange elements) {
    Value sum = elements.front();
    for (Value element : elements.slice(1, parts - 1))
      sum = add(builder, loc, sum, element);
    sum = addInitial(builder, sum, elements.back());
    if (epilogue) {
      SmallVector<Value> arguments;
      for (OpOperand &operand : epilogue->getOp()->getOpOperands())
        arguments.push_back(
            places.contains(&operand) ? elements[places[&operand]] : sum);
      sum = inlineElementwise(builder, loc, *epilogue->getOp().getBody(),
                              arguments);
    }
    linalg::YieldOp::create(builder, loc, sum);
  };
  linalg::GenericOp::create(rewriter, loc, inputs,
                            epilogue ? epilogue->getC() : op.getC(), maps,
                            iterators, emitBody);
  if (fill)
    rewriter.eraseOp(fill);
  rewriter.eraseOp(op);
  if (epilogue)
    epilogue->erase(rewriter);
}

LogicalResult mlir::nm::expandCombine(RewriterBase &rewriter,
                                      scf::ForallOp loop) {
  SmallVector<CombineOp> combines(loop.getBody()->getOps<CombineOp>());
  if (combines.empty())
    return success();
  if (combines.size() > 1)
    return combines.back().emitOpError()
           << "expected one nm.combine in blocks, but got " << combines.size();
  FailureOr<std::optional<TileEpilogue>> epilogue =
      TileEpilogue::find(*loop.getBody(), combines.front().getC());
  if (failed(epilogue))
    return failure();
  CombinedElements elements(rewriter, combines.front(),
                            findFill(combines.front().getC(), loop), *epilogue);
  if (failed(elements.verify()))
    return failure();
  elements.expand();
  return success();
}
