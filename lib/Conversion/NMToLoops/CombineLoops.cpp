//===- CombineLoops.cpp - nm.combine as loops -----------------------------===//

#include "Patterns.h"

#include "nm/Dialect/NM/IR/NM.h"

using namespace mlir;
using namespace mlir::nm;

namespace {
/// Emits the sum of the parts of each element, in their order.
class CombineLoops {
public:
  CombineLoops(LoopEmitter &emitter, CombineOp op) : emitter(emitter), op(op) {}

  void emit() {
    emitter.forEachInParallel(
        emitter.sizes(op.getC()),
        [&](ValueRange position) { emitElement(position); });
  }

private:
  void emitElement(ValueRange position) {
    Type type = op.getPartialsType().getElementType();
    Value sum =
        emitter.reduce(emitter.size(op.getPartials(), 0), emitter.zero(type),
                       [&](Value part, Value partial) {
                         SmallVector<Value> at = {part};
                         llvm::append_range(at, position);
                         return emitter.addElements(
                             partial, emitter.load(op.getPartials(), at));
                       });
    Value before = emitter.toAccumulator(emitter.load(op.getC(), position));
    emitter.store(emitter.fromAccumulator(emitter.addElements(before, sum),
                                          op.getCType().getElementType()),
                  op.getC(), position);
  }

  LoopEmitter &emitter;
  CombineOp op;
};
} // namespace

void mlir::nm::populateCombineLoops(RewritePatternSet &patterns,
                                    bool parallel) {
  patterns.add<OpToLoops<CombineOp, CombineLoops>>(patterns.getContext(),
                                                   parallel);
}
