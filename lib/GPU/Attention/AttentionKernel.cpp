//===- AttentionKernel.cpp - The kernel of an attention -------------------===//
//
// Tri Dao's FlashAttention-2: a warp has 16 rows, and each quad of lanes two of
// them, so that a row's largest score takes two shuffles, and the sums of the
// first product have the places of the second one's operand. By wgmma, as
// FlashAttention-3 has it, the products with a tile's values are made beside
// the exponentials of the next one.
//
//===----------------------------------------------------------------------===//

#include "GPU/Attention/AttentionKernel.h"

#include "GPU/Attention/AttentionParts.h"
#include "GPU/Attention/AttentionPlace.h"
#include "GPU/Attention/AttentionScores.h"
#include "GPU/Attention/MmaAttention.h"
#include "GPU/Attention/WarpgroupAttention.h"
#include "GPU/Sums/CompleteSums.h"
#include "GPU/Tile/CreateLaunch.h"
#include "GPU/Tile/SharedMemory.h"

#include "nm/Dialect/NM/IR/Chip.h"
#include "nm/Dialect/NM/IR/KeyParts.h"
#include "nm/Support/Warp.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::nm;

using ::nm::kWarpSize;

namespace {
class AttentionKernel {
public:
  AttentionKernel(OpBuilder &builder, AttentionOp op)
      : builder(builder), loc(op.getLoc()), e{builder, loc}, place(e, op),
        hasFewRows(place.hasFewRows()), tiles(createTiles()),
        scores(e, place, *tiles), rows(scores.rows) {}

  /// In how many parts blocks have the keys of a head.
  Value splitKeys();
  /// As splitKeys says, or with `given` parts of rows that are not few.
  void launch(Value given = {});

private:
  using Operand = AttentionPlace::Operand;
  using Values = SmallVector<Value>;

  using State = AttentionState;

  /// Between a tile's scores and its products with values, which are made in
  /// the next one's turn: the words of its exponentials.
  struct Turn {
    State state;
    Values powers;

    Values flatten() const {
      Values all = state.flatten();
      llvm::append_range(all, powers);
      return all;
    }
  };

  int64_t countSquares();
  std::unique_ptr<AttentionTiles> createTiles();
  int64_t countWarps() const { return tiles->countThreads() / kWarpSize; }
  int64_t getBlockRows() const {
    return hasFewRows ? kSquareSide
                      : kSquareSide * tiles->countSquares() * countWarps();
  }
  Value times(Value a, Value b) {
    return arith::MulFOp::create(builder, loc, a, b);
  }
  /// a / b, rounded up; b is not zero.
  Value ceilDiv(Value a, Value b) {
    return builder.createOrFold<arith::DivUIOp>(
        loc, e.sub(e.add(a, b), e.constant(b, 1)), b);
  }
  Value countParts();
  bool takesHeadsInTurns();
  Value findTile(Value turn, Value count);
  void placeBlock(Value block);
  void placeRows();
  void findKeys();
  void copy(Operand operand, Value first, Value stage);
  State runTiles();
  State addTile(const State &before, Value tile, Value stage);
  State runTurns();
  void awaitCopies();
  void copyForTurn(Value tile, Value stage);
  Turn startTurns();
  Turn addTurn(Turn before, Value tile, Value stage);
  State finishTurns(Turn last, Value stage);
  void store(const State &state);

  OpBuilder &builder;
  Location loc;
  ThreadEmitter e;
  AttentionPlace place;
  const bool hasFewRows;
  /// `tiles` as the class that it is; the other pointer is null.
  MmaAttention *mma = nullptr;
  WarpgroupAttention *warpgroup = nullptr;
  const std::unique_ptr<AttentionTiles> tiles;
  AttentionScores scores;
  Value splits, blockTiles;
  /// Where blocks, or warps, have parts of a head's keys.
  std::optional<AttentionParts> parts;
  /// In the kernel: the block's, all i32.
  Value split, head, firstKey;
  AttentionPlace::Place ofHead;
  std::optional<MmaLane> lane;
  /// The block's and the lane's.
  AttentionRows &rows;
};
} // namespace

