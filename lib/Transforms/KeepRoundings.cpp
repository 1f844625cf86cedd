//===- KeepRoundings.cpp - Roundings between narrow operations ------------===//

#include "nm/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace mlir::nm {
#define GEN_PASS_DEF_NMKEEPROUNDINGS
#include "nm/Transforms/Passes.h.inc"
} // namespace mlir::nm

using namespace mlir;

namespace {
struct NMKeepRoundings : mlir::nm::impl::NMKeepRoundingsBase<NMKeepRoundings> {
  void runOnOperation() override {
    getOperation()->walk([](Operation *op) {
      if (auto extension = dyn_cast<arith::ExtFOp>(op))
        extension.removeFastmathAttr();
      else if (auto truncation = dyn_cast<arith::TruncFOp>(op))
        truncation.removeFastmathAttr();
    });
  }
};
} // namespace
