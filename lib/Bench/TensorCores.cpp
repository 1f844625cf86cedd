//===- TensorCores.cpp - How much more tensor cores do --------------------===//

#include "TensorCores.h"

using namespace nm;

double nm::tensorCoreFactor(int major, int minor, ElementType type) {
  // A clock of a multiprocessor, by NVIDIA's tables: sm_80 2048 operations in
  // f16 beside 128 in f32, sm_90 4096 beside 256; of elements of a byte twice
  // as many.
  constexpr double kF16 = 16, kTermProducts = 6;
  bool isHopper = major == 9 && minor == 0;
  if (!isHopper && !(major == 8 && minor == 0))
    return 1;
  switch (type) {
  case ElementType::F16:
  case ElementType::BF16:
    return kF16;
  case ElementType::I8:
    return 2 * kF16;
  case ElementType::F8E4M3:
  case ElementType::F8E5M2:
    return isHopper ? 2 * kF16 : 1;
  case ElementType::F32:
    return isHopper ? kF16 / kTermProducts : 1;
  default:
    return 1;
  }
}
