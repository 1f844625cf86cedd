//===- SharedPromotion.cpp - Promotion in shared memory -------------------===//
//
// To read and write the promoted sums of a block of 128 x 256 takes shared
// memory 2048 clocks of a chain's 24 576. Other ways were no faster on an H200
// (2026-11-22, 1024x4096x100000, 16:32 and 8:32, time over that without
// promotion, where these take 10.0 and 10.6 %): red.global.add.v4.f32, which
// flushes subnormal sums besides, 22.8 and 26.5 %, and 10.7 and 15.2 % with the
// warps' chains out of step; shared memory with them out of step 22 %; a part
// of the lines with each tile 7.8 to 20 % and 9.6 to 37 %.
//
//===----------------------------------------------------------------------===//

#include "GPU/Strategies/Simt/SharedPromotion.h"

#include "GPU/Sums/CompleteSums.h"
#include "GPU/Tile/SharedMemory.h"

#include "nm/Schedule/SumChains.h"
#include "nm/Support/Warp.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::nm;

/// Sums of the widest access, and its bytes.
static constexpr int64_t kLine = ::nm::kAccessWords, kLineBytes = 4 * kLine;

SharedPromotion::SharedPromotion(int64_t sums, int64_t threads,
                                 int64_t rowsOfTile,
                                 std::optional<int64_t> tiles)
    : sums(sums), threads(threads),
      tilesPerChain(::nm::tilesPerSharedChain(rowsOfTile)),
      hasSecondSums(!tiles ||
                    *tiles > tilesPerChain * ::nm::kChainsPerPromotion) {}

int64_t SharedPromotion::lines() const { return sums / kLine; }

static VectorType getLineType(OpBuilder &builder) {
  return VectorType::get(kLine, builder.getF32Type());
}

static Value load(ThreadEmitter &emitter, Value memory, ValueRange indices) {
  return vector::LoadOp::create(
      emitter.builder, emitter.loc, getLineType(emitter.builder), memory,
      indices, /*nontemporal=*/false, llvm::MaybeAlign(kLineBytes));
}

static void store(ThreadEmitter &emitter, Value line, Value memory,
                  ValueRange indices) {
  vector::StoreOp::create(emitter.builder, emitter.loc, line, memory, indices,
                          /*nontemporal=*/false, llvm::MaybeAlign(kLineBytes));
}

Value SharedPromotion::loadSum(ThreadEmitter &emitter, Value line) const {
  return load(emitter, promoted, {line, thread, emitter.index(0)});
}

void SharedPromotion::storeSum(ThreadEmitter &emitter, Value line,
                               Value total) const {
  store(emitter, total, promoted, {line, thread, emitter.index(0)});
}

Value SharedPromotion::loadSecondSum(ThreadEmitter &emitter, Value line) const {
  return load(emitter, secondSums, {line, emitter.index(0)});
}

void SharedPromotion::storeSecondSum(ThreadEmitter &emitter, Value line,
                                     Value total) const {
  store(emitter, total, secondSums, {line, emitter.index(0)});
}

Value SharedPromotion::begin(OpBuilder &builder, Location loc) {
  ThreadEmitter emitter{builder, loc};
  thread = gpu::ThreadIdOp::create(builder, loc, gpu::Dimension::x);
  Type element = builder.getF32Type();
  promoted = allocShared(builder, loc, {lines(), threads, kLine}, element);
  if (hasSecondSums)
    secondSums = memref::AllocaOp::create(
        builder, loc, MemRefType::get({lines(), kLine}, element),
        builder.getI64IntegerAttr(kLineBytes));
  Value zero = emitter.zero(getLineType(builder));
  for (int64_t i = 0; i < lines(); ++i) {
    storeSum(emitter, emitter.index(i), zero);
    if (hasSecondSums)
      storeSecondSum(emitter, emitter.index(i), zero);
  }
  return emitter.i32(0);
}

void SharedPromotion::addChain(ThreadEmitter &emitter,
                               ArrayRef<Value> chain) const {
  for (int64_t i = 0; i < lines(); ++i) {
    Value line = emitter.index(i);
    Value added = vector::FromElementsOp::create(emitter.builder, emitter.loc,
                                                 getLineType(emitter.builder),
                                                 chain.slice(i * kLine, kLine));
    storeSum(emitter, line,
             arith::AddFOp::create(emitter.builder, emitter.loc,
                                   loadSum(emitter, line), added));
  }
}

/// Adds the promoted sums of a line to their second sums, and makes them zero.
/// Lines come in turns, one with each chain, so that there is no chain at whose
/// end all local memory is accessed, and their place is no constant, which LLVM
/// would have in registers.
void SharedPromotion::addPromotedSums(ThreadEmitter &emitter,
                                      Value line) const {
  Value sum = arith::AddFOp::create(emitter.builder, emitter.loc,
                                    loadSecondSum(emitter, line),
                                    loadSum(emitter, line));
  storeSecondSum(emitter, line, sum);
  storeSum(emitter, line, emitter.zero(getLineType(emitter.builder)));
}

/// Adds the chain that ends with `tile` to the promoted sums, and the promoted
/// sums whose turn it is to the second sums; returns the sums of the next
/// chain.
SmallVector<Value> SharedPromotion::endChain(ThreadEmitter &emitter, Value tile,
                                             ArrayRef<Value> chain) const {
  OpBuilder &builder = emitter.builder;
  addChain(emitter, chain);
  if (hasSecondSums) {
    Value turn = emitter.rem(emitter.div(tile, tilesPerChain),
                             std::max(::nm::kChainsPerPromotion, lines()));
    emitter.onlyIf(emitter.less(turn, emitter.i32(lines())), [&] {
      addPromotedSums(
          emitter, arith::IndexCastUIOp::create(builder, emitter.loc,
                                                builder.getIndexType(), turn));
    });
  }
  // Zeros that are made here: else LLVM would choose between zero and the sum
  // where the branches meet, at the end of every tile.
  SmallVector<Value> zeros(chain.size(), emitter.zero(builder.getF32Type()));
  return completeSums(builder, emitter.loc, zeros);
}

Value SharedPromotion::endTile(OpBuilder &builder, Location loc,
                               MutableArrayRef<Value> chain, Value tile) const {
  ThreadEmitter emitter{builder, loc};
  Value ends;
  if (tilesPerChain > 1)
    ends = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                 emitter.rem(tile, tilesPerChain),
                                 emitter.i32(tilesPerChain - 1));
  SmallVector<Value> next = emitter.choose(
      ends, [&] { return endChain(emitter, tile, chain); }, chain);
  llvm::copy(next, chain.begin());
  return emitter.add(tile, 1);
}

SmallVector<Value> SharedPromotion::finish(OpBuilder &builder, Location loc,
                                           ArrayRef<Value> chain) const {
  ThreadEmitter emitter{builder, loc};
  SmallVector<Value> whole;
  for (int64_t i = 0; i < lines(); ++i) {
    Value line = emitter.index(i);
    Value last = vector::FromElementsOp::create(
        builder, loc, getLineType(builder), chain.slice(i * kLine, kLine));
    Value sum =
        arith::AddFOp::create(builder, loc, loadSum(emitter, line), last);
    if (hasSecondSums)
      sum = arith::AddFOp::create(builder, loc, loadSecondSum(emitter, line),
                                  sum);
    for (int64_t j = 0; j < kLine; ++j)
      whole.push_back(emitter.extract(sum, j));
  }
  return whole;
}
