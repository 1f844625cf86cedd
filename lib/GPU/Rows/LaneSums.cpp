//===- LaneSums.cpp - Results that the threads of a row share -------------===//
//
// Lanes of a warp exchange values by shuffles, which any two of them make with
// both values, so that all have the same bits at last; warps by shared memory,
// and blocks of a cluster by reading each other's. gpu.subgroup_reduce has no
// groups of warps, and gpu.all_reduce no rows of less than a block.
//
//===----------------------------------------------------------------------===//

#include "GPU/Rows/LaneSums.h"

#include "GPU/Copies/ClusterBuffer.h"
#include "GPU/Tile/SharedMemory.h"

#include "nm/Support/Warp.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::nm;
using ::nm::kWarpSize;

/// Bytes of a warp's part of a result, and of an mbarrier.
static constexpr int64_t kPartBytes = 8;
/// Nanoseconds after which a thread that waits asks again.
static constexpr int64_t kWaitTicks = 10000000;

Value mlir::nm::combine(OpBuilder &builder, Location loc, Operation *combiner,
                        Value a, Value b) {
  OperationState state(loc, combiner->getName(), {a, b}, a.getType(),
                       combiner->getAttrs());
  return builder.create(state)->getResult(0);
}

Value mlir::nm::combineElements(OpBuilder &builder, Location loc,
                                Operation *combiner, Value elements) {
  auto type = dyn_cast<VectorType>(elements.getType());
  if (!type)
    return elements;
  SmallVector<Value> parts;
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    parts.push_back(
        vector::ExtractOp::create(builder, loc, elements, ArrayRef(i)));
  while (parts.size() > 1) {
    size_t half = parts.size() / 2;
    for (size_t i = 0; i < half; ++i)
      parts[i] = combine(builder, loc, combiner, parts[i], parts[i + half]);
    parts.resize(half);
  }
  return parts.front();
}

LaneSums::LaneSums(OpBuilder &builder, Location loc, int64_t lanes,
                   int64_t rows, int64_t cluster, Value thread, int64_t results)
    : e{builder, loc}, lanes(lanes), rows(rows), cluster(cluster),
      results(results), thread(thread) {
  if (getBytes(lanes, results) == 0)
    return;
  memory = getLaunchMemory(builder, loc);
}

int64_t LaneSums::getBytes(int64_t lanes, int64_t results) {
  return lanes > kWarpSize ? results * kWarpSize * kPartBytes : 0;
}

/// An integer of 32 or 64 bits with the bits of `value`.
static Value toWord(ThreadEmitter &e, Value value) {
  unsigned bits = value.getType().getIntOrFloatBitWidth();
  Type integer = e.builder.getIntegerType(bits);
  if (value.getType() != integer)
    value = e.bitcast(integer, value);
  return bits < 32 ? arith::ExtUIOp::create(e.builder, e.loc,
                                            e.builder.getI32Type(), value)
                   : value;
}

static Value fromWord(ThreadEmitter &e, Value word, Type type) {
  unsigned bits = type.getIntOrFloatBitWidth();
  Type integer = e.builder.getIntegerType(bits);
  if (word.getType() != integer)
    word = arith::TruncIOp::create(e.builder, e.loc, integer, word);
  return type == integer ? word : e.bitcast(type, word);
}

static Value shuffleWord(ThreadEmitter &e, Value word, int64_t offset) {
  return gpu::ShuffleOp::create(e.builder, e.loc, word, e.i32(offset),
                                e.i32(kWarpSize), gpu::ShuffleMode::XOR)
      .getShuffleResult();
}

/// The value of the lane whose number differs by the bits of `offset`.
static Value shuffle(ThreadEmitter &e, Value value, int64_t offset) {
  Value word = toWord(e, value);
  Type i32 = e.builder.getI32Type(), i64 = e.builder.getI64Type();
  if (word.getType() == i32)
    return fromWord(e, shuffleWord(e, word, offset), value.getType());
  Value half = arith::ConstantIntOp::create(e.builder, e.loc, 32, 64);
  Value low = arith::TruncIOp::create(e.builder, e.loc, i32, word);
  Value high = arith::TruncIOp::create(
      e.builder, e.loc, i32,
      arith::ShRUIOp::create(e.builder, e.loc, word, half));
  low = arith::ExtUIOp::create(e.builder, e.loc, i64,
                               shuffleWord(e, low, offset));
  high = arith::ExtUIOp::create(e.builder, e.loc, i64,
                                shuffleWord(e, high, offset));
  Value shifted = arith::ShLIOp::create(e.builder, e.loc, high, half);
  return fromWord(e, e.either(low, shifted), value.getType());
}

