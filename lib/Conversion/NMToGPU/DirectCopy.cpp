//===- DirectCopy.cpp - Asynchronous copies of tiles as they are ----------===//

#include "CopyEmitter.h"

using namespace mlir;
using namespace mlir::nm;

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
    copyDirectly(place.source, place.tile);
  }
}

void mlir::nm::emitDirectCopy(OpBuilder &builder, Location loc,
                              const TileCopy &copy,
                              const CopyThreads &threads) {
  DirectCopy(builder, loc, copy, threads).emit();
}
