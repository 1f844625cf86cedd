//===- PatchesOp.cpp - Patches of an image --------------------------------===//

#include "nm/Dialect/NM/IR/PatchesOp.h"

#include "TakenLoops.h"
#include "VerifyStorage.h"

#include "nm/Dialect/NM/IR/CollectOps.h"
#include "nm/Schedule/TensorBoxes.h"

#include "llvm/Support/MathExtras.h"

#include <limits>
#include <numeric>

using namespace mlir;
using namespace mlir::nm;

#define GET_OP_CLASSES
#include "nm/Dialect/NM/IR/NMPatches.cpp.inc"

//===----------------------------------------------------------------------===//
// Maps of patches
//===----------------------------------------------------------------------===//

SmallVector<int64_t> mlir::nm::getFactors(AffineMap map, unsigned dim) {
  SmallVector<int64_t> flattened;
  // Of a map that verifies, there are no quotients and remainders behind.
  if (failed(getFlattenedAffineExpr(map.getResult(dim), map.getNumDims(),
                                    map.getNumSymbols(), &flattened)))
    return {};
  return flattened;
}

namespace {
/// The loops of patches: of batches, then of k, then of m.
struct PatchLoops {
  unsigned beginOfK, beginOfM, end;

  PatchLoops(ArrayRef<int64_t> loops, ArrayRef<int64_t> groups)
      : beginOfM(unsigned(loops.size()) - unsigned(groups.back())),
        end(unsigned(loops.size())) {
    beginOfK = beginOfM - unsigned(groups.drop_back().back());
  }
};
} // namespace

/// Whether some place of `dim`, of `size` places, is outside of the image.
static bool mayBeOutside(ArrayRef<int64_t> factors, ArrayRef<int64_t> loops,
                         int64_t size) {
  int64_t least = factors.back(), most = least;
  for (auto [factor, loop] : llvm::zip(factors, loops))
    most += factor * (loop - 1);
  return least < 0 || most >= size;
}

std::optional<SmallVector<TapLoop>>
mlir::nm::findTapLoops(AffineMap map, ArrayRef<int64_t> loops,
                       ArrayRef<int64_t> groups, ArrayRef<int64_t> shape) {
  PatchLoops range(loops, groups);
  SmallVector<TapLoop> taps;
  int64_t bits = 0;
  for (unsigned dim = 0; dim < map.getNumResults(); ++dim) {
    SmallVector<int64_t> factors = getFactors(map, dim);
    if (!mayBeOutside(factors, loops, shape[dim]))
      continue;
    TapLoop tap{dim, std::nullopt, 1, bits};
    for (unsigned loop = range.beginOfK; loop < range.beginOfM; ++loop) {
      if (factors[loop] == 0)
        continue;
      if (tap.loop)
        return std::nullopt;
      tap.loop = loop;
      tap.size = loops[loop];
    }
    bits += tap.size;
    taps.push_back(tap);
  }
  if (bits > kMostTapBits)
    return std::nullopt;
  return taps;
}

//===----------------------------------------------------------------------===//
// Rows of an image
//===----------------------------------------------------------------------===//

/// How many indices of a dimension the loops from `begin` to `end` go over.
static int64_t countReached(ArrayRef<int64_t> factors, ArrayRef<int64_t> loops,
                            unsigned begin, unsigned end) {
  int64_t reached = 1;
  for (unsigned loop = begin; loop < end; ++loop)
    reached += factors[loop] * (loops[loop] - 1);
  return reached;
}

static bool hasAny(ArrayRef<int64_t> factors, unsigned begin, unsigned end) {
  return llvm::any_of(factors.slice(begin, end - begin),
                      [](int64_t factor) { return factor != 0; });
}

/// The dimension of an image in planes that the outermost loop of m goes along;
/// none of other images.
static std::optional<unsigned> findRowDim(AffineMap map,
                                          const PatchLoops &range) {
  std::optional<unsigned> rowDim;
  for (unsigned dim = 0; dim < map.getNumResults(); ++dim) {
    SmallVector<int64_t> factors = getFactors(map, dim);
    bool isRow = factors[range.beginOfM] != 0;
    // Planes are in front of the first row, and no batches behind it.
    if ((isRow && rowDim) ||
        (!isRow && !rowDim && hasAny(factors, range.beginOfM, range.end)) ||
        ((isRow || rowDim) && hasAny(factors, 0, range.beginOfK)))
      return std::nullopt;
    if (isRow)
      rowDim = dim;
  }
  SmallVector<int64_t> ofLast = getFactors(map, map.getNumResults() - 1);
  return ofLast[range.end - 1] != 0 ? rowDim : std::nullopt;
}