Value mlir::nm::combineLanes(ThreadEmitter &e, Combine combine, Value value,
                             int64_t lanes) {
  for (int64_t offset = 1; offset < lanes; offset *= 2)
    value = combine(value, shuffle(e, value, offset));
  return value;
}

/// Combines the values of all warps of a row, of which each has one.
Value LaneSums::addWarps(Combine combine, Value value) {
  Type type = value.getType();
  Value word = toWord(e, value);
  auto space = cast<MemRefType>(memory.getType()).getMemorySpace();
  auto parts = MemRefType::get({kWarpSize}, word.getType(),
                               MemRefLayoutAttrInterface(), space);
  // Memory of its own: the parts before may still be read.
  Value buffer = memref::ViewOp::create(
      e.builder, e.loc, parts, memory, e.index(next++ * kWarpSize * kPartBytes),
      /*sizes=*/ValueRange());
  auto [warp, lane] = e.split(thread, kWarpSize);
  Value isFirst = arith::CmpIOp::create(
      e.builder, e.loc, arith::CmpIPredicate::eq, lane, e.index(0));
  Value place = warp;
  e.onlyIf(isFirst, [&] {
    memref::StoreOp::create(e.builder, e.loc, word, buffer, place);
  });
  ClusterBuffer::meet(e.builder, e.loc, cluster);
  int64_t warps = lanes / kWarpSize;
  place = e.rem(lane, warps);
  // The warps of the thread's row stand behind those of the rows before.
  if (rows > 1)
    place = e.add(place, e.mul(e.div(warp, warps), warps));
  if (cluster > 1)
    return combineLanes(e, combine, addBlocks(combine, buffer, place, type),
                        warps);
  word = memref::LoadOp::create(e.builder, e.loc, buffer, place);
  return combineLanes(e, combine, fromWord(e, word, type), warps);
}

/// What the blocks of the cluster have at `place` of `buffer`, in their order,
/// which is the same for all of them.
Value LaneSums::addBlocks(Combine combine, Value buffer, Value place,
                          Type type) {
  auto parts = cast<MemRefType>(buffer.getType());
  Value byte = e.mul(place, parts.getElementTypeBitWidth() / 8), total;
  for (int64_t block = 0; block < cluster; ++block) {
    Value word = ClusterBuffer::loadFrom(e.builder, e.loc, buffer, e.i32(block),
                                         parts.getElementType(), byte);
    Value part = fromWord(e, word, type);
    total = total ? combine(total, part) : part;
  }
  return total;
}

//===----------------------------------------------------------------------===//
// Clusters that stay
//===----------------------------------------------------------------------===//

/// Bytes of the parts of one result of a row, of all warps of a cluster.
static int64_t getBoxBytes(int64_t lanes, int64_t cluster) {
  return lanes / kWarpSize * cluster * kPartBytes;
}

int64_t LaneSums::getStayingBytes(int64_t lanes, int64_t cluster,
                                  int64_t results) {
  return 2 * results * (getBoxBytes(lanes, cluster) + kPartBytes);
}

/// `size` elements of shared memory from `byte` on, or of odd rows `step` bytes
/// behind.
Value LaneSums::viewStaying(int64_t byte, int64_t step, int64_t size,
                            Type type) {
  auto space = cast<MemRefType>(memory.getType()).getMemorySpace();
  auto view = MemRefType::get({size}, type, MemRefLayoutAttrInterface(), space);
  return memref::ViewOp::create(e.builder, e.loc, view, memory,
                                e.add(e.mul(odd, step), byte),
                                /*sizes=*/ValueRange());
}

