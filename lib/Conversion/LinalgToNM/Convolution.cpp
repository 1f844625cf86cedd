//===- Convolution.cpp - Roles of a convolution's loops -------------------===//

#include "Convolution.h"

#include "nm/Dialect/NM/IR/ContractionLoops.h"

using namespace mlir;
using namespace mlir::nm;
using ::nm::Error;

int64_t Convolution::filterSize(unsigned loop) const {
  return cast<RankedTensorType>(filter.getType())
      .getDimSize(llvm::find(filterLoops, loop) - filterLoops.begin());
}

SmallVector<unsigned> Convolution::reducedLoops(bool channelsLast) const {
  SmallVector<unsigned> loops(channelsLast ? taps : inputChannels);
  llvm::append_range(loops, channelsLast ? inputChannels : taps);
  return loops;
}

bool Convolution::takesImageWhole() const {
  if (llvm::any_of(taps, [&](unsigned tap) { return filterSize(tap) != 1; }))
    return false;
  SmallVector<AffineExpr> dims;
  MLIRContext *context = imageMap.getContext();
  for (unsigned loop = 0; loop < imageMap.getNumDims(); ++loop)
    dims.push_back(llvm::is_contained(taps, loop)
                       ? getAffineConstantExpr(0, context)
                       : getAffineDimExpr(loop, context));
  AffineMap map =
      imageMap.replaceDimsAndSymbols(dims, {}, imageMap.getNumDims(),
                                     /*numResultSyms=*/0);
  SmallVector<unsigned> wanted(batches);
  llvm::append_range(wanted, channelsFirst ? inputChannels : places);
  llvm::append_range(wanted, channelsFirst ? places : inputChannels);
  if (map.getNumResults() != wanted.size())
    return false;
  auto imageType = cast<RankedTensorType>(image.getType());
  auto output = cast<RankedTensorType>(init.getType());
  for (auto [dim, loop] : llvm::enumerate(wanted)) {
    if (map.getResult(dim) != getAffineDimExpr(loop, context))
      return false;
    const auto *at = llvm::find(outputLoops, loop);
    // The image may be larger than what its places take of it.
    if (llvm::is_contained(places, loop) &&
        (imageType.isDynamicDim(dim) ||
         imageType.getDimSize(dim) !=
             output.getDimSize(at - outputLoops.begin())))
      return false;
  }
  return true;
}

bool mlir::nm::isConvolution(linalg::LinalgOp op) {
  if (op.getNumDpsInputs() < 2 || op.getNumDpsInits() != 1 ||
      op.getNumReductionLoops() == 0)
    return false;
  if (!isa<linalg::GenericOp>(*op))
    return isa<linalg::ConvolutionOpInterface>(*op) &&
           !op->getName().stripDialect().starts_with("pooling");
  // The body of a generic op is checked where its product is made.
  return op.getNumDpsInputs() == 2 &&
         !op.getMatchingIndexingMap(op.getDpsInputOperand(0))
              .isProjectedPermutation() &&
         succeeded(linalg::inferConvolutionDims(op)) &&
         // A product, a sum and the terminator.
         op.getBlock()->getOperations().size() >= 3 &&
         isa<arith::MulFOp, arith::MulIOp>(
             *std::next(op.getBlock()->rbegin(), 2));
}

/// The order of the output's dimensions, where it is one of two.
static std::optional<Error>
readOutput(Convolution &convolution,
           const linalg::ConvolutionDimensions &dims) {
  SmallVector<unsigned> output = convolution.outputLoops;
  if (convolution.group)
    llvm::erase(output, *convolution.group);
  for (unsigned loop : output) {
    if (llvm::is_contained(dims.batch, loop))
      convolution.batches.push_back(loop);
    if (llvm::is_contained(dims.outputImage, loop))
      convolution.places.push_back(loop);
  }
  auto arranged = [&](bool channelsFirst) {
    SmallVector<unsigned> loops(convolution.batches);
    if (channelsFirst)
      loops.push_back(convolution.outputChannel);
    llvm::append_range(loops, convolution.places);
    if (!channelsFirst)
      loops.push_back(convolution.outputChannel);
    return loops;
  };
  convolution.channelsFirst = output != arranged(false);
  if (output == arranged(convolution.channelsFirst))
    return std::nullopt;
  return Error{"expected an output whose channels stand before or behind all "
               "places of the image"};
}

::nm::Result<Convolution> Convolution::match(linalg::LinalgOp op) {
  FailureOr<linalg::ConvolutionDimensions> dims =
      linalg::inferConvolutionDims(op);
  if (failed(dims) || !op.hasPureTensorSemantics())
    return Error{"op is not a convolution of tensors"};
  if (dims->inputChannel.empty())
    return Error{dims->depth.empty()
                     ? "the image has no channels"
                     : "a depthwise convolution sums the taps of one channel, "
                       "which is no product"};
  if (dims->outputChannel.size() != 1 || dims->depth.size() > 1)
    return Error{"expected one dimension of output channels, but got " +
                 std::to_string(dims->outputChannel.size())};
  Convolution convolution;
  OpOperand *image = op.getDpsInputOperand(0),
            *filter = op.getDpsInputOperand(1), *init = op.getDpsInitOperand(0);
  convolution.op = op;
  convolution.image = image->get();
  convolution.filter = filter->get();
  convolution.init = init->get();
  convolution.imageMap = op.getMatchingIndexingMap(image);
  convolution.filterLoops = getLoopsOf(op.getMatchingIndexingMap(filter));
  convolution.outputLoops = getLoopsOf(op.getMatchingIndexingMap(init));
  convolution.outputChannel = dims->outputChannel.front();
  convolution.inputChannels.assign(dims->inputChannel.begin(),
                                   dims->inputChannel.end());
  if (!dims->depth.empty())
    convolution.group = dims->depth.front();
  if (!cast<RankedTensorType>(convolution.filter.getType()).hasStaticShape())
    return Error{"expected a filter of static shape"};
  // In the filter's order.
  for (unsigned loop : convolution.filterLoops)
    if (llvm::is_contained(dims->filterLoop, loop))
      convolution.taps.push_back(loop);
  if (std::optional<Error> error = readOutput(convolution, *dims))
    return *error;
  return convolution;
}
