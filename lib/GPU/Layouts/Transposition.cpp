//===- Transposition.cpp - What an op that transposes does ----------------===//

#include "GPU/Layouts/Transposition.h"

#include "GPU/Expand/ThreadEmitter.h"
#include "GPU/Sums/TileEpilogue.h"
#include "GPU/Tile/CreateLaunch.h"

#include "nm/Dialect/NM/IR/Epilogue.h"

#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::nm;

//===----------------------------------------------------------------------===//
// What transposes
//===----------------------------------------------------------------------===//

/// Why `op` is not elementwise on memrefs with one output; null if it is.
static const char *whyNotElementwise(linalg::GenericOp op) {
  if (!op.hasPureBufferSemantics() || op.getNumDpsInits() != 1)
    return "has not one memref as its output";
  if (op.getNumParallelLoops() != op.getNumLoops())
    return "reduces";
  if (!op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isPermutation())
    return "broadcasts its result";
  for (OpOperand &operand : op->getOpOperands())
    if (!isa<MemRefType>(operand.get().getType()) ||
        !op.getMatchingIndexingMap(&operand).isProjectedPermutation())
      return "has an operand that is not one element for each of the output";
  for (Operation &inner : op.getBody()->without_terminator())
    if (!isEpilogueOp(&inner))
      return "has more than elementwise arithmetic";
  return nullptr;
}

std::optional<unsigned> mlir::nm::getContiguousLoop(linalg::GenericOp op,
                                                    OpOperand &operand) {
  AffineMap map = op.getMatchingIndexingMap(&operand);
  if (map.getNumResults() == 0 ||
      !cast<MemRefType>(operand.get().getType()).isLastDimUnitStride())
    return std::nullopt;
  return map.getDimPosition(map.getNumResults() - 1);
}

/// Inputs that are contiguous along another loop than the last, in which they
/// have a dimension too; else they would be read once for each of its elements.
static SmallVector<OpOperand *> findTransposed(linalg::GenericOp op) {
  unsigned last = op.getNumLoops() - 1;
  SmallVector<OpOperand *> turned;
  for (OpOperand *input : op.getDpsInputOperands()) {
    std::optional<unsigned> loop = getContiguousLoop(op, *input);
    if (loop && *loop != last && op.payloadUsesValueFromOperand(input) &&
        op.getMatchingIndexingMap(input).isFunctionOfDim(last))
      turned.push_back(input);
  }
  return turned;
}

/// With the dimensions of the output as loops, in their order.
static FailureOr<linalg::GenericOp> orderLoops(RewriterBase &rewriter,
                                               linalg::GenericOp op) {
  AffineMap output = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (output.isIdentity())
    return op;
  SmallVector<unsigned> order;
  for (unsigned dim = 0; dim < output.getNumResults(); ++dim)
    order.push_back(output.getDimPosition(dim));
  rewriter.setInsertionPoint(op);
  return linalg::interchangeGenericOp(rewriter, op, order);
}

FailureOr<linalg::GenericOp> mlir::nm::orderElementwise(RewriterBase &rewriter,
                                                        linalg::GenericOp op) {
  if (const char *reason = whyNotElementwise(op))
    return rewriter.notifyMatchFailure(op, reason);
  if (op.getNumLoops() < 2)
    return rewriter.notifyMatchFailure(op, "has one dimension");
  return orderLoops(rewriter, op);
}

FailureOr<Transposition> Transposition::create(RewriterBase &rewriter,
                                               linalg::GenericOp op) {
  unsigned last = op.getNumLoops() - 1;
  if (getContiguousLoop(op, *op.getDpsInitOperand(0)) != last)
    return rewriter.notifyMatchFailure(op, "its output is not contiguous");
  SmallVector<OpOperand *> turned = findTransposed(op);
  if (turned.empty())
    return rewriter.notifyMatchFailure(op, "reads as it writes");
  unsigned rowLoop = *getContiguousLoop(op, *turned.front());
  for (OpOperand *input : turned)
    if (getContiguousLoop(op, *input) != rowLoop)
      return rewriter.notifyMatchFailure(
          op, "has inputs that are contiguous along several dimensions");
  return Transposition(op, rowLoop, std::move(turned));
}

//===----------------------------------------------------------------------===//
// Its parts
//===----------------------------------------------------------------------===//

Value Transposition::getOutput() const { return op.getDpsInits()[0]; }

unsigned Transposition::getLastLoop() const { return op.getNumLoops() - 1; }

