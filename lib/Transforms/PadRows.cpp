//===- PadRows.cpp - Rows of temporaries where accesses are fast ----------===//

#include "nm/Transforms/Passes.h"

#include "PaddedRows.h"

#include "nm/Dialect/NM/IR/Contractions.h"
#include "nm/Dialect/NM/Transforms/Passes.h"
#include "nm/Dialect/NM/Transforms/RepeatRows.h"
#include "nm/GPU/Stage/AccessWidth.h"

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

/// The products whose A `memref` is, or a view of it.
static void findProducts(Value memref,
                         SmallVectorImpl<mlir::nm::SpMMOp> &products) {
  for (Operation *user : memref.getUsers()) {
    if (auto product = dyn_cast<mlir::nm::SpMMOp>(user)) {
      if (product.getA() == memref)
        products.push_back(product);
    } else if (isa<ViewLikeOpInterface>(user)) {
      findProducts(user->getResult(0), products);
    }
  }
}

/// Whether rows [m x k] of `alloc` are made for a product that takes some of
/// them twice.
static bool hasRepeatedRows(memref::AllocOp alloc) {
  return llvm::any_of(alloc->getUsers(), [&](Operation *user) {
    auto op = dyn_cast<linalg::GenericOp>(user);
    if (!op || op.getDpsInits()[0] != alloc.getResult())
      return false;
    std::optional<mlir::nm::RepeatedRows> repeated =
        mlir::nm::findRepeatedRows(op);
    return repeated && repeated->dim + 1 == alloc.getType().getRank();
  });
}

/// How many of the last dimensions of `alloc` are one dimension of an A that is
/// a view of it, as sequences and their tokens are.
static int64_t countColumnDims(memref::AllocOp alloc) {
  MemRefType type = alloc.getType();
  for (Operation *user : alloc->getUsers()) {
    auto view = dyn_cast<memref::CollapseShapeOp>(user);
    SmallVector<mlir::nm::SpMMOp> products;
    if (view)
      findProducts(view.getResult(), products);
    if (products.empty())
      continue;
    int64_t dims = view.getReassociationIndices().back().size();
    if (llvm::none_of(type.getShape().take_back(dims), ShapedType::isDynamic))
      return dims;
  }
  return 1;
}

/// `type` with one dimension for its last `dims`.
static MemRefType joinColumns(MemRefType type, int64_t dims) {
  SmallVector<int64_t> shape(type.getShape().drop_back(dims));
  ArrayRef<int64_t> columns = type.getShape().take_back(dims);
  shape.push_back(dims == 1 ? columns.back() : llvm::product_of(columns));
  return MemRefType::get(shape, type.getElementType());
}

/// The elements of a row.
static int64_t countColumns(memref::AllocOp alloc) {
  return joinColumns(alloc.getType(), countColumnDims(alloc)).getShape().back();
}

/// Elements that rows of `alloc` are padded to a multiple of: of a fast access,
/// or as many as the schedules of products that read it say.
static int64_t getChunk(memref::AllocOp alloc) {
  if (hasRepeatedRows(alloc))
    return mlir::nm::getRepeatedChunk(alloc.getType().getElementTypeBitWidth());
  int64_t chunk =
      mlir::nm::getPaddedChunk(countColumns(alloc), /*isMMajorA=*/false);
  SmallVector<mlir::nm::SpMMOp> products;
  findProducts(alloc.getResult(), products);
  for (mlir::nm::SpMMOp product : products)
    if (mlir::nm::ScheduleAttrInterface schedule = product.getScheduleAttr())
      chunk = std::max(chunk, schedule.getTiling().padA);
  return chunk;
}

