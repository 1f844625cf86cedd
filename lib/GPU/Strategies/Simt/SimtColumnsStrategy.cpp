//===- SimtColumnsStrategy.cpp - Weights kept anywhere, on CUDA cores -----===//
//
// A warp walks along the weights of one column. Its lanes load 32 of them, each
// one weight and its row of A, to the warp's place in shared memory, where all
// lanes then read one after the other. A lane has one to four rows of C, so
// that what the lanes load of a row of A stands side by side. The 32 weights
// behind are on their way meanwhile.
//
//===----------------------------------------------------------------------===//

#include "GPU/Expand/ElementWords.h"
#include "GPU/Strategies/Simt/SimtColumnsTile.h"
#include "GPU/Tile/SharedMemory.h"

#include "nm/Transforms/EarlyStarts.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::nm;
using ::nm::ColumnsForm;

/// Weights whose rows of A a lane loads before it multiplies any of them, for
/// so many rows of a lane: as registers allow.
static int64_t countAtOnce(int64_t perLane) { return perLane == 1 ? 16 : 8; }
/// Words of a weight in shared memory: where its row of A is, and its value,
/// filled up to what one load takes.
static int64_t countWords(const LaneRows &rows) {
  return int64_t(llvm::PowerOf2Ceil(uint64_t(rows.countPlaceWords()) + 1));
}

/// Whether no kernel writes the weights.
static bool areWeightsConstant(SparseProductOpInterface op) {
  return findConstant(op.getValues()) && findConstant(op.getIndices()) &&
         findConstant(op.getLists());
}

static void markEarly(Operation *load, bool isEarly) {
  if (isEarly)
    load->setAttr(kEarlyLoad, UnitAttr::get(load->getContext()));
}

//===----------------------------------------------------------------------===//
// Weights of a column
//===----------------------------------------------------------------------===//

namespace {
/// The weights of a column that a warp walks along.
class ColumnWalk {
public:
  /// A lane has `perLane` rows.
  ColumnWalk(ThreadEmitter &emitter, SparseProductOpInterface op,
             const LaneRows &rows, int64_t perLane, Value column, Value lane);

  /// Takes part `slice` of `parts` of the weights.
  void takePart(ThreadEmitter &emitter, Value slice, int64_t parts);
  /// Adds the products of all weights to `sums`. The warp's weights are at
  /// `from` of `shared`.
  SmallVector<Value> add(ThreadEmitter &emitter, Value shared, Value from,
                         ArrayRef<Value> sums) const;

private:
  SmallVector<Value> loadOwn(ThreadEmitter &emitter, Value place,
                             bool isEarly) const;
  void share(ThreadEmitter &emitter, ArrayRef<Value> own, Value count,
             Value shared, Value from) const;
  SmallVector<Value> addShared(ThreadEmitter &emitter, Value count,
                               Value shared, Value from,
                               ArrayRef<Value> sums) const;
  SmallVector<Value> addSome(ThreadEmitter &emitter, Value first, Value count,
                             Value shared, Value from,
                             ArrayRef<Value> sums) const;

  const LaneRows &rows;
  ColumnsForm form;
  /// The words of a weight in shared memory.
  int64_t words;
  /// Weights whose rows of A are loaded together: a divisor of a warp's.
  int64_t atOnce;
  Value values, indices, lane;
  /// Whether no kernel writes the weights.
  bool areConstant;
  /// The places of the first weight and behind the last, i32.
  Value first, end;
};
} // namespace

ColumnWalk::ColumnWalk(ThreadEmitter &emitter, SparseProductOpInterface op,
                       const LaneRows &rows, int64_t perLane, Value column,
                       Value lane)
    : rows(rows), form(cast<ColumnsAttr>(op.getPackingAttr()).getForm()),
      words(countWords(rows)), atOnce(countAtOnce(perLane)),
      values(op.getValues()), indices(op.getIndices()), lane(lane),
      areConstant(areWeightsConstant(op)) {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  Value lists = op.getLists();
  Value columns = builder.createOrFold<memref::DimOp>(loc, lists, 0);
  Value last =
      builder.createOrFold<arith::SubIOp>(loc, columns, emitter.index(1));
  // Warps behind the last column walk along that.
  Value zero = emitter.index(0);
  auto loaded = vector::LoadOp::create(
      builder, loc,
      VectorType::get(ColumnsForm::kListBytes, builder.getI8Type()), lists,
      ValueRange{emitter.least(column, last), zero, zero},
      /*nontemporal=*/false, llvm::MaybeAlign(ColumnsForm::kListBytes));
  markEarly(loaded, areConstant);
  SmallVector<Value> words = emitter.words(loaded);
  first = words[0];
  end = words[1];
}