int64_t Transposition::getStaticSize(unsigned loop) const {
  return cast<MemRefType>(getOutput().getType()).getDimSize(loop);
}

SmallVector<Value> Transposition::getIndices(OpOperand &operand,
                                             ArrayRef<Value> indices) const {
  AffineMap map = op.getMatchingIndexingMap(&operand);
  SmallVector<Value> result;
  for (unsigned i = 0; i < map.getNumResults(); ++i)
    result.push_back(indices[map.getDimPosition(i)]);
  return result;
}

bool Transposition::widens() const {
  auto getBits = [](Value memref) -> unsigned {
    Type element = cast<MemRefType>(memref.getType()).getElementType();
    return element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 0;
  };
  return turned.size() == 1 && getBits(turned.front()->get()) == 8 &&
         getBits(getOutput()) == 16 &&
         llvm::all_of(op->getOpOperands(), [&](OpOperand &operand) {
           return &operand == turned.front() ||
                  !op.payloadUsesValueFromOperand(&operand);
         });
}

Value Transposition::apply(OpBuilder &builder, ArrayRef<Value> elements,
                           ArrayRef<Value> indices) const {
  auto vector = dyn_cast<VectorType>(elements.front().getType());
  SmallVector<Value> arguments;
  for (OpOperand &operand : op->getOpOperands()) {
    const auto *it = llvm::find(turned, &operand);
    // What is not used may be anything, of the right shape.
    Value element = elements.front();
    if (it != turned.end())
      element = elements[size_t(it - turned.begin())];
    else if (op.payloadUsesValueFromOperand(&operand))
      element =
          loadOperand(builder, getLoc(), operand.get(),
                      op.getMatchingIndexingMap(&operand), indices, vector);
    arguments.push_back(element);
  }
  return inlineElementwise(builder, getLoc(), *op.getBody(), arguments);
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// The tile of each loop of `op`.
static SmallVector<int64_t> getTiles(const Transposition &op, int64_t rowTile,
                                     int64_t lastTile) {
  SmallVector<int64_t> tiles(op.getLastLoop() + 1, 1);
  tiles[op.getRowLoop()] = rowTile;
  tiles[op.getLastLoop()] = lastTile;
  return tiles;
}

/// Neighbouring blocks read one after the other along rows.
static SmallVector<unsigned> getBlockOrder(const Transposition &op) {
  SmallVector<unsigned> order = {op.getRowLoop()};
  for (unsigned loop = op.getLastLoop() + 1; loop-- > 0;)
    if (loop != op.getRowLoop())
      order.push_back(loop);
  return order;
}

TileLaunch::TileLaunch(OpBuilder &builder, const Transposition &op,
                       int64_t rowTile, int64_t lastTile, int64_t threads,
                       int64_t sharedBytes)
    : TileLaunch(builder, op.getLoc(), op.getOutput(),
                 getTiles(op, rowTile, lastTile), getBlockOrder(op), threads,
                 sharedBytes) {}

TileLaunch::TileLaunch(OpBuilder &builder, Location loc, Value output,
                       ArrayRef<int64_t> tiles, ArrayRef<unsigned> order,
                       int64_t threads, int64_t sharedBytes) {
  ThreadEmitter emit{builder, loc};
  SmallVector<Value> counts;
  Value blocks = emit.index(1);
  for (unsigned loop = 0; loop < tiles.size(); ++loop) {
    sizes.push_back(builder.createOrFold<memref::DimOp>(loc, output, loop));
    counts.push_back(builder.createOrFold<arith::CeilDivUIOp>(
        loc, sizes.back(), emit.index(tiles[loop])));
    blocks = builder.createOrFold<arith::MulIOp>(loc, blocks, counts.back());
  }
  gpu::LaunchOp launch =
      createLaunch(builder, loc, blocks, threads, sharedBytes);
  thread = launch.getThreadIds().x;
  first.resize(tiles.size());
  // A grid has less than 2^31 blocks, and i32 is divided in a fourth of i64's
  // time.
  Value block = emit.toI32(launch.getBlockIds().x);
  for (unsigned loop : order) {
    Value tile = block;
    if (loop != order.back()) {
      Value count = emit.toI32(counts[loop]);
      tile = builder.createOrFold<arith::RemUIOp>(loc, block, count);
      block = builder.createOrFold<arith::DivUIOp>(loc, block, count);
    }
    first[loop] = emit.mul(emit.toIndex(tile), tiles[loop]);
  }
}
