//===- ProducerCopies.cpp - Copies by warps that do nothing else ----------===//
//
// Of a tile each warp takes as many rows as the others, one after the other,
// and its lanes stand along them. What a thread can know of a tile before its
// slot is free, it computes before it waits for that: behind the wait, all
// warps would leave the load unit idle together.
//
//===----------------------------------------------------------------------===//

#include "ProducerCopies.h"

#include "BulkCopies.h"
#include "CompleteSums.h"
#include "ExpandProduct.h"
#include "RowList.h"
#include "ThreadEmitter.h"
#include "TilePlaces.h"

#include "nm/Dialect/NM/GPUTransforms/AccessWidth.h"
#include "nm/Dialect/NM/GPUTransforms/GpuTile.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/PatternMatch.h"

#include <limits>
#include <numeric>

using namespace mlir;
using namespace mlir::nm;

/// cp.async of 16 bytes bypasses the L1 cache.
static constexpr int64_t kBypassBytes = 16;

static MemRefType typeOf(Value buffer) {
  return cast<MemRefType>(buffer.getType());
}

namespace {
/// Copies rows of A, those of a list or all, to a slot.
class RowCopies {
public:
  RowCopies(RewriterBase &rewriter, CopyOp op, WarpsOp role);

  LogicalResult verify();
  void expand();

private:
  void placeThread();
  Value getRow(ThreadEmitter &emitter, int64_t round) {
    return emitter.add(firstRow, round * rowsAtOnce());
  }
  Value getListedRow(ThreadEmitter &emitter, Value first, int64_t round);
  SmallVector<Value> loadEntries(OpBuilder &builder, Value listed);
  void carryRows(scf::ForOp loop);
  SmallVector<Value> computeRows(Value source, ArrayRef<Value> entries);
  Value getRowBytes(ThreadEmitter &emitter, Value source);
  Value getOffset(ThreadEmitter &emitter, Value sourceRow, Value rowBytes);
  Value isInSource(ThreadEmitter &emitter, int64_t round, Value end);
  void issue();
  void copyRows(ThreadEmitter &emitter, Value end);

  int64_t accessesPerRow() const { return columns / width; }
  /// Lanes along a row, and rows that a warp copies at once.
  int64_t lanesPerRow() const {
    return std::gcd<int64_t>(kWarpSize, accessesPerRow());
  }
  int64_t rowsAtOnce() const { return kWarpSize / lanesPerRow(); }
  int64_t accessesPerLane() const { return accessesPerRow() / lanesPerRow(); }
  int64_t rounds() const { return rows / (warps * rowsAtOnce()); }
  int64_t bytes() const { return width * elementBytes; }
  /// Rows of which a tile has those that it lists.
  int64_t rowsOfSource() const { return list ? list->sourceRows() : rows; }
  /// Whether each warp starts with a window, or the rows of all are in one.
  bool isAligned() const {
    int64_t ofWarp = rows / warps, ofWindow = list->rowsOfWindow();
    return ofWarp % ofWindow == 0 || ofWindow % ofWarp == 0;
  }
  /// Whether the list has the rows that all threads copy in `round`: those of
  /// the last warp's last lanes are furthest behind.
  bool isListed(int64_t round) const {
    int64_t last =
        (warps - 1) * (rows / warps) + (round + 1) * rowsAtOnce() - 1;
    return !list || last < list->rows();
  }

  RewriterBase &rewriter;
  Location loc;
  CopyOp op;
  WarpsOp role;
  int64_t warps, rows, columns, width, elementBytes;
  std::optional<RowList> list;
  /// The thread's first row, and its first element of a row.
  Value firstRow, firstColumn;
  /// How far each of the thread's rows is from the source's first one, in
  /// bytes.
  SmallVector<Value> offsets;
};
} // namespace

RowCopies::RowCopies(RewriterBase &rewriter, CopyOp op, WarpsOp role)
    : rewriter(rewriter), loc(op.getLoc()), op(op), role(role),
      warps(role.countWarps()), rows(typeOf(op.getDestination()).getDimSize(0)),
      columns(typeOf(op.getDestination()).getDimSize(1)),
      width(getAccessWidth(op)),
      elementBytes(typeOf(op.getSource()).getElementTypeBitWidth() / 8) {
  if (!op.getRows())
    return;
  list.emplace(op.getRows(), op.getRowListAttr(), /*kDim=*/0);
  // In their order.
  list->slots = list->rows();
}

LogicalResult RowCopies::verify() {
  if (typeOf(op.getDestination()).getRank() == 2 &&
      kWarpSize % lanesPerRow() == 0 && accessesPerRow() % lanesPerRow() == 0 &&
      rows % (warps * rowsAtOnce()) == 0)
    return success();
  return op.emitOpError() << "expected rows that " << warps
                          << " warps can share, but got "
                          << op.getDestination().getType();
}

/// At the start of the role: the same for all tiles.
void RowCopies::placeThread() {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(&role.getBody().front());
  ThreadEmitter emitter{rewriter, loc};
  Value thread = emitter.toI32(getThreadOfRole(rewriter, role));
  auto [warp, lane] = emitter.split(thread, kWarpSize);
  auto [row, column] = emitter.split(lane, lanesPerRow());
  firstRow = emitter.add(emitter.mul(warp, rows / warps), row);
  firstColumn = emitter.mul(column, width);
}

