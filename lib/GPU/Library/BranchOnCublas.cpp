//===- BranchOnCublas.cpp - Products of cuBLAS, or else our own -----------===//

#include "GPU/Select/GpuProductCost.h"
#include "GPU/Select/GpuStrategy.h"
#include "GPU/Tile/TileToGpuBlocks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"

using namespace mlir;
using namespace mlir::nm;

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

/// The schedule of our own product: that which `schedule` names, else a thread
/// for each element of C, which every product has.
static ScheduleAttrInterface getOwnSchedule(ScheduleAttrInterface schedule) {
  if (ScheduleAttrInterface own = schedule.getOwn())
    return own;
  return LoopsScheduleAttr::get(schedule.getContext());
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// `value`, a scalar, in the float type `type`.
static Value convertFloat(OpBuilder &builder, Location loc, Value value,
                          Type type) {
  unsigned width = value.getType().getIntOrFloatBitWidth();
  if (width < type.getIntOrFloatBitWidth())
    return arith::ExtFOp::create(builder, loc, type, value);
  if (width > type.getIntOrFloatBitWidth())
    return arith::TruncFOp::create(builder, loc, type, value);
  return value;
}

/// The elements of `from`, converted to those of `to`, which are overwritten.
static Value convertInto(OpBuilder &builder, Location loc, Value from,
                         Value to) {
  auto type = cast<RankedTensorType>(to.getType());
  SmallVector<AffineMap> maps(
      2, builder.getMultiDimIdentityMap(static_cast<unsigned>(type.getRank())));
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  auto convert = [&](OpBuilder &builder, Location loc, ValueRange elements) {
    linalg::YieldOp::create(
        builder, loc,
        convertFloat(builder, loc, elements[0], type.getElementType()));
  };
  return linalg::GenericOp::create(builder, loc, type, from, to, maps,
                                   iterators, convert)
      .getResult(0);
}

/// A new tensor as large as `like`.
static Value createLike(OpBuilder &builder, Location loc, Value like,
                        Type element) {
  return tensor::EmptyOp::create(
      builder, loc, tensor::getMixedSizes(builder, loc, like), element);
}

namespace {
/// Makes one branch's product. A fill of its output is made beside it, where it
/// can go into tiles or become a mode of the call.
class ProductCloner {
public:
  /// `output` is the new tensor for the product, where C was filled.
  ProductCloner(OpBuilder &builder, SparseProductOpInterface op,
                linalg::FillOp fill, Value output)
      : builder(builder), loc(op.getLoc()), op(op), fill(fill), output(output) {
  }

  SparseProductOpInterface clone(ScheduleAttrInterface schedule) {
    Value c = op.getC();
    if (fill)
      c = fillWith(fill.value(), output);
    return cloneOn(op.getA(), op.getValues(), c, schedule);
  }

  /// The product of the operands in f32, which holds them exactly and sums in
  /// f32 as all floats are; `result` is that in C's type.
  SparseProductOpInterface cloneInF32(ScheduleAttrInterface schedule,
                                      Value &result);

private:
  Value fillWith(Value value, Value into) {
    return linalg::FillOp::create(builder, loc, value, into).getResult(0);
  }
  Value widen(Value operand) {
    Type f32 = builder.getF32Type();
    return convertInto(builder, loc, operand,
                       createLike(builder, loc, operand, f32));
  }
  SparseProductOpInterface cloneOn(Value a, Value values, Value c,
                                   ScheduleAttrInterface schedule) {
    Operation *product = mlir::clone(builder, op, TypeRange{c.getType()},
                                     {a, values, op.getIndices(), c});
    cast<SparseProductOpInterface>(product).setScheduleAttr(schedule);
    return cast<SparseProductOpInterface>(product);
  }

  OpBuilder &builder;
  Location loc;
  SparseProductOpInterface op;
  linalg::FillOp fill;
  Value output;
};
} // namespace

SparseProductOpInterface
ProductCloner::cloneInF32(ScheduleAttrInterface schedule, Value &result) {
  Type f32 = builder.getF32Type();
  bool narrows = op.getCType().getElementType() != f32;
  Value c = narrows || !fill ? op.getC() : output;
  if (fill)
    c = fillWith(convertFloat(builder, loc, fill.value(), f32),
                 narrows ? createLike(builder, loc, c, f32) : c);
  else if (narrows)
    c = widen(c);
  SparseProductOpInterface product =
      cloneOn(widen(op.getA()), widen(op.getValues()), c, schedule);
  product.setArithmetic(Arithmetic::F32);
  result = product->getResult(0);
  if (narrows)
    result = convertInto(builder, loc, result, fill ? output : op.getC());
  return product;
}

/// Whether strategy simt has the product only once its operands are f32.
static bool needsF32(SparseProductOpInterface op,
                     ScheduleAttrInterface schedule) {
  const GpuStrategy *strategy = findGpuStrategy(schedule);
  return strategy && strategy->multipliesInF32() &&
         !op.getAType().getElementType().isF32() &&
         isa<FloatType>(op.getAType().getElementType());
}

/// The schedule of the library's call, without that of our own product.
static CublasScheduleAttr getCallSchedule(SparseProductOpInterface op) {
  ScheduleAttrInterface schedule = op.getScheduleAttr();
  return CublasScheduleAttr::get(
      op.getContext(), /*own=*/{},
      cast_if_present<PackingAttr>(schedule.getPackedForm(op.getPattern())),
      asPadding(schedule.getTiling().padA));
}

SparseProductOpInterface
mlir::nm::branchOnLibraryEpilogue(RewriterBase &rewriter,
                                  SparseProductOpInterface op) {
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  // Both branches write the same new tensor.
  Value output =
      createLike(rewriter, loc, op.getC(), op.getCType().getElementType());
  rewriter.modifyOpInPlace(op, [&] {
    cast<DestinationStyleOpInterface>(*op).getDpsInitsMutable()[0].set(output);
  });
  Value loaded = HasCublasOp::create(rewriter, loc);
  auto branches = scf::IfOp::create(rewriter, loc, op.getCType(), loaded,
                                    /*withElseRegion=*/true);
  auto clone = [&](Block *block) {
    rewriter.setInsertionPointToStart(block);
    Operation *product = rewriter.clone(*op);
    scf::YieldOp::create(rewriter, loc, product->getResults());
    return cast<SparseProductOpInterface>(product);
  };
  clone(branches.thenBlock()).setScheduleAttr(getCallSchedule(op));
  SparseProductOpInterface other = clone(branches.elseBlock());
  rewriter.replaceOp(op, branches.getResults());
  return other;
}

FailureOr<SparseProductOpInterface>
mlir::nm::branchOnCublas(RewriterBase &rewriter, SparseProductOpInterface op) {
  if (!isa<SpMMOp>(op))
    return op.emitOpError() << "expected nm.spmm for strategy cublas";
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  auto fill = op.getC().getDefiningOp<linalg::FillOp>();
  // Both branches write the same new tensor.
  Value output;
  if (fill)
    output =
        createLike(rewriter, loc, op.getC(), op.getCType().getElementType());
  Value loaded = HasCublasOp::create(rewriter, loc);
  auto branches = scf::IfOp::create(rewriter, loc, op.getCType(), loaded,
                                    /*withElseRegion=*/true);
  ProductCloner cloner(rewriter, op, fill, output);
  rewriter.setInsertionPointToStart(branches.thenBlock());
  SparseProductOpInterface theirs = cloner.clone(getCallSchedule(op));
  scf::YieldOp::create(rewriter, loc, theirs->getResults());

  rewriter.setInsertionPointToStart(branches.elseBlock());
  ScheduleAttrInterface ownSchedule = getOwnSchedule(op.getScheduleAttr());
  Value result;
  SparseProductOpInterface own;
  if (needsF32(op, ownSchedule)) {
    own = cloner.cloneInF32(ownSchedule, result);
  } else {
    own = cloner.clone(ownSchedule);
    result = own->getResult(0);
  }
  scf::YieldOp::create(rewriter, loc, result);
  rewriter.replaceOp(op, branches.getResults());
  return own;
}
