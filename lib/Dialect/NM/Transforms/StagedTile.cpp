//===- StagedTile.cpp - The parts of a staged tile ------------------------===//

#include "StagedTile.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::nm;

/// Waits for a load's data: ops that only stores need, and the stores.
static bool isStoreFromRegisters(Operation *op) {
  if (isa<memref::StoreOp, vector::StoreOp, vector::ExtractOp,
          vector::FromElementsOp>(op))
    return true;
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return isa<VectorType>(select.getType());
  auto guard = dyn_cast<scf::IfOp>(op);
  return guard && guard.getNumResults() == 0 &&
         (!guard.thenBlock()->getOps<memref::StoreOp>().empty() ||
          !guard.thenBlock()->getOps<vector::StoreOp>().empty());
}

static bool isAsyncCopy(Operation *op) {
  if (isa<nvgpu::DeviceAsyncCopyOp>(op))
    return true;
  auto guard = dyn_cast<scf::IfOp>(op);
  return guard &&
         !guard.thenBlock()->getOps<nvgpu::DeviceAsyncCopyOp>().empty();
}

static bool isPassage(memref::AllocOp buffer) {
  return llvm::any_of(buffer->getUsers(), llvm::IsaPred<nvgpu::LdMatrixOp>);
}

/// Gives each piece its copies to the passage, and takes what only they are
/// computed from out of `tile.loads`.
static void splitCopiesToPassage(StagedTile &tile) {
  SmallVector<Operation *> copies;
  llvm::erase_if(tile.asyncCopies, [&](Operation *op) {
    auto copy = dyn_cast<nvgpu::DeviceAsyncCopyOp>(op);
    bool isToPassage = copy && copy.getDst() == tile.passage.getResult();
    if (isToPassage)
      copies.push_back(op);
    return isToPassage;
  });
  size_t perPiece = copies.size() / tile.pieces.size();
  llvm::SetVector<Operation *> needed;
  BackwardSliceOptions options;
  options.filter = [&](Operation *op) {
    return llvm::is_contained(copies, op) || llvm::is_contained(tile.loads, op);
  };
  for (auto [i, copy] : llvm::enumerate(copies)) {
    tile.pieces[i / perPiece].copies.push_back(copy);
    (void)getBackwardSlice(copy, &needed, options);
  }
  llvm::copy_if(tile.loads, std::back_inserter(tile.sources),
                [&](Operation *op) { return needed.contains(op); });
  llvm::SmallPtrSet<Operation *, 8> own(llvm::from_range, copies);
  for (Operation *op : llvm::reverse(tile.sources))
    if (llvm::all_of(op->getUsers(),
                     [&](Operation *user) { return own.contains(user); }))
      own.insert(op);
  llvm::erase_if(tile.loads, [&](Operation *op) { return own.contains(op); });
}

FailureOr<StagedTile> StagedTile::get(SpMMOp product) {
  StagedTile tile;
  tile.product = product;
  tile.copied = dyn_cast_or_null<gpu::BarrierOp>(product->getPrevNode());
  tile.used = dyn_cast_or_null<gpu::BarrierOp>(product->getNextNode());
  if (!tile.copied || !tile.used)
    return product.emitOpError()
           << "expected a barrier before and after, as nm-stage-shared-memory "
              "leaves them";
  Operation *op = &product->getBlock()->front();
  for (; op != tile.copied; op = op->getNextNode()) {
    auto buffer = dyn_cast<memref::AllocOp>(op);
    if (isa<NVVM::SyncWarpOp>(op))
      tile.pieces.emplace_back();
    // What moves pieces stands behind all else.
    if (!tile.pieces.empty())
      tile.pieces.back().moves.push_back(op);
    else if (buffer && isPassage(buffer))
      tile.passage = buffer;
    else if (buffer)
      tile.buffers.push_back(buffer);
    else if (isStoreFromRegisters(op))
      tile.stores.push_back(op);
    else if (isAsyncCopy(op))
      tile.asyncCopies.push_back(op);
    else
      tile.loads.push_back(op);
  }
  if (tile.passage)
    splitCopiesToPassage(tile);
  return tile;
}

int64_t StagedTile::countBytes() const {
  int64_t bytes = 0;
  for (Operation *op : loads)
    if (auto load = dyn_cast<vector::LoadOp>(op))
      bytes +=
          llvm::divideCeil(load.getVectorType().getNumElements() *
                               load.getVectorType().getElementTypeBitWidth(),
                           8);
  return bytes;
}
