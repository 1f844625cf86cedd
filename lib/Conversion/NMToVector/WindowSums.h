//===- WindowSums.h - Windows that slide along rows, by vectors -*- C++ -*-===//

#ifndef NM_LIB_CONVERSION_NMTOVECTOR_WINDOWSUMS_H
#define NM_LIB_CONVERSION_NMTOVECTOR_WINDOWSUMS_H

#include "nm/Conversion/NMToVector/NMToVector.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::nm {

/// Expands a linalg.generic on memrefs that combines the elements of windows,
/// as depthwise convolutions and pools do, into loops over vectors of
/// neighbours in a row of its result, which stay in registers for all taps.
/// Each result combines the same elements in the same order as before.
LogicalResult expandWindows(PatternRewriter &rewriter, linalg::GenericOp op,
                            const VectorTarget &target);

} // namespace mlir::nm

#endif // NM_LIB_CONVERSION_NMTOVECTOR_WINDOWSUMS_H
