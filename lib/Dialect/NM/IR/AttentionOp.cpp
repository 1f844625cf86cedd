//===- AttentionOp.cpp - nm.attention -------------------------------------===//

#include "StorageTiling.h"
#include "VerifyMaps.h"
#include "VerifyStorage.h"

#include "nm/Dialect/NM/IR/AttentionLoops.h"
#include "nm/Dialect/NM/IR/ContractionLoops.h"
#include "nm/Dialect/NM/IR/KeyParts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::nm;

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

std::optional<AttentionLoops> mlir::nm::getAttentionLoops(AffineMap q,
                                                          AffineMap k,
                                                          AffineMap v,
                                                          AffineMap o) {
  SmallVector<SmallVector<unsigned>> all;
  for (AffineMap map : {q, k, v, o})
    all.push_back(getLoopsOf(map));
  // Which operands run along the loop, a bit for each.
  auto operandsOf = [&](unsigned loop) {
    unsigned bits = 0;
    for (auto [i, loops] : llvm::enumerate(all))
      bits |= llvm::is_contained(loops, loop) ? 1u << i : 0;
    return bits;
  };
  constexpr unsigned kQ = 1, kK = 2, kV = 4, kO = 8;
  AttentionLoops loops;
  SmallVector<unsigned> keys, depth, width;
  for (unsigned loop = 0; loop < q.getNumDims(); ++loop)
    switch (operandsOf(loop)) {
    case kQ | kK | kV | kO:
      loops.batches.push_back(loop);
      break;
    case kQ | kO:
      loops.rows.push_back(loop);
      break;
    case kV | kO:
      width.push_back(loop);
      break;
    case kQ | kK:
      depth.push_back(loop);
      break;
    case kK | kV:
      keys.push_back(loop);
      break;
    default:
      return std::nullopt;
    }
  if (loops.rows.empty() || keys.size() != 1 || depth.size() != 1 ||
      width.size() != 1)
    return std::nullopt;
  loops.keys = keys.front();
  loops.depth = depth.front();
  loops.width = width.front();
  return loops;
}

AffineMap mlir::nm::getMaskMap(AttentionOp op) {
  return op.getMask() ? op.getMap(3) : AffineMap();
}

AffineMap mlir::nm::getLengthsMap(AttentionOp op) {
  return op.getLengths() ? op.getMap(op.getMask() ? 4 : 3) : AffineMap();
}

AffineMap mlir::nm::getOutputMap(AttentionOp op) {
  return op.getMap(op->getNumOperands() - 1);
}

AttentionLoops mlir::nm::getAttentionLoops(AttentionOp op) {
  return *getAttentionLoops(op.getMap(0), op.getMap(1), op.getMap(2),
                            getOutputMap(op));
}

std::optional<int64_t> AttentionOperands::findDim(Operand operand,
                                                  unsigned loop) {
  SmallVector<unsigned> of = getLoopsOf(op.getMap(numberOf(operand)));
  const auto *at = llvm::find(of, loop);
  return at == of.end() ? std::nullopt
                        : std::optional<int64_t>(at - of.begin());
}

std::pair<Value, int64_t> AttentionOperands::findSize(unsigned loop) {
  for (Operand operand : {Q, K, V})
    if (std::optional<int64_t> dim = findDim(operand, loop))
      return {valueOf(operand), *dim};
  llvm_unreachable(
      "each loop is one of the keys', the values' or the queries'");
}

int64_t AttentionOperands::getStaticSize(unsigned loop) {
  auto [operand, dim] = findSize(loop);
  return cast<ShapedType>(operand.getType()).getDimSize(dim);
}

SmallVector<Value> AttentionOperands::indicesOf(Operand operand,
                                                const Place &place) {
  return llvm::map_to_vector(getLoopsOf(op.getMap(numberOf(operand))),
                             [&](unsigned loop) { return place[loop]; });
}