/// The row of `round` of a thread whose first row is `first`; the last of the
/// list where a row only fills an instruction up.
Value RowCopies::getListedRow(ThreadEmitter &emitter, Value first,
                              int64_t round) {
  Value row = emitter.add(first, round * rowsAtOnce());
  return isListed(round) ? row
                         : emitter.least(row, emitter.i32(list->rows() - 1));
}

//===----------------------------------------------------------------------===//
// Rows of a list
//===----------------------------------------------------------------------===//

/// The rows of the source that `listed` names.
SmallVector<Value> RowCopies::loadEntries(OpBuilder &builder, Value listed) {
  ThreadEmitter emitter{builder, loc};
  RowList here = *list;
  here.list = listed;
  SmallVector<Value> result;
  for (int64_t round = 0; round < rounds(); ++round)
    result.push_back(
        here.loadEntry(builder, loc, getListedRow(emitter, firstRow, round)));
  return result;
}

/// Entries take long to come: those of the next step are loaded first of all in
/// this one, and what follows from them is computed last.
void RowCopies::carryRows(scf::ForOp loop) {
  auto loadAt = [&](Value k) {
    IRMapping mapping;
    mapping.map(loop.getInductionVar(), k);
    auto viewOf = [&](Value view) {
      return cloneView(rewriter, view, loop.getBody(), mapping);
    };
    SmallVector<Value> entries = loadEntries(rewriter, viewOf(op.getRows()));
    return std::pair(viewOf(op.getSource()), entries);
  };
  rewriter.setInsertionPoint(loop);
  auto [source, entries] = loadAt(loop.getLowerBound());
  SmallVector<Value> first = computeRows(source, entries);
  auto computeNext = [&](OpBuilder &, Location,
                         ArrayRef<BlockArgument> arguments) {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(loop.getBody());
    offsets = llvm::to_vector_of<Value>(arguments);
    // The last ones once more after the last: past them there are none.
    Value next = arith::AddIOp::create(rewriter, loc, loop.getInductionVar(),
                                       loop.getStep());
    auto [source, entries] = loadAt(arith::MinUIOp::create(
        rewriter, loc, next, lastOfLoop(rewriter, loop)));
    rewriter.setInsertionPoint(loop.getBody()->getTerminator());
    return computeRows(source, entries);
  };
  (void)loop.replaceWithAdditionalYields(
      rewriter, first, /*replaceInitOperandUsesInLoop=*/false, computeNext);
}

//===----------------------------------------------------------------------===//
// Sources
//===----------------------------------------------------------------------===//

Value RowCopies::getRowBytes(ThreadEmitter &emitter, Value source) {
  int64_t stride = typeOf(source).getStridesAndOffset().first.front();
  if (!ShapedType::isDynamic(stride))
    return emitter.index(stride * elementBytes);
  return emitter.mul(
      memref::ExtractStridedMetadataOp::create(rewriter, loc, source)
          .getStrides()[0],
      elementBytes);
}

/// In bytes. Where 32 bits hold it, it stays in front of the wait, behind which
/// the compiler would save registers by computing it.
Value RowCopies::getOffset(ThreadEmitter &emitter, Value sourceRow,
                           Value rowBytes) {
  std::optional<int64_t> known = getConstantIntValue(rowBytes);
  if (known && *known * rowsOfSource() <= std::numeric_limits<int32_t>::max())
    return completeSums(rewriter, loc, emitter.mul(sourceRow, *known)).front();
  return rewriter.createOrFold<arith::MulIOp>(loc, emitter.toIndex(sourceRow),
                                              rowBytes);
}

