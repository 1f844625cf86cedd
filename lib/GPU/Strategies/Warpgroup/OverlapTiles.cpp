//===- OverlapTiles.cpp - Whole tiles where m ends inside of one ----------===//
//
// Tensor copies take twice as long to fill a row of A with zeros as to fetch
// one, and a tile that C ends inside of is stored under conditions. With tiles
// of 64 rows, 2:4 in f16 of 4096x4096 takes 8.4 us of 128 rows on an H200, but
// 12.9 of 100 and 17.0 of 72. A last tile that is whole, and makes rows again
// that the tile before it makes, takes as long as any other.
//
//===----------------------------------------------------------------------===//

#include "GPU/Strategies/Warpgroup/OverlapTiles.h"

#include "nm/Dialect/NM/IR/Epilogue.h"
#include "nm/Dialect/NM/IR/ScheduleFields.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::nm;

/// Whether each element of C is made of what no tile writes.
static bool readsNoOutput(SparseProductOpInterface op) {
  if (!op.hasEpilogue())
    return bool(op.getC().getDefiningOp<linalg::FillOp>());
  // C may take the place of an operand that has all its elements.
  for (size_t i = 0, e = op.getEpilogueOperands().size(); i < e; ++i)
    if (getEpilogueMap(op, i).getNumResults() > 1)
      return false;
  return true;
}

FailureOr<bool> mlir::nm::overlapsTiles(SparseProductOpInterface op) {
  auto product = dyn_cast<SpMMOp>(*op);
  if (!product || !getFields(op.getScheduleAttr()).overlap)
    return false;
  if (!hasTilesToOverlap(op, product.getTransposeA(), op.countSplits()))
    return op->emitOpError()
           << "expected " << kTilesToOverlap << " for overlap = true";
  return readsNoOutput(op);
}

bool mlir::nm::hasTilesToOverlap(SparseProductOpInterface op, bool isMMajor,
                                 int64_t splits) {
  // Of an m-major A, tensor copies that do not begin with a line of memory take
  // longer than rows that are filled: 51 us in place of 35 of 1000 rows.
  auto product = dyn_cast<SpMMOp>(*op);
  if (!product || isMMajor || splits > 1)
    return false;
  if (!product.getTransposeC())
    return true;
  // Columns of C^T are stored by 16 bytes.
  constexpr int64_t kStoreBits = 128;
  int64_t m = op.getStaticM(),
          bits = op.getCType().getElementType().getIntOrFloatBitWidth();
  return !ShapedType::isDynamic(m) && m * bits % kStoreBits == 0;
}

/// The sizes along a loop of what tiles that begin at `first` read and write:
/// the smaller of `step` and of what is left.
static SmallVector<affine::AffineMinOp> findSizes(Value first, int64_t step) {
  auto isStep = [&](AffineExpr expr) {
    auto constant = dyn_cast<AffineConstantExpr>(expr);
    return constant && constant.getValue() == step;
  };
  SmallVector<affine::AffineMinOp> sizes;
  for (Operation *user : first.getUsers())
    if (auto size = dyn_cast<affine::AffineMinOp>(user))
      if (llvm::any_of(size.getMap().getResults(), isStep))
        sizes.push_back(size);
  return sizes;
}

void mlir::nm::overlapLastTile(RewriterBase &rewriter, scf::ForallOp tiles,
                               int64_t dim) {
  MLIRContext *context = rewriter.getContext();
  Location loc = tiles.getLoc();
  OpFoldResult end = tiles.getMixedUpperBound()[dim];
  std::optional<int64_t> step = getConstantIntValue(tiles.getMixedStep()[dim]),
                         rows = getConstantIntValue(end);
  if (!step || (rows && *rows % *step == 0))
    return;
  Value first = tiles.getInductionVar(static_cast<unsigned>(dim));
  SmallVector<affine::AffineMinOp> sizes = findSizes(first, *step);
  auto whole = getAffineConstantExpr(*step, context),
       zero = getAffineConstantExpr(0, context);
  AffineExpr d0 = getAffineDimExpr(0, context),
             d1 = getAffineDimExpr(1, context);
  rewriter.setInsertionPoint(tiles);
  OpFoldResult size = affine::makeComposedFoldedAffineMin(
      rewriter, loc, AffineMap::get(1, 0, {whole, d0}, context), end);
  OpFoldResult last = affine::makeComposedFoldedAffineMax(
      rewriter, loc, AffineMap::get(1, 0, {d0 - *step, zero}, context), end);
  rewriter.setInsertionPointToStart(tiles.getBody());
  // Not composed, for uses of the loop's variable are looked for.
  Value lastFirst = getValueOrCreateConstantIndexOp(rewriter, loc, last);
  auto early = affine::AffineMinOp::create(
      rewriter, loc, AffineMap::get(2, 0, {d0, d1}, context),
      ValueRange{first, lastFirst});
  rewriter.replaceAllUsesExcept(first, early, early);
  for (affine::AffineMinOp open : sizes) {
    rewriter.setInsertionPoint(open);
    rewriter.replaceOp(open,
                       getValueOrCreateConstantIndexOp(rewriter, loc, size));
  }
}
