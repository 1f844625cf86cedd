//===- PadRows.cpp - Rows of temporaries where accesses are fast ----------===//

#include "nm/Transforms/Passes.h"

#include "nm/Dialect/NM/IR/NM.h"
#include "nm/Dialect/NM/Transforms/Passes.h"
#include "nm/GPU/Stage/AccessWidth.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace mlir::nm {
#define GEN_PASS_DEF_NMPADROWS
#include "nm/Transforms/Passes.h.inc"
} // namespace mlir::nm

using namespace mlir;

/// Whether a product reads rows of `memref` as those of a k-major A.
static bool isKMajorOperand(Value memref) {
  return llvm::any_of(memref.getUsers(), [&](Operation *user) {
    if (auto product = dyn_cast<mlir::nm::SpMMOp>(user))
      return product.getTransposeA() && product.getA() == memref;
    return isa<ViewLikeOpInterface>(user) &&
           isKMajorOperand(user->getResult(0));
  });
}

/// Elements that rows of `alloc` are padded to a multiple of.
static int64_t getChunk(memref::AllocOp alloc) {
  return mlir::nm::getPaddedChunk(alloc.getType().getShape().back(),
                                  isKMajorOperand(alloc.getResult()));
}

/// Whether rows of `alloc` may start anywhere, and are read by 16 bytes: those
/// of 16-bit elements, by tensor cores and by what transposes for them.
static bool hasOddRows(memref::AllocOp alloc) {
  MemRefType type = alloc.getType();
  if (type.getRank() < 2 || !type.getLayout().isIdentity() ||
      type.getMemorySpace() || !type.getElementType().isIntOrFloat() ||
      type.getElementTypeBitWidth() != 16)
    return false;
  int64_t columns = type.getShape().back();
  return ShapedType::isDynamic(columns) || columns % getChunk(alloc) != 0;
}

//===----------------------------------------------------------------------===//
// What may take padded rows
//===----------------------------------------------------------------------===//

/// The type of the view that `op` is, of a memref of type `source`; null where
/// it is none, or there is none.
static MemRefType getViewType(Operation *op, MemRefType source) {
  if (auto view = dyn_cast<memref::SubViewOp>(op))
    return memref::SubViewOp::inferRankReducedResultType(
        view.getType().getShape(), source, view.getMixedOffsets(),
        view.getMixedSizes(), view.getMixedStrides());
  if (auto view = dyn_cast<memref::CollapseShapeOp>(op)) {
    SmallVector<ReassociationIndices> groups = view.getReassociationIndices();
    if (memref::CollapseShapeOp::isGuaranteedCollapsible(source, groups))
      return memref::CollapseShapeOp::computeCollapsedType(source, groups);
  }
  if (auto view = dyn_cast<memref::ExpandShapeOp>(op)) {
    FailureOr<MemRefType> type = memref::ExpandShapeOp::computeExpandedType(
        source, view.getResultType().getShape(),
        view.getReassociationIndices());
    if (succeeded(type))
      return *type;
  }
  return {};
}

static Value createView(RewriterBase &rewriter, Operation *op, Value source) {
  MemRefType type = getViewType(op, cast<MemRefType>(source.getType()));
  Location loc = op->getLoc();
  rewriter.setInsertionPoint(op);
  if (auto view = dyn_cast<memref::SubViewOp>(op))
    return memref::SubViewOp::create(
        rewriter, loc, type, source, view.getMixedOffsets(),
        view.getMixedSizes(), view.getMixedStrides());
  if (auto view = dyn_cast<memref::CollapseShapeOp>(op))
    return memref::CollapseShapeOp::create(rewriter, loc, type, source,
                                           view.getReassociationIndices());
  auto view = cast<memref::ExpandShapeOp>(op);
  return memref::ExpandShapeOp::create(rewriter, loc, type, source,
                                       view.getReassociationIndices(),
                                       view.getMixedOutputShape());
}

/// Whether all that uses `memref` can take one of type `type` in its place.
static bool canTake(Value memref, MemRefType type) {
  return llvm::all_of(memref.getUsers(), [&](Operation *user) {
    if (isa<linalg::LinalgOp, mlir::nm::SparseProductOpInterface,
            mlir::nm::SplitTermsOp, mlir::nm::RecomputeFromOp, memref::CopyOp,
            memref::DimOp, memref::DeallocOp, memref::LoadOp, memref::StoreOp>(
            user))
      return true;
    MemRefType view = getViewType(user, type);
    return view && canTake(user->getResult(0), view);
  });
}

