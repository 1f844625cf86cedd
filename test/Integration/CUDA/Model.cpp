//===- Model.cpp - A module for CUDA with a kernel in PTX -----------------===//
//
// What nm-compile emits, written by hand, so that nm-run is tested on a device
// without the compiler: @twice, y = 2 x, and @same, y = x of three dimensions.
//
//===----------------------------------------------------------------------===//

#include "../../RuntimeCalls.h"
#include "Kernels.h"

#include <cstddef>
#include <cstdint>

#define EXPORT __attribute__((visibility("default")))

namespace {
struct Memref {
  void *allocated, *aligned;
  int64_t offset, size, stride;
};
struct Memref3 {
  void *allocated, *aligned;
  int64_t offset, sizes[3], strides[3];
};

/// Loaded and unloaded with the library, as constructors of emitted code do.
struct Kernels {
  void *module = mgpuModuleLoad(kKernels, sizeof kKernels);
  ~Kernels() { mgpuModuleUnload(module); }
};
} // namespace

static Kernels kernels;

extern "C" {
EXPORT void _mlir_ciface_twice(Memref *x, Memref *y) {
  void *params[] = {&x->aligned, &y->aligned, &x->size};
  mgpuLaunchKernel(mgpuModuleGetFunction(kernels.module, "twice"),
                   (x->size + 127) / 128, 1, 1, 128, 1, 1, 0, nmGetStream(),
                   params, nullptr, 3);
}

EXPORT void twiceReference(Memref *x, Memref *y) {
  for (int64_t i = 0; i < x->size; ++i)
    static_cast<double *>(y->aligned)[i] =
        2 * static_cast<double *>(x->aligned)[i];
}

EXPORT void _mlir_ciface_same(Memref3 *x, Memref3 *y) {
  mgpuMemcpy(y->aligned, x->aligned,
             x->sizes[0] * x->sizes[1] * x->sizes[2] * sizeof(float),
             nmGetStream());
}

EXPORT extern const char nm_manifest[];
const char nm_manifest[] = R"({ "version": 1, "target": "cuda",
  "chips": ["sm_80+ptx"], "functions": [ {
    "name": "twice", "symbol": "_mlir_ciface_twice",
    "args": [{"dtype": "f32", "shape": [-1], "alignment": 16}],
    "results": [{"dtype": "f32", "shape": [-1], "alignment": 16,
                 "dims": [{"arg": 0, "dim": 0}]}],
    "reference": {"symbol": "twiceReference",
      "args": [{"dtype": "f64", "shape": [-1]}],
      "results": [{"dtype": "f64", "shape": [-1],
                   "dims": [{"arg": 0, "dim": 0}]}]} }, {
    "name": "same", "symbol": "_mlir_ciface_same",
    "args": [{"dtype": "f32", "shape": [-1, -1, -1], "alignment": 16}],
    "results": [{"dtype": "f32", "shape": [-1, -1, -1], "alignment": 16,
                 "dims": [{"arg": 0, "dim": 0}, {"arg": 0, "dim": 1},
                          {"arg": 0, "dim": 2}]}] } ] })";
}
