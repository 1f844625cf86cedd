//===- Accumulation.cpp - How warpgroups keep sums ------------------------===//
//
// Of the products of split floats those are made that f32 has bits for, the
// smallest first, on the tensor cores. These cut off what their sums have no
// bits for: the sums of a tile start at zero, and are then added, rounded, to
// others. With error compensation, sums are of 16 rows, and what was cut off is
// added, too.
//
//===----------------------------------------------------------------------===//

#include "GPU/Strategies/Warpgroup/Accumulation.h"

#include "GPU/Sums/CompleteSums.h"
#include "GPU/Sums/TileStores.h"

#include "nm/Format/SplitFloats.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::nm;

/// The pairs of splits whose products make up for a product of values of
/// `splits` splits, in the order in which they are summed, the smallest first.
static ArrayRef<SplitPair> getSplitPairs(int64_t splits) {
  static const SplitPair pairs[] = {{2, 0}, {0, 2}, {1, 1},
                                    {1, 0}, {0, 1}, {0, 0}};
  static const size_t counts[::nm::kMaxSplits] = {1, 3, 6};
  return ArrayRef(pairs).take_back(counts[splits - 1]);
}

/// What products have made of `blocks`, structs of sums or single ones, one by
/// one. Whatever uses them stays behind the wait before, which does not say
/// that it makes them.
static SmallVector<Value> extractSums(OpBuilder &builder, Location loc,
                                      ArrayRef<Value> blocks) {
  SmallVector<Value> sums;
  for (Value block : blocks) {
    auto type = dyn_cast<LLVM::LLVMStructType>(block.getType());
    if (!type)
      sums.push_back(block);
    for (int64_t i = 0; type && i < int64_t(type.getBody().size()); ++i)
      sums.push_back(LLVM::ExtractValueOp::create(builder, loc, block,
                                                  ArrayRef<int64_t>{i}));
  }
  return completeSums(builder, loc, sums);
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

void Accumulation::multiply(ThreadEmitter &emitter, const SumsPart &part,
                            MutableArrayRef<Value> sums, SumsUse first) {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  int64_t steps = source.countSteps(), number = 0;
  int64_t atOnce = source.readsRegisters()
                       ? source.stepsAtOnce(part)
                       : steps * int64_t(getSplitPairs(source.splits).size());
  for (SplitPair pair : getSplitPairs(source.splits))
    for (int64_t step = 0; step < steps; ++step, ++number) {
      bool isFirst = number % atOnce == 0;
      if (isFirst && number != 0)
        turns.await(builder, loc);
      source.prepare(emitter, part, step);
      // The registers that were filled are seen by the instructions behind it.
      if (isFirst)
        turns.start(builder, loc);
      else if (source.readsRegisters())
        NVVM::WgmmaFenceAlignedOp::create(builder, loc);
      source.multiply(emitter, part, step, pair, sums,
                      number == 0 ? first : SumsUse::Add);
    }
  turns.await(builder, loc);
}

//===----------------------------------------------------------------------===//
// In place
//===----------------------------------------------------------------------===//

namespace {
class SumsInPlace : public Accumulation {
public:
  SumsInPlace(OperandSource &source, ProductOrder turns)
      : Accumulation(source, turns) {}

  SmallVector<Value> begin(ThreadEmitter &emitter) override;
  SmallVector<Value> add(ThreadEmitter &emitter, SpMMOp op,
                         ArrayRef<Value> sums) override;
  SmallVector<Value> complete(OpBuilder &builder, Location loc,
                              ArrayRef<Value> sums) override;
};
} // namespace

SmallVector<Value> SumsInPlace::begin(ThreadEmitter &emitter) {
  return llvm::map_to_vector(
      source.typesOf(source.whole()), [&](Type type) -> Value {
        return LLVM::ZeroOp::create(emitter.builder, emitter.loc, type);
      });
}

/// Whether the tile of A, which copies of the next tile overwrite, is released
/// behind `op`, wherever the release stands.
static bool isReleased(SpMMOp op) {
  return llvm::any_of(op.getA().getUsers(), llvm::IsaPred<ReleaseOp>);
}

/// The products may be in flight until the next tile's are, unless the operands
/// that they read are released before.
SmallVector<Value> SumsInPlace::add(ThreadEmitter &emitter, SpMMOp op,
                                    ArrayRef<Value> sums) {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  SmallVector<Value> result(sums);
  if (source.readsRegisters()) {
    multiply(emitter, source.whole(), result, SumsUse::Add);
    return result;
  }
  NVVM::WgmmaFenceAlignedOp::create(builder, loc);
  for (int64_t step = 0; step < source.countSteps(); ++step)
    source.multiply(emitter, source.whole(), step, SplitPair(), result,
                    SumsUse::Add);
  NVVM::WgmmaGroupSyncAlignedOp::create(builder, loc);
  NVVM::WgmmaWaitGroupSyncOp::create(builder, loc, isReleased(op) ? 0 : 1);
  return result;
}

SmallVector<Value> SumsInPlace::complete(OpBuilder &builder, Location loc,
                                         ArrayRef<Value> sums) {
  if (!source.readsRegisters())
    awaitProducts(builder, loc);
  return extractSums(builder, loc, sums);
}

//===----------------------------------------------------------------------===//
// Promoted
//===----------------------------------------------------------------------===//

namespace {
class PromotedSums : public Accumulation {
public:
  PromotedSums(OperandSource &source, ProductOrder turns)
      : Accumulation(source, turns) {}

  SmallVector<Value> begin(ThreadEmitter &emitter) override {
    SumsPart whole = source.whole();
    return SmallVector<Value>(whole.blocks * whole.sumsPerBlock(),
                              emitter.zero(source.sum));
  }
  SmallVector<Value> add(ThreadEmitter &emitter, SpMMOp op,
                         ArrayRef<Value> sums) override;
  SmallVector<Value> complete(OpBuilder &, Location,
                              ArrayRef<Value> sums) override {
    return SmallVector<Value>(sums);
  }

private:
  /// Sums that the first product makes, of values that are undefined.
  SmallVector<Value> getUnmade(ThreadEmitter &emitter, const SumsPart &part);
  void promote(ThreadEmitter &emitter, const SumsPart &part,
               ArrayRef<Value> sums, MutableArrayRef<Value> promoted,
               float sign = 1);
  void addCompensated(ThreadEmitter &emitter, MutableArrayRef<Value> promoted);
};
} // namespace

SmallVector<Value> PromotedSums::getUnmade(ThreadEmitter &emitter,
                                           const SumsPart &part) {
  return llvm::map_to_vector(source.typesOf(part), [&](Type type) -> Value {
    return LLVM::UndefOp::create(emitter.builder, emitter.loc, type);
  });
}

/// Adds `sums`, of `part`, times `sign` to `promoted`, of the warpgroup's tile.
void PromotedSums::promote(ThreadEmitter &emitter, const SumsPart &part,
                           ArrayRef<Value> sums,
                           MutableArrayRef<Value> promoted, float sign) {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  Value scale;
  if (source.splits > 1)
    scale = arith::ConstantOp::create(
        builder, loc, builder.getF32FloatAttr(sign * ::nm::kSplitProductScale));
  int64_t perBlock = part.sumsPerBlock(),
          perWholeBlock = source.whole().sumsPerBlock();
  int64_t before = SumsPart{0, part.firstRow, 0, 0}.sumsPerBlock();
  for (auto [i, sum] : llvm::enumerate(sums)) {
    int64_t block = part.firstBlock + int64_t(i) / perBlock;
    Value &total =
        promoted[block * perWholeBlock + before + int64_t(i) % perBlock];
    total = scale ? LLVM::FMAOp::create(builder, loc, sum, scale, total)
                  : addSums(builder, loc, total, sum);
  }
}

/// For each step, the sum s of the products of first splits is added to the
/// total. Then s less these products, which is minus what was cut off s, less
/// all smaller products is made in the registers of s, and subtracted from the
/// total. This difference is small, so that what is cut off it does not matter.
void PromotedSums::addCompensated(ThreadEmitter &emitter,
                                  MutableArrayRef<Value> promoted) {
  OpBuilder &builder = emitter.builder;
  Location loc = emitter.loc;
  ArrayRef<SplitPair> pairs = getSplitPairs(source.splits);
  SumsPart whole = source.whole();
  SmallVector<Value> unmade = getUnmade(emitter, whole);
  for (int64_t step = 0; step < source.countSteps(); ++step) {
    SmallVector<Value> blocks(unmade);
    auto multiply = [&](SplitPair pair, SumsUse use) {
      source.multiply(emitter, whole, step, pair, blocks, use);
    };
    turns.start(builder, loc);
    multiply(pairs.back(), SumsUse::Make);
    turns.await(builder, loc);
    SmallVector<Value> sums = extractSums(builder, loc, blocks);
    promote(emitter, whole, sums, promoted);
    insertSums(builder, loc, sums, blocks);
    turns.start(builder, loc);
    multiply(pairs.back(), SumsUse::Subtract);
    for (SplitPair pair : pairs.drop_back())
      multiply(pair, SumsUse::Subtract);
    turns.await(builder, loc);
    promote(emitter, whole, extractSums(builder, loc, blocks), promoted,
            /*sign=*/-1);
  }
}

SmallVector<Value> PromotedSums::add(ThreadEmitter &emitter, SpMMOp,
                                     ArrayRef<Value> promoted) {
  SmallVector<Value> result(promoted);
  if (source.kept == SumsKept::Compensated) {
    addCompensated(emitter, result);
    return result;
  }
  SumsPart whole = source.whole(), part = source.partAtOnce();
  for (part.firstRow = 0; part.firstRow < whole.rows;
       part.firstRow += part.rows)
    for (part.firstBlock = 0; part.firstBlock < whole.blocks;
         part.firstBlock += part.blocks) {
      SmallVector<Value> blocks = getUnmade(emitter, part);
      multiply(emitter, part, blocks, SumsUse::Make);
      promote(emitter, part, extractSums(emitter.builder, emitter.loc, blocks),
              result);
    }
  return result;
}

std::unique_ptr<Accumulation> Accumulation::create(OpBuilder &builder,
                                                   Location loc,
                                                   OperandSource &source,
                                                   Value group) {
  ProductOrder turns(builder, loc, group);
  if (source.kept == SumsKept::InPlace)
    return std::make_unique<SumsInPlace>(source, turns);
  return std::make_unique<PromotedSums>(source, turns);
}
