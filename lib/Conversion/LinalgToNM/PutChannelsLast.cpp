//===- PutChannelsLast.cpp - Layouts of images between convolutions -------===//

#include "nm/Conversion/LinalgToNM/LinalgToNM.h"

#include "ChannelLayouts.h"
#include "TransposeLoops.h"

#include "nm/Dialect/NM/IR/NM.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/Matchers.h"

namespace mlir::nm {
#define GEN_PASS_DEF_NMPUTCHANNELSLAST
#include "nm/Conversion/LinalgToNM/LinalgToNM.h.inc"
} // namespace mlir::nm

using namespace mlir;
using namespace mlir::nm;

static RankedTensorType getType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

static RankedTensorType permute(RankedTensorType type,
                                ArrayRef<int64_t> order) {
  return RankedTensorType::get(applyPermutation(type.getShape(), order),
                               type.getElementType());
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// Whether all elements keep their order: there is one channel, or one place.
static bool keepsOrder(RankedTensorType type) {
  ArrayRef<int64_t> shape = type.getShape();
  return shape[1] == 1 || llvm::all_of(shape.drop_front(2),
                                       [](int64_t size) { return size == 1; });
}

/// The image `value` with its dimensions in `order`: a view where elements keep
/// their order.
static Value orderImage(OpBuilder &builder, Location loc, Value value,
                        ArrayRef<int64_t> order) {
  if (!keepsOrder(getType(value)))
    return transpose(builder, loc, value, order);
  RankedTensorType type = permute(getType(value), order);
  SmallVector<ReassociationIndices> all(1);
  llvm::append_range(all.front(), llvm::seq<int64_t>(type.getRank()));
  Value flat = tensor::CollapseShapeOp::create(builder, loc, value, all);
  return tensor::ExpandShapeOp::create(builder, loc, type, flat, all);
}

/// `value`, which isMadeAnew, with its channels last.
static Value makeAnew(OpBuilder &builder, Location loc, Value value,
                      ArrayRef<int64_t> order) {
  RankedTensorType type = permute(getType(value), order);
  SplatElementsAttr splat;
  if (matchPattern(value, m_Constant(&splat)))
    return arith::ConstantOp::create(builder, loc, splat.resizeSplat(type));
  Value empty = tensor::EmptyOp::create(builder, loc, type.getShape(),
                                        type.getElementType());
  Operation *op = value.getDefiningOp();
  if (auto fill = dyn_cast<linalg::FillOp>(op))
    return linalg::FillOp::create(builder, loc, fill.getInputs(), empty)
        .getResult(0);
  auto broadcast = dyn_cast<linalg::BroadcastOp>(op);
  if (!broadcast)
    return empty;
  SmallVector<int64_t> dimensions;
  for (auto [to, from] : llvm::enumerate(order))
    if (llvm::is_contained(broadcast.getDimensions(), from))
      dimensions.push_back(int64_t(to));
  // What is left is in the order that the input has.
  return linalg::BroadcastOp::create(builder, loc, broadcast.getInput(), empty,
                                     dimensions)
      ->getResult(0);
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

namespace {
/// Puts the channels of images last, one op after the other.
class LayoutRewriter {
public:
  LayoutRewriter(IRRewriter &rewriter, llvm::SetVector<Value> last)
      : rewriter(rewriter), last(std::move(last)) {}

  void rewrite(Operation *op);

private:
  bool isLast(Value value) const { return last.contains(value); }
  void rewriteLinalg(linalg::LinalgOp op);
  void rewriteImages(Operation *op);
  linalg::GenericOp generalize(linalg::LinalgOp op);
  void setChannelsLast(Value value);
  void permuteSlice(Operation *op, ArrayRef<int64_t> order);
  Value toLast(Operation *user, Value value);
  Value toPlanes(Value value);

  IRRewriter &rewriter;
  llvm::SetVector<Value> last;
  /// Images that were put last, in planes again.
  DenseMap<Value, Value> planes;
};
} // namespace

void LayoutRewriter::setChannelsLast(Value value) {
  RankedTensorType type = getType(value);
  value.setType(permute(type, getChannelsLastOrder(type.getRank())));
}

/// The image `value` with its channels last, transposed or made anew in front
/// of `user` where it has planes.
Value LayoutRewriter::toLast(Operation *user, Value value) {
  if (isLast(value))
    return value;
  rewriter.setInsertionPoint(user);
  SmallVector<int64_t> order = getChannelsLastOrder(getType(value).getRank());
  if (isMadeAnew(value))
    return makeAnew(rewriter, user->getLoc(), value, order);
  return orderImage(rewriter, user->getLoc(), value, order);
}

Value LayoutRewriter::toPlanes(Value value) {
  Value &found = planes[value];
  if (found)
    return found;
  rewriter.setInsertionPointAfterValue(value);
  SmallVector<int64_t> order =
      invertPermutationVector(getChannelsLastOrder(getType(value).getRank()));
  return found = orderImage(rewriter, value.getLoc(), value, order);
}

linalg::GenericOp LayoutRewriter::generalize(linalg::LinalgOp op) {
  if (auto generic = dyn_cast<linalg::GenericOp>(*op))
    return generic;
  Value result = op->getResult(0);
  Attribute arithmetic = op->getAttr(kArithmeticAttr);
  bool wasLast = last.remove(result);
  rewriter.setInsertionPoint(op);
  FailureOr<linalg::GenericOp> generic =
      linalg::generalizeNamedOp(rewriter, op);
  assert(succeeded(generic) && "named ops have a region builder");
  if (arithmetic)
    (*generic)->setAttr(kArithmeticAttr, arithmetic);
  if (wasLast)
    last.insert((*generic)->getResult(0));
  return *generic;
}

/// The loops in the order of the output's dimensions, and then the others.
static SmallVector<unsigned> orderLoops(linalg::GenericOp op) {
  SmallVector<unsigned> loops;
  AffineMap output = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  for (AffineExpr expr : output.getResults())
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      loops.push_back(dim.getPosition());
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    if (!llvm::is_contained(loops, loop))
      loops.push_back(loop);
  return loops;
}

/// Permutes the indexing maps of operands that have their channels last, and of
/// the output where it is to have them last.
void LayoutRewriter::rewriteLinalg(linalg::LinalgOp named) {
  if (isPointwise(named) && isLast(named->getResult(0))) {
    OpOperand *image = named.getDpsInputOperand(0);
    Value moved = toLast(named, image->get());
    rewriter.modifyOpInPlace(named, [&] { image->set(moved); });
    last.insert(moved);
  }
  linalg::GenericOp op = generalize(named);
  Value result = op->getResult(0);
  OpOperand *init = op.getDpsInitOperand(0);
  Value before = init->get(), taken = isLast(result)   ? toLast(op, before)
                                      : isLast(before) ? toPlanes(before)
                                                       : before;
  rewriter.modifyOpInPlace(op, [&] {
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    for (OpOperand &operand : op->getOpOperands()) {
      if (&operand == init ? !isLast(result) : !isLast(operand.get()))
        continue;
      AffineMap &map = maps[operand.getOperandNumber()];
      map = AffineMap::get(
          map.getNumDims(), 0,
          applyPermutation(map.getResults(),
                           getChannelsLastOrder(map.getNumResults())),
          map.getContext());
    }
    op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
    init->set(taken);
    if (isLast(result))
      setChannelsLast(result);
  });
  if (!isLast(result) || isConvolution(op))
    return;
  rewriter.setInsertionPoint(op);
  FailureOr<linalg::GenericOp> ordered =
      linalg::interchangeGenericOp(rewriter, op, orderLoops(op));
  assert(succeeded(ordered) && "the order is one of all loops");
  (void)ordered;
}

/// Offsets, sizes and strides of a slice, or the padding of both sides.
void LayoutRewriter::permuteSlice(Operation *op, ArrayRef<int64_t> order) {
  auto permuted = [&](ArrayRef<int64_t> values) {
    return applyPermutation(values, order);
  };
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
    insert.setStaticOffsets(permuted(insert.getStaticOffsets()));
    insert.setStaticSizes(permuted(insert.getStaticSizes()));
    insert.setStaticStrides(permuted(insert.getStaticStrides()));
  } else if (auto extract = dyn_cast<tensor::ExtractSliceOp>(op)) {
    extract.setStaticOffsets(permuted(extract.getStaticOffsets()));
    extract.setStaticSizes(permuted(extract.getStaticSizes()));
    extract.setStaticStrides(permuted(extract.getStaticStrides()));
  } else if (auto pad = dyn_cast<tensor::PadOp>(op)) {
    pad.setStaticLow(permuted(pad.getStaticLow()));
    pad.setStaticHigh(permuted(pad.getStaticHigh()));
  }
}

/// Puts channels last in a slice, padding or elementwise arithmetic, all of
/// whose images have one layout.
void LayoutRewriter::rewriteImages(Operation *op) {
  if (!isLast(op->getResult(0)))
    return;
  int64_t rank = getType(op->getResult(0)).getRank();
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<RankedTensorType>(operand.get().getType()))
      continue;
    Value moved = toLast(op, operand.get());
    rewriter.modifyOpInPlace(op, [&] { operand.set(moved); });
  }
  rewriter.modifyOpInPlace(op, [&] {
    permuteSlice(op, getChannelsLastOrder(rank));
    setChannelsLast(op->getResult(0));
  });
}

