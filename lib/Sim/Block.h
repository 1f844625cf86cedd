//===- Block.h - The threads of a block, one at a time ----------*- C++ -*-===//

#ifndef NM_LIB_SIM_BLOCK_H
#define NM_LIB_SIM_BLOCK_H

#include "EqualStores.h"
#include "Faults.h"
#include "Fiber.h"
#include "GlobalMemory.h"
#include "Mbarrier.h"
#include "Products.h"
#include "SharedShadow.h"
#include "TensorMap.h"
#include "WarpLog.h"

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <vector>

namespace nm::sim {
class Block;
class Cluster;

enum class ThreadState {
  Ready,
  Yielded,
  AtBarrier,
  AtCollective,
  AtClusterBarrier,
  AtMbarrier,
  Done
};

/// A thread's bulk copies out of shared memory. Groups are numbered from 1.
struct BulkGroups {
  /// Its number among the block's threads that have such, or -1.
  int32_t copier = -1;
  /// The site of the last copy.
  int32_t site = -1;
  /// The group that is not committed; that of the last copy; the last that was
  /// waited for.
  uint32_t group = 1, started = 0, finished = 0;
};
} // namespace nm::sim

/// A thread of the block; what emitted code passes on without looking inside.
struct NmSimThread {
  nm::sim::Block *block;
  nm::sim::Fiber fiber;
  uint32_t index;
  std::array<int64_t, 3> id;
  nm::sim::ThreadState state;
  /// Where it waits, and at which barrier.
  int32_t site, barrier;
  char *mbarrier;
  /// The cluster's barrier that it has arrived at and not waited for, or -1.
  int64_t meeting;
  /// Accesses and iterations until somebody else has a turn.
  int64_t steps;
  /// The copies since the last commit, and the groups before, oldest first.
  std::vector<nm::sim::PendingCopy> uncommitted;
  std::deque<std::vector<nm::sim::PendingCopy>> groups;
  nm::sim::Products products;
  nm::sim::BulkGroups bulk;
  /// What it has last asked for, and where; 0 if it has not.
  int32_t registers, registersSite;
  /// A store to where another thread stores, which has gone to scratch.
  nm::sim::EqualStore equal;
  /// What accesses out of bounds read and write instead.
  alignas(128) char scratch[128];

  uint32_t warp() const { return index / nm::sim::kWarp; }
  uint32_t lane() const { return index % nm::sim::kWarp; }
};

namespace nm::sim {

/// What all blocks of a launch share.
struct Launch {
  const NmSimKernel &kernel;
  const NmSimLaunch &shape;
  GlobalMemory &global;
  Faults &faults;
  EqualStores &equalStores;

  int64_t threadsPerBlock() const {
    return shape.block[0] * shape.block[1] * shape.block[2];
  }
  int64_t blocksPerCluster() const {
    return shape.cluster[0] * shape.cluster[1] * shape.cluster[2];
  }
  int64_t sharedBytes() const;
  /// Where dynamic shared memory starts.
  int64_t dynamicOffset() const;
};

/// Accesses and iterations of a thread's turn.
inline constexpr int64_t kTurn = 1 << 16;

/// Runs one block after the other, each as a part of a cluster.
class Block {
public:
  /// `shared` is its memory.
  static Result<std::unique_ptr<Block>> create(Launch &launch, Cluster &cluster,
                                               uint32_t rank, char *shared);

  /// Makes it the block `id` of the grid. None of its threads has run.
  void start(const std::array<int64_t, 3> &id);
  /// Runs each warp until it waits for another. Returns whether any could run.
  bool runWarps();
  bool isDone() const { return numDone == numThreads; }
  /// Reports that a thread waits for ever in such a state, if one does.
  bool reportStuck(ThreadState state);
  std::string listWaiting() const;
  /// All threads of the cluster have arrived at its barrier.
  void passClusterBarrier();

  const Counts &getCounts() const { return counts; }
  BlockOrder &getBlockOrder() { return blockOrder; }
  Order &getOrder() { return order; }
  uint32_t getRank() const { return rank; }

  //===--------------------------------------------------------------------===//
  // For the thread that runs
  //===--------------------------------------------------------------------===//

