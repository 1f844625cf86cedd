//===- TileStores.cpp - Stores of a thread's part of C --------------------===//

#include "GPU/Sums/TileStores.h"

#include "GPU/Expand/ThreadEmitter.h"
#include "GPU/Sums/CompleteSums.h"
#include "GPU/Tile/BlockMemory.h"

#include "nm/Dialect/NM/IR/SplitFloatEmitter.h"
#include "nm/Format/SplitFloats.h"
#include "nm/GPU/Stage/AccessWidth.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::nm;

static SplitFloatsOp findSplitOf(Value view) {
  for (Operation *user : view.getUsers()) {
    if (auto splits = dyn_cast<SplitFloatsOp>(user))
      return splits;
    if (isa<memref::CastOp, memref::SubViewOp>(user))
      if (SplitFloatsOp splits = findSplitOf(user->getResult(0)))
        return splits;
  }
  return {};
}

SplitFloatsOp mlir::nm::findSplitsOfTile(Value c) {
  memref::AllocOp memory = findOwnMemory(c);
  return memory ? findSplitOf(memory) : SplitFloatsOp();
}

TileStores::TileStores(OpBuilder &builder, SpMMOp op, Value c, Value initial,
                       const std::optional<TileEpilogue> &epilogue,
                       int64_t perLine)
    : builder(builder), loc(op.getLoc()), c(epilogue ? epilogue->getC() : c),
      initial(initial), splits(findSplitsOfTile(this->c)), epilogue(epilogue),
      perLine(perLine),
      leading(cast<MemRefType>(this->c.getType()).getRank() - 2),
      alignment(perLine *
                cast<MemRefType>(this->c.getType()).getElementTypeBitWidth() /
                8),
      isTransposed(op.getTransposeC()) {
  auto type = cast<MemRefType>(op.getC().getType());
  // The staged tile is whole, so C has a constant size only if it is too.
  for (int64_t dim : {0, 1})
    isWhole[dim] = !type.isDynamicDim(dim);
  isAligned = getAccessWidth(this->c, {perLine, perLine}) == perLine;
}

SmallVector<Value> TileStores::completeSums(ArrayRef<Value> sums) {
  if (isWhole[0] && isWhole[1])
    return SmallVector<Value>(sums);
  return mlir::nm::completeSums(builder, loc, sums);
}

Value TileStores::isInside(Value index, int64_t dim) {
  if (isWhole[dim])
    return {};
  Value size = builder.createOrFold<memref::DimOp>(loc, c, leading + dim);
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, index,
                               size);
}

void TileStores::storeIf(Value condition, llvm::function_ref<void()> store) {
  OpBuilder::InsertionGuard guard(builder);
  if (condition) {
    auto guarded = scf::IfOp::create(builder, loc, condition);
    builder.setInsertionPointToStart(guarded.thenBlock());
  }
  store();
}

Value mlir::nm::addSums(OpBuilder &builder, Location loc, Value a, Value b) {
  if (getElementTypeOrSelf(a.getType()).isInteger())
    return arith::AddIOp::create(builder, loc, a, b);
  return arith::AddFOp::create(builder, loc, a, b);
}

/// `value` in the element type of the sums or of C, which is no wider.
static Value convert(OpBuilder &builder, Location loc, Type type, Value value) {
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    type = vector.clone(type);
  if (value.getType() == type)
    return value;
  if (getElementTypeOrSelf(type).isF32())
    return arith::ExtFOp::create(builder, loc, type, value);
  return arith::TruncFOp::create(builder, loc, type, value);
}

/// C plus the sum; or what it was filled with plus the sum; rounded once.
Value TileStores::addInitial(Value sum, ValueRange indices) {
  Type element = cast<MemRefType>(c.getType()).getElementType();
  // An epilogue makes what C has.
  if (epilogue)
    return sum;
  if (initial && (matchPattern(initial, m_AnyZeroFloat()) ||
                  matchPattern(initial, m_Zero())))
    return convert(builder, loc, element, sum);
  Value before;
  auto vectorType = dyn_cast<VectorType>(sum.getType());
  if (vectorType)
    vectorType = vectorType.clone(element);
  if (initial && vectorType)
    before = vector::BroadcastOp::create(builder, loc, vectorType, initial);
  else if (initial)
    before = initial;
  else if (vectorType)
    before = vector::LoadOp::create(builder, loc, vectorType, c, indices,
                                    /*nontemporal=*/false, alignment);
  else
    before = memref::LoadOp::create(builder, loc, c, indices);
  return addTo(before, sum);
}

