//===- InlineProducers.cpp - Elementwise ops to the loop that reads them --===//
//
// Upstream fuses linalg ops with each other, and parallel loops of equal sizes.
// Here a linalg op becomes what a loop of any kind, as one that scatters,
// reads.
//
//===----------------------------------------------------------------------===//

#include "nm/Dialect/NM/IR/CollectOps.h"
#include "nm/Dialect/NM/IR/MemoryAccesses.h"
#include "nm/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::nm {
#define GEN_PASS_DEF_NMINLINEPRODUCERS
#include "nm/Transforms/Passes.h.inc"
} // namespace mlir::nm

using namespace mlir;
using namespace mlir::nm;

//===----------------------------------------------------------------------===//
// What is read
//===----------------------------------------------------------------------===//

static bool isReshape(Operation *op) {
  return isa<memref::ExpandShapeOp, memref::CollapseShapeOp>(op);
}

/// The memref of whose elements, in their order, `memref` consists.
static Value findBase(Value memref) {
  while (Operation *op = memref.getDefiningOp()) {
    if (!isReshape(op))
      break;
    memref = op->getOperand(0);
  }
  return memref;
}

/// The allocation that `base` is, or of whose padded rows it is what is used.
static memref::AllocOp findAllocation(Value base) {
  if (auto rows = base.getDefiningOp<memref::SubViewOp>())
    base = rows.getSource();
  return base.getDefiningOp<memref::AllocOp>();
}

static bool isView(Operation *op) {
  return isReshape(op) || isa<memref::SubViewOp>(op);
}

/// Adds what uses the elements of `memref`, and of views of it.
static void addUsers(Value memref, SmallVector<Operation *> &users) {
  for (Operation *user : memref.getUsers())
    if (isView(user))
      addUsers(user->getResult(0), users);
    else if (!isa<memref::DeallocOp, memref::DimOp>(user))
      users.push_back(user);
}

/// The size of dimension `dim` of `memref`, an allocation or a view of one,
/// where it is known without an op that reads it; else null.
static OpFoldResult getKnownSize(Value memref, int64_t dim) {
  auto type = cast<MemRefType>(memref.getType());
  if (!type.isDynamicDim(dim))
    return Builder(memref.getContext()).getIndexAttr(type.getDimSize(dim));
  if (auto alloc = memref.getDefiningOp<memref::AllocOp>())
    return alloc.getDynamicSizes()[type.getDynamicDimIndex(dim)];
  if (auto expand = memref.getDefiningOp<memref::ExpandShapeOp>())
    return expand.getMixedOutputShape()[dim];
  if (auto rows = memref.getDefiningOp<memref::SubViewOp>();
      rows && rows.getDroppedDims().none())
    return rows.getMixedSizes()[dim];
  return {};
}

/// Whether `loop` has an iteration for each index of dimension `dim` of
/// `memref` as its variable `number`.
static bool countsDim(scf::ParallelOp loop, unsigned number, Value memref,
                      int64_t dim) {
  if (!isConstantIntValue(loop.getLowerBound()[number], 0) ||
      !isConstantIntValue(loop.getStep()[number], 1))
    return false;
  Value size = loop.getUpperBound()[number];
  if (OpFoldResult known = getKnownSize(memref, dim);
      known && isEqualConstantIntOrValue(known, size))
    return true;
  auto sizeOf = size.getDefiningOp<memref::DimOp>();
  return sizeOf && sizeOf.getSource() == memref &&
         sizeOf.getConstantIndex() == dim;
}

/// Whether `load` reads each element of its memref once, in an iteration of its
/// own of `loop`: its indices are the loop's variables in their order, and
/// zeros in dimensions of one element.
static bool readsEachOnce(memref::LoadOp load, scf::ParallelOp loop) {
  if (load->getParentOp() != loop)
    return false;
  unsigned next = 0;
  for (auto [dim, index] : llvm::enumerate(load.getIndices())) {
    if (load.getMemRefType().getDimSize(dim) == 1 &&
        isConstantIntValue(index, 0))
      continue;
    if (next == loop.getNumLoops() || index != loop.getInductionVars()[next] ||
        !countsDim(loop, next, load.getMemRef(), dim))
      return false;
    ++next;
  }
  return next == loop.getNumLoops();
}

//===----------------------------------------------------------------------===//
// What makes it
//===----------------------------------------------------------------------===//

/// Whether an element of `map`'s dimensions is at loops, each once, or at 0.
static bool isElement(AffineMap map) {
  return llvm::all_of(map.getResults(), [](AffineExpr expr) {
    auto constant = dyn_cast<AffineConstantExpr>(expr);
    return isa<AffineDimExpr>(expr) || (constant && constant.getValue() == 0);
  });
}

