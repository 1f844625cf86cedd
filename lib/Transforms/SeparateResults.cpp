//===- SeparateResults.cpp - Memory of its own for each result ------------===//

#include "nm/Transforms/Passes.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace mlir::nm {
#define GEN_PASS_DEF_NMSEPARATERESULTS
#include "nm/Transforms/Passes.h.inc"
} // namespace mlir::nm

using namespace mlir;

static Value createCopy(OpBuilder &b, Location loc, Value source) {
  auto type = cast<MemRefType>(source.getType());
  SmallVector<Value> sizes;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.isDynamicDim(dim))
      sizes.push_back(memref::DimOp::create(b, loc, source, dim));
  Value copy = memref::AllocOp::create(b, loc, type, sizes);
  memref::CopyOp::create(b, loc, source, copy);
  return copy;
}

namespace {
struct NMSeparateResults
    : mlir::nm::impl::NMSeparateResultsBase<NMSeparateResults> {
  void runOnOperation() override {
    for (func::ReturnOp op : getOperation().getOps<func::ReturnOp>()) {
      llvm::SmallPtrSet<Value, 4> seen;
      OpBuilder b(op);
      for (OpOperand &operand : op->getOpOperands())
        if (isa<MemRefType>(operand.get().getType()) &&
            !seen.insert(operand.get()).second)
          operand.set(createCopy(b, op.getLoc(), operand.get()));
    }
  }
};
} // namespace
