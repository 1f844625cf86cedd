//===- TileCopy.cpp - Copies that the threads of a block share ------------===//

#include "TileCopy.h"

#include "nm/Dialect/NM/Transforms/GpuTile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace mlir::nm;

/// The widest access of one thread: ld.global.v4.b32, cp.async.cg 16.
static constexpr int64_t kMaxAccessBytes = 16;

int64_t mlir::nm::getAccessWidth(MemRefType type, ArrayRef<int64_t> extents) {
  auto [strides, offset] = type.getStridesAndOffset();
  if (strides.back() != 1)
    return 1;
  int64_t width = kMaxAccessBytes / (type.getElementTypeBitWidth() / 8);
  width = std::gcd(width, extents.back());
  for (int64_t stride : ArrayRef(strides).drop_back()) {
    if (ShapedType::isDynamic(stride))
      return 1;
    width = std::gcd(width, stride);
  }
  if (!ShapedType::isDynamic(type.getShape().back()))
    width = std::gcd(width, type.getShape().back());
  return width;
}

//===----------------------------------------------------------------------===//
// Index arithmetic
//===----------------------------------------------------------------------===//

namespace {
/// base + offset, where 0 <= base < bound and the offset is a multiple of the
/// bound. A thread's accesses differ in the offset only, so that keeping it
/// apart leaves one address in registers, and constants in the instructions.
struct OffsetIndex {
  Value base;
  int64_t bound;
  int64_t offset = 0;
};

/// Builds index arithmetic on one location; operations on constants fold.
class IndexBuilder {
public:
  IndexBuilder(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}

  Value materialize(const OffsetIndex &index) {
    return add(index.base, index.offset);
  }
  OffsetIndex scale(const OffsetIndex &index, int64_t factor) {
    return {mul(index.base, factor), index.bound * factor,
            index.offset * factor};
  }
  /// Quotient and remainder.
  std::pair<OffsetIndex, OffsetIndex> split(const OffsetIndex &index,
                                            int64_t by) {
    if (by % index.bound == 0)
      return {{constant(0), 1, index.offset / by},
              {index.base, index.bound, index.offset % by}};
    if (index.bound % by == 0)
      return {{div(index.base, by), index.bound / by, index.offset / by},
              {rem(index.base, by), by}};
    Value sum = materialize(index);
    return {{div(sum, by), (index.bound + index.offset - 1) / by + 1},
            {rem(sum, by), by}};
  }

  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  Value add(Value lhs, int64_t rhs) {
    return rhs == 0
               ? lhs
               : builder.createOrFold<arith::AddIOp>(loc, lhs, constant(rhs));
  }
  Value add(Value lhs, Value rhs) {
    return builder.createOrFold<arith::AddIOp>(loc, lhs, rhs);
  }
  Value mul(Value lhs, int64_t rhs) {
    return rhs == 1
               ? lhs
               : builder.createOrFold<arith::MulIOp>(loc, lhs, constant(rhs));
  }
  Value div(Value lhs, int64_t rhs) {
    return rhs == 1
               ? lhs
               : builder.createOrFold<arith::DivUIOp>(loc, lhs, constant(rhs));
  }
  Value rem(Value lhs, int64_t rhs) {
    return rhs == 1
               ? constant(0)
               : builder.createOrFold<arith::RemUIOp>(loc, lhs, constant(rhs));
  }
  Value isLess(Value lhs, Value rhs) {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, lhs,
                                 rhs);
  }
  /// Null stands for true.
  Value both(Value lhs, Value rhs) {
    if (!lhs || !rhs)
      return lhs ? lhs : rhs;
    return arith::AndIOp::create(builder, loc, lhs, rhs);
  }

private:
  OpBuilder &builder;
  Location loc;
};
} // namespace

static int64_t countAccesses(const TileCopy &copy) {
  int64_t elements = 1;
  for (int64_t extent : copy.extents)
    elements *= extent;
  return elements / copy.width;
}

/// The indices of access `id` in a row-major tile.
static SmallVector<Value> delinearize(IndexBuilder &index, OffsetIndex id,
                                      const TileCopy &copy) {
  SmallVector<Value> indices(copy.extents.size());
  for (size_t dim = copy.extents.size(); dim-- > 0;) {
    bool isLast = dim + 1 == copy.extents.size();
    int64_t width = isLast ? copy.width : 1;
    OffsetIndex within = id;
    if (dim > 0)
      std::tie(id, within) = index.split(id, copy.extents[dim] / width);
    indices[dim] = index.materialize(index.scale(within, width));
  }
  return indices;
}

