//===- TensorCore.h - How a tensor core computes ----------------*- C++ -*-===//

#ifndef NM_LIB_SIM_TENSORCORE_H
#define NM_LIB_SIM_TENSORCORE_H

#include "nm/Sim/Elements.h"

namespace nm::sim {

/// The value of an element, exactly. Of tf32 the 13 low bits are not read.
double decodeElement(NmSimElement type, uint32_t bits);

/// An exact sum as f32, rounded towards zero, as the hardware's adders do.
float truncateSum(double sum);

} // namespace nm::sim

#endif // NM_LIB_SIM_TENSORCORE_H
