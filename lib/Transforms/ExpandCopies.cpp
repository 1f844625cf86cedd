//===- ExpandCopies.cpp - Strided copies to linalg ------------------------===//

#include "nm/Transforms/Passes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::nm {
#define GEN_PASS_DEF_NMEXPANDCOPIES
#include "nm/Transforms/Passes.h.inc"
} // namespace mlir::nm

using namespace mlir;

/// Whether a copy of `type` is one run of bytes, which memcpy can make.
static bool isOneRun(Value value) {
  auto type = dyn_cast<MemRefType>(value.getType());
  return type && type.getLayout().isIdentity();
}

namespace {
struct NMExpandCopies : mlir::nm::impl::NMExpandCopiesBase<NMExpandCopies> {
  void runOnOperation() override {
    SmallVector<memref::CopyOp> copies;
    getOperation()->walk([&](memref::CopyOp copy) {
      bool isRanked = isa<MemRefType>(copy.getSource().getType()) &&
                      isa<MemRefType>(copy.getTarget().getType());
      if (isRanked &&
          !(isOneRun(copy.getSource()) && isOneRun(copy.getTarget())))
        copies.push_back(copy);
    });
    IRRewriter rewriter(&getContext());
    for (memref::CopyOp copy : copies) {
      rewriter.setInsertionPoint(copy);
      rewriter.replaceOpWithNewOp<linalg::CopyOp>(copy, copy.getSource(),
                                                  copy.getTarget());
    }
  }
};
} // namespace
