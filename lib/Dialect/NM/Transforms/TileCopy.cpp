//===- TileCopy.cpp - Copies that the threads of a block share ------------===//

#include "TileCopy.h"

#include "CopyEmitter.h"
#include "RegisterCopies.h"

#include "nm/Dialect/NM/Transforms/SimtOperands.h"

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
};
} // namespace

void DirectCopy::emit() {
  int64_t accessesPerRow = copy.extents.back() / copy.width;
  if (copy.rows && threads.count % accessesPerRow == 0)
    copy.rows->order(threads.count / accessesPerRow);
  int64_t count = countAccesses();
  for (int64_t round = 0; round * threads.count < count; ++round) {
    OpBuilder::InsertionGuard guard(builder);
    OffsetIndex id = idInRound(round);
    skipPastEnd(index.materialize(id), round, count);
    Place place = delinearize(id);
    if (copy.swizzleChunks)
      place.tile[1] =
          ChunkSwizzle::place(builder, loc, place.tile[0], place.tile[1]);
    copyDirectly(place.source, copy.destination, place.tile);
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
