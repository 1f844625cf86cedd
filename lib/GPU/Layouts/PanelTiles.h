//===- PanelTiles.h - Matrices as panels of 16 bytes ------------*- C++ -*-===//

#ifndef NM_LIB_GPU_LAYOUTS_PANELTILES_H
#define NM_LIB_GPU_LAYOUTS_PANELTILES_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::nm {

/// Whether `op`, an elementwise op on memrefs in the order of its output
/// [... x panels x rows x columns], writes panels of 16 bytes of each row,
/// which some input has side by side, [... x rows x panels x columns].
bool makesPanels(linalg::GenericOp op);

/// The kernel of such an op; `builder` is where it is.
void launchPanelTiles(OpBuilder &builder, linalg::GenericOp op);

} // namespace mlir::nm

#endif // NM_LIB_GPU_LAYOUTS_PANELTILES_H
