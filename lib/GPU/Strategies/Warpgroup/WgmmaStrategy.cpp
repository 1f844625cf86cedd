//===- WgmmaStrategy.cpp - Gathered products on the tensor cores ----------===//
//
// A warpgroup multiplies the transposed weights of 64 columns by rows of A:
// wgmma's first operand is the weights, its second the rows of A that they
// keep, and both are contiguous along the dimension that is not k. An
// instruction is in flight while the next tile's are issued, which must not
// touch its operands. Panels of split floats have each split of 64 rows of A
// in turn, and all columns of a split of the weights.
//
//===----------------------------------------------------------------------===//

#include "GPU/Strategies/Warpgroup/WarpgroupExpansion.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;
using namespace mlir::nm;

namespace {
class GatherSource : public OperandSource {
public:
  GatherSource(SpMMOp op, const GpuTile &tile)
      : OperandSource(op, tile, Float32Type::get(op.getContext()), getKept(op),
                      countSplits(op)),
        element(op.getValuesType().getElementType()),
        rows(cast<MemRefType>(op.getA().getType()).getDimSize(0)) {}

  static LogicalResult verify(SpMMOp op, const GpuTile &tile);

  void open(ThreadEmitter &emitter, SpMMOp op) override;
  int64_t countSteps() const override { return rows / kWgmmaK; }
  void multiply(ThreadEmitter &emitter, const SumsPart &part, int64_t step,
                SplitPair pair, MutableArrayRef<Value> sums,
                SumsUse use) override;

private:
  static SumsKept getKept(SpMMOp op) {
    return countSplits(op) == 1 ? SumsKept::InPlace
                                : getKeptOfSplits(getSchedule(op).compensated);
  }

  Type element;
  /// The rows of k of a tile.
  int64_t rows;
  /// The descriptors of the warpgroup's operands.
  Value a, weights;
};
} // namespace

LogicalResult GatherSource::verify(SpMMOp op, const GpuTile &tile) {
  auto a = cast<MemRefType>(op.getA().getType()),
       values = cast<MemRefType>(op.getValues().getType());
  PackingAttr packing = op.getPanelPacking();
  bool areTiles = packing && packing.getTileRows() != 0 &&
                  gpu::GPUDialect::hasWorkgroupMemoryAddressSpace(values);
  if (!isa<TileLayoutAttr>(a.getLayout()) ||
      !(areTiles || isa<TileLayoutAttr>(values.getLayout())) ||
      !cast<SparseProductOpInterface>(*op).isExact())
    return op.emitOpError() << "expected operands in workgroup memory, where "
                               "nm-stage-shared-memory copies them, but got "
                            << a << " and " << values;
  return verifySums(op, tile, op.getScheduleAttr().getTiling().sumsOfElement);
}

void GatherSource::open(ThreadEmitter &emitter, SpMMOp op) {
  a = getPanelDescriptor(emitter, op.getA(),
                         emitter.mul(firstPanel(emitter), splits), rows,
                         /*apart=*/splits);
  weights =
      getPanelDescriptor(emitter, op.getValues(), firstBlock(emitter), rows);
}

void GatherSource::multiply(ThreadEmitter &emitter, const SumsPart &part,
                            int64_t step, SplitPair pair,
                            MutableArrayRef<Value> sums, SumsUse use) {
  int64_t panel = rows * kPanelRowBytes,
          ofStep = step * kWgmmaK * kPanelRowBytes,
          ofSplit = pair.ofWeight * tile.n / ::nm::kWarpgroupM * panel;
  for (auto [block, ofBlock] : llvm::enumerate(sums)) {
    Value ofWeights = advanceDescriptor(
        emitter, weights, ofStep + int64_t(block) * panel + ofSplit);
    ofBlock = emitWgmma(
        emitter, element, part.rows, ofWeights,
        advanceDescriptor(emitter, a, ofStep + pair.ofA * panel), ofBlock, use);
  }
}

FailureOr<std::unique_ptr<TileExpansion>>
mlir::nm::createWgmmaExpansion(SparseProductOpInterface product,
                               const GpuTile &tile) {
  FailureOr<SpMMOp> op = getMatrixProduct(product);
  if (failed(op))
    return failure();
  if (op->getValuesType().getElementTypeBitWidth() != 8)
    return WarpgroupExpansion::create<GatherSource>(product, tile);
  FailureOr<std::unique_ptr<OperandSource>> bytes = createByteUnits(*op, tile);
  if (failed(bytes))
    return failure();
  return std::unique_ptr<TileExpansion>(
      std::make_unique<WarpgroupExpansion>(std::move(*bytes)));
}
