//===- TileCopy.cpp - Copies that the threads of a block share ------------===//

#include "TileCopy.h"

#include "CopyEmitter.h"
#include "RegisterCopies.h"

#include "nm/Dialect/NM/Transforms/SimtOperands.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::nm;

//===----------------------------------------------------------------------===//
// Copies that are made asynchronous
//===----------------------------------------------------------------------===//

namespace {
class DirectCopy : CopyEmitter {
public:
  DirectCopy(OpBuilder &builder, Location loc, const TileCopy &copy,
             const CopyThreads &threads)
      : CopyEmitter(builder, loc, copy, threads) {}

  void emit();

private:
  Value maskOf(const Place &place);
  void emitAccess(OffsetIndex id);
};
} // namespace

/// All elements of an access, or none, where its source may lack them.
Value DirectCopy::maskOf(const Place &place) {
  Value inside = isInSource(place.source);
  if (!inside)
    return {};
  Value elements = arith::SelectOp::create(
      builder, loc, inside, index.constant(copy.width), index.constant(0));
  auto type = VectorType::get(copy.width, builder.getI1Type());
  return vector::CreateMaskOp::create(builder, loc, type, elements);
}

void DirectCopy::emitAccess(OffsetIndex id) {
  Place place = delinearize(id);
  if (copy.swizzleChunks)
    place.tile[1] =
        ChunkSwizzle::place(builder, loc, place.tile[0], place.tile[1]);
  Value mask = maskOf(place);
  Type element = sourceType().getElementType();
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getZeroAttr(element));
  auto identity = AffineMapAttr::get(AffineMap::getMinorIdentityMap(
      copy.extents.size(), 1, builder.getContext()));
  ArrayAttr inBounds = builder.getBoolArrayAttr({true});
  Value read = vector::TransferReadOp::create(
      builder, loc, VectorType::get(copy.width, element), copy.source,
      place.source, identity, zero, mask, inBounds);
  vector::TransferWriteOp::create(builder, loc, Type(), read, copy.destination,
                                  place.tile, identity, /*mask=*/Value(),
                                  inBounds);
}

void DirectCopy::emit() {
  int64_t accessesPerRow = copy.extents.back() / copy.width;
  if (copy.rows && threads.count % accessesPerRow == 0)
    copy.rows->order(threads.count / accessesPerRow);
  int64_t count = countAccesses();
  for (int64_t round = 0; round * threads.count < count; ++round) {
    OpBuilder::InsertionGuard guard(builder);
    OffsetIndex id = idInRound(round);
    skipPastEnd(index.materialize(id), round, count);
    emitAccess(id);
  }
}

//===----------------------------------------------------------------------===//
// The choice
//===----------------------------------------------------------------------===//

/// The smallest copy that cp.async makes.
static constexpr int64_t kMinAsyncBytes = 4;

void mlir::nm::emitCopy(OpBuilder &builder, Location loc, const TileCopy &copy,
                        const CopyThreads &threads) {
  auto type = cast<MemRefType>(copy.source.getType());
  if (copy.width * type.getElementTypeBitWidth() / 8 < kMinAsyncBytes)
    emitElementsCopy(builder, loc, copy, threads, /*transpose=*/false);
  else
    DirectCopy(builder, loc, copy, threads).emit();
}

void mlir::nm::emitTransposingCopy(OpBuilder &builder, Location loc,
                                   const TileCopy &copy,
                                   const CopyThreads &threads) {
  if (canCopySquares(copy, threads))
    emitSquaresCopy(builder, loc, copy, threads);
  else
    emitElementsCopy(builder, loc, copy, threads, /*transpose=*/true);
}
