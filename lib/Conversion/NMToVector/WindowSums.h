//===- WindowSums.h - Windows that slide along rows, by vectors -*- C++ -*-===//

#ifndef NM_LIB_CONVERSION_NMTOVECTOR_WINDOWSUMS_H
#define NM_LIB_CONVERSION_NMTOVECTOR_WINDOWSUMS_H

#include "nm/Conversion/NMToVector/NMToVector.h"

#include "mlir/IR/Operation.h"

namespace mlir::nm {

/// Expands each linalg.generic on memrefs in `root` that combines the elements
/// of windows, as depthwise convolutions and pools do, into loops over vectors
/// of neighbours in a row of its result, which stay in registers for all taps.
/// A value that its result is filled with before is what they begin with. Each
/// result combines the same elements in the same order as before.
void expandWindows(Operation *root, const VectorTarget &target);

} // namespace mlir::nm

#endif // NM_LIB_CONVERSION_NMTOVECTOR_WINDOWSUMS_H