/// `before`, of C's type, plus the sum, rounded once.
Value TileStores::addTo(Value before, Value sum) {
  Type element = cast<MemRefType>(c.getType()).getElementType();
  before = convert(builder, loc, getElementTypeOrSelf(sum.getType()), before);
  return convert(builder, loc, element, addSums(builder, loc, before, sum));
}

void TileStores::storeElement(SmallVector<Value> indices, Value line,
                              int64_t i) {
  indices.back() = builder.createOrFold<arith::AddIOp>(
      loc, indices.back(), arith::ConstantIndexOp::create(builder, loc, i));
  storeIf(isInside(indices.back(), 1), [&] {
    Value element = vector::ExtractOp::create(builder, loc, line, i);
    memref::StoreOp::create(builder, loc, addInitial(element, indices), c,
                            indices);
  });
}

SmallVector<Value> TileStores::getIndices(Value first, Value along) {
  SmallVector<Value> indices;
  if (leading != 0)
    indices.assign(leading, arith::ConstantIndexOp::create(builder, loc, 0));
  indices.append({first, along});
  return indices;
}

void TileStores::readAhead(MutableArrayRef<TileLine> lines) {
  if (!epilogue || !isWhole[0] || !isWhole[1])
    return;
  for (TileLine &line : lines)
    line.operands =
        epilogue->read(builder, {line.first, line.along},
                       cast<VectorType>(line.sums.getType()), {false, false});
}

TileLine TileStores::finish(const TileLine &line) {
  if (!epilogue)
    return line;
  if (!line.operands.empty())
    return {line.first, line.along,
            epilogue->apply(builder, line.sums, line.second, line.operands)};
  return {line.first, line.along,
          epilogue->apply(builder, line.sums, line.second,
                          {line.first, line.along},
                          {!isWhole[0], !isWhole[1]})};
}

void TileStores::storeLine(const TileLine &line) {
  storeFinished(finish(line));
}

/// The splits of neighbours along m, of which 64 have a split side by side.
/// What fills m up is zeros.
void TileStores::storeSplits(const TileLine &line) {
  ThreadEmitter emitter{builder, loc};
  Value values = addInitial(line.sums, getIndices(line.first, line.along));
  if (!isWhole[1]) {
    SmallVector<Value> elements;
    Value zero = emitter.zero(builder.getF32Type());
    for (int64_t i = 0; i < perLine; ++i)
      elements.push_back(arith::SelectOp::create(
          builder, loc, isInside(emitter.add(line.along, i), 1),
          vector::ExtractOp::create(builder, loc, values, i), zero));
    values = vector::FromElementsOp::create(
        builder, loc, cast<VectorType>(values.getType()), elements);
  }
  auto [group, column] = emitter.split(line.along, ::nm::kSplitColumns);
  int64_t count = splits.getSplits();
  Value output = splits.getOutput(),
        first = emitter.add(emitter.mul(group, count * ::nm::kSplitColumns),
                            column);
  Value isFilled;
  if (!isWhole[1])
    isFilled = emitter.less(
        first, builder.createOrFold<memref::DimOp>(loc, output, 1));
  storeIf(emitter.both(isInside(line.first, 0), isFilled), [&] {
    SmallVector<Value> split = emitSplitFloats(builder, loc, values, count);
    for (auto [split, value] : llvm::enumerate(split))
      vector::StoreOp::create(
          builder, loc, value, output,
          ValueRange{line.first,
                     emitter.add(first, int64_t(split) * ::nm::kSplitColumns)},
          /*nontemporal=*/false, llvm::MaybeAlign(2 * perLine));
  });
}

