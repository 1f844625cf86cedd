//===- Cudnn.cpp - cuDNN, loaded at run time ------------------------------===//

#include "Cuda/Cudnn.h"

#include "Cuda/ClearWords.h"
#include "Cuda/StreamMemory.h"
#include "FastestCall.h"
#include "RecordedError.h"
#include "nm/Runtime/Cuda.h"
#include "nm/Runtime/Export.h"

#include <cstring>
#include <limits>
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
/// What a plan depends on.
using Key = std::vector<int64_t>;
} // namespace

static Key keyOf(Functions::Handle handle, const Attention &attention) {
  Key key = {int64_t(reinterpret_cast<uintptr_t>(handle)),
             attention.batches,
             attention.heads,
             attention.groups,
             attention.rows,
             attention.keys,
             attention.depth,
             attention.width,
             int64_t(attention.type),
             attention.isCausal};
  for (const Attention::Strides &strides :
       {attention.ofQ, attention.ofK, attention.ofV, attention.ofO})
    key.insert(key.end(), {strides.batch, strides.head, strides.row});
  return key;
}

/// The thread's plans.
static std::map<Key, std::unique_ptr<Plan>> &getPlans() {
  static thread_local std::map<Key, std::unique_ptr<Plan>> plans;
  return plans;
}

