//===- BulkCopies.cpp - Copies that one thread starts ---------------------===//
//
// The first lane of a warp starts all that a copy consists of. The copies of a
// step are started by warps side by side, for each takes some 50 clocks.
//
//===----------------------------------------------------------------------===//

#include "GPU/Copies/BulkCopies.h"

#include "GPU/Copies/PixelTensor.h"
#include "GPU/Copies/RepeatedRowTensor.h"
#include "GPU/Copies/RowList.h"

#include "nm/GPU/Tile/GpuTile.h"
#include "nm/Schedule/TensorBoxes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <numeric>

using namespace mlir;
using namespace mlir::nm;

static MemRefType typeOf(Value buffer) {
  return cast<MemRefType>(buffer.getType());
}

static int64_t getElementBytes(Value buffer) {
  return typeOf(buffer).getElementTypeBitWidth() / 8;
}

Value mlir::nm::flattenBuffer(OpBuilder &builder, Location loc, Value buffer) {
  MemRefType type = typeOf(buffer);
  if (type.getRank() == 1 && type.getLayout().isIdentity())
    return buffer;
  auto flat = MemRefType::get(
      {type.getNumElements()}, type.getElementType(),
      StridedLayoutAttr::get(builder.getContext(), ShapedType::kDynamic, {1}),
      type.getMemorySpace());
  return AliasOp::create(builder, loc, flat, buffer);
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

namespace {
/// Emits a copy: which of the threads of a role starts it, and what that does.
class BulkCopy {
public:
  BulkCopy(RewriterBase &rewriter, CopyOp op, WarpsOp role,
           RoleBarriers &barriers, const BlockTiling &tiling)
      : rewriter(rewriter), emitter{rewriter, op.getLoc()}, op(op), role(role),
        barriers(barriers), partialBoxRows(tiling.boxRows) {}

  LogicalResult expand();

private:
  Value isStarter();
  int64_t countBytes() {
    return typeOf(op.getDestination()).getNumElements() *
           getElementBytes(op.getDestination());
  }
  LogicalResult findBoxes();
  void loadEntries();
  Value getColumn(int64_t column);
  int64_t boxesAlong(int64_t dim);
  Value countPartialBoxes();
  Value countCopiedBytes();
  void copyParts(Value slot);
  void copyBoxes(Value slot);
  Value getPlace(Value slot, int64_t row, int64_t column);
  void emitBox(int64_t row, int64_t column, function_ref<void()> copy);
  void copyRepeatedBoxes(Value slot);
  void copyFrom(Value map, Value to, const PixelTensor::Operands &operands);
  SmallVector<Value> locate(int64_t row, int64_t column);
  Value createMap(bool isSwizzled);
  PixelTensor::Operands locateBox(int64_t row, int64_t column);
  /// The place in the block, which is one in its cluster, too; PTX before 8.6
  /// wants that.
  Value inCluster(Value address);

  RewriterBase &rewriter;
  ThreadEmitter emitter;
  CopyOp op;
  WarpsOp role;
  RoleBarriers &barriers;
  /// The most rows of a box of a tile that A may end in; 0 for as many as any
  /// box has at most.
  int64_t partialBoxRows;
  Value barrier;
  /// The address and the map of a tensor copy: its boxes have rows of a panel
  /// each.
  std::optional<TensorAddress> place;
  /// The image, where the tensor are patches of one.
  std::optional<PixelTensor> pixels;
  /// The A, where the tensor are rows of it that are repeated.
  std::optional<RepeatedRowTensor> repeated;
  Value map;
  int64_t boxRows = 1, boxColumns = 1;
  /// The first column of the source that each box of listed units is of, or the
  /// index of the source's first dimension that each part is of.
  SmallVector<Value> listed;
  /// See countPartialBoxes; null where all boxes are copied.
  Value partialBoxes;
};
} // namespace

/// The tokens of the copies of its step, which one signal takes: its token has
/// no other use.
static ValueRange getTokensOfStep(CopyOp op) {
  return cast<SignalOp>(*op.getToken().user_begin()).getTokens();
}

/// The first lane of a warp for each copy of the step.
Value BulkCopy::isStarter() {
  ValueRange step = getTokensOfStep(op);
  int64_t number = std::distance(step.begin(), llvm::find(step, op.getToken()));
  return arith::CmpIOp::create(
      rewriter, emitter.loc, arith::CmpIPredicate::eq,
      getThreadOfRole(rewriter, role),
      emitter.index(number % role.countWarps() * kWarpSize));
}

Value BulkCopy::inCluster(Value address) {
  auto type = LLVM::LLVMPointerType::get(
      rewriter.getContext(),
      static_cast<unsigned>(NVVM::NVVMMemorySpace::SharedCluster));
  return LLVM::AddrSpaceCastOp::create(
      rewriter, emitter.loc, type,
      toPointer(emitter, address, NVVM::NVVMMemorySpace::Shared));
}

/// One copy, or one for each index of the first dimension; see nm.copy.
void BulkCopy::copyParts(Value slot) {
  MemRefType source = typeOf(op.getSource()),
             destination = typeOf(op.getDestination());
  int64_t stride = source.getStridesAndOffset().first.front();
  Value bytesApart = getRowBytes(emitter, op.getSource());
  int64_t parts = destination.getDimSize(0);
  int64_t ofPart = destination.getNumElements() / parts;
  bool isWhole = !op.getRows() && source.getShape() == destination.getShape();
  if (isWhole && stride == ofPart) {
    ofPart *= parts;
    parts = 1;
  }
  Value from = getElementAddress(emitter, op.getSource()), last;
  if (!isWhole && !op.getRows())
    last = emitter.add(
        rewriter.createOrFold<memref::DimOp>(emitter.loc, op.getSource(), 0),
        -1);
  for (int64_t part = 0; part < parts; ++part) {
    Value index = listed.empty() ? emitter.index(part)
                                 : emitter.toIndex(listed[size_t(part)]);
    if (last)
      index = emitter.least(index, last);
    int64_t bytes = ofPart * getElementBytes(op.getSource());
    Value start = emitter.add(from, rewriter.createOrFold<arith::MulIOp>(
                                        emitter.loc, index, bytesApart));
    NVVM::CpAsyncBulkGlobalToSharedClusterOp::create(
        rewriter, emitter.loc, inCluster(emitter.add(slot, part * bytes)),
        toPointer(emitter, start, NVVM::NVVMMemorySpace::Global), barrier,
        emitter.i32(bytes), /*multicastMask=*/Value(),
        /*l2CacheHint=*/Value());
  }
}

/// Finds the tensor, of which the host makes a map of boxes of a panel's width.
LogicalResult BulkCopy::findBoxes() {
  auto blocks = role->getParentOfType<scf::ForallOp>();
  place = TensorAddress::find(emitter, op.getSource(), blocks);
  if (!place)
    return op.emitOpError() << "expected a tile of a tensor outside of the "
                               "blocks, by slices of step 1";
  MemRefType type = typeOf(op.getDestination());
  if (type.getRank() > 2)
    return op.emitOpError() << "expected a tensor copy of one or two "
                               "dimensions, but got "
                            << type;
  auto tile = dyn_cast<TileLayoutAttr>(type.getLayout());
  bool isSwizzled = tile && !tile.getXors().empty();
  boxColumns = tile ? tile.getStrides()[0] : type.getShape().back();
  int64_t rows = type.getRank() == 1 ? 1 : type.getDimSize(0);
  bool isPartial = op.getUnfilled() == 0 && type.getRank() == 2;
  int64_t mostRows =
      isPartial && partialBoxRows != 0 ? partialBoxRows : ::nm::kMaxBoxRows;
  boxRows = rows <= mostRows ? rows : std::gcd(rows, mostRows);
  pixels = PixelTensor::find(place->tensor, boxColumns);
  if (!pixels && place->tensor.getDefiningOp<PatchesOp>())
    return op.emitOpError()
           << "expected the patches of an image whose last "
              "dimension are channels, "
           << boxColumns << " or a multiple, for tensor copies";
  repeated = RepeatedRowTensor::find(place->tensor);
  if (repeated && rows % ::nm::WindowTiles::kRows != 0)
    return op.emitOpError()
           << "expected a tile of whole " << ::nm::WindowTiles::kRows
           << " repeated rows, but got " << type;
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(blocks);
  if (repeated) {
    boxRows = ::nm::WindowTiles::kRows;
    repeated->createMaps(emitter, boxColumns, isSwizzled);
    return success();
  }
  map = createMap(isSwizzled);
  return success();
}

/// On the host.
Value BulkCopy::createMap(bool isSwizzled) {
  if (pixels)
    return pixels->createMap(rewriter, emitter.loc, boxRows, boxColumns,
                             isSwizzled);
  SmallVector<int64_t> box(typeOf(place->tensor).getRank(), 1);
  box[place->dims.back()] = boxColumns;
  if (place->dims.size() == 2)
    box[place->dims.front()] = boxRows;
  return TensorMapOp::create(rewriter, emitter.loc, place->tensor, box,
                             isSwizzled);
}

/// In front of the wait for the slot, so that the loads' latency and the wait
/// overlap.
void BulkCopy::loadEntries() {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op.getWait());
  bool isTensor = op.getKind() == CopyKind::Tensor;
  size_t dim = isTensor ? 1 : 0;
  RowList list(op.getRows(), op.getRowListAttr(), dim);
  list.slots = list.rows();
  int64_t size = typeOf(op.getDestination()).getDimSize(unsigned(dim));
  for (int64_t row = 0; row < size; row += isTensor ? boxColumns : 1) {
    Value number = emitter.i32(row);
    Value entry = list.loadEntry(rewriter, emitter.loc, number);
    listed.push_back(list.getSourceRow(rewriter, emitter.loc, number, entry));
  }
}

