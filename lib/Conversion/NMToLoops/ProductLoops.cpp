//===- ProductLoops.cpp - nm.spmm and nm.spmv as loops --------------------===//

#include "LoopWeightAccess.h"
#include "Patterns.h"

#include "nm/Dialect/NM/IR/Dequantize.h"
#include "nm/Dialect/NM/IR/Epilogue.h"
#include "nm/Dialect/NM/IR/SplitFloatEmitter.h"
#include "nm/Format/SplitFloats.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::nm;

namespace {
/// Emits C += A·B for one product.
class ProductLoops {
public:
  ProductLoops(LoopEmitter &emitter, SparseProductOpInterface op)
      : emitter(emitter), op(op),
        weights(WeightAccess::get(emitter, op.getPattern(), op.getPackingAttr(),
                                  op.getValues(), op.getIndices(),
                                  op.getLists())) {}

  void emit() {
    emitter.forEachInParallel(
        emitter.sizes(op.getC()),
        [&](ValueRange positionInC) { emitElement(positionInC); });
  }

private:
  void emitElement(ValueRange positionInC) {
    Value column = positionInC[op.getNDimOfC()];
    Value sum =
        emitter.sum(weights->rows(), op.getAccumulatorType(),
                    [&](Value row, Value partial) {
                      return emitSplit(positionInC, row, column, partial);
                    });
    emitter.store(op.hasEpilogue() ? runEpilogue(positionInC, sum)
                                   : addToC(positionInC, sum),
                  op.getC(), positionInC);
  }

  Value addToC(ValueRange positionInC, Value sum) {
    Value before = emitter.toAccumulator(emitter.load(op.getC(), positionInC));
    return emitter.fromAccumulator(emitter.addElements(before, sum),
                                   op.getCType().getElementType());
  }

  Value runEpilogue(ValueRange positionInC, Value sum) {
    SmallVector<Value> arguments = {sum};
    for (auto [i, operand] : llvm::enumerate(op.getEpilogueOperands())) {
      AffineMap map = getEpilogueMapOfC(op, i);
      SmallVector<Value> position;
      for (unsigned dim = 0; dim < map.getNumResults(); ++dim)
        position.push_back(positionInC[map.getDimPosition(dim)]);
      arguments.push_back(emitter.load(operand, position));
    }
    return inlineElementwise(emitter.builder, emitter.loc, op.getEpilogue(),
                             arguments);
  }

  /// `partial` and the split of one condensed row, which has none past k.
  Value emitSplit(ValueRange positionInC, Value row, Value column,
                  Value partial) {
    Value k = weights->kOf(row, column);
    Value size = emitter.mul(emitter.size(op.getA(), op.getKDimOfA()),
                             op.getColumnsOfPanels());
    Value inside = emitter.less(k, size);
    return emitter.choose(
        inside,
        [&] {
          Value a = loadA(positionInC, k);
          Value b = loadWeight(row, column, k);
          return emitter.addElements(
              partial,
              multiply(emitter.toAccumulator(a), emitter.toAccumulator(b)));
        },
        [&] { return partial; });
  }

  /// The weight of a condensed row, which a quantized one is times its scale.
  Value loadWeight(Value row, Value column, Value k) {
    Value value = weights->value(row, column);
    QuantizationAttr quantization = op.getQuantizationAttr();
    if (!quantization)
      return value;
    Value scale = emitter.load(
        op.getScales(), {emitter.div(k, quantization.getGroup()), column});
    return emitDequantized(emitter.builder, emitter.loc, value,
                           quantization.getBits(), scale);
  }

  /// The element of A at `k`, joined of its splits where A is m-major splits:
  /// 64 columns of m of one after the other.
  Value loadA(ValueRange positionInC, Value k) {
    SmallVector<Value> position = positionInA(positionInC, k);
    int64_t splits = op.countSplits();
    if (splits == 1)
      return emitter.load(op.getA(), position);
    auto [group, column] = emitter.split(position.back(), ::nm::kSplitColumns);
    Value first =
        emitter.add(emitter.mul(group, splits * ::nm::kSplitColumns), column);
    SmallVector<Value> loaded;
    for (int64_t split = 0; split < splits; ++split) {
      position.back() = emitter.add(first, split * ::nm::kSplitColumns);
      loaded.push_back(emitter.load(op.getA(), position));
    }
    return emitJoinFloats(emitter.builder, emitter.loc, loaded);
  }

  SmallVector<Value> positionInA(ValueRange positionInC, Value k) {
    SmallVector<Value> position(op.getAType().getRank());
    for (int64_t dim = 0; dim < op.getNumBatchDims(); ++dim)
      position[dim] = positionInC[dim];
    if (std::optional<int64_t> m = op.getMDimOfA())
      position[*m] = positionInC[*op.getMDimOfC()];
    position[op.getKDimOfA()] = k;
    if (int64_t columns = op.getColumnsOfPanels(); columns != 1) {
      auto [panel, column] = emitter.split(k, columns);
      position[op.getKDimOfA()] = panel;
      Value &m = position[*op.getMDimOfA()];
      m = emitter.add(emitter.mul(m, columns), column);
    }
    return position;
  }

  Value multiply(Value a, Value b) {
    if (a.getType().isInteger())
      return arith::MulIOp::create(emitter.builder, emitter.loc, a, b);
    return arith::MulFOp::create(emitter.builder, emitter.loc, a, b);
  }

  LoopEmitter &emitter;
  SparseProductOpInterface op;
  std::unique_ptr<WeightAccess> weights;
};

} // namespace

void mlir::nm::populateProductLoops(RewritePatternSet &patterns,
                                    bool parallel) {
  patterns
      .add<OpToLoops<SpMMOp, ProductLoops>, OpToLoops<SpMVOp, ProductLoops>>(
          patterns.getContext(), parallel);
}
