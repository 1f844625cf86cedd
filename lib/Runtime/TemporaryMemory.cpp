//===- TemporaryMemory.cpp - The memory of compiled functions' temporaries ===//
//
// malloc gives large blocks back to the system when they are freed, so that a
// function that is called again and again pays for every page of its
// temporaries at every call: for a feed-forward block of 128 rows, 390 faults
// and two fifths of its time. Here freed blocks are kept for the next call.
//
// The names are those of upstream's finalize-memref-to-llvm with
// use-generic-functions.
//
//===----------------------------------------------------------------------===//

#include "nm/Runtime/Export.h"

#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <sys/sysinfo.h>

namespace {

/// Vectors of any processor are aligned to it.
constexpr uint64_t kAlignment = 64;
/// malloc does well with what is smaller.
constexpr uint64_t kLeastKept = uint64_t(1) << 16;
/// A part of the 64 MB that a run may take besides its tensors.
constexpr uint64_t kMostKept = uint64_t(1) << 25;
constexpr unsigned kSlots = 32;
/// Every machine has more, and a call of the system is short beside filling it.
constexpr uint64_t kLeastCompared = uint64_t(1) << 30;

/// Stands before every block.
struct alignas(kAlignment) Header {
  uint64_t size;
};

/// Freed blocks, oldest first.
struct Kept {
  std::mutex mutex;
  Header *blocks[kSlots];
  unsigned count = 0;
  uint64_t bytes = 0;

  Header *remove(unsigned slot) {
    Header *block = blocks[slot];
    bytes -= block->size;
    --count;
    for (unsigned i = slot; i < count; ++i)
      blocks[i] = blocks[i + 1];
    return block;
  }
};

} // namespace

static Kept &getKept() {
  // Never destroyed: functions may still run while the process exits.
  static Kept *kept = new Kept;
  return *kept;
}

/// Whether the machine's memory is smaller. A Linux that promises memory
/// without counting it (vm.overcommit_memory = 1) would end the process when
/// the block is filled.
static bool exceedsMachine(uint64_t size) {
  struct sysinfo machine;
  return size >= kLeastCompared && !sysinfo(&machine) &&
         size / machine.mem_unit > machine.totalram + machine.totalswap;
}

// The lock is only tried: whoever does not get it, another thread or the child
// of a fork in which it stays locked, goes to malloc.

extern "C" NM_RUNTIME_API void *_mlir_memref_to_llvm_alloc(uint64_t size) {
  if (size > UINT64_MAX - sizeof(Header) - kAlignment || exceedsMachine(size))
    return nullptr;
  // aligned_alloc takes multiples of the alignment.
  size = (size + kAlignment - 1) / kAlignment * kAlignment;
  if (size >= kLeastKept) {
    Kept &kept = getKept();
    std::unique_lock<std::mutex> lock(kept.mutex, std::try_to_lock);
    // The latest first: caches still hold it.
    for (unsigned i = lock ? kept.count : 0; i-- > 0;)
      if (kept.blocks[i]->size == size)
        return kept.remove(i) + 1;
  }
  auto *block = static_cast<Header *>(
      std::aligned_alloc(kAlignment, sizeof(Header) + size));
  if (!block)
    return nullptr;
  block->size = size;
  return block + 1;
}

extern "C" NM_RUNTIME_API void _mlir_memref_to_llvm_free(void *memory) {
  if (!memory)
    return;
  Header *block = static_cast<Header *>(memory) - 1;
  if (block->size >= kLeastKept && block->size <= kMostKept) {
    Kept &kept = getKept();
    std::unique_lock<std::mutex> lock(kept.mutex, std::try_to_lock);
    if (lock) {
      while (kept.count == kSlots || kept.bytes + block->size > kMostKept)
        std::free(kept.remove(0));
      kept.blocks[kept.count++] = block;
      kept.bytes += block->size;
      return;
    }
  }
  std::free(block);
}
