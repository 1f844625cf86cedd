//===- SplitFloatLoops.cpp - nm.split_floats as loops ---------------------===//

#include "Patterns.h"

#include "nm/Dialect/NM/IR/EmittedIndex.h"
#include "nm/Dialect/NM/IR/NM.h"
#include "nm/Dialect/NM/IR/SplitFloatEmitter.h"
#include "nm/Format/SparseOperand.h"
#include "nm/Format/SplitFloats.h"

using namespace mlir;
using namespace mlir::nm;

namespace {
/// Emits the splits of one A.
class SplitLoops {
public:
  SplitLoops(LoopEmitter &emitter, SplitFloatsOp op)
      : emitter(emitter), op(op), splits(op.getSplits()) {}

  void emit() {
    SmallVector<Value> sizes = emitter.sizes(op.getOutput());
    sizes.back() = emitter.div(sizes.back(), splits);
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
        emitSplitFloats(emitter.builder, emitter.loc,
                        emitter.loadOrZero(op.getA(), inA), splits);
    auto [group, column] = emitter.split(position.back(), ::nm::kSplitColumns);
    Value first =
        emitter.add(emitter.mul(group, splits * ::nm::kSplitColumns), column);
    SmallVector<Value> inOutput(position);
    for (auto [split, value] : llvm::enumerate(values)) {
      inOutput.back() =
          emitter.add(first, int64_t(split) * ::nm::kSplitColumns);
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
  SplitFloatsOp op;
  int64_t splits;
};
} // namespace

void mlir::nm::populateSplitFloatLoops(RewritePatternSet &patterns,
                                       bool parallel) {
  patterns.add<OpToLoops<SplitFloatsOp, SplitLoops>>(patterns.getContext(),
                                                     parallel);
}
