//===- RowsToGPU.cpp - Ops along rows to kernels --------------------------===//

#include "nm/GPU/Rows/RowsToGPU.h"

#include "GPU/Rows/LargestOfRow.h"
#include "GPU/Rows/RowGroup.h"
#include "GPU/Rows/RowKernel.h"
#include "GPU/Rows/RowShape.h"
#include "GPU/Tile/MatrixRowCopies.h"

#include "nm/Dialect/NM/IR/Chip.h"
#include "nm/Dialect/NM/Transforms/Passes.h"
#include "nm/Schedule/GpuChip.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace mlir::nm {
#define GEN_PASS_DEF_CONVERTROWSTOGPU
#include "nm/GPU/Rows/RowsToGPU.h.inc"
} // namespace mlir::nm

using namespace mlir;
using namespace mlir::nm;

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// Says what became of a reduction and the ops around it.
static void report(linalg::LinalgOp seed, const RowGroup &group,
                   const RowShape &shape) {
  InFlightDiagnostic remark = emitRemark(seed.getLoc()) << seed->getName();
  if (size_t others = group.ops.size() - 1)
    remark << " and " << others << (others == 1 ? " op" : " ops")
           << " around it are one kernel";
  else
    remark << " is a kernel";
  remark << ": " << shape.cluster * shape.lanes
         << (shape.cluster * shape.lanes == 1 ? " thread" : " threads")
         << " for each row, accesses of " << shape.width
         << (shape.width == 1 ? " element" : " elements") << ", rows "
         << (shape.chunks == 0 ? "read for each reduction"
                               : "kept in registers");
  if (shape.staying != 0)
    remark << ", copied ahead by " << shape.staying << " clusters, which keep "
           << countStayingBytes(group, shape).kept.size()
           << " operands of all rows";
  for (const LargestOfRow &found : listLargest(group))
    if (!found.isBounded)
      remark << ", " << found.count()
             << (found.isLeast ? " least element" : " largest element")
             << (found.count() == 1 ? "" : "s") << " found by one pass";
  if (!findTransposedRows(group))
    return;
  bool hasSplits = llvm::any_of(
      group.ops, [](const RowOp &row) { return isa<SplitFloatsOp>(row.op); });
  remark << " and stored transposed" << (hasSplits ? ", as splits," : "")
         << " by blocks of " << shape.rowsOfBlock;
}

using Memrefs = llvm::SmallSetVector<Value, 8>;

/// Erases memory that nothing uses but to free it, and views of it; takes them
/// out of `memrefs`.
static void eraseUnused(Value memref, Memrefs &memrefs) {
  memrefs.remove(memref);
  Operation *op = memref.getDefiningOp();
  if (!op || !llvm::all_of(memref.getUsers(), llvm::IsaPred<memref::DeallocOp>))
    return;
  Value source;
  if (auto view = dyn_cast<ViewLikeOpInterface>(op))
    source = view.getViewSource();
  else if (!isa<memref::AllocOp>(op))
    return;
  for (Operation *user : llvm::make_early_inc_range(memref.getUsers()))
    user->erase();
  op->erase();
  if (source)
    eraseUnused(source, memrefs);
}

static void erase(const RowGroup &group) {
  Memrefs memrefs;
  for (const RowOp &row : group.ops)
    for (Value operand : row.op->getOperands())
      if (isa<MemRefType>(operand.getType()))
        memrefs.insert(operand);
  for (const RowOp &row : group.ops)
    row.op->erase();
  while (!memrefs.empty())
    eraseUnused(memrefs.front(), memrefs);
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// Whether another pass has a kernel for `op`, which reduces nothing.
static bool hasOtherKernel(linalg::LinalgOp op) {
  auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
  return generic && hasRowCopies(generic);
}

/// Makes a kernel of `op` and its neighbours, if it starts a group. Returns the
/// ops that it replaces.
static SmallVector<Operation *> convert(OpBuilder &builder, linalg::LinalgOp op,
                                        const ClusterChip *chip) {
  bool reduces = op.getNumReductionLoops() != 0;
  if (!reduces && hasOtherKernel(op))
    return {};
  std::optional<RowGroup> group = findRowGroup(op, [&](const RowSpace &space) {
    return !reduces || fitRegisters(space, chip != nullptr);
  });
  if (!group)
    return {};
  Operation *last = group->ops.back().op;
  builder.setInsertionPoint(last);
  RowWidth width = findWidth(builder, last->getLoc(), *group);
  // A thread for each element is convert-linalg-to-gpu's.
  if (!reduces && width.elements == 1)
    return {};
  if (reduces)
    report(op, *group, chooseShape(*group, width.elements, chip));
  launchForWidth(builder, last->getLoc(), width, [&](int64_t elements) {
    launchRowKernel(builder, last->getLoc(), *group,
                    chooseShape(*group, elements, chip));
  });
  SmallVector<Operation *> ops;
  for (const RowOp &row : group->ops)
    ops.push_back(row.op);
  erase(*group);
  return ops;
}

/// The blocks of `function` that the host runs one after the other.
static SmallVector<Block *> collectBlocks(func::FuncOp function) {
  SmallVector<Block *> blocks;
  function->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<gpu::LaunchOp, scf::ForallOp, scf::ParallelOp, linalg::LinalgOp>(
            op))
      return WalkResult::skip();
    for (Region &region : op->getRegions())
      for (Block &block : region)
        blocks.push_back(&block);
    return WalkResult::advance();
  });
  return blocks;
}

/// Reductions first, which take the ops around them.
static void convertBlock(OpBuilder &builder, Block &block,
                         const ClusterChip *chip, bool reductionsOnly) {
  for (bool reduces : {true, false}) {
    if (reductionsOnly && !reduces)
      continue;
    llvm::SmallSetVector<Operation *, 16> left;
    for (auto op : block.getOps<linalg::LinalgOp>())
      if ((op.getNumReductionLoops() != 0) == reduces)
        left.insert(op);
    while (!left.empty()) {
      auto op = cast<linalg::LinalgOp>(left.front());
      for (Operation *gone : convert(builder, op, chip))
        left.remove(gone);
      left.remove(op);
    }
  }
}

void mlir::nm::convertRowsToGPU(func::FuncOp function, bool reductionsOnly) {
  OpBuilder builder(function.getContext());
  // Where no chip is named, kernels are for any.
  auto module = function->getParentOfType<ModuleOp>();
  auto chip = module ? module->getAttrOfType<ChipAttr>(kChipAttr) : ChipAttr();
  std::optional<ClusterChip> known;
  if (chip && chip.getChip().hasClusters())
    known = {chip.getChip().multiprocessors,
             chip.getChip().sharedPerMultiprocessor};
  for (Block *block : collectBlocks(function))
    convertBlock(builder, *block, known ? &*known : nullptr, reductionsOnly);
}

namespace {
struct ConvertRowsToGPU
    : mlir::nm::impl::ConvertRowsToGPUBase<ConvertRowsToGPU> {
  using ConvertRowsToGPUBase::ConvertRowsToGPUBase;

  void runOnOperation() override {
    if (!getOperation()->hasAttr(mlir::nm::kHostFunction))
      mlir::nm::convertRowsToGPU(getOperation(), reductionsOnly);
  }
};
} // namespace