void ColumnWalk::takePart(ThreadEmitter &emitter, Value slice, int64_t parts) {
  if (parts == 1)
    return;
  Value count = emitter.sub(end, first), number = emitter.toI32(slice);
  auto boundary = [&](Value part) {
    Value product =
        emitter.builder.createOrFold<arith::MulIOp>(emitter.loc, count, part);
    return emitter.add(first, emitter.div(product, parts));
  };
  Value begin = boundary(number);
  end = boundary(emitter.add(number, 1));
  first = begin;
}

/// The weight that the lane has of those from `place` on, and its row of A;
/// behind the last one, that again.
SmallVector<Value> ColumnWalk::loadOwn(ThreadEmitter &emitter, Value place,
                                       bool isEarly) const {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  // Of a column without weights, `end` - 1 may be no place.
  Value last = arith::MaxSIOp::create(
      builder, loc, emitter.sub(end, emitter.i32(1)), emitter.i32(0));
  Value zero = emitter.index(0),
        at = emitter.toIndex(
            emitter.least(emitter.add(place, emitter.toI32(lane)), last));
  auto value =
      memref::LoadOp::create(builder, loc, values, ValueRange{zero, zero, at});
  markEarly(value, isEarly);
  int64_t bytes = form.indexBytes();
  auto index = vector::LoadOp::create(
      builder, loc, VectorType::get(bytes, builder.getI8Type()), indices,
      ValueRange{zero, zero, emitter.mul(at, bytes)},
      /*nontemporal=*/false, llvm::MaybeAlign(bytes));
  markEarly(index, isEarly);
  Type together = builder.getIntegerType(8 * static_cast<unsigned>(bytes));
  Value row =
      emitter.extract(vector::BitCastOp::create(
                          builder, loc, VectorType::get(1, together), index),
                      0);
  row = arith::ExtUIOp::create(builder, loc, builder.getI32Type(), row);
  return {value, row};
}

/// Stores the lane's weight for all lanes; zero behind the last of `count`.
void ColumnWalk::share(ThreadEmitter &emitter, ArrayRef<Value> own, Value count,
                       Value shared, Value from) const {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  Value value = toAccumulator(emitter, own[0]);
  Value isOne = emitter.less(emitter.toI32(lane), count);
  Value bits =
      emitter.bitcast(builder.getI32Type(), emitter.orZero(value, isOne));
  SmallVector<Value> weight = rows.place(emitter, own[1]);
  weight.push_back(bits);
  weight.resize(size_t(words), emitter.i32(0));
  Value together = vector::FromElementsOp::create(
      builder, loc, VectorType::get(words, builder.getI32Type()), weight);
  vector::StoreOp::create(
      builder, loc, together, shared,
      ValueRange{emitter.add(from, emitter.mul(lane, words))},
      /*nontemporal=*/false, llvm::MaybeAlign(4 * words));
}

/// Adds the products of atOnce shared weights from `first` on; where `count`
/// is given, of those before it.
SmallVector<Value> ColumnWalk::addSome(ThreadEmitter &emitter, Value first,
                                       Value count, Value shared, Value from,
                                       ArrayRef<Value> sums) const {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  constexpr int64_t kPerLoad = 4;
  Value at = emitter.add(from, emitter.mul(emitter.toIndex(first), words));
  SmallVector<Value> loads;
  for (int64_t word = 0; word < atOnce * words; word += kPerLoad) {
    Value loaded = vector::LoadOp::create(
        builder, loc, VectorType::get(kPerLoad, builder.getI32Type()), shared,
        ValueRange{emitter.add(at, word)}, /*nontemporal=*/false,
        llvm::MaybeAlign(4 * kPerLoad));
    for (int64_t i = 0; i < kPerLoad; ++i)
      loads.push_back(emitter.extract(loaded, i));
  }
  auto placeWords = size_t(rows.countPlaceWords());
  auto weightAt = [&](int64_t i) {
    return ArrayRef(loads).slice(size_t(i * words), placeWords + 1);
  };
  SmallVector<SmallVector<Value>> a;
  for (int64_t i = 0; i < atOnce; ++i)
    a.push_back(rows.load(emitter, weightAt(i).drop_back()));
  // ptxas would put loads off until they are multiplied, to save registers, but
  // moves none past a barrier.
  syncWarp(emitter.builder, emitter.loc);
  SmallVector<Value> result(sums);
  Value zero = emitter.zero(builder.getF32Type());
  for (int64_t i = 0; i < atOnce; ++i) {
    Value value = emitter.bitcast(builder.getF32Type(), weightAt(i).back());
    Value isOne = count ? emitter.less(emitter.add(first, i), count) : Value();
    for (auto [sum, x] : llvm::zip(result, a[i])) {
      // The row of no weight may have an infinite activation.
      Value factor = isOne
                         ? arith::SelectOp::create(builder, loc, isOne, x, zero)
                               .getResult()
                         : x;
      sum = LLVM::FMAOp::create(builder, loc, factor, value, sum);
    }
  }
  return result;
}

