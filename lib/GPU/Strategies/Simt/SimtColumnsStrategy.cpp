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
#include "GPU/Expand/TileExpansion.h"
#include "GPU/Sums/TileStores.h"

#include "nm/GPU/Stage/AccessWidth.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::nm;
using ::nm::ColumnsForm;

/// Weights whose rows of A a lane loads before it multiplies any of them, for
/// so many rows of a lane: as registers allow.
static int64_t countAtOnce(int64_t perLane) { return perLane == 1 ? 16 : 8; }
/// Words of a weight in shared memory: where its row of A is, and its value.
static constexpr int64_t kWords = 2;

static void syncWarp(ThreadEmitter &emitter) {
  NVVM::SyncWarpOp::create(
      emitter.builder, emitter.loc,
      arith::ConstantIntOp::create(emitter.builder, emitter.loc, -1, 32));
}

static Value allocShared(ThreadEmitter &emitter, int64_t size, Type element) {
  auto space = gpu::AddressSpaceAttr::get(emitter.builder.getContext(),
                                          gpu::AddressSpace::Workgroup);
  auto type =
      MemRefType::get({size}, element, MemRefLayoutAttrInterface(), space);
  return memref::AllocOp::create(emitter.builder, emitter.loc, type);
}

//===----------------------------------------------------------------------===//
// Rows of A
//===----------------------------------------------------------------------===//

namespace {
/// The rows of A of one lane, of an A [k x m].
class LaneRows {
public:
  /// `first` is the first row of the lane's warp in the block's tile.
  LaneRows(ThreadEmitter &emitter, Value a, Value first, Value lane,
           int64_t count);

  /// Whether a lane's rows are neighbours, which one access loads. They are
  /// `kWarpSize` apart else.
  bool areNeighbours() const { return isVector; }
  /// Row `i` of the lane in the block's tile.
  Value getRow(ThreadEmitter &emitter, int64_t i) const;
  /// What a weight has in shared memory for its row `k`, an i32: the distance
  /// of that from the first one in elements, where it is known to fit.
  Value place(ThreadEmitter &emitter, Value k) const;
  /// The lane's elements of the row there, in f32.
  SmallVector<Value> load(ThreadEmitter &emitter, Value place) const;

private:
  Value view(ThreadEmitter &emitter, Value row, Value size) const;

  Value a, firstRow;
  /// Elements between rows of A, where that is not known.
  Value stride;
  int64_t count, knownStride;
  bool isVector;
  /// A from the lane's rows on: of all, or of each.
  SmallVector<Value> views;
};
} // namespace

static int64_t getKnownStride(MemRefType type) {
  auto [strides, offset] = type.getStridesAndOffset();
  int64_t stride = strides[type.getRank() - 2],
          k = type.getShape()[type.getRank() - 2];
  bool fits =
      !ShapedType::isDynamic(stride) && !ShapedType::isDynamic(k) &&
      (stride == 0 || k <= std::numeric_limits<uint32_t>::max() / stride);
  return fits ? stride : ShapedType::kDynamic;
}

LaneRows::LaneRows(ThreadEmitter &emitter, Value a, Value first, Value lane,
                   int64_t count)
    : a(a), count(count),
      knownStride(getKnownStride(cast<MemRefType>(a.getType()))),
      isVector(getAccessWidth(a, {1, count}) % count == 0) {
  OpBuilder &builder = emitter.builder;
  auto metadata =
      memref::ExtractStridedMetadataOp::create(builder, emitter.loc, a);
  int64_t rank = cast<MemRefType>(a.getType()).getRank();
  stride = metadata.getStrides()[rank - 2];
  firstRow = emitter.add(first, isVector ? emitter.mul(lane, count) : lane);
  auto type = MemRefType::get(
      {ShapedType::kDynamic}, cast<MemRefType>(a.getType()).getElementType(),
      StridedLayoutAttr::get(builder.getContext(), ShapedType::kDynamic, {1}),
      cast<MemRefType>(a.getType()).getMemorySpace());
  Value rows = builder.createOrFold<memref::DimOp>(emitter.loc, a, rank - 1);
  for (int64_t i = 0; i < (isVector ? 1 : count); ++i) {
    // Lanes behind the last row read that, so that they need not be told apart.
    Value last = builder.createOrFold<arith::SubIOp>(
        emitter.loc, rows, emitter.index(isVector ? count : 1));
    Value row = emitter.least(getRow(emitter, i), last);
    Value offset = emitter.add(metadata.getOffset(), row);
    views.push_back(memref::ReinterpretCastOp::create(
        builder, emitter.loc, type, metadata.getBaseBuffer(), offset,
        ArrayRef<OpFoldResult>{emitter.index(::nm::kMaxSize)},
        ArrayRef<OpFoldResult>{builder.getIndexAttr(1)}));
  }
}

