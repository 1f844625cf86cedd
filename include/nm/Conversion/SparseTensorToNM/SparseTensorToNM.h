//===- SparseTensorToNM.h - Structured levels to encodings ------*- C++ -*-===//

#ifndef NM_CONVERSION_SPARSETENSORTONM_SPARSETENSORTONM_H
#define NM_CONVERSION_SPARSETENSORTONM_SPARSETENSORTONM_H

#include "mlir/Pass/Pass.h"

namespace mlir::nm {

#define GEN_PASS_DECL
#include "nm/Conversion/SparseTensorToNM/SparseTensorToNM.h.inc"

/// Gives the structured sparse tensors in `op`, and in what it has inside, an
/// `#nm.encoding` instead. Fails, after an error, where one has none.
LogicalResult convertSparseTensorToNM(Operation *op);

#define GEN_PASS_REGISTRATION
#include "nm/Conversion/SparseTensorToNM/SparseTensorToNM.h.inc"

} // namespace mlir::nm

#endif // NM_CONVERSION_SPARSETENSORTONM_SPARSETENSORTONM_H
