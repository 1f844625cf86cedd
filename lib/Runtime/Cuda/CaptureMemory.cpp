//===- CaptureMemory.cpp - Memory of captured work ------------------------===//

#include "Cuda/CaptureMemory.h"

#include "nm/Runtime/CudaMemory.h"

#include <map>
#include <mutex>
#include <utility>

using namespace nm;
using namespace nm::cuda;

namespace {
/// A part of a graph's memory, for the work of one stream, whose kernels run
/// one behind the other.
struct Block {
  CudaBuffer buffer;
  Stream stream;
  bool isTaken = true;

  Address address() const {
    return reinterpret_cast<uintptr_t>(buffer.tensor().data);
  }
};

struct GraphMemory {
  std::vector<Block> blocks;
};

struct Captures {
  std::mutex mutex;
  /// By the capture's number. The graphs own them.
  std::map<uint64_t, std::weak_ptr<GraphMemory>> memories;
  /// Whose each address is, until it is given back.
  std::map<Address, std::shared_ptr<GraphMemory>> taken;
};
} // namespace

static Captures &getCaptures() {
  // Never destroyed: graphs may be destroyed while the process exits.
  static auto *captures = new Captures;
  return *captures;
}

/// The memory of a capture's graph, of which there may be none yet.
static std::shared_ptr<GraphMemory>
findMemory(Captures &captures, const Api &api, const Capture &capture) {
  auto &memories = captures.memories;
  if (std::shared_ptr<GraphMemory> known = memories[capture.number].lock())
    return known;
  for (auto each = memories.begin(); each != memories.end();)
    each = each->second.expired() ? memories.erase(each) : std::next(each);
  auto made = std::make_shared<GraphMemory>();
  memories[capture.number] = made;
  keepInGraph(api, capture, {made});
  return made;
}

/// The smallest part that the stream has given back and that has room.
static Block *findFree(GraphMemory &memory, uint64_t bytes, Stream stream) {
  Block *best = nullptr;
  for (Block &block : memory.blocks) {
    size_t size = block.buffer.tensor().bytes();
    if (!block.isTaken && block.stream == stream && size >= bytes &&
        (!best || size < best->buffer.tensor().bytes()))
      best = &block;
  }
  return best;
}

/// Memory that a captured stream may be given at once.
static Result<CudaBuffer> allocate(const ContextScope &scope, uint64_t bytes) {
  Result<DeviceState *> device = scope.driver().currentDevice();
  if (!device)
    return device.error();
  RelaxedCapture relaxed(scope.api());
  return CudaBuffer::allocate(Device::cuda((*device)->ordinal), ElementType::I8,
                              {int64_t(bytes)});
}

Result<Address> nm::cuda::allocateInCapture(const ContextScope &scope,
                                            uint64_t bytes, Stream stream,
                                            const Capture &capture) {
  Captures &captures = getCaptures();
  std::unique_lock<std::mutex> lock(captures.mutex);
  std::shared_ptr<GraphMemory> memory =
      findMemory(captures, scope.api(), capture);
  Block *block = findFree(*memory, bytes, stream);
  if (!block) {
    // Other threads give memory back meanwhile.
    lock.unlock();
    Result<CudaBuffer> buffer = allocate(scope, bytes);
    if (!buffer)
      return buffer.error();
    lock.lock();
    memory->blocks.push_back({std::move(*buffer), stream});
    block = &memory->blocks.back();
  }
  block->isTaken = true;
  captures.taken[block->address()] = memory;
  return block->address();
}

bool nm::cuda::freeInCapture(Address address) {
  Captures &captures = getCaptures();
  // Destroyed behind the lock, as the last owner of a graph that is gone.
  std::shared_ptr<GraphMemory> memory;
  std::lock_guard<std::mutex> lock(captures.mutex);
  auto found = captures.taken.find(address);
  if (found == captures.taken.end())
    return false;
  memory = std::move(found->second);
  captures.taken.erase(found);
  for (Block &block : memory->blocks)
    if (block.address() == address)
      block.isTaken = false;
  return true;
}
