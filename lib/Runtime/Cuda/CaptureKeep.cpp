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

std::optional<Capture> nm::cuda::findCapture(const Api &api, Stream stream) {
  if (!api.cuStreamGetCaptureInfo || !api.cuUserObjectCreate ||
      !api.cuGraphRetainUserObject)
    return std::nullopt;
  int status = kCaptureNone;
  Capture capture;
  if (api.cuStreamGetCaptureInfo(stream, &status, &capture.number,
                                 &capture.graph, nullptr, nullptr) != kSuccess)
    return std::nullopt;
  if (status != kCaptureActive || !capture.graph)
    return std::nullopt;
  return capture;
}

static void keepForEver(Owners owners) {
  Unkept &unkept = getUnkept();
  std::lock_guard<std::mutex> lock(unkept.mutex);
  unkept.forever.push_back(std::move(owners));
}

void nm::cuda::keepInGraph(const Api &api, const Capture &capture,
                           Owners owners) {
  auto own = std::make_unique<Owners>(std::move(owners));
  UserObject object = nullptr;
  if (api.cuUserObjectCreate(&object, own.get(), release, 1,
                             kNoDestructorSync) != kSuccess)
    return keepForEver(std::move(*own));
  own.release();
  // An object that the graph does not take has its owners for ever.
  (void)api.cuGraphRetainUserObject(capture.graph, object, 1, kMoveReference);
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
  if (std::optional<Capture> capture = findCapture(scope.api(), stream))
    return keepInGraph(scope.api(), *capture, listOwners(args, code));
  keepForEver(listOwners(args, code));
}
