//===- FakeDevice.h - What the fake driver drives ---------------*- C++ -*-===//

#ifndef NM_TEST_UNIT_RUNTIME_FAKEDEVICE_H
#define NM_TEST_UNIT_RUNTIME_FAKEDEVICE_H

#include "FakeCuda.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

/// How the driver's entries begin.
#define EXPORT __attribute__((visibility("default")))

#define ENTER(...)                                                             \
  if (int code = enter(__VA_ARGS__))                                           \
  return code

namespace fake {

struct Function {
  FakeKernel kernel;
  int64_t dynamicShared = 48 << 10;
};
struct Image {
  /// Empty for a cubin.
  std::string ptx;
  std::map<std::string, std::unique_ptr<Function>> functions;
};
/// Memory that was given back while a stream captured: it is there for each
/// launch of the graph.
struct GraphMemory {
  std::vector<unsigned long long> addresses;
  ~GraphMemory();
};
/// What a graph runs; CUgraphNode points to it.
struct Node {
  /// CUgraphNodeType: 0 a kernel, 1 a copy, 2 what fills memory.
  int type = 1;
  std::function<int()> run;
  /// CUDA_MEMSET_NODE_PARAMS or CUDA_KERNEL_NODE_PARAMS_v2, without parameters
  /// of the kernel: `run` has them.
  std::vector<uint64_t> params;
};
struct Graph {
  std::vector<std::shared_ptr<Node>> nodes;
  std::shared_ptr<GraphMemory> memory = std::make_shared<GraphMemory>();
  /// User objects, which what was instantiated of it keeps, too.
  std::vector<std::shared_ptr<void>> kept;
  /// Of its capture.
  uint64_t number = 0;
};
struct Event {
  std::chrono::steady_clock::time_point time;
};
struct Failure {
  int code;
  bool sticky;
};

struct State {
  std::mutex mutex;
  std::map<std::string, int64_t> settings;
  std::map<std::string, Failure> failures;
  std::string log;
  std::map<uintptr_t, size_t> memory;
  std::map<void *, std::unique_ptr<Graph>> capturing;
  int64_t live = 0;
};

/// Opens device memory to the host while it lives.
struct Unlocked {
  Unlocked();
  ~Unlocked();

private:
  static void protect(int flags);

  // One at a time: the end of one would take the memory from another.
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock;
};

State &state();
int64_t setting(const char *key);
/// Notes the call; the code that it was told to fail with, or 0.
int enter(const char *call, const std::string &detail = "");
/// Counts what is to be freed.
void count(int64_t change);

/// Whether [address, address + bytes) is in one allocation.
bool isDevice(uintptr_t address, size_t bytes);
int allocate(unsigned long long *address, size_t bytes);
int release(unsigned long long address);
int releaseOnStream(unsigned long long address, void *stream);
/// Runs `step`, or keeps it where the stream captures, as a node like `node`.
int onStream(void *stream, std::function<int()> step, Node node = {});

} // namespace fake

#endif // NM_TEST_UNIT_RUNTIME_FAKEDEVICE_H
