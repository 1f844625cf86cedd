//===- CombineOp.cpp - nm.combine and who shares a sum --------------------===//

#include "StorageTiling.h"
#include "VerifyStorage.h"

using namespace mlir;
using namespace mlir::nm;

//===----------------------------------------------------------------------===//
// #nm.cluster_block
//===----------------------------------------------------------------------===//

int64_t ClusterBlockAttr::getMappingId() const { return 0; }
bool ClusterBlockAttr::isLinearMapping() const { return true; }
int64_t ClusterBlockAttr::getRelativeIndex() const { return 0; }

//===----------------------------------------------------------------------===//
// nm.combine
//===----------------------------------------------------------------------===//

/// (C2): what sums of f32 and of i32 may be rounded to.
static LogicalResult verifyElementTypes(CombineOp op) {
  Type sum = op.getPartialsType().getElementType(),
       element = op.getCType().getElementType();
  if (sum == element || (sum.isF32() && isa<FloatType>(element)))
    return success();
  return op.emitOpError() << "expected C to have element type "
                          << (sum.isF32() ? "f32, f16 or bf16" : "i32")
                          << " for partial sums of " << sum << ", but got "
                          << element;
}

LogicalResult CombineOp::verify() {
  // (C1).
  if (getCType().getRank() == 0)
    return emitOpError() << "expected C to have rank at least 1, but got "
                         << getCType();
  SmallVector<int64_t> expected(getCType().getShape());
  int64_t parts = getPartialsType().getRank() == 0
                      ? ShapedType::kDynamic
                      : getPartialsType().getDimSize(0);
  expected.insert(expected.begin(), parts);
  if (failed(verifyShape(*this, "partial sums", getPartialsType(), expected)) ||
      failed(verifySizeLimits(*this, "partial sums", getPartialsType())) ||
      failed(verifySizeLimits(*this, "C", getCType())) ||
      failed(verifyElementTypes(*this)))
    return failure();
  // (C3).
  return verifyTensorsOrMemRefs(*this);
}

void CombineOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  getDestinationStyleEffects(*this, /*accumulates=*/true, effects);
}

LogicalResult
CombineOp::reifyResultShapes(OpBuilder &builder,
                             ReifiedRankedShapedTypeDims &shapes) {
  return reifyDestinations(builder, *this, shapes);
}

//===----------------------------------------------------------------------===//
// Tiling
//===----------------------------------------------------------------------===//

// The loops are C's dimensions. The parts are no loop: sums over some of them
// would be added in another order, and rounded on the way.

SmallVector<Range> CombineOp::getIterationDomain(OpBuilder &builder) {
  SmallVector<Range> domain;
  for (int64_t dim = 0; dim < getCType().getRank(); ++dim)
    domain.push_back({builder.getIndexAttr(0),
                      getMixedSize(builder, getLoc(), getC(), dim),
                      builder.getIndexAttr(1)});
  return domain;
}

SmallVector<utils::IteratorType> CombineOp::getLoopIteratorTypes() {
  return SmallVector<utils::IteratorType>(getCType().getRank(),
                                          utils::IteratorType::parallel);
}

FailureOr<TilingResult>
CombineOp::getTiledImplementation(OpBuilder &builder,
                                  ArrayRef<OpFoldResult> offsets,
                                  ArrayRef<OpFoldResult> sizes) {
  SliceRegion ofC{llvm::to_vector(offsets), llvm::to_vector(sizes)}, ofPartials;
  ofPartials.append({builder.getIndexAttr(0),
                     getMixedSize(builder, getLoc(), getPartials(), 0)});
  llvm::append_range(ofPartials.offsets, offsets);
  llvm::append_range(ofPartials.sizes, sizes);
  Operation *partials =
                createSlice(builder, getLoc(), getPartials(), ofPartials),
            *c = createSlice(builder, getLoc(), getC(), ofC);
  SmallVector<Type> resultTypes;
  if (getNumResults() != 0)
    resultTypes.push_back(c->getResult(0).getType());
  Operation *tiled = mlir::clone(builder, *this, resultTypes,
                                 {partials->getResult(0), c->getResult(0)});
  return TilingResult{
      {tiled}, SmallVector<Value>(tiled->getResults()), {partials, c}};
}

LogicalResult CombineOp::getResultTilePosition(
    OpBuilder &, unsigned, ArrayRef<OpFoldResult> offsets,
    ArrayRef<OpFoldResult> sizes, SmallVector<OpFoldResult> &resultOffsets,
    SmallVector<OpFoldResult> &resultSizes) {
  resultOffsets = llvm::to_vector(offsets);
  resultSizes = llvm::to_vector(sizes);
  return success();
}

FailureOr<TilingResult>
CombineOp::generateResultTileValue(OpBuilder &builder, unsigned,
                                   ArrayRef<OpFoldResult> offsets,
                                   ArrayRef<OpFoldResult> sizes) {
  return getTiledImplementation(builder, offsets, sizes);
}
