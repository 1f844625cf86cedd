//===- CallGraphs.cpp - Calls that are replayed as graphs -----------------===//

#include "nm/Runtime/CallGraphs.h"

#include "Cuda/CudaDriver.h"
#include "FailedCheck.h"
#include "FastestCall.h"

#include <algorithm>

using namespace nm;

CallGraphs::Entry *CallGraphs::find(const std::vector<void *> &addresses) {
  for (Entry &entry : entries)
    if (entry.addresses == addresses)
      return &entry;
  return nullptr;
}

/// The driver frees a graph that is executed at that time once it is done.
void CallGraphs::insert(const std::vector<void *> &addresses) {
  if (entries.size() == most)
    entries.erase(std::min_element(entries.begin(), entries.end(),
                                   [](const Entry &lhs, const Entry &rhs) {
                                     return lhs.lastUse < rhs.lastUse;
                                   }));
  entries.push_back({addresses, std::nullopt, uses});
}

/// Leaves `entry` without a graph, and says so for all, where none can be made.
Status CallGraphs::capture(Entry &entry, const std::function<Status()> &call) {
  if (!stream) {
    Result<CudaStream> created = CudaStream::create(device);
    if (!created)
      return created.error();
    stream.emplace(std::move(*created));
  }
  (void)cuda::takeSkippedChecks();
  Result<CudaGraph> captured = CudaGraph::capture(*stream, call);
  isUnfit = !captured || cuda::takeSkippedChecks();
  if (!isUnfit)
    entry.graph = std::move(*captured);
  return Status::success();
}

Status CallGraphs::run(const std::vector<void *> &addresses,
                       const std::function<Status()> &call) {
  {
    Result<cuda::ContextScope> scope =
        cuda::ContextScope::enter(device.ordinal);
    if (!scope)
      return scope.error();
    if (most == 0 ||
        !cuda::canWaitFor(*scope, static_cast<cuda::Stream>(currentStream())))
      return call();
  }
  std::lock_guard<std::mutex> lock(mutex);
  if (isUnfit)
    return call();
  ++uses;
  Entry *entry = find(addresses);
  if (!entry) {
    insert(addresses);
    return call();
  }
  entry->lastUse = uses;
  if (!entry->graph)
    if (Status status = capture(*entry, call); !status)
      return status;
  return entry->graph ? entry->graph->launch(currentStream()) : call();
}
