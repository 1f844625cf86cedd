//===- BufferedStores.cpp - C through store buffers -----------------------===//
//
// A slot has a part of 64 x 64 elements of C, whose rows of 128 bytes have
// their 16-byte words XORed with the row's number modulo 8. Of 64 columns of B
// and 64 rows of A, lane 4r + q of warp w has sums at columns 16w + 2r and the
// one after it, and of each eight rows of A, a step, at rows 2q and 2q + 1.
//
// Where C is row-major, eight lanes store 16 neighbours of a row, 4 bytes each,
// and the rows of their quads are two apart, so that no bank is met twice.
// Where it is transposed, stmatrix stores eight columns of eight rows of A
// each. These columns are two apart: a slot has the even ones first, then the
// odd ones, for eight rows that follow one another lie in different banks. The
// tensor copy takes C as [2 x n/2 x m] then.
//
//===----------------------------------------------------------------------===//

#include "GPU/Strategies/Warpgroup/BufferedStores.h"

#include "GPU/Copies/TensorAddress.h"
#include "GPU/Strategies/Mma/MmaFragments.h"
#include "GPU/Tile/NamedBarriers.h"
#include "GPU/Tile/SharedMemory.h"

#include "nm/Format/MmaFragments.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

#include <numeric>

using namespace mlir;
using namespace mlir::nm;

/// Rows of A of a step, lanes that have them, and bytes that are swizzled.
static constexpr int64_t kStep = 8, kQuad = 4, kWordBytes = 16;
static constexpr int64_t kSide = StageStoresOp::kSlotSide;
static constexpr int64_t kElementBytes = 2, kRowBytes = kSide * kElementBytes,
                         kSlotBytes = kSide * kRowBytes;

StageStoresOp mlir::nm::findStagedStores(Value view) {
  while (
      isa_and_present<memref::CastOp, memref::SubViewOp>(view.getDefiningOp()))
    view = view.getDefiningOp()->getOperand(0);
  return view.getDefiningOp<StageStoresOp>();
}

static scf::ForallOp getBlocks(Operation *op) {
  return op->getParentOfType<scf::ForallOp>();
}

LogicalResult mlir::nm::verifyStagedTile(StageStoresOp op) {
  if (TensorAddress::isFound(op.getTile(), getBlocks(op)))
    return success();
  return op.emitOpError() << "expected a tile of a tensor outside of the "
                             "blocks, by slices of step 1";
}

namespace {
class BufferedStores {
public:
  BufferedStores(ThreadEmitter &emitter, SpMMOp product, const WgmmaSums &from,
                 StageStoresOp op, Value initial,
                 const std::optional<TileEpilogue> &epilogue,
                 const GpuTile &tile)
      : emitter(emitter), builder(emitter.builder), loc(emitter.loc),
        from(from), op(op), tile(tile), isTransposed(product.getTransposeC()),
        stores(builder, product, op.getTile(), initial, epilogue,
               /*perLine=*/2) {}

  void store();

private:
  /// The dimensions of C's tensor that a tile has rows and columns of; an
  /// epilogue's tile has one of each dimension before.
  int64_t rowDim() const { return place.dims[place.dims.size() - 2]; }
  int64_t columnDim() const { return place.dims.back(); }
  int64_t partsOfM() const { return from.warpgroupM / kSide; }
  /// Blocks of 64 columns that are stored.
  int64_t blocks() const {
    return int64_t(from.sums.size()) /
           (from.warpgroupM * kSide / ::nm::kWarpgroupThreads);
  }
  void findBoxes();
  void findLanes();
  void meet();
  void storePart(ArrayRef<TileLine> lines, Value slot);
  void storeRows(ArrayRef<Value> words, Value slot);
  void storeColumns(ArrayRef<Value> words, Value slot);
  SmallVector<TileLine> getLines(int64_t block, int64_t part);
  void copyPart(int64_t block, int64_t part, Value slot);

  ThreadEmitter &emitter;
  OpBuilder &builder;
  Location loc;
  const WgmmaSums &from;
  StageStoresOp op;
  const GpuTile &tile;
  bool isTransposed;
  TileStores stores;
  /// Whether even columns come first in slots.
  bool splitsColumns = false;
  /// Where C is, and its tensor map.
  TensorAddress place;
  Value map;
  /// Whether the thread starts the warpgroup's copies; the barrier's number.
  Value isStarter, barrier;
  /// The thread's first column of B and row of A, and its places in a slot, in
  /// bytes.
  Value firstN, firstM;
  SmallVector<Value> laneBytes;
};
} // namespace

