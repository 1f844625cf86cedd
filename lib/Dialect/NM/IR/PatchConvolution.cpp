//===- PatchConvolution.cpp - The convolution that patches are of ---------===//

#include "nm/Dialect/NM/IR/PatchesOp.h"

#include "TakenLoops.h"

using namespace mlir;
using namespace mlir::nm;

namespace {
/// Finds what each dimension of an image and each loop of its patches is for.
class ConvolutionFinder {
public:
  ConvolutionFinder(AffineMap map, ArrayRef<int64_t> loops,
                    ArrayRef<int64_t> groups, ArrayRef<int64_t> shape,
                    bool isMMajor);

  std::optional<PatchConvolution> find();

private:
  struct Range {
    unsigned begin, end;
    bool has(unsigned loop) const { return loop >= begin && loop < end; }
  };
  /// What a dimension of the image is a sum of: the loops of more than one
  /// iteration, and a constant.
  struct Sum {
    std::optional<unsigned> tap, place;
    int64_t tapFactor = 1, placeFactor = 1, constant = 0;
  };

  /// None where several loops of taps or places go along `dim`, or one goes
  /// along another dimension, too.
  std::optional<Sum> takeSum(unsigned dim);
  int64_t countOf(std::optional<unsigned> loop) const {
    return loop ? loops[*loop] : 1;
  }
  bool isOfChannels(unsigned dim, const Sum &sum) const {
    return !sum.place && sum.constant == 0 && sum.tapFactor == 1 &&
           countOf(sum.tap) == shape[dim];
  }

  AffineMap map;
  ArrayRef<int64_t> loops, shape;
  Range taps{};
  llvm::SmallBitVector taken;
};
} // namespace

ConvolutionFinder::ConvolutionFinder(AffineMap map, ArrayRef<int64_t> loops,
                                     ArrayRef<int64_t> groups,
                                     ArrayRef<int64_t> shape, bool isMMajor)
    : map(map), loops(loops), shape(shape) {
  auto end = unsigned(loops.size()), last = unsigned(groups.back()),
       beforeLast = unsigned(groups.drop_back().back());
  taps = isMMajor ? Range{end - last - beforeLast, end - last}
                  : Range{end - last, end};
  taken.resize(end);
}

std::optional<ConvolutionFinder::Sum> ConvolutionFinder::takeSum(unsigned dim) {
  SmallVector<int64_t> factors = getFactors(map, dim);
  Sum sum;
  sum.constant = factors.back();
  for (unsigned loop = 0; loop < loops.size(); ++loop) {
    if (factors[loop] == 0 || loops[loop] == 1)
      continue;
    std::optional<unsigned> &place = taps.has(loop) ? sum.tap : sum.place;
    if (place || taken.test(loop))
      return std::nullopt;
    taken.set(loop);
    place = loop;
    (taps.has(loop) ? sum.tapFactor : sum.placeFactor) = factors[loop];
  }
  return sum;
}

std::optional<PatchConvolution> ConvolutionFinder::find() {
  constexpr size_t kLeastRank = 3, kMostRank = 5;
  if (shape.size() < kLeastRank || shape.size() > kMostRank)
    return std::nullopt;
  SmallVector<Sum> sums;
  for (unsigned dim = 0; dim < shape.size(); ++dim) {
    std::optional<Sum> sum = takeSum(dim);
    if (!sum)
      return std::nullopt;
    sums.push_back(*sum);
  }
  const Sum &ofImages = sums.front();
  auto last = unsigned(shape.size() - 1);
  if (!hasAllLoops(loops, taken) || ofImages.tap || ofImages.constant != 0 ||
      ofImages.placeFactor != 1 || countOf(ofImages.place) != shape.front())
    return std::nullopt;
  PatchConvolution found;
  found.images = ofImages.place;
  // Of an image with as many pixels as taps, either may be of channels. Filters
  // mostly have them behind their taps.
  bool isLast = isOfChannels(last, sums[last]),
       isSecond = isOfChannels(1, sums[1]);
  if (!isLast && !isSecond)
    return std::nullopt;
  if (isLast && isSecond)
    isLast = !sums[1].tap || (sums[last].tap && *sums[last].tap > *sums[1].tap);
  found.channelDim = isLast ? last : 1;
  found.channels = sums[found.channelDim].tap;
  for (unsigned dim = 1; dim <= last; ++dim)
    if (dim != found.channelDim)
      found.pixels.push_back({dim, sums[dim].tap, sums[dim].place,
                              countOf(sums[dim].tap), countOf(sums[dim].place),
                              sums[dim].placeFactor, sums[dim].tapFactor,
                              -sums[dim].constant});
  return found;
}

std::optional<PatchConvolution>
mlir::nm::findConvolution(AffineMap map, ArrayRef<int64_t> loops,
                          ArrayRef<int64_t> groups, ArrayRef<int64_t> shape,
                          bool isMMajor) {
  return ConvolutionFinder(map, loops, groups, shape, isMMajor).find();
}

PatchesOp mlir::nm::findConvolvedPatches(SparseProductOpInterface op) {
  bool isCall = isa<SpMMOp>(*op) && isLibraryCall(op.getScheduleAttr());
  return isCall ? op.getA().getDefiningOp<PatchesOp>() : PatchesOp();
}

StringRef mlir::nm::getStrategyName(SparseProductOpInterface op) {
  return findConvolvedPatches(op) ? "cudnn"
                                  : op.getScheduleAttr().getStrategyName();
}

std::optional<PatchConvolution> mlir::nm::findConvolution(PatchesOp op,
                                                          bool isMMajor) {
  return findConvolution(op.getMap(), op.getLoops(), op.getGroups(),
                         op.getImageType().getShape(), isMMajor);
}
