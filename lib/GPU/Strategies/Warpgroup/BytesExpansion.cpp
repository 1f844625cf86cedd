//===- BytesExpansion.cpp - Gathered products of bytes --------------------===//
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

#include "GPU/Strategies/Warpgroup/BytesExpansion.h"

#include "GPU/Strategies/Warpgroup/WarpgroupExpansion.h"
#include "GPU/Sums/TileStores.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

#include <numeric>

using namespace mlir;
using namespace mlir::nm;
using ::nm::MatrixDescriptor;
using ::nm::MatrixSwizzle;

/// Bytes of k of an instruction.
static constexpr int64_t kInstructionK = 32;
/// With promoted sums, the most rows of A whose sums of a tile have registers
/// beside them.
static constexpr int64_t kMaxRowsOfSums = 128;

namespace {
class BytesExpansion : public WarpgroupExpansion {
public:
  BytesExpansion(SpMMOp op, const GpuTile &tile)
      : WarpgroupExpansion(tile, getSchedule(op).getWarpgroup(), getSum(op),
                           getSchedule(op).isPromoted()),
        element(op.getValuesType().getElementType()),
        rowsAtOnce(getRowsAtOnce(op)) {}

  static LogicalResult verify(SpMMOp op, const GpuTile &tile);

  SmallVector<Value> expand(OpBuilder &builder, SparseProductOpInterface op,
                            ArrayRef<Value> sums) override;

private:
  static WgmmaScheduleAttr getSchedule(SpMMOp op) {
    return cast<WgmmaScheduleAttr>(op.getScheduleAttr());
  }
  static Type getSum(SpMMOp op) {
    return mlir::nm::detail::getProductAccumulatorType(
        op.getValuesType().getElementType());
  }
  static int64_t getRowsAtOnce(SpMMOp op) {
    int64_t rows = getSchedule(op).getWarpgroup()[0];
    return getSchedule(op).isPromoted() ? std::gcd(rows, kMaxRowsOfSums) : rows;
  }
  /// Sums that an instruction makes.
  int64_t sumsAtOnce() const {
    return rowsAtOnce * ::nm::kWarpgroupM / ::nm::kWarpgroupThreads;
  }
  LLVM::LLVMStructType getTypeAtOnce() const {
    return LLVM::LLVMStructType::getLiteral(
        sum.getContext(), SmallVector<Type>(sumsAtOnce(), sum));
  }
  Value getActivations(ThreadEmitter &emitter, SpMMOp op);
  Value getWeights(ThreadEmitter &emitter, SpMMOp op);
  Value multiply(ThreadEmitter &emitter, Value weights, Value activations,
                 Value sums, bool addsToSums);
  void multiplyRows(ThreadEmitter &emitter, SpMMOp op, int64_t firstRow,
                    MutableArrayRef<Value> sums, bool addsToSums);
  SmallVector<Value> expandPromoted(ThreadEmitter &emitter, SpMMOp op,
                                    ArrayRef<Value> promoted);

  Type element;
  /// The rows of A that an instruction multiplies.
  int64_t rowsAtOnce;
};
} // namespace

/// Bytes of a row of a panel of A in workgroup memory; 0 where it has none.
static int64_t getPanelWidth(SpMMOp op) {
  if (op.getPanelsA())
    return kPanelColumnsOfA;
  auto layout = dyn_cast<TileLayoutAttr>(
      cast<MemRefType>(op.getA().getType()).getLayout());
  return layout ? layout.getPanelColumns() : 0;
}

LogicalResult BytesExpansion::verify(SpMMOp op, const GpuTile &tile) {
  auto values = cast<MemRefType>(op.getValues().getType());
  int64_t width = getPanelWidth(op);
  if (width < MatrixDescriptor::kChunk || width > kPanelRowBytes ||
      !llvm::isPowerOf2_64(width) ||
      !gpu::GPUDialect::hasWorkgroupMemoryAddressSpace(values) ||
      op.getTransposeA() || op.getPattern().getPattern().m != 1)
    return op.emitOpError() << "expected operands in workgroup memory, where "
                               "nm-stage-shared-memory copies them, but got "
                            << op.getA().getType() << " and " << values;
  return verifySums(op, tile, getSchedule(op).getWarpgroup(),
                    op.getScheduleAttr().getTiling().sumsOfElement,
                    getRowsAtOnce(op));
}

/// The warpgroup's first row of A.
Value BytesExpansion::getActivations(ThreadEmitter &emitter, SpMMOp op) {
  int64_t width = getPanelWidth(op);
  MatrixDescriptor layout;
  layout.stride = static_cast<int>(MatrixDescriptor::kRows * width);
  layout.swizzle = width == 128  ? MatrixSwizzle::Bytes128
                   : width == 64 ? MatrixSwizzle::Bytes64
                   : width == 32 ? MatrixSwizzle::Bytes32
                                 : MatrixSwizzle::None;
  // With a swizzle, an instruction's k is within a panel.
  if (layout.swizzle == MatrixSwizzle::None)
    layout.leading = static_cast<int>(tile.m * width);
  return getMatrixDescriptor(emitter, op.getA(),
                             emitter.mul(groupM, warpgroupM * width), layout);
}

