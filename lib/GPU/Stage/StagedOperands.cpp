//===- StagedOperands.cpp - Operand tiles in workgroup memory -------------===//

#include "GPU/Stage/StagedOperands.h"

#include "GPU/Stage/StagedStores.h"

#include "nm/GPU/Stage/AccessWidth.h"
#include "nm/GPU/Stage/OperandDemands.h"
#include "nm/GPU/Strategies/Warpgroup/WarpgroupRoles.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace mlir::nm;

/// A buffer in panels of `panel` columns, of which `xors` swizzles rows.
static MemRefType getPanelType(ArrayRef<int64_t> shape, Type element,
                               int64_t panel, std::vector<::nm::BitXor> xors) {
  int64_t last = int64_t(shape.size()) - 1, rows = shape[last - 1];
  ::nm::TileLayout layout;
  layout.order.resize(shape.size());
  layout.xors = std::move(xors);
  layout.panelColumns = panel;
  layout.panelStride = rows * panel;
  SmallVector<int64_t> strides = computeStrides(shape);
  strides[last - 1] = panel;
  return getWorkgroupType(shape, element,
                          TileLayoutAttr::get(element.getContext(), strides,
                                              /*hasDynamicOffset=*/false,
                                              layout));
}

MemRefType mlir::nm::getPanelledType(ArrayRef<int64_t> shape, Type element,
                                     int64_t panelBytes) {
  constexpr int64_t kLine = 128, kWord = 16;
  int64_t bytes = element.getIntOrFloatBitWidth() / 8,
          last = int64_t(shape.size()) - 1;
  std::vector<::nm::BitXor> xors;
  if (panelBytes > kWord)
    xors = {{/*dim=*/last, /*bit=*/llvm::Log2_64(kWord / bytes),
             /*fromDim=*/last - 1,
             /*fromBit=*/llvm::Log2_64(kLine / panelBytes),
             /*count=*/llvm::Log2_64(panelBytes / kWord)}};
  return getPanelType(shape, element, panelBytes / bytes, std::move(xors));
}

LogicalResult mlir::nm::verifyHasWgmma(SpMMOp op, const ::nm::GpuChip &chip) {
  if (chip.hasWgmma)
    return success();
  return op.emitOpError() << "expected chip sm_90a for strategy "
                          << op.getScheduleAttr().getStrategyName();
}

LogicalResult mlir::nm::verifyRowsOfA(SpMMOp op, const ::nm::GpuChip &chip) {
  if (failed(verifyHasWgmma(op, chip)))
    return failure();
  int64_t bytes = getLeastRowBytesOfA(op.getScheduleAttr(), op.getTransposeA());
  if (hasRowsAt(op.getA(), bytes))
    return success();
  return op.emitOpError() << "expected rows of A at multiples of " << bytes
                          << " bytes for strategy "
                          << op.getScheduleAttr().getStrategyName()
                          << ", but got " << op.getA().getType();
}

StorageShape mlir::nm::getWeightShape(SpMMOp op, const GpuTile &tile) {
  ::nm::Pattern pattern = op.getPattern().getPattern();
  StorageShape shape = StorageShape::condensed(pattern, tile.k, tile.n);
  if (PackedFormAttrInterface form = op.getPackingAttr())
    return form.getStorageShape(pattern, shape.values[0], shape.values[1]);
  return shape;
}

SmallVector<int64_t> mlir::nm::getShapeOfScales(SpMMOp op,
                                                const GpuTile &tile) {
  int64_t group = op.getQuantizationAttr().getGroup();
  return {int64_t(llvm::divideCeil(tile.k, group)), tile.n};
}

MemRefType mlir::nm::getPlainWorkgroupType(ArrayRef<int64_t> shape,
                                           Type element) {
  auto layout = StridedLayoutAttr::get(element.getContext(), /*offset=*/0,
                                       computeStrides(shape));
  return getWorkgroupType(shape, element, layout);
}