/// The map of C, in boxes of a slot.
void BufferedStores::findBoxes() {
  place = *TensorAddress::find(emitter, op.getTile(), getBlocks(op));
  auto type = cast<MemRefType>(place.tensor.getType());
  int64_t rows = rowDim();
  splitsColumns =
      isTransposed && !type.isDynamicDim(rows) &&
      type.getDimSize(rows) % 2 == 0 &&
      !ShapedType::isDynamic(type.getStridesAndOffset().first[rows]);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(getBlocks(op));
  SmallVector<int64_t> box(type.getRank(), 1);
  box[rows] = box[columnDim()] = kSide;
  Value tensor = place.tensor;
  if (splitsColumns) {
    box[rows] = kSide / 2;
    box.insert(box.begin() + rows, 2);
    // Whether a column is odd, and its half.
    tensor =
        splitDim(emitter, tensor, rows,
                 {/*outerSize=*/2, /*outerStep=*/1, type.getDimSize(rows) / 2,
                  /*innerStep=*/2});
  }
  map = TensorMapOp::create(builder, loc, tensor, box, /*swizzled=*/true);
}

/// Places that do not change from part to part.
void BufferedStores::findLanes() {
  Value row = emitter.div(from.lane, kQuad),
        quad = emitter.rem(from.lane, kQuad);
  firstN = emitter.add(from.n, emitter.mul(row, 2));
  firstM = emitter.add(from.m, emitter.mul(quad, 2));
  auto swizzle = [&](Value word, Value inEight) {
    return emitter.mul(builder.createOrFold<arith::XOrIOp>(loc, word, inEight),
                       kWordBytes);
  };
  Value warp = emitter.toI32(from.warp), lane = emitter.toI32(from.lane);
  if (!isTransposed) {
    Value r = emitter.toI32(row), q = emitter.toI32(quad);
    Value word = emitter.add(emitter.mul(warp, 2), emitter.div(r, kQuad));
    for (int64_t second : {0, 1}) {
      Value m = emitter.add(emitter.mul(q, 2), second);
      laneBytes.push_back(
          emitter.add(emitter.add(emitter.mul(m, kRowBytes), swizzle(word, m)),
                      emitter.mul(emitter.rem(r, kQuad), 2 * kElementBytes)));
    }
    return;
  }
  // Lanes 8i to 8i + 7 name the rows of matrix i: of even columns, of odd ones,
  // and those of the next step.
  auto [matrix, inEight] = emitter.split(lane, kStep);
  Value odd = emitter.rem(matrix, 2), next = emitter.div(matrix, 2);
  Value inSlot =
      splitsColumns
          ? emitter.add(emitter.mul(odd, kSide / 2),
                        emitter.add(emitter.mul(warp, kStep), inEight))
          : emitter.add(emitter.mul(warp, 2 * kStep),
                        emitter.add(emitter.mul(inEight, 2), odd));
  for (int64_t step = 0; step < kSide / kStep; step += 2)
    laneBytes.push_back(emitter.add(
        emitter.mul(inSlot, kRowBytes),
        swizzle(emitter.add(next, step), emitter.rem(inSlot, kStep))));
}

void BufferedStores::meet() {
  meetAt(emitter, barrier, ::nm::kWarpgroupThreads);
}

/// A part's sums, step by step: pairs of neighbours in C, of the first and of
/// the second row or column.
SmallVector<TileLine> BufferedStores::getLines(int64_t block, int64_t part) {
  constexpr int64_t kSumsOfStep = 4;
  int64_t stepsOfBlock = from.warpgroupM / kStep;
  auto type = VectorType::get(2, from.sums.front().getType());
  SmallVector<TileLine> lines;
  for (int64_t step = part * kSide / kStep; step < (part + 1) * kSide / kStep;
       ++step) {
    // Two of the first column, then two of the one after it.
    ArrayRef<Value> sums = from.sums.slice(
        size_t((block * stepsOfBlock + step) * kSumsOfStep), kSumsOfStep);
    Value n = emitter.add(firstN, block * kSide),
          m = emitter.add(firstM, step * kStep);
    for (size_t second : {0, 1}) {
      int64_t by = int64_t(second);
      Value a = isTransposed ? sums[2 * second] : sums[second],
            b = isTransposed ? sums[2 * second + 1] : sums[2 + second];
      Value pair =
          vector::FromElementsOp::create(builder, loc, type, ValueRange{a, b});
      if (isTransposed)
        lines.push_back({emitter.add(n, by), m, pair});
      else
        lines.push_back({emitter.add(m, by), n, pair});
    }
  }
  return lines;
}

static Value toShared(ThreadEmitter &emitter, Value address) {
  return toPointer(emitter, address, NVVM::NVVMMemorySpace::Shared);
}

/// 4 bytes of each of a thread's rows of A.
void BufferedStores::storeRows(ArrayRef<Value> words, Value slot) {
  for (auto [i, word] : llvm::enumerate(words)) {
    Value at = emitter.add(emitter.add(slot, laneBytes[i % 2]),
                           int64_t(i) / 2 * kStep * kRowBytes);
    LLVM::StoreOp::create(builder, loc, word, toShared(emitter, at),
                          /*alignment=*/sizeof(int32_t));
  }
}