std::optional<int64_t> AttentionOperands::countStatic(ArrayRef<unsigned> over) {
  int64_t count = 1;
  for (unsigned loop : over) {
    int64_t size = getStaticSize(loop);
    if (ShapedType::isDynamic(size))
      return std::nullopt;
    count *= size;
  }
  return count;
}

Value AttentionOperands::loadLength(OpBuilder &builder, Location loc,
                                    const Place &place) {
  Value length = memref::LoadOp::create(builder, loc, valueOf(Lengths),
                                        indicesOf(Lengths, place));
  length =
      arith::IndexCastOp::create(builder, loc, builder.getIndexType(), length);
  return arith::MaxSIOp::create(
      builder, loc, length, arith::ConstantIndexOp::create(builder, loc, 0));
}

bool AttentionOperands::hasFewRows() {
  constexpr int64_t kRowsOfWarp = 16;
  std::optional<int64_t> rows = countStatic(loops.rows);
  return rows && *rows <= kRowsOfWarp;
}

int64_t mlir::nm::countKeyParts(AttentionOp op) {
  AttentionOperands operands(op);
  const AttentionLoops &loops = operands.loops;
  std::optional<int64_t> heads = operands.countStatic(loops.batches),
                         ofHead = operands.countStatic(loops.rows),
                         ofGroup = operands.countStatic(loops.rows.back()),
                         keys = operands.countStatic(loops.keys);
  if (operands.hasFewRows() || !heads || !ofHead || !keys ||
      *heads * *ofHead == 0)
    return 1;
  int64_t seen = op.getCausal() ? std::min(*keys, *ofGroup) : *keys;
  return KeyParts::count(*heads, *ofHead, seen);
}

bool mlir::nm::mayHaveKeyParts(AttentionOp op) {
  AttentionOperands operands(op);
  const AttentionLoops &loops = operands.loops;
  std::optional<int64_t> heads = operands.countStatic(loops.batches),
                         rows = operands.countStatic(loops.rows),
                         keys = operands.countStatic(loops.keys);
  if (operands.hasFewRows() || (heads && rows && keys))
    return false;
  // Sizes that are not known are at least 1.
  int64_t blocks =
      heads.value_or(1) *
      int64_t(llvm::divideCeil(rows.value_or(1), KeyParts::kBlockRows));
  return 2 * blocks <= kBlocksAtOnce &&
         (!keys || *keys >= 2 * KeyParts::kLeastKeys);
}

bool mlir::nm::isOnePart(AttentionOp op) {
  AttentionOperands operands(op);
  std::optional<int64_t> keys = operands.countStatic(operands.loops.keys);
  return operands.hasFewRows() && keys && *keys <= kKeysOfPart;
}

