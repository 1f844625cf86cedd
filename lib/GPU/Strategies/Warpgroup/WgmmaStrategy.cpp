//===- WgmmaStrategy.cpp - Gathered products on the tensor cores ----------===//
//
// A warpgroup multiplies the transposed weights of 64 columns by rows of A:
// wgmma's first operand is the weights, its second the rows of A that they
// keep, and both are contiguous along the dimension that is not k. An
// instruction is in flight while the next tile's are issued, which must not
// touch its operands.
//
//===----------------------------------------------------------------------===//

#include "GPU/Strategies/Warpgroup/BytesExpansion.h"
#include "GPU/Strategies/Warpgroup/SplitFloatExpansion.h"
#include "GPU/Strategies/Warpgroup/WarpgroupExpansion.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::nm;

namespace {
class WgmmaExpansion : public WarpgroupExpansion {
public:
  WgmmaExpansion(SpMMOp op, const GpuTile &tile)
      : WarpgroupExpansion(tile, getSchedule(op).getWarpgroup(),
                           Float32Type::get(op.getContext()),
                           /*isPromoted=*/false),
        element(op.getValuesType().getElementType()) {}

  static LogicalResult verify(SpMMOp op, const GpuTile &tile);

  SmallVector<Value> expand(OpBuilder &builder, SparseProductOpInterface op,
                            ArrayRef<Value> sums) override;

private:
  static WgmmaScheduleAttr getSchedule(SpMMOp op) {
    return cast<WgmmaScheduleAttr>(op.getScheduleAttr());
  }

  Type element;
};
} // namespace

LogicalResult WgmmaExpansion::verify(SpMMOp op, const GpuTile &tile) {
  auto a = cast<MemRefType>(op.getA().getType()),
       values = cast<MemRefType>(op.getValues().getType());
  PackingAttr packing = op.getPanelPacking();
  bool areTiles = packing && packing.getTileRows() != 0 &&
                  gpu::GPUDialect::hasWorkgroupMemoryAddressSpace(values);
  if (!isa<TileLayoutAttr>(a.getLayout()) ||
      !(areTiles || isa<TileLayoutAttr>(values.getLayout())) ||
      op.getPattern().getPattern().m != 1)
    return op.emitOpError() << "expected operands in workgroup memory, where "
                               "nm-stage-shared-memory copies them, but got "
                            << a << " and " << values;
  return verifySums(op, tile, getSchedule(op).getWarpgroup(),
                    op.getScheduleAttr().getTiling().sumsOfElement);
}

SmallVector<Value> WgmmaExpansion::expand(OpBuilder &builder,
                                          SparseProductOpInterface product,
                                          ArrayRef<Value> sums) {
  auto op = cast<SpMMOp>(*product);
  ThreadEmitter emitter{builder, op.getLoc()};
  int64_t rows = cast<MemRefType>(op.getA().getType()).getDimSize(0);
  Value a = getPanelDescriptor(emitter, op.getA(), firstPanel(emitter), rows),
        values = getPanelDescriptor(emitter, op.getValues(),
                                    firstBlock(emitter), rows);
  SmallVector<Value> result(sums);
  NVVM::WgmmaFenceAlignedOp::create(builder, op.getLoc());
  for (int64_t row = 0; row < rows; row += kWgmmaK)
    for (auto [block, sum] : llvm::enumerate(result)) {
      int64_t ofRow = row * kPanelRowBytes;
      Value weights = advanceDescriptor(
          emitter, values, ofRow + int64_t(block) * rows * kPanelRowBytes);
      sum = emitWgmma(emitter, element, warpgroupM, weights,
                      advanceDescriptor(emitter, a, ofRow), sum);
    }
  commitProducts(builder, op);
  return result;
}

FailureOr<std::unique_ptr<TileExpansion>>
mlir::nm::createWgmmaExpansion(SparseProductOpInterface product,
                               const GpuTile &tile) {
  auto op = dyn_cast<SpMMOp>(*product);
  if (!op)
    return product->emitOpError()
           << "expected nm.spmm for strategy wgmma, but got a vector";
  if (op.getValuesType().getElementTypeBitWidth() == 8)
    return createBytesExpansion(op, tile);
  if (failed(WgmmaExpansion::verify(op, tile)))
    return failure();
  if (cast<SparseProductOpInterface>(*op).countSplits() > 1)
    return createSplitFloatExpansion(op, tile);
  return std::unique_ptr<TileExpansion>(
      std::make_unique<WgmmaExpansion>(op, tile));
}
