//===- ClearWords.cpp - Clearing memory between two kernels ---------------===//

#include "Cuda/ClearWords.h"

#include "Cuda/ClearWordsKernel.h"
#include "Cuda/CudaModule.h"

#include <algorithm>
#include <map>

using namespace nm;
using namespace nm::cuda;

namespace {
/// What a library has queued: words that it fills, and a kernel behind them.
struct Recorded {
  MemsetNodeParams fill;
  GraphNode kernel;
  KernelNodeParams params;

  uint64_t bytes() const { return fill.width * fill.elementSize; }
  /// A word of it.
  unsigned value() const {
    constexpr unsigned kBytes = 0x01010101, kHalves = 0x00010001;
    return fill.elementSize == 1   ? (fill.value & 0xff) * kBytes
           : fill.elementSize == 2 ? (fill.value & 0xffff) * kHalves
                                   : fill.value;
  }
};

/// A graph that lives as long as this.
class OwnGraph {
public:
  explicit OwnGraph(const Api &api) : api(api) {}
  OwnGraph(const OwnGraph &) = delete;
  OwnGraph &operator=(const OwnGraph &) = delete;
  ~OwnGraph() {
    if (graph)
      api.cuGraphDestroy(graph);
  }

  Graph graph = nullptr;

private:
  const Api &api;
};
} // namespace

//===----------------------------------------------------------------------===//
// Recording
//===----------------------------------------------------------------------===//

/// Whether the device starts our kernel early, and the driver tells what a
/// graph has.
static bool canReplaceFills(const ContextScope &scope) {
  const Api &api = scope.api();
  Result<DeviceState *> device = scope.driver().currentDevice();
  return device && (*device)->hasDependentLaunches &&
         api.cuStreamGetCaptureInfo && api.cuStreamUpdateCaptureDependencies &&
         api.cuGraphGetNodes && api.cuGraphGetRootNodes &&
         api.cuGraphNodeGetType && api.cuGraphMemsetNodeGetParams &&
         api.cuGraphKernelNodeGetParams && api.cuGraphAddKernelNode &&
         api.cuGraphKernelNodeCopyAttributes;
}

/// A stream to record on, of this thread and the context. Like primary
/// contexts, such streams are never released. Null where there is none.
static Stream getRecorder(const ContextScope &scope) {
  static thread_local std::map<Context, Stream> recorders;
  auto [entry, isNew] = recorders.try_emplace(scope.context());
  if (isNew && scope.api().cuStreamCreate(&entry->second, kStreamNonBlocking) !=
                   kSuccess)
    entry->second = nullptr;
  return entry->second;
}

static Status record(const ContextScope &scope, Stream recorder,
                     const QueueOnStream &queue, Graph &graph) {
  Driver &driver = scope.driver();
  if (Status status = driver.check(
          "cuStreamBeginCapture",
          scope.api().cuStreamBeginCapture(recorder, kCaptureRelaxed));
      !status)
    return status;
  Status queued = queue(recorder);
  Status ended = driver.check("cuStreamEndCapture",
                              scope.api().cuStreamEndCapture(recorder, &graph));
  return queued ? ended : queued;
}

static bool hasType(const Api &api, GraphNode node, GraphNodeType type) {
  int known = -1;
  return api.cuGraphNodeGetType(node, &known) == kSuccess && known == type;
}

/// Whether `fill` is of whole words in one row, few enough for a kernel that
/// leaves room beside another.
static bool isFillOfWords(const MemsetNodeParams &fill) {
  constexpr uint64_t kMostBytes = 64 << 10;
  uint64_t bytes = fill.width * fill.elementSize;
  return fill.height == 1 && fill.to % 4 == 0 && bytes % 4 == 0 &&
         bytes <= kMostBytes;
}

