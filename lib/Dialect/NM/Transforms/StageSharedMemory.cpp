//===- StageSharedMemory.cpp - Operand tiles to workgroup memory ----------===//

#include "nm/Dialect/NM/Transforms/Passes.h"

#include "PassageCopy.h"
#include "TileCopy.h"

#include "nm/Dialect/NM/IR/CheckDivisors.h"
#include "nm/Dialect/NM/IR/Chip.h"
#include "nm/Dialect/NM/IR/StorageShape.h"
#include "nm/Dialect/NM/Transforms/AccessWidth.h"
#include "nm/Dialect/NM/Transforms/GpuTile.h"
#include "nm/Dialect/NM/Transforms/SimtOperands.h"
#include "nm/Support/SimtLimits.h"
#include "nm/Support/SimtPassage.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <numeric>

namespace mlir::nm {
#define GEN_PASS_DEF_NMSTAGESHAREDMEMORY
#include "nm/Dialect/NM/Transforms/Passes.h.inc"
} // namespace mlir::nm

using namespace mlir;
using namespace mlir::nm;

namespace {
/// The operand tiles of one product in workgroup memory.
class Staging {
public:
  Staging(OpBuilder &builder, SpMMOp op, const GpuTile &tile,
          std::optional<RowList> rows)
      : builder(builder), loc(op.getLoc()), op(op), tile(tile),
        rows(std::move(rows)) {}

  /// Bytes of all stages.
  uint64_t countBytes();
  /// Lets A go by way of a passage where usesPassage says so.
  void addPassage(int64_t maxBytes);
  /// The rows of A's tile.
  int64_t countRows() { return rows ? rows->rows() : tile.k; }
  void emit();

private:
  MemRefType typeOfA();
  MemRefType typeOfValues();
  MemRefType typeOfIndices();
  MemRefType workgroupType(ArrayRef<int64_t> shape, ArrayRef<int64_t> strides,
                           Type element);
  TileCopy describeCopyOfA();
  ::nm::PassageTile describePassage();
  Value copyA(const CopyThreads &threads);
  Value copyWeights(Value source, MemRefType type, const CopyThreads &threads);
  Value copyIndices(const CopyThreads &threads);
  Value castOutput();
  StorageShape weightShape();
  bool rowsStay() { return !rows && rowsOfAStay(op, tile); }
  bool interleaves() {
    return !rows && !hasPassage && interleavesRows(op, tile);
  }
  /// Whether the lists name one unit after the other: those that are kept.
  bool keepsAllRows() {
    return rows && rows->packing.unitsOfList(rows->pattern) == rows->pattern.n;
  }
  /// Those of the only unit that a window then has are read by no one, but are
  /// as many as the tile has, which a ragged one's copy fills up.
  bool leavesIndices() {
    return (keepsAllRows() && op.getIndicesType().getShape() ==
                                  ArrayRef(weightShape().indices)) ||
           readsIndicesInPlace(op, tile);
  }
  void setPackedPattern(SpMMOp staged);

  OpBuilder &builder;
  Location loc;
  SpMMOp op;
  const GpuTile &tile;
  /// The rows of A that are staged, if not all.
  std::optional<RowList> rows;
  bool hasPassage = false;
  std::optional<PassageCopy> passage;
};
} // namespace

MemRefType Staging::workgroupType(ArrayRef<int64_t> shape,
                                  ArrayRef<int64_t> strides, Type element) {
  MLIRContext *context = builder.getContext();
  auto layout = StridedLayoutAttr::get(context, /*offset=*/0, strides);
  auto space =
      gpu::AddressSpaceAttr::get(context, gpu::AddressSpace::Workgroup);
  return MemRefType::get(shape, element, layout, space);
}

MemRefType Staging::typeOfA() {
  if (rowsStay())
    return workgroupType(
        {tile.m, tile.k}, {tile.k, 1},
        cast<SparseProductOpInterface>(*op).getAType().getElementType());
  return workgroupType(
      {countRows(), tile.m}, {tile.m + ::nm::kRowPadding, 1},
      cast<SparseProductOpInterface>(*op).getAType().getElementType());
}

StorageShape Staging::weightShape() {
  ::nm::Pattern pattern = op.getPattern().getPattern();
  StorageShape shape = StorageShape::condensed(pattern, tile.k, tile.n);
  if (PackingAttr packing = op.getPackingAttr())
    return StorageShape::packed(pattern, packing, shape.values[0],
                                shape.values[1]);
  return shape;
}

/// Panels stand side by side, so that a row of the tile is contiguous and lanes
/// that read neighbouring columns meet no bank twice.
MemRefType Staging::typeOfValues() {
  SmallVector<int64_t, 3> shape = weightShape().values;
  SmallVector<int64_t> strides = {tile.n, 1};
  if (shape.size() == 3)
    strides.insert(strides.begin(), shape.back());
  return workgroupType(shape, strides, op.getValuesType().getElementType());
}

