//===- TransposeToGPU.h - Moved to nm/GPU/Layouts ---------------*- C++ -*-===//
//
// For who includes the header by its name of 0.1; 0.2 has it in nm/GPU/Layouts
// alone.
//
//===----------------------------------------------------------------------===//

#include "nm/GPU/Layouts/TransposeToGPU.h" // IWYU pragma: export