/// Two where results are so wide that a warp's reads of keys and values bound
/// it, which more rows share, and blocks are enough all the same.
int64_t AttentionKernel::countSquares() {
  constexpr int64_t kWide = 64, kBlocks = 512;
  if (hasFewRows || std::max(place.getDepth(), place.getWidth()) <= kWide)
    return 1;
  std::optional<int64_t> heads = place.countStatic(place.loops.batches),
                         rowsOfHead = place.countStatic(place.loops.rows);
  return heads && rowsOfHead &&
                 *heads * *rowsOfHead >=
                     kBlocks * 2 * kSquareSide * MmaAttention::kWarps
             ? 2
             : 1;
}

std::unique_ptr<AttentionTiles> AttentionKernel::createTiles() {
  ChipAttr chip = findChipAttr(place.op);
  if (!hasFewRows && chip && chip.getChip().hasWgmma) {
    auto made = std::make_unique<WarpgroupAttention>(e, place);
    warpgroup = made.get();
    return made;
  }
  auto made =
      std::make_unique<MmaAttention>(e, place, countSquares(), hasFewRows);
  mma = made.get();
  return made;
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// As countKeyParts, of sizes that are known where the program runs.
Value AttentionKernel::countParts() {
  Value seen =
      place.op.getCausal() ? e.least(place.keys, place.rows) : place.keys;
  auto emitted = [&](Value value) { return EmittedIndex{&e, value}; };
  return KeyParts::count(emitted(place.heads), emitted(place.allRows),
                         emitted(seen))
      .value;
}

Value AttentionKernel::splitKeys() {
  if (!hasFewRows)
    return mayHaveKeyParts(place.op) ? countParts()
                                     : e.index(countKeyParts(place.op));
  Value one = e.index(1);
  Value heads = arith::MaxUIOp::create(builder, loc, place.heads, one);
  Value wanted =
      builder.createOrFold<arith::DivUIOp>(loc, e.index(kBlocksAtOnce), heads);
  Value most = e.ceilDiv(place.keys, kKeysOfPart);
  Value count = e.least(e.least(wanted, most), e.index(kMostKeyParts));
  return arith::MaxUIOp::create(builder, loc, count, one);
}

/// Blocks of several heads whose rows see the most keys begin together: keys
/// and values of all heads are in the second-level cache.
bool AttentionKernel::takesHeadsInTurns() {
  constexpr int64_t kMostBytes = int64_t(32) << 20, kElementBytes = 2;
  const AttentionLoops &loops = place.loops;
  std::optional<int64_t> heads = place.countStatic(loops.batches),
                         keys = place.countStatic(loops.keys);
  int64_t columns = place.getDepth() + place.getWidth();
  return place.op.getCausal() && heads && keys &&
         *heads * *keys * columns * kElementBytes <= kMostBytes;
}

/// The tile of the rows that see the most keys for block `number`'s turn 0, and
/// so on. Where all blocks run at once, two on a multiprocessor, the second
/// half of the turns goes the other way: 8 tiles take 7 0, 6 1, 5 2 and 4 3,
/// and not 7 3, 6 2, 5 1 and 4 0.
Value AttentionKernel::findTile(Value turn, Value count) {
  Value tile = e.sub(e.sub(count, e.i32(1)), turn);
  std::optional<int64_t> tiles = getConstantIntValue(blockTiles),
                         heads = place.countStatic(place.loops.batches);
  if (!takesHeadsInTurns() || !tiles || getConstantIntValue(splits) != 1 ||
      *tiles * *heads > kBlocksAtOnce)
    return tile;
  Value half = e.i32(llvm::divideCeil(*tiles, 2));
  return arith::SelectOp::create(builder, loc, e.less(turn, half), tile,
                                 e.sub(turn, half));
}

void AttentionKernel::placeBlock(Value block) {
  Value number = e.toI32(block), tiles = e.toI32(blockTiles),
        heads = e.toI32(place.heads);
  auto take = [&](Value count) -> Value {
    Value taken = arith::RemUIOp::create(builder, loc, number, count);
    number = arith::DivUIOp::create(builder, loc, number, count);
    return taken;
  };
  Value turn;
  if (takesHeadsInTurns()) {
    head = take(heads);
    turn = take(tiles);
  } else {
    turn = take(tiles);
    head = take(heads);
  }
  split = number;
  Value tile = place.op.getCausal() ? findTile(turn, tiles) : turn;
  rows.first = e.mul(tile, getBlockRows());
}

void AttentionKernel::placeRows() {
  Value last = e.sub(e.toI32(place.allRows), e.i32(1));
  Value first = rows.first;
  if (!hasFewRows)
    first =
        e.add(first, e.mul(lane->warp, tiles->countSquares() * kSquareSide));
  for (int64_t number = 0; number < scores.countRows(); ++number) {
    Value row = e.add(e.add(first, lane->row), number * kMatrixSide);
    rows.listed.push_back(row);
    AttentionPlace::Place own = place.createPlace();
    place.putHead(own, head);
    // A row behind the last one does as that, but stores nothing.
    rows.numbers.push_back(place.putRow(own, e.least(row, last)));
    rows.places.push_back(own);
  }
}

/// The keys that the block goes over.
void AttentionKernel::findKeys() {
  firstKey = e.i32(0);
  rows.endKey = place.countKeys(ofHead);
  if (place.op.getCausal()) {
    AttentionPlace::Place unused = place.createPlace();
    Value last = e.least(e.add(rows.first, getBlockRows() - 1),
                         e.sub(e.toI32(place.allRows), e.i32(1)));
    rows.endKey = e.least(rows.endKey, e.add(place.putRow(unused, last), 1));
  }
  if (!parts)
    return;
  Value parts = e.toI32(splits);
  Value part = ceilDiv(rows.endKey, parts);
  part = e.mul(e.ceilDiv(part, tiles->countKeys()), tiles->countKeys());
  firstKey =
      e.least(arith::MulIOp::create(builder, loc, part, split).getResult(),
              rows.endKey);
  rows.endKey = e.least(rows.endKey, e.add(firstKey, part));
}

//===----------------------------------------------------------------------===//
// By mma.sync
//===----------------------------------------------------------------------===//

void AttentionKernel::copy(Operand operand, Value first, Value stage) {
  tiles->copyTile(operand, ofHead, first, rows.endKey, stage);
}

AttentionKernel::State AttentionKernel::addTile(const State &before,
                                                Value first, Value stage) {
  Values products = mma->multiplyKeys(stage);
  Value own = first;
  if (hasFewRows)
    own = e.add(own, e.mul(lane->warp, mma->countWarpKeys()));
  State after;
  after.sums = before.sums;
  scores.scale(after.sums, scores.add(before, products, first, own, after));
  mma->multiplyValues(stage, products, after.sums);
  return after;
}

AttentionKernel::State AttentionKernel::runTiles() {
  auto copyBoth = [&](Value first, Value stage) {
    copy(AttentionPlace::K, first, stage);
    copy(AttentionPlace::V, first, stage);
  };
  e.onlyIf(e.less(firstKey, rows.endKey),
           [&] { copyBoth(firstKey, e.i32(0)); });
  NVVM::CpAsyncCommitGroupOp::create(builder, loc);
  Values carried = scores.clear().flatten();
  carried.push_back(e.i32(0));
  auto loop = scf::ForOp::create(builder, loc, firstKey, rows.endKey,
                                 e.i32(tiles->countKeys()), carried);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value first = loop.getInductionVar(), stage = loop.getRegionIterArgs().back();
  mma->awaitTile();
  Value next = e.add(first, tiles->countKeys()), other = e.sub(e.i32(1), stage);
  e.onlyIf(e.less(next, rows.endKey), [&] { copyBoth(next, other); });
  NVVM::CpAsyncCommitGroupOp::create(builder, loc);
  State state = addTile(
      State::get(loop.getRegionIterArgs().drop_back(), scores.countRows()),
      first, stage);
  Values results = state.flatten();
  results.push_back(other);
  scf::YieldOp::create(builder, loc, results);
  return State::get(loop.getResults().drop_back(), scores.countRows());
}

//===----------------------------------------------------------------------===//
// By wgmma
//===----------------------------------------------------------------------===//

/// All threads' copies are complete, products see them, and all warps are done
/// with what they read before.
void AttentionKernel::awaitCopies() {
  NVVM::CpAsyncWaitGroupOp::create(builder, loc, 0);
  fenceAsyncProxy(builder, loc);
  gpu::BarrierOp::create(builder, loc);
}

/// Copies a tile's values to its stage, and the keys of the next tile, where
/// there is one, to the other.
void AttentionKernel::copyForTurn(Value tile, Value stage) {
  Value next = e.add(tile, tiles->countKeys());
  e.onlyIf(e.less(next, rows.endKey),
           [&] { copy(AttentionPlace::K, next, e.sub(e.i32(1), stage)); });
  copy(AttentionPlace::V, tile, stage);
  NVVM::CpAsyncCommitGroupOp::create(builder, loc);
}

/// The scores of the first tile, whose values are on their way.
AttentionKernel::Turn AttentionKernel::startTurns() {
  Value stage = e.i32(0);
  copy(AttentionPlace::K, firstKey, stage);
  NVVM::CpAsyncCommitGroupOp::create(builder, loc);
  awaitCopies();
  copyForTurn(firstKey, stage);
  warpgroup->fence({});
  Values products = warpgroup->startKeys(stage);
  warpgroup->commit();
  warpgroup->await(/*pending=*/0, products);
  State none = scores.clear(), state;
  scores.add(none, products, firstKey, firstKey, state);
  state.sums = none.sums;
  return {state, tiles->packPowers(products)};
}

/// The scores of a tile, and the products of the powers of the tile before and
/// its values, which are in the other stage; then the tile's own powers.
AttentionKernel::Turn AttentionKernel::addTurn(Turn before, Value tile,
                                               Value stage) {
  Values &sums = before.state.sums;
  warpgroup->fence({&sums, &before.powers});
  Values products = warpgroup->startKeys(stage);
  warpgroup->commit();
  warpgroup->startValues(e.sub(e.i32(1), stage), before.powers, sums);
  warpgroup->commit();
  warpgroup->await(/*pending=*/1, products);
  State after;
  Values factors = scores.add(before.state, products, tile, tile, after);
  // The exponentials are made beside the products with values. Packed they are
  // operands, which ptxas wants made while no product runs.
  products = completeSums(builder, loc, products);
  warpgroup->await(/*pending=*/0, sums);
  scores.scale(sums, factors);
  after.sums = sums;
  return {after, tiles->packPowers(products)};
}

/// The products of the last tile's powers and values.
AttentionKernel::State AttentionKernel::finishTurns(Turn last, Value stage) {
  awaitCopies();
  Values &sums = last.state.sums;
  warpgroup->fence({&sums, &last.powers});
  warpgroup->startValues(stage, last.powers, sums);
  warpgroup->commit();
  warpgroup->await(/*pending=*/0, sums);
  return last.state;
}

AttentionKernel::State AttentionKernel::runTurns() {
  auto run = [&]() -> Values {
    Turn first = startTurns();
    size_t ofState = first.state.flatten().size();
    auto get = [&](ValueRange all) {
      return Turn{State::get(all.take_front(ofState), scores.countRows()),
                  Values(all.drop_front(ofState).drop_back())};
    };
    Value other = e.i32(1);
    Values carried = first.flatten();
    carried.push_back(other);
    auto loop =
        scf::ForOp::create(builder, loc, e.add(firstKey, tiles->countKeys()),
                           rows.endKey, e.i32(tiles->countKeys()), carried);
    {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(loop.getBody());
      ValueRange all = loop.getRegionIterArgs();
      Value tile = loop.getInductionVar(), stage = all.back();
      awaitCopies();
      copyForTurn(tile, stage);
      Values results = addTurn(get(all), tile, stage).flatten();
      results.push_back(e.sub(other, stage));
      scf::YieldOp::create(builder, loc, results);
    }
    ValueRange all = loop.getResults();
    return finishTurns(get(all), e.sub(other, all.back())).flatten();
  };
  Values none = scores.clear().flatten();
  return State::get(e.choose(e.less(firstKey, rows.endKey), run, none),
                    scores.countRows());
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

void AttentionKernel::store(const State &state) {
  int64_t pairs = place.getWidth() / kMatrixSide;
  for (int64_t row = 0; row < scores.countRows(); ++row) {
    Value total = state.totals[row];
    Values sums;
    for (int64_t i = 0; i < pairs; ++i)
      for (int64_t k : {0, 1})
        sums.push_back(
            state.sums[(row / 2 * pairs + i) * kMmaSums + row % 2 * 2 + k]);
    Value inverse = parts ? Value() : emitInverse(e, total);
    e.onlyIf(e.less(rows.listed[row], e.toI32(place.allRows)), [&] {
      if (parts)
        return parts->storePart(*lane, split, head, rows.listed[row], sums,
                                state.most[row], total);
      for (int64_t i = 0; i < pairs; ++i)
        tiles->storePair(
            rows.places[row], i,
            {times(sums[2 * i], inverse), times(sums[2 * i + 1], inverse)});
    });
  }
}

void AttentionKernel::launch(Value given) {
  OpBuilder::InsertionGuard guard(builder);
  blockTiles = e.ceilDiv(place.allRows, getBlockRows());
  splits = given ? given : splitKeys();
  Value blocks = e.mul(e.mul(splits, place.heads), blockTiles);
  if (hasFewRows || getConstantIntValue(splits) != 1)
    parts.emplace(e, place, splits);
  int64_t bytes =
      std::max(tiles->getBytes(),
               hasFewRows ? AttentionParts::getBytes(place.getWidth()) : 0);
  gpu::LaunchOp launch =
      createLaunch(builder, loc, blocks, tiles->countThreads(), bytes);
  Value thread = launch.getThreadIds().x;
  lane.emplace(e, thread);
  placeBlock(launch.getBlockIds().x);
  placeRows();
  ofHead = place.createPlace();
  place.putHead(ofHead, head);
  findKeys();
  tiles->begin(*lane, thread);
  tiles->loadQueries(rows.places);
  State state = mma ? runTiles() : runTurns();
  for (Value &total : state.totals)
    total = scores.overQuad(total, [&](Value a, Value b) {
      return arith::AddFOp::create(builder, loc, a, b);
    });
  if (!parts)
    return store(state);
  // In exponents of two, whatever scores are.
  for (Value &most : state.most)
    most = times(most, e.f32(scores.getFactor()));
  if (hasFewRows)
    parts->addWarps(*lane, tiles->getMemory(), split, head, state.sums,
                    state.most, state.totals);
  else
    store(state);
  builder.setInsertionPointAfter(launch);
  parts->launch();
}

void mlir::nm::launchAttention(OpBuilder &builder, AttentionOp op) {
  if (!mayHaveKeyParts(op))
    return AttentionKernel(builder, op).launch();
  // A kernel whose blocks have whole heads stores results right away.
  Location loc = op.getLoc();
  Value one = arith::ConstantIndexOp::create(builder, loc, 1),
        splits = AttentionKernel(builder, op).splitKeys();
  auto branches = scf::IfOp::create(
      builder, loc,
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ugt, splits,
                            one),
      /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branches.thenBlock());
  AttentionKernel(builder, op).launch(splits);
  builder.setInsertionPointToStart(branches.elseBlock());
  AttentionKernel(builder, op)
      .launch(arith::ConstantIndexOp::create(builder, loc, 1));
}
