//===- CublasLibrary.cpp - cuBLAS without its headers ---------------------===//

#include "nm/Support/CublasLibrary.h"

#include <cstdlib>
#include <vector>

#include <dlfcn.h>

using namespace nm;

int nm::cublas::dataType(ElementType type) {
  switch (type) {
  case ElementType::F32:
    return 0;
  case ElementType::F16:
    return 2;
  case ElementType::I8:
    return 3;
  case ElementType::I32:
    return 10;
  case ElementType::BF16:
    return 14;
  case ElementType::F8E4M3:
    return 28;
  case ElementType::F8E5M2:
    return 29;
  default:
    return -1;
  }
}

Result<void *> nm::cublas::openLibrary(const std::string &path) {
  std::vector<std::string> names{"libcublas.so.13", "libcublas.so.12"};
  const char *given = std::getenv("NM_CUBLAS_LIBRARY");
  if (!path.empty())
    names = {path};
  else if (given && *given)
    names = {given};
  std::string reasons;
  for (const std::string &name : names) {
    // Global would let its symbols take the place of others'.
    if (void *library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL))
      return library;
    reasons += (reasons.empty() ? "" : "; ") + std::string(dlerror());
  }
  return Error{reasons};
}

Error nm::cublas::missingFunction(const char *function) {
  return Error{"expected cuBLAS 11 or later, but its function " +
               std::string(function) + " is missing"};
}
