//===- ChannelLayouts.cpp - Images that have their channels last ----------===//

#include "ChannelLayouts.h"

#include "ConvolutionFilter.h"

#include "nm/Dialect/NM/IR/StorageShape.h"
#include "nm/Format/SparseOperand.h"
#include "nm/Schedule/TensorBoxes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/Matchers.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/IntEqClasses.h"

using namespace mlir;
using namespace mlir::nm;

/// A convolution by planes has the places of each image apart, which fill tiles
/// worse: what one dimension of all places gains, as a share of the output's
/// bytes.
static constexpr double kMergedBatch = .5;

SmallVector<int64_t> mlir::nm::getChannelsLastOrder(int64_t rank) {
  SmallVector<int64_t> order = {0};
  llvm::append_range(order, llvm::seq<int64_t>(2, rank));
  order.push_back(1);
  return order;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

static bool isStaticSlice(OffsetSizeAndStrideOpInterface op) {
  return op.getOffsets().empty() && op.getSizes().empty() &&
         op.getStrides().empty();
}

static bool hasEqualRanks(Operation *op) {
  auto result = cast<RankedTensorType>(op->getResult(0).getType());
  return cast<RankedTensorType>(op->getOperand(0).getType()).getRank() ==
         result.getRank();
}

bool mlir::nm::hasAnyLayout(Operation *op) {
  if (op->getNumResults() != 1)
    return false;
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    // Zero points are read of named convolutions alone.
    return linalgOp.hasPureTensorSemantics() &&
           (isa<linalg::GenericOp>(op) || !isConvolution(linalgOp) ||
            linalgOp.getNumDpsInputs() == 2);
  if (isa<tensor::InsertSliceOp, tensor::ExtractSliceOp>(op))
    return isStaticSlice(cast<OffsetSizeAndStrideOpInterface>(op)) &&
           hasEqualRanks(op);
  if (auto pad = dyn_cast<tensor::PadOp>(op))
    return pad.getLow().empty() && pad.getHigh().empty() &&
           pad.getConstantPaddingValue();
  return OpTrait::hasElementwiseMappableTraits(op) &&
         isa<RankedTensorType>(op->getResult(0).getType());
}

bool mlir::nm::isMadeAnew(Value value) {
  Operation *op = value.getDefiningOp();
  if (isa_and_present<tensor::EmptyOp, linalg::FillOp, linalg::BroadcastOp>(op))
    return true;
  SplatElementsAttr splat;
  return op && matchPattern(op, m_Constant(&splat));
}

bool mlir::nm::isPointwise(linalg::LinalgOp op) {
  if (!isConvolution(op))
    return false;
  ::nm::Result<Convolution> convolution = Convolution::match(op);
  return convolution && !convolution->group && convolution->takesImageWhole();
}

/// Whether the output of `op` and `input` have batches and channels of the same
/// loops, as what is elementwise or a pool has.
static bool isTied(linalg::LinalgOp op, OpOperand *input) {
  AffineMap map = op.getMatchingIndexingMap(input),
            ofOutput = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  return map.getNumResults() == ofOutput.getNumResults() &&
         map.getNumResults() > 2 && isa<AffineDimExpr>(ofOutput.getResult(1)) &&
         map.getResult(0) == ofOutput.getResult(0) &&
         map.getResult(1) == ofOutput.getResult(1);
}

/// The values that have one layout: the result of `op`, and operands.
static SmallVector<Value> getTied(Operation *op) {
  SmallVector<Value> tied = {op->getResult(0)};
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp) {
    llvm::append_range(tied, op->getOperands());
    return tied;
  }
  tied.push_back(linalgOp.getDpsInits().front());
  if (isPointwise(linalgOp))
    tied.push_back(linalgOp.getDpsInputs().front());
  else
    for (OpOperand *input : linalgOp.getDpsInputOperands())
      if (isTied(linalgOp, input))
        tied.push_back(input->get());
  return tied;
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

/// Whether image and output have batch, channels and places in this order.
static bool isOfPlanes(const Convolution &convolution) {
  auto type = cast<RankedTensorType>(convolution.image.getType());
  return convolution.channelsFirst && !convolution.group &&
         convolution.batches.size() == 1 && type.hasStaticShape() &&
         convolution.inputChannels.size() == 1 && type.getRank() > 2 &&
         int64_t(convolution.places.size()) + 2 == type.getRank() &&
         convolution.imageMap.getResult(1) ==
             getAffineDimExpr(convolution.inputChannels.front(),
                              convolution.imageMap.getContext());
}

/// Whether a filter of that pattern is a sparse operand of which the channels
/// of a tap are whole lines of k, one after another.
static bool hasSparseLines(const Convolution &convolution,
                           FilterPattern found) {
  auto type = cast<RankedTensorType>(convolution.filter.getType());
  unsigned channels = convolution.inputChannels.front();
  if (!type.getElementType().isIntOrFloat() ||
      type.getElementTypeBitWidth() > 16 ||
      convolution.filterSize(channels) * type.getElementTypeBitWidth() / 8 %
              ::nm::kPixelBytes !=
          0)
    return false;
  if (!::nm::fitsSparseOperand(found.pattern))
    return false;
  llvm::erase_if(found.reduced, [&](unsigned loop) {
    return convolution.filterSize(loop) == 1;
  });
  return found.reduced.back() == channels;
}

/// Whether cuDNN is likely to make the convolution, of a dense filter, whose
/// kernels want channels last: it has many products, and whole words of
/// channels.
static bool isForLibrary(const Convolution &convolution) {
  constexpr int64_t kChannels = 8, kLeastProducts = 1'000'000'000;
  auto type = cast<RankedTensorType>(convolution.filter.getType());
  int64_t channels = convolution.filterSize(convolution.inputChannels.front());
  auto output = cast<RankedTensorType>(convolution.init.getType());
  int64_t outputs = convolution.filterSize(convolution.outputChannel);
  return (type.getElementType().isF16() || type.getElementType().isBF16()) &&
         convolution.filter.getDefiningOp<arith::ConstantOp>() &&
         channels % kChannels == 0 && channels > kChannels &&
         output.hasStaticShape() &&
         double(output.getNumElements()) * double(type.getNumElements()) >=
             double(kLeastProducts) * double(outputs);
}

//===----------------------------------------------------------------------===//
// Groups of images
//===----------------------------------------------------------------------===//

namespace {
/// Groups of images that have one layout, and what each gains by channels last.
class LayoutGroups {
public:
  LayoutGroups(func::FuncOp function, bool detects);

  /// The images of all groups that gain by channels last.
  llvm::SetVector<Value> getLast() const;

private:
  void collect(func::FuncOp function);
  std::optional<unsigned> getGroup(Value image) const;
  void add(Value image, double share);
  void mark(BitVector &set, Value image);
  void addConvolution(linalg::LinalgOp op, bool detects);
  void addWindows(linalg::LinalgOp op);
  void addTransposition(linalg::TransposeOp op);
  void addUsers();

  llvm::SetVector<Value> images;
  DenseMap<Value, unsigned> numbers;
  llvm::IntEqClasses groups;
  SmallVector<double> gains;
  /// Whether a convolution whose pixels are copied takes or makes one, another
  /// convolution does, and a pool, a depthwise convolution or a sum.
  BitVector hasPixels, hasPlanes, hasWindows;
};
} // namespace

/// The images in the function's own ops, and which of them have one layout.
void LayoutGroups::collect(func::FuncOp function) {
  SmallVector<Operation *> ops;
  function.walk([&](Operation *op) {
    if (!hasAnyLayout(op))
      return;
    auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    if (!type || !type.hasStaticShape() || type.getRank() < 3 ||
        type.getEncoding())
      return;
    ops.push_back(op);
    if (isMadeAnew(op->getResult(0)))
      return;
    numbers[op->getResult(0)] = unsigned(images.size());
    images.insert(op->getResult(0));
  });
  groups.grow(unsigned(images.size()));
  for (Operation *op : ops) {
    SmallVector<Value> tied = getTied(op);
    auto first = numbers.find(tied.front());
    if (first == numbers.end())
      continue;
    for (Value other : ArrayRef(tied).drop_front())
      if (auto at = numbers.find(other); at != numbers.end())
        groups.join(first->second, at->second);
  }
  groups.compress();
  gains.assign(groups.getNumClasses(), 0.);
  for (BitVector *set : {&hasPixels, &hasPlanes, &hasWindows})
    set->resize(groups.getNumClasses());
}

std::optional<unsigned> LayoutGroups::getGroup(Value image) const {
  auto at = numbers.find(image);
  if (at == numbers.end())
    return std::nullopt;
  return groups[at->second];
}

void LayoutGroups::add(Value image, double share) {
  auto type = cast<RankedTensorType>(image.getType());
  if (std::optional<unsigned> group = getGroup(image))
    gains[*group] += share * double(type.getNumElements()) *
                     type.getElementTypeBitWidth() / 8;
}

void LayoutGroups::mark(BitVector &set, Value image) {
  if (std::optional<unsigned> group = getGroup(image))
    set.set(*group);
}

void LayoutGroups::addConvolution(linalg::LinalgOp op, bool detects) {
  ::nm::Result<Convolution> convolution = Convolution::match(op);
  if (!convolution) {
    mark(hasWindows, op->getResult(0));
    mark(hasWindows, op.getDpsInputs().front());
    return;
  }
  bool isWhole = convolution->takesImageWhole();
  Value image = convolution->image, output = op->getResult(0);
  mark(hasPlanes, image);
  mark(hasPlanes, output);
  if (!isOfPlanes(*convolution))
    return;
  std::optional<FilterPattern> pattern = findPattern(*convolution, detects);
  if (pattern && !hasSparseLines(*convolution, *pattern)) {
    // Strategies of other patterns read an image in planes, or patches.
    add(image, -1);
    return;
  }
  if (!pattern && (isWhole || !isForLibrary(*convolution)))
    return;
  mark(hasPixels, image);
  mark(hasPixels, output);
  // One image in planes is as good an operand of a filter of one tap.
  if (!isWhole)
    add(image, 1);
  bool hasBatch = cast<RankedTensorType>(image.getType()).getDimSize(0) > 1;
  if (!pattern)
    add(output, 1);
  else if (hasBatch)
    add(output, kMergedBatch);
}

/// Marks images whose places `op` reduces, all or some along each dimension: a
/// norm or a product of matrices in batches takes no images.
void LayoutGroups::addWindows(linalg::LinalgOp op) {
  SmallVector<unsigned> reduced;
  op.getReductionDims(reduced);
  for (OpOperand *input : op.getDpsInputOperands()) {
    ArrayRef<AffineExpr> dims = op.getMatchingIndexingMap(input).getResults();
    // A matrix of three dimensions is no image.
    if (dims.size() > 3 && llvm::all_of(llvm::enumerate(dims), [&](auto dim) {
          return llvm::any_of(reduced, [&](unsigned loop) {
                   return dim.value().isFunctionOfDim(loop);
                 }) == (dim.index() > 1);
        }))
      mark(hasWindows, input->get());
  }
}

/// Adds what `op` transposes from or to channels last, which needs no
/// transposition where the group has its channels last.
void LayoutGroups::addTransposition(linalg::TransposeOp op) {
  SmallVector<int64_t> order =
      getChannelsLastOrder(int64_t(op.getPermutation().size()));
  std::pair<Value, SmallVector<int64_t>> sides[] = {
      {op.getInput(), order},
      {op->getResult(0), invertPermutationVector(order)}};
  for (const auto &[image, taken] : sides)
    if (op.getPermutation() == ArrayRef(taken))
      add(image, 1);
}

/// Subtracts the images that are transposed for users which take planes alone.
void LayoutGroups::addUsers() {
  for (Value image : images)
    if (!llvm::all_of(image.getUsers(), hasAnyLayout))
      add(image, -1);
}

LayoutGroups::LayoutGroups(func::FuncOp function, bool detects) {
  collect(function);
  function.walk([&](linalg::LinalgOp op) {
    if (hasAnyLayout(op) && isConvolution(op))
      addConvolution(op, detects);
    else if (auto transposition = dyn_cast<linalg::TransposeOp>(*op))
      addTransposition(transposition);
    else if (hasAnyLayout(op))
      addWindows(op);
  });
  addUsers();
}

llvm::SetVector<Value> LayoutGroups::getLast() const {
  llvm::SetVector<Value> last;
  for (Value image : images) {
    unsigned group = *getGroup(image);
    bool hasWindowsAlone = hasWindows[group] && !hasPlanes[group];
    if (gains[group] > 0 && (hasPixels[group] || hasWindowsAlone))
      last.insert(image);
  }
  return last;
}

llvm::SetVector<Value> mlir::nm::findChannelsLast(func::FuncOp function,
                                                  bool detects) {
  return LayoutGroups(function, detects).getLast();
}