/// The column of the source that a box from `column` of the tile on begins at.
Value BulkCopy::getColumn(int64_t column) {
  return listed.empty() ? emitter.index(column)
                        : emitter.toIndex(listed[column / boxColumns]);
}

/// Boxes along a dimension of the destination.
int64_t BulkCopy::boxesAlong(int64_t dim) {
  ArrayRef<int64_t> shape = typeOf(op.getDestination()).getShape();
  bool isColumns = dim + 1 == int64_t(shape.size());
  return shape[dim] / (isColumns ? boxColumns : boxRows);
}

/// Boxes along the unfilled dimension that are copied: those that begin in
/// front of the tensor's end; all of them in the first turn of the ring, for
/// nothing has been in the slot yet.
Value BulkCopy::countPartialBoxes() {
  int64_t dim = *op.getUnfilled(), ofTensor = place->dims[dim];
  bool isColumns = dim + 1 == typeOf(op.getDestination()).getRank();
  Value size = rewriter.createOrFold<memref::DimOp>(emitter.loc, place->tensor,
                                                    ofTensor);
  Value rest =
      arith::SubIOp::create(rewriter, emitter.loc, size, place->at[ofTensor]);
  Value boxes = arith::CeilDivUIOp::create(
      rewriter, emitter.loc, rest,
      emitter.index(isColumns ? boxColumns : boxRows));
  Value all = emitter.index(boxesAlong(dim));
  Value some = emitter.least(boxes, all);
  int64_t slots = cast<BarriersType>(op.getBarriers().getType()).getStages();
  Value isFirst = emitter.less(op.getStep(), emitter.index(slots));
  return arith::SelectOp::create(rewriter, emitter.loc, isFirst, all, some);
}

