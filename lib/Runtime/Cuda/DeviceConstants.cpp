//===- DeviceConstants.cpp - Constants of a module, on the device ---------===//
//
// A compiled module has its constants in its own, the host's, memory; kernels
// read copies of them. The module calls nmDeviceConstant each time it launches
// a kernel that takes one, and keeps the table of copies by a pointer of its
// own, so that a module that is loaded to the same place later starts anew.
//
//===----------------------------------------------------------------------===//

#include "Cuda/CudaDriver.h"
#include "RecordedError.h"
#include "nm/Runtime/Export.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

using namespace nm;
using namespace nm::cuda;

namespace {
/// The copies of one module's constants, in each context that needed them.
class ConstantTable {
public:
  ConstantTable() = default;
  ConstantTable(const ConstantTable &) = delete;
  ConstantTable &operator=(const ConstantTable &) = delete;
  ~ConstantTable();

  Result<Address> find(const void *data, uint64_t bytes);

private:
  static Result<Address> copy(const ContextScope &scope, const void *data,
                              uint64_t bytes);

  std::mutex mutex;
  std::map<std::pair<Context, const void *>, Address> copies;
};
} // namespace

Result<Address> ConstantTable::copy(const ContextScope &scope, const void *data,
                                    uint64_t bytes) {
  // The first call may be captured into a graph; this is no part of it.
  RelaxedCapture relaxed(scope.api());
  Address address = 0;
  if (Status status = scope.driver().checkAllocation(
          "cuMemAlloc", scope.api().cuMemAlloc(&address, bytes), bytes);
      !status)
    return status.error();
  // Its own stream, waited for: whatever stream comes next may read it.
  Stream stream = nullptr;
  Status status = scope.driver().check(
      "cuStreamCreate",
      scope.api().cuStreamCreate(&stream, kStreamNonBlocking));
  if (status)
    status = scope.driver().check(
        "cuMemcpyHtoDAsync",
        scope.api().cuMemcpyHtoDAsync(address, data, bytes, stream),
        "of a constant of " + std::to_string(bytes) + " bytes");
  if (status)
    status = scope.driver().check("cuStreamSynchronize",
                                  scope.api().cuStreamSynchronize(stream));
  if (stream)
    scope.api().cuStreamDestroy(stream);
  if (status)
    return address;
  scope.api().cuMemFree(address);
  return status.error();
}

Result<Address> ConstantTable::find(const void *data, uint64_t bytes) {
  Result<ContextScope> scope = ContextScope::enterCurrentOr(0);
  if (!scope)
    return scope.error();
  std::lock_guard<std::mutex> lock(mutex);
  auto known = copies.find({scope->context(), data});
  if (known != copies.end())
    return known->second;
  // The driver has no empty allocations.
  Result<Address> made = copy(*scope, data, std::max<uint64_t>(bytes, 1));
  if (made)
    copies[{scope->context(), data}] = *made;
  return made;
}

ConstantTable::~ConstantTable() {
  for (const auto &[place, address] : copies)
    endInContext(place.first, [address = address](const Api &api) {
      api.cuMemFree(address);
    });
}

extern "C" {

/// The copy of `bytes` at `data` in the current context; NULL after an error.
/// `*table` is NULL at first.
NM_RUNTIME_API void *nmDeviceConstant(void **table, const void *data,
                                      uint64_t bytes) {
  static std::mutex creating;
  ConstantTable *constants = nullptr;
  {
    std::lock_guard<std::mutex> lock(creating);
    if (!*table)
      *table = new ConstantTable();
    constants = static_cast<ConstantTable *>(*table);
  }
  Result<Address> found = constants->find(data, bytes);
  if (found)
    return reinterpret_cast<void *>(*found);
  recordError(found.error());
  return nullptr;
}

NM_RUNTIME_API void nmReleaseDeviceConstants(void **table) {
  delete static_cast<ConstantTable *>(*table);
  *table = nullptr;
}
}