/// Whether the source has an element at `indices`; null if it always does.
static Value isInSource(OpBuilder &builder, Location loc, const TileCopy &copy,
                        ValueRange indices) {
  IndexBuilder index(builder, loc);
  ArrayRef<int64_t> shape = cast<MemRefType>(copy.source.getType()).getShape();
  Value inside;
  for (auto [dim, extent] : llvm::enumerate(copy.extents)) {
    if (shape[dim] >= extent)
      continue;
    Value size = builder.createOrFold<memref::DimOp>(loc, copy.source, dim);
    inside = index.both(inside, index.isLess(indices[dim], size));
  }
  return inside;
}

/// Opens `scf.if (id < count)` where a round of `threads` has ids past the
/// last access, and moves the builder into it.
static void skipPastEnd(OpBuilder &builder, Location loc, Value id,
                        int64_t round, int64_t count, int64_t threads) {
  if ((round + 1) * threads <= count)
    return;
  IndexBuilder index(builder, loc);
  auto guard =
      scf::IfOp::create(builder, loc, index.isLess(id, index.constant(count)));
  builder.setInsertionPointToStart(guard.thenBlock());
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

static void emitDirectCopy(OpBuilder &builder, Location loc,
                           const TileCopy &copy, const CopyThreads &threads) {
  IndexBuilder index(builder, loc);
  Type element = cast<MemRefType>(copy.source.getType()).getElementType();
  auto vectorType = VectorType::get(copy.width, element);
  auto maskType = VectorType::get(copy.width, builder.getI1Type());
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getZeroAttr(element));
  int64_t count = countAccesses(copy);
  for (int64_t round = 0; round * threads.count < count; ++round) {
    OpBuilder::InsertionGuard guard(builder);
    OffsetIndex id{threads.id, threads.count, round * threads.count};
    skipPastEnd(builder, loc, index.materialize(id), round, count,
                threads.count);
    SmallVector<Value> indices = delinearize(index, id, copy);
    Value mask;
    if (Value inside = isInSource(builder, loc, copy, indices)) {
      Value elements = arith::SelectOp::create(
          builder, loc, inside, index.constant(copy.width), index.constant(0));
      mask = vector::CreateMaskOp::create(builder, loc, maskType, elements);
    }
    auto identity = AffineMapAttr::get(AffineMap::getMinorIdentityMap(
        indices.size(), 1, builder.getContext()));
    ArrayAttr inBounds = builder.getBoolArrayAttr({true});
    Value read =
        vector::TransferReadOp::create(builder, loc, vectorType, copy.source,
                                       indices, identity, zero, mask, inBounds);
    vector::TransferWriteOp::create(builder, loc, Type(), read,
                                    copy.destination, indices, identity,
                                    /*mask=*/Value(), inBounds);
  }
}

/// Where an access of a copy that transposes stands in the source.
static SmallVector<Value>
getTransposedAccess(IndexBuilder &index, OffsetIndex id, const TileCopy &copy) {
  // Four lanes read 64 contiguous bytes of a row, and the eight groups of them
  // eight rows: stores of one element from each lane then go to few rows of
  // the destination and spread over the banks.
  int64_t accessesPerRow = copy.extents[1] / copy.width;
  int64_t lanesPerRow = std::gcd<int64_t>(4, accessesPerRow);
  int64_t rowsPerWarp = kWarpSize / lanesPerRow;
  if (copy.extents[0] % rowsPerWarp != 0)
    return delinearize(index, id, copy);
  auto [group, lane] = index.split(id, kWarpSize);
  auto [accessGroup, rowGroup] =
      index.split(group, copy.extents[0] / rowsPerWarp);
  auto [laneRow, laneAccess] = index.split(lane, lanesPerRow);
  Value row = index.add(index.materialize(index.scale(rowGroup, rowsPerWarp)),
                        index.materialize(laneRow));
  Value access =
      index.add(index.materialize(index.scale(accessGroup, lanesPerRow)),
                index.materialize(laneAccess));
  return {row, index.mul(access, copy.width)};
}

