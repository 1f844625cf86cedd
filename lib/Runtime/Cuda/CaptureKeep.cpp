//===- CaptureKeep.cpp - What captured graphs read ------------------------===//

#include "Cuda/CaptureKeep.h"

#include "nm/Runtime/Cuda.h"
#include "nm/Runtime/Weight.h"

#include <algorithm>
#include <mutex>
#include <utility>

using namespace nm;
using namespace nm::cuda;

namespace {
using Owners = std::vector<std::shared_ptr<const void>>;

/// Owners that destroyed graphs kept, and owners that no graph can keep.
struct Unkept {
  std::mutex mutex;
  std::vector<Owners> freed, forever;
};
} // namespace

static Unkept &getUnkept() {
  // Never destroyed: graphs may be destroyed while the process exits.
  static auto *unkept = new Unkept;
  return *unkept;
}

static void release(void *owners) {
  Unkept &unkept = getUnkept();
  std::unique_ptr<Owners> own(static_cast<Owners *>(owners));
  std::lock_guard<std::mutex> lock(unkept.mutex);
  unkept.freed.push_back(std::move(*own));
}

void nm::cuda::freeUnkept() {
  Unkept &unkept = getUnkept();
  // Destroyed behind the lock, which the owners' destructors take, too.
  std::vector<Owners> freed;
  std::lock_guard<std::mutex> lock(unkept.mutex);
  std::swap(freed, unkept.freed);
}

static Owners listOwners(const std::vector<Argument> &args,
                         const std::shared_ptr<const void> &code) {
  Owners owners{code};
  for (const Argument &arg : args)
    if (arg.weight)
      owners.insert(owners.end(),
                    {arg.weight->valuesOwner, arg.weight->indicesOwner,
                     arg.weight->listsOwner});
  return owners;
}

/// The graph that the current stream is captured into, if it is.
static Graph findGraph(const Api &api) {
  int status = kCaptureNone;
  uint64_t number = 0;
  Graph graph = nullptr;
  auto *stream = static_cast<Stream>(currentStream());
  if (api.cuStreamGetCaptureInfo(stream, &status, &number, &graph, nullptr,
                                 nullptr) != kSuccess)
    return nullptr;
  return status == kCaptureActive ? graph : nullptr;
}

/// Whether the graph of the current stream keeps `owners` now.
static bool keepInGraph(const Api &api, Owners *owners) {
  if (!api.cuStreamGetCaptureInfo || !api.cuUserObjectCreate ||
      !api.cuGraphRetainUserObject)
    return false;
  Graph graph = findGraph(api);
  UserObject object = nullptr;
  if (!graph || api.cuUserObjectCreate(&object, owners, release, 1,
                                       kNoDestructorSync) != kSuccess)
    return false;
  // An object that the graph does not take has its owners for ever.
  (void)api.cuGraphRetainUserObject(graph, object, 1, kMoveReference);
  return true;
}

void nm::cuda::keepInCapture(const ContextScope &scope,
                             const std::vector<Argument> &args,
                             const std::shared_ptr<const void> &code) {
  bool hasWeights = std::any_of(args.begin(), args.end(), [](const auto &arg) {
    return arg.weight != nullptr;
  });
  auto *stream = static_cast<Stream>(currentStream());
  if (!hasWeights || getCaptureStatus(scope.api(), stream) != kCaptureActive)
    return;
  auto owners = std::make_unique<Owners>(listOwners(args, code));
  if (keepInGraph(scope.api(), owners.get())) {
    owners.release();
    return;
  }
  Unkept &unkept = getUnkept();
  std::lock_guard<std::mutex> lock(unkept.mutex);
  unkept.forever.push_back(std::move(*owners));
}
