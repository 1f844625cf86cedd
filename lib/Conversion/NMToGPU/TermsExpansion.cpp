//===- TermsExpansion.cpp - f32 products of bf16 terms --------------------===//
//
// Of the products of terms those are made that f32 has bits for, the smallest
// first, on the tensor cores. These cut off what their sums have no bits for:
// the sums of a tile start at zero, and are then added, rounded, to others.
//
// A term that is NaN says that the value is huge, infinite or NaN. It makes the
// sum NaN, which is then made again of the values themselves.
//
//===----------------------------------------------------------------------===//

#include "TermsExpansion.h"

#include "WarpgroupExpansion.h"

#include "nm/Dialect/NM/IR/TermEmitter.h"
#include "nm/Format/SplitTerms.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::nm;

/// Terms of a weight and of an activation that are multiplied, in order.
using TermPair = std::pair<int64_t, int64_t>;

static ArrayRef<TermPair> getTermPairs(int64_t terms) {
  static const TermPair pairs[] = {{2, 0}, {0, 2}, {1, 1},
                                   {1, 0}, {0, 1}, {0, 0}};
  return terms == ::nm::kMaxTerms ? pairs : ArrayRef(pairs).take_back(3);
}

namespace {
class TermsExpansion : public WarpgroupExpansion {
public:
  TermsExpansion(SpMMOp op, const GpuTile &tile)
      : WarpgroupExpansion(
            tile, cast<WgmmaScheduleAttr>(op.getScheduleAttr()).getWarpgroup(),
            Float32Type::get(op.getContext())),
        terms(cast<SparseProductOpInterface>(*op).countTerms()) {}

  SmallVector<Value> begin(OpBuilder &builder, Location loc) override;
  SmallVector<Value> expand(OpBuilder &builder, SparseProductOpInterface op,
                            ArrayRef<Value> sums) override;
  /// The sums of each tile are complete.
  SmallVector<Value> complete(OpBuilder &, Location,
                              ArrayRef<Value> sums) override {
    return SmallVector<Value>(sums);
  }
  SmallVector<Value> recompute(OpBuilder &builder, RecomputeFromOp op,
                               ArrayRef<Value> sums) override;

private:
  SmallVector<Value> multiply(ThreadEmitter &emitter, SpMMOp op);

  int64_t terms;
};

/// Makes single sums again, of what they are sums of.
class ExactSums {
public:
  ExactSums(ThreadEmitter &emitter, RecomputeFromOp op)
      : emitter(emitter), builder(emitter.builder), loc(emitter.loc), op(op),
        pattern(op.getPattern().getPattern()),
        packing(op.getPacking().getPacking()) {}

  /// Whether A has row `m` of C.
  Value hasRow(Value m);
  /// The sum of row `m` of C and the instruction's row `column` of 64 of those
  /// from `block` on.
  Value sum(Value m, Value block, Value column);

private:
  Value loadA(Value k, Value m);
  Value loadWeight(Value row, Value block, Value column);
  Value getK(Value row);

  ThreadEmitter &emitter;
  OpBuilder &builder;
  Location loc;
  RecomputeFromOp op;
  ::nm::Pattern pattern;
  ::nm::PanelPacking packing;
};
} // namespace

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

SmallVector<Value> TermsExpansion::begin(OpBuilder &builder, Location loc) {
  (void)WarpgroupExpansion::begin(builder, loc);
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(0));
  return SmallVector<Value>(blocksOfColumns() * sumsPerBlock(), zero);
}

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
  NVVM::WgmmaGroupSyncAlignedOp::create(builder, loc);
  NVVM::WgmmaWaitGroupSyncOp::create(builder, loc, 0);
  SmallVector<Value> sums = extractSums(builder, loc, blocks);
  Value scale = arith::ConstantOp::create(
      builder, loc, builder.getF32FloatAttr(::nm::kTermProductScale));
  SmallVector<Value> result;
  for (auto [sum, total] : llvm::zip_equal(sums, totals))
    result.push_back(LLVM::FMAOp::create(builder, loc, sum, scale, total));
  return result;
}

//===----------------------------------------------------------------------===//
// Sums that are not finite
//===----------------------------------------------------------------------===//

Value ExactSums::hasRow(Value m) {
  int64_t group = ::nm::kTermColumns * packing.terms;
  Value columns = builder.createOrFold<memref::DimOp>(
      loc, op.getA(), cast<MemRefType>(op.getA().getType()).getRank() - 1);
  return emitter.less(
      m, emitter.mul(emitter.div(columns, group), ::nm::kTermColumns));
}

Value ExactSums::loadA(Value k, Value m) {
  auto [group, column] = emitter.split(m, ::nm::kTermColumns);
  Value first = emitter.add(
      emitter.mul(group, packing.terms * ::nm::kTermColumns), column);
  int64_t rank = cast<MemRefType>(op.getA().getType()).getRank();
  // A block has one of each batch dimension.
  SmallVector<Value> position(rank, emitter.index(0));
  position[rank - 2] = k;
  SmallVector<Value> loaded;
  for (int64_t term = 0; term < packing.terms; ++term) {
    position[rank - 1] = emitter.add(first, term * ::nm::kTermColumns);
    loaded.push_back(memref::LoadOp::create(builder, loc, op.getA(), position));
  }
  return emitJoinTerms(builder, loc, loaded);
}

