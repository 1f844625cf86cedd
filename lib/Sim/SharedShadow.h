//===- SharedShadow.h - Who wrote and read shared memory --------*- C++ -*-===//
//
// Finds races as FastTrack does (Flanagan and Freund, PLDI 2009), with a clock
// per warp instead of one per thread: what orders threads are barriers, which
// whole warps take part in. What other blocks of the cluster do to a block's
// memory counts as done by one more warp for each of them.
//
//===----------------------------------------------------------------------===//

#ifndef NM_LIB_SIM_SHAREDSHADOW_H
#define NM_LIB_SIM_SHAREDSHADOW_H

#include "nm/Support/Warp.h"

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace nm::sim {

inline constexpr int kMaxWarps = 32;
inline constexpr int kWarp = int(kWarpSize);
inline constexpr int kMaxClusterBlocks = 8;
inline constexpr int kWarpgroupWarps = 4;
inline constexpr int kMaxWarpgroups = kMaxWarps / kWarpgroupWarps;
/// Threads of a block that copy out of shared memory.
inline constexpr int kMaxCopiers = 16;

/// When a thread did something: its number in the block, and how many barriers
/// its warp had passed. Zero is never.
class Stamp {
public:
  Stamp() = default;
  Stamp(uint32_t thread, uint32_t clock) : bits(clock << 11 | thread) {}
  explicit operator bool() const { return bits != 0; }
  bool operator==(Stamp other) const { return bits == other.bits; }
  uint32_t thread() const { return bits & 2047; }
  uint32_t clock() const { return bits >> 11; }

private:
  uint32_t bits = 0;
};

/// What is ordered before what by the barriers of a block and its cluster.
class Order {
public:
  static constexpr int kMaxClocks =
      kMaxWarps + kMaxClusterBlocks + kMaxWarpgroups + kMaxCopiers;
  /// The clock of each warp and its likes; then how much of that a fence
  /// between proxies comes after.
  using Clocks = std::array<uint32_t, 2 * kMaxClocks>;

  /// For a block of `warps` warps in a cluster of `blocks`.
  void reset(int warps, int blocks = 1);
  Stamp now(uint32_t thread) const {
    return Stamp(thread, clocks[thread / kWarp]);
  }
  /// Whether what was done at `stamp` comes before what `thread` does now.
  bool isBefore(Stamp stamp, uint32_t thread) const {
    return stamp.thread() == thread ||
           stamp.clock() <= known[thread / kWarp][stamp.thread() / kWarp];
  }
  /// The warps in `mask` have met: all of each is before all that follows.
  void join(uint32_t mask);
  /// What the warp has done is added to `clocks`; what another warp that
  /// acquires those does then, comes after it.
  void release(uint32_t warp, Clocks &clocks);
  void acquire(uint32_t warp, const Clocks &clocks) {
    raise(known[warp], clocks);
  }

  /// The warp executes fence.proxy.async: all that comes before it may be read
  /// through the asynchronous proxy by what comes after.
  void fenceProxies(uint32_t warp);
  /// Whether such a fence comes between what was done at `stamp` and what
  /// `thread` does now.
  bool isFenced(Stamp stamp, uint32_t thread) const {
    return stamp.clock() <=
           known[thread / kWarp][kMaxClocks + stamp.thread() / kWarp];
  }

  //===--------------------------------------------------------------------===//
  // Products in flight
  //===--------------------------------------------------------------------===//

  /// The number that the tensor cores of a warpgroup have here. They read
  /// shared memory from a product's start until its group is waited for.
  static uint32_t getTensorCores(uint32_t warpgroup) {
    return (kMaxWarps + kMaxClusterBlocks + warpgroup) * kWarp;
  }
  /// They begin with what comes after all that each of the warpgroup's warps
  /// knows, in the group with this number.
  void startProduct(uint32_t warpgroup, uint32_t group);
  /// The warp has waited for the group.
  void finishProducts(uint32_t warp, uint32_t group);

  //===--------------------------------------------------------------------===//
  // Other blocks of the cluster
  //===--------------------------------------------------------------------===//

  /// The number that all threads of the block with `rank` have here.
  uint32_t getRemoteThread(uint32_t rank) const {
    return (uint32_t(warps) + rank) * kWarp;
  }
  /// The other way round; negative where it is a thread of this block.
  int getRank(uint32_t thread) const { return int(thread / kWarp) - warps; }

  /// The number that a thread's bulk copies out of shared memory have here:
  /// they begin with what comes after all that the warp knows.
  static uint32_t getCopier(uint32_t copier) {
    return getTensorCores(kMaxWarpgroups) + copier * kWarp;
  }
  void startCopy(uint32_t copier, uint32_t warp, uint32_t group);
  void finishCopies(uint32_t warp, uint32_t copier, uint32_t group);

  /// A thread of the warp arrives at the cluster's barrier, or ends; has waited
  /// for it; and all of the cluster have arrived.
  void arrive(uint32_t warp);
  void wait(uint32_t warp);
  void meet();
  /// Whether what this block did at `stamp` comes before what the cluster does
  /// after its last barrier.
  bool isBeforeMeeting(Stamp stamp) const {
    return stamp.clock() <= met[stamp.thread() / kWarp];
  }
  bool hasMet() const { return met[0] != 0; }
  /// Whether some thread of this block does anything after `stamp`.
  bool isBeforeAny(Stamp stamp) const;

private:
  static void raise(Clocks &clocks, const Clocks &others);

  /// Warps of the block, and their number with those that stand for other
  /// blocks.
  int warps = 0, count = 0;
  // Starts from one, so that no stamp is zero.
  std::array<uint32_t, kMaxClocks> clocks;
  /// known[w][v]: what warp v did up to this clock is before what w does now.
  std::array<Clocks, kMaxClocks> known;
  /// What is before the cluster's barrier that is in flight, and before the
  /// last that is over.
  Clocks arrived, met;
};

/// What is wrong with an access.
enum class Conflict {
  None,
  Uninitialized,
  Pending,
  PendingOverwritten,
  WriteAfterWrite,
  ReadAfterWrite,
  WriteAfterRead,
  /// Written through the generic proxy, read through the asynchronous one.
  Unfenced
};

struct SharedConflict {
  Conflict kind = Conflict::None;
  /// The other access.
  uint32_t thread = 0;
  int32_t site = 0;
};

/// A shadow of a block's shared memory, by 4 bytes; by single bytes where
/// threads access those.
class SharedShadow {
public:
  /// Through which proxy something is written.
  enum class Write {
    Generic,
    /// By a cp.async that an mbarrier has waited for: what its thread fences
    /// after it may come before the copy.
    Tracked,
    /// By a bulk copy.
    Asynchronous
  };

  static constexpr uint32_t kNobody = ~0u;

  /// A shadow of `bytes` of a block of so many threads.
  SharedShadow(size_t bytes, uint32_t threads);

  /// Nobody has written the first `bytes`.
  void reset(size_t bytes);

  SharedConflict read(const Order &order, uint32_t thread, int32_t site,
                      size_t offset, size_t bytes);
  SharedConflict write(const Order &order, uint32_t thread, int32_t site,
                       size_t offset, size_t bytes, bool atomic);
  /// An asynchronous copy by `thread` to there starts, or lands.
  SharedConflict startCopy(const Order &order, uint32_t thread, int32_t site,
                           size_t offset, size_t bytes);
  void landCopy(Stamp writer, int32_t site, size_t offset, size_t bytes,
                Write write = Write::Generic);
  /// Through the asynchronous proxy, as the thread `issuer` has told `reader`
  /// to: what that thread has done itself comes before.
  SharedConflict readAsync(const Order &order, uint32_t reader, int32_t site,
                           size_t offset, size_t bytes,
                           uint32_t issuer = kNobody);
  /// The thread executes fence.proxy.async.
  void fenceProxies(Order &order, uint32_t thread);

private:
  struct Cell {
    Stamp writer, reader, otherReader;
    uint16_t writerSite = 0, readerSite = 0;
    // One more than the thread whose copy is in flight.
    uint16_t copier = 0;
    bool atomic = false;
    bool isGeneric = false;
    /// Fences that the writer had executed when it wrote.
    uint32_t fences = 0;
  };
  static constexpr uint32_t kNoFences = ~0u;

  uint32_t countFences(uint32_t thread) const {
    return thread < fences.size() ? uint32_t(fences[thread].size()) : kNoFences;
  }
  bool isFenced(const Cell &cell, const Order &order, uint32_t reader,
                uint32_t issuer) const;

  SharedConflict readCell(Cell &cell, const Order &order, uint32_t thread,
                          int32_t site, uint32_t issuer = kNobody);
  SharedConflict writeCell(Cell &cell, const Order &order, uint32_t thread,
                           int32_t site, bool atomic);
  void splitWord(size_t word);
  template <typename Visit>
  SharedConflict forEachCell(size_t offset, size_t bytes, Visit visit);

  std::vector<Cell> words, bytes;
  std::vector<uint8_t> isSplit;
  /// When each thread has executed fence.proxy.async.
  std::vector<std::vector<Stamp>> fences;
};

} // namespace nm::sim

#endif // NM_LIB_SIM_SHAREDSHADOW_H
