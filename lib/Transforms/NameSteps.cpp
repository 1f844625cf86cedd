//===- NameSteps.cpp - What ops compute, in their locations ---------------===//

#include "nm/Dialect/NM/IR/NM.h"
#include "nm/Dialect/NM/IR/PatchesOp.h"
#include "nm/Transforms/Passes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Support/DebugStringHelper.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::nm {
#define GEN_PASS_DEF_NMNAMESTEPS
#include "nm/Transforms/Passes.h.inc"
} // namespace mlir::nm

using namespace mlir;
using namespace mlir::nm;

/// The arithmetic of a body, each op once: `mulf, addf`. Constants, conversions
/// of types and indices are left out.
static std::string describeBody(Region &body) {
  llvm::SmallSetVector<StringRef, 4> names;
  constexpr size_t kMostNames = 4;
  for (Operation &op : body.front()) {
    if (op.hasTrait<OpTrait::IsTerminator>() ||
        op.hasTrait<OpTrait::ConstantLike>() || isa<CastOpInterface>(op) ||
        isa<linalg::IndexOp>(op))
      continue;
    names.insert(op.getName().stripDialect());
  }
  std::string text =
      llvm::join(ArrayRef(names.getArrayRef()).take_front(kMostNames), ", ");
  return names.size() > kMostNames ? text + ", ..." : text;
}

static std::string describe(Operation *op) {
  std::string name = op->getName().getStringRef().str();
  if (auto product = dyn_cast<SparseProductOpInterface>(op)) {
    name += " <" + product.getPattern().str() + ">";
    if (product.getScheduleAttr())
      name += " " + mlir::nm::getStrategyName(product).str();
    return name;
  }
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic)
    return name;
  std::string body = describeBody(generic.getRegion());
  if (!body.empty())
    return name + "(" + body + ")";
  return name + (generic.getNumDpsInputs() == 0 ? "(fill)" : "(copy)");
}

namespace {
struct NMNameSteps : mlir::nm::impl::NMNameStepsBase<NMNameSteps> {
  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      if (!isa<DestinationStyleOpInterface, memref::CopyOp>(op) ||
          isa<LoopLikeOpInterface>(op))
        return;
      auto name = StringAttr::get(op->getContext(), describe(op));
      op->setLoc(NameLoc::get(name, op->getLoc()));
    });
  }
};
} // namespace
