//===- SinkConstants.cpp - Constants into launches ------------------------===//

#include "nm/Transforms/Passes.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::nm {
#define GEN_PASS_DEF_NMSINKCONSTANTS
#include "nm/Transforms/Passes.h.inc"
} // namespace mlir::nm

using namespace mlir;

static void sinkConstants(gpu::LaunchOp launch) {
  Region &body = launch.getBody();
  OpBuilder builder(body);
  llvm::SmallDenseMap<Operation *, Operation *> clones;
  body.walk([&](Operation *op) {
    for (OpOperand &operand : op->getOpOperands()) {
      Operation *constant = operand.get().getDefiningOp();
      if (!constant || !constant->hasTrait<OpTrait::ConstantLike>() ||
          body.isAncestor(constant->getParentRegion()))
        continue;
      Operation *&clone = clones[constant];
      if (!clone)
        clone = builder.clone(*constant);
      operand.set(clone->getResult(0));
    }
  });
}

namespace {
struct NMSinkConstants : mlir::nm::impl::NMSinkConstantsBase<NMSinkConstants> {
  void runOnOperation() override {
    getOperation().walk([](gpu::LaunchOp launch) { sinkConstants(launch); });
  }
};
} // namespace