  void *access(NmSimThread &thread, int32_t site, char *address);
  void startCopy(NmSimThread &thread, int32_t site, char *to, const char *from,
                 int32_t bytes);
  void checkPrefetch(NmSimThread &thread, int32_t site, const char *from,
                     int32_t bytes);
  void fenceProxies(NmSimThread &thread);
  void commitCopies(NmSimThread &thread);
  void waitForCopies(NmSimThread &thread, size_t pending);
  void waitForAllCopies(NmSimThread &thread);
  /// Arrives at a barrier, and waits for the others where `waits`.
  void barrier(NmSimThread &thread, int32_t site, int32_t id, int32_t count,
               bool waits = true);
  void initMbarrier(NmSimThread &thread, int32_t site, char *address,
                    int32_t count);
  void invalidateMbarrier(NmSimThread &thread, int32_t site, char *address);
  /// Expects `bytes` more of copies, then arrives. Returns the phase.
  int64_t arriveMbarrier(NmSimThread &thread, int32_t site, char *address,
                         int32_t count, int64_t bytes);
  void waitMbarrier(NmSimThread &thread, int32_t site, char *address,
                    int32_t parity);
  /// Others run before it returns false.
  bool testMbarrier(NmSimThread &thread, int32_t site, char *address,
                    uint64_t phase, bool isParity);
  /// The arrival of the thread's cp.async, which the count includes or not.
  void trackCopies(NmSimThread &thread, int32_t site, char *address,
                   bool counts);
  void startBulkCopy(NmSimThread &thread, int32_t site, char *to,
                     const char *from, char *address, int32_t bytes,
                     uint32_t mask);
  void storeAsync(NmSimThread &thread, int32_t site, char *to, int64_t word,
                  char *address, int32_t bytes);
  void startBulkStore(NmSimThread &thread, int32_t site, char *to,
                      const char *from, int32_t bytes);
  void waitForBulkGroups(NmSimThread &thread, int32_t pending);
  void loadTensor(NmSimThread &thread, int32_t site, char *to, const char *from,
                  char *address, int32_t rank, const TensorMap::Coordinates &at,
                  const std::optional<TensorMap::Offsets> &offsets,
                  uint32_t mask);
  void storeChunk(NmSimThread &thread, int32_t site, size_t extent,
                  char *target, const char *value, size_t bytes);
  void storeTensor(NmSimThread &thread, int32_t site, const char *to,
                   const char *from, int32_t rank,
                   const TensorMap::Coordinates &at);
  void setRegisters(NmSimThread &thread, int32_t site, int32_t count);
  /// A thread comes to wgmma number `number` of the kernel, and uses registers
  /// that one has: `what` says how.
  void startProduct(NmSimThread &thread, int32_t site, int32_t number);
  void useRegisters(NmSimThread &thread, int32_t site, int32_t number,
                    const char *what);
  void waitForProducts(NmSimThread &thread, int32_t pending);
  /// All of a warpgroup have come to a wgmma.
  void multiply(NmSimCollective &lanes);
  void arriveCluster(NmSimThread &thread, int32_t site, bool aligned);
  void waitCluster(NmSimThread &thread, int32_t site, bool aligned);
  /// The address of another block's memory, or of this one's.
  char *mapShared(NmSimThread &thread, int32_t site, char *address,
                  int32_t rank);
  void collective(NmSimThread &thread, int32_t site, int32_t width,
                  uint32_t mask, NmSimCollectiveFunction function,
                  void *operands, void *results, bool ordersMemory);
  void step(NmSimThread &thread, int32_t site) {
    if (--thread.steps <= 0)
      passTurn(thread, site);
  }
  int32_t readRegister(NmSimThread &thread, int32_t name);

  Launch &getLaunch() { return launch; }
  char *sharedMemory() { return shared; }
  void report(const NmSimThread &thread, FaultClass fault, int32_t site,
              const std::string &what);

private:
  /// Keeps a store of the thread that has gone to scratch.
  void settleStore(NmSimThread &thread);
  /// Reports what is wrong with a copy between `inGlobal` and `inShared`, a
  /// part of `memory`. Returns the extent of global memory, if it is possible.
  std::optional<size_t> checkBulkCopy(NmSimThread &thread, int32_t site,
                                      const char *memory, const char *inShared,
                                      const char *inGlobal, int32_t bytes,
                                      bool isStore);
  struct Barrier {
    int64_t arrived = 0, expected = 0;
    /// Those that wait, and what others have done that have only arrived.
    uint32_t warps = 0;
    bool hasArrivals = false;
    Order::Clocks arrivals{};
  };
  /// A collective that waits for lanes.
  struct Gathering {
    int32_t site;
    uint32_t first, width, mask;
    uint32_t missing;
    NmSimCollectiveFunction function;
    bool ordersMemory;
    NmSimCollective lanes;
  };

  /// The last access that another block of the cluster made of this one's
  /// memory.
  struct RemoteAccess {
    const NmSimThread *thread;
    int32_t site;
    size_t offset;
    Stamp when;
  };

  Block(Launch &launch, Cluster &cluster, uint32_t rank, char *shared,
        Stacks stacks);

