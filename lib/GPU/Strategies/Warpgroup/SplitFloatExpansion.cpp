//===- SplitFloatExpansion.cpp - f32 products of bf16 splits --------------===//
//
// Of the products of split floats those are made that f32 has bits for, the
// smallest first, on the tensor cores. These cut off what their sums have no
// bits for: the sums of a tile start at zero, and are then added, rounded, to
// others. With error compensation, sums are of 16 rows, and what was cut off is
// added, too.
//
//===----------------------------------------------------------------------===//

#include "GPU/Strategies/Warpgroup/SplitFloatExpansion.h"

#include "GPU/Strategies/Warpgroup/ExactSums.h"
#include "GPU/Strategies/Warpgroup/WarpgroupExpansion.h"

#include "nm/Format/SplitFloats.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::nm;

ArrayRef<SplitPair> mlir::nm::getSplitPairs(int64_t splits) {
  static const SplitPair pairs[] = {{2, 0}, {0, 2}, {1, 1},
                                    {1, 0}, {0, 1}, {0, 0}};
  return splits == ::nm::kMaxSplits ? pairs : ArrayRef(pairs).take_back(3);
}

/// `promote` with the sums of products of split floats times `sign` added to
/// them.
static SmallVector<Value> addSplitSums(OpBuilder &builder, Location loc,
                                       ArrayRef<Value> sums,
                                       ArrayRef<Value> promoted,
                                       float sign = 1) {
  Value scale = arith::ConstantOp::create(
      builder, loc, builder.getF32FloatAttr(sign * ::nm::kSplitProductScale));
  SmallVector<Value> result;
  for (auto [sum, total] : llvm::zip_equal(sums, promoted))
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

/// For each step, the sum s of the products of first splits is added to the
/// total. Then s less these products, which is minus what was cut off s, less
/// all smaller products is made in the registers of s, and subtracted from the
/// total. This difference is small, so that what is cut off it does not matter.
static SmallVector<Value> addCompensated(OpBuilder &builder, Location loc,
                                         const SplitProducts &products,
                                         ArrayRef<Value> blocks,
                                         ArrayRef<Value> promoted) {
  ArrayRef<SplitPair> pairs = getSplitPairs(products.splits);
  SmallVector<Value> result(promoted);
  for (int64_t step = 0; step < products.steps; ++step) {
    SmallVector<Value> ofStep(blocks);
    products.turns.start(builder, loc);
    products.multiply(pairs.back(), step, ofStep, SumsUse::Make);
    products.turns.await(builder, loc);
    SmallVector<Value> sums = extractSums(builder, loc, ofStep);
    result = addSplitSums(builder, loc, sums, result);
    insertSums(builder, loc, sums, ofStep);
    products.turns.start(builder, loc);
    products.multiply(pairs.back(), step, ofStep, SumsUse::Subtract);
    for (SplitPair pair : pairs.drop_back())
      products.multiply(pair, step, ofStep, SumsUse::Subtract);
    products.turns.await(builder, loc);
    result = addSplitSums(builder, loc, extractSums(builder, loc, ofStep),
                          result, /*sign=*/-1);
  }
  return result;
}

SmallVector<Value> mlir::nm::addSplitProducts(OpBuilder &builder, Location loc,
                                              const SplitProducts &products,
                                              ArrayRef<Value> blocks,
                                              ArrayRef<Value> promoted) {
  if (products.isCompensated)
    return addCompensated(builder, loc, products, blocks, promoted);
  SmallVector<Value> sums(blocks);
  products.turns.start(builder, loc);
  SumsUse use = SumsUse::Make;
  for (SplitPair pair : getSplitPairs(products.splits))
    for (int64_t step = 0; step < products.steps; ++step) {
      products.multiply(pair, step, sums, use);
      use = SumsUse::Add;
    }
  products.turns.await(builder, loc);
  return addSplitSums(builder, loc, extractSums(builder, loc, sums), promoted);
}

namespace {
class SplitFloatExpansion : public WarpgroupExpansion {
public:
  SplitFloatExpansion(SpMMOp op, const GpuTile &tile)
      : WarpgroupExpansion(tile, getSchedule(op).getWarpgroup(),
                           Float32Type::get(op.getContext()),
                           /*isPromoted=*/true),
        splits(cast<SparseProductOpInterface>(*op).countSplits()) {}

  SmallVector<Value> expand(OpBuilder &builder, SparseProductOpInterface op,
                            ArrayRef<Value> sums) override;
  SmallVector<Value> recompute(OpBuilder &builder, RecomputeFromOp op,
                               ArrayRef<Value> sums) override;

private:
  static WgmmaScheduleAttr getSchedule(SpMMOp op) {
    return cast<WgmmaScheduleAttr>(op.getScheduleAttr());
  }

  int64_t splits;
};
} // namespace

SmallVector<Value> SplitFloatExpansion::expand(OpBuilder &builder,
                                               SparseProductOpInterface product,
                                               ArrayRef<Value> promoted) {
  auto op = cast<SpMMOp>(*product);
  Location loc = op.getLoc();
  ThreadEmitter emitter{builder, loc};
  Type element = op.getValuesType().getElementType();
  int64_t rows = cast<MemRefType>(op.getA().getType()).getDimSize(0),
          bytes = rows * kPanelRowBytes,
          bytesOfSplit = tile.n / ::nm::kWarpgroupM * bytes;
  Value a = getPanelDescriptor(emitter, op.getA(),
                               emitter.mul(firstPanel(emitter), splits), rows,
                               /*apart=*/splits),
        values = getPanelDescriptor(emitter, op.getValues(),
                                    firstBlock(emitter), rows);
  auto multiply = [&](SplitPair pair, int64_t step,
                      MutableArrayRef<Value> blocks, SumsUse use) {
    int64_t ofRow = step * kWgmmaK * kPanelRowBytes;
    for (auto [block, sums] : llvm::enumerate(blocks))
      sums = emitWgmma(emitter, element, warpgroupM,
                       advanceDescriptor(emitter, values,
                                         ofRow + int64_t(block) * bytes +
                                             pair.ofWeight * bytesOfSplit),
                       advanceDescriptor(emitter, a, ofRow + pair.ofA * bytes),
                       sums, use);
  };
  // The first product makes them.
  Value none = LLVM::UndefOp::create(builder, loc, getSumsType());
  SmallVector<Value> blocks(blocksOfColumns(), none);
  return addSplitProducts(builder, loc,
                          {splits, rows / kWgmmaK,
                           getSchedule(op).isCompensated(), turns, multiply},
                          blocks, promoted);
}

SmallVector<Value> SplitFloatExpansion::recompute(OpBuilder &builder,
                                                  RecomputeFromOp op,
                                                  ArrayRef<Value> sums) {
  ThreadEmitter emitter{builder, op.getLoc()};
  return remakeSums(emitter, op, getFragment(emitter, {}), sums);
}

std::unique_ptr<TileExpansion>
mlir::nm::createSplitFloatExpansion(SpMMOp op, const GpuTile &tile) {
  return std::make_unique<SplitFloatExpansion>(op, tile);
}