Value LaneRows::getRow(ThreadEmitter &emitter, int64_t i) const {
  return emitter.add(firstRow, isVector ? i : i * kWarpSize);
}

Value LaneRows::place(ThreadEmitter &emitter, Value k) const {
  return ShapedType::isDynamic(knownStride) ? k : emitter.mul(k, knownStride);
}

SmallVector<Value> LaneRows::load(ThreadEmitter &emitter, Value place) const {
  OpBuilder &builder = emitter.builder;
  Value index = emitter.toIndex(place);
  if (ShapedType::isDynamic(knownStride))
    index = builder.createOrFold<arith::MulIOp>(emitter.loc, index, stride);
  SmallVector<Value> elements;
  if (!isVector) {
    for (Value view : views)
      elements.push_back(toAccumulator(
          emitter, memref::LoadOp::create(builder, emitter.loc, view, index)));
    return elements;
  }
  Type element = cast<MemRefType>(a.getType()).getElementType();
  Value loaded = vector::LoadOp::create(
      builder, emitter.loc, VectorType::get(count, element), views[0], index,
      /*nontemporal=*/false,
      llvm::MaybeAlign(count * element.getIntOrFloatBitWidth() / 8));
  for (int64_t i = 0; i < count; ++i)
    elements.push_back(toAccumulator(emitter, emitter.extract(loaded, i)));
  return elements;
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
  SmallVector<Value> loadOwn(ThreadEmitter &emitter, Value place) const;
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
  /// Weights whose rows of A are loaded together: a divisor of a warp's.
  int64_t atOnce;
  Value values, indices, lane;
  /// The places of the first weight and behind the last, i32.
  Value first, end;
};
} // namespace

