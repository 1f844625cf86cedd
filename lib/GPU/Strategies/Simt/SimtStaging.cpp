//===- SimtStaging.cpp - Operand tiles of strategy simt -------------------===//

#include "GPU/Strategies/Simt/SimtStaging.h"

#include "GPU/Stage/StagedOperands.h"

#include "nm/Dialect/NM/IR/ScheduleFields.h"
#include "nm/GPU/Stage/AccessWidth.h"
#include "nm/GPU/Strategies/Simt/SimtCopies.h"
#include "nm/GPU/Strategies/Simt/SimtLayouts.h"
#include "nm/GPU/Strategies/Simt/SimtLimits.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace mlir::nm;

namespace {
/// The operand tiles of one product in workgroup memory.
class Staging : public ListedStaging {
public:
  using ListedStaging::ListedStaging;

private:
  /// Checks that the schedule's fields fit the operands.
  LogicalResult verify(const ::nm::GpuChip &chip) override;
  Buffers listBuffers() override;
  void emit() override;

  ::nm::SimtBlock describeBlock();
  ::nm::ScheduleFields getCopies();
  MemRefType typeOfA();
  MemRefType typeOfValues();
  MemRefType typeOfIndices();
  MemRefType typeOfStagingBuffer();
  int64_t widthOfA();
  bool hasFullTiles();
  void copyA();
  void copyToStagingBuffer();
  void copyFromStagingBuffer();
  Value stageIndices();
  bool isRowMajor() { return copies.layoutA == ::nm::TileOrder::RowMajor; }
  bool hasStagingBuffer() { return copies.copyA == ::nm::CopyKind::Matrices; }
  bool leavesIndices() { return copies.prefetch || block.hasUnreadIndices(); }

  /// The tile and its operands, and how these are staged.
  ::nm::SimtBlock block;
  ::nm::ScheduleFields copies;

  Value tileOfA, stagingBuffer;
  /// The tokens of the copies that bring parts of A to the staging buffer.
  SmallVector<Value> partTokens;
};
} // namespace

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

static MemRefLayoutAttrInterface strided(MLIRContext *context,
                                         ArrayRef<int64_t> strides) {
  return StridedLayoutAttr::get(context, /*offset=*/0, strides);
}

MemRefType Staging::typeOfA() {
  MLIRContext *context = builder.getContext();
  Type element =
      cast<SparseProductOpInterface>(*op).getAType().getElementType();
  if (isRowMajor())
    return getWorkgroupType({tile.m, tile.k}, element,
                            TileLayoutAttr::get(context, {tile.k, 1},
                                                /*hasDynamicOffset=*/false,
                                                getWordSwizzle()));
  int64_t strides[2] = {tile.m + ::nm::kRowPadding, 1};
  MemRefLayoutAttrInterface layout = strided(context, strides);
  if (copies.layoutA == ::nm::TileOrder::Interleaved)
    layout =
        TileLayoutAttr::get(context, strides,
                            /*hasDynamicOffset=*/false, getRowInterleave());
  return getWorkgroupType({countRows(), tile.m}, element, layout);
}

/// Panels stand side by side, so that a row of the tile is contiguous and lanes
/// that read neighbouring columns meet no bank twice.
MemRefType Staging::typeOfValues() {
  SmallVector<int64_t, 3> shape = getWeights().values;
  SmallVector<int64_t> strides = {tile.n, 1};
  if (shape.size() == 3)
    strides.insert(strides.begin(), shape.back());
  return getWorkgroupType(shape, getElement(),
                          strided(builder.getContext(), strides));
}

MemRefType Staging::typeOfIndices() {
  SmallVector<int64_t, 3> shape = getWeights().indices;
  return getWorkgroupType(shape, builder.getI8Type(),
                          strided(builder.getContext(), computeStrides(shape)));
}

/// Fragments of A's tile. Within one, the number of a 16-byte word is XORed
/// with that of its row, so that lanes that read neighbouring words of rows
/// four apart find them in different banks.
MemRefType Staging::typeOfStagingBuffer() {
  int64_t shape[4] = {tile.k / ::nm::kFragmentColumns,
                      tile.m / ::nm::kFragmentRows, ::nm::kFragmentRows,
                      ::nm::kFragmentColumns};
  ::nm::TileLayout layout{{{}, {}, {}, {}},
                          {{/*dim=*/3, /*bit=*/3, /*fromDim=*/2, /*fromBit=*/2,
                            /*count=*/2}}};
  return getWorkgroupType(
      shape, builder.getF32Type(),
      TileLayoutAttr::get(builder.getContext(), computeStrides(shape),
                          /*hasDynamicOffset=*/false, layout));
}

//===----------------------------------------------------------------------===//
// The schedule's fields
//===----------------------------------------------------------------------===//

/// Elements that an access to A takes.
int64_t Staging::widthOfA() {
  SmallVector<int64_t> extents = {countRows(), tile.m};
  if (!op.getTransposeA())
    std::swap(extents[0], extents[1]);
  return getAccessWidth(op.getA(), extents,
                        /*transposes=*/!op.getTransposeA(),
                        rows ? rows->attr : RowListAttr());
}

