//===- CopyEmitter.h - What copies of tiles have in common ------*- C++ -*-===//

#ifndef NM_LIB_GPU_COPIES_COPYEMITTER_H
#define NM_LIB_GPU_COPIES_COPYEMITTER_H

#include "GPU/Copies/CopyIndices.h"
#include "GPU/Copies/TileCopy.h"
#include "GPU/Expand/ImagePlaces.h"
#include "GPU/Tile/TileOffsets.h"

namespace mlir::nm {

/// Where an access is in the tile that is copied to, and in the source.
struct CopyAddress {
  SmallVector<Value> tile, source;
  /// The row in the source where the window of this row begins, and the row's
  /// distance from there. Null unless a list names the rows.
  Value window, inWindow;

  explicit CopyAddress(size_t rank = 0) : tile(rank), source(rank) {}
};

/// One access on its way through registers.
struct CopyAccess {
  Value id, data;
  CopyAddress place;
};

/// Emits one copy. Accesses are numbered in the order of the tile; threads take
/// them in rounds, as many as there are threads at a time.
class CopyEmitter {
protected:
  CopyEmitter(OpBuilder &builder, Location loc, const TileCopy &copy,
              const CopyThreads &threads)
      : builder(builder), loc(loc), copy(copy), threads(threads),
        index{builder, loc} {
    ThreadEmitter emitter{builder, loc};
    places = ImagePlaces::find(emitter, copy.source);
  }

  using Place = CopyAddress;
  using Access = CopyAccess;

  MemRefType sourceType() const {
    return cast<MemRefType>(copy.source.getType());
  }
  int64_t countAccesses() const;
  /// The number of a thread's access in a round.
  OffsetIndex idInRound(int64_t round) const {
    return {threads.id, threads.count, round * threads.count};
  }
  /// The number of a thread's access in a round, or of the last access for
  /// threads that are past it.
  OffsetIndex clampId(OffsetIndex id, Value materialized, int64_t count);
  /// Opens `scf.if (id < count)` where a round has ids past the last access,
  /// and moves the builder into it.
  void skipPastEnd(Value id, int64_t round, int64_t count);

  /// Sets what `place` has for `dim`: the row of a list, if those are copied.
  void setPlace(Place &place, size_t dim, const OffsetIndex &at);
  /// The place of access `id` in a row-major tile.
  Place delinearize(OffsetIndex id);

  /// Copies an access without registers, asynchronously: zeros where the source
  /// lacks it.
  void copyDirectly(const Place &place);
  /// Stores the zeros of an access to a row that the source has not.
  void storeZeros(ArrayRef<Value> tile);

  /// Whether the source has an element at `indices`; null if it always does.
  Value isInSource(ValueRange indices);
  /// Loads one access, from the last that the source has where `indices` are
  /// outside: a branch around each load would keep them from overlapping.
  Value loadClamped(ArrayRef<Value> indices);
  /// What was loaded, if the source has it, else zeros.
  Value orZeros(const Access &access);

  /// The element of the image that the source, patches of that, has at `place`,
  /// `column` elements further on.
  ImagePlaces::Element findInImage(const Place &place, int64_t column = 0);

  OpBuilder &builder;
  Location loc;
  TileCopy copy;
  CopyThreads threads;
  OffsetEmitter index;
  /// Where the image has the elements of a source of patches, which are in no
  /// memory; none for other sources.
  std::optional<ImagePlaces> places;

private:
  void copyOfImage(const Place &place);
  Value countElements(ArrayRef<Value> indices);
  Value countColumns(Value column);
  bool isInsideAlways(size_t dim) const;
};

/// A copy through registers of accesses, or of what stands for some, that
/// `Derived` loads by `loadAccess(round)` and stores by `storeAccess(access)`.
/// Each has the number `id` among those of the block. No load waits for a
/// store.
template <typename Derived, typename AccessType>
class RoundsOfCopy : public RegisterCopy, protected CopyEmitter {
public:
  RoundsOfCopy(OpBuilder &builder, Location loc, const TileCopy &copy,
               const CopyThreads &threads)
      : CopyEmitter(builder, loc, copy, threads) {}

  void load() final {
    for (int64_t round = 0; round * threads.count < count; ++round)
      accesses.push_back(derived().loadAccess(round));
  }
  void store(Value destination) final {
    copy.destination = destination;
    for (auto [round, access] : llvm::enumerate(accesses)) {
      OpBuilder::InsertionGuard guard(builder);
      skipPastEnd(access.id, int64_t(round), count);
      derived().storeAccess(access);
    }
  }

protected:
  /// Accesses of the block.
  int64_t count = 0;

private:
  Derived &derived() { return static_cast<Derived &>(*this); }

  SmallVector<AccessType> accesses;
};

} // namespace mlir::nm

#endif // NM_LIB_GPU_COPIES_COPYEMITTER_H
