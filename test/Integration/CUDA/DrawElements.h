//===- DrawElements.h - Operands of tensor cores ----------------*- C++ -*-===//

#ifndef NM_TEST_INTEGRATION_CUDA_DRAWELEMENTS_H
#define NM_TEST_INTEGRATION_CUDA_DRAWELEMENTS_H

#include "nm/Format/MmaFragments.h"
#include "nm/Sim/Elements.h"

#include <cstdint>
#include <random>
#include <string>

/// Finite floats of like size; any integer.
uint32_t drawElement(NmSimElement type, std::mt19937 &random);
/// A word of metadata.
uint32_t drawMetadata(const nm::MmaShape &shape, std::mt19937 &random);
float toFloat(uint32_t bits);
/// `{%w4, %w5}`.
std::string list(const char *prefix, int first, int count);

#endif // NM_TEST_INTEGRATION_CUDA_DRAWELEMENTS_H