/// Whether neighbours along the last dimension of the output are made of
/// neighbours, or of one element; an op that transposes has tiles of its own.
static bool keepsRows(linalg::LinalgOp op) {
  AffineExpr last =
      op.getMatchingIndexingMap(op.getDpsInitOperand(0)).getResults().back();
  return llvm::all_of(op.getIndexingMapsArray(), [&](AffineMap map) {
    return map.getNumResults() == 0 || map.getResults().back() == last ||
           !map.isFunctionOfDim(cast<AffineDimExpr>(last).getPosition());
  });
}

/// Whether an element of the only output of `op` can be made by itself.
static bool makesEachElement(linalg::LinalgOp op) {
  if (!op.hasPureBufferSemantics() || op.getNumDpsInits() != 1 ||
      op.getNumParallelLoops() != op.getNumLoops())
    return false;
  OpOperand *output = op.getDpsInitOperand(0);
  AffineMap map = op.getMatchingIndexingMap(output);
  return map.isPermutation() && map.getNumResults() != 0 && keepsRows(op) &&
         !op.payloadUsesValueFromOperand(output) &&
         llvm::all_of(op.getIndexingMapsArray(), isElement);
}

/// Whether nothing from `producer` to the end of `loop` writes what `producer`
/// reads.
static bool mayRunIn(linalg::LinalgOp producer, scf::ParallelOp loop) {
  std::optional<SmallVector<Access>> own = findAccesses(producer);
  if (!own || producer->getBlock() != loop->getBlock())
    return false;
  Value output = findRoot(producer.getDpsInits()[0]);
  for (Operation *op = producer->getNextNode(); op; op = op->getNextNode()) {
    std::optional<SmallVector<Access>> others = findAccesses(op);
    if (!others)
      return false;
    for (const Access &access : *own)
      for (const Access &other : *others)
        if (!access.writes && access.root != output && conflict(access, other))
          return false;
    if (op == loop)
      return true;
  }
  return false;
}

/// The op that makes what `load` reads, if nothing else reads it.
static linalg::LinalgOp findProducer(memref::LoadOp load,
                                     scf::ParallelOp loop) {
  Value base = findBase(load.getMemRef());
  memref::AllocOp alloc = findAllocation(base);
  if (!alloc)
    return {};
  SmallVector<Operation *> users;
  addUsers(alloc, users);
  if (users.size() != 2 || !llvm::is_contained(users, load))
    return {};
  auto producer =
      dyn_cast<linalg::LinalgOp>(users[users[0] == load.getOperation()]);
  if (!producer || !makesEachElement(producer) ||
      findBase(producer.getDpsInits()[0]) != base || !mayRunIn(producer, loop))
    return {};
  return producer;
}

//===----------------------------------------------------------------------===//
// The element
//===----------------------------------------------------------------------===//

static SmallVector<Value> getSizes(OpBuilder &builder, Location loc,
                                   Value memref) {
  SmallVector<Value> sizes;
  int64_t rank = cast<MemRefType>(memref.getType()).getRank();
  for (int64_t dim = 0; dim < rank; ++dim) {
    OpFoldResult known = getKnownSize(memref, dim);
    sizes.push_back(
        known ? getValueOrCreateConstantIndexOp(builder, loc, known)
              : memref::DimOp::create(builder, loc, memref, dim).getResult());
  }
  return sizes;
}

/// The indices in `to` of the element at `indices` of `from`, which is `to` in
/// another shape.
static SmallVector<Value> reshape(OpBuilder &builder, Location loc,
                                  ArrayRef<Value> indices, ArrayRef<Value> from,
                                  ArrayRef<Value> to) {
  if (from == to)
    return SmallVector<Value>(indices);
  Value place = arith::ConstantIndexOp::create(builder, loc, 0);
  for (auto [index, size] : llvm::zip(indices, from)) {
    place = builder.createOrFold<arith::MulIOp>(loc, place, size);
    place = builder.createOrFold<arith::AddIOp>(loc, place, index);
  }
  SmallVector<Value> result(to.size());
  for (size_t dim = to.size(); dim-- > 0;) {
    result[dim] = builder.createOrFold<arith::RemUIOp>(loc, place, to[dim]);
    place = builder.createOrFold<arith::DivUIOp>(loc, place, to[dim]);
  }
  return result;
}

