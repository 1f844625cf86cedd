//===- Blas.cpp - The dense BLAS to compare with --------------------------===//

#include "Blas.h"

#include <cstdlib>
#include <dlfcn.h>

using namespace nm;

/// The values of CBLAS's enumerations.
static constexpr int kRowMajor = 101, kNoTranspose = 111, kTranspose = 112;

template <typename Function>
static bool find(void *library, const char *name, Function &function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

Result<Blas> Blas::load(const std::string &path, int threads) {
  // Between calls OpenBLAS's threads spin, by default for 2^26 ticks and, on a
  // busy host, for as long as it takes them to get those. What runs next would
  // share its cores with them, so they are to sleep after 2^20, half a
  // millisecond, which still lasts from call to call of one turn.
  setenv("OPENBLAS_THREAD_TIMEOUT", "20", /*overwrite=*/0);
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return Error{std::string("cannot load OpenBLAS, which is timed beside: ") +
                 dlerror() +
                 "; install it (Debian: libopenblas0-pthread), give its place "
                 "with --blas=PATH, or leave it out with --blas=none"};
  Blas blas;
  void (*setThreads)(int) = nullptr;
  int (*getThreads)() = nullptr;
  int (*getParallel)() = nullptr;
  char *(*getConfig)() = nullptr;
  if (!find(library, "cblas_sgemm", blas.gemm) ||
      !find(library, "cblas_sgemv", blas.gemv) ||
      !find(library, "openblas_set_num_threads", setThreads) ||
      !find(library, "openblas_get_num_threads", getThreads) ||
      !find(library, "openblas_get_parallel", getParallel) ||
      !find(library, "openblas_get_config", getConfig))
    return Error{path + ": expected OpenBLAS with its C interface, but a "
                        "function of it is missing"};
  setThreads(threads);
  if (getThreads() != threads)
    return Error{path + ": expected OpenBLAS to use " +
                 std::to_string(threads) + " threads, but it uses " +
                 std::to_string(getThreads()) +
                 "; Debian's package libopenblas0-pthread can"};
  blas.text = getConfig();
  while (!blas.text.empty() && blas.text.back() == ' ')
    blas.text.pop_back();
  // 1: threads of its own.
  if (getParallel() != 1)
    blas.text += " (not the pthread build)";
  return blas;
}

void Blas::multiply(const ProductShape &shape, const float *a, const float *b,
                    float *c) const {
  int m = int(shape.m), n = int(shape.n), k = int(shape.k);
  if (m == 1)
    gemv(kRowMajor, kTranspose, k, n, 1, b, n, a, 1, 0, c, 1);
  else
    gemm(kRowMajor, kNoTranspose, kNoTranspose, m, n, k, 1, a, k, b, n, 0, c,
         n);
}
