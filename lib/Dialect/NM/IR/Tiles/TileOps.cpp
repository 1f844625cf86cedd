//===- TileOps.cpp - Tiles on their way through a GPU ---------------------===//

#include "TileTypes.h"

#include "nm/GPU/Strategies/Simt/SimtCopies.h"
#include "nm/Schedule/TensorBoxes.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

#include "nm/Dialect/NM/IR/BufferAlignment.h"

using namespace mlir;
using namespace mlir::nm;
using ::nm::kFragmentColumns;
using ::nm::kFragmentRows;

#define GET_TYPEDEF_CLASSES
#include "nm/Dialect/NM/IR/NMTypes.cpp.inc"

void NMDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "nm/Dialect/NM/IR/NMTypes.cpp.inc"
      >();
}

LogicalResult RowListAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                  PatternAttr pattern, PackingAttr packing,
                                  int64_t windows, int64_t dim) {
  // (C1).
  if (windows < 1)
    return emitError() << "expected at least one window, but got " << windows;
  if (dim != 0 && dim != 1)
    return emitError() << "expected a list of dimension 0 or 1, but got "
                       << dim;
  // (C2).
  ::nm::PanelPacking lists = packing.getPacking();
  bool isList = lists.indexBits == 8 && lists.isRowWise() &&
                lists.panel <= pattern.getBn();
  if (lists.colInfo == 0 && !isList)
    return emitError() << "expected a packing with col_info, or with one byte "
                          "for each unit row of a panel, but got "
                       << packing;
  return packing.verifyWeights(emitError, pattern.getPattern(),
                               /*elementType=*/Type());
}

::nm::PanelPacking RowListAttr::getLists() const {
  ::nm::PanelPacking lists = getPacking().getPacking();
  if (lists.colInfo == 0)
    lists.colInfo = lists.panel;
  return lists;
}

int64_t RowListAttr::getUnitsOfWindow() const {
  return getLists().unitsOfList(getPattern().getPattern());
}

int64_t RowListAttr::countRows() const {
  return getWindows() * getUnitsOfWindow() * getPattern().getBk();
}

//===----------------------------------------------------------------------===//
// Slots
//===----------------------------------------------------------------------===//

MemRefType SlotOp::getSlotType(MemRefType ring) {
  return getTypeAtOffset(ring, /*droppedDims=*/1);
}

void SlotOp::build(OpBuilder &builder, OperationState &state, Value ring,
                   Value index) {
  build(builder, state, getSlotType(getBufferType(ring)), ring, index);
}

Value SlotOp::getViewSource() { return getRing(); }

LogicalResult SlotOp::verify() {
  MemRefType ring = getBufferType(getRing());
  // A permutation that slots take part in has none for one slot.
  auto permutesSlots = [](TileLayoutAttr tile) {
    ::nm::TileLayout layout = tile.getLayout();
    return !layout.order[0].empty() ||
           llvm::any_of(layout.xors, [](const ::nm::BitXor &bits) {
             return bits.dim == 0 || bits.fromDim == 0;
           });
  };
  auto tile = dyn_cast<TileLayoutAttr>(ring.getLayout());
  if (ring.getRank() < 1 || !hasTileOrStridedLayout(ring) ||
      (tile && permutesSlots(tile)))
    return emitOpError() << "expected a ring of at least one dimension whose "
                            "layout leaves the first alone, but got "
                         << ring;
  MemRefType expected = getSlotType(ring);
  if (getSlot().getType() != expected)
    return emitOpError() << "expected a slot of type " << expected
                         << ", but got " << getSlot().getType();
  // Where each slot starts, its swizzle does.
  int64_t alignment = getBufferAlignment(ring);
  if (!tile || alignment == kLineBytes)
    return success();
  int64_t apart = tile.getStrides()[0] * ring.getElementTypeBitWidth() / 8;
  if (apart % alignment != 0)
    return emitOpError() << "expected swizzled slots at multiples of "
                         << alignment << " bytes, but got them " << apart
                         << " apart";
  return success();
}

Value AliasOp::getViewSource() { return getSource(); }

