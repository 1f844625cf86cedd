//===- TileStores.h - Stores of a thread's part of C ------------*- C++ -*-===//

#ifndef NM_CONVERSION_NMTOGPU_TILESTORES_H
#define NM_CONVERSION_NMTOGPU_TILESTORES_H

#include "nm/Dialect/NM/IR/NM.h"
#include "nm/Dialect/NM/Transforms/GpuTile.h"

namespace mlir::nm {

/// A 4 x 4 chunk of a thread's sums: rows of four columns each.
struct TileChunk {
  Value row, column;
  SmallVector<Value> lines;
};

/// Stores a thread's sums to a product's tile of C, as far as C has rows and
/// columns, with 16-byte accesses where C's layout allows.
class TileStores {
public:
  /// `initial` as for TileExpansion::end.
  TileStores(OpBuilder &builder, SpMMOp op, Value initial);

  /// The sums that are to be stored, once their products are all made.
  SmallVector<Value> completeSums(ArrayRef<Value> sums);
  void store(ArrayRef<TileChunk> chunks, const GpuTile &tile);

private:
  void storeAll(ArrayRef<TileChunk> chunks);
  void storeChunk(const TileChunk &chunk);
  /// Four elements at `indices`, along C's last dimension.
  void storeLine(SmallVector<Value> indices, Value line);
  void storeElement(SmallVector<Value> indices, Value line, int64_t i);
  Value addInitial(Value sum, ValueRange indices);
  /// `index < size of dim`; null if it always is.
  Value isInside(Value index, int64_t dim);
  /// Runs `store` if `condition` is null or true.
  void storeIf(Value condition, llvm::function_ref<void()> store);

  OpBuilder &builder;
  Location loc;
  Value c, initial;
  bool isTransposed, isWhole[2], isAligned;
};

} // namespace mlir::nm

#endif // NM_CONVERSION_NMTOGPU_TILESTORES_H