/// Whether the tile of the indices has as many as it has where it is full.
bool Staging::hasFullTiles() {
  return ArrayRef(getWeights().indices) == op.getIndicesType().getShape();
}

::nm::SimtBlock Staging::describeBlock() {
  ::nm::SimtBlock block;
  block.pattern = op.getPattern().getPattern();
  PackingAttr packing = op.getPanelPacking();
  if (packing && packing.getIndexBits() == 8)
    block.panel = packing.getPanel();
  block.m = tile.m;
  block.n = tile.n;
  block.k = tile.k;
  block.stagedRows = countRows();
  block.warpN = tile.warpN;
  block.threadM = tile.threadM;
  block.threadN = tile.threadN;
  block.threads = tile.threads;
  block.stages = tile.stages;
  block.sliceK = tile.sliceK;
  block.isMMajor = op.getTransposeA();
  block.packsRows = rows.has_value();
  block.strideOfA = getStrideFactors(op.getA())[0];
  block.widthOfA = widthOfA();
  block.hasLoop = isa<scf::ForOp>(op->getParentOp());
  block.hasFullTiles = hasFullTiles();
  return block;
}

/// What the schedule says, with the defaults that #nm.simt has.
::nm::ScheduleFields Staging::getCopies() {
  ::nm::GivenFields given = getGivenFields(op.getScheduleAttr());
  ::nm::ScheduleFields copies;
  given.replaceIn(copies);
  bool isTransposed =
      !op.getTransposeA() && copies.layoutA != ::nm::TileOrder::RowMajor;
  if (!given.copyA && isTransposed)
    copies.copyA = ::nm::CopyKind::Elements;
  return copies;
}

OperandStaging::Buffers Staging::listBuffers() {
  Buffers buffers = {countRows(), tile.m, {typeOfA(), typeOfValues()}};
  if (!leavesIndices())
    buffers.ofStage.push_back(typeOfIndices());
  if (hasStagingBuffer())
    buffers.others.push_back(typeOfStagingBuffer());
  return buffers;
}

LogicalResult Staging::verify(const ::nm::GpuChip &) {
  if (failed(takeRows()))
    return failure();
  block = describeBlock();
  copies = getCopies();
  if (::nm::Status status = block.verify(copies); !status)
    return op.emitOpError() << status.error().message;
  return success();
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// Where A stays as it is, or goes through registers because it is transposed.
void Staging::copyA() {
  if (copies.copyA == ::nm::CopyKind::Direct)
    return copy(op.getA(), tileOfA, /*transpose=*/false, rows);
  copyThroughRegisters(copies.copyA == ::nm::CopyKind::Squares
                           ? CopyKind::Squares
                           : CopyKind::Elements,
                       op.getA(), tileOfA, /*transpose=*/true, rows);
}

/// Each warp copies fragments of A as they are, and is alone to read them: it
/// need not wait for the others.
void Staging::copyToStagingBuffer() {
  stagingBuffer = memref::AllocOp::create(builder, loc, typeOfStagingBuffer());
  int64_t parts = block.fragmentsPerWarp();
  for (int64_t part = 0; part < parts; ++part) {
    auto copied = CopyOp::create(builder, loc, CopyKind::Direct, op.getA(),
                                 stagingBuffer, {part, parts});
    partTokens.push_back(
        GroupOp::create(builder, loc, copied.getToken()).getGroup());
  }
}

void Staging::copyFromStagingBuffer() {
  int64_t parts = int64_t(partTokens.size());
  for (int64_t part = 0; part < parts; ++part) {
    AwaitOp::create(builder, loc, SyncScope::Warp, partTokens[part]);
    CopyOp::create(builder, loc, CopyKind::Matrices, stagingBuffer, tileOfA,
                   {part, parts});
    ReleaseOp::create(builder, loc, SyncScope::Warp, stagingBuffer);
  }
}

/// A panel's indices are contiguous, and a unit row of one is a few bytes:
/// panels are copied as rows of bytes.
Value Staging::stageIndices() {
  MemRefType type = typeOfIndices();
  if (type.getRank() == 2)
    return copyToNew(op.getIndices(), type);
  Value buffer = memref::AllocOp::create(builder, loc, type);
  SmallVector<ReassociationIndices> panelRows = {{0}, {1, 2}};
  copy(
      memref::CollapseShapeOp::create(builder, loc, op.getIndices(), panelRows),
      memref::CollapseShapeOp::create(builder, loc, buffer, panelRows));
  return buffer;
}

void Staging::emit() {
  // A's loads take longest to return, so they are issued first.
  tileOfA = memref::AllocOp::create(builder, loc, typeOfA());
  hasStagingBuffer() ? copyToStagingBuffer() : copyA();
  Value values = copyToNew(op.getValues(), typeOfValues());
  Value indices = leavesIndices() ? op.getIndices() : stageIndices();
  SmallVector<Value> operands = {tileOfA, values, indices,
                                 castOutput(builder, op, tile)};
  Value group = finish();
  copyFromStagingBuffer();
  replaceListed(group, operands, /*buffers=*/leavesIndices() ? 2 : 3,
                /*isMMajor=*/!isRowMajor());
}

LogicalResult mlir::nm::stageSimtOperands(OpBuilder &builder, SpMMOp op) {
  return stageOperands<Staging>(builder, op);
}