LogicalResult AliasOp::verify() {
  MemRefType source = getBufferType(getSource()),
             view = getBufferType(getView());
  if (failed(verifyIsInWorkgroup(*this, "source", source)) ||
      failed(verifyIsInWorkgroup(*this, "view", view)))
    return failure();
  if (!hasTileOrStridedLayout(source) || !hasTileOrStridedLayout(view))
    return emitOpError() << "expected strided or tile layouts, but got "
                         << source << " and " << view;
  if (getBufferBytes(view) > getBufferBytes(source))
    return emitOpError() << "expected a view of at most the "
                         << getBufferBytes(source) << " bytes of " << source
                         << ", but got " << view << " of "
                         << getBufferBytes(view);
  if (getBufferAlignment(view) > getBufferAlignment(source))
    return emitOpError() << "expected a view at multiples of at most "
                         << getBufferAlignment(source)
                         << " bytes, as its source is, but got one at "
                         << getBufferAlignment(view);
  return success();
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

void CopyOp::build(OpBuilder &builder, OperationState &state, CopyKind way,
                   Value source, Value destination, ArrayRef<int64_t> part,
                   Value rows, RowListAttr rowList) {
  Type token = way == CopyKind::Matrices
                   ? Type()
                   : Type(TokenType::get(builder.getContext()));
  build(builder, state, token, way, source, destination, rows,
        /*condition=*/Value(), /*after=*/Value(), /*barriers=*/Value(),
        /*step=*/Value(), rowList,
        part.empty() ? DenseI64ArrayAttr() : builder.getDenseI64ArrayAttr(part),
        /*unfilled=*/IntegerAttr());
}

void LoadTileOp::build(OpBuilder &builder, OperationState &state, CopyKind way,
                       Value source, bool transpose, MemRefType destination,
                       Value rows, RowListAttr rowList) {
  build(builder, state, FragmentType::get(builder.getContext(), destination),
        way, source, transpose, rows, rowList);
}

static void getCopyEffects(
    OpOperand *read, OpOperand *written,
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  if (read)
    effects.emplace_back(MemoryEffects::Read::get(), read,
                         SideEffects::DefaultResource::get());
  if (written)
    effects.emplace_back(MemoryEffects::Write::get(), written,
                         SideEffects::DefaultResource::get());
}

void CopyOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  getCopyEffects(&getSourceMutable(), &getDestinationMutable(), effects);
  if (getRows())
    getCopyEffects(&getRowsMutable()[0], nullptr, effects);
}

void LoadTileOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  getCopyEffects(&getSourceMutable(), nullptr, effects);
  if (getRows())
    getCopyEffects(&getRowsMutable()[0], nullptr, effects);
}

void StoreTileOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  getCopyEffects(nullptr, &getDestinationMutable(), effects);
}

static bool isStagingBuffer(MemRefType type) {
  return gpu::GPUDialect::hasWorkgroupMemoryAddressSpace(type) &&
         type.hasStaticShape() && type.getRank() == 4 &&
         type.getDimSize(2) == kFragmentRows &&
         type.getDimSize(3) == kFragmentColumns &&
         type.getElementType().isF32();
}

static LogicalResult verifyRowBytes(CopyOp op, MemRefType destination) {
  int64_t elementBytes = destination.getElementTypeBitWidth() / 8;
  int64_t row = destination.getRank() == 0 ? 1 : destination.getShape().back();
  if (row * elementBytes % kMinAsyncBytes == 0)
    return success();
  return op.emitOpError() << "expected accesses of at least " << kMinAsyncBytes
                          << " bytes, but rows of " << destination
                          << " are not multiples of that";
}

static LogicalResult verifyIsBulk(CopyOp op) {
  if (op.getToken() && !op.getCondition())
    return success();
  return op.emitOpError() << "expected a token and no condition of a copy "
                             "that goes '"
                          << stringifyCopyKind(op.getKind()) << "'";
}

/// Whether sizes of `source` are those of `destination`, unknown or smaller, in
/// dimensions from `first` to `end`.
static bool fitsInto(MemRefType source, MemRefType destination, int64_t first,
                     int64_t end) {
  for (int64_t d = first; d < end; ++d)
    if (!source.isDynamicDim(d) &&
        source.getDimSize(d) > destination.getDimSize(d))
      return false;
  return true;
}

