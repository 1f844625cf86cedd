//===- SharedStages.h - Moved to nm/Pipelines/SharedPhases.h ----*- C++ -*-===//
//
// For who includes the header by its name of 0.1; 0.2 has the new name alone.
//
//===----------------------------------------------------------------------===//

#include "nm/Pipelines/SharedPhases.h" // IWYU pragma: export
