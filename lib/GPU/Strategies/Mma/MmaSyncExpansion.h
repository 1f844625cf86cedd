//===- MmaSyncExpansion.h - A block's tile by mma.sync ----------*- C++ -*-===//

#ifndef NM_LIB_GPU_STRATEGIES_MMA_MMASYNCEXPANSION_H
#define NM_LIB_GPU_STRATEGIES_MMA_MMASYNCEXPANSION_H

#include "GPU/Expand/WarpExpansion.h"
#include "GPU/Strategies/Mma/DequantizeWords.h"
#include "GPU/Strategies/Simt/KeptOrder.h"

#include <map>

namespace mlir::nm {

/// A step of the expansion: 16 kept rows from `square` * 16 on, of the columns
/// of the warp's unit `unit`.
struct MmaStep {
  int64_t square, unit;
};

/// What a step multiplies: squares along m and along n.
struct MmaStepOperands {
  SmallVector<SquareWords> activations, weights;
};

class MmaSyncExpansion : public WarpExpansion {
public:
  MmaSyncExpansion(SpMMOp op, const GpuTile &tile);

  SmallVector<Value> begin(OpBuilder &builder, Location loc) override;
  SmallVector<Value> prefetch(OpBuilder &builder,
                              SparseProductOpInterface product,
                              llvm::function_ref<Value(Value)> viewOf) override;
  SmallVector<Value> expand(OpBuilder &builder,
                            SparseProductOpInterface product,
                            ArrayRef<Value> carried) override;
  void end(OpBuilder &builder, SparseProductOpInterface product,
           ArrayRef<Value> carried, Value initial) override;
  int64_t rowsOfTile(SparseProductOpInterface) const override {
    return order.keptRows();
  }

private:
  /// Where the lane finds a step's activations. Of an m-major tile it names a
  /// row to ldmatrix, from `column` on; of a row-major one it loads those of
  /// four k, `ks`, itself.
  struct RowOfStep {
    MatrixRows rows;
    MatrixRows::RowOffset place;
    Value column;
    std::array<Value, 4> ks;
  };

  bool areRowsOfN() const override { return areWeightsRows; }
  /// The kept rows of the tile, which are those of all slices.
  int64_t keptRowsOfTile() const { return order.keptRows() * tile.sliceK; }
  int64_t units() const { return tile.warpN / unitColumns; }
  SmallVector<MmaStep> getSteps() const;

  MmaRole roleOfWeights() const {
    return areWeightsRows ? MmaRole::Rows : MmaRole::Columns;
  }
  MmaRole roleOfActivations() const {
    return areWeightsRows ? MmaRole::Columns : MmaRole::Rows;
  }
  Value rowOfA(ThreadEmitter &emitter, Value window, const KeptOrder::Row &row,
               const MmaStep &step) const;
  Value findPanel(ThreadEmitter &emitter, Value weights, Value column) const;
  SmallVector<Value> loadPositions(ThreadEmitter &emitter, Value indices) const;
  SmallVector<Value> loadIndexRows(ThreadEmitter &emitter, Value indices) const;
  void placeLoadsAhead(OpBuilder &builder);
  Value getPosition(ThreadEmitter &emitter, const MmaStep &step) const;
  int64_t countPositions() const;
  /// Positions in a value that is loaded of an index row of several.
  int64_t bytesOfWord() const {
    return std::min<int64_t>(packing.indexRows, 4);
  }
  SmallVector<Value> loadChunks(ThreadEmitter &emitter, Value values,
                                int64_t group) const;
  SmallVector<SquareWords> takeWeights(ThreadEmitter &emitter,
                                       ArrayRef<Value> chunks,
                                       const MmaStep &step) const;
  RowOfStep findRow(ThreadEmitter &emitter, const MmaStep &step);
  std::array<Value, 4> findKs(ThreadEmitter &emitter, Value named) const;
  SquareWords gatherSquare(ThreadEmitter &emitter, Value elements,
                           RowOfStep &row, int64_t m) const;
  SmallVector<SquareWords> loadWeights(ThreadEmitter &emitter, Value elements,
                                       const MmaStep &step);
  SmallVector<SquareWords> loadQuantized(ThreadEmitter &emitter, SpMMOp op,
                                         const MmaStep &step);
  std::optional<int64_t> numberOfGroup(int64_t square) const;
  RegisterScales loadScales(ThreadEmitter &emitter, Value scales,
                            int64_t square, int64_t column) const;
  const RegisterScales &getScales(ThreadEmitter &emitter, Value scales,
                                  int64_t square, int64_t column);
  /// The rows of k of a tile that share a scale; a group may have more.
  int64_t groupOfTile() const {
    return std::min(quantization.getGroup(), tile.k);
  }
  void multiplySquare(ThreadEmitter &emitter, const MmaStep &step, int64_t m,
                      const MmaStepOperands &operands,
                      MutableArrayRef<Value> sums);
  int64_t countWords() const;
  MmaStepOperands getOperands(ArrayRef<Value> carried) const;

  struct Loader;

  ::nm::Pattern pattern;
  Type type;
  /// Whether A's tile is [k x m].
  bool isMMajor;
  ::nm::TileLayout orderOfA;
  ::nm::PanelPacking packing;
  /// How weights are stored; null for themselves.
  QuantizationAttr quantization;
  /// Columns of a panel, which have one unit, or of quantized weights two of 8
  /// columns.
  int64_t panel;
  KeptOrder order;
  /// Whether lanes load their weights to registers.
  bool isInPlace;
  /// The order of staged weights; none where lanes load them to registers, or
  /// convert them.
  ::nm::TileLayout orderOfValues;
  /// Columns of the warp's that have one unit.
  int64_t unitColumns;
  bool areWeightsRows;

  /// The scales that a tile's squares have taken so far, by what they depend on
  /// along k, and by their column.
  std::map<std::pair<int64_t, int64_t>, RegisterScales> takenScales;

  /// What `prefetch` made last to load single positions or chunks.
  SmallVector<Operation *> loadsAhead;
};

} // namespace mlir::nm

#endif // NM_LIB_GPU_STRATEGIES_MMA_MMASYNCEXPANSION_H
