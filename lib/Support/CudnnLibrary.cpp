//===- CudnnLibrary.cpp - cuDNN without its headers -----------------------===//

#include "nm/Support/CudnnLibrary.h"

#include <cstdlib>
#include <string>
#include <type_traits>

#include <dlfcn.h>

using namespace nm;
using namespace nm::cudnn;

/// The library, or the loader's reason.
static Result<void *> openLibrary(const std::string &path) {
  const char *given = std::getenv("NM_CUDNN_LIBRARY");
  std::string name = !path.empty()     ? path
                     : given && *given ? given
                                       : "libcudnn.so.9";
  // Global would let its symbols take the place of others'.
  if (void *library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL))
    return library;
  return Error{dlerror()};
}

Result<Functions> Functions::load(const std::string &path) {
  Result<void *> library = openLibrary(path);
  if (!library)
    return library.error();
  Functions functions;
  const char *missing = nullptr;
  auto find = [&](auto &function, const char *name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(
        dlsym(*library, name));
    if (!function)
      missing = name;
  };
  find(functions.getVersion, "cudnnGetVersion");
  find(functions.create, "cudnnCreate");
  find(functions.setStream, "cudnnSetStream");
  find(functions.getErrorString, "cudnnGetErrorString");
  find(functions.getLastErrorString, "cudnnGetLastErrorString");
  find(functions.createDescriptor, "cudnnBackendCreateDescriptor");
  find(functions.destroyDescriptor, "cudnnBackendDestroyDescriptor");
  find(functions.setAttribute, "cudnnBackendSetAttribute");
  find(functions.getAttribute, "cudnnBackendGetAttribute");
  find(functions.finalize, "cudnnBackendFinalize");
  find(functions.execute, "cudnnBackendExecute");
  if (missing)
    return Error{"expected cuDNN 9 or later, but its function " +
                 std::string(missing) + " is missing"};
  return functions;
}
