//===- LinalgToGPU.h - Moved to nm/GPU/Tile/LinalgToGPU.h -------*- C++ -*-===//
//
// For who includes the header by its name of 0.1; 0.2 has it in nm/GPU/Tile
// alone.
//
//===----------------------------------------------------------------------===//

#include "nm/GPU/Tile/LinalgToGPU.h" // IWYU pragma: export