/// Adds the products of the first `count` shared weights, up to a warp's.
SmallVector<Value> ColumnWalk::addShared(ThreadEmitter &emitter, Value count,
                                         Value shared, Value from,
                                         ArrayRef<Value> sums) const {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  Value whole = emitter.mul(emitter.div(count, atOnce), atOnce);
  auto loop = scf::ForOp::create(
      builder, loc, emitter.i32(0), whole, emitter.i32(atOnce), sums,
      [&](OpBuilder &inner, Location loc, Value first, ValueRange carried) {
        ThreadEmitter body{inner, loc};
        scf::YieldOp::create(inner, loc,
                             addSome(body, first, /*count=*/{}, shared, from,
                                     SmallVector<Value>(carried)));
      });
  SmallVector<Value> before(loop.getResults());
  return emitter.choose(
      emitter.less(whole, count),
      [&] { return addSome(emitter, whole, count, shared, from, before); },
      before);
}

SmallVector<Value> ColumnWalk::add(ThreadEmitter &emitter, Value shared,
                                   Value from, ArrayRef<Value> sums) const {
  SmallVector<Value> carried(sums);
  llvm::append_range(carried, loadOwn(emitter, first, areConstant));
  auto loop = scf::ForOp::create(
      emitter.builder, emitter.loc, first, end, emitter.i32(kWarpSize), carried,
      [&](OpBuilder &builder, Location loc, Value place, ValueRange carried) {
        ThreadEmitter body{builder, loc};
        Value count = body.least(body.sub(end, place), body.i32(kWarpSize));
        SmallVector<Value> own(carried.drop_front(sums.size()));
        // Of the weights before, some lanes may still read.
        syncWarp(body.builder, body.loc);
        share(body, own, count, shared, from);
        syncWarp(body.builder, body.loc);
        SmallVector<Value> next =
            loadOwn(body, body.add(place, kWarpSize), /*isEarly=*/false);
        SmallVector<Value> result =
            addShared(body, count, shared, from,
                      SmallVector<Value>(carried.take_front(sums.size())));
        llvm::append_range(result, next);
        scf::YieldOp::create(builder, loc, result);
      });
  return SmallVector<Value>(loop.getResults().take_front(sums.size()));
}

//===----------------------------------------------------------------------===//
// The tile
//===----------------------------------------------------------------------===//

namespace {
class SimtColumnsExpansion : public SimtColumnsTile {
public:
  using SimtColumnsTile::SimtColumnsTile;

  SmallVector<Value> expand(OpBuilder &builder, SparseProductOpInterface op,
                            ArrayRef<Value> sums) override;
};
} // namespace

SmallVector<Value> SimtColumnsExpansion::expand(OpBuilder &builder,
                                                SparseProductOpInterface op,
                                                ArrayRef<Value> sums) {
  ThreadEmitter emitter{builder, op.getLoc()};
  takeRows(emitter, op.getA());
  ColumnWalk walk(emitter, op, *rows, tile.threadM, column, lane);
  walk.takePart(emitter, slice, tile.sliceK);
  int64_t words = kWarpSize * countWords(*rows);
  Value shared =
      allocShared(builder, emitter.loc, {tile.threads / kWarpSize * words},
                  builder.getI32Type());
  return walk.add(emitter, shared, emitter.mul(warp, words), sums);
}

//===----------------------------------------------------------------------===//
// What can be expanded
//===----------------------------------------------------------------------===//

FailureOr<std::unique_ptr<TileExpansion>>
mlir::nm::createSimtColumnsExpansion(SparseProductOpInterface op,
                                     const GpuTile &tile) {
  auto spmm = dyn_cast<SpMMOp>(*op);
  if (!spmm || !spmm.getTransposeA())
    return op->emitOpError()
           << "expected nm.spmm with an m-major A for strategy "
              "simt_columns";
  if (!isa<FloatType>(op.getAccumulatorType()) ||
      op.getAType().getElementTypeBitWidth() < 16)
    return op->emitOpError() << "expected operands of f32, f16 or bf16 for "
                                "strategy simt_columns, but got "
                             << op.getAType().getElementType();
  if (!op.getPackingAttr()) {
    if (std::optional<StringRef> reason = whyNoConstantColumns(op))
      return op->emitOpError() << *reason;
    return createConstantColumnsExpansion(tile);
  }
  auto columns = dyn_cast<ColumnsAttr>(op.getPackingAttr());
  if (!columns || tile.threadN != 1)
    return op->emitOpError()
           << "expected weights packed as #nm.columns, and one "
              "column of a warp, for strategy simt_columns";
  if (cast<MemRefType>(op.getLists().getType()).getDimSize(1) != 1)
    return op->emitOpError() << "expected one tile of rows, but tile_rows is "
                             << columns.getTileRows();
  return std::unique_ptr<TileExpansion>(
      std::make_unique<SimtColumnsExpansion>(tile));
}
