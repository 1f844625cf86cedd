//===- GpuSchedule.h - Moved to nm/GPU/Select/GpuSchedule.h -----*- C++ -*-===//
//
// For who includes the header by its name of 0.1; 0.2 has it in nm/GPU/Select
// alone.
//
//===----------------------------------------------------------------------===//

#include "nm/GPU/Select/GpuSchedule.h" // IWYU pragma: export
