//===- StridedCopies.cpp - Copies between strided views -------------------===//

#include "GPU/Tile/StridedCopies.h"

#include "mlir/Analysis/FlatLinearValueConstraints.h"

using namespace mlir;
using namespace mlir::nm;

namespace {
/// A loop of the copy: elements between two of its iterations in the source and
/// in the target.
struct CopyLoop {
  int64_t size, source, target;
};

/// Strides of an operand by loop, and what it adds to the operand's offset.
struct LoopStrides {
  SmallVector<int64_t> strides;
  int64_t offset = 0;
};
} // namespace

/// None where a place is no sum of multiples of the loops.
static std::optional<LoopStrides> getLoopStrides(AffineMap map,
                                                 MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  if (failed(type.getStridesAndOffset(strides, offset)) ||
      llvm::is_contained(strides, ShapedType::kDynamic) ||
      ShapedType::isDynamic(offset))
    return std::nullopt;
  unsigned loops = map.getNumDims();
  LoopStrides found{SmallVector<int64_t>(loops, 0), offset};
  for (auto [expr, stride] : llvm::zip_equal(map.getResults(), strides)) {
    SmallVector<int64_t> flat;
    // A place that divides has variables of its own behind the loops'.
    if (failed(getFlattenedAffineExpr(expr, loops, /*numSymbols=*/0, &flat)) ||
        flat.size() != loops + 1)
      return std::nullopt;
    for (unsigned loop = 0; loop < loops; ++loop)
      found.strides[loop] += flat[loop] * stride;
    found.offset += flat.back() * stride;
  }
  return found;
}

static bool isCopy(linalg::GenericOp op) {
  if (!op.hasPureBufferSemantics() || op.getNumDpsInputs() != 1 ||
      op.getNumDpsInits() != 1 || op.getNumReductionLoops() != 0 ||
      !llvm::hasSingleElement(*op.getBody()))
    return false;
  return op.getBody()->getTerminator()->getOperand(0) ==
         op.getBody()->getArgument(0);
}

/// Puts loops that are one in both operands together, and the contiguous one
/// last; the longest of the others before that, whose iterations are the rows
/// of a block. None where no loop is contiguous in both.
static std::optional<SmallVector<CopyLoop>>
orderLoops(SmallVector<CopyLoop> loops) {
  llvm::erase_if(loops, [](const CopyLoop &loop) { return loop.size == 1; });
  auto *inner = llvm::find_if(loops, [](const CopyLoop &loop) {
    return loop.source == 1 && loop.target == 1;
  });
  if (inner == loops.end())
    return std::nullopt;
  CopyLoop last = *inner;
  loops.erase(inner);
  auto *next = loops.begin();
  while ((next = llvm::find_if(loops, [&](const CopyLoop &loop) {
            return loop.source == last.size && loop.target == last.size;
          })) != loops.end()) {
    last.size *= next->size;
    loops.erase(next);
  }
  if (loops.empty())
    return std::nullopt;
  llvm::sort(loops, [](const CopyLoop &lhs, const CopyLoop &rhs) {
    return std::pair(lhs.size, -lhs.target) < std::pair(rhs.size, -rhs.target);
  });
  loops.push_back(last);
  return loops;
}

/// The elements of `memref` that the loops go over, a dimension for each.
static Value createView(OpBuilder &builder, Location loc, Value memref,
                        int64_t offset, ArrayRef<int64_t> sizes,
                        ArrayRef<int64_t> strides) {
  auto type = cast<MemRefType>(memref.getType());
  auto layout = StridedLayoutAttr::get(builder.getContext(), offset, strides);
  auto viewType = MemRefType::get(sizes, type.getElementType(), layout,
                                  type.getMemorySpace());
  return memref::ReinterpretCastOp::create(builder, loc, viewType, memref,
                                           offset, sizes, strides);
}

memref::CopyOp mlir::nm::createStridedCopy(OpBuilder &builder,
                                           linalg::GenericOp op) {
  if (!isCopy(op))
    return {};
  OpOperand *input = op.getDpsInputOperand(0), *init = op.getDpsInitOperand(0);
  auto from = dyn_cast<MemRefType>(input->get().getType()),
       to = dyn_cast<MemRefType>(init->get().getType());
  AffineMap ofTarget = op.getMatchingIndexingMap(init);
  if (!from || !to || !ofTarget.isPermutation())
    return {};
  std::optional<LoopStrides> source = getLoopStrides(
                                 op.getMatchingIndexingMap(input), from),
                             target = getLoopStrides(ofTarget, to);
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  if (!source || !target || llvm::is_contained(ranges, ShapedType::kDynamic) ||
      llvm::is_contained(ranges, 0))
    return {};
  SmallVector<CopyLoop> loops;
  for (auto [size, in, out] :
       llvm::zip_equal(ranges, source->strides, target->strides))
    loops.push_back({size, in, out});
  std::optional<SmallVector<CopyLoop>> ordered = orderLoops(std::move(loops));
  if (!ordered)
    return {};
  SmallVector<int64_t> sizes, ofSource, ofTargetView;
  for (const CopyLoop &loop : *ordered) {
    sizes.push_back(loop.size);
    ofSource.push_back(loop.source);
    ofTargetView.push_back(loop.target);
  }
  Location loc = op.getLoc();
  Value view = createView(builder, loc, input->get(), source->offset, sizes,
                          ofSource),
        into = createView(builder, loc, init->get(), target->offset, sizes,
                          ofTargetView);
  return memref::CopyOp::create(builder, loc, view, into);
}
