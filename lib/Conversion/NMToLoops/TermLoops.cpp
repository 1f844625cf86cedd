//===- TermLoops.cpp - nm.split_terms as loops ----------------------------===//

#include "Patterns.h"

#include "nm/Dialect/NM/IR/EmittedIndex.h"
#include "nm/Dialect/NM/IR/NM.h"
#include "nm/Dialect/NM/IR/TermEmitter.h"
#include "nm/Format/SparseOperand.h"
#include "nm/Format/SplitTerms.h"

using namespace mlir;
using namespace mlir::nm;

namespace {
/// Emits the terms of one A.
class SplitLoops {
public:
  SplitLoops(LoopEmitter &emitter, SplitTermsOp op)
      : emitter(emitter), op(op), terms(op.getTerms()) {}

  void emit() {
    SmallVector<Value> sizes = emitter.sizes(op.getOutput());
    sizes.back() = emitter.div(sizes.back(), terms);
    emitter.forEachTask(sizes,
                        [&](ValueRange position) { emitElement(position); });
  }

private:
  /// `position` is (batch..., k, m), where m is filled up.
  void emitElement(ValueRange position) {
    SmallVector<Value> inA(position);
    Value &k = inA[inA.size() - 2];
    k = rowOfA(k);
    if (op.getTranspose())
      std::swap(inA[inA.size() - 2], inA.back());
    SmallVector<Value> values =
        emitSplitTerms(emitter.builder, emitter.loc,
                       emitter.loadOrZero(op.getA(), inA), terms);
    auto [group, column] = emitter.split(position.back(), ::nm::kTermColumns);
    Value first =
        emitter.add(emitter.mul(group, terms * ::nm::kTermColumns), column);
    SmallVector<Value> inOutput(position);
    for (auto [term, value] : llvm::enumerate(values)) {
      inOutput.back() = emitter.add(first, int64_t(term) * ::nm::kTermColumns);
      emitter.store(value, op.getOutput(), inOutput);
    }
  }

  /// The row of A that is row `k` of the output.
  Value rowOfA(Value k) {
    if (!op.getWindows())
      return k;
    ::nm::OverlappingGroups groups{static_cast<int64_t>(*op.getWindows())};
    return groups.rowOfK(EmittedIndex{&emitter, k}).value;
  }

  LoopEmitter &emitter;
  SplitTermsOp op;
  int64_t terms;
};
} // namespace

void mlir::nm::populateTermLoops(RewritePatternSet &patterns, bool parallel) {
  patterns.add<OpToLoops<SplitTermsOp, SplitLoops>>(patterns.getContext(),
                                                    parallel);
}
