//===- DetectChip.h - The chip of the device that is here -------*- C++ -*-===//

#ifndef NM_LIB_COMPILER_DETECTCHIP_H
#define NM_LIB_COMPILER_DETECTCHIP_H

#include <optional>
#include <string>

namespace mlir::nm {

/// The chip of the first CUDA device, as ptxas names it; none where there is no
/// device or no driver.
std::optional<std::string> detectChip();

/// The name of the first CUDA device; empty where there is none.
std::string detectDevice();

} // namespace mlir::nm

#endif // NM_LIB_COMPILER_DETECTCHIP_H