std::optional<StringRef> mlir::nm::whyNoAttentionKernel(AttentionOp op) {
  // The depth of mma.sync, and the largest size of which registers have room
  // for the results.
  constexpr int64_t kStep = 16, kMost = 128;
  Type type = getElementTypeOrSelf(op.getQ().getType());
  if (!type.isF16() && !type.isBF16())
    return "elements are not f16 or bf16";
  AttentionOperands operands(op);
  for (unsigned loop : {operands.loops.depth, operands.loops.width}) {
    int64_t size = operands.getStaticSize(loop);
    if (ShapedType::isDynamic(size) || size % kStep != 0 || size > kMost)
      return "depth and width are not multiples of 16 up to 128";
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// The op
//===----------------------------------------------------------------------===//

/// (C2) of the mask and of lengths.
static LogicalResult verifyMaskLoops(AttentionOp op) {
  AttentionLoops loops = getAttentionLoops(op);
  if (AffineMap map = getLengthsMap(op))
    for (unsigned loop : getLoopsOf(map))
      if (!llvm::is_contained(loops.batches, loop))
        return op.emitOpError()
               << "expected lengths to run along batches, but got "
               << AffineMapAttr::get(map);
  if (!op.getMask())
    return success();
  for (unsigned loop : getLoopsOf(getMaskMap(op)))
    if (loop == loops.depth || loop == loops.width)
      return op.emitOpError() << "expected the mask to run along batches, rows "
                                 "and keys, but got "
                              << AffineMapAttr::get(getMaskMap(op));
  return success();
}

/// (C3).
static LogicalResult verifyElementTypes(AttentionOp op) {
  Type q = getElementTypeOrSelf(op.getQ().getType());
  for (Value other : {op.getK(), op.getV(), op.getO()})
    if (Type type = getElementTypeOrSelf(other.getType()); type != q)
      return op.emitOpError() << "expected Q, K, V and O of one element type, "
                                 "but got "
                              << q << " and " << type;
  return success();
}

LogicalResult AttentionOp::verify() {
  SmallVector<StringRef> names = {"Q", "K", "V"};
  if (getMask())
    names.push_back("the mask");
  if (getLengths())
    names.push_back("lengths");
  names.push_back("O");
  if (getIndexingMaps().size() != names.size())
    return emitOpError() << "expected " << names.size()
                         << " maps, one for each operand, but got "
                         << getIndexingMaps().size();
  SmallVector<MappedOperand> operands;
  for (auto [i, name] : llvm::enumerate(names))
    operands.push_back({name, getMap(i), getOperandType(i)});
  // (C1).
  if (failed(verifyMaps(*this, operands)))
    return failure();
  // (C2).
  if (!getAttentionLoops(getMap(0), getMap(1), getMap(2), getOutputMap(*this)))
    return emitOpError()
           << "expected every loop to be one of Q, K, V and O, of Q and O, of "
              "K "
              "and V, of Q and K, or of V and O, and one of each of the last "
              "three, but got "
           << getIndexingMaps();
  if (failed(verifyMaskLoops(*this)))
    return failure();
  // (C4).
  if (failed(verifyElementTypes(*this)) ||
      failed(verifyLoopSizes(*this, operands)))
    return failure();
  // (C5).
  return verifyTensorsOrMemRefs(*this);
}

void AttentionOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  getDestinationStyleEffects(*this, /*accumulates=*/false, effects);
}

LogicalResult
AttentionOp::reifyResultShapes(OpBuilder &builder,
                               ReifiedRankedShapedTypeDims &shapes) {
  return reifyDestinations(builder, *this, shapes);
}

//===----------------------------------------------------------------------===//
// Tiling
//===----------------------------------------------------------------------===//

static OpFoldResult getLoopSize(OpBuilder &builder, AttentionOp op,
                                unsigned loop) {
  auto [operand, dim] = AttentionOperands(op).findSize(loop);
  return getMixedSize(builder, op.getLoc(), operand, dim);
}

SmallVector<Range> AttentionOp::getIterationDomain(OpBuilder &builder) {
  SmallVector<Range> domain;
  for (unsigned loop = 0; loop < getNumLoops(); ++loop)
    domain.push_back({builder.getIndexAttr(0),
                      getLoopSize(builder, *this, loop),
                      builder.getIndexAttr(1)});
  return domain;
}

SmallVector<utils::IteratorType> AttentionOp::getLoopIteratorTypes() {
  AttentionLoops loops = getAttentionLoops(*this);
  SmallVector<utils::IteratorType> types(getNumLoops(),
                                         utils::IteratorType::parallel);
  types[loops.keys] = types[loops.depth] = utils::IteratorType::reduction;
  return types;
}

/// Whether `size` is the dimension of `op` that runs along `loop`. One that is
/// not static is, where it is asked of the operand.
static bool isWholeLoop(AttentionOp op, unsigned loop, OpFoldResult size) {
  AttentionOperands operands(op);
  int64_t known = operands.getStaticSize(loop);
  if (!ShapedType::isDynamic(known))
    return isConstantIntValue(size, known);
  auto value = dyn_cast<Value>(size);
  auto dim = value ? value.getDefiningOp<ShapedDimOpInterface>() : nullptr;
  auto [operand, number] = operands.findSize(loop);
  return dim && dim.getShapedValue() == operand &&
         isConstantIntValue(dim.getDimension(), number);
}

/// Fails with an error where `tile` would not be the op on slices.
static LogicalResult verifyTile(AttentionOp op, const SliceRegion &tile) {
  AttentionLoops loops = getAttentionLoops(op);
  for (auto [loop, name] :
       {std::pair(loops.keys, "keys"), {loops.depth, "depth"}})
    if (!isWholeLoop(op, loop, tile.sizes[loop]))
      return op.emitOpError()
             << "expected tiles of all of the " << name << ", loop " << loop
             << ", for a softmax takes whole rows of scores";
  unsigned rows = loops.rows.back();
  if (op.getCausal() && !isConstantIntValue(tile.offsets[rows], 0) &&
      !isWholeLoop(op, rows, tile.sizes[rows]))
    return op.emitOpError()
           << "expected tiles of all rows, loop " << rows
           << ", or of the first ones, for those of a causal attention count "
              "from 0";
  return success();
}

/// The part of an operand that `tile` needs.
static SliceRegion getRegion(AffineMap map, const SliceRegion &tile) {
  SliceRegion region;
  for (unsigned loop : getLoopsOf(map))
    region.append({tile.offsets[loop], tile.sizes[loop]});
  return region;
}

FailureOr<TilingResult>
AttentionOp::getTiledImplementation(OpBuilder &builder,
                                    ArrayRef<OpFoldResult> offsets,
                                    ArrayRef<OpFoldResult> sizes) {
  SliceRegion tile{llvm::to_vector(offsets), llvm::to_vector(sizes)};
  if (failed(verifyTile(*this, tile)))
    return failure();
  SmallVector<Operation *> slices;
  SmallVector<Value> operands;
  for (auto [i, operand] : llvm::enumerate((*this)->getOperands())) {
    // One length of all batches has no dimensions to be cut along.
    if (getMap(i).getNumResults() == 0) {
      operands.push_back(operand);
      continue;
    }
    slices.push_back(
        createSlice(builder, getLoc(), operand, getRegion(getMap(i), tile)));
    operands.push_back(slices.back()->getResult(0));
  }
  SmallVector<Type> resultTypes;
  if (getNumResults() != 0)
    resultTypes.push_back(operands.back().getType());
  Operation *tiled = mlir::clone(builder, *this, resultTypes, operands);
  return TilingResult{{tiled}, SmallVector<Value>(tiled->getResults()), slices};
}

LogicalResult AttentionOp::getResultTilePosition(
    OpBuilder &, unsigned, ArrayRef<OpFoldResult> offsets,
    ArrayRef<OpFoldResult> sizes, SmallVector<OpFoldResult> &resultOffsets,
    SmallVector<OpFoldResult> &resultSizes) {
  SliceRegion region = getRegion(
      getOutputMap(*this), {llvm::to_vector(offsets), llvm::to_vector(sizes)});
  resultOffsets = region.offsets;
  resultSizes = region.sizes;
  return success();
}

FailureOr<TilingResult>
AttentionOp::generateResultTileValue(OpBuilder &builder, unsigned,
                                     ArrayRef<OpFoldResult> offsets,
                                     ArrayRef<OpFoldResult> sizes) {
  SliceRegion tile;
  for (const Range &range : getIterationDomain(builder))
    tile.append({range.offset, range.size});
  for (auto [dim, loop] : llvm::enumerate(getLoopsOf(getOutputMap(*this)))) {
    tile.offsets[loop] = offsets[dim];
    tile.sizes[loop] = sizes[dim];
  }
  return getTiledImplementation(builder, tile.offsets, tile.sizes);
}
