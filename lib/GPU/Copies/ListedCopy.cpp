//===- ListedCopy.cpp - Copies of what a list names, by a role ------------===//

#include "GPU/Copies/ListedCopy.h"

#include "GPU/Copies/BulkCopies.h"
#include "GPU/Expand/ExpandProduct.h"
#include "GPU/Tile/TileOffsets.h"

#include "nm/GPU/Stage/AccessWidth.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::nm;

/// cp.async of 16 bytes bypasses the L1 cache.
static constexpr int64_t kBypassBytes = 16;

ListedCopy::ListedCopy(RewriterBase &rewriter, CopyOp op, WarpsOp role)
    : rewriter(rewriter), loc(op.getLoc()), op(op), role(role),
      width(getAccessWidth(op)),
      elementBytes(sourceType().getElementTypeBitWidth() / 8) {
  if (!op.getRows())
    return;
  RowListAttr attr = op.getRowListAttr();
  list.emplace(op.getRows(), attr, static_cast<size_t>(attr.getDim()));
  // Rows are copied in the order of the list.
  list->slots = list->rows();
}

/// The entries of `listed`, the list of a step, for what the thread copies.
SmallVector<Value> ListedCopy::loadEntries(Value listed) {
  ThreadEmitter emitter{rewriter, loc};
  RowList here = *list;
  here.list = listed;
  return llvm::map_to_vector(getListed(emitter), [&](Value number) {
    return here.loadEntry(rewriter, loc, number);
  });
}

/// Entries of the list take long to load: a step loads the next one's before
/// all else, and computes their offsets last, which the loop carries.
void ListedCopy::carryOffsets(scf::ForOp loop) {
  auto loadAt = [&](Value k) {
    IRMapping mapping;
    mapping.map(loop.getInductionVar(), k);
    auto viewOf = [&](Value view) {
      return cloneView(rewriter, view, loop.getBody(), mapping);
    };
    SmallVector<Value> entries = loadEntries(viewOf(op.getRows()));
    return std::pair(viewOf(op.getSource()), entries);
  };
  rewriter.setInsertionPoint(loop);
  auto [source, entries] = loadAt(loop.getLowerBound());
  SmallVector<Value> first = computeOffsets(source, entries);
  auto computeNext = [&](OpBuilder &, Location,
                         ArrayRef<BlockArgument> arguments) {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(loop.getBody());
    offsets = llvm::to_vector_of<Value>(arguments);
    // The last ones once more after the last: past them there are none.
    auto [source, entries] = loadAt(nextOfLoop(rewriter, loop));
    rewriter.setInsertionPoint(loop.getBody()->getTerminator());
    return computeOffsets(source, entries);
  };
  (void)loop.replaceWithAdditionalYields(
      rewriter, first, /*replaceInitOperandUsesInLoop=*/false, computeNext);
}

Value ListedCopy::sizeOfSource(int64_t dim) {
  return rewriter.createOrFold<memref::DimOp>(loc, op.getSource(), dim);
}

void ListedCopy::branchOnWhole(ThreadEmitter &emitter, ArrayRef<int64_t> sizes,
                               function_ref<void(bool mayEnd)> copy) {
  Value whole;
  for (auto [dim, size] : llvm::enumerate(sizes)) {
    int64_t known = sourceType().getDimSize(dim);
    if (!ShapedType::isDynamic(known) && known >= size)
      continue;
    Value has =
        arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::uge,
                              sizeOfSource(int64_t(dim)), emitter.index(size));
    whole = emitter.both(whole, has);
  }
  if (!whole)
    return copy(/*mayEnd=*/false);
  auto branch =
      scf::IfOp::create(rewriter, loc, whole, /*withElseRegion=*/true);
  rewriter.setInsertionPointToStart(branch.thenBlock());
  copy(/*mayEnd=*/false);
  rewriter.setInsertionPointToStart(branch.elseBlock());
  copy(/*mayEnd=*/true);
}

Value ListedCopy::addressOfSlot(ThreadEmitter &emitter) {
  return emitter.toI32(getElementAddress(
      emitter, flattenBuffer(rewriter, loc, op.getDestination())));
}

Value ListedCopy::addressInSlot(ThreadEmitter &emitter, Value slot, Value row,
                                Value column) {
  MemRefType type = destinationType();
  SmallVector<Value> place =
      placeElement(rewriter, loc, getTileLayout(type), {row, column});
  Value inSlot =
      emitter.add(emitter.mul(place[0], getBufferStrides(type)[0]), place[1]);
  return emitter.add(slot, emitter.mul(inSlot, elementBytes));
}

void ListedCopy::copyAccess(ThreadEmitter &emitter, Value from,
                            Value destination, Value count) {
  auto modifier = bytes() == kBypassBytes ? NVVM::LoadCacheModifierKind::CG
                                          : NVVM::LoadCacheModifierKind::CA;
  NVVM::CpAsyncOp::create(
      rewriter, loc,
      toPointer(emitter, destination, NVVM::NVVMMemorySpace::Shared),
      toPointer(emitter, from, NVVM::NVVMMemorySpace::Global), bytes(),
      modifier, count);
}

void ListedCopy::expand() {
  placeThread();
  auto loop = dyn_cast<scf::ForOp>(op->getParentOp());
  bool isOverK = loop && loop.getNumRegionIterArgs() == 0;
  if (list && isOverK) {
    carryOffsets(loop);
  } else {
    rewriter.setInsertionPoint(op.getWait());
    SmallVector<Value> entries;
    if (list)
      entries = loadEntries(op.getRows());
    offsets = computeOffsets(op.getSource(), entries);
  }
  issue();
}
