//===- CallGraphs.h - Calls that are replayed as graphs ---------*- C++ -*-===//

#ifndef NM_RUNTIME_CALLGRAPHS_H
#define NM_RUNTIME_CALLGRAPHS_H

#include "nm/Runtime/Cuda.h"

#include <mutex>
#include <optional>
#include <vector>

namespace nm {

/// CUDA graphs of calls of one function, one for each set of addresses, so that
/// the launches of its kernels cost the host one call, and the device no gaps.
/// A set of addresses is called as it is the first time, captured the second,
/// and replayed from then on. Where there are `most` graphs, the one that was
/// not used for longest goes. A call is made as it is, each time, where its
/// stream captures already, where a capture fails, and where kernels check
/// indices: the host cannot read what they find out of a graph. Calls from
/// several threads at once take turns.
class NM_RUNTIME_API CallGraphs {
public:
  /// `most` is 1 or more.
  CallGraphs(Device device, size_t most) : device(device), most(most) {}

  /// Does the work of `call`, which queues the same work on the thread's
  /// current stream whenever the `count` addresses are the same.
  Status run(void *const *addresses, size_t count,
             const std::function<Status()> &call);

private:
  struct Entry {
    std::vector<void *> addresses;
    std::optional<CudaGraph> graph;
    uint64_t lastUse = 0;
  };

  Entry *find(void *const *addresses, size_t count);
  void insert(void *const *addresses, size_t count);
  void capture(Entry &entry, const std::function<Status()> &call);

  Device device;
  size_t most;
  std::mutex mutex;
  std::vector<Entry> entries;
  std::optional<CudaStream> stream;
  uint64_t uses = 0;
  /// Whether a call could not be captured: no call is captured any more.
  bool isUnfit = false;
};

} // namespace nm

#endif // NM_RUNTIME_CALLGRAPHS_H