/// As PanelPacking::positionInTiles, but by the place among the columns as they
/// are stored, which is the instruction's row.
Value ExactSums::loadWeight(Value row, Value block, Value column) {
  constexpr int64_t kChunk = ::nm::PanelPacking::kTileChunk,
                    kPanel = ::nm::PanelPacking::kTilePanel;
  auto [number, inTile] = emitter.split(row, packing.tileRows);
  auto [chunk, inChunk] = emitter.split(column, kChunk);
  Value swizzled =
      builder.createOrFold<arith::XOrIOp>(loc, chunk, emitter.rem(inTile, 8));
  Value line =
      emitter.add(emitter.mul(block, packing.filledTileRows()), inTile);
  Value place =
      emitter.add(emitter.mul(line, kPanel),
                  emitter.add(emitter.mul(swizzled, kChunk), inChunk));
  auto [inRows, inPanel] = emitter.split(place, packing.panel);
  Value first =
      emitter.add(emitter.mul(number, packing.storedTileRows()), inRows);
  SmallVector<Value> loaded;
  for (int64_t term = 0; term < packing.terms; ++term)
    loaded.push_back(memref::LoadOp::create(
        builder, loc, op.getValues(),
        ValueRange{emitter.index(0),
                   emitter.add(first, term * packing.filledTileRows()),
                   inPanel}));
  return emitJoinTerms(builder, loc, loaded);
}

Value ExactSums::getK(Value row) {
  auto [unit, inUnit] = emitter.split(row, pattern.bk);
  Value zero = emitter.index(0);
  Value index = memref::LoadOp::create(builder, loc, op.getIndices(),
                                       ValueRange{zero, unit, zero});
  Value position = emitter.toIndex(index);
  Value window = emitter.div(unit, pattern.n);
  Value k = emitter.add(emitter.mul(window, pattern.windowRows()),
                        emitter.mul(position, pattern.bk));
  return emitter.add(k, inUnit);
}

Value ExactSums::sum(Value m, Value block, Value column) {
  auto type = cast<MemRefType>(op.getA().getType());
  Value rows = emitter.mul(
      builder.createOrFold<memref::DimOp>(loc, op.getIndices(), 1), pattern.bk);
  Value size =
      builder.createOrFold<memref::DimOp>(loc, op.getA(), type.getRank() - 2);
  Value zero = emitter.zero(builder.getF32Type());
  auto loop = scf::ForOp::create(
      builder, loc, emitter.index(0), rows, emitter.index(1), zero,
      [&](OpBuilder &, Location, Value row, ValueRange sums) {
        Value k = getK(row);
        // The last window may be ragged.
        auto add = [&]() -> SmallVector<Value> {
          Value a = loadA(k, m), weight = loadWeight(row, block, column);
          return {LLVM::FMAOp::create(builder, loc, a, weight, sums[0])};
        };
        scf::YieldOp::create(builder, loc,
                             emitter.choose(emitter.less(k, size), add, sums));
      });
  return loop.getResult(0);
}

/// Whether `value` is infinite or NaN.
static Value isNotFinite(OpBuilder &builder, Location loc, Value value) {
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(0));
  Value product = arith::MulFOp::create(builder, loc, value, zero);
  return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNO, product,
                               product);
}

/// A loop takes the first sum and puts it last, so that each sum is at one time
/// the first, in the same register.
SmallVector<Value> TermsExpansion::recompute(OpBuilder &builder,
                                             RecomputeFromOp op,
                                             ArrayRef<Value> sums) {
  Location loc = op.getLoc();
  ThreadEmitter emitter{builder, loc};
  Value zero = emitter.zero(builder.getF32Type());
  Value check = zero;
  for (Value sum : sums)
    check = LLVM::FMAOp::create(builder, loc, sum, zero, check);
  WgmmaSums fragment = getFragment(emitter, {});
  auto make = [&]() -> SmallVector<Value> {
    auto loop = scf::ForOp::create(
        builder, loc, emitter.index(0), emitter.index(int64_t(sums.size())),
        emitter.index(1), sums,
        [&](OpBuilder &, Location, Value i, ValueRange rotated) {
          ExactSums exact(emitter, op);
          auto [block, inBlock] = emitter.split(i, sumsPerBlock());
          // The thread's i-th of the instruction's sums, see
          // getWarpgroupSumPlace.
          auto [step, inStep] = emitter.split(inBlock, 4);
          auto [lower, odd] = emitter.split(inStep, 2);
          auto [row, quad] = emitter.split(fragment.lane, 4);
          Value m = emitter.add(emitter.add(fragment.m, emitter.mul(step, 8)),
                                emitter.add(emitter.mul(quad, 2), odd));
          Value n =
              emitter.add(emitter.add(fragment.n, row), emitter.mul(lower, 8));
          n = emitter.add(n, emitter.mul(block, ::nm::kWarpgroupM));
          auto [ofTile, column] = emitter.split(n, ::nm::kWarpgroupM);
          Value isWrong = emitter.both(
              isNotFinite(builder, loc, rotated.front()), exact.hasRow(m));
          SmallVector<Value> next(rotated.drop_front());
          auto remake = [&]() -> SmallVector<Value> {
            return {exact.sum(m, ofTile, column)};
          };
          next.push_back(
              emitter.choose(isWrong, remake, rotated.front()).front());
          scf::YieldOp::create(builder, loc, next);
        });
    return SmallVector<Value>(loop.getResults());
  };
  return emitter.choose(isNotFinite(builder, loc, check), make, sums);
}

std::unique_ptr<TileExpansion>
mlir::nm::createTermsExpansion(SpMMOp op, const GpuTile &tile) {
  return std::make_unique<TermsExpansion>(op, tile);
}