/// Whether what one index of the first dimension has is contiguous, and starts
/// at multiples of what bulk copies are of.
static bool hasContiguousParts(MemRefType type) {
  if (!type.isStrided() || type.getRank() < 2)
    return false;
  auto [strides, offset] = type.getStridesAndOffset();
  int64_t bytes = type.getElementTypeBitWidth() / 8;
  auto part =
      MemRefType::get(type.getShape().drop_front(), type.getElementType(),
                      StridedLayoutAttr::get(type.getContext(), 0,
                                             ArrayRef(strides).drop_front()));
  return isContiguous(part) &&
         (ShapedType::isDynamic(strides[0]) ||
          strides[0] * bytes % kBulkUnitBytes == 0) &&
         part.getNumElements() * bytes % kBulkUnitBytes == 0;
}

static LogicalResult verifyBulk(CopyOp op, MemRefType source,
                                MemRefType destination) {
  int64_t bytes =
      destination.getNumElements() * destination.getElementTypeBitWidth() / 8;
  bool isOne =
      source.getShape() == destination.getShape() && isContiguous(source);
  bool isInParts =
      source.getRank() == destination.getRank() && hasContiguousParts(source) &&
      source.getShape().drop_front() == destination.getShape().drop_front() &&
      (op.getRows() || fitsInto(source, destination, 0, 1));
  if ((!isOne && !isInParts) || !isContiguous(destination) ||
      bytes % kBulkUnitBytes != 0)
    return op.emitOpError() << "expected source and destination to be "
                               "contiguous, of one static shape and a multiple "
                               "of "
                            << kBulkUnitBytes << " bytes, but got " << source
                            << " and " << destination;
  return verifyIsBulk(op);
}

/// (C3).
static LogicalResult verifyPixels(TensorMapOp op) {
  constexpr int64_t kLeastRank = 3, kMostCorner = 32767;
  int64_t rank = cast<MemRefType>(op.getTensor().getType()).getRank();
  auto pixels = size_t(rank - 2);
  if (rank < kLeastRank || !op.getLower() || !op.getUpper() || !op.getSteps() ||
      op.getLower()->size() != pixels || op.getUpper()->size() != pixels ||
      op.getSteps()->size() != pixels)
    return op.emitOpError()
           << "expected pixels of an image of at least " << kLeastRank
           << " dimensions, and two corners and steps of all but its first and "
              "last, but got "
           << op.getTensor().getType();
  ArrayRef<int64_t> steps = *op.getSteps();
  if (llvm::any_of(steps, [](int64_t step) {
        return step < 1 || step > ::nm::kMaxPixelStep;
      }))
    return op.emitOpError() << "expected steps of 1 to " << ::nm::kMaxPixelStep
                            << ", but got [" << steps << "]";
  for (ArrayRef<int64_t> corners : {*op.getLower(), *op.getUpper()})
    for (int64_t corner : corners)
      if (corner < -kMostCorner - 1 || corner > kMostCorner)
        return op.emitOpError()
               << "expected corners of " << -kMostCorner - 1 << " to "
               << kMostCorner << ", but got [" << corners << "]";
  if (llvm::any_of(op.getBox().drop_back(2),
                   [](int64_t size) { return size != 1; }))
    return op.emitOpError() << "expected a box of places and channels alone, "
                               "but got ["
                            << op.getBox() << "]";
  return success();
}

LogicalResult TensorMapOp::verify() {
  constexpr int64_t kMaxRank = 5;
  auto type = cast<MemRefType>(getTensor().getType());
  // (C1).
  if (type.getRank() > kMaxRank || !isOfTensorMap(type))
    return emitOpError() << "expected a tensor of 1 to " << kMaxRank
                         << " dimensions whose rows are contiguous and "
                            "multiples of "
                         << kBulkUnitBytes << " bytes apart, but got " << type;
  // (C2).
  if (static_cast<int64_t>(getBox().size()) != type.getRank() ||
      llvm::any_of(getBox(), [](int64_t size) {
        return size < 1 || size > kMaxBoxElements;
      }))
    return emitOpError() << "expected " << type.getRank()
                         << " sizes of a box in 1.." << kMaxBoxElements
                         << ", but got [" << getBox() << "]";
  int64_t bytes = getBox().back() * type.getElementTypeBitWidth() / 8;
  if (getSwizzled() && !isSwizzleWidth(bytes))
    return emitOpError() << "expected rows of a swizzled box to take 32, 64 or "
                            "128 bytes, but got "
                         << bytes;
  if (bytes % kBulkUnitBytes != 0)
    return emitOpError() << "expected rows of a box to take a multiple of "
                         << kBulkUnitBytes << " bytes, but got " << bytes;
  bool hasPixels = getLower() || getUpper() || getSteps();
  return hasPixels ? verifyPixels(*this) : success();
}