void LayoutRewriter::rewrite(Operation *op) {
  bool isTouched =
      llvm::any_of(op->getOperands(), [&](Value v) { return isLast(v); }) ||
      llvm::any_of(op->getResults(), [&](Value v) { return isLast(v); });
  if (!isTouched)
    return;
  if (!hasAnyLayout(op)) {
    for (OpOperand &operand : op->getOpOperands())
      if (isLast(operand.get())) {
        Value moved = toPlanes(operand.get());
        rewriter.modifyOpInPlace(op, [&] { operand.set(moved); });
      }
    return;
  }
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    rewriteLinalg(linalgOp);
  else
    rewriteImages(op);
}

namespace {
struct NMPutChannelsLast
    : mlir::nm::impl::NMPutChannelsLastBase<NMPutChannelsLast> {
  using NMPutChannelsLastBase::NMPutChannelsLastBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    llvm::SetVector<Value> last = findChannelsLast(function, detectWeights);
    if (last.empty())
      return;
    emitRemark(function.getLoc()) << last.size()
                                  << " images have their channels last, so "
                                     "that fewer bytes are transposed";
    IRRewriter rewriter(&getContext());
    LayoutRewriter layouts(rewriter, std::move(last));
    SmallVector<Operation *> ops;
    function.walk<WalkOrder::PreOrder>(
        [&](Operation *op) { ops.push_back(op); });
    for (Operation *op : ops)
      layouts.rewrite(op);
  }
};
} // namespace
