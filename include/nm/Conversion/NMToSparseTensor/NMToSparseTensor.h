//===- NMToSparseTensor.h - Encodings to structured levels ------*- C++ -*-===//

#ifndef NM_CONVERSION_NMTOSPARSETENSOR_NMTOSPARSETENSOR_H
#define NM_CONVERSION_NMTOSPARSETENSOR_NMTOSPARSETENSOR_H

#include "mlir/Pass/Pass.h"

namespace mlir::nm {

#define GEN_PASS_DECL
#include "nm/Conversion/NMToSparseTensor/NMToSparseTensor.h.inc"

/// Gives the tensors with an `#nm.encoding` in `op`, and in what it has inside,
/// upstream's levels instead. Fails, after an error, where there are none.
LogicalResult convertNMToSparseTensor(Operation *op);

#define GEN_PASS_REGISTRATION
#include "nm/Conversion/NMToSparseTensor/NMToSparseTensor.h.inc"

} // namespace mlir::nm

#endif // NM_CONVERSION_NMTOSPARSETENSOR_NMTOSPARSETENSOR_H
