//===- VerifyMaps.cpp - Checks of ops that have indexing maps -------------===//

#include "VerifyMaps.h"

#include "VerifyStorage.h"

#include "nm/Dialect/NM/IR/ContractionLoops.h"

using namespace mlir;
using namespace mlir::nm;

LogicalResult mlir::nm::verifyMaps(Operation *op,
                                   ArrayRef<MappedOperand> operands) {
  unsigned loops = operands.front().map.getNumDims();
  for (const MappedOperand &operand : operands) {
    AffineMap map = operand.map;
    if (map.getNumDims() != loops || map.getNumSymbols() != 0 ||
        !map.isProjectedPermutation())
      return op->emitOpError()
             << "expected a map of " << operand.name << " from " << loops
             << " loops to some of them, but got " << AffineMapAttr::get(map);
    if (int64_t(map.getNumResults()) != operand.type.getRank())
      return op->emitOpError() << "expected a map of " << operand.name
                               << " with " << operand.type.getRank()
                               << " results, one for each dimension, but got "
                               << AffineMapAttr::get(map);
  }
  return success();
}

SmallVector<int64_t>
mlir::nm::getSizesOfLoops(ArrayRef<MappedOperand> operands) {
  SmallVector<int64_t> sizes(operands.front().map.getNumDims(),
                             ShapedType::kDynamic);
  for (const MappedOperand &operand : operands)
    for (auto [loop, size] :
         llvm::zip(getLoopsOf(operand.map), operand.type.getShape()))
      if (ShapedType::isDynamic(sizes[loop]))
        sizes[loop] = size;
  return sizes;
}

LogicalResult mlir::nm::verifyLoopSizes(Operation *op,
                                        ArrayRef<MappedOperand> operands) {
  SmallVector<int64_t> sizes = getSizesOfLoops(operands);
  for (const MappedOperand &operand : operands) {
    SmallVector<int64_t> expected;
    for (unsigned loop : getLoopsOf(operand.map))
      expected.push_back(sizes[loop]);
    if (failed(verifyShape(op, operand.name, operand.type, expected)) ||
        failed(verifySizeLimits(op, operand.name, operand.type)))
      return failure();
  }
  return success();
}
