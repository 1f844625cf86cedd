//===- LaneRows.cpp - Rows of a matrix that a lane has --------------------===//

#include "GPU/Strategies/Simt/LaneRows.h"

#include "GPU/Expand/ElementWords.h"
#include "GPU/Expand/ImagePlaces.h"

#include "nm/GPU/Stage/AccessWidth.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <limits>

using namespace mlir;
using namespace mlir::nm;

namespace {
class MatrixLaneRows : public LaneRows {
public:
  MatrixLaneRows(ThreadEmitter &emitter, Value a, Value first, Value lane,
                 int64_t count);

  bool areNeighbours() const override { return isVector; }
  SmallVector<Value> place(ThreadEmitter &emitter, Value k) const override;
  SmallVector<Value> load(ThreadEmitter &emitter,
                          ArrayRef<Value> place) const override;

private:
  Type element;
  /// Elements between rows of A: as a value, and as a number where places fit.
  Value stride;
  int64_t count, knownStride;
  bool isVector;
  /// A from the lane's first row on, where rows are neighbours; else one view
  /// from each of the lane's rows on.
  SmallVector<Value> views;
};
} // namespace

static int64_t getKnownStride(MemRefType type) {
  auto [strides, offset] = type.getStridesAndOffset();
  int64_t stride = strides[type.getRank() - 2],
          k = type.getShape()[type.getRank() - 2];
  bool fits =
      !ShapedType::isDynamic(stride) && !ShapedType::isDynamic(k) &&
      (stride == 0 || k <= std::numeric_limits<uint32_t>::max() / stride);
  return fits ? stride : ShapedType::kDynamic;
}

MatrixLaneRows::MatrixLaneRows(ThreadEmitter &emitter, Value a, Value first,
                               Value lane, int64_t count)
    : element(cast<MemRefType>(a.getType()).getElementType()), count(count),
      knownStride(getKnownStride(cast<MemRefType>(a.getType()))),
      isVector(getAccessWidth(a, {1, count}) % count == 0) {
  OpBuilder &builder = emitter.builder;
  int64_t rank = cast<MemRefType>(a.getType()).getRank();
  stride = memref::ExtractStridedMetadataOp::create(builder, emitter.loc, a)
               .getStrides()[rank - 2];
  firstRow = emitter.add(first, isVector ? emitter.mul(lane, count) : lane);
  Value rows = builder.createOrFold<memref::DimOp>(emitter.loc, a, rank - 1);
  // Lanes behind the last row read that, so that they need not be told apart.
  Value last = builder.createOrFold<arith::SubIOp>(
      emitter.loc, rows, emitter.index(isVector ? count : 1));
  for (int64_t i = 0; i < (isVector ? 1 : count); ++i)
    views.push_back(
        viewFrom(emitter, a, emitter.least(getRow(emitter, i), last)));
}

/// The distance from the first row in elements where that is known to fit, or
/// else `k` itself.
SmallVector<Value> MatrixLaneRows::place(ThreadEmitter &emitter,
                                         Value k) const {
  return {ShapedType::isDynamic(knownStride) ? k : emitter.mul(k, knownStride)};
}

SmallVector<Value> MatrixLaneRows::load(ThreadEmitter &emitter,
                                        ArrayRef<Value> place) const {
  OpBuilder &builder = emitter.builder;
  Value index = emitter.toIndex(place[0]);
  if (ShapedType::isDynamic(knownStride))
    index = builder.createOrFold<arith::MulIOp>(emitter.loc, index, stride);
  SmallVector<Value> elements;
  if (!isVector) {
    for (Value view : views)
      elements.push_back(toAccumulator(
          emitter, memref::LoadOp::create(builder, emitter.loc, view, index)));
    return elements;
  }
  Value loaded = vector::LoadOp::create(
      builder, emitter.loc, VectorType::get(count, element), views[0], index,
      /*nontemporal=*/false,
      llvm::MaybeAlign(count * element.getIntOrFloatBitWidth() / 8));
  for (int64_t i = 0; i < count; ++i)
    elements.push_back(toAccumulator(emitter, emitter.extract(loaded, i)));
  return elements;
}

std::unique_ptr<LaneRows> mlir::nm::createLaneRows(ThreadEmitter &emitter,
                                                   Value a, Value first,
                                                   Value lane, int64_t count) {
  if (std::unique_ptr<LaneRows> rows =
          createImageRows(emitter, a, first, lane, count))
    return rows;
  return std::make_unique<MatrixLaneRows>(emitter, a, first, lane, count);
}