MemRefType Staging::typeOfIndices() {
  SmallVector<int64_t, 3> shape = weightShape().indices;
  return workgroupType(shape, computeStrides(shape), builder.getI8Type());
}

uint64_t Staging::countBytes() {
  int64_t bytes = 0;
  for (MemRefType type : {typeOfA(), typeOfValues(), typeOfIndices()})
    bytes += getWorkgroupBytes(type);
  if (leavesIndices())
    bytes -= getWorkgroupBytes(typeOfIndices());
  return llvm::SaturatingMultiply<uint64_t>(bytes, tile.stages);
}

::nm::PassageTile Staging::describePassage() {
  ::nm::Pattern pattern = op.getPattern().getPattern();
  auto type = cast<MemRefType>(op.getA().getType());
  ::nm::PassageTile passage;
  passage.m = tile.m;
  passage.k = tile.k;
  passage.n = tile.n;
  passage.keptRows =
      tile.k / pattern.windowRows() * pattern.keptRows() / tile.sliceK;
  passage.warps = tile.threads() / mlir::nm::kWarpSize;
  passage.stages = tile.stages;
  passage.isSparse = pattern.m > 1;
  passage.isAligned =
      type.getElementType().isF32() &&
      describeCopyOfA().width * sizeof(float) == kMaxAccessBytes;
  passage.isShared = pattern.bn % tile.warpN == 0;
  passage.otherBytes = countBytes();
  return passage;
}

void Staging::addPassage(int64_t maxBytes) {
  hasPassage = isa<SimtScheduleAttr>(op.getScheduleAttr()) &&
               isa<scf::ForOp>(op->getParentOp()) && !op.getTransposeA() &&
               !rows && usesPassage(describePassage(), maxBytes);
}

TileCopy Staging::describeCopyOfA() {
  TileCopy copy;
  copy.source = op.getA();
  copy.extents = {countRows(), tile.m};
  if (!op.getTransposeA())
    std::swap(copy.extents[0], copy.extents[1]);
  copy.width = getAccessWidth(op.getA(), copy.extents);
  copy.interleaveRows = interleaves();
  copy.rows = rows;
  if (rows && !op.getTransposeA())
    copy.width = std::gcd(copy.width, rows->pattern.bk);
  copy.swizzleChunks = rowsStay();
  return copy;
}

Value Staging::copyA(const CopyThreads &threads) {
  Value buffer = memref::AllocOp::create(builder, loc, typeOfA());
  TileCopy copy = describeCopyOfA();
  copy.destination = buffer;
  if (hasPassage) {
    passage.emplace(builder, loc, copy, threads);
    passage->emitCopies();
  } else if (op.getTransposeA() || rowsStay()) {
    emitCopy(builder, loc, copy, threads);
  } else {
    emitTransposingCopy(builder, loc, copy, threads);
  }
  return buffer;
}

Value Staging::copyWeights(Value source, MemRefType type,
                           const CopyThreads &threads) {
  Value buffer = memref::AllocOp::create(builder, loc, type);
  TileCopy copy;
  copy.source = source;
  copy.destination = buffer;
  copy.extents = SmallVector<int64_t>(type.getShape());
  copy.width = getAccessWidth(source, copy.extents);
  emitCopy(builder, loc, copy, threads);
  return buffer;
}

/// A panel's indices are contiguous, and a unit row of one is a few bytes:
/// panels are copied as rows of bytes.
Value Staging::copyIndices(const CopyThreads &threads) {
  MemRefType type = typeOfIndices();
  if (type.getRank() == 2)
    return copyWeights(op.getIndices(), type, threads);
  Value buffer = memref::AllocOp::create(builder, loc, type);
  SmallVector<ReassociationIndices> panelRows = {{0}, {1, 2}};
  TileCopy copy;
  copy.source =
      memref::CollapseShapeOp::create(builder, loc, op.getIndices(), panelRows);
  copy.destination =
      memref::CollapseShapeOp::create(builder, loc, buffer, panelRows);
  copy.extents = {type.getDimSize(0), type.getDimSize(1) * type.getDimSize(2)};
  copy.width = getAccessWidth(copy.source, copy.extents);
  emitCopy(builder, loc, copy, threads);
  return buffer;
}

/// The operand tiles are whole; C says by its sizes what there is to store.
Value Staging::castOutput() {
  auto type = cast<MemRefType>(op.getC().getType());
  int64_t mDim = *op.getMDimOfC(), nDim = op.getNDimOfC();
  SmallVector<int64_t> shape(type.getShape());
  if (shape[mDim] != tile.m)
    shape[mDim] = ShapedType::kDynamic;
  if (shape[nDim] != tile.n)
    shape[nDim] = ShapedType::kDynamic;
  // Strides are spelled out: those of an identity layout would be forgotten
  // with the sizes.
  auto [strides, offset] = type.getStridesAndOffset();
  auto layout = StridedLayoutAttr::get(type.getContext(), offset, strides);
  if (ArrayRef(shape) == type.getShape())
    return op.getC();
  auto open = MemRefType::get(shape, type.getElementType(), layout,
                              type.getMemorySpace());
  return memref::CastOp::create(builder, loc, open, op.getC());
}

