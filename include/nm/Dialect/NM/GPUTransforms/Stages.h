//===- Stages.h - Moved to nm/GPU/Stages.h ----------------------*- C++ -*-===//
//
// For who includes the header by its name of 0.1; 0.2 has it in nm/GPU alone.
//
//===----------------------------------------------------------------------===//

#include "nm/GPU/Stages.h" // IWYU pragma: export