Value mlir::nm::castOpen(OpBuilder &builder, Location loc, Value operand,
                         ArrayRef<int64_t> whole) {
  auto type = cast<MemRefType>(operand.getType());
  SmallVector<int64_t> shape(type.getShape());
  for (auto [size, wholeSize] : llvm::zip(shape, whole))
    if (size != wholeSize)
      size = ShapedType::kDynamic;
  if (ArrayRef(shape) == type.getShape())
    return operand;
  // Strides are spelled out: those of an identity layout would be forgotten
  // with the sizes.
  auto [strides, offset] = type.getStridesAndOffset();
  auto layout = StridedLayoutAttr::get(type.getContext(), offset, strides);
  auto open = MemRefType::get(shape, type.getElementType(), layout,
                              type.getMemorySpace());
  return memref::CastOp::create(builder, loc, open, operand);
}

Value mlir::nm::castToWhole(OpBuilder &builder, Location loc, Value packed,
                            int64_t rows) {
  auto type = cast<MemRefType>(packed.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[0] = 1;
  shape[1] = rows;
  auto whole = MemRefType::get(shape, type.getElementType(), type.getLayout(),
                               type.getMemorySpace());
  return whole == type ? packed
                       : memref::CastOp::create(builder, loc, whole, packed);
}

Value mlir::nm::castOutput(OpBuilder &builder, SpMMOp op, const GpuTile &tile) {
  SmallVector<int64_t> whole(cast<MemRefType>(op.getC().getType()).getShape());
  whole[*op.getMDimOfC()] = tile.m;
  whole[op.getNDimOfC()] = tile.n;
  return castOpen(builder, op.getLoc(), op.getC(), whole);
}

LogicalResult mlir::nm::stageOutputAlone(OpBuilder &builder, SpMMOp op) {
  FailureOr<GpuTile> tile = GpuTile::get(op);
  if (failed(tile))
    return failure();
  builder.setInsertionPoint(op);
  op.getCMutable().set(castOutput(builder, op, *tile));
  return success();
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

Value OperandCopies::copyToNew(Value source, MemRefType type, bool transpose,
                               const std::optional<RowsOfTile> &rows) {
  Value buffer = memref::AllocOp::create(builder, loc, type);
  copy(source, buffer, transpose, rows);
  return buffer;
}

Value OperandCopies::copyToNew(CopyKind way, Value source, MemRefType type,
                               Value list, RowListAttr listAttr) {
  Value buffer = memref::AllocOp::create(builder, loc, type);
  tokens.push_back(CopyOp::create(builder, loc, way, source, buffer,
                                  /*part=*/ArrayRef<int64_t>(), list, listAttr)
                       .getToken());
  return buffer;
}

void OperandCopies::copy(Value source, Value buffer, bool transpose,
                         const std::optional<RowsOfTile> &rows) {
  auto type = cast<MemRefType>(buffer.getType());
  int64_t width = getCopyWidth(source, type.getShape());
  // Asynchronous copies are of elements that stand side by side.
  if (transpose || !areRowsContiguous(source) ||
      width * type.getElementTypeBitWidth() / 8 < kMinAsyncBytes)
    return copyThroughRegisters(CopyKind::Elements, source, buffer, transpose,
                                rows);
  tokens.push_back(
      CopyOp::create(builder, loc, CopyKind::Direct, source, buffer,
                     /*part=*/ArrayRef<int64_t>(), rows ? rows->list : Value(),
                     rows ? rows->attr : RowListAttr())
          .getToken());
}

void OperandCopies::copyThroughRegisters(
    CopyKind way, Value source, Value buffer, bool transpose,
    const std::optional<RowsOfTile> &rows) {
  Value loaded = LoadTileOp::create(
      builder, loc, way, source, transpose, cast<MemRefType>(buffer.getType()),
      rows ? rows->list : Value(), rows ? rows->attr : RowListAttr());
  fragments.push_back({loaded, buffer});
}

Value OperandCopies::finish() {
  Value group = GroupOp::create(builder, loc, tokens);
  for (auto [loaded, buffer] : fragments)
    StoreTileOp::create(builder, loc, loaded, buffer);
  return group;
}

//===----------------------------------------------------------------------===//
// Staging
//===----------------------------------------------------------------------===//

Value OperandStaging::copyTensorOfA(MemRefType type,
                                    std::optional<int64_t> unfilledDim) {
  Value buffer = copyToNew(CopyKind::Tensor, op.getA(), type);
  if (unfilledDim &&
      cast<MemRefType>(op.getA().getType()).isDynamicDim(*unfilledDim))
    tokens.back().getDefiningOp<CopyOp>().setUnfilled(unfilledDim);
  return buffer;
}

SpMMOp OperandStaging::replace(Value group, ArrayRef<Value> operands,
                               size_t buffers, bool asyncProxy) {
  AwaitOp::create(builder, op.getLoc(), SyncScope::Block, asyncProxy, group);
  auto staged = cast<SpMMOp>(
      clone(builder, op, /*newResultTypes=*/TypeRange(), operands));
  stageStores(builder, staged);
  SmallVector<Value> read =
      llvm::filter_to_vector(operands.take_front(buffers), [](Value operand) {
        return gpu::GPUDialect::hasWorkgroupMemoryAddressSpace(
            cast<MemRefType>(operand.getType()));
      });
  if (isa<scf::ForOp>(op->getParentOp()))
    ReleaseOp::create(builder, op.getLoc(), SyncScope::Block, read);
  op.erase();
  return staged;
}

LogicalResult ListedStaging::takeRows() {
  FailureOr<std::optional<RowsOfTile>> taken = RowsOfTile::takeFrom(op, tile);
  if (failed(taken))
    return failure();
  rows = std::move(*taken);
  return success();
}

void ListedStaging::replaceListed(Value group, ArrayRef<Value> operands,
                                  size_t buffers, bool isMMajor) {
  SpMMOp staged = replace(group, operands, buffers);
  staged.setTransposeA(isMMajor);
  if (!rows)
    return;
  staged.setGathered(ArrayRef({rows->attr.getWindows(), rows->unitsOfList()}));
  staged.setScheduleAttr(staged.getScheduleAttr().withoutPack());
}

/// Shared memory of a block: stages, what is there once, store buffers, and the
/// barriers of roles.
static uint64_t countBytes(SpMMOp op, int64_t stages,
                           ArrayRef<MemRefType> ofStage,
                           ArrayRef<MemRefType> others) {
  uint64_t bytes = ::nm::countSharedBytes(op.getScheduleAttr().getTiling(),
                                          /*stageBytes=*/0);
  for (MemRefType buffer : ofStage)
    bytes = llvm::SaturatingMultiplyAdd<uint64_t>(getWorkgroupBytes(buffer),
                                                  stages, bytes);
  for (MemRefType buffer : others)
    bytes = llvm::SaturatingAdd<uint64_t>(bytes, getWorkgroupBytes(buffer));
  return bytes;
}

LogicalResult OperandStaging::run(const ::nm::GpuChip &chip) {
  if (failed(verify(chip)) || failed(verifyStagedStores(op)))
    return failure();
  Buffers buffers = listBuffers();
  uint64_t bytes = countBytes(op, tile.stages, buffers.ofStage, buffers.others);
  if (bytes > uint64_t(chip.sharedPerBlock))
    return op.emitOpError()
           << "expected tiles of at most " << chip.sharedPerBlock
           << " bytes of shared memory, but " << tile.stages << " stages of a "
           << buffers.rowsOfA << " x " << buffers.columnsOfA
           << " tile of A with its weights take " << bytes;
  builder.setInsertionPoint(op);
  emit();
  return success();
}
