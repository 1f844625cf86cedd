//===- DeviceChecks.cpp - Checks of kernels on a device -------------------===//
//
// Kernels write to memory of the host that the device sees, so that a call
// whose checks hold copies nothing: it waits for an event behind its last
// kernel with a check, which has long passed when the rest is queued.
//
//===----------------------------------------------------------------------===//

#include "Cuda/CudaDriver.h"
#include "FailedCheck.h"
#include "RecordedError.h"
#include "nm/Runtime/Cuda.h"

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

using namespace nm;
using namespace nm::cuda;

namespace {
/// What cuMemHostRegister takes: every context, and the device's addresses.
constexpr unsigned kPortable = 1, kDeviceMap = 2;
/// Bytes of a page of the memory that is registered, which is whole pages.
constexpr size_t kPage = 4096;

/// The record of one call at a time, and the event that it waits for.
struct Slot {
  int64_t *record;
  Context context;
  Event event;
};

/// Slots that no call has now.
class SlotPool {
public:
  Result<int64_t *> open(const ContextScope &scope);
  Slot find(int64_t *record);
  void close(int64_t *record);

private:
  std::mutex mutex;
  std::vector<Slot> used, unused;
};
} // namespace

/// Never destroyed: the driver may go before it.
static SlotPool &getPool() {
  static SlotPool *pool = new SlotPool;
  return *pool;
}

static Result<Slot> makeSlot(const ContextScope &scope) {
  RelaxedCapture relaxed(scope.api());
  auto *record = static_cast<int64_t *>(std::aligned_alloc(kPage, kPage));
  if (!record)
    return Error{"cannot allocate " + std::to_string(kPage) + " bytes"};
  Event event = nullptr;
  Status status = scope.driver().check(
      "cuMemHostRegister",
      scope.api().cuMemHostRegister(record, kPage, kPortable | kDeviceMap));
  if (status) {
    status = scope.driver().check(
        "cuEventCreate",
        scope.api().cuEventCreate(&event, kEventDisableTiming));
    if (!status)
      scope.api().cuMemHostUnregister(record);
  }
  if (!status) {
    std::free(record);
    return status.error();
  }
  return Slot{record, scope.context(), event};
}

Result<int64_t *> SlotPool::open(const ContextScope &scope) {
  std::lock_guard<std::mutex> lock(mutex);
  Slot slot{};
  for (size_t i = 0; i < unused.size() && !slot.record; ++i)
    if (unused[i].context == scope.context()) {
      slot = unused[i];
      unused.erase(unused.begin() + int64_t(i));
    }
  if (!slot.record) {
    Result<Slot> made = makeSlot(scope);
    if (!made)
      return made.error();
    slot = *made;
  }
  std::memset(slot.record, 0, kCheckRecordSize * sizeof(int64_t));
  used.push_back(slot);
  return slot.record;
}

Slot SlotPool::find(int64_t *record) {
  std::lock_guard<std::mutex> lock(mutex);
  for (const Slot &slot : used)
    if (slot.record == record)
      return slot;
  return {};
}

void SlotPool::close(int64_t *record) {
  std::lock_guard<std::mutex> lock(mutex);
  for (size_t i = 0; i < used.size(); ++i)
    if (used[i].record == record) {
      unused.push_back(used[i]);
      used.erase(used.begin() + int64_t(i));
      return;
    }
}

/// Whether this thread's calls had no record for their checks.
static thread_local bool hasSkippedChecks = false;

bool cuda::takeSkippedChecks() {
  return std::exchange(hasSkippedChecks, false);
}

int64_t *cuda::openChecks() {
  Result<ContextScope> scope = ContextScope::enterCurrentOr(0);
  if (!scope) {
    recordError(scope.error());
    return nullptr;
  }
  auto *stream = static_cast<Stream>(currentStream());
  if (getCaptureStatus(scope->api(), stream).value_or(kCaptureNone) !=
      kCaptureNone) {
    hasSkippedChecks = true;
    return nullptr;
  }
  Result<int64_t *> record = getPool().open(*scope);
  if (record)
    return *record;
  recordError(record.error());
  return nullptr;
}

void cuda::markChecks(int64_t *record) {
  Slot slot = getPool().find(record);
  Result<ContextScope> scope = ContextScope::enterCurrentOr(0);
  if (!slot.record || !scope || hasCallFailed())
    return;
  if (Status status = scope->driver().check(
          "cuEventRecord",
          scope->api().cuEventRecord(slot.event,
                                     static_cast<Stream>(currentStream())));
      !status)
    recordError(status.error());
}

void cuda::closeChecks(int64_t *record, std::string_view texts) {
  Slot slot = getPool().find(record);
  Result<ContextScope> scope = ContextScope::enterCurrentOr(0);
  if (!slot.record || !scope)
    return;
  RelaxedCapture relaxed(scope->api());
  // Of a call that has failed, a kernel may be in flight with the record: it is
  // given up.
  if (hasCallFailed())
    return;
  if (Status status = scope->driver().check(
          "cuEventSynchronize", scope->api().cuEventSynchronize(slot.event));
      !status)
    return recordError(status.error());
  reportChecks(slot.record, texts);
  getPool().close(record);
}