  static void runThread(void *thread);
  static void arriveWarp(NmSimCollective *lanes);
  void arrive(NmSimThread &thread);
  void startThreads();
  bool runWarp(uint32_t warp);
  void endThread(NmSimThread &thread);
  /// Lets others run until the thread's state is Ready again.
  void leave(NmSimThread &thread) { Fiber::change(thread.fiber, scheduler); }
  /// After `idle` steps that have brought nobody further.
  void passTurn(NmSimThread &thread, int32_t site, int64_t idle = kTurn);
  void land(NmSimThread &thread, const std::vector<PendingCopy> &copies);
  void land(const TrackedCopy &tracked);
  bool isMbarrierPlace(NmSimThread &thread, int32_t site, const char *address);
  Mbarrier *findMbarrier(NmSimThread &thread, int32_t site, char *address);
  void finishPhase(Mbarrier &barrier);
  void release(NmSimThread &thread, Mbarrier &barrier);
  void acquire(NmSimThread &thread, const Mbarrier &barrier);
  bool noteIfRemote(NmSimThread &thread, int32_t site, const char *address);
  std::vector<Block *> findReceivers(NmSimThread &thread, int32_t site,
                                     const char *to, uint32_t mask);
  void receive(NmSimThread &thread, int32_t site, char *address,
               std::vector<TrackedCopy> copies);
  void send(NmSimThread &thread, int32_t site, const char *to, char *address,
            uint32_t mask, const std::vector<TrackedCopy> &copies);
  /// A thread of any block of the cluster, as this block's shadow numbers it.
  uint32_t numberOf(const NmSimThread &thread) const {
    return thread.block == this ? thread.index
                                : order.getRemoteThread(thread.block->rank);
  }
  void wakeWaiting(const Mbarrier &barrier, const char *address);
  /// The last thread to arrive has.
  void releaseBarrier(const NmSimThread &thread, int32_t number);
  bool findCopier(NmSimThread &thread, int32_t site);
  bool readForCopy(NmSimThread &thread, int32_t site, size_t offset,
                   size_t bytes);
  bool readTensorMap(NmSimThread &thread, int32_t site, const char *from,
                     int32_t rank, TensorMap &map, bool isOfPixels);
  bool isBoxPlace(NmSimThread &thread, int32_t site, const char *address,
                  const TensorMap &map);
  std::optional<size_t> findRow(NmSimThread &thread, int32_t site,
                                const TensorMap &map, const char *from,
                                size_t bytes);
  void readRow(NmSimThread &thread, int32_t site, const TensorMap &map,
               const TensorMap::Row &row, std::vector<char> &box);
  void checkBulkGroups(NmSimThread &thread);
  void checkRegisters();
  void finishGathering(size_t index);
  bool readChunk(NmSimThread &thread, int32_t site, uint32_t cores,
                 size_t offset);

  std::string describeShared(const NmSimThread &thread, int32_t site,
                             size_t offset) const;
  std::string describeThread(uint32_t thread) const;
  void reportShared(const NmSimThread &thread, int32_t site, size_t offset,
                    const SharedConflict &conflict);
  std::string describeGlobal(int32_t site, const char *address,
                             const GlobalConflict &conflict) const;
  void reportGlobal(const NmSimThread &thread, int32_t site,
                    const char *address, const GlobalConflict &conflict);
  /// Checks an access of this block's shared memory, by a thread of any block
  /// of the cluster, and returns where to make it.
  void *accessShared(NmSimThread &thread, int32_t site, const NmSimSite &info,
                     char *address);
  /// A thread of another block makes such an access. Returns whether it can.
  bool noteRemote(NmSimThread &thread, int32_t site, size_t offset);
  void *accessGlobal(NmSimThread &thread, int32_t site, const NmSimSite &info,
                     char *address);
  bool isOnStack(const NmSimThread &thread, const char *address) const {
    return address >= stacks.low(thread.index) &&
           address < stacks.high(thread.index);
  }
  void log(NmSimThread &thread, int32_t site, bool isShared, uint64_t address);

  Launch &launch;
  Cluster &cluster;
  const uint32_t rank;
  const uint32_t numThreads, numWarps;
  const size_t sharedBytes;
  Stacks stacks;
  Fiber scheduler;
  std::vector<NmSimThread> threads;
  uint32_t numDone = 0;
  /// Steps of all threads since one of them last got further.
  int64_t idleSteps = 0;
  int64_t numBarriers = 0;
  uint32_t numCopiers = 0;
  bool isStuck = false;

  std::array<int64_t, 3> id;
  BlockOrder blockOrder;
  Order order;
  char *const shared;
  std::array<RemoteAccess, kMaxClusterBlocks> remote;
  SharedShadow shadow;
  std::array<Barrier, 16> barriers;
  std::map<char *, Mbarrier> mbarriers;
  std::vector<std::unique_ptr<Gathering>> gatherings;
  std::vector<WarpLog> logs;
  Counts counts;
};

} // namespace nm::sim

#endif // NM_LIB_SIM_BLOCK_H
