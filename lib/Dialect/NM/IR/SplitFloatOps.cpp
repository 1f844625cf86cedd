//===- SplitFloatOps.cpp - Activations and weights of bf16 splits ---------===//

#include "VerifyStorage.h"

#include "nm/Format/SparseOperand.h"
#include "nm/Format/SplitFloats.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::nm;

using EffectInstances =
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

//===----------------------------------------------------------------------===//
// nm.split_floats
//===----------------------------------------------------------------------===//

int64_t mlir::nm::countSplitColumns(int64_t m, int64_t splits) {
  return ShapedType::isDynamic(m)
             ? m
             : splits * int64_t(llvm::alignTo(m, ::nm::kSplitColumns));
}

SmallVector<int64_t>
SplitFloatsOp::getOutputShape(ArrayRef<int64_t> shape, bool transpose,
                              int64_t splits, std::optional<int64_t> windows) {
  SmallVector<int64_t> output(shape);
  if (transpose)
    std::swap(output[output.size() - 2], output.back());
  int64_t &k = output[output.size() - 2];
  if (windows && !ShapedType::isDynamic(k))
    k = ::nm::OverlappingGroups{*windows}.rows(k);
  output.back() = countSplitColumns(output.back(), splits);
  return output;
}

LogicalResult SplitFloatsOp::verify() {
  // (C1).
  ShapedType a = getAType(), output = cast<ShapedType>(getOutput().getType());
  if (a.getRank() < 2 || output.getRank() != a.getRank())
    return emitOpError() << "expected A and the output to have one rank of at "
                            "least 2, but got "
                         << a << " and " << output;
  // (C2).
  if (getWindows() && *getWindows() % ::nm::OverlappingGroups::kStep != 0)
    return emitOpError() << "expected windows of an even number of rows, but "
                            "got "
                         << *getWindows();
  if (failed(verifySizeLimits(*this, "A", a)) ||
      failed(verifyShape(*this, "output", output,
                         getOutputShape(a.getShape(), getTranspose(),
                                        getSplits(), getWindows()))))
    return failure();
  // (C3).
  return verifyTensorsOrMemRefs(*this);
}

void SplitFloatsOp::getEffects(EffectInstances &effects) {
  getDestinationStyleEffects(*this, /*accumulates=*/false, effects);
}

LogicalResult
SplitFloatsOp::reifyResultShapes(OpBuilder &builder,
                                 ReifiedRankedShapedTypeDims &shapes) {
  return reifyDestinations(builder, *this, shapes);
}

//===----------------------------------------------------------------------===//
// nm.recompute_from
//===----------------------------------------------------------------------===//

LogicalResult RecomputeFromOp::verify() {
  ::nm::Pattern pattern = getPattern().getPattern();
  auto values = cast<ShapedType>(getValues().getType());
  if (getPacking().countSplits() == 1)
    return emitOpError() << "expected a packing with splits, but got "
                         << getPacking();
  if (failed(getPacking().verifyWeights([&] { return emitOpError(); }, pattern,
                                        values.getElementType())))
    return failure();
  auto a = cast<ShapedType>(getA().getType());
  if (a.getRank() < 2)
    return emitOpError() << "expected A to have rank at least 2, but got " << a;
  if (values.getElementType() != a.getElementType())
    return emitOpError() << "expected values of A's element type "
                         << a.getElementType() << ", but got "
                         << values.getElementType();
  auto sums = cast<ShapedType>(getSums().getType());
  if (sums.getRank() != a.getRank() || !sums.getElementType().isF32())
    return emitOpError() << "expected sums of f32, of A's rank " << a.getRank()
                         << ", but got " << sums;
  return verifyTensorsOrMemRefs(*this);
}

void RecomputeFromOp::getEffects(EffectInstances &effects) {
  getDestinationStyleEffects(*this, /*accumulates=*/true, effects);
}

LogicalResult
RecomputeFromOp::reifyResultShapes(OpBuilder &builder,
                                   ReifiedRankedShapedTypeDims &shapes) {
  return reifyDestinations(builder, *this, shapes);
}
