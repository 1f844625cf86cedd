//===- ByteUnits.cpp - Gathered products of bytes -------------------------===//
//
// As in the strategy's other products, a warpgroup multiplies the weights of 64
// columns by rows of A. The instructions transpose no bytes: both operands are
// contiguous along k, of which an instruction takes 32 bytes. Weights are in
// chunks of 16 bytes, those of 64 columns side by side, and A in panels of 128
// bytes or fewer, swizzled, or as nm-pack-weights has put it into panels of 16.
//
// With promoted sums, registers hold the sums of a tile of no more than 128
// rows of A beside them: a warpgroup of 256 rows makes two products one after
// the other.
//
//===----------------------------------------------------------------------===//

#include "GPU/Strategies/Warpgroup/OperandSource.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

#include <numeric>

using namespace mlir;
using namespace mlir::nm;
using ::nm::MatrixDescriptor;
using ::nm::MatrixSwizzle;

/// With promoted sums, the most rows of A whose sums of a tile have registers
/// beside them.
static constexpr int64_t kMaxRowsOfSums = 128;

namespace {
class ByteUnits : public OperandSource {
public:
  ByteUnits(SpMMOp op, const GpuTile &tile)
      : OperandSource(op, tile, getSum(op),
                      getSchedule(op).promote ? SumsKept::Promoted
                                              : SumsKept::InPlace),
        element(op.getValuesType().getElementType()),
        rows(cast<SparseProductOpInterface>(*op).countRowsOfA()),
        panelWidth(getPanelWidth(op)), rowsAtOnce(getRowsAtOnce(op)) {}

  static LogicalResult verify(SpMMOp op, const GpuTile &tile);

  void open(ThreadEmitter &emitter, SpMMOp op) override;
  int64_t countSteps() const override { return rows / kWgmmaBytes; }
  void multiply(ThreadEmitter &emitter, const SumsPart &part, int64_t step,
                SplitPair pair, MutableArrayRef<Value> sums,
                SumsUse use) override;
  SumsPart partAtOnce() const override {
    return {0, rowsAtOnce, 0, blocksOfColumns()};
  }

private:
  static Type getSum(SpMMOp op) {
    return mlir::nm::detail::getProductAccumulatorType(
        op.getValuesType().getElementType());
  }
  static int64_t getPanelWidth(SpMMOp op);
  static int64_t getRowsAtOnce(SpMMOp op) {
    ::nm::ScheduleFields schedule = getSchedule(op);
    return schedule.promote ? std::gcd(schedule.warpgroupM, kMaxRowsOfSums)
                            : schedule.warpgroupM;
  }

  Type element;
  /// The rows of k of a tile.
  int64_t rows;
  /// Bytes of a row of a panel of A.
  int64_t panelWidth;
  /// The rows of A that an instruction multiplies.
  int64_t rowsAtOnce;
  /// The descriptors of the warpgroup's first row of A and first weights.
  Value a, weights;
};
} // namespace

/// 0 where A's tile has no panels.
int64_t ByteUnits::getPanelWidth(SpMMOp op) {
  if (op.getPanelsA())
    return kPanelColumnsOfA;
  auto layout = dyn_cast<TileLayoutAttr>(
      cast<MemRefType>(op.getA().getType()).getLayout());
  return layout ? layout.getPanelColumns() : 0;
}

LogicalResult ByteUnits::verify(SpMMOp op, const GpuTile &tile) {
  auto values = cast<MemRefType>(op.getValues().getType());
  int64_t width = getPanelWidth(op);
  if (width < MatrixDescriptor::kChunk || width > kPanelRowBytes ||
      !llvm::isPowerOf2_64(width) ||
      !gpu::GPUDialect::hasWorkgroupMemoryAddressSpace(values) ||
      op.getTransposeA() || !cast<SparseProductOpInterface>(*op).isExact())
    return op.emitOpError() << "expected operands in workgroup memory, where "
                               "nm-stage-shared-memory copies them, but got "
                            << op.getA().getType() << " and " << values;
  return verifySums(op, tile, op.getScheduleAttr().getTiling().sumsOfElement,
                    getRowsAtOnce(op));
}

void ByteUnits::open(ThreadEmitter &emitter, SpMMOp op) {
  MatrixDescriptor layout;
  layout.stride = static_cast<int>(MatrixDescriptor::kRows * panelWidth);
  layout.swizzle = panelWidth == 128  ? MatrixSwizzle::Bytes128
                   : panelWidth == 64 ? MatrixSwizzle::Bytes64
                   : panelWidth == 32 ? MatrixSwizzle::Bytes32
                                      : MatrixSwizzle::None;
  // With a swizzle, an instruction's k is within a panel.
  if (layout.swizzle == MatrixSwizzle::None)
    layout.leading = static_cast<int>(tile.m * panelWidth);
  a = getMatrixDescriptor(emitter, op.getA(),
                          emitter.mul(groupM, warpgroupM * panelWidth), layout);
  weights = getChunkDescriptor(
      emitter, op.getValues(),
      emitter.mul(firstBlock(emitter), rows * ::nm::kWarpgroupM));
}

void ByteUnits::multiply(ThreadEmitter &emitter, const SumsPart &part,
                         int64_t step, SplitPair, MutableArrayRef<Value> sums,
                         SumsUse use) {
  int64_t k = step * kWgmmaBytes;
  int64_t ofA = k / panelWidth * panelWidth * tile.m + k % panelWidth +
                part.firstRow * panelWidth;
  for (auto [block, ofBlock] : llvm::enumerate(sums)) {
    int64_t ofWeights = (k + int64_t(block) * rows) * ::nm::kWarpgroupM;
    ofBlock = emitWgmma(emitter, element, part.rows,
                        advanceDescriptor(emitter, weights, ofWeights),
                        advanceDescriptor(emitter, a, ofA), ofBlock, use);
  }
}

FailureOr<std::unique_ptr<OperandSource>>
mlir::nm::createByteUnits(SpMMOp op, const GpuTile &tile) {
  if (failed(ByteUnits::verify(op, tile)))
    return failure();
  return std::unique_ptr<OperandSource>(std::make_unique<ByteUnits>(op, tile));
}
