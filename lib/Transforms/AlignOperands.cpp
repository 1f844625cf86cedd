//===- AlignOperands.cpp - Operands at odd offsets to memory of their own -===//

#include "nm/Transforms/Passes.h"

#include "nm/GPU/Stage/AccessWidth.h"
#include "nm/GPU/Tile/GpuTile.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/SetVector.h"

#include <numeric>

namespace mlir::nm {
#define GEN_PASS_DEF_NMALIGNOPERANDS
#include "nm/Transforms/Passes.h.inc"
} // namespace mlir::nm

using namespace mlir;
using mlir::nm::CopyWay;
using mlir::nm::kMaxAccessBytes;
using mlir::nm::SimtScheduleAttr;
using mlir::nm::SpMMOp;
using mlir::nm::TileOrder;
using mlir::nm::WgmmaSpScheduleAttr;

/// A layout without strides is of a buffer that a pass has made as it is to be.
static bool isAligned(MemRefType type) {
  if (!type.isStrided())
    return true;
  auto [strides, offset] = type.getStridesAndOffset();
  int64_t bytes = type.getElementTypeBitWidth() / 8;
  return !ShapedType::isDynamic(offset) &&
         offset * bytes % kMaxAccessBytes == 0;
}

/// Whether an op in `loop` writes to `memref`, or to a view of it.
static bool isWritten(Value memref, scf::ForallOp loop) {
  SmallVector<Value> views = {memref};
  while (!views.empty()) {
    Value view = views.pop_back_val();
    for (Operation *user : view.getUsers()) {
      if (!loop->isProperAncestor(user))
        continue;
      if (isa<ViewLikeOpInterface>(user))
        llvm::append_range(views, user->getResults());
      auto effects = dyn_cast<MemoryEffectOpInterface>(user);
      if (effects && effects.getEffectOnValue<MemoryEffects::Write>(view))
        return true;
    }
  }
  return false;
}

/// Whether `value` is made outside of `loop`.
static bool isOutside(Value value, scf::ForallOp loop) {
  return !loop.getRegion().isAncestor(value.getParentRegion());
}

/// Elements that rows of A are multiples of apart for the copies that the
/// schedule of `op` says; see #nm.simt and, for tensor copies, #nm.wgmma_sp and
/// #nm.wgmma_select.
static int64_t getRowAlignment(SpMMOp op) {
  auto sparse = dyn_cast_if_present<WgmmaSpScheduleAttr>(op.getScheduleAttr());
  if ((sparse && sparse.countProducers() != 0) ||
      isa_and_present<mlir::nm::WgmmaSelectScheduleAttr>(op.getScheduleAttr()))
    return kMaxAccessBytes * 8 /
           cast<MemRefType>(op.getA().getType()).getElementTypeBitWidth();
  auto simt = dyn_cast_if_present<SimtScheduleAttr>(op.getScheduleAttr());
  if (!simt || op.getTransposeA())
    return 1;
  if (simt.getOrderOfA() == TileOrder::RowMajor)
    return 32;
  CopyWay way = simt.getCopyA().value_or(CopyWay::Elements);
  return way == CopyWay::Elements ? 1 : 4;
}

/// Whether rows of `a` are not known to be multiples of `elements` apart, which
/// its shape would have them. Rows that are whole widest accesses apart, as
/// nm-pad-rows makes those of an unknown size, may be any number of these.
static bool hasOddRows(Value a, int64_t elements) {
  auto type = cast<MemRefType>(a.getType());
  if (type.getLayout().isIdentity() || !type.isStrided())
    return false;
  int64_t chunk =
      std::lcm(elements, kMaxAccessBytes * 8 / type.getElementTypeBitWidth());
  SmallVector<int64_t> strides = type.getStridesAndOffset().first,
                       factors = mlir::nm::getStrideFactors(a);
  for (int64_t dim = 0; dim + 1 < type.getRank(); ++dim)
    if (ShapedType::isDynamic(strides[dim]) ? factors[dim] % chunk != 0
                                            : strides[dim] % elements != 0)
      return true;
  return false;
}