std::optional<::nm::ImagePart>
mlir::nm::findImagePart(AffineMap map, ArrayRef<int64_t> loops,
                        ArrayRef<int64_t> groups, ArrayRef<int64_t> shape) {
  PatchLoops range(loops, groups);
  std::optional<unsigned> rowDim = findRowDim(map, range);
  if (!rowDim)
    return std::nullopt;
  ::nm::ImagePart part;
  part.planes = 1;
  for (unsigned dim = 0; dim < *rowDim; ++dim) {
    SmallVector<int64_t> factors = getFactors(map, dim);
    int64_t reached =
        countReached(factors, loops, range.beginOfK, range.beginOfM);
    // One dimension of planes, none of which is padding.
    if (factors.back() != 0 || (reached != 1 && part.planes != 1))
      return std::nullopt;
    if (reached != 1)
      part.planeDim = dim;
    part.planes *= reached;
  }
  part.rowDim = *rowDim;
  SmallVector<int64_t> ofRow = getFactors(map, *rowDim);
  part.rows = shape[*rowDim];
  part.rowElements = llvm::product_of(shape.drop_front(*rowDim + 1));
  part.placesOfRow = llvm::product_of(loops.drop_front(range.beginOfM + 1));
  part.step = ofRow[range.beginOfM];
  part.reach = countReached(ofRow, loops, range.beginOfK, range.beginOfM);
  part.first = ofRow.back();
  if (hasAny(ofRow, range.beginOfM + 1, range.end))
    return std::nullopt;
  // Taps are not farther outside of the image than copies of it have room for.
  for (unsigned dim = *rowDim; dim < map.getNumResults(); ++dim) {
    SmallVector<int64_t> factors = getFactors(map, dim);
    int64_t room = dim == *rowDim ? part.reach : shape[dim],
            last = countReached(factors, loops, 0, range.end) - 1;
    if (factors.back() < -room || last + factors.back() >= shape[dim] + room)
      return std::nullopt;
  }
  return part;
}

//===----------------------------------------------------------------------===//
// Boxes of pixels
//===----------------------------------------------------------------------===//

namespace {
/// The limits of a tensor map with a certain number of dimensions of pixels: of
/// its corners, and of a copy's offsets (CUDA driver API,
/// cuTensorMapEncodeIm2col; PTX ISA, "Im2col mode").
struct PixelLimits {
  int64_t least, most, offset;

  bool hasCorner(int64_t corner) const {
    return corner >= least && corner <= most;
  }
  bool hasSteps(int64_t step, int64_t places) const {
    return step <= ::nm::kMaxPixelStep &&
           places <= std::numeric_limits<int32_t>::max();
  }
  /// Whether `count` taps, `apart` from one another, are no further than
  /// offsets.
  bool hasTaps(int64_t apart, int64_t count) const {
    return apart <= offset && count <= offset + 1 &&
           apart * (count - 1) <= offset;
  }
};

/// Patches [m x k] as boxes of pixels.
class PixelBoxFinder {
public:
  PixelBoxFinder(AffineMap map, ArrayRef<int64_t> loops,
                 ArrayRef<int64_t> groups, ArrayRef<int64_t> shape)
      : map(map), loops(loops), shape(shape), end(unsigned(loops.size())),
        beginOfK(end - unsigned(groups.back())) {}

  std::optional<PixelBoxes> find(int64_t channels);

private:
  /// The one loop of more than one iteration, from `begin` to `last`, that
  /// `factors` has; `last` where there is none, and nothing for several.
  std::optional<unsigned> findOne(ArrayRef<int64_t> factors, unsigned begin,
                                  unsigned last) const;
  /// Places go from one dimension of `shape` to the next in order.
  bool takePlaceLoop(unsigned loop);
  bool takeImages();
  bool takeChannels(int64_t channels);
  bool takePixels(unsigned dim);