/// Lets `staged` find units by their places in the lists: its windows are the
/// lists.
void Staging::setPackedPattern(SpMMOp staged) {
  ::nm::Pattern pattern = rows->pattern;
  if (keepsAllRows())
    pattern.n = pattern.m = 1;
  else
    pattern.m = rows->packing.unitsOfList(pattern);
  staged.setPatternAttr(PatternAttr::get(builder.getContext(), pattern));
  if (auto simt = dyn_cast<SimtScheduleAttr>(staged.getScheduleAttr()))
    staged.setScheduleAttr(simt.withoutPack());
}

void Staging::emit() {
  builder.setInsertionPoint(op);
  CopyThreads threads{gpu::ThreadIdOp::create(builder, loc, gpu::Dimension::x),
                      tile.threads()};
  // A's loads take longest to return, so they are issued first.
  Value a = copyA(threads);
  Value values = copyWeights(op.getValues(), typeOfValues(), threads);
  Value indices = leavesIndices() ? op.getIndices() : copyIndices(threads);
  SmallVector<Value> operands = {a, values, indices, castOutput()};
  if (passage)
    passage->emitMoves();
  gpu::BarrierOp::create(builder, loc);
  auto staged = cast<SpMMOp>(
      clone(builder, op, /*newResultTypes=*/TypeRange(), operands));
  staged.setTransposeA(!rowsStay());
  if (rowsStay())
    staged->setAttr(kSwizzledChunksAttr, builder.getUnitAttr());
  if (rows)
    setPackedPattern(staged);
  if (interleaves())
    staged->setAttr(kInterleavedRowsAttr, builder.getUnitAttr());
  // The next tile is copied over this one.
  gpu::BarrierOp::create(builder, loc);
  op.erase();
}

/// A view of `memref` without its first `count` dimensions, which a tile has
/// one of even where their type does not say so.
static Value dropLeadingDims(OpBuilder &builder, Location loc, Value memref,
                             int64_t count) {
  auto type = cast<MemRefType>(memref.getType());
  SmallVector<OpFoldResult> offsets(type.getRank(), builder.getIndexAttr(0)),
      strides(type.getRank(), builder.getIndexAttr(1)),
      sizes = memref::getMixedSizes(builder, loc, memref);
  std::fill_n(sizes.begin(), count, builder.getIndexAttr(1));
  MemRefType reduced = memref::SubViewOp::inferRankReducedResultType(
      type.getShape().drop_front(count), type, offsets, sizes, strides);
  return memref::SubViewOp::create(builder, loc, reduced, memref, offsets,
                                   sizes, strides);
}

/// Removes the batch dimensions from A and C.
static void dropBatchDims(OpBuilder &builder, SpMMOp op) {
  int64_t batchDims = op.getNumBatchDims();
  if (batchDims == 0)
    return;
  builder.setInsertionPoint(op);
  for (OpOperand *operand : {&op.getAMutable(), &op.getCMutable()})
    operand->set(
        dropLeadingDims(builder, op.getLoc(), operand->get(), batchDims));
}

namespace {
struct NMStageSharedMemory
    : mlir::nm::impl::NMStageSharedMemoryBase<NMStageSharedMemory> {
  using NMStageSharedMemoryBase::NMStageSharedMemoryBase;

  void runOnOperation() override {
    if (failed(checkDivisors(getOperation())))
      return signalPassFailure();
    SmallVector<SpMMOp> products;
    getOperation()->walk([&](SpMMOp op) {
      if (hasGpuSchedule(op) && op.hasPureBufferSemantics() &&
          op->getParentOfType<scf::ForallOp>())
        products.push_back(op);
    });
    OpBuilder builder(&getContext());
    for (SpMMOp op : products)
      if (failed(stage(builder, op)))
        return signalPassFailure();
  }

private:
  LogicalResult stage(OpBuilder &builder, SpMMOp op) {
    dropBatchDims(builder, op);
    // Its weights are read once, and A in a form of its own.
    if (isa<GemvScheduleAttr>(op.getScheduleAttr()))
      return success();
    FailureOr<GpuTile> tile = GpuTile::get(op);
    FailureOr<::nm::GpuChip> chip = getChip(op);
    if (failed(tile) || failed(chip))
      return failure();
    FailureOr<std::optional<RowList>> rows = RowList::takeFrom(op, *tile);
    if (failed(rows))
      return failure();
    Staging staging(builder, op, *tile, std::move(*rows));
    uint64_t bytes = staging.countBytes(), maxBytes = chip->sharedPerBlock;
    if (bytes > maxBytes)
      return op.emitOpError()
             << "expected tiles of at most " << maxBytes
             << " bytes of shared memory, but " << tile->stages
             << " stages of a " << staging.countRows() << " x " << tile->m
             << " tile of A with its weights take " << bytes;
    staging.addPassage(maxBytes);
    staging.emit();
    return success();
  }
};
} // namespace