/// Whether rows of `alloc` may start anywhere, and are read by 16 bytes: those
/// of 16-bit elements, by tensor cores and by what transposes for them, and
/// repeated ones. Rows of one element that no product takes, as sums over the
/// places of an image, would be eight times as long.
static bool hasOddRows(memref::AllocOp alloc) {
  MemRefType type = alloc.getType();
  if (type.getRank() < 2 || !type.getLayout().isIdentity() ||
      type.getMemorySpace() || !type.getElementType().isIntOrFloat() ||
      (type.getElementTypeBitWidth() != 16 && !hasRepeatedRows(alloc)))
    return false;
  int64_t columns = countColumns(alloc);
  SmallVector<mlir::nm::SpMMOp> products;
  findProducts(alloc.getResult(), products);
  if (columns == 1 && products.empty())
    return false;
  return ShapedType::isDynamic(columns) || columns % getChunk(alloc) != 0;
}

//===----------------------------------------------------------------------===//
// What may take padded rows
//===----------------------------------------------------------------------===//

/// Whether a product that takes `memref` can take one of type `type` in its
/// place: copies take contiguous elements, which a view of padded rows of a
/// single element has not.
static bool canProductTake(Value memref, MemRefType type) {
  return type.isLastDimUnitStride() ||
         !cast<MemRefType>(memref.getType()).isLastDimUnitStride();
}

/// Whether all that uses `memref` can take one of type `type` in its place.
static bool canTake(Value memref, MemRefType type) {
  return llvm::all_of(memref.getUsers(), [&](Operation *user) {
    if (isa<mlir::nm::SparseProductOpInterface>(user))
      return canProductTake(memref, type);
    if (isa<linalg::LinalgOp, mlir::nm::ContractOp, mlir::nm::SplitFloatsOp,
            mlir::nm::RecomputeFromOp, memref::CopyOp, memref::DimOp,
            memref::DeallocOp, memref::LoadOp, memref::StoreOp>(user))
      return true;
    if (auto attention = dyn_cast<mlir::nm::AttentionOp>(user))
      return attention.getO() == memref;
    MemRefType view = mlir::nm::getViewType(user, type);
    return view && canTake(user->getResult(0), view);
  });
}

//===----------------------------------------------------------------------===//
// Padding
//===----------------------------------------------------------------------===//

/// Memory of padded rows that may stand in place of `alloc`.
static mlir::nm::PaddedRows allocatePadded(RewriterBase &rewriter,
                                           memref::AllocOp alloc) {
  int64_t dims = countColumnDims(alloc), rank = alloc.getType().getRank();
  mlir::nm::PaddedRows padded = mlir::nm::allocatePadded(
      rewriter, alloc.getLoc(), joinColumns(alloc.getType(), dims),
      alloc.getDynamicSizes(), getChunk(alloc), alloc.getAlignmentAttr());
  if (dims == 1)
    return padded;
  SmallVector<ReassociationIndices> groups;
  for (int64_t dim = 0; dim <= rank - dims; ++dim)
    groups.push_back({dim});
  for (int64_t dim = rank - dims + 1; dim < rank; ++dim)
    groups.back().push_back(dim);
  padded.rows = memref::ExpandShapeOp::create(
      rewriter, alloc.getLoc(), alloc.getType().getShape(), padded.rows, groups,
      alloc.getMixedSizes());
  return padded;
}

static void pad(RewriterBase &rewriter, memref::AllocOp alloc) {
  rewriter.setInsertionPoint(alloc);
  // What it would become, to be asked about first.
  mlir::nm::PaddedRows padded = allocatePadded(rewriter, alloc);
  if (!canTake(alloc.getResult(), cast<MemRefType>(padded.rows.getType()))) {
    for (Operation *op = padded.rows.getDefiningOp(); op;) {
      Operation *source =
          op == padded.memory ? nullptr : op->getOperand(0).getDefiningOp();
      rewriter.eraseOp(op);
      op = source;
    }
    return;
  }
  for (Operation *user :
       llvm::make_early_inc_range(alloc.getResult().getUsers()))
    if (auto dealloc = dyn_cast<memref::DeallocOp>(user))
      dealloc.getMemrefMutable().set(padded.memory);
  mlir::nm::replaceInViews(rewriter, alloc.getResult(), padded.rows);
  rewriter.eraseOp(alloc);
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
