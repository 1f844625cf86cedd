//===- ProcessorFeatures.h - What this processor can do ---------*- C++ -*-===//

#ifndef NM_LIB_RUNTIME_PROCESSORFEATURES_H
#define NM_LIB_RUNTIME_PROCESSORFEATURES_H

#include <string_view>

namespace nm {

/// Whether this processor has `feature`, named as LLVM does. A name that this
/// library does not know is taken to be there.
bool processorHas(std::string_view feature);

} // namespace nm

#endif // NM_LIB_RUNTIME_PROCESSORFEATURES_H
