//===- CopyEmitter.h - What copies of tiles have in common ------*- C++ -*-===//

#ifndef NM_DIALECT_NM_TRANSFORMS_COPYEMITTER_H
#define NM_DIALECT_NM_TRANSFORMS_COPYEMITTER_H

#include "CopyIndices.h"
#include "TileCopy.h"

namespace mlir::nm {

/// Emits one copy. Accesses are numbered in the order of the tile; threads take
/// them in rounds, as many as there are threads at a time.
class CopyEmitter {
protected:
  CopyEmitter(OpBuilder &builder, Location loc, const TileCopy &copy,
              const CopyThreads &threads)
      : builder(builder), loc(loc), copy(copy), threads(threads),
        index(builder, loc) {}

  /// Where an access is in the tile that is copied to, and in the source.
  struct Place {
    SmallVector<Value> tile, source;

    explicit Place(size_t rank = 0) : tile(rank), source(rank) {}
  };
  /// One access on its way through registers.
  struct Access {
    Value id, data;
    Place place;
  };

  MemRefType sourceType() const {
    return cast<MemRefType>(copy.source.getType());
  }
  int64_t countAccesses() const;
  /// The number of a thread's access in a round.
  OffsetIndex idInRound(int64_t round) const {
    return {threads.id, threads.count, round * threads.count};
  }
  /// The same, of the last access for threads that are past it.
  OffsetIndex clampId(OffsetIndex id, Value materialized, int64_t count);
  /// Opens `scf.if (id < count)` where a round has ids past the last access,
  /// and moves the builder into it.
  void skipPastEnd(Value id, int64_t round, int64_t count);

  /// Sets what `place` has for `dim`: the row of a list, if those are copied.
  void setPlace(Place &place, size_t dim, const OffsetIndex &at);
  /// The place of access `id` in a row-major tile.
  Place delinearize(OffsetIndex id);

  /// Copies an access without registers, as a pair of vector.transfer_read and
  /// vector.transfer_write: zeros where the source lacks it.
  void copyDirectly(ArrayRef<Value> source, Value destination,
                    ArrayRef<Value> indices);

  /// Whether the source has an element at `indices`; null if it always does.
  Value isInSource(ValueRange indices);
  /// Loads one access, from the last that the source has where `indices` are
  /// outside: a branch around each load would keep them from overlapping.
  Value loadClamped(ArrayRef<Value> indices);
  /// What was loaded, if the source has it, else zeros.
  Value orZeros(const Access &access);

  /// All of a thread's accesses, `count` of the block: `load(round)` gives one
  /// on its way through registers, whose `id` is its number, and `store` ends
  /// it. No load waits for a store.
  template <typename Load, typename Store>
  void emitRounds(int64_t count, Load load, Store store) {
    SmallVector<decltype(load(int64_t(0)))> accesses;
    for (int64_t round = 0; round * threads.count < count; ++round)
      accesses.push_back(load(round));
    for (auto [round, access] : llvm::enumerate(accesses)) {
      OpBuilder::InsertionGuard guard(builder);
      skipPastEnd(access.id, round, count);
      store(access);
    }
  }

  OpBuilder &builder;
  Location loc;
  TileCopy copy;
  CopyThreads threads;
  IndexBuilder index;

private:
  Value maskOf(ArrayRef<Value> indices);
  bool isInsideAlways(size_t dim) const;
};

} // namespace mlir::nm

#endif // NM_DIALECT_NM_TRANSFORMS_COPYEMITTER_H