/// What `graph` has where that is a fill, and a kernel behind it.
static std::optional<Recorded> readGraph(const Api &api, Graph graph) {
  GraphNode nodes[3] = {}, roots[3] = {};
  size_t count = 3, rootCount = 3;
  if (api.cuGraphGetNodes(graph, nodes, &count) != kSuccess || count != 2 ||
      api.cuGraphGetRootNodes(graph, roots, &rootCount) != kSuccess ||
      rootCount != 1)
    return std::nullopt;
  Recorded recorded = {};
  recorded.kernel = nodes[0] == roots[0] ? nodes[1] : nodes[0];
  if (!hasType(api, roots[0], kMemsetNode) ||
      !hasType(api, recorded.kernel, kKernelNode) ||
      api.cuGraphMemsetNodeGetParams(roots[0], &recorded.fill) != kSuccess ||
      api.cuGraphKernelNodeGetParams(recorded.kernel, &recorded.params) !=
          kSuccess ||
      !isFillOfWords(recorded.fill))
    return std::nullopt;
  return recorded;
}

//===----------------------------------------------------------------------===//
// Queueing
//===----------------------------------------------------------------------===//

static Status clear(const ContextScope &scope, Stream stream,
                    const Recorded &recorded) {
  static RuntimeKernel ofRuntime(kClearWordsPtx, "nm_clear_words");
  Result<Kernel *> kernel = ofRuntime.get();
  if (!kernel)
    return kernel.error();
  auto count = int64_t(recorded.bytes() / 4);
  int64_t value = recorded.value();
  Address to = recorded.fill.to;
  void *params[] = {&to, &value, &count};
  constexpr int64_t kMaxBlocks = 32;
  int64_t blocks =
      (count + NM_CLEAR_WORDS_THREADS - 1) / NM_CLEAR_WORDS_THREADS;
  LaunchShape shape{{std::min(blocks, kMaxBlocks), 1, 1},
                    {NM_CLEAR_WORDS_THREADS, 1, 1},
                    {0, 0, 0},
                    /*sharedBytes=*/0};
  return (*kernel)->launch(scope, shape, stream, params, /*extra=*/nullptr);
}

/// Adds the kernel to the graph that captures `stream`, behind what that has.
static Status append(const ContextScope &scope, Stream stream,
                     const Recorded &recorded) {
  const Api &api = scope.api();
  Driver &driver = scope.driver();
  int captures = kCaptureNone;
  uint64_t number = 0;
  Graph graph = nullptr;
  const void *dependencies = nullptr;
  size_t count = 0;
  if (Status status = driver.check(
          "cuStreamGetCaptureInfo",
          api.cuStreamGetCaptureInfo(stream, &captures, &number, &graph,
                                     &dependencies, &count));
      !status)
    return status;
  GraphNode node = nullptr;
  if (Status status = driver.check(
          "cuGraphAddKernelNode",
          api.cuGraphAddKernelNode(&node, graph,
                                   static_cast<const GraphNode *>(dependencies),
                                   count, &recorded.params));
      !status)
    return status;
  if (Status status = driver.check(
          "cuGraphKernelNodeCopyAttributes",
          api.cuGraphKernelNodeCopyAttributes(node, recorded.kernel));
      !status)
    return status;
  return driver.check("cuStreamUpdateCaptureDependencies",
                      api.cuStreamUpdateCaptureDependencies(stream, &node, 1,
                                                            kSetDependencies));
}

Status nm::cuda::queueWithoutFills(const ContextScope &scope, Stream stream,
                                   const QueueOnStream &queue) {
  const Api &api = scope.api();
  if (getCaptureStatus(api, stream) != kCaptureActive ||
      !canReplaceFills(scope))
    return queue(stream);
  RelaxedCapture relaxed(api);
  Stream recorder = getRecorder(scope);
  if (!recorder)
    return queue(stream);
  OwnGraph own(api);
  if (Status status = record(scope, recorder, queue, own.graph); !status)
    return status;
  std::optional<Recorded> recorded = readGraph(api, own.graph);
  if (!recorded)
    return queue(stream);
  // As where the driver makes no code of PTX.
  if (!clear(scope, stream, *recorded))
    return queue(stream);
  return append(scope, stream, *recorded);
}
