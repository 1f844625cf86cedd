//===- WeightOrigin.h - Where the weights of a product come from -*- C++ -*===//

#ifndef NM_DIALECT_NM_TRANSFORMS_WEIGHTORIGIN_H
#define NM_DIALECT_NM_TRANSFORMS_WEIGHTORIGIN_H

#include "nm/Dialect/NM/IR/NM.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::nm {

/// Whether the weights of `op` are constant.
bool areWeightsConstant(SparseProductOpInterface op);

/// Whether `op` makes each element of a tensor of one element of another, in
/// its place, of that place and of constants: as what widens weights does. Of
/// weights that are loaded, nm-pack-weights does it once.
bool isElementwiseOfOne(linalg::GenericOp op);

/// Whether the weights of `op` are known before its function is called: they
/// are constant, or arguments that nm-pack-weights packs when they are loaded,
/// or what an isElementwiseOfOne makes of the values among those.
bool areWeightsLoaded(SparseProductOpInterface op);

/// Whether the weights of `op` are what nm.compress makes of all of another
/// pattern, as makeDense leaves them, of arguments that serve products alone:
/// nm-pack-weights then does all of it once, when they are loaded.
bool areWeightsRemadeAtLoad(SparseProductOpInterface op);

} // namespace mlir::nm

#endif // NM_DIALECT_NM_TRANSFORMS_WEIGHTORIGIN_H