static LogicalResult verifyTensorCopy(CopyOp op, MemRefType source,
                                      MemRefType destination) {
  int64_t rank = source.getRank();
  if (!isOfTensorMap(source))
    return op.emitOpError()
           << "expected a source whose rows are contiguous and multiples of "
           << kBulkUnitBytes << " bytes apart, but got " << source;
  // With a list, only the listed part of the source's second dimension has to
  // fit.
  int64_t whole = op.getRows() ? 1 : rank;
  if (rank != destination.getRank() || !fitsInto(source, destination, 0, whole))
    return op.emitOpError()
           << "expected a source that is no larger than its destination, but "
              "got "
           << source << " and " << destination;
  if (!isContiguous(destination) && !isSwizzledPanels(destination) &&
      !isPlainPanels(destination))
    return op.emitOpError() << "expected a contiguous destination, or one of "
                               "swizzled panels, or of panels as they are, but "
                               "got "
                            << destination;
  return verifyIsBulk(op);
}

/// (C2).
static LogicalResult verifyKind(CopyOp op, MemRefType source,
                                MemRefType destination) {
  if (op.getKind() == CopyKind::Bulk)
    return verifyBulk(op, source, destination);
  if (op.getKind() == CopyKind::Tensor)
    return verifyTensorCopy(op, source, destination);
  bool isDirect = op.getKind() == CopyKind::Direct;
  if (!isDirect && op.getKind() != CopyKind::Matrices)
    return op.emitOpError()
           << "expected 'direct', 'matrices', 'bulk' or 'tensor', but got '"
           << stringifyCopyKind(op.getKind()) << "', which nm.load_tile has";
  if (isDirect != bool(op.getToken()))
    return op.emitOpError() << "expected " << (isDirect ? "a" : "no")
                            << " token of a copy that goes '"
                            << stringifyCopyKind(op.getKind()) << "'";
  if (isDirect)
    return verifyRowBytes(op, destination);
  if (!isStagingBuffer(source))
    return op.emitOpError() << "expected a staging buffer of fragments of "
                            << kFragmentRows << " x " << kFragmentColumns
                            << " f32 in workgroup memory, but got " << source;
  int64_t k = source.getDimSize(0) * kFragmentColumns,
          m = source.getDimSize(1) * kFragmentRows;
  if (destination.getShape() != ArrayRef<int64_t>{k, m})
    return op.emitOpError() << "expected a tile of " << k << " x " << m
                            << " elements, but got " << destination;
  return success();
}

static LogicalResult verifyRows(Operation *op, Value rows,
                                RowListAttr rowList) {
  if (bool(rows) != bool(rowList))
    return op->emitOpError()
           << "expected rows and what their list means together";
  if (rows && (getBufferType(rows).getRank() != 3 ||
               !getBufferType(rows).getElementType().isInteger(8)))
    return op->emitOpError()
           << "expected a list of rows [panels x unit rows x bytes] of i8, but "
              "got "
           << rows.getType();
  return success();
}

/// (C3).
static LogicalResult verifyPart(CopyOp op, MemRefType source,
                                MemRefType destination) {
  bool isStaged = isStagingBuffer(source) || isStagingBuffer(destination);
  std::optional<ArrayRef<int64_t>> part = op.getPart();
  if (!part && op.getKind() == CopyKind::Matrices)
    return op.emitOpError()
           << "expected the part of a staging buffer that is copied";
  if (!part)
    return success();
  if (part->size() != 2 || (*part)[0] < 0 || (*part)[0] >= (*part)[1])
    return op.emitOpError() << "expected a part [i, n] with 0 <= i < n, but "
                               "got ["
                            << *part << "]";
  if (!isStaged)
    return op.emitOpError() << "expected a staging buffer to copy a part of, "
                               "but got "
                            << source << " and " << destination;
  return success();
}

