//===- TermsExpansion.h - f32 products of bf16 terms ------------*- C++ -*-===//

#ifndef NM_CONVERSION_NMTOGPU_TERMSEXPANSION_H
#define NM_CONVERSION_NMTOGPU_TERMSEXPANSION_H

#include "TileExpansion.h"

namespace mlir::nm {

/// The expansion of strategy wgmma for operands that are sums of terms.
std::unique_ptr<TileExpansion> createTermsExpansion(SpMMOp op,
                                                    const GpuTile &tile);

} // namespace mlir::nm

#endif // NM_CONVERSION_NMTOGPU_TERMSEXPANSION_H
