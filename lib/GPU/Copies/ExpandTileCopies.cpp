//===- ExpandTileCopies.cpp - Copies of tiles by threads ------------------===//

#include "GPU/Copies/ExpandTileCopies.h"

#include "GPU/Expand/EmittedOps.h"
#include "GPU/Tile/TileOffsets.h"

#include "nm/GPU/Stage/AccessWidth.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::nm;

namespace {
/// Expands the copies of one block, in their order.
class CopyExpansion {
public:
  CopyExpansion(RewriterBase &rewriter, const CopyThreads &threads,
                ArrayRef<Operation *> places)
      : rewriter(rewriter), threads(threads),
        firstOffset(places.empty() ? nullptr : places.front()) {}

  void visit(Operation *op);
  CopyAccesses accesses;
  /// Loads from lists, for copies that stay in the order of their tile.
  SmallVector<memref::LoadOp> entries;
  /// What is erased at the end: loads, whose fragments the stores behind them
  /// use, among others.
  SmallVector<Operation *> done;

private:
  void expand(CopyOp op);
  void expand(LoadTileOp op);
  void expand(StoreTileOp op);
  void expandDirect(CopyOp op);
  void expandMove(CopyOp op);
  void keepGroup(GroupOp op);
  void takeAhead(ArrayRef<memref::LoadOp> loads, size_t most);

  static constexpr size_t kMostEntriesOfCopies = 4, kMostEntriesOfLoads = 2;

  RewriterBase &rewriter;
  const CopyThreads &threads;
  Operation *firstOffset;
  bool isBehindPlaces = false;
  /// Where entries of lists are loaded for copies that wgmma reads: before the
  /// wait for those of another tile, or before the first of them.
  Operation *entryOffset = nullptr;
  llvm::SmallDenseMap<Value, std::unique_ptr<RegisterCopy>> fragments;
};
} // namespace

static MemRefType typeOf(Value buffer) {
  return cast<MemRefType>(buffer.getType());
}

static std::optional<RowList> getRows(Value list, RowListAttr attr,
                                      size_t kDim) {
  if (!list)
    return std::nullopt;
  return RowList(list, attr, kDim);
}

/// The ops of `emitted` that access memory, or have such ops in them.
static SmallVector<Operation *> findAccesses(const EmittedOps &emitted) {
  return llvm::filter_to_vector(emitted.get(), [](Operation *op) {
    return isa<nvgpu::DeviceAsyncCopyOp, nvgpu::LdMatrixOp, vector::StoreOp,
               memref::StoreOp>(op) ||
           (isa<scf::IfOp>(op) && op->getNumResults() == 0);
  });
}

/// The accesses of what `emit` puts in front of `op`.
static SmallVector<Operation *> emitBefore(RewriterBase &rewriter,
                                           Operation *op,
                                           llvm::function_ref<void()> emit) {
  rewriter.setInsertionPoint(op);
  EmittedOps emitted(rewriter);
  emit();
  return findAccesses(emitted);
}

/// Moves `op`, and before it what its operands are computed by, in front of
/// `point`, if it is behind it in one block.
static void hoist(Operation *op, Operation *point) {
  if (op->getBlock() != point->getBlock() || op->isBeforeInBlock(point))
    return;
  for (Value operand : op->getOperands())
    if (Operation *producer = operand.getDefiningOp())
      hoist(producer, point);
  op->moveBefore(point);
}

/// Whether both values are computed alike, by ops without effects and loads
/// from memory that nothing writes.
static bool areSame(Value lhs, Value rhs) {
  if (lhs == rhs)
    return true;
  Operation *left = lhs.getDefiningOp(), *right = rhs.getDefiningOp();
  return left && right && left->getNumResults() == 1 &&
         OperationEquivalence::isEquivalentTo(
             left, right,
             [](Value one, Value other) {
               return success(areSame(one, other));
             },
             /*markEquivalent=*/nullptr, OperationEquivalence::IgnoreLocations);
}

