//===- Stages.h - Moved to nm/GPU/Phases.h ----------------------*- C++ -*-===//
//
// For who includes the header by its name of 0.1; 0.2 has it in nm/GPU alone.
//
//===----------------------------------------------------------------------===//

#include "nm/GPU/Phases.h" // IWYU pragma: export
