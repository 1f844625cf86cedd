//===- ProcessorFeatures.h - What this processor can do ---------*- C++ -*-===//

#ifndef NM_LIB_RUNTIME_PROCESSORFEATURES_H
#define NM_LIB_RUNTIME_PROCESSORFEATURES_H

#include <optional>
#include <string_view>

namespace nm {

/// Whether this processor has `feature`, named as LLVM does; nothing where this
/// library does not know the name. For amx-tile, Linux is asked to let this
/// process use tiles, without which their first use would be a signal.
std::optional<bool> processorHas(std::string_view feature);

} // namespace nm

#endif // NM_LIB_RUNTIME_PROCESSORFEATURES_H
