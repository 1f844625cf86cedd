//===- LibraryConvolution.cpp - Convolutions of cuDNN ---------------------===//
//
// cuDNN reads the image itself. Its kernels want channels last: it puts an
// image in planes in that order, and the output in planes again, in memory of
// its own.
//
//===----------------------------------------------------------------------===//

#include "GPU/Layouts/LayoutCosts.h"
#include "GPU/Select/Alternatives.h"

#include "nm/Dialect/NM/IR/Contractions.h"
#include "nm/Dialect/NM/IR/ElementTypes.h"
#include "nm/Dialect/NM/IR/Epilogue.h"
#include "nm/Dialect/NM/IR/EpilogueBuilder.h"
#include "nm/Dialect/NM/Transforms/DenseFallback.h"
#include "nm/Dialect/NM/Transforms/DescribeProduct.h"
#include "nm/Dialect/NM/Transforms/Patches.h"
#include "nm/Dialect/NM/Transforms/WeightOrigin.h"
#include "nm/GPU/Select/CudnnModel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/ControlFlowSinkUtils.h"

#include <algorithm>
#include <numeric>

using namespace mlir;
using namespace mlir::nm;

//===----------------------------------------------------------------------===//
// The alternative
//===----------------------------------------------------------------------===//

/// The type of the sums that the library stores.
static Type getSumType(SparseProductOpInterface op) {
  return op.hasEpilogue() ? getRoundedSumType(op)
                          : op.getCType().getElementType();
}

static bool isZeroFill(Value c) {
  auto fill = c.getDefiningOp<linalg::FillOp>();
  return fill && matchPattern(fill.value(), m_AnyZeroFloat());
}

/// Units as wide as fit, which all have columns of their own when packed.
static ::nm::Pattern getPattern(SparseProductOpInterface op) {
  return getDensePattern(std::gcd(op.getStaticN(), kDenseColumns));
}

/// Whether cuDNN has convolutions of such operands and sums.
static bool hasTypes(SparseProductOpInterface op) {
  Type type = op.getAType().getElementType();
  return (type.isF32() || type.isF16() || type.isBF16()) &&
         op.getValuesType().getElementType() == type && getSumType(op) == type;
}

static ::nm::ConvolutionSize getSize(SparseProductOpInterface op,
                                     const ConvolvedImage &image) {
  const PatchConvolution &convolution = image.convolution;
  ArrayRef<int64_t> shape = image.getType().getShape();
  ::nm::ConvolutionSize size;
  size.type = *mlir::nm::getElementType(op.getAType().getElementType());
  size.imageElements = image.getType().getNumElements();
  size.channels = shape[convolution.channelDim];
  size.outputs = op.getStaticN();
  size.places = shape.front();
  for (const PatchConvolution::Pixels &pixels : convolution.pixels) {
    size.taps *= pixels.taps;
    size.places *= pixels.places;
  }
  return size;
}

double mlir::nm::estimateEpilogueKernel(const AlternativesQuery &query) {
  SparseProductOpInterface op = query.op;
  bool hasNone = !op.hasEpilogue() && isZeroFill(op.getC());
  return hasNone
             ? 0
             : estimateCopy(cast<RankedTensorType>(op.getCType()), query.chip);
}

std::optional<Alternative>
mlir::nm::convolveByLibrary(const AlternativesQuery &query,
                            const Alternative &own) {
  constexpr int64_t kMostRows = 1 << 16;
  SparseProductOpInterface op = query.op;
  if (query.form != ActivationForm::AsIs || !isa<SpMMOp>(*op) ||
      !op.hasPureTensorSemantics() || op.getScales() ||
      op.getNumBatchDims() > 1 || !hasTypes(op) || !areWeightsConstant(op) ||
      op.getStaticK() < 1 || op.getStaticK() > kMostRows ||
      isBatchInvariant(op) || (!isDense(op) && whyNotDense(op)))
    return std::nullopt;
  std::optional<ConvolvedImage> image = findConvolvedImage(op);
  if (!image)
    return std::nullopt;
  ::nm::ConvolutionSize size = getSize(op, *image);
  // Its kernels for single taps that are apart read all pixels: 32 images of 64
  // x 56 x 56, every other pixel, take 43 us, and strategy mma_sync 10.
  if (size.taps == 1 && !query.options.given)
    return std::nullopt;
  double estimate = ::nm::estimateCudnn(size, query.chip);
  if (estimate < 0 && !query.options.given)
    return std::nullopt;
  Alternative convolution = own;
  convolution.weights = Alternative::Weights::Convolution;
  convolution.pattern = convolution.product.pattern = getPattern(op);
  convolution.choice = ScheduleChoice();
  convolution.choice->microseconds = std::max(estimate, 0.0);
  convolution.choice->isByModel = estimate >= 0;
  auto output = cast<RankedTensorType>(op.getCType());
  if (!image->convolution.hasChannelsLast())
    convolution.choice->microseconds +=
        estimateTransposition(image->getType(), query.chip);
  if (cast<SpMMOp>(*op).getTransposeC())
    convolution.choice->microseconds +=
        estimateTransposition(output, query.chip);
  // Strategy mma_sync takes 1.4 to 2.7 times as long as it is estimated to with
  // images and dense weights: 108 us of 32 of 128 x 28 x 28, not 40.
  if (isDense(op))
    convolution.handicap = double(3) / 4;
  convolution.extraCost += estimateEpilogueKernel(query);
  if (convolution.extraCost > 0)
    convolution.steps = "; its epilogue is a kernel of estimated " +
                        describeTime(convolution.extraCost);
  return convolution;
}

