//===- GlobalMemory.h - What a launch may access ----------------*- C++ -*-===//

#ifndef NM_LIB_SIM_GLOBALMEMORY_H
#define NM_LIB_SIM_GLOBALMEMORY_H

#include "SharedShadow.h"
#include "nm/Sim/Abi.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace nm::sim {

/// A block of a launch as others see it.
struct BlockOrder {
  /// In the grid.
  int64_t index = 0;
  const Order *order = nullptr;
  /// The other blocks of the cluster.
  struct Peer {
    int64_t index;
    const Order *order;
  };
  std::vector<Peer> peers;
  /// Blocks whose writes come before what this one does now, because both used
  /// an atomic on one address.
  std::vector<bool> before;
};

struct GlobalConflict {
  Conflict kind = Conflict::None;
  int64_t block = 0;
  uint32_t thread = 0;
  /// A bit for each of the first bytes that are in one.
  uint32_t bytes = 0;
};

/// The arguments' memory, with a shadow that finds races between all threads of
/// a launch: blocks are ordered by atomics and the barriers of clusters. Of
/// each 4 bytes it remembers the last writer and reader, so it can miss a race,
/// but reports none that is not there.
class GlobalMemory {
public:
  explicit GlobalMemory(const NmSimLaunch &launch);
  GlobalMemory(const GlobalMemory &) = delete;
  ~GlobalMemory();

  /// Whether there was memory for the shadow.
  bool isWatched() const;
  /// The extent that holds all of the bytes.
  std::optional<size_t> find(const char *address, size_t bytes) const;
  /// The address on a GPU, but for multiples of 256.
  uint64_t getOffset(size_t extent, const char *address) const {
    return uintptr_t(address) - uintptr_t(extents[extent].buffer);
  }
  /// What lies nearest below or around an address, for messages.
  std::string describe(const char *address) const;

  GlobalConflict read(size_t extent, const BlockOrder &block, uint32_t thread,
                      const char *address, size_t bytes);
  GlobalConflict write(size_t extent, const BlockOrder &block, uint32_t thread,
                       const char *address, size_t bytes, bool atomic);
  /// Orders the block after those that used an atomic there before it.
  void synchronize(BlockOrder &block, const char *address);

private:
  struct Word {
    std::atomic<uint64_t> writer, reader;
  };
  struct Extent {
    const char *base, *buffer;
    size_t bytes;
    int64_t argument;
    Word *words;
  };

  GlobalConflict readWord(Word &word, const BlockOrder &block, uint32_t thread,
                          uint32_t mask);
  GlobalConflict writeWord(Word &word, const BlockOrder &block, uint32_t thread,
                           uint32_t mask, bool atomic);
  template <typename Visit>
  GlobalConflict forEachWord(size_t extent, const char *address, size_t bytes,
                             Visit visit);

  int64_t numBlocks;
  std::vector<Extent> extents;
  std::mutex mutex;
  std::unordered_map<const char *, std::vector<bool>> atomics;
};

} // namespace nm::sim

#endif // NM_LIB_SIM_GLOBALMEMORY_H