/// Matrices of eight columns and a step each, four at a time.
void BufferedStores::storeColumns(ArrayRef<Value> words, Value slot) {
  constexpr size_t kMatrices = 4;
  auto shape =
      NVVM::LdStMatrixShapeAttr::get(builder.getContext(), kStep, kStep);
  for (size_t i = 0; i < words.size(); i += kMatrices) {
    Value at = emitter.add(slot, laneBytes[i / kMatrices]);
    NVVM::StMatrixOp::create(builder, loc, toShared(emitter, at),
                             words.slice(i, kMatrices), NVVM::MMALayout::row,
                             shape, NVVM::LdStMatrixEltType::B16);
  }
}

void BufferedStores::storePart(ArrayRef<TileLine> lines, Value slot) {
  SmallVector<Value> words;
  for (Value line : stores.complete(lines, tile))
    words.push_back(emitter.words(line).front());
  if (isTransposed)
    storeColumns(words, slot);
  else
    storeRows(words, slot);
}

void BufferedStores::copyPart(int64_t block, int64_t part, Value slot) {
  SmallVector<Value> at = place.at;
  int64_t dimOfM = isTransposed ? columnDim() : rowDim(),
          dimOfN = isTransposed ? rowDim() : columnDim();
  at[dimOfM] = emitter.add(emitter.add(at[dimOfM], from.m), part * kSide);
  at[dimOfN] = emitter.add(emitter.add(at[dimOfN], from.groupN), block * kSide);
  if (splitsColumns) {
    at[dimOfN] = emitter.div(at[dimOfN], 2);
    at.insert(at.begin() + dimOfN, emitter.index(0));
  }
  // The innermost dimension first.
  SmallVector<Value> coordinates;
  for (Value coordinate : llvm::reverse(at))
    coordinates.push_back(emitter.toI32(coordinate));
  Value address = TensorMapAddressOp::create(
      builder, loc, LLVM::LLVMPointerType::get(builder.getContext()), map);
  NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp::create(
      builder, loc, address, toShared(emitter, slot), coordinates,
      /*l2CacheHint=*/Value(), NVVM::TMAStoreMode::TILE, /*predicate=*/Value());
  NVVM::CpAsyncBulkCommitGroupOp::create(builder, loc);
}

void BufferedStores::store() {
  findBoxes();
  findLanes();
  // Of the parts of each tile, the first is in the first slot.
  int64_t parts = blocks() * partsOfM(),
          slots = std::gcd(op.countSlots(), parts);
  Value group = emitter.toI32(from.group);
  barrier = emitter.add(group, kFirstStoreBarrier);
  isStarter = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                    from.thread, emitter.index(0));
  Value memory = emitter.toI32(
      getElementAddress(emitter, flattenBuffer(emitter, op.getSlots())));
  Value first =
      emitter.add(memory, emitter.mul(group, op.countSlots() * kSlotBytes));
  // What an epilogue reads for a part is on its way while the part before it is
  // stored.
  auto begin = [&](int64_t number) {
    SmallVector<TileLine> lines =
        getLines(number / partsOfM(), number % partsOfM());
    stores.readAhead(lines);
    return lines;
  };
  SmallVector<TileLine> lines = begin(0), next;
  for (int64_t number = 0; number < parts; ++number, lines = next) {
    if (number + 1 < parts)
      next = begin(number + 1);
    int64_t block = number / partsOfM(), part = number % partsOfM();
    Value slot = emitter.add(first, number % slots * kSlotBytes);
    // Of the copies that were started, all but the last few have read theirs.
    emitter.onlyIf(isStarter, [&] {
      NVVM::CpAsyncBulkWaitGroupOp::create(builder, loc, uint32_t(slots - 1),
                                           /*read=*/builder.getUnitAttr());
    });
    meet();
    storePart(lines, slot);
    fenceAsyncProxy(builder, loc);
    meet();
    emitter.onlyIf(isStarter, [&] { copyPart(block, part, slot); });
  }
}

void mlir::nm::storeThroughBuffers(ThreadEmitter &emitter, SpMMOp product,
                                   const WgmmaSums &sums, StageStoresOp op,
                                   Value initial,
                                   const std::optional<TileEpilogue> &epilogue,
                                   const GpuTile &tile) {
  BufferedStores(emitter, product, sums, op, initial, epilogue, tile).store();
}

void mlir::nm::awaitBufferedStores(RewriterBase &rewriter, WarpsOp role) {
  bool hasSlots = false;
  role.walk([&](StageStoresOp op) { hasSlots = true; });
  if (!hasSlots)
    return;
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToEnd(&role.getBody().front());
  ThreadEmitter emitter{rewriter, role.getLoc()};
  Value thread =
      gpu::ThreadIdOp::create(rewriter, role.getLoc(), gpu::Dimension::x);
  Value isStarter = arith::CmpIOp::create(
      rewriter, role.getLoc(), arith::CmpIPredicate::eq,
      emitter.rem(thread, ::nm::kWarpgroupThreads), emitter.index(0));
  emitter.onlyIf(isStarter, [&] {
    NVVM::CpAsyncBulkWaitGroupOp::create(rewriter, role.getLoc(), /*group=*/0,
                                         /*read=*/rewriter.getUnitAttr());
  });
  role.walk([&](StageStoresOp op) { rewriter.replaceOp(op, op.getTile()); });
}
