//===- AlignOperands.cpp - Operands at odd offsets to memory of their own -===//

#include "nm/Transforms/Passes.h"

#include "PaddedRows.h"

#include "nm/GPU/Stage/AccessWidth.h"
#include "nm/GPU/Stage/OperandDemands.h"
#include "nm/GPU/Tile/GpuTile.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::nm {
#define GEN_PASS_DEF_NMALIGNOPERANDS
#include "nm/Transforms/Passes.h.inc"
} // namespace mlir::nm

using namespace mlir;
using mlir::nm::kMaxAccessBytes;
using mlir::nm::SpMMOp;

/// Whether the views that `memref` is of say that it starts at a multiple of 16
/// bytes. A layout without strides is of a buffer that a pass has made as it is
/// to be.
static bool isAligned(Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  int64_t bytes = type.getElementTypeBitWidth() / 8;
  return !type.isStrided() ||
         mlir::nm::getOffsetFactor(memref) * bytes % kMaxAccessBytes == 0;
}

/// Whether an op in `loop` writes to `memref`, or to a view of it.
static bool isWritten(Value memref, scf::ForallOp loop) {
  SmallVector<Value> views = {memref};
  while (!views.empty()) {
    Value view = views.pop_back_val();
    for (Operation *user : view.getUsers()) {
      if (!loop->isProperAncestor(user))
        continue;
      if (isa<ViewLikeOpInterface>(user))
        llvm::append_range(views, user->getResults());
      auto effects = dyn_cast<MemoryEffectOpInterface>(user);
      if (effects && effects.getEffectOnValue<MemoryEffects::Write>(view))
        return true;
    }
  }
  return false;
}

/// Whether `value` is made outside of `loop`.
static bool isOutside(Value value, scf::ForallOp loop) {
  return !loop.getRegion().isAncestor(value.getParentRegion());
}

/// The memref from outside of `loop` that `view` is a view of; null for none.
static Value findOutside(Value view, scf::ForallOp loop) {
  while (!isOutside(view, loop)) {
    auto op = view.getDefiningOp<ViewLikeOpInterface>();
    if (!op)
      return {};
    view = op.getViewSource();
  }
  return view;
}

/// Memrefs that are copied, each with the bytes that rows of the copy are to
/// start at multiples of.
using OperandsToCopy = llvm::MapVector<Value, int64_t>;

/// Adds the memref from outside of `loop` that `tile` is of, where its rows do
/// not start at multiples of `bytes`.
static void collectRows(Value tile, scf::ForallOp loop, int64_t bytes,
                        OperandsToCopy &operands) {
  Value operand = findOutside(tile, loop);
  if (!operand || !cast<MemRefType>(operand.getType()).isStrided() ||
      mlir::nm::hasRowsAt(operand, bytes))
    return;
  int64_t &most = operands[operand];
  most = std::max(most, bytes);
}

/// The memrefs from outside that `loop` reads or writes at odd offsets, and
/// those whose rows lie otherwise than its products demand.
static OperandsToCopy collectOperands(scf::ForallOp loop) {
  OperandsToCopy operands;
  loop.walk([&](Operation *op) {
    for (Value operand : op->getOperands()) {
      auto type = dyn_cast<MemRefType>(operand.getType());
      if (type && isOutside(operand, loop) && !isAligned(operand))
        operands.insert({operand, 1});
    }
    auto product = dyn_cast<SpMMOp>(op);
    if (!product || !product.getScheduleAttr())
      return;
    collectRows(product.getA(), loop,
                mlir::nm::getLeastRowBytesOfA(product.getScheduleAttr(),
                                              product.getTransposeA()),
                operands);
    collectRows(mlir::nm::findStoredTile(product)->get(), loop,
                mlir::nm::getLeastRowBytesOfC(product.getScheduleAttr()),
                operands);
  });
  return operands;
}

/// Memory for a copy of `memref` whose rows start at multiples of `bytes`.
static mlir::nm::PaddedRows allocateCopy(RewriterBase &rewriter, Location loc,
                                         Value memref, int64_t bytes) {
  auto type = cast<MemRefType>(memref.getType());
  SmallVector<Value> sizes;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.isDynamicDim(dim))
      sizes.push_back(memref::DimOp::create(rewriter, loc, memref, dim));
  auto rowMajor = MemRefType::get(type.getShape(), type.getElementType());
  auto plain = memref::AllocOp::create(rewriter, loc, rowMajor, sizes);
  if (mlir::nm::hasRowsAt(plain, bytes))
    return {plain, plain};
  rewriter.eraseOp(plain);
  // Rows of an unknown size are whole accesses apart, whatever is demanded.
  int64_t chunk =
      std::max(bytes, kMaxAccessBytes) * 8 / type.getElementTypeBitWidth();
  return mlir::nm::allocatePadded(rewriter, loc, rowMajor, sizes, chunk);
}

/// Lets `loop` work on a copy of `memref`.
static void replaceByCopy(RewriterBase &rewriter, scf::ForallOp loop,
                          Value memref, int64_t bytes) {
  Location loc = loop.getLoc();
  rewriter.setInsertionPoint(loop);
  mlir::nm::PaddedRows copy = allocateCopy(rewriter, loc, memref, bytes);
  memref::CopyOp::create(rewriter, loc, memref, copy.rows);
  bool written = isWritten(memref, loop);
  mlir::nm::replaceInViews(rewriter, memref, copy.rows, loop);
  rewriter.setInsertionPointAfter(loop);
  if (written)
    memref::CopyOp::create(rewriter, loc, copy.rows, memref);
  memref::DeallocOp::create(rewriter, loc, copy.memory);
}

namespace {
struct NMAlignOperands : mlir::nm::impl::NMAlignOperandsBase<NMAlignOperands> {
  void runOnOperation() override {
    SmallVector<scf::ForallOp> loops;
    getOperation()->walk([&](scf::ForallOp loop) {
      if (mlir::nm::isMappedToBlocks(loop))
        loops.push_back(loop);
    });
    IRRewriter rewriter(&getContext());
    for (scf::ForallOp loop : loops)
      for (auto [operand, bytes] : collectOperands(loop))
        replaceByCopy(rewriter, loop, operand, bytes);
  }
};
} // namespace