/// What `op` makes in iteration `loops`. Adds loads of inputs that the op reads
/// each element of once.
static Value makeElement(OpBuilder &builder, linalg::LinalgOp op,
                         ArrayRef<Value> loops,
                         SmallVector<memref::LoadOp> &loads) {
  Location loc = op.getLoc();
  IRMapping mapping;
  for (OpOperand *input : op.getDpsInputOperands()) {
    if (!op.payloadUsesValueFromOperand(input))
      continue;
    Value value = input->get();
    if (isa<MemRefType>(value.getType())) {
      SmallVector<Value> at;
      AffineMap map = op.getMatchingIndexingMap(input);
      for (AffineExpr expr : map.getResults()) {
        auto loop = dyn_cast<AffineDimExpr>(expr);
        at.push_back(loop ? loops[loop.getPosition()]
                          : arith::ConstantIndexOp::create(builder, loc, 0));
      }
      auto load = memref::LoadOp::create(builder, loc, value, at);
      if (map.isPermutation())
        loads.push_back(load);
      value = load;
    }
    mapping.map(op.getMatchingBlockArgument(input), value);
  }
  for (Operation &inner : op.getBlock()->without_terminator()) {
    if (auto index = dyn_cast<linalg::IndexOp>(inner))
      mapping.map(index.getResult(), loops[index.getDim()]);
    else
      builder.clone(inner, mapping);
  }
  return mapping.lookupOrDefault(op.getBlock()->getTerminator()->getOperand(0));
}

/// Has what asks for sizes of `memref`, and of views of it, take those that
/// are known.
static void replaceSizes(RewriterBase &rewriter, Value memref) {
  for (Operation *user : llvm::make_early_inc_range(memref.getUsers())) {
    if (isView(user))
      replaceSizes(rewriter, user->getResult(0));
    auto size = dyn_cast<memref::DimOp>(user);
    if (!size || !size.getConstantIndex())
      continue;
    rewriter.setInsertionPoint(size);
    if (OpFoldResult known = getKnownSize(memref, *size.getConstantIndex()))
      rewriter.replaceOp(size, getValueOrCreateConstantIndexOp(
                                   rewriter, size.getLoc(), known));
  }
}

/// Whether nothing uses `memref` but to free or to view it.
static bool isUnused(Operation *memref) {
  return llvm::all_of(memref->getUsers(), [](Operation *user) {
    return isa<memref::DeallocOp>(user) || (isView(user) && isUnused(user));
  });
}

/// Erases `memref`, its frees and views.
static void eraseMemory(RewriterBase &rewriter, Operation *memref) {
  for (Operation *user : llvm::make_early_inc_range(memref->getUsers()))
    if (isView(user))
      eraseMemory(rewriter, user);
    else
      rewriter.eraseOp(user);
  rewriter.eraseOp(memref);
}

static void inlineProducer(RewriterBase &rewriter, linalg::LinalgOp producer,
                           memref::LoadOp load, scf::ParallelOp loop,
                           SmallVector<memref::LoadOp> &loads) {
  Location loc = load.getLoc();
  Value output = producer.getDpsInits()[0];
  rewriter.setInsertionPoint(loop);
  SmallVector<Value> from = getSizes(rewriter, loc, load.getMemRef()),
                     to = getSizes(rewriter, loc, output);
  rewriter.setInsertionPoint(load);
  SmallVector<Value> indices =
      reshape(rewriter, loc, SmallVector<Value>(load.getIndices()), from, to);
  AffineMap map =
      producer.getMatchingIndexingMap(producer.getDpsInitOperand(0));
  SmallVector<Value> loops(indices.size());
  for (auto [dim, index] : llvm::enumerate(indices))
    loops[map.getDimPosition(dim)] = index;
  rewriter.replaceOp(load, makeElement(rewriter, producer, loops, loads));
  rewriter.eraseOp(producer);
}

/// Makes what `load` reads where it reads it, and, in turn, what is read for
/// that.
static void inlineProducers(RewriterBase &rewriter, memref::LoadOp load,
                            scf::ParallelOp loop) {
  SmallVector<memref::LoadOp> loads = {load};
  while (!loads.empty()) {
    load = loads.pop_back_val();
    linalg::LinalgOp producer = findProducer(load, loop);
    if (!producer)
      continue;
    memref::AllocOp alloc = findAllocation(findBase(load.getMemRef()));
    emitRemark(producer.getLoc())
        << producer->getName() << " is a part of the loop that reads it";
    inlineProducer(rewriter, producer, load, loop, loads);
    replaceSizes(rewriter, alloc);
    if (isUnused(alloc))
      eraseMemory(rewriter, alloc);
  }
}

namespace {
struct NMInlineProducers
    : mlir::nm::impl::NMInlineProducersBase<NMInlineProducers> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    // Those in linalg ops, which become parts of loops, go with them.
    auto isOfLoop = [](memref::LoadOp load) {
      return isa<scf::ParallelOp>(load->getParentOp()) &&
             !load->getParentOfType<gpu::LaunchOp>();
    };
    for (auto load : collectOps<memref::LoadOp>(getOperation(), isOfLoop)) {
      auto loop = cast<scf::ParallelOp>(load->getParentOp());
      if (readsEachOnce(load, loop))
        inlineProducers(rewriter, load, loop);
    }
  }
};
} // namespace
