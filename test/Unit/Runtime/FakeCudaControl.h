//===- FakeCudaControl.h - Setting the fake driver up -----------*- C++ -*-===//

#ifndef NM_TEST_UNIT_RUNTIME_FAKECUDACONTROL_H
#define NM_TEST_UNIT_RUNTIME_FAKECUDACONTROL_H

#include "FakeCuda.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include <dlfcn.h>

/// The fake driver that the runtime of this process uses.
class FakeCuda {
public:
  /// Makes the runtime load it.
  FakeCuda() {
    setenv("NM_CUDA_LIBRARY", NM_FAKE_CUDA, 1);
    library = dlopen(NM_FAKE_CUDA, RTLD_NOW | RTLD_LOCAL);
    EXPECT_TRUE(library) << dlerror();
    get<void()>("fakeCudaReset")();
  }

  void set(const char *key, int64_t value) {
    get<void(const char *, int64_t)>("fakeCudaSet")(key, value);
  }
  void fail(const char *call, int code, bool sticky = false) {
    get<void(const char *, int, int)>("fakeCudaFail")(call, code, sticky);
  }
  std::string log() { return get<const char *()>("fakeCudaLog")(); }
  void forget() { get<void()>("fakeCudaReset")(); }
  bool called(const std::string &call) {
    return log().find(call) != std::string::npos;
  }
  int64_t live() { return get<int64_t()>("fakeCudaLive")(); }

  /// A graph of the driver records what is queued on `stream`.
  void beginCapture(void *stream) {
    get<int(void *, int)>("cuStreamBeginCapture_v2")(stream, 0);
  }
  void endCapture(void *stream) {
    void *graph = nullptr;
    get<int(void *, void **)>("cuStreamEndCapture")(stream, &graph);
    get<int(void *)>("cuGraphDestroy")(graph);
  }

private:
  template <typename F>
  F *get(const char *name) {
    return reinterpret_cast<F *>(dlsym(library, name));
  }

  void *library;
};

/// Has a process that has not used CUDA yet use this driver, in this state.
inline void setDriver(const char *library, const char *setup) {
  setenv("NM_CUDA_LIBRARY", library, 1);
  setenv("FAKE_CUDA", setup, 1);
}

#endif // NM_TEST_UNIT_RUNTIME_FAKECUDACONTROL_H
