//===- WarpgroupExpansion.cpp - Tiles that warpgroups multiply ------------===//

#include "GPU/Strategies/Warpgroup/WarpgroupExpansion.h"

#include "GPU/Strategies/Warpgroup/BufferedStores.h"
#include "GPU/Strategies/Warpgroup/ExactSums.h"
#include "GPU/Sums/SharedSums.h"

#include "nm/Format/MmaFragments.h"

using namespace mlir;
using namespace mlir::nm;

/// Bytes of the widest store.
static constexpr int64_t kStoreBytes = 16;
/// Words between rows of sums in shared memory: of single sums, and of pairs.
static constexpr int64_t kPadding = 4, kPaddingOfPairs = 8;

SmallVector<Value> WarpgroupExpansion::begin(OpBuilder &builder, Location loc) {
  ThreadEmitter emitter{builder, loc};
  Value group = source->begin(builder, loc);
  accumulation = Accumulation::create(builder, loc, *source, group);
  return accumulation->begin(emitter);
}

SmallVector<Value> WarpgroupExpansion::expand(OpBuilder &builder,
                                              SparseProductOpInterface product,
                                              ArrayRef<Value> sums) {
  auto op = cast<SpMMOp>(*product);
  ThreadEmitter emitter{builder, op.getLoc()};
  source->open(emitter, op);
  return accumulation->add(emitter, op, sums);
}

SmallVector<Value> WarpgroupExpansion::recompute(OpBuilder &builder,
                                                 RecomputeFromOp op,
                                                 ArrayRef<Value> sums) {
  ThreadEmitter emitter{builder, op.getLoc()};
  return remakeSums(emitter, op, source->getFragment(emitter, {}), sums);
}

//===----------------------------------------------------------------------===//
// C
//===----------------------------------------------------------------------===//

/// Puts a thread's sums, pairs along m, to their places in C's tile.
static void share(ThreadEmitter &emitter, const WgmmaSums &from,
                  bool isTransposed, SharedSums &shared) {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  int64_t sumsPerBlock =
      from.warpgroupM * ::nm::kWarpgroupM / ::nm::kWarpgroupThreads;
  // Of the thread's first sum.
  Value n = emitter.add(from.n, emitter.div(from.lane, 4)),
        m = emitter.add(from.m, emitter.mul(emitter.rem(from.lane, 4), 2));
  int64_t perLine = isTransposed ? 2 : 1;
  auto type = VectorType::get(perLine, from.sums.front().getType());
  for (int64_t i = 0; i < int64_t(from.sums.size()); i += perLine) {
    int64_t block = i / sumsPerBlock, inBlock = i % sumsPerBlock;
    // As far from the first as in the first thread.
    ::nm::FragmentOffset place =
        ::nm::getWarpgroupSumOffset(/*thread=*/0, static_cast<int>(inBlock));
    Value row = emitter.add(n, block * ::nm::kWarpgroupM + place.row),
          column = emitter.add(m, place.column);
    Value line = vector::FromElementsOp::create(builder, loc, type,
                                                from.sums.slice(i, perLine));
    if (isTransposed)
      shared.put(row, column, line);
    else
      shared.put(column, row, line);
  }
}

/// Stores sums of whole rows of C's tile, which are put together in shared
/// memory, that of the operands.
static void storeShared(ThreadEmitter &emitter, SpMMOp op,
                        const WgmmaSums &fragment, Value thread, Value c,
                        Value initial,
                        const std::optional<TileEpilogue> &epilogue,
                        const GpuTile &tile) {
  bool isTransposed = op.getTransposeC();
  // Stores of a fragment meet no bank twice: lanes that differ by 4 have
  // neighbouring n, and neighbours have m two apart.
  SharedSums shared(emitter, isTransposed ? tile.n : tile.m,
                    isTransposed ? tile.m : tile.n,
                    isTransposed ? kPaddingOfPairs : kPadding,
                    fragment.sums.front().getType(), tile.clusterK);
  share(emitter, fragment, isTransposed, shared);
  shared.meet();
  Type stored =
      cast<MemRefType>(epilogue ? epilogue->getC().getType() : c.getType())
          .getElementType();
  int64_t perLine = kStoreBytes * 8 / stored.getIntOrFloatBitWidth();
  TileStores stores(emitter.builder, op, c, initial, epilogue, perLine);
  shared.storeTo(stores, tile, thread, perLine);
}

void WarpgroupExpansion::end(OpBuilder &builder,
                             SparseProductOpInterface product,
                             ArrayRef<Value> sums, Value initial) {
  auto op = cast<SpMMOp>(*product);
  ThreadEmitter emitter{builder, op.getLoc()};
  // What is stored, before an epilogue and behind it.
  Value c = sharedC ? sharedC : Value(op.getC()),
        stored = epilogue ? epilogue->getC() : c;
  if (source->store(emitter, op, sums, c, initial, epilogue))
    return;
  // Without other roles, the sums may not be complete, and the memory of the
  // operands is free.
  bool hasRoles = op.getScheduleAttr().getTiling().producers != 0;
  SmallVector<Value> made(sums);
  if (!hasRoles)
    made = complete(builder, op.getLoc(), sums);
  WgmmaSums fragment = source->getFragment(emitter, made);
  if (!hasRoles)
    storeShared(emitter, op, fragment, source->thread, c, initial, epilogue,
                source->tile);
  else if (StageStoresOp staged = findStagedStores(stored))
    storeThroughBuffers(emitter, op, fragment, staged, initial, epilogue,
                        source->tile);
  else
    storeWgmmaSums(emitter, op, fragment, stored, initial, epilogue,
                   source->tile);
}