  AffineMap map;
  ArrayRef<int64_t> loops, shape;
  /// Loops of k are the last ones.
  unsigned end, beginOfK;
  llvm::SmallBitVector taken;
  unsigned nextPlace = 0;
  PixelBoxes boxes;
};
} // namespace

/// Dimensions of pixels are one to three.
static PixelLimits getPixelLimits(size_t dims) {
  constexpr PixelLimits kLimits[] = {
      {-32768, 32767, 65535}, {-128, 127, 255}, {-16, 15, 31}};
  return kLimits[dims - 1];
}

std::optional<unsigned> PixelBoxFinder::findOne(ArrayRef<int64_t> factors,
                                                unsigned begin,
                                                unsigned last) const {
  unsigned found = last;
  for (unsigned loop = begin; loop < last; ++loop) {
    if (factors[loop] == 0 || loops[loop] == 1)
      continue;
    if (found != last)
      return std::nullopt;
    found = loop;
  }
  return found;
}

bool PixelBoxFinder::takePlaceLoop(unsigned loop) {
  if (loop < nextPlace)
    return false;
  nextPlace = loop + 1;
  taken.set(loop);
  return true;
}

bool PixelBoxFinder::takeImages() {
  SmallVector<int64_t> factors = getFactors(map, 0);
  std::optional<unsigned> loop = findOne(factors, 0, beginOfK);
  if (!loop || factors.back() != 0 || findOne(factors, beginOfK, end) != end)
    return false;
  return *loop == beginOfK || (factors[*loop] == 1 && takePlaceLoop(*loop));
}

bool PixelBoxFinder::takeChannels(int64_t channels) {
  SmallVector<int64_t> factors = getFactors(map, map.getNumResults() - 1);
  unsigned last = end - 1;
  taken.set(last);
  return factors.back() == 0 && factors[last] == 1 &&
         loops[last] == shape.back() && shape.back() % channels == 0 &&
         findOne(factors, 0, end) == last;
}

bool PixelBoxFinder::takePixels(unsigned dim) {
  PixelLimits limits = getPixelLimits(shape.size() - 2);
  SmallVector<int64_t> factors = getFactors(map, dim);
  std::optional<unsigned> place = findOne(factors, 0, beginOfK),
                          tap = findOne(factors, beginOfK, end);
  if (!place || !tap)
    return false;
  int64_t step = 1, places = 1, lower = factors.back();
  if (*place != beginOfK) {
    step = factors[*place];
    places = loops[*place];
    if (!takePlaceLoop(*place))
      return false;
  }
  if (*tap != end) {
    taken.set(*tap);
    if (!limits.hasTaps(factors[*tap], loops[*tap]))
      return false;
  }
  if (!limits.hasCorner(lower) || !limits.hasSteps(step, places))
    return false;
  int64_t upper = lower + step * (places - 1) - (shape[dim] - 1);
  boxes.lower.push_back(lower);
  boxes.upper.push_back(upper);
  boxes.steps.push_back(step);
  return limits.hasCorner(upper);
}

std::optional<PixelBoxes> PixelBoxFinder::find(int64_t channels) {
  taken.resize(unsigned(loops.size()));
  if (!takeImages())
    return std::nullopt;
  for (unsigned dim = 1; dim + 1 < shape.size(); ++dim)
    if (!takePixels(dim))
      return std::nullopt;
  if (!takeChannels(channels) || !hasAllLoops(loops, taken))
    return std::nullopt;
  return boxes;
}

std::optional<PixelBoxes> mlir::nm::findPixelBoxes(AffineMap map,
                                                   ArrayRef<int64_t> loops,
                                                   ArrayRef<int64_t> groups,
                                                   ArrayRef<int64_t> shape,
                                                   int64_t channels) {
  constexpr size_t kLeastRank = 3, kMostRank = 5;
  if (shape.size() < kLeastRank || shape.size() > kMostRank)
    return std::nullopt;
  return PixelBoxFinder(map, loops, groups, shape).find(channels);
}

std::optional<PixelBoxes> mlir::nm::findPixelBoxes(PatchesOp op,
                                                   int64_t channels) {
  return findPixelBoxes(op.getMap(), op.getLoops(), op.getGroups(),
                        op.getImageType().getShape(), channels);
}

//===----------------------------------------------------------------------===//
// nm.patches
//===----------------------------------------------------------------------===//