//===----------------------------------------------------------------------===//
// Padding
//===----------------------------------------------------------------------===//

/// Memory for `alloc` whose rows are of whole chunks; where their number is not
/// known, with a dimension for these, so that it shows.
static Value allocatePadded(RewriterBase &rewriter, memref::AllocOp alloc) {
  Location loc = alloc.getLoc();
  MemRefType type = alloc.getType();
  int64_t chunk = getChunk(alloc), rank = type.getRank();
  SmallVector<int64_t> shape(type.getShape());
  SmallVector<Value> sizes(alloc.getDynamicSizes());
  bool isDynamic = ShapedType::isDynamic(shape.back());
  if (isDynamic) {
    sizes.back() = rewriter.createOrFold<arith::CeilDivUIOp>(
        loc, sizes.back(),
        arith::ConstantIndexOp::create(rewriter, loc, chunk));
    shape.push_back(chunk);
  } else {
    shape.back() = llvm::alignTo(shape.back(), chunk);
  }
  Value padded = memref::AllocOp::create(
      rewriter, loc, MemRefType::get(shape, type.getElementType()), sizes,
      alloc.getAlignmentAttr());
  if (!isDynamic)
    return padded;
  SmallVector<ReassociationIndices> groups;
  for (int64_t dim = 0; dim < rank; ++dim)
    groups.push_back({dim});
  groups.back().push_back(rank);
  return memref::CollapseShapeOp::create(rewriter, loc, padded, groups);
}

/// `padded` without what is more than `alloc` has.
static Value createRows(RewriterBase &rewriter, memref::AllocOp alloc,
                        Value padded) {
  int64_t rank = alloc.getType().getRank();
  SmallVector<OpFoldResult> zeros(rank, rewriter.getIndexAttr(0)),
      ones(rank, rewriter.getIndexAttr(1));
  return memref::SubViewOp::create(rewriter, alloc.getLoc(), padded, zeros,
                                   alloc.getMixedSizes(), ones);
}

static void replaceUses(RewriterBase &rewriter, Value from, Value to) {
  for (OpOperand &use : llvm::make_early_inc_range(from.getUses())) {
    Operation *user = use.getOwner();
    if (!getViewType(user, cast<MemRefType>(to.getType()))) {
      rewriter.modifyOpInPlace(user, [&] { use.set(to); });
      continue;
    }
    replaceUses(rewriter, user->getResult(0), createView(rewriter, user, to));
    rewriter.eraseOp(user);
  }
}

static void pad(RewriterBase &rewriter, memref::AllocOp alloc) {
  rewriter.setInsertionPoint(alloc);
  // What it would become, to be asked about first.
  Value padded = allocatePadded(rewriter, alloc);
  Value rows = createRows(rewriter, alloc, padded);
  bool isPossible =
      canTake(alloc.getResult(), cast<MemRefType>(rows.getType()));
  Operation *memory = padded.getDefiningOp();
  if (auto collapse = dyn_cast<memref::CollapseShapeOp>(memory))
    memory = collapse.getSrc().getDefiningOp();
  if (isPossible) {
    for (Operation *user :
         llvm::make_early_inc_range(alloc.getResult().getUsers()))
      if (auto dealloc = dyn_cast<memref::DeallocOp>(user))
        dealloc.getMemrefMutable().set(memory->getResult(0));
    replaceUses(rewriter, alloc.getResult(), rows);
    rewriter.eraseOp(alloc);
    return;
  }
  rewriter.eraseOp(rows.getDefiningOp());
  if (padded.getDefiningOp() != memory)
    rewriter.eraseOp(padded.getDefiningOp());
  rewriter.eraseOp(memory);
}

namespace {
struct NMPadRows : mlir::nm::impl::NMPadRowsBase<NMPadRows> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function->hasAttr(mlir::nm::kHostFunction))
      return;
    SmallVector<memref::AllocOp> allocs;
    function.walk([&](memref::AllocOp alloc) {
      // In blocks, it is memory of their own.
      if (hasOddRows(alloc) && !alloc->getParentOfType<scf::ForallOp>())
        allocs.push_back(alloc);
    });
    IRRewriter rewriter(&getContext());
    for (memref::AllocOp alloc : allocs)
      pad(rewriter, alloc);
  }
};
} // namespace