/// The loads from `list` of `emitted`, without the loads that only some threads
/// make. Accesses to one row share a load.
static SmallVector<memref::LoadOp>
findEntries(RewriterBase &rewriter, Value list, const EmittedOps &emitted) {
  SmallVector<memref::LoadOp> entries;
  for (Operation *op : llvm::to_vector(emitted.get())) {
    auto load = dyn_cast<memref::LoadOp>(op);
    if (!load || load.getMemRef() != list)
      continue;
    auto *same = llvm::find_if(entries, [&](memref::LoadOp known) {
      return areSame(known.getResult(), load.getResult());
    });
    if (same == entries.end())
      entries.push_back(load);
    else
      rewriter.replaceOp(load, *same);
  }
  return entries;
}

/// Takes `loads` of a copy for those that are made a tile ahead. A thread that
/// holds more than `most` of them across the multiplications gains nothing: on
/// an H200 up to four gained 0 to 17 % for asynchronous copies, and six to
/// sixteen lost up to 3 %; for loads to registers one and two gained 12 to 17 %
/// at 96.9 %, where four lost 2 to 5 %.
void CopyExpansion::takeAhead(ArrayRef<memref::LoadOp> loads, size_t most) {
  if (loads.size() <= most)
    llvm::append_range(entries, loads);
}

void CopyExpansion::expandDirect(CopyOp op) {
  TileCopy copy;
  copy.source = op.getSource();
  copy.destination = op.getDestination();
  copy.condition = op.getCondition();
  MemRefType type = typeOf(copy.destination);
  copy.layout = getTileLayout(type);
  // Rows of k are the first dimension of what is copied as it is.
  copy.rows = getRows(op.getRows(), op.getRowListAttr(), /*kDim=*/0);
  if (!op.getPart()) {
    copy.extents = SmallVector<int64_t>(type.getShape());
    copy.width = getAccessWidth(op);
    bool loadsFirst = copy.rows && copy.layout.panelColumns != 0;
    if (loadsFirst && !entryOffset) {
      rewriter.setInsertionPoint(op);
      entryOffset = arith::ConstantIndexOp::create(rewriter, op.getLoc(), 0);
      done.push_back(entryOffset);
    }
    rewriter.setInsertionPoint(op);
    EmittedOps emitted(rewriter);
    emitDirectCopy(rewriter, op.getLoc(), copy, threads);
    llvm::append_range(accesses.copies, findAccesses(emitted));
    if (!copy.rows)
      return;
    auto loads = findEntries(rewriter, copy.rows->list, emitted);
    if (!loadsFirst)
      return takeAhead(loads, kMostEntriesOfCopies);
    // They take long to come, and no load moves past a copy by itself.
    for (memref::LoadOp load : loads)
      hoist(load, entryOffset);
    return;
  }
  copy.extents = {type.getDimSize(1) * type.getDimSize(2),
                  type.getDimSize(0) * type.getDimSize(3)};
  copy.width = kMaxAccessBytes * 8 / type.getElementTypeBitWidth();
  SmallVector<Operation *> copies = emitBefore(rewriter, op, [&] {
    emitCopyToStagingBuffer(rewriter, op.getLoc(), copy, threads,
                            (*op.getPart())[0]);
  });
  if (!accesses.parts.empty())
    accesses.parts.back().copies = copies;
}

void CopyExpansion::expandMove(CopyOp op) {
  TileCopy copy;
  copy.source = op.getSource();
  copy.destination = op.getDestination();
  MemRefType type = typeOf(copy.source);
  copy.layout = getTileLayout(type);
  copy.extents = {type.getDimSize(1) * type.getDimSize(2),
                  type.getDimSize(0) * type.getDimSize(3)};
  SmallVector<Operation *> emitted = emitBefore(rewriter, op, [&] {
    emitMoveFromStagingBuffer(rewriter, op.getLoc(), copy, threads,
                              (*op.getPart())[0]);
  });
  if (accesses.parts.empty())
    return;
  for (Operation *access : emitted)
    (isa<nvgpu::LdMatrixOp>(access) ? accesses.parts.back().loads
                                    : accesses.parts.back().stores)
        .push_back(access);
}

