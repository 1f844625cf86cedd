//===- PartSums.cpp - Sums of parts of k in shared memory -----------------===//

#include "GPU/Sums/PartSums.h"

#include "GPU/Tile/SharedMemory.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::nm;

/// Elements of a line, and bytes: what a thread accesses at once.
static constexpr int64_t kLine = 4, kLineBytes = 16;

/// Lines of one number stand side by side, one for each thread of a slice: all
/// lanes of a warp access neighbouring words.
void PartSums::share(ArrayRef<Value> lines) {
  count = int64_t(lines.size());
  buffer = allocOverTiles(builder, loc, {slices * count, threads, kLine},
                          builder.getF32Type());
  // Warps may still read the last tile.
  gpu::BarrierOp::create(builder, loc);
  Value first = mul(slice, count);
  for (auto [i, line] : llvm::enumerate(lines))
    vector::StoreOp::create(
        builder, loc, line, buffer,
        ValueRange{add(first, int64_t(i)), thread, index(0)},
        /*nontemporal=*/false, llvm::MaybeAlign(kLineBytes));
  ClusterBuffer::meet(builder, loc, blocks);
  shared.emplace(builder, loc, buffer, blocks);
  member = slice;
  if (Value rank = shared->getRank())
    member = add(mul(rank, slices), slice);
}

/// The first index of the line in the buffer.
Value PartSums::placeOf(int64_t slice, Value number) {
  return add(number, slice * count);
}

Value PartSums::loadOwn(int64_t slice, Value number) {
  return vector::LoadOp::create(
      builder, loc, VectorType::get(kLine, builder.getF32Type()), buffer,
      ValueRange{placeOf(slice, number), thread, index(0)},
      /*nontemporal=*/false, llvm::MaybeAlign(kLineBytes));
}

/// The parts of a line that the cluster's other blocks have.
SmallVector<Value> PartSums::loadOthers(int64_t slice, Value number) {
  Value line = add(mul(placeOf(slice, number), threads), thread);
  return shared->loadOthers(VectorType::get(kLine, builder.getF32Type()),
                            mul(line, kLineBytes), kLineBytes);
}

Value PartSums::sumLine(Value number) {
  SmallVector<Value> parts;
  for (int64_t i = 0; i < slices; ++i)
    parts.push_back(loadOwn(i, number));
  for (int64_t i = 0; i < slices; ++i)
    llvm::append_range(parts, loadOthers(i, number));
  Value sum = parts.front();
  for (Value part : ArrayRef(parts).drop_front())
    sum = arith::AddFOp::create(builder, loc, sum, part);
  return sum;
}

void PartSums::forEachSum(function_ref<void(Value, Value)> use) {
  int64_t members = blocks * slices;
  // All loads come first, so that none waits for what is done with a sum.
  int64_t whole = count / members * members;
  SmallVector<std::pair<Value, Value>> sums;
  for (int64_t first = 0; first < whole; first += members) {
    Value number = add(member, first);
    sums.push_back({number, sumLine(number)});
  }
  for (auto [number, sum] : sums)
    use(number, sum);
  if (whole == count)
    return;
  Value number = add(member, whole);
  Value isThere = less(number, index(count));
  auto guarded = scf::IfOp::create(builder, loc, isThere);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(guarded.thenBlock());
  use(number, sumLine(number));
}

void PartSums::leave() {
  if (blocks > 1)
    ClusterBuffer::meet(builder, loc, blocks);
}