/// A new plan of the key, which is still to be built.
static Plan &addPlan(const Functions &functions, const Key &key) {
  constexpr size_t kMostPlans = 64;
  // Sizes that change with each call would otherwise be kept forever.
  if (getPlans().size() >= kMostPlans)
    getPlans().clear();
  return *getPlans()
              .emplace(key, std::make_unique<Plan>(functions))
              .first->second;
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// Whether 16 bytes can be accessed at once everywhere, which plans take for
/// granted.
static bool isAligned(const Attention &attention) {
  constexpr int64_t kElements = 8;
  for (const void *pointer : {attention.q, attention.k, attention.v,
                              static_cast<const void *>(attention.o)})
    if (reinterpret_cast<uintptr_t>(pointer) % 16 != 0)
      return false;
  for (const Attention::Strides &strides :
       {attention.ofQ, attention.ofK, attention.ofV, attention.ofO})
    if (strides.row % kElements || strides.head % kElements ||
        strides.batch % kElements)
      return false;
  return attention.depth % kElements == 0 && attention.width % kElements == 0;
}

/// What cuDNN has no attention of, whatever its version.
static std::string whyNotTaken(const Attention &attention) {
  if (attention.type != ElementType::F16 && attention.type != ElementType::BF16)
    return "expected f16 or bf16 for attention by cuDNN";
  if (!isAligned(attention))
    return "expected rows at multiples of 16 bytes for attention by cuDNN";
  for (int64_t size : {attention.batches, attention.heads * attention.groups,
                       attention.rows, attention.keys})
    if (size > std::numeric_limits<int32_t>::max())
      return "expected sizes of at most 2147483647 for cuDNN";
  return "";
}

/// What a score that is not seen becomes, as cuDNN's frontend has it.
static float getLowest(size_t version) {
  constexpr size_t kTakesInfinity = 91000;
  return version < kTakesInfinity ? std::numeric_limits<float>::lowest()
                                  : -std::numeric_limits<float>::infinity();
}

Status Cudnn::execute(const ContextScope &scope, CudnnGraph &graph,
                      Functions::Handle handle,
                      const Attention &attention) const {
  auto stream = static_cast<Stream>(currentStream());
  uint64_t bytes = graph.getWorkspaceBytes();
  Result<Address> workspace =
      bytes == 0 ? Address() : allocateOnStream(scope, bytes, stream);
  if (!workspace)
    return workspace.error();
  float scale = attention.scale, lowest = getLowest(functions.getVersion());
  std::vector<void *> pointers = {
      const_cast<void *>(attention.q), const_cast<void *>(attention.k),
      const_cast<void *>(attention.v), attention.o, &scale};
  if (attention.isCausal)
    pointers.push_back(&lowest);
  Status queued = queueWithoutFills(scope, stream, [&](Stream on) {
    if (int status = functions.setStream(handle, on))
      return Status(fail("cudnnSetStream", status));
    int status = graph.execute(handle, getAttentionIds(attention), pointers,
                               reinterpret_cast<void *>(*workspace));
    return status == 0 ? Status::success()
                       : Status(fail("cudnnBackendExecute", status));
  });
  if (bytes != 0)
    if (Status freed = freeOnStream(scope, *workspace, stream); !freed)
      return freed;
  return queued;
}

Result<std::string> Cudnn::attend(const ContextScope &scope,
                                  const Attention &attention) const {
  if (attention.batches == 0 || attention.heads == 0 || attention.rows == 0)
    return std::string();
  if (attention.keys == 0)
    return std::string("expected keys for attention by cuDNN, but got none");
  if (std::string reason = whyNotTaken(attention); !reason.empty())
    return reason;
  const Result<Functions::Handle> &handle = getHandle(scope);
  if (!handle)
    return handle.error().message;
  auto stream = static_cast<Stream>(currentStream());
  Key key = keyOf(*handle, attention);
  auto known = getPlans().find(key);
  if (known == getPlans().end()) {
    // It loads a kernel, which a capture does not allow.
    if (!canWaitFor(scope, stream))
      return std::string("expected a first attention of its shape before a "
                         "graph captures another");
    if (int status = functions.setStream(*handle, stream))
      return fail("cudnnSetStream", status);
    Plan &plan = addPlan(functions, key);
    buildAttention(plan.graph, attention);
    plan.status = plan.graph.build(*handle);
    if (plan.status != 0)
      plan.refusal = fail("attention by cuDNN", plan.status).message;
    known = getPlans().find(key);
  }
  Plan &plan = *known->second;
  if (plan.status != 0)
    return plan.refusal;
  if (Status status = execute(scope, plan.graph, *handle, attention); !status)
    return status.error();
  return std::string();
}

//===----------------------------------------------------------------------===//
// What compiled code calls
//===----------------------------------------------------------------------===//

/// Queues the attention, or says why not; what fails is recorded.
static std::string attendOrRecord(const Attention &attention) {
  if (hasCallFailed())
    return "";
  Result<const Cudnn *> library = Cudnn::get();
  if (!library)
    return library.error().message;
  Result<ContextScope> scope = ContextScope::enterCurrentOr(0);
  Result<std::string> refusal =
      scope ? (*library)->attend(*scope, attention) : scope.error();
  if (refusal)
    return *refusal;
  recordError(refusal.error());
  return "";
}

/// Whether heads of queries that share keys are neighbours of one another as
/// all heads of queries are.
static bool areGroupsNeighbours(int64_t heads, int64_t groups, int64_t head,
                                int64_t group) {
  return heads <= 1 || groups <= 1 || head == group * groups;
}

extern "C" {

/// Whether cuDNN can be loaded.
NM_RUNTIME_API int64_t nmCudnnIsLoaded() { return Cudnn::get() ? 1 : 0; }

/// O = softmax(scale * Q * K^T) * V. Strides, in elements, are along batches,
/// heads of keys, heads of queries that share keys, and rows; those of K and V
/// along batches, heads and keys. `scale` has the bits of an f32. Returns 0
/// where the library refuses and O is as it was.
NM_RUNTIME_API int64_t nmCudnnTryAttention(
    int64_t batches, int64_t heads, int64_t groups, int64_t rows, int64_t keys,
    int64_t depth, int64_t width, const void *q, const void *k, const void *v,
    void *o, int64_t type, int64_t batchOfQ, int64_t headOfQ, int64_t groupOfQ,
    int64_t rowOfQ, int64_t batchOfK, int64_t headOfK, int64_t rowOfK,
    int64_t batchOfV, int64_t headOfV, int64_t rowOfV, int64_t batchOfO,
    int64_t headOfO, int64_t groupOfO, int64_t rowOfO, int64_t scale,
    int64_t isCausal) {
  if (!areGroupsNeighbours(heads, groups, headOfQ, groupOfQ) ||
      !areGroupsNeighbours(heads, groups, headOfO, groupOfO))
    return 0;
  auto bits = static_cast<uint32_t>(scale);
  Attention attention{batches, heads,
                      groups,  rows,
                      keys,    depth,
                      width,   q,
                      k,       v,
                      o,       static_cast<ElementType>(type),
                      0,       isCausal != 0,
                      {},      {},
                      {},      {}};
  std::memcpy(&attention.scale, &bits, sizeof bits);
  attention.ofQ = {batchOfQ, groups > 1 ? groupOfQ : headOfQ, rowOfQ};
  attention.ofK = {batchOfK, headOfK, rowOfK};
  attention.ofV = {batchOfV, headOfV, rowOfV};
  attention.ofO = {batchOfO, groups > 1 ? groupOfO : headOfO, rowOfO};
  return attendOrRecord(attention).empty();
}
}