/// The memref from outside of `loop` that `view` is a view of; null for none.
static Value findOutside(Value view, scf::ForallOp loop) {
  while (!isOutside(view, loop)) {
    auto op = view.getDefiningOp<ViewLikeOpInterface>();
    if (!op)
      return {};
    view = op.getViewSource();
  }
  return view;
}

/// The memrefs from outside that `loop` reads or writes at odd offsets, and
/// those whose rows its products copy and lie at odd places.
static llvm::SetVector<Value> collectOperands(scf::ForallOp loop) {
  llvm::SetVector<Value> operands;
  loop.walk([&](Operation *op) {
    for (Value operand : op->getOperands()) {
      auto type = dyn_cast<MemRefType>(operand.getType());
      if (type && isOutside(operand, loop) && !isAligned(type))
        operands.insert(operand);
    }
    if (auto product = dyn_cast<SpMMOp>(op))
      if (Value a = findOutside(product.getA(), loop))
        if (hasOddRows(a, getRowAlignment(product)))
          operands.insert(a);
  });
  return operands;
}

/// The view of `source` that `view` is of another memref; null for other ops.
static Value recreateView(RewriterBase &rewriter, Operation *view,
                          Value source) {
  auto type = cast<MemRefType>(source.getType());
  rewriter.setInsertionPoint(view);
  if (auto subview = dyn_cast<memref::SubViewOp>(view)) {
    MemRefType result = memref::SubViewOp::inferRankReducedResultType(
        subview.getType().getShape(), type, subview.getMixedOffsets(),
        subview.getMixedSizes(), subview.getMixedStrides());
    return memref::SubViewOp::create(
        rewriter, view->getLoc(), result, source, subview.getMixedOffsets(),
        subview.getMixedSizes(), subview.getMixedStrides());
  }
  if (auto cast = dyn_cast<memref::CastOp>(view)) {
    auto shape = mlir::cast<MemRefType>(cast.getType()).getShape();
    auto result = MemRefType::get(shape, type.getElementType(),
                                  type.getLayout(), type.getMemorySpace());
    return memref::CastOp::create(rewriter, view->getLoc(), result, source);
  }
  return {};
}

/// Replaces `before`, whose layout is another, in `loop`.
static void replaceInLoop(RewriterBase &rewriter, scf::ForallOp loop,
                          Value before, Value after) {
  for (OpOperand &use : llvm::make_early_inc_range(before.getUses())) {
    Operation *user = use.getOwner();
    if (!loop->isProperAncestor(user))
      continue;
    Value view = recreateView(rewriter, user, after);
    if (!view) {
      rewriter.modifyOpInPlace(user, [&] { use.set(after); });
      continue;
    }
    replaceInLoop(rewriter, loop, user->getResult(0), view);
    rewriter.eraseOp(user);
  }
}

/// Lets `loop` work on a copy of `memref`.
static void replaceByCopy(RewriterBase &rewriter, scf::ForallOp loop,
                          Value memref) {
  Location loc = loop.getLoc();
  auto type = cast<MemRefType>(memref.getType());
  rewriter.setInsertionPoint(loop);
  SmallVector<Value> sizes;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.isDynamicDim(dim))
      sizes.push_back(memref::DimOp::create(rewriter, loc, memref, dim));
  auto rowMajor = MemRefType::get(type.getShape(), type.getElementType());
  Value copy = memref::AllocOp::create(rewriter, loc, rowMajor, sizes);
  memref::CopyOp::create(rewriter, loc, memref, copy);
  bool written = isWritten(memref, loop);
  replaceInLoop(rewriter, loop, memref, copy);
  rewriter.setInsertionPointAfter(loop);
  if (written)
    memref::CopyOp::create(rewriter, loc, copy, memref);
  memref::DeallocOp::create(rewriter, loc, copy);
}

namespace {
struct NMAlignOperands : mlir::nm::impl::NMAlignOperandsBase<NMAlignOperands> {
  void runOnOperation() override {
    SmallVector<scf::ForallOp> loops;
    getOperation()->walk([&](scf::ForallOp loop) {
      if (mlir::nm::isMappedToBlocks(loop))
        loops.push_back(loop);
    });
    IRRewriter rewriter(&getContext());
    for (scf::ForallOp loop : loops)
      for (Value operand : collectOperands(loop))
        replaceByCopy(rewriter, loop, operand);
  }
};
} // namespace
