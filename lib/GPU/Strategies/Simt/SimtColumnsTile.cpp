//===- SimtColumnsTile.cpp - What warps of simt_columns share -------------===//

#include "GPU/Strategies/Simt/SimtColumnsTile.h"

#include "GPU/Expand/ElementWords.h"
#include "GPU/Sums/TileStores.h"
#include "GPU/Tile/SharedMemory.h"

#include "nm/GPU/Stage/AccessWidth.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <limits>

using namespace mlir;
using namespace mlir::nm;

//===----------------------------------------------------------------------===//
// Rows of A
//===----------------------------------------------------------------------===//

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
// The tile
//===----------------------------------------------------------------------===//

SmallVector<Value> SimtColumnsTile::begin(OpBuilder &builder, Location loc) {
  ThreadEmitter emitter{builder, loc};
  thread = gpu::ThreadIdOp::create(builder, loc, gpu::Dimension::x);
  lane = emitter.rem(thread, kWarpSize);
  warp = emitter.div(thread, kWarpSize);
  row = emitter.mul(emitter.rem(warp, tile.warpsM()), tile.warpM);
  Value rest = emitter.div(warp, tile.warpsM());
  column = emitter.mul(emitter.rem(rest, tile.warpsN()), tile.warpN);
  slice = emitter.div(rest, tile.warpsN());
  return SmallVector<Value>(tile.threadM * tile.threadN,
                            emitter.zero(builder.getF32Type()));
}

static Value asVector(ThreadEmitter &emitter, ArrayRef<Value> elements) {
  return vector::FromElementsOp::create(
      emitter.builder, emitter.loc,
      VectorType::get(int64_t(elements.size()), elements[0].getType()),
      elements);
}

/// Of an m-major C, lanes store their sums side by side.
void SimtColumnsTile::storeOwn(ThreadEmitter &emitter, SpMMOp op,
                               ArrayRef<Value> sums, Value initial) {
  int64_t perLine = rows->areNeighbours() ? tile.threadM : 1;
  TileStores stores(emitter.builder, op, op.getC(), initial, epilogue, perLine);
  SmallVector<Value> complete = stores.completeSums(sums);
  SmallVector<TileLine> lines;
  for (int64_t i = 0; i < int64_t(complete.size()); i += perLine)
    lines.push_back({emitter.add(column, i / tile.threadM),
                     rows->getRow(emitter, i % tile.threadM),
                     asVector(emitter, ArrayRef(complete).slice(i, perLine))});
  stores.store(lines, tile);
}

/// Sums of several parts are added up, and those of a row-major C transposed,
/// in shared memory.
void SimtColumnsTile::storeShared(ThreadEmitter &emitter, SpMMOp op,
                                  ArrayRef<Value> sums, Value initial) {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  // Columns an odd number of words apart are in banks of their own.
  int64_t pitch = tile.m + 1, part = tile.n * pitch;
  Value shared = allocShared(builder, emitter.loc, {tile.sliceK * part},
                             builder.getF32Type());
  Value own = emitter.add(emitter.mul(slice, part), emitter.mul(column, pitch));
  for (auto [number, sum] : llvm::enumerate(sums)) {
    auto i = int64_t(number);
    memref::StoreOp::create(
        builder, loc, sum, shared,
        emitter.add(emitter.add(own, rows->getRow(emitter, i % tile.threadM)),
                    i / tile.threadM * pitch));
  }
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

void SimtColumnsTile::end(OpBuilder &builder, SparseProductOpInterface op,
                          ArrayRef<Value> sums, Value initial) {
  ThreadEmitter emitter{builder, op.getLoc()};
  auto spmm = cast<SpMMOp>(*op);
  if (tile.sliceK == 1 && spmm.getTransposeC())
    storeOwn(emitter, spmm, sums, initial);
  else
    storeShared(emitter, spmm, sums, initial);
}
