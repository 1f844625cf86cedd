//===- Stages.h - Moved to nm/Dialect/NM/Transforms/Phases.h ----*- C++ -*-===//
//
// For who includes the header by its name of 0.1; 0.2 has the new name alone.
//
//===----------------------------------------------------------------------===//

#include "nm/Dialect/NM/Transforms/Phases.h" // IWYU pragma: export
