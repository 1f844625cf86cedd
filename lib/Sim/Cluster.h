//===- Cluster.h - Blocks that run together ---------------------*- C++ -*-===//

#ifndef NM_LIB_SIM_CLUSTER_H
#define NM_LIB_SIM_CLUSTER_H

#include "Block.h"

namespace nm::sim {

/// Where the shared memory of one block starts after that of another. The low
/// bits of an address there are its offset, as in descriptors of matrices.
inline constexpr size_t kSharedStride = 1 << 20;

/// Runs one thread block cluster after the other. Where a launch has none, each
/// block is one.
class Cluster {
public:
  static Result<std::unique_ptr<Cluster>> create(Launch &launch);
  ~Cluster();

  void run(int64_t index);
  void addCounts(Counts &counts) const;

  //===--------------------------------------------------------------------===//
  // For the blocks
  //===--------------------------------------------------------------------===//

  /// The block that has `address` in the range of its shared memory, or null.
  Block *find(const char *address) const {
    auto offset = uintptr_t(address) - uintptr_t(shared);
    return offset < blocks.size() * kSharedStride
               ? blocks[offset / kSharedStride].get()
               : nullptr;
  }
  char *getShared(uint32_t rank) const { return shared + rank * kSharedStride; }
  void arrive(NmSimThread &thread);
  void endThread(NmSimThread &thread);
  /// Whether all have arrived at the barrier that was the `meeting`-th.
  bool isOver(int64_t meeting) const { return meeting < numMeetings; }
  /// What the threads of the blocks but `block` wait for, to add to a message.
  std::string listOthers(const Block &block) const;

private:
  explicit Cluster(Launch &launch) : launch(launch) {}

  void start(int64_t index);
  void reportStuck();
  void meetIfAllArrived(const NmSimThread &last);

  Launch &launch;
  char *shared = nullptr;
  std::vector<std::unique_ptr<Block>> blocks;
  /// Threads that have not ended, and those of them that have arrived at the
  /// barrier of the cluster.
  int64_t running = 0, arrived = 0;
  int64_t numMeetings = 0;
};

} // namespace nm::sim

#endif // NM_LIB_SIM_CLUSTER_H
