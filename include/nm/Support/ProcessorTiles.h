//===- ProcessorTiles.h - Leave to use a CPU's tiles ------------*- C++ -*-===//

#ifndef NM_SUPPORT_PROCESSORTILES_H
#define NM_SUPPORT_PROCESSORTILES_H

namespace nm {

/// Whether this processor has AMX's tiles of bf16, and this process may use
/// them: the first use of tiles is a signal unless Linux was asked for leave
/// before, which this does. All threads have it from then on.
bool takeProcessorTiles();

} // namespace nm

#endif // NM_SUPPORT_PROCESSORTILES_H
