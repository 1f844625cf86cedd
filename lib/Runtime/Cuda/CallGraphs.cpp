//===- CallGraphs.cpp - Calls that are replayed as graphs -----------------===//

#include "nm/Runtime/CallGraphs.h"

#include "Cuda/CudaDriver.h"
#include "FailedCheck.h"
#include "FastestCall.h"

#include <algorithm>

using namespace nm;

CallGraphs::Entry *CallGraphs::find(void *const *addresses, size_t count) {
  for (Entry &entry : entries)
    if (std::equal(entry.addresses.begin(), entry.addresses.end(), addresses,
                   addresses + count))
      return &entry;
  return nullptr;
}

/// The driver frees a graph that is executed at that time once it is done.
void CallGraphs::insert(void *const *addresses, size_t count) {
  if (entries.size() == most)
    entries.erase(std::min_element(entries.begin(), entries.end(),
                                   [](const Entry &lhs, const Entry &rhs) {
                                     return lhs.lastUse < rhs.lastUse;
                                   }));
  entries.push_back({{addresses, addresses + count}, std::nullopt, uses});
}

/// Leaves `entry` without a graph, and says so for all, where none can be made.
void CallGraphs::capture(Entry &entry, const std::function<Status()> &call) {
  if (!stream)
    if (Result<CudaStream> created = CudaStream::create(device))
      stream.emplace(std::move(*created));
  isUnfit = !stream;
  if (isUnfit)
    return;
  (void)cuda::takeSkippedChecks();
  Result<CudaGraph> captured = CudaGraph::capture(*stream, call);
  isUnfit = !captured || cuda::takeSkippedChecks();
  if (!isUnfit)
    entry.graph = std::move(*captured);
}

Status CallGraphs::run(void *const *addresses, size_t count,
                       const std::function<Status()> &call) {
  {
    Result<cuda::ContextScope> scope =
        cuda::ContextScope::enter(device.ordinal);
    if (!scope)
      return scope.error();
    if (!cuda::canWaitFor(*scope, static_cast<cuda::Stream>(currentStream())))
      return call();
  }
  std::unique_lock<std::mutex> lock(mutex);
  if (isUnfit) {
    lock.unlock();
    return call();
  }
  ++uses;
  Entry *entry = find(addresses, count);
  if (!entry) {
    // Addresses that cannot be called must not be captured later on.
    Status status = call();
    if (status)
      insert(addresses, count);
    return status;
  }
  entry->lastUse = uses;
  if (!entry->graph)
    capture(*entry, call);
  return entry->graph ? entry->graph->launch(currentStream()) : call();
}