//===----------------------------------------------------------------------===//
// The branches
//===----------------------------------------------------------------------===//

/// Makes what is added to C an epilogue, which follows the library's product.
static SparseProductOpInterface addInEpilogue(RewriterBase &rewriter,
                                              SparseProductOpInterface op) {
  if (op.hasEpilogue() || isZeroFill(op.getC()))
    return op;
  EpilogueBuilder builder(rewriter, op, op.getLoc(), op.getAccumulatorType());
  Type type = op.getCType().getElementType();
  // The library rounds its sums.
  Value sum = builder.getSum();
  if (type != sum.getType()) {
    sum = arith::TruncFOp::create(rewriter, op.getLoc(), type, sum);
    sum = arith::ExtFOp::create(rewriter, op.getLoc(), op.getAccumulatorType(),
                                sum);
  }
  Value stored = builder.emitOwn(sum);
  SparseProductOpInterface adding = builder.create(op, stored, op.getC());
  rewriter.replaceOp(op, adding->getResults());
  return adding;
}

/// Lets a product that reads nothing of its C but zeros store to `output`.
static void storeTo(RewriterBase &rewriter, SparseProductOpInterface op,
                    Value output) {
  Location loc = op.getLoc();
  if (!op.hasEpilogue()) {
    rewriter.setInsertionPoint(op);
    Value zero = arith::ConstantOp::create(
        rewriter, loc, rewriter.getZeroAttr(op.getCType().getElementType()));
    output = linalg::FillOp::create(rewriter, loc, zero, output).getResult(0);
  }
  rewriter.modifyOpInPlace(op, [&] {
    cast<DestinationStyleOpInterface>(*op).getDpsInitsMutable()[0].set(output);
  });
}

SpMMOp mlir::nm::branchOnConvolution(RewriterBase &rewriter,
                                     SparseProductOpInterface op) {
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  // Both branches write the same new tensor.
  Value output = tensor::EmptyOp::create(
      rewriter, loc, tensor::getMixedSizes(rewriter, loc, op.getC()),
      op.getCType().getElementType());
  bool readsC = !op.hasEpilogue() && !isZeroFill(op.getC());
  Value loaded = HasCudnnOp::create(rewriter, loc);
  auto branches = scf::IfOp::create(rewriter, loc, op->getResultTypes(), loaded,
                                    /*addThenBlock=*/true,
                                    /*addElseBlock=*/true);
  rewriter.replaceAllUsesWith(op->getResults(), branches.getResults());
  rewriter.setInsertionPointToStart(branches.thenBlock());
  Operation *clone = rewriter.clone(*op);
  scf::YieldOp::create(rewriter, loc, clone->getResults());
  rewriter.setInsertionPointToStart(branches.elseBlock());
  auto yield = scf::YieldOp::create(rewriter, loc, op->getResults());
  rewriter.moveOpBefore(op, yield);

  auto theirs = cast<SparseProductOpInterface>(clone);
  if (isDense(theirs))
    narrowDenseUnits(theirs, getPattern(theirs).bn);
  else
    makeDense(theirs, getPattern(theirs));
  theirs = addInEpilogue(rewriter, theirs);
  storeTo(rewriter, theirs, output);
  if (theirs.hasEpilogue())
    theirs = splitEpilogue(rewriter, theirs, getRoundedSumType(theirs));
  if (!readsC)
    storeTo(rewriter, op, output);
  takeImage(rewriter, theirs);
  return cast<SpMMOp>(*theirs);
}

void mlir::nm::sinkOperands(SparseProductOpInterface op) {
  auto branches = cast<scf::IfOp>(op->getParentOp());
  DominanceInfo dominance(branches->getParentOp());
  // Constants are where others find them, too.
  auto isSunk = [](Operation *operand, Region *) {
    return isMemoryEffectFree(operand) &&
           !operand->hasTrait<OpTrait::ConstantLike>();
  };
  Region *region = op->getParentRegion();
  controlFlowSink(region, dominance, isSunk,
                  [](Operation *operand, Region *into) {
                    operand->moveBefore(&into->front(), into->front().begin());
                  });
}