/// Of the thread's rows of the tile `source`; see offsets.
SmallVector<Value> RowCopies::computeRows(Value source,
                                          ArrayRef<Value> entries) {
  ThreadEmitter emitter{rewriter, loc};
  Value rowBytes = getRowBytes(emitter, source);
  // Windows of rows are found anew for each tile: kept from one to the next,
  // they take a register each, of which a producer has few.
  Value first = firstRow;
  if (list && !isAligned())
    first = completeSums(rewriter, loc, firstRow).front();
  SmallVector<Value> result;
  for (int64_t round = 0; round < rounds(); ++round) {
    Value row = getListedRow(emitter, first, round);
    if (list)
      row = list->getSourceRow(rewriter, loc, row, entries[round]);
    result.push_back(getOffset(emitter, row, rowBytes));
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// Whether the thread's row of `round` is listed and, unless `end` is null, in
/// front of that many bytes of the source; null if it always is.
Value RowCopies::isInSource(ThreadEmitter &emitter, int64_t round, Value end) {
  Value isListedRow, isBeforeEnd;
  if (!isListed(round))
    isListedRow =
        emitter.less(getRow(emitter, round), emitter.i32(list->rows()));
  if (end)
    isBeforeEnd = emitter.less(emitter.toIndex(offsets[round]), end);
  return emitter.both(isListedRow, isBeforeEnd);
}

/// Nearly all tiles have all of their rows: copies that need not look whether
/// the source has theirs take fewer instructions.
void RowCopies::issue() {
  rewriter.setInsertionPoint(op);
  ThreadEmitter emitter{rewriter, loc};
  int64_t size = typeOf(op.getSource()).getDimSize(0);
  if (!ShapedType::isDynamic(size) && size >= rowsOfSource())
    return copyRows(emitter, /*end=*/Value());
  Value count = rewriter.createOrFold<memref::DimOp>(loc, op.getSource(), 0);
  Value isWhole =
      arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::uge, count,
                            emitter.index(rowsOfSource()));
  auto branch =
      scf::IfOp::create(rewriter, loc, isWhole, /*withElseRegion=*/true);
  rewriter.setInsertionPointToStart(branch.thenBlock());
  copyRows(emitter, /*end=*/Value());
  rewriter.setInsertionPointToStart(branch.elseBlock());
  copyRows(emitter, rewriter.createOrFold<arith::MulIOp>(
                        loc, count, getRowBytes(emitter, op.getSource())));
}

void RowCopies::copyRows(ThreadEmitter &emitter, Value end) {
  MemRefType type = typeOf(op.getDestination());
  ::nm::TileLayout layout = getTileLayout(type);
  int64_t stride = getBufferStrides(type)[0];
  Value slot = emitter.toI32(getElementAddress(
      emitter, flattenBuffer(rewriter, loc, op.getDestination())));
  Value source =
      emitter.add(getElementAddress(emitter, op.getSource()),
                  emitter.mul(emitter.toIndex(firstColumn), elementBytes));
  int64_t sourceColumns = typeOf(op.getSource()).getDimSize(1);
  bool mayEnd = ShapedType::isDynamic(sourceColumns) || sourceColumns < columns;
  Value size = mayEnd ? emitter.toI32(rewriter.createOrFold<memref::DimOp>(
                            loc, op.getSource(), 1))
                      : Value();
  auto modifier = bytes() == kBypassBytes ? NVVM::LoadCacheModifierKind::CG
                                          : NVVM::LoadCacheModifierKind::CA;
  for (int64_t round = 0; round < rounds(); ++round) {
    Value isInside = isInSource(emitter, round, end);
    for (int64_t access = 0; access < accessesPerLane(); ++access) {
      int64_t along = access * lanesPerRow() * width;
      Value column = emitter.add(firstColumn, along);
      SmallVector<Value> place =
          placeElement(rewriter, loc, layout, {getRow(emitter, round), column});
      Value inSlot = emitter.add(emitter.mul(place[0], stride), place[1]);
      Value destination = emitter.add(slot, emitter.mul(inSlot, elementBytes));
      Value count;
      if (mayEnd) {
        Value left = rewriter.createOrFold<arith::SubIOp>(
            loc, emitter.least(emitter.add(column, width), size),
            emitter.least(column, size));
        count = emitter.mul(left, elementBytes);
      }
      if (isInside)
        count = arith::SelectOp::create(rewriter, loc, isInside,
                                        count ? count : emitter.i32(bytes()),
                                        emitter.i32(0));
      Value from =
          emitter.add(emitter.add(source, emitter.toIndex(offsets[round])),
                      along * elementBytes);
      NVVM::CpAsyncOp::create(
          rewriter, loc,
          toPointer(emitter, destination, NVVM::NVVMMemorySpace::Shared),
          toPointer(emitter, from, NVVM::NVVMMemorySpace::Global), bytes(),
          modifier, count);
    }
  }
}

void RowCopies::expand() {
  placeThread();
  auto *wait = op->getPrevNode();
  while (!isa<WaitOp>(wait))
    wait = wait->getPrevNode();
  auto loop = dyn_cast<scf::ForOp>(op->getParentOp());
  bool isOverK = loop && loop.getNumRegionIterArgs() == 0;
  if (list && isOverK) {
    carryRows(loop);
  } else {
    rewriter.setInsertionPoint(wait);
    SmallVector<Value> entries;
    if (list)
      entries = loadEntries(rewriter, op.getRows());
    offsets = computeRows(op.getSource(), entries);
  }
  issue();
}

LogicalResult mlir::nm::expandProducerCopies(RewriterBase &rewriter,
                                             WarpsOp role,
                                             RoleBarriers &barriers) {
  SmallVector<CopyOp> copies;
  role.walk([&](CopyOp op) { copies.push_back(op); });
  for (CopyOp op : copies)
    if (!op.getToken() || !op.getToken().hasOneUse() ||
        !isa<SignalOp>(*op.getToken().getUsers().begin()))
      return op.emitOpError() << "expected a token that is signalled";
  keepStarters(rewriter, role);
  for (CopyOp op : copies) {
    if (op.isBulk()) {
      if (failed(expandBulkCopy(rewriter, op, role, barriers)))
        return failure();
      continue;
    }
    RowCopies expansion(rewriter, op, role);
    if (failed(expansion.verify()))
      return failure();
    expansion.expand();
  }
  return success();
}