ColumnWalk::ColumnWalk(ThreadEmitter &emitter, SparseProductOpInterface op,
                       const LaneRows &rows, int64_t perLane, Value column,
                       Value lane)
    : rows(rows), form(cast<ColumnsAttr>(op.getPackingAttr()).getForm()),
      atOnce(countAtOnce(perLane)), values(op.getValues()),
      indices(op.getIndices()), lane(lane) {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  Value lists = op.getLists();
  Value columns = builder.createOrFold<memref::DimOp>(loc, lists, 0);
  Value last =
      builder.createOrFold<arith::SubIOp>(loc, columns, emitter.index(1));
  // Warps behind the last column walk along that.
  Value zero = emitter.index(0);
  Value loaded = vector::LoadOp::create(
      builder, loc,
      VectorType::get(ColumnsForm::kListBytes, builder.getI8Type()), lists,
      ValueRange{emitter.least(column, last), zero, zero},
      /*nontemporal=*/false, llvm::MaybeAlign(ColumnsForm::kListBytes));
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
SmallVector<Value> ColumnWalk::loadOwn(ThreadEmitter &emitter,
                                       Value place) const {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  // Of a column without weights, `end` - 1 may be no place.
  Value last = arith::MaxSIOp::create(
      builder, loc, emitter.sub(end, emitter.i32(1)), emitter.i32(0));
  Value zero = emitter.index(0),
        at = emitter.toIndex(
            emitter.least(emitter.add(place, emitter.toI32(lane)), last));
  Value value =
      memref::LoadOp::create(builder, loc, values, ValueRange{zero, zero, at});
  int64_t bytes = form.indexBytes();
  Value row = vector::LoadOp::create(
      builder, loc, VectorType::get(bytes, builder.getI8Type()), indices,
      ValueRange{zero, zero, emitter.mul(at, bytes)},
      /*nontemporal=*/false, llvm::MaybeAlign(bytes));
  Type together = builder.getIntegerType(8 * static_cast<unsigned>(bytes));
  row = emitter.extract(vector::BitCastOp::create(
                            builder, loc, VectorType::get(1, together), row),
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
  value = arith::SelectOp::create(builder, loc, isOne, value,
                                  emitter.zero(value.getType()));
  Value bits = emitter.bitcast(builder.getI32Type(), value);
  Value pair = vector::FromElementsOp::create(
      builder, loc, VectorType::get(kWords, builder.getI32Type()),
      ValueRange{rows.place(emitter, own[1]), bits});
  vector::StoreOp::create(
      builder, loc, pair, shared,
      ValueRange{emitter.add(from, emitter.mul(lane, kWords))},
      /*nontemporal=*/false, llvm::MaybeAlign(4 * kWords));
}

/// Adds the products of atOnce shared weights from `first` on; where `count`
/// is given, of those before it.
SmallVector<Value> ColumnWalk::addSome(ThreadEmitter &emitter, Value first,
                                       Value count, Value shared, Value from,
                                       ArrayRef<Value> sums) const {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  constexpr int64_t kPerLoad = 4;
  Value at = emitter.add(from, emitter.mul(emitter.toIndex(first), kWords));
  SmallVector<Value> words;
  for (int64_t word = 0; word < atOnce * kWords; word += kPerLoad) {
    Value loaded = vector::LoadOp::create(
        builder, loc, VectorType::get(kPerLoad, builder.getI32Type()), shared,
        ValueRange{emitter.add(at, word)}, /*nontemporal=*/false,
        llvm::MaybeAlign(4 * kPerLoad));
    for (int64_t i = 0; i < kPerLoad; ++i)
      words.push_back(emitter.extract(loaded, i));
  }
  SmallVector<SmallVector<Value>> a;
  for (int64_t i = 0; i < atOnce; ++i)
    a.push_back(rows.load(emitter, words[kWords * i]));
  // ptxas would put loads off until they are multiplied, to save registers, but
  // moves none past a barrier.
  syncWarp(emitter);
  SmallVector<Value> result(sums);
  Value zero = emitter.zero(builder.getF32Type());
  for (int64_t i = 0; i < atOnce; ++i) {
    Value value = emitter.bitcast(builder.getF32Type(), words[kWords * i + 1]);
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
  llvm::append_range(carried, loadOwn(emitter, first));
  auto loop = scf::ForOp::create(
      emitter.builder, emitter.loc, first, end, emitter.i32(kWarpSize), carried,
      [&](OpBuilder &builder, Location loc, Value place, ValueRange carried) {
        ThreadEmitter body{builder, loc};
        Value count = body.least(body.sub(end, place), body.i32(kWarpSize));
        SmallVector<Value> own(carried.drop_front(sums.size()));
        // Of the weights before, some lanes may still read.
        syncWarp(body);
        share(body, own, count, shared, from);
        syncWarp(body);
        SmallVector<Value> next = loadOwn(body, body.add(place, kWarpSize));
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
class SimtColumnsExpansion : public TileExpansion {
public:
  explicit SimtColumnsExpansion(const GpuTile &tile) : tile(tile) {}

  SmallVector<Value> begin(OpBuilder &builder, Location loc) override;
  SmallVector<Value> expand(OpBuilder &builder, SparseProductOpInterface op,
                            ArrayRef<Value> sums) override;
  void end(OpBuilder &builder, SparseProductOpInterface op,
           ArrayRef<Value> sums, Value initial) override;

private:
  void storeOwn(ThreadEmitter &emitter, SpMMOp op, ArrayRef<Value> sums,
                Value initial);
  void storeShared(ThreadEmitter &emitter, SpMMOp op, ArrayRef<Value> sums,
                   Value initial);

  GpuTile tile;
  /// The thread, its lane and warp, its first row and its column in the tile,
  /// and the part that its warp takes of the column's weights.
  Value thread, lane, warp, row, column, slice;
  std::optional<LaneRows> rows;
};
} // namespace

SmallVector<Value> SimtColumnsExpansion::begin(OpBuilder &builder,
                                               Location loc) {
  ThreadEmitter emitter{builder, loc};
  thread = gpu::ThreadIdOp::create(builder, loc, gpu::Dimension::x);
  lane = emitter.rem(thread, kWarpSize);
  warp = emitter.div(thread, kWarpSize);
  row = emitter.mul(emitter.rem(warp, tile.warpsM()), tile.warpM);
  Value rest = emitter.div(warp, tile.warpsM());
  column = emitter.rem(rest, tile.warpsN());
  slice = emitter.div(rest, tile.warpsN());
  return SmallVector<Value>(tile.threadM, emitter.zero(builder.getF32Type()));
}

SmallVector<Value> SimtColumnsExpansion::expand(OpBuilder &builder,
                                                SparseProductOpInterface op,
                                                ArrayRef<Value> sums) {
  ThreadEmitter emitter{builder, op.getLoc()};
  rows.emplace(emitter, op.getA(), row, lane, tile.threadM);
  ColumnWalk walk(emitter, op, *rows, tile.threadM, column, lane);
  walk.takePart(emitter, slice, tile.sliceK);
  int64_t words = kWarpSize * kWords;
  Value shared = allocShared(emitter, tile.threads() / kWarpSize * words,
                             builder.getI32Type());
  return walk.add(emitter, shared, emitter.mul(warp, words), sums);
}

static Value asVector(ThreadEmitter &emitter, ArrayRef<Value> elements) {
  return vector::FromElementsOp::create(
      emitter.builder, emitter.loc,
      VectorType::get(int64_t(elements.size()), elements[0].getType()),
      elements);
}

/// Of an m-major C, lanes store their sums side by side.
void SimtColumnsExpansion::storeOwn(ThreadEmitter &emitter, SpMMOp op,
                                    ArrayRef<Value> sums, Value initial) {
  int64_t perLine = rows->areNeighbours() ? tile.threadM : 1;
  TileStores stores(emitter.builder, op, op.getC(), initial, epilogue, perLine);
  SmallVector<Value> complete = stores.completeSums(sums);
  SmallVector<TileLine> lines;
  for (int64_t i = 0; i < tile.threadM; i += perLine)
    lines.push_back({column, rows->getRow(emitter, i),
                     asVector(emitter, ArrayRef(complete).slice(i, perLine))});
  stores.store(lines, tile);
}

/// Sums of several parts are added up, and those of a row-major C transposed,
/// in shared memory.
void SimtColumnsExpansion::storeShared(ThreadEmitter &emitter, SpMMOp op,
                                       ArrayRef<Value> sums, Value initial) {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  // Columns an odd number of words apart are in banks of their own.
  int64_t pitch = tile.m + 1, part = tile.warpsN() * pitch;
  Value shared = allocShared(emitter, tile.sliceK * part, builder.getF32Type());
  Value own = emitter.add(emitter.mul(slice, part), emitter.mul(column, pitch));
  for (auto [i, sum] : llvm::enumerate(sums))
    memref::StoreOp::create(
        builder, loc, sum, shared,
        emitter.add(own, rows->getRow(emitter, int64_t(i))));
  gpu::BarrierOp::create(builder, loc);
  bool alongM = op.getTransposeC();
  scf::ForOp::create(
      builder, loc, thread, emitter.index(tile.n * tile.m),
      emitter.index(tile.threads()), ValueRange(),
      [&](OpBuilder &inner, Location loc, Value element, ValueRange) {
        ThreadEmitter body{inner, loc};
        auto [first, along] = body.split(element, alongM ? tile.m : tile.n);
        Value at = body.add(body.mul(alongM ? first : along, pitch),
                            alongM ? along : first);
        Value total;
        for (int64_t i = 0; i < tile.sliceK; ++i) {
          Value sum = memref::LoadOp::create(inner, loc, shared,
                                             body.add(at, i * part));
          total = total ? arith::AddFOp::create(inner, loc, total, sum) : sum;
        }
        TileStores stores(inner, op, op.getC(), initial, epilogue,
                          /*perLine=*/1);
        stores.storeLine({first, along, asVector(body, total)});
        scf::YieldOp::create(inner, loc);
      });
}

void SimtColumnsExpansion::end(OpBuilder &builder, SparseProductOpInterface op,
                               ArrayRef<Value> sums, Value initial) {
  ThreadEmitter emitter{builder, op.getLoc()};
  auto spmm = cast<SpMMOp>(*op);
  if (tile.sliceK == 1 && spmm.getTransposeC())
    storeOwn(emitter, spmm, sums, initial);
  else
    storeShared(emitter, spmm, sums, initial);
}

//===----------------------------------------------------------------------===//
// What can be expanded
//===----------------------------------------------------------------------===//

FailureOr<std::unique_ptr<TileExpansion>>
mlir::nm::createSimtColumnsExpansion(SparseProductOpInterface op,
                                     const GpuTile &tile) {
  auto spmm = dyn_cast<SpMMOp>(*op);
  auto columns = dyn_cast_if_present<ColumnsAttr>(op.getPackingAttr());
  if (!spmm || !spmm.getTransposeA() || !columns)
    return op->emitOpError() << "expected nm.spmm with an m-major A and "
                                "weights packed as #nm.columns for strategy "
                                "simt_columns";
  if (!isa<FloatType>(op.getAccumulatorType()) ||
      op.getAType().getElementTypeBitWidth() < 16)
    return op->emitOpError() << "expected operands of f32, f16 or bf16 for "
                                "strategy simt_columns, but got "
                             << op.getAType().getElementType();
  if (cast<MemRefType>(op.getLists().getType()).getDimSize(1) != 1)
    return op->emitOpError() << "expected one tile of rows, but tile_rows is "
                             << columns.getTileRows();
  return std::unique_ptr<TileExpansion>(
      std::make_unique<SimtColumnsExpansion>(tile));
}