void TileStores::storeFinished(const TileLine &line) {
  if (splits)
    return storeSplits(line);
  SmallVector<Value> indices = getIndices(line.first, line.along);
  auto storeWhole = [&] {
    vector::StoreOp::create(builder, loc, addInitial(line.sums, indices), c,
                            indices, /*nontemporal=*/false, alignment);
  };
  auto storeElements = [&] {
    for (int64_t i = 0; i < perLine; ++i)
      storeElement(indices, line.sums, i);
  };
  storeIf(isInside(line.first, 0), [&] {
    if (!isAligned)
      return storeElements();
    if (isWhole[1])
      return storeWhole();
    Value last = builder.createOrFold<arith::AddIOp>(
        loc, line.along,
        arith::ConstantIndexOp::create(builder, loc, perLine - 1));
    auto split = scf::IfOp::create(builder, loc, isInside(last, 1),
                                   /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(split.thenBlock());
    storeWhole();
    builder.setInsertionPointToStart(split.elseBlock());
    storeElements();
  });
}

void TileStores::storeAll(ArrayRef<TileLine> lines) {
  for (const TileLine &line : lines)
    storeFinished(line);
}

Value TileStores::isInterior(const GpuTile &tile) {
  int64_t sizes[2] = {isTransposed ? tile.n : tile.m,
                      isTransposed ? tile.m : tile.n};
  Value whole;
  for (int64_t dim : {0, 1}) {
    if (isWhole[dim])
      continue;
    Value last = arith::ConstantIndexOp::create(builder, loc, sizes[dim] - 1);
    Value inside = isInside(last, dim);
    whole = whole ? arith::AndIOp::create(builder, loc, whole, inside) : inside;
  }
  return whole;
}

void TileStores::store(ArrayRef<TileLine> sums, const GpuTile &tile) {
  // Once for both branches.
  SmallVector<TileLine> lines;
  for (const TileLine &line : sums)
    lines.push_back(finish(line));
  Value whole = isInterior(tile);
  if (!whole)
    return storeAll(lines);
  // Blocks in the interior store without a look at each row.
  auto split = scf::IfOp::create(builder, loc, whole, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(split.elseBlock());
  storeAll(lines);
  isWhole[0] = isWhole[1] = true;
  builder.setInsertionPointToStart(split.thenBlock());
  storeAll(lines);
}

Value TileStores::completeLine(const TileLine &line) {
  SmallVector<Value> indices = getIndices(line.first, line.along);
  bool mayPassEnd = !isWhole[0] || !isWhole[1];
  if (epilogue || initial || !mayPassEnd)
    return addInitial(finish(line).sums, indices);
  auto type = cast<VectorType>(line.sums.getType())
                  .clone(cast<MemRefType>(c.getType()).getElementType());
  SmallVector<Value> before;
  for (int64_t i = 0; i < perLine; ++i) {
    before.push_back(loadInside(indices));
    indices.back() = builder.createOrFold<arith::AddIOp>(
        loc, indices.back(), arith::ConstantIndexOp::create(builder, loc, 1));
  }
  return addTo(vector::FromElementsOp::create(builder, loc, type, before),
               line.sums);
}

/// The element of C at `indices`, or zero where C has ended.
Value TileStores::loadInside(ArrayRef<Value> indices) {
  Value inside;
  for (int64_t dim : {0, 1})
    if (Value inDim = isInside(indices[size_t(leading + dim)], dim))
      inside =
          inside ? arith::AndIOp::create(builder, loc, inside, inDim) : inDim;
  Type element = cast<MemRefType>(c.getType()).getElementType();
  auto split = scf::IfOp::create(builder, loc, element, inside,
                                 /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(split.thenBlock());
  scf::YieldOp::create(
      builder, loc,
      memref::LoadOp::create(builder, loc, c, indices).getResult());
  builder.setInsertionPointToStart(split.elseBlock());
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getZeroAttr(element));
  scf::YieldOp::create(builder, loc, zero);
  return split.getResult(0);
}

SmallVector<Value> TileStores::complete(ArrayRef<TileLine> lines,
                                        const GpuTile &tile) {
  auto completeAll = [&] {
    return llvm::map_to_vector(
        lines, [&](const TileLine &line) { return completeLine(line); });
  };
  Value whole = isInterior(tile);
  if (!whole)
    return completeAll();
  Type element = cast<MemRefType>(c.getType()).getElementType();
  SmallVector<Type> types;
  for (const TileLine &line : lines)
    types.push_back(cast<VectorType>(line.sums.getType()).clone(element));
  auto split =
      scf::IfOp::create(builder, loc, types, whole, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(split.elseBlock());
  scf::YieldOp::create(builder, loc, completeAll());
  bool wasWhole[2] = {isWhole[0], isWhole[1]};
  isWhole[0] = isWhole[1] = true;
  builder.setInsertionPointToStart(split.thenBlock());
  scf::YieldOp::create(builder, loc, completeAll());
  std::copy_n(wasWhole, 2, isWhole);
  return SmallVector<Value>(split.getResults());
}
