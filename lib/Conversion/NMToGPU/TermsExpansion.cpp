//===- TermsExpansion.cpp - f32 products of bf16 terms --------------------===//
//
// Of the products of terms those are made that f32 has bits for, the smallest
// first, on the tensor cores. These cut off what their sums have no bits for:
// the sums of a tile start at zero, and are then added, rounded, to others.
//
//===----------------------------------------------------------------------===//

#include "TermsExpansion.h"

#include "ExactSums.h"
#include "WarpgroupExpansion.h"

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

SmallVector<Value> mlir::nm::addTermSums(OpBuilder &builder, Location loc,
                                         ArrayRef<Value> sums,
                                         ArrayRef<Value> totals) {
  Value scale = arith::ConstantOp::create(
      builder, loc, builder.getF32FloatAttr(::nm::kTermProductScale));
  SmallVector<Value> result;
  for (auto [sum, total] : llvm::zip_equal(sums, totals))
    result.push_back(LLVM::FMAOp::create(builder, loc, sum, scale, total));
  return result;
}

namespace {
class TermsExpansion : public WarpgroupExpansion {
public:
  TermsExpansion(SpMMOp op, const GpuTile &tile)
      : WarpgroupExpansion(
            tile, cast<WgmmaScheduleAttr>(op.getScheduleAttr()).getWarpgroup(),
            Float32Type::get(op.getContext()), /*hasTotals=*/true),
        terms(cast<SparseProductOpInterface>(*op).countTerms()) {}

  SmallVector<Value> expand(OpBuilder &builder, SparseProductOpInterface op,
                            ArrayRef<Value> sums) override;
  SmallVector<Value> recompute(OpBuilder &builder, RecomputeFromOp op,
                               ArrayRef<Value> sums) override;

private:
  SmallVector<Value> multiply(ThreadEmitter &emitter, SpMMOp op);

  int64_t terms;
};
} // namespace

/// For each 64 columns, the sums of the tile.
SmallVector<Value> TermsExpansion::multiply(ThreadEmitter &emitter, SpMMOp op) {
  OpBuilder &builder = emitter.builder;
  Type element = op.getValuesType().getElementType();
  int64_t rows = cast<MemRefType>(op.getA().getType()).getDimSize(0),
          bytes = rows * kPanelRowBytes,
          bytesOfTerm = tile.n / ::nm::kWarpgroupM * bytes;
  Value a = getPanelDescriptor(emitter, op.getA(),
                               emitter.mul(firstPanel(emitter), terms), rows,
                               /*apart=*/terms),
        values = getPanelDescriptor(emitter, op.getValues(),
                                    firstBlock(emitter), rows);
  // The first product makes them.
  Value none = LLVM::UndefOp::create(builder, op.getLoc(), getSumsType());
  SmallVector<Value> sums(blocksOfColumns(), none);
  bool isFirst = true;
  for (auto [ofWeight, ofA] : getTermPairs(terms))
    for (int64_t row = 0; row < rows; row += kWgmmaK, isFirst = false)
      for (auto [block, sum] : llvm::enumerate(sums)) {
        int64_t ofRow = row * kPanelRowBytes;
        sum = emitWgmma(emitter, element, warpgroupM,
                        advanceDescriptor(emitter, values,
                                          ofRow + int64_t(block) * bytes +
                                              ofWeight * bytesOfTerm),
                        advanceDescriptor(emitter, a, ofRow + ofA * bytes), sum,
                        /*addsToSums=*/!isFirst);
      }
  return sums;
}

SmallVector<Value> TermsExpansion::expand(OpBuilder &builder,
                                          SparseProductOpInterface product,
                                          ArrayRef<Value> totals) {
  auto op = cast<SpMMOp>(*product);
  Location loc = op.getLoc();
  ThreadEmitter emitter{builder, loc};
  NVVM::WgmmaFenceAlignedOp::create(builder, loc);
  SmallVector<Value> blocks = multiply(emitter, op);
  awaitProducts(builder, loc);
  return addTermSums(builder, loc, extractSums(builder, loc, blocks), totals);
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
