//===- WeightOrigin.h - Where the weights of a product come from -*- C++ -*===//

#ifndef NM_DIALECT_NM_TRANSFORMS_WEIGHTORIGIN_H
#define NM_DIALECT_NM_TRANSFORMS_WEIGHTORIGIN_H

#include "nm/Dialect/NM/IR/NM.h"

namespace mlir::nm {

/// Whether the weights of `op` are constant.
bool areWeightsConstant(SparseProductOpInterface op);

/// Whether the weights of `op` are known before its function is called: they
/// are constant, or arguments that nm-pack-weights packs when they are loaded.
bool areWeightsLoaded(SparseProductOpInterface op);

} // namespace mlir::nm

#endif // NM_DIALECT_NM_TRANSFORMS_WEIGHTORIGIN_H
