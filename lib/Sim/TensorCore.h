//===- TensorCore.h - How a tensor core computes ----------------*- C++ -*-===//

#ifndef NM_LIB_SIM_TENSORCORE_H
#define NM_LIB_SIM_TENSORCORE_H

#include "nm/Format/MmaFragments.h"
#include "nm/Sim/Elements.h"

namespace nm::sim {

/// The value of an element, exactly. Of tf32 the 13 low bits are not read.
double decodeElement(NmSimElement type, uint32_t bits);

/// An exact sum as f32, rounded towards zero, as the hardware's adders do.
float truncateSum(double sum);

/// A sum of products of such elements, which is an f32 or an s32. One of s32
/// wraps around or saturates.
double decodeSum(NmSimElement type, uint32_t bits);
uint32_t encodeSum(NmSimElement type, double sum, bool saturates);

/// The column of the element `stored` of a row of a sparse A, whose metadata is
/// the low 4 bits. Sets `fault` where they are wrong.
int findKeptColumn(const MmaShape &shape, int stored, uint32_t metadata,
                   const char *&fault);

} // namespace nm::sim

#endif // NM_LIB_SIM_TENSORCORE_H
