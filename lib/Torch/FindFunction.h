//===- FindFunction.h - Looking a C function up in a library ----*- C++ -*-===//

#ifndef NM_LIB_TORCH_FINDFUNCTION_H
#define NM_LIB_TORCH_FINDFUNCTION_H

#include <dlfcn.h>

namespace nm::torch {

/// Sets `function` to what `library`, a handle of dlopen, has of the name: null
/// where the library has none. Returns whether there is one.
template <typename Function>
bool findFunction(void *library, const char *name, Function &function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

} // namespace nm::torch

#endif // NM_LIB_TORCH_FINDFUNCTION_H