/// Loads one access, from the last that the source has where `indices` are
/// outside: a branch around each load would keep them from overlapping.
static Value loadClamped(OpBuilder &builder, Location loc, const TileCopy &copy,
                         ArrayRef<Value> indices) {
  IndexBuilder index(builder, loc);
  auto source = cast<MemRefType>(copy.source.getType());
  SmallVector<Value> clamped(indices);
  for (auto [dim, extent] : llvm::enumerate(copy.extents)) {
    if (source.getShape()[dim] >= extent)
      continue;
    Value size = builder.createOrFold<memref::DimOp>(loc, copy.source, dim);
    bool isLast = dim + 1 == copy.extents.size();
    Value last = builder.createOrFold<arith::SubIOp>(
        loc, size, index.constant(isLast ? copy.width : 1));
    // A tile past the end of a part of k has no elements.
    last = builder.createOrFold<arith::MaxSIOp>(loc, last, index.constant(0));
    clamped[dim] = arith::MinUIOp::create(builder, loc, indices[dim], last);
  }
  int64_t bytes = copy.width * source.getElementTypeBitWidth() / 8;
  return vector::LoadOp::create(
      builder, loc, VectorType::get(copy.width, source.getElementType()),
      copy.source, clamped, /*nontemporal=*/false, llvm::MaybeAlign(bytes));
}

namespace {
/// One access on its way through registers.
struct RegisterAccess {
  Value id, data;
  SmallVector<Value> indices;
};
} // namespace

/// Stores what the source has at the access's indices, else zeros.
static void storeAccess(OpBuilder &builder, Location loc, const TileCopy &copy,
                        const RegisterAccess &access, bool transpose) {
  IndexBuilder index(builder, loc);
  Value data = access.data;
  if (Value inside = isInSource(builder, loc, copy, access.indices)) {
    Value zeros = arith::ConstantOp::create(
        builder, loc, builder.getZeroAttr(data.getType()));
    data = arith::SelectOp::create(builder, loc, inside, data, zeros);
  }
  for (int64_t i = 0; i < copy.width; ++i) {
    SmallVector<Value> target(access.indices);
    target.back() = index.add(target.back(), i);
    if (transpose)
      std::swap(target[target.size() - 2], target.back());
    Value element = vector::ExtractOp::create(builder, loc, data, i);
    memref::StoreOp::create(builder, loc, element, copy.destination, target);
  }
}

static void emitRegisterCopy(OpBuilder &builder, Location loc,
                             const TileCopy &copy, const CopyThreads &threads,
                             bool transpose) {
  IndexBuilder index(builder, loc);
  SmallVector<RegisterAccess> accesses;
  int64_t count = countAccesses(copy);
  for (int64_t round = 0; round * threads.count < count; ++round) {
    OffsetIndex id{threads.id, threads.count, round * threads.count};
    RegisterAccess access;
    access.id = index.materialize(id);
    // Threads past the end of the tile load its last access again.
    if ((round + 1) * threads.count > count)
      id = {arith::MinUIOp::create(builder, loc, access.id,
                                   index.constant(count - 1)),
            count};
    access.indices = transpose ? getTransposedAccess(index, id, copy)
                               : delinearize(index, id, copy);
    access.data = loadClamped(builder, loc, copy, access.indices);
    accesses.push_back(std::move(access));
  }
  for (auto [round, access] : llvm::enumerate(accesses)) {
    OpBuilder::InsertionGuard guard(builder);
    skipPastEnd(builder, loc, access.id, round, count, threads.count);
    storeAccess(builder, loc, copy, access, transpose);
  }
}

/// The smallest copy that cp.async makes.
static constexpr int64_t kMinAsyncBytes = 4;

void mlir::nm::emitCopy(OpBuilder &builder, Location loc, const TileCopy &copy,
                        const CopyThreads &threads) {
  auto type = cast<MemRefType>(copy.source.getType());
  if (copy.width * type.getElementTypeBitWidth() / 8 < kMinAsyncBytes)
    return emitRegisterCopy(builder, loc, copy, threads, /*transpose=*/false);
  emitDirectCopy(builder, loc, copy, threads);
}

void mlir::nm::emitTransposingCopy(OpBuilder &builder, Location loc,
                                   const TileCopy &copy,
                                   const CopyThreads &threads) {
  emitRegisterCopy(builder, loc, copy, threads, /*transpose=*/true);
}
