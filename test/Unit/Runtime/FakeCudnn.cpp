//===- FakeCudnn.cpp - A cuDNN for tests of what is queued ----------------===//
//
// Its only plan fills its workspace with 5, and has a kernel store what it
// finds there as the output and spoil it. FAKE_CUDNN_KERNELS says how many such
// kernels there are, and FAKE_CUDNN_NOTES has the digits of its engine's notes.
// FAKE_CUDNN_LOG names a file to which sizes, strides and ids of tensors are
// written, and how filters go over images, a line each.
//
//===----------------------------------------------------------------------===//

#include "FakeCuda.h"

#include "nm/Support/CudnnLibrary.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <dlfcn.h>

using namespace nm::cudnn;

#define EXPORT __attribute__((visibility("default")))

static constexpr int64_t kWords = 16;
/// Ids of the outputs of attention and of a convolution.
static constexpr int64_t kIdOfOutput = 4, kIdOfConvolved = 3;

namespace {
struct Descriptor {
  std::vector<void *> pointers;
  std::vector<int64_t> ids;
  void *workspace = nullptr;
};
} // namespace

/// Writes `values` after the name of what they are, if there is a log.
static void log(int name, int64_t count, const int64_t *values) {
  const char *path = getenv("FAKE_CUDNN_LOG");
  const char *what = name == kTensorDimensions            ? "sizes"
                     : name == kTensorStrides             ? "strides"
                     : name == kTensorId                  ? "id"
                     : name == kConvolutionSteps          ? "steps"
                     : name == kConvolutionDilations      ? "dilations"
                     : name == kConvolutionPaddings       ? "before"
                     : name == kConvolutionPaddingsBehind ? "behind"
                                                          : nullptr;
  if (!path || !what)
    return;
  FILE *file = fopen(path, "a");
  fprintf(file, "%s", what);
  for (int64_t i = 0; i < count; ++i)
    fprintf(file, " %lld", static_cast<long long>(values[i]));
  fprintf(file, "\n");
  fclose(file);
}

static void attend(const unsigned[3], void **params) {
  auto *workspace = *static_cast<unsigned **>(params[0]);
  auto *output = *static_cast<unsigned **>(params[1]);
  *output = workspace[kWords - 1];
  for (int64_t i = 0; i < kWords; ++i)
    workspace[i] = 99;
}

template <typename F>
static F *getDriver(const char *name) {
  static void *driver =
      dlopen(getenv("NM_CUDA_LIBRARY"), RTLD_NOW | RTLD_NOLOAD);
  return reinterpret_cast<F *>(dlsym(driver, name));
}

static void *getKernel() {
  static const FakeKernel kernel = {"attend", attend, 2, 0};
  static const FakeImage image = {FAKE_IMAGE_MAGIC, 1, &kernel};
  static void *function = [] {
    void *module = nullptr, *found = nullptr;
    getDriver<int(void **, const void *, unsigned, int *, void **)>(
        "cuModuleLoadDataEx")(&module, &image, 0, nullptr, nullptr);
    getDriver<int(void **, void *, const char *)>("cuModuleGetFunction")(
        &found, module, "attend");
    return found;
  }();
  return function;
}

extern "C" {
EXPORT size_t cudnnGetVersion() { return 91900; }
EXPORT int cudnnCreate(void **handle) {
  *handle = new void *(nullptr);
  return getKernel() ? 0 : 1;
}
EXPORT int cudnnSetStream(void *handle, void *stream) {
  *static_cast<void **>(handle) = stream;
  return 0;
}
EXPORT const char *cudnnGetErrorString(int) { return "an error"; }
EXPORT void cudnnGetLastErrorString(char *message, size_t) { *message = 0; }
EXPORT int cudnnBackendCreateDescriptor(int, void **descriptor) {
  *descriptor = new Descriptor;
  return 0;
}
EXPORT int cudnnBackendDestroyDescriptor(void *descriptor) {
  delete static_cast<Descriptor *>(descriptor);
  return 0;
}
EXPORT int cudnnBackendSetAttribute(void *descriptor, int name, int,
                                    int64_t count, const void *values) {
  auto &own = *static_cast<Descriptor *>(descriptor);
  auto *pointers = static_cast<void *const *>(values);
  auto *ids = static_cast<const int64_t *>(values);
  log(name, count, ids);
  if (name == kPackPointers)
    own.pointers.assign(pointers, pointers + count);
  if (name == kPackIds)
    own.ids.assign(ids, ids + count);
  if (name == kPackWorkspace)
    own.workspace = *pointers;
  return 0;
}
EXPORT int cudnnBackendGetAttribute(void *, int name, int, int64_t,
                                    int64_t *count, void *values) {
  *count = 1;
  if (name == kEngineNotes) {
    const char *notes = getenv("FAKE_CUDNN_NOTES");
    *count = notes ? int64_t(strlen(notes)) : 0;
    for (int64_t i = 0; i < *count; ++i)
      static_cast<int *>(values)[i] = notes[i] - '0';
  }
  if (name == kPlanWorkspaceSize)
    *static_cast<int64_t *>(values) = kWords * 4;
  return 0;
}
EXPORT int cudnnBackendFinalize(void *) { return 0; }
EXPORT int cudnnBackendExecute(void *handle, void *, void *pack) {
  auto &own = *static_cast<Descriptor *>(pack);
  void *stream = *static_cast<void **>(handle), *output = nullptr;
  for (size_t i = 0; i < own.ids.size(); ++i)
    if (own.ids[i] == (own.ids.size() == 3 ? kIdOfConvolved : kIdOfOutput))
      output = own.pointers[i];
  int code = getDriver<int(unsigned long long, unsigned, size_t, void *)>(
      "cuMemsetD32Async")(reinterpret_cast<uintptr_t>(own.workspace), 5, kWords,
                          stream);
  void *params[] = {&own.workspace, &output};
  const char *kernels = getenv("FAKE_CUDNN_KERNELS");
  for (int i = 0; i < (kernels ? atoi(kernels) : 1) && code == 0; ++i)
    code =
        getDriver<int(void *, unsigned, unsigned, unsigned, unsigned, unsigned,
                      unsigned, unsigned, void *, void **, void **)>(
            "cuLaunchKernel")(getKernel(), 1, 1, 1, 32, 1, 1, 0, stream, params,
                              nullptr);
  return code;
}
}
