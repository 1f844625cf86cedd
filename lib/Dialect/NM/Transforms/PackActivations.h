//===- PackActivations.h - A in the form that a schedule takes --*- C++ -*-===//

#ifndef NM_LIB_DIALECT_NM_TRANSFORMS_PACKACTIVATIONS_H
#define NM_LIB_DIALECT_NM_TRANSFORMS_PACKACTIVATIONS_H

#include "nm/Dialect/NM/IR/NM.h"

namespace mlir::nm {

/// Makes A, at each call, what `op`'s schedule takes with weights of `form`:
/// the splits of its elements, panels of its columns, or A as it is.
void packActivations(SparseProductOpInterface op, PackedFormAttrInterface form);

} // namespace mlir::nm

#endif // NM_LIB_DIALECT_NM_TRANSFORMS_PACKACTIVATIONS_H
