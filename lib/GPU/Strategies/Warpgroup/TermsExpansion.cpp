//===- TermsExpansion.cpp - f32 products of bf16 terms --------------------===//
//
// Of the products of terms those are made that f32 has bits for, the smallest
// first, on the tensor cores. These cut off what their sums have no bits for:
// the sums of a tile start at zero, and are then added, rounded, to others.
// With residuals, sums are of 16 rows, and what was cut off is added, too.
//
//===----------------------------------------------------------------------===//

#include "GPU/Strategies/Warpgroup/TermsExpansion.h"

#include "GPU/Strategies/Warpgroup/ExactSums.h"
#include "GPU/Strategies/Warpgroup/WarpgroupExpansion.h"

#include "nm/Format/SplitTerms.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::nm;

ArrayRef<TermPair> mlir::nm::getTermPairs(int64_t terms) {
  static const TermPair pairs[] = {{2, 0}, {0, 2}, {1, 1},
                                   {1, 0}, {0, 1}, {0, 0}};
  return terms == ::nm::kMaxTerms ? pairs : ArrayRef(pairs).take_back(3);
}

/// `totals` with the sums of products of terms times `sign` added to them.
static SmallVector<Value> addTermSums(OpBuilder &builder, Location loc,
                                      ArrayRef<Value> sums,
                                      ArrayRef<Value> totals, float sign = 1) {
  Value scale = arith::ConstantOp::create(
      builder, loc, builder.getF32FloatAttr(sign * ::nm::kTermProductScale));
  SmallVector<Value> result;
  for (auto [sum, total] : llvm::zip_equal(sums, totals))
    result.push_back(LLVM::FMAOp::create(builder, loc, sum, scale, total));
  return result;
}

/// Gives `blocks` the values of `sums`, which extractSums made of them:
/// products that go on from these stay behind what reads `sums`.
static void insertSums(OpBuilder &builder, Location loc, ArrayRef<Value> sums,
                       MutableArrayRef<Value> blocks) {
  auto perBlock = int64_t(sums.size() / blocks.size());
  for (auto [i, sum] : llvm::enumerate(sums)) {
    Value &block = blocks[i / perBlock];
    block = LLVM::InsertValueOp::create(
        builder, loc, block, sum, ArrayRef<int64_t>{int64_t(i) % perBlock});
  }
}

/// For each step, the sum s of the products of first terms is added to the
/// total. Then s less these products, which is minus what was cut off s, less
/// all smaller products is made in the registers of s, and subtracted from the
/// total. This difference is small, so that what is cut off it does not matter.
static SmallVector<Value> addWithResiduals(OpBuilder &builder, Location loc,
                                           const TermProducts &products,
                                           ArrayRef<Value> blocks,
                                           ArrayRef<Value> totals) {
  ArrayRef<TermPair> pairs = getTermPairs(products.terms);
  SmallVector<Value> result(totals);
  for (int64_t step = 0; step < products.steps; ++step) {
    SmallVector<Value> ofStep(blocks);
    products.turns.start(builder, loc);
    products.multiply(pairs.back(), step, ofStep, SumsUse::Make);
    products.turns.await(builder, loc);
    SmallVector<Value> sums = extractSums(builder, loc, ofStep);
    result = addTermSums(builder, loc, sums, result);
    insertSums(builder, loc, sums, ofStep);
    products.turns.start(builder, loc);
    products.multiply(pairs.back(), step, ofStep, SumsUse::Subtract);
    for (TermPair pair : pairs.drop_back())
      products.multiply(pair, step, ofStep, SumsUse::Subtract);
    products.turns.await(builder, loc);
    result = addTermSums(builder, loc, extractSums(builder, loc, ofStep),
                         result, /*sign=*/-1);
  }
  return result;
}

SmallVector<Value> mlir::nm::addTermProducts(OpBuilder &builder, Location loc,
                                             const TermProducts &products,
                                             ArrayRef<Value> blocks,
                                             ArrayRef<Value> totals) {
  if (products.hasResiduals)
    return addWithResiduals(builder, loc, products, blocks, totals);
  SmallVector<Value> sums(blocks);
  products.turns.start(builder, loc);
  SumsUse use = SumsUse::Make;
  for (TermPair pair : getTermPairs(products.terms))
    for (int64_t step = 0; step < products.steps; ++step) {
      products.multiply(pair, step, sums, use);
      use = SumsUse::Add;
    }
  products.turns.await(builder, loc);
  return addTermSums(builder, loc, extractSums(builder, loc, sums), totals);
}

namespace {
class TermsExpansion : public WarpgroupExpansion {
public:
  TermsExpansion(SpMMOp op, const GpuTile &tile)
      : WarpgroupExpansion(tile, getSchedule(op).getWarpgroup(),
                           Float32Type::get(op.getContext()),
                           /*hasTotals=*/true),
        terms(cast<SparseProductOpInterface>(*op).countTerms()) {}

  SmallVector<Value> expand(OpBuilder &builder, SparseProductOpInterface op,
                            ArrayRef<Value> sums) override;
  SmallVector<Value> recompute(OpBuilder &builder, RecomputeFromOp op,
                               ArrayRef<Value> sums) override;

private:
  static WgmmaScheduleAttr getSchedule(SpMMOp op) {
    return cast<WgmmaScheduleAttr>(op.getScheduleAttr());
  }

  int64_t terms;
};
} // namespace

SmallVector<Value> TermsExpansion::expand(OpBuilder &builder,
                                          SparseProductOpInterface product,
                                          ArrayRef<Value> totals) {
  auto op = cast<SpMMOp>(*product);
  Location loc = op.getLoc();
  ThreadEmitter emitter{builder, loc};
  Type element = op.getValuesType().getElementType();
  int64_t rows = cast<MemRefType>(op.getA().getType()).getDimSize(0),
          bytes = rows * kPanelRowBytes,
          bytesOfTerm = tile.n / ::nm::kWarpgroupM * bytes;
  Value a = getPanelDescriptor(emitter, op.getA(),
                               emitter.mul(firstPanel(emitter), terms), rows,
                               /*apart=*/terms),
        values = getPanelDescriptor(emitter, op.getValues(),
                                    firstBlock(emitter), rows);
  auto multiply = [&](TermPair pair, int64_t step,
                      MutableArrayRef<Value> blocks, SumsUse use) {
    int64_t ofRow = step * kWgmmaK * kPanelRowBytes;
    for (auto [block, sums] : llvm::enumerate(blocks))
      sums = emitWgmma(emitter, element, warpgroupM,
                       advanceDescriptor(emitter, values,
                                         ofRow + int64_t(block) * bytes +
                                             pair.ofWeight * bytesOfTerm),
                       advanceDescriptor(emitter, a, ofRow + pair.ofA * bytes),
                       sums, use);
  };
  // The first product makes them.
  Value none = LLVM::UndefOp::create(builder, loc, getSumsType());
  SmallVector<Value> blocks(blocksOfColumns(), none);
  return addTermProducts(
      builder, loc,
      {terms, rows / kWgmmaK, getSchedule(op).hasResiduals(), turns, multiply},
      blocks, totals);
}

SmallVector<Value> TermsExpansion::recompute(OpBuilder &builder,
                                             RecomputeFromOp op,
                                             ArrayRef<Value> sums) {
  ThreadEmitter emitter{builder, op.getLoc()};
  return remakeSums(emitter, op, getFragment(emitter, {}), sums);
}

std::unique_ptr<TileExpansion>
mlir::nm::createTermsExpansion(SpMMOp op, const GpuTile &tile) {
  return std::make_unique<TermsExpansion>(op, tile);
}
