//===- TensorCores.h - How much more tensor cores do ------------*- C++ -*-===//

#ifndef NM_LIB_BENCH_TENSORCORES_H
#define NM_LIB_BENCH_TENSORCORES_H

#include "nm/Format/ElementType.h"

namespace nm {

/// How many operations of products of `type` tensor cores of compute capability
/// `major`.`minor` make for each that f32 multiply-adds make; 1 where they have
/// none of it. Products of f32 are six of bf16.
double tensorCoreFactor(int major, int minor, ElementType type);

} // namespace nm

#endif // NM_LIB_BENCH_TENSORCORES_H