void LaneSums::stay() {
  odd = e.index(0);
  Value isFirst = arith::CmpIOp::create(
      e.builder, e.loc, arith::CmpIPredicate::eq, thread, e.index(0));
  e.onlyIf(isFirst, [&] {
    int64_t first = 2 * results * getBoxBytes(lanes, cluster);
    for (int64_t i = 0; i < 2 * results; ++i) {
      Value barrier = viewStaying(first + i * kPartBytes, /*step=*/0,
                                  /*size=*/1, e.builder.getI64Type());
      NVVM::MBarrierInitOp::create(
          e.builder, e.loc,
          ClusterBuffer::getAddress(e.builder, e.loc, barrier), e.i32(1),
          /*predicate=*/Value());
    }
    NVVM::FenceMbarrierInitOp::create(e.builder, e.loc);
  });
  ClusterBuffer::meet(e.builder, e.loc, cluster);
}

void LaneSums::beginRow(Value turn) {
  odd = e.rem(turn, 2);
  phase = e.toI32(e.rem(e.div(turn, 2), 2));
}

/// Combines the values of all warps of the cluster, each of which sends its own
/// to all blocks.
Value LaneSums::exchange(Combine combine, Value value) {
  Type type = value.getType();
  Value word = toWord(e, value);
  int64_t warps = lanes / kWarpSize, parts = warps * cluster,
          box = getBoxBytes(lanes, cluster), number = next++;
  Value buffer = viewStaying(2 * number * box, box, parts, word.getType());
  Value barrier = ClusterBuffer::getAddress(
      e.builder, e.loc,
      viewStaying(2 * (results * box + number * kPartBytes), kPartBytes,
                  /*size=*/1, e.builder.getI64Type()));
  int64_t bytes = word.getType().getIntOrFloatBitWidth() / 8;
  e.onlyIf(arith::CmpIOp::create(e.builder, e.loc, arith::CmpIPredicate::eq,
                                 thread, e.index(0)),
           [&] {
             NVVM::MBarrierArriveExpectTxOp::create(
                 e.builder, e.loc, /*res=*/Type(), barrier,
                 e.i32(parts * bytes), /*scope=*/NVVM::MemScopeKind::CTA,
                 /*relaxed=*/false, /*predicate=*/Value());
           });
  auto [warp, lane] = e.split(thread, kWarpSize);
  Value receiver = lane, sender = warp;
  e.onlyIf(e.less(receiver, e.index(cluster)), [&] {
    Value rank =
        gpu::ClusterBlockIdOp::create(e.builder, e.loc, gpu::Dimension::x);
    Value place = e.toI32(e.mul(e.add(e.mul(rank, warps), sender), bytes));
    Value first = ClusterBuffer::getAddress(e.builder, e.loc, buffer);
    Value address = LLVM::GEPOp::create(e.builder, e.loc, first.getType(),
                                        e.builder.getI8Type(), first,
                                        ArrayRef<LLVM::GEPArg>{place});
    ClusterBuffer::storeAsync(e.builder, e.loc, word, address, barrier,
                              e.toI32(receiver));
  });
  NVVM::MBarrierTryWaitParityOp::create(e.builder, e.loc, barrier, phase,
                                        e.i32(kWaitTicks));
  Value total;
  for (int64_t i = 0; i < parts; i += kWarpSize) {
    Value place = e.add(parts < kWarpSize ? e.rem(lane, parts) : lane, i);
    Value part = fromWord(
        e, memref::LoadOp::create(e.builder, e.loc, buffer, place), type);
    total = total ? combine(total, part) : part;
  }
  return combineLanes(e, combine, total, std::min(parts, kWarpSize));
}

void LaneSums::finish() {
  if (cluster > 1)
    ClusterBuffer::meet(e.builder, e.loc, cluster);
}

Value LaneSums::add(Combine combine, Value value) {
  value = combineLanes(e, combine, value, std::min(lanes, kWarpSize));
  if (odd)
    return exchange(combine, value);
  return lanes > kWarpSize ? addWarps(combine, value) : value;
}

Value LaneSums::add(Operation *combiner, Value value) {
  return add([&](Value a,
                 Value b) { return combine(e.builder, e.loc, combiner, a, b); },
             value);
}