/// Bytes of the boxes that are copied, as i32.
Value BulkCopy::countCopiedBytes() {
  if (!partialBoxes)
    return emitter.i32(countBytes());
  int64_t ofBox = countBytes() / boxesAlong(*op.getUnfilled());
  return emitter.toI32(emitter.mul(partialBoxes, ofBox));
}

void BulkCopy::copyFrom(Value map, Value to,
                        const PixelTensor::Operands &operands) {
  Value address = TensorMapAddressOp::create(
      rewriter, emitter.loc, LLVM::LLVMPointerType::get(rewriter.getContext()),
      map);
  NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
      rewriter, emitter.loc, inCluster(to), address, operands.coordinates,
      barrier, operands.offsets,
      /*multicastMask=*/Value(), /*l2CacheHint=*/Value(),
      pixels ? NVVM::TMALoadMode::IM2COL : NVVM::TMALoadMode::TILE,
      /*isCTAOnly=*/false, /*group=*/NVVM::CTAGroupKindAttr(),
      /*predicate=*/Value());
}

/// The place in the tensor of the box from `row` and `column` of the tile on.
SmallVector<Value> BulkCopy::locate(int64_t row, int64_t column) {
  SmallVector<Value> at = place->at;
  int64_t ofColumns = place->dims.back(), ofRows = place->dims.front();
  at[ofColumns] = emitter.add(at[ofColumns], getColumn(column));
  if (row != 0)
    at[ofRows] = emitter.add(at[ofRows], row);
  return at;
}

/// The coordinates of the box from `row` and `column` of the tile on.
PixelTensor::Operands BulkCopy::locateBox(int64_t row, int64_t column) {
  SmallVector<Value> at = locate(row, column);
  if (pixels) {
    // No box begins behind the last place.
    int64_t ofRows = place->dims.front(),
            places = typeOf(place->tensor).getDimSize(unsigned(ofRows));
    if (row != 0 && typeOf(op.getSource()).isDynamicDim(0))
      at[ofRows] = emitter.least(at[ofRows], emitter.index(places - 1));
    return pixels->locate(emitter, at);
  }
  // The innermost dimension first.
  PixelTensor::Operands operands;
  for (Value coordinate : llvm::reverse(at))
    operands.coordinates.push_back(emitter.toI32(coordinate));
  return operands;
}

/// Where in the slot the box from `row` and `column` of the tile on goes.
Value BulkCopy::getPlace(Value slot, int64_t row, int64_t column) {
  MemRefType type = typeOf(op.getDestination());
  int64_t rows = type.getRank() == 1 ? 1 : type.getDimSize(0);
  return emitter.add(slot, (column * rows + row * boxColumns) *
                               getElementBytes(op.getSource()));
}

