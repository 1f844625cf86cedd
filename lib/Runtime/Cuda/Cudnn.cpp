//===- Cudnn.cpp - cuDNN, loaded at run time ------------------------------===//

#include "Cuda/Cudnn.h"

#include "Cuda/ClearWords.h"
#include "Cuda/StreamMemory.h"
#include "FastestCall.h"
#include "RecordedError.h"
#include "nm/Runtime/Cuda.h"
#include "nm/Runtime/Export.h"

#include <map>
#include <memory>
#include <vector>

using namespace nm;
using namespace nm::cudnn;
using namespace nm::cuda;

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

/// The oldest whose attention takes any number of keys, and those whose
/// attention is wrong (cuDNN's frontend, node/sdpa_support_surface.h).
static constexpr size_t kOldest = 90000, kWrong[] = {91000, 91001};

Result<Cudnn> Cudnn::load() {
  Result<Functions> functions = Functions::load();
  if (!functions)
    return Error{"cannot load cuDNN: " + functions.error().message +
                 "; NM_CUDNN_LIBRARY says where it is"};
  size_t version = functions->getVersion();
  bool isWrong = false;
  for (size_t each : kWrong)
    isWrong |= version == each;
  if (version < kOldest || isWrong)
    return Error{"expected cuDNN 9.0 or later, but neither 9.10.0 nor 9.10.1, "
                 "but got version " +
                 std::to_string(version)};
  return Cudnn(*functions);
}

Result<const Cudnn *> Cudnn::get() {
  static const Result<Cudnn> *loaded = new Result<Cudnn>(load());
  if (!*loaded)
    return loaded->error();
  return &**loaded;
}

Error Cudnn::fail(const char *call, int status) const {
  char reason[512] = "";
  functions.getLastErrorString(reason, sizeof reason);
  return Error{std::string(call) +
               " failed: " + functions.getErrorString(status) + " (" +
               std::to_string(status) + ")" +
               (*reason ? std::string(": ") + reason : std::string())};
}

/// A handle may be used by one thread at a time, and belongs to a context. Like
/// primary contexts, handles are never released.
const Result<Functions::Handle> &
Cudnn::getHandle(const ContextScope &scope) const {
  static thread_local std::map<Context, Result<Functions::Handle>> handles;
  auto known = handles.find(scope.context());
  if (known != handles.end())
    return known->second;
  Functions::Handle handle = nullptr;
  int status = functions.create(&handle);
  return handles
      .emplace(scope.context(), status == 0 ? Result<Functions::Handle>(handle)
                                            : fail("cudnnCreate", status))
      .first->second;
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

namespace {
/// A graph that was built, or the status of the attempt and what to say of it.
struct Plan {
  explicit Plan(const Functions &functions) : graph(functions) {}

  CudnnGraph graph;
  int status = 0;
  std::string refusal;
};
/// What a plan depends on: the handle, and the call's key.
using Key = std::vector<int64_t>;
} // namespace

/// The thread's plans.
static std::map<Key, std::unique_ptr<Plan>> &getPlans() {
  static thread_local std::map<Key, std::unique_ptr<Plan>> plans;
  return plans;
}

/// A new plan of the key, which is still to be built.
static Plan &addPlan(const Functions &functions, const Key &key) {
  constexpr size_t kMostPlans = 256;
  // Sizes that change with each call would otherwise be kept forever.
  if (getPlans().size() >= kMostPlans)
    getPlans().clear();
  return *getPlans()
              .emplace(key, std::make_unique<Plan>(functions))
              .first->second;
}

Status Cudnn::execute(const ContextScope &scope, CudnnGraph &graph,
                      Functions::Handle handle, const CudnnCall &call) const {
  auto *stream = static_cast<Stream>(currentStream());
  uint64_t bytes = graph.getWorkspaceBytes();
  Result<Address> workspace =
      bytes == 0 ? Address() : allocateOnStream(scope, bytes, stream);
  if (!workspace)
    return workspace.error();
  Status queued = queueWithoutFills(scope, stream, [&](Stream on) {
    if (int status = functions.setStream(handle, on))
      return Status(fail("cudnnSetStream", status));
    int status = graph.execute(handle, call.ids, call.pointers,
                               reinterpret_cast<void *>(*workspace));
    return status == 0 ? Status::success()
                       : Status(fail("cudnnBackendExecute", status));
  });
  if (bytes != 0)
    if (Status freed = freeOnStream(scope, *workspace, stream); !freed)
      return freed;
  return queued;
}

Result<std::string> Cudnn::queue(const ContextScope &scope,
                                 const CudnnCall &call) const {
  const Result<Functions::Handle> &handle = getHandle(scope);
  if (!handle)
    return handle.error().message;
  auto *stream = static_cast<Stream>(currentStream());
  Key key = {int64_t(reinterpret_cast<uintptr_t>(*handle))};
  key.insert(key.end(), call.key.begin(), call.key.end());
  auto known = getPlans().find(key);
  if (known == getPlans().end()) {
    // It loads a kernel, which a capture does not allow.
    if (!canWaitFor(scope, stream))
      return std::string("expected a first ") + call.name +
             " of its shape before a graph captures another";
    if (int status = functions.setStream(*handle, stream))
      return fail("cudnnSetStream", status);
    Plan &plan = addPlan(functions, key);
    call.fill(plan.graph);
    plan.status = plan.graph.build(*handle, call.notes);
    if (plan.status != 0)
      plan.refusal =
          fail((std::string(call.name) + " by cuDNN").c_str(), plan.status)
              .message;
    known = getPlans().find(key);
  }
  Plan &plan = *known->second;
  if (plan.status != 0)
    return plan.refusal;
  if (Status status = execute(scope, plan.graph, *handle, call); !status)
    return status.error();
  return std::string();
}

//===----------------------------------------------------------------------===//
// What compiled code calls
//===----------------------------------------------------------------------===//

bool nm::cuda::queueOrRecord(const std::function<Result<std::string>(
                                 const Cudnn &, const ContextScope &)> &queue) {
  if (hasCallFailed())
    return true;
  Result<const Cudnn *> library = Cudnn::get();
  if (!library)
    return false;
  Result<ContextScope> scope = ContextScope::enterCurrentOr(0);
  Result<std::string> refusal =
      scope ? queue(**library, *scope) : Result<std::string>(scope.error());
  if (refusal)
    return refusal->empty();
  recordError(refusal.error());
  return true;
}

extern "C" {

/// Whether cuDNN can be loaded.
NM_RUNTIME_API int64_t nmCudnnIsLoaded() { return Cudnn::get() ? 1 : 0; }
}
