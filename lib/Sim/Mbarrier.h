//===- Mbarrier.h - Barriers in shared memory -------------------*- C++ -*-===//

#ifndef NM_LIB_SIM_MBARRIER_H
#define NM_LIB_SIM_MBARRIER_H

#include "SharedShadow.h"

#include <map>
#include <memory>
#include <vector>

namespace nm::sim {

/// A copy to shared memory that has not landed.
struct PendingCopy {
  char *to;
  const char *from;
  int32_t bytes, site;
  /// Whether it has landed, for a copy that more than one wait may wait for.
  std::shared_ptr<bool> landed = nullptr;
};

/// A copy whose end an mbarrier waits for, and when it was started.
struct TrackedCopy {
  PendingCopy copy;
  Stamp start;
  /// What the shared memory receives, with zeros after the copied bytes.
  int32_t size;
  SharedShadow::Write write;
  /// What it is copied from, if that is no memory of the kernel's.
  std::shared_ptr<std::vector<char>> source = nullptr;
};

/// The state of an mbarrier object. A phase is over when all have arrived and
/// the bytes of the copies that were started are those that were expected; then
/// the copies land. A GPU may let them land sooner, and nobody may rely on
/// that.
struct Mbarrier {
  Stamp init;
  int64_t count = 0, pending = 0;
  uint64_t phase = 0;
  int64_t expectedBytes = 0, startedBytes = 0;
  std::vector<TrackedCopy> copies;
  /// What comes before the end of this phase, and of the last.
  Order::Clocks arrived{}, passed{};
  /// The clocks of threads of other blocks, by their blocks' ranks: what comes
  /// before of their own block's memory.
  struct Remote {
    Order::Clocks arrived{}, passed{};
  };
  std::map<uint32_t, Remote> remote;

  bool isOver() const { return pending == 0 && expectedBytes == startedBytes; }
  /// Whether the phase of this parity is over: 0 for the first, then 1.
  bool hasPassed(uint32_t parity) const { return (phase & 1) != parity; }
};

} // namespace nm::sim

#endif // NM_LIB_SIM_MBARRIER_H