/// Emits what `copy` emits for the box from `row` and `column` of the tile on,
/// under a condition where the tensor may have no such box.
void BulkCopy::emitBox(int64_t row, int64_t column, function_ref<void()> copy) {
  bool areColumnsPartial =
      partialBoxes &&
      int64_t(*op.getUnfilled()) + 1 == typeOf(op.getDestination()).getRank();
  int64_t number = areColumnsPartial ? column / boxColumns : row / boxRows;
  if (!partialBoxes || number == 0)
    return copy();
  emitter.onlyIf(emitter.less(emitter.index(number), partialBoxes), copy);
}

/// One tile of repeated rows after the other.
void BulkCopy::copyRepeatedBoxes(Value slot) {
  ArrayRef<int64_t> shape = typeOf(op.getDestination()).getShape();
  for (int64_t row = 0; row < shape.front(); row += boxRows)
    repeated->emitCopies(
        emitter, locate(row, 0),
        [&](Value map, ArrayRef<Value> coordinates, int64_t inTile) {
          for (int64_t column = 0; column < shape.back(); column += boxColumns)
            emitBox(row, column, [&] {
              SmallVector<Value> at(coordinates);
              at.front() = emitter.toI32(locate(row, column).back());
              copyFrom(map, getPlace(slot, row + inTile, column), {at, {}});
            });
        });
}

void BulkCopy::copyBoxes(Value slot) {
  if (repeated)
    return copyRepeatedBoxes(slot);
  MemRefType type = typeOf(op.getDestination());
  int64_t rows = type.getRank() == 1 ? 1 : type.getDimSize(0);
  for (int64_t column = 0; column < type.getShape().back();
       column += boxColumns)
    for (int64_t row = 0; row < rows; row += boxRows)
      emitBox(row, column, [&] {
        copyFrom(map, getPlace(slot, row, column), locateBox(row, column));
      });
}

LogicalResult BulkCopy::expand() {
  rewriter.setInsertionPoint(op);
  bool isTensor = op.getKind() == CopyKind::Tensor;
  if (isTensor && failed(findBoxes()))
    return failure();
  if (op.getRows())
    loadEntries();
  Value slot = emitter.toI32(getElementAddress(
      emitter, flattenBuffer(rewriter, emitter.loc, op.getDestination())));
  emitter.onlyIf(isStarter(), [&] {
    barrier = barriers.getPointer(rewriter, emitter.loc, op.getBarriers(),
                                  op.getStep());
    if (op.getUnfilled())
      partialBoxes = countPartialBoxes();
    NVVM::MBarrierArriveExpectTxOp::create(
        rewriter, emitter.loc, /*res=*/Type(), barrier, countCopiedBytes(),
        NVVM::MemScopeKind::CTA, /*relaxed=*/false,
        /*predicate=*/Value());
    if (isTensor)
      copyBoxes(slot);
    else
      copyParts(slot);
  });
  return success();
}

LogicalResult mlir::nm::expandBulkCopy(RewriterBase &rewriter, CopyOp op,
                                       WarpsOp role, RoleBarriers &barriers,
                                       const BlockTiling &tiling) {
  return BulkCopy(rewriter, op, role, barriers, tiling).expand();
}

/// How many copies the roles's steps have, where they are all bulk copies;
/// else 0.
static int64_t countStarters(WarpsOp role) {
  size_t starters = 0;
  bool areBulk = true;
  role.walk([&](CopyOp op) {
    areBulk &= op.isBulk();
    starters = std::max<size_t>(starters, getTokensOfStep(op).size());
  });
  return areBulk ? static_cast<int64_t>(starters) : 0;
}

void mlir::nm::keepStarters(RewriterBase &rewriter, WarpsOp role) {
  int64_t starters = std::min<int64_t>(countStarters(role), role.countWarps());
  if (starters == 0)
    return;
  OpBuilder::InsertionGuard guard(rewriter);
  Location loc = role.getLoc();
  Block *body = &role.getBody().front();
  SmallVector<Operation *> ops;
  for (Operation &op : *body)
    ops.push_back(&op);
  rewriter.setInsertionPointToStart(body);
  ThreadEmitter emitter{rewriter, loc};
  Value thread = getThreadOfRole(rewriter, role);
  Value isFirstLane =
      arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq,
                            emitter.rem(thread, kWarpSize), emitter.index(0));
  Value isStarter = emitter.less(thread, emitter.index(starters * kWarpSize));
  auto branch =
      scf::IfOp::create(rewriter, loc, emitter.both(isFirstLane, isStarter));
  for (Operation *op : ops)
    rewriter.moveOpBefore(op, branch.thenBlock()->getTerminator());
}