SmallVector<unsigned> PatchesOp::getLoopsOf(unsigned group) {
  ArrayRef<int64_t> groups = getGroups();
  int64_t first =
      std::accumulate(groups.begin(), groups.begin() + group, int64_t(0));
  SmallVector<unsigned> loops;
  loops.resize(size_t(groups[group]));
  std::iota(loops.begin(), loops.end(), unsigned(first));
  return loops;
}

Value PatchesOp::getViewSource() { return getImage(); }

/// (C1).
static LogicalResult verifyMap(PatchesOp op) {
  AffineMap map = op.getMap();
  if (map.getNumDims() != op.getLoops().size() || map.getNumSymbols() != 0 ||
      int64_t(map.getNumResults()) != op.getImageType().getRank())
    return op.emitOpError()
           << "expected a map of " << op.getLoops().size()
           << " loops to the image's " << op.getImageType().getRank()
           << " dimensions, but got " << op.getMapAttr();
  for (unsigned dim = 0; dim < map.getNumResults(); ++dim) {
    SmallVector<int64_t> factors = getFactors(map, dim);
    bool isSum = factors.size() == map.getNumDims() + 1 &&
                 llvm::all_of(ArrayRef(factors).drop_back(),
                              [](int64_t factor) { return factor >= 0; });
    if (!isSum)
      return op.emitOpError() << "expected a map to sums of loops times "
                                 "positive factors, but got "
                              << op.getMapAttr();
  }
  return success();
}

/// (C2).
static LogicalResult verifyLoops(PatchesOp op) {
  auto isPositive = [](int64_t size) { return size >= 1; };
  ArrayRef<int64_t> loops = op.getLoops(), groups = op.getGroups();
  int64_t all = 0;
  for (int64_t count : groups)
    all += isPositive(count) && count <= int64_t(loops.size()) ? count : -1;
  if (!llvm::all_of(loops, isPositive) || !llvm::all_of(groups, isPositive) ||
      groups.size() < 2 || all != int64_t(loops.size()))
    return op.emitOpError()
           << "expected loops of at least 1 and two groups or more of all of "
              "them, but got loops ["
           << loops << "] and groups [" << groups << "]";
  SmallVector<int64_t> shape;
  for (unsigned group = 0; group < groups.size(); ++group) {
    int64_t size = 1;
    for (unsigned loop : op.getLoopsOf(group))
      if (llvm::MulOverflow(size, loops[loop], size))
        return op.emitOpError() << "expected fewer iterations";
    shape.push_back(size);
  }
  return verifyShape(op, "result", op.getMatrixType(), shape);
}

/// (C3).
static LogicalResult verifyTypes(PatchesOp op) {
  ShapedType image = op.getImageType(), result = op.getMatrixType();
  auto from = dyn_cast<MemRefType>(image), to = dyn_cast<MemRefType>(result);
  bool isAlike = bool(from) == bool(to) &&
                 image.getElementType() == result.getElementType() &&
                 image.hasStaticShape() && result.hasStaticShape();
  if (isAlike && to)
    isAlike = to.getLayout().isIdentity() &&
              to.getMemorySpace() == from.getMemorySpace();
  if (isAlike)
    return success();
  return op.emitOpError()
         << "expected an image and a result of one element type and static "
            "shapes, both tensors, or both memrefs of one memory space and the "
            "result without a layout, but got "
         << image << " and " << result;
}

LogicalResult PatchesOp::verify() {
  if (failed(verifyTypes(*this)) || failed(verifyLoops(*this)))
    return failure();
  return verifyMap(*this);
}

/// Erases `op` if it is a view that nothing reads, behind such views of it.
static void eraseDeadViews(Operation *op) {
  for (Operation *user : llvm::make_early_inc_range(op->getUsers()))
    if (isa<ViewLikeOpInterface>(user))
      eraseDeadViews(user);
  if (isOpTriviallyDead(op))
    op->erase();
}

bool mlir::nm::isInNoMemory(Value value) {
  return isa_and_present<PatchesOp, RepeatedRowsOp>(value.getDefiningOp());
}

void mlir::nm::erasePatches(Operation *root) {
  for (auto op : collectOps<PatchesOp>(root))
    eraseDeadViews(op);
  for (auto op : collectOps<RepeatedRowsOp>(root))
    eraseDeadViews(op);
}
