//===- TileStores.h - Stores of a thread's part of C ------------*- C++ -*-===//

#ifndef NM_LIB_GPU_SUMS_TILESTORES_H
#define NM_LIB_GPU_SUMS_TILESTORES_H

#include "GPU/Sums/TileEpilogue.h"

#include "nm/Dialect/NM/IR/NM.h"
#include "nm/GPU/Tile/GpuTile.h"

namespace mlir::nm {

/// The sum of two sums, or vectors of them, of f32 or i32.
Value addSums(OpBuilder &builder, Location loc, Value a, Value b);

/// Some of a thread's sums, a vector, that stand at `first` in C's second to
/// last dimension and from `along` on in the last.
struct TileLine {
  Value first, along, sums;
  /// Those of the second half of columns, where an epilogue combines halves, or
  /// of odd columns, where it combines neighbours.
  Value second = {};
  /// What the epilogue reads for them, where that is read ahead.
  SmallVector<Value> operands = {};
};

/// What splits a tile of C that is memory of its block's own, whose splits are
/// stored in its place; null if nothing does.
SplitFloatsOp findSplitsOfTile(Value c);

/// Stores a thread's sums to a product's tile of C, as far as C has rows and
/// columns, a line with one access where C's layout allows.
class TileStores {
public:
  /// To `c`, unless an epilogue writes what it makes of the sums elsewhere.
  /// `initial` and `epilogue` as for TileExpansion::end. Lines start at
  /// multiples of their length, `perLine`.
  TileStores(OpBuilder &builder, SpMMOp op, Value c, Value initial,
             const std::optional<TileEpilogue> &epilogue, int64_t perLine = 4);

  /// Whether each line is made of one of the first half of columns and of its
  /// `second`.
  bool combinesHalves() const { return epilogue && epilogue->combinesHalves(); }
  /// The sums that are to be stored, once their products are all made.
  SmallVector<Value> completeSums(ArrayRef<Value> sums);
  void store(ArrayRef<TileLine> lines, const GpuTile &tile);
  /// One, whether C has all of its elements or not.
  void storeLine(const TileLine &line);
  /// Reads what the epilogue wants of each line, before its sums are needed.
  /// Not where C may end before the lines do.
  void readAhead(MutableArrayRef<TileLine> lines);
  /// What C is to have of each line, of its type, for who stores it elsewhere
  /// first; anything where C has ended.
  SmallVector<Value> complete(ArrayRef<TileLine> lines, const GpuTile &tile);

private:
  void storeAll(ArrayRef<TileLine> lines);
  void storeFinished(const TileLine &line);
  void storeSplits(const TileLine &line);
  /// The line as it is stored, but for what C has.
  TileLine finish(const TileLine &line);
  /// The elements of C from there on.
  SmallVector<Value> getIndices(Value first, Value along);
  void storeElement(SmallVector<Value> indices, Value line, int64_t i);
  Value addInitial(Value sum, ValueRange indices);
  Value addTo(Value before, Value sum);
  Value completeLine(const TileLine &line);
  Value loadInside(ArrayRef<Value> indices);
  /// Whether C has all of the tile; null if it always has.
  Value isInterior(const GpuTile &tile);
  /// `index < size of dim`; null if it always is.
  Value isInside(Value index, int64_t dim);
  /// Runs `store` if `condition` is null or true.
  void storeIf(Value condition, llvm::function_ref<void()> store);

  OpBuilder &builder;
  Location loc;
  Value c, initial;
  SplitFloatsOp splits;
  const std::optional<TileEpilogue> &epilogue;
  int64_t perLine;
  /// Dimensions of C before the last two, of which a tile has one.
  int64_t leading;
  llvm::MaybeAlign alignment;
  bool isTransposed, isWhole[2], isAligned;
};

} // namespace mlir::nm

#endif // NM_LIB_GPU_SUMS_TILESTORES_H
