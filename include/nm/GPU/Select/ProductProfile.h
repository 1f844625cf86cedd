//===- ProductProfile.h - A product's kernel by its schedule ----*- C++ -*-===//

#ifndef NM_GPU_SELECT_PRODUCTPROFILE_H
#define NM_GPU_SELECT_PRODUCTPROFILE_H

#include "nm/Dialect/NM/IR/NM.h"
#include "nm/Schedule/KernelProfile.h"

namespace mlir::nm {

/// The profile of the kernel that `op` becomes, with the estimates of its
/// record; empty where the op has no schedule of a GPU's kernels.
::nm::KernelProfile profileProduct(SparseProductOpInterface op);

/// As the end of a remark: `; 168 registers a thread by ptxas; ...`.
std::string describeProfile(const ::nm::KernelProfile &profile);

} // namespace mlir::nm

#endif // NM_GPU_SELECT_PRODUCTPROFILE_H
