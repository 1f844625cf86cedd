//===- NMToGPU.h - Moved to nm/GPU/Tile/NMToGPU.h ---------------*- C++ -*-===//
//
// For who includes the header by its name of 0.1; 0.2 has it in nm/GPU/Tile
// alone.
//
//===----------------------------------------------------------------------===//

#include "nm/GPU/Tile/NMToGPU.h" // IWYU pragma: export
