//===- GpuTile.h - Moved to nm/GPU/Tile/GpuTile.h ---------------*- C++ -*-===//
//
// For who includes the header by its name of 0.1; 0.2 has it in nm/GPU/Tile
// alone.
//
//===----------------------------------------------------------------------===//

#include "nm/GPU/Tile/GpuTile.h" // IWYU pragma: export