void CopyExpansion::expand(CopyOp op) {
  op.getKind() == CopyKind::Direct ? expandDirect(op) : expandMove(op);
  done.push_back(op);
}

void CopyExpansion::expand(LoadTileOp op) {
  TileCopy copy;
  copy.source = op.getSource();
  copy.extents = getExtents(op);
  copy.width = getAccessWidth(op);
  copy.layout = getTileLayout(op.getFragment().getType().getDestination());
  copy.rows = getRows(op.getRows(), op.getRowListAttr(),
                      /*kDim=*/op.getTranspose() ? 1 : 0);
  std::unique_ptr<RegisterCopy> &fragment = fragments[op.getFragment()];
  rewriter.setInsertionPoint(op);
  EmittedOps emitted(rewriter);
  fragment = createPixelsCopy(rewriter, op.getLoc(), copy, threads);
  if (!fragment)
    fragment = op.getKind() == CopyKind::Squares
                   ? createSquaresCopy(rewriter, op.getLoc(), copy, threads)
                   : createElementsCopy(rewriter, op.getLoc(), copy, threads,
                                        op.getTranspose());
  fragment->load();
  if (copy.rows)
    takeAhead(findEntries(rewriter, copy.rows->list, emitted),
              kMostEntriesOfLoads);
  done.push_back(op);
}

void CopyExpansion::expand(StoreTileOp op) {
  llvm::append_range(accesses.stores, emitBefore(rewriter, op, [&] {
                       fragments[op.getFragment()]->store(op.getDestination());
                     }));
  done.push_back(op);
}

void CopyExpansion::keepGroup(GroupOp op) {
  if (isBehindPlaces && !accesses.parts.empty())
    accesses.parts.back().group = op;
  else
    accesses.copies.push_back(op);
}

void CopyExpansion::visit(Operation *op) {
  if (op == firstOffset)
    isBehindPlaces = true;
  if (auto copy = dyn_cast<CopyOp>(op))
    expand(copy);
  else if (auto load = dyn_cast<LoadTileOp>(op))
    expand(load);
  else if (auto store = dyn_cast<StoreTileOp>(op))
    expand(store);
  else if (auto group = dyn_cast<GroupOp>(op))
    keepGroup(group);
  else if (auto await = dyn_cast<AwaitOp>(op)) {
    // Entries of copies behind it, which are of a later tile.
    entryOffset = await;
    if (await.getScope() == SyncScope::Block && !isBehindPlaces)
      accesses = {};
    if (await.getScope() == SyncScope::Warp && isBehindPlaces)
      accesses.parts.emplace_back().await = await;
  } else if (isa<ReleaseOp>(op) && !accesses.parts.empty()) {
    accesses.parts.back().release = op;
  }
}

CopyAccesses mlir::nm::expandCopies(RewriterBase &rewriter, Block &block,
                                    const CopyThreads &threads,
                                    ArrayRef<Operation *> places,
                                    SmallVectorImpl<memref::LoadOp> &entries) {
  CopyExpansion expansion(rewriter, threads, places);
  for (Operation &op : llvm::make_early_inc_range(block))
    expansion.visit(&op);
  // A copy's token has no more use than to be in its group.
  for (Operation *op : llvm::reverse(expansion.done)) {
    for (Operation *user : llvm::make_early_inc_range(op->getUsers()))
      if (auto group = dyn_cast<GroupOp>(user))
        rewriter.modifyOpInPlace(group,
                                 [&] { group.getTokensMutable().clear(); });
    rewriter.eraseOp(op);
  }
  llvm::append_range(entries, expansion.entries);
  return places.empty() ? CopyAccesses() : std::move(expansion.accesses);
}
