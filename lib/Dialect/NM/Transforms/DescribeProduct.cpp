//===- DescribeProduct.cpp - Products in remarks --------------------------===//

#include "nm/Dialect/NM/Transforms/DescribeProduct.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::nm;

std::string mlir::nm::describeProduct(SparseProductOpInterface op,
                                      const ::nm::Pattern &pattern,
                                      std::optional<int64_t> typicalM) {
  auto size = [](int64_t value) {
    return ShapedType::isDynamic(value) ? std::string("?")
                                        : std::to_string(value);
  };
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << op->getName() << " <" << pattern.str() << ">";
  if (!pattern.isUnstructured())
    stream << " (" << llvm::formatv("{0:f1}", 100 * pattern.sparsity())
           << " % sparse)";
  stream << ", m = " << size(op.getStaticM());
  if (typicalM)
    stream << ", taken to be " << *typicalM;
  stream << ", n = " << size(op.getStaticN())
         << ", k = " << size(op.getStaticK()) << ", "
         << op.getAType().getElementType();
  return text;
}

std::string mlir::nm::describeTime(double microseconds) {
  return llvm::formatv("{0:f1} us", microseconds);
}

int64_t mlir::nm::countBatches(SparseProductOpInterface op) {
  int64_t batches = 1;
  for (int64_t dim = 0; dim < op.getNumBatchDims(); ++dim)
    if (int64_t size = op.getAType().getDimSize(dim);
        !ShapedType::isDynamic(size))
      batches *= size;
  return batches;
}