/// The first of the warpgroup's weights.
Value BytesExpansion::getWeights(ThreadEmitter &emitter, SpMMOp op) {
  return getChunkDescriptor(
      emitter, op.getValues(),
      emitter.mul(firstBlock(emitter), tile.k * ::nm::kWarpgroupM));
}

Value BytesExpansion::multiply(ThreadEmitter &emitter, Value weights,
                               Value activations, Value sums, bool addsToSums) {
  OpBuilder &builder = emitter.builder;
  MLIRContext *context = builder.getContext();
  using Types = NVVM::WGMMATypes;
  auto typeOf = [&](Types type) {
    return NVVM::WGMMATypesAttr::get(context, type);
  };
  auto types = typeOf(element.isInteger()            ? Types::s8
                      : isa<Float8E5M2Type>(element) ? Types::e5m2
                                                     : Types::e4m3);
  auto one = NVVM::WGMMAScaleInAttr::get(context, NVVM::WGMMAScaleIn::one);
  auto adds = addsToSums ? NVVM::WGMMAScaleOut::one : NVVM::WGMMAScaleOut::zero;
  return NVVM::WgmmaMmaAsyncOp::create(
      builder, emitter.loc, sums.getType(), sums, weights, activations,
      NVVM::MMAShapeAttr::get(context, ::nm::kWarpgroupM,
                              static_cast<int>(rowsAtOnce), kInstructionK),
      types, types, typeOf(sum.isInteger() ? Types::s32 : Types::f32),
      NVVM::WGMMAScaleOutAttr::get(context, adds), one, one,
      NVVM::MMALayoutAttr::get(context, NVVM::MMALayout::row),
      NVVM::MMALayoutAttr::get(context, NVVM::MMALayout::col),
      /*satfinite=*/NVVM::MMAIntOverflowAttr());
}

/// The products of an instruction's rows of A, from the warpgroup's `firstRow`
/// on, and each 64 columns.
void BytesExpansion::multiplyRows(ThreadEmitter &emitter, SpMMOp op,
                                  int64_t firstRow, MutableArrayRef<Value> sums,
                                  bool addsToSums) {
  Value a = getActivations(emitter, op), weights = getWeights(emitter, op);
  int64_t width = getPanelWidth(op);
  for (int64_t k = 0; k < tile.k; k += kInstructionK) {
    int64_t ofA = k / width * width * tile.m + k % width + firstRow * width;
    for (auto [block, ofBlock] : llvm::enumerate(sums)) {
      int64_t ofWeights = (k + int64_t(block) * tile.k) * ::nm::kWarpgroupM;
      ofBlock = multiply(
          emitter, advanceDescriptor(emitter, weights, ofWeights),
          advanceDescriptor(emitter, a, ofA), ofBlock, addsToSums || k != 0);
    }
  }
}

SmallVector<Value> BytesExpansion::expandPromoted(ThreadEmitter &emitter,
                                                  SpMMOp op,
                                                  ArrayRef<Value> promoted) {
  OpBuilder &builder = emitter.builder;
  Location loc = op.getLoc();
  SmallVector<Value> result(promoted);
  for (int64_t row = 0; row < warpgroupM; row += rowsAtOnce) {
    // Undefined: the first product does not add to sums, but makes them.
    Value none = LLVM::UndefOp::create(builder, loc, getTypeAtOnce());
    SmallVector<Value> blocks(blocksOfColumns(), none);
    turns.start(builder, loc);
    multiplyRows(emitter, op, row, blocks, /*addsToSums=*/false);
    turns.await(builder, loc);
    for (auto [i, part] : llvm::enumerate(extractSums(builder, loc, blocks))) {
      int64_t block = int64_t(i) / sumsAtOnce();
      Value &total =
          result[block * sumsPerBlock() + row / rowsAtOnce * sumsAtOnce() +
                 int64_t(i) % sumsAtOnce()];
      total = addSums(builder, loc, total, part);
    }
  }
  return result;
}

SmallVector<Value> BytesExpansion::expand(OpBuilder &builder,
                                          SparseProductOpInterface product,
                                          ArrayRef<Value> sums) {
  auto op = cast<SpMMOp>(*product);
  ThreadEmitter emitter{builder, op.getLoc()};
  if (isPromoted)
    return expandPromoted(emitter, op, sums);
  SmallVector<Value> result(sums);
  NVVM::WgmmaFenceAlignedOp::create(builder, op.getLoc());
  multiplyRows(emitter, op, /*firstRow=*/0, result, /*addsToSums=*/true);
  commitProducts(builder, op);
  return result;
}

FailureOr<std::unique_ptr<TileExpansion>>
mlir::nm::createBytesExpansion(SpMMOp op, const GpuTile &tile) {
  if (failed(BytesExpansion::verify(op, tile)))
    return failure();
  return std::unique_ptr<TileExpansion>(
      std::make_unique<BytesExpansion>(op, tile));
}
