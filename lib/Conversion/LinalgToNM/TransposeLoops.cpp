//===- TransposeLoops.cpp - Tensors with their loops in an order ----------===//

#include "TransposeLoops.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace mlir::nm;

Value mlir::nm::transpose(OpBuilder &builder, Location loc, Value source,
                          ArrayRef<int64_t> permutation) {
  SmallVector<OpFoldResult> sizes = applyPermutation(
      ArrayRef(tensor::getMixedSizes(builder, loc, source)), permutation);
  Value empty = tensor::EmptyOp::create(builder, loc, sizes,
                                        getElementTypeOrSelf(source.getType()));
  return linalg::TransposeOp::create(builder, loc, source, empty, permutation)
      ->getResult(0);
}

Value mlir::nm::transposeLoops(OpBuilder &builder, Location loc, Value source,
                               ArrayRef<unsigned> from, ArrayRef<unsigned> to) {
  if (from == to)
    return source;
  SmallVector<int64_t> permutation;
  for (unsigned loop : to)
    permutation.push_back(llvm::find(from, loop) - from.begin());
  return transpose(builder, loc, source, permutation);
}