/// (C4).
static LogicalResult verifyListed(CopyOp op, MemRefType destination) {
  if (!op.getRows() || op.getKind() == CopyKind::Direct)
    return success();
  RowListAttr list = op.getRowListAttr();
  bool isBulk = op.getKind() == CopyKind::Bulk;
  if ((!isBulk && op.getKind() != CopyKind::Tensor) ||
      list.getDim() != (isBulk ? 0 : 1))
    return op.emitOpError() << "expected a list to be copied 'direct', 'bulk' "
                               "where it is of dimension 0, or 'tensor' where "
                               "it is of dimension 1, but got '"
                            << stringifyCopyKind(op.getKind())
                            << "' of dimension " << list.getDim();
  if (isBulk)
    return success();
  auto tile = dyn_cast<TileLayoutAttr>(destination.getLayout());
  int64_t columns = tile && tile.getPanelColumns() != 0
                        ? tile.getPanelColumns()
                        : destination.getShape().back(),
          rows = list.getPattern().getBk();
  if (destination.getRank() == 2 && rows % columns == 0)
    return success();
  return op.emitOpError() << "expected listed units of " << rows
                          << " rows to be whole panels, but got "
                          << destination;
}

LogicalResult CopyOp::verify() {
  MemRefType source = getBufferType(getSource()),
             destination = getBufferType(getDestination());
  // (C1).
  if (failed(verifyElementTypes(*this, source, destination)) ||
      failed(verifyIsInWorkgroup(*this, "destination", destination)))
    return failure();
  if (failed(verifyKind(*this, source, destination)) ||
      failed(verifyRows(*this, getRows(), getRowListAttr())))
    return failure();
  if (failed(verifyPart(*this, source, destination)))
    return failure();
  if (!getPart() && source.getRank() != destination.getRank())
    return emitOpError() << "expected source and destination of one rank, but "
                            "got "
                         << source << " and " << destination;
  // (C5).
  if (std::optional<int64_t> dim = getUnfilled();
      dim && (getKind() != CopyKind::Tensor || *dim < 0 ||
              *dim >= destination.getRank()))
    return emitOpError() << "expected 'unfilled' to be a dimension of a "
                            "'tensor' copy, but got "
                         << *dim << " of one that goes '"
                         << stringifyCopyKind(getKind()) << "'";
  // (C6).
  if (!getBarriers() != !getStep() || (getAfter() && !getBarriers()) ||
      (getAfter() &&
       (!getWait() || getWait()->getBlock() != (*this)->getBlock())))
    return emitOpError()
           << "expected 'after' an nm.wait in its block, with the "
              "barrier that it 'arrives' at";
  return verifyListed(*this, destination);
}

LogicalResult LoadTileOp::verify() {
  MemRefType source = getBufferType(getSource()),
             destination = getFragment().getType().getDestination();
  // (C1).
  if (failed(verifyElementTypes(*this, source, destination)) ||
      failed(
          verifyIsInWorkgroup(*this, "fragment's destination", destination)) ||
      failed(verifyRows(*this, getRows(), getRowListAttr())))
    return failure();
  if (source.getRank() != destination.getRank())
    return emitOpError() << "expected source and destination of one rank, but "
                            "got "
                         << source << " and " << destination;
  if (getTranspose() && source.getRank() != 2)
    return emitOpError() << "expected two dimensions to transpose, but got "
                         << source;
  // (C2).
  bool isSquares = getKind() == CopyKind::Squares;
  if (!isSquares && getKind() != CopyKind::Elements)
    return emitOpError() << "expected 'elements' or 'squares', but got '"
                         << stringifyCopyKind(getKind())
                         << "', which nm.copy has";
  if (isSquares && !getTranspose())
    return emitOpError() << "expected 'squares' to be transposed";
  return success();
}

LogicalResult StoreTileOp::verify() {
  MemRefType expected = getFragment().getType().getDestination(),
             destination = getBufferType(getDestination());
  // (C1).
  if (hasTileOrStridedLayout(destination) && hasTileOrStridedLayout(expected) &&
      getTypeAtOffset(destination, 0) == getTypeAtOffset(expected, 0))
    return success();
  return emitOpError() << "expected a fragment that was loaded for "
                       << destination << ", but got one for " << expected;
}
