//===- DescribeProduct.h - Products in remarks ------------------*- C++ -*-===//

#ifndef NM_DIALECT_NM_TRANSFORMS_DESCRIBEPRODUCT_H
#define NM_DIALECT_NM_TRANSFORMS_DESCRIBEPRODUCT_H

#include "nm/Dialect/NM/IR/NM.h"

#include <string>

namespace mlir::nm {

/// `nm.spmm <2:4> (50.0 % sparse), m = 256, n = 4096, k = 4096, f32`, of
/// weights of `pattern`, which dense ones may have replaced. `typicalM`, where
/// given, stands for a dynamic m.
std::string describeProduct(SparseProductOpInterface op,
                            const ::nm::Pattern &pattern,
                            std::optional<int64_t> typicalM);

/// `812.4 us`.
std::string describeTime(double microseconds);

/// Batch entries; a dynamic number counts as one.
int64_t countBatches(SparseProductOpInterface op);

} // namespace mlir::nm

#endif // NM_DIALECT_NM_TRANSFORMS_DESCRIBEPRODUCT_H
