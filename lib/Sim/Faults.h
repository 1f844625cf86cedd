//===- Faults.h - What simulated kernels do wrong ---------------*- C++ -*-===//

#ifndef NM_LIB_SIM_FAULTS_H
#define NM_LIB_SIM_FAULTS_H

#include "nm/Sim/Abi.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace nm::sim {

enum class FaultClass {
  GlobalBounds,
  SharedBounds,
  Misaligned,
  UninitializedShared,
  SharedRace,
  GlobalRace,
  EarlyAsyncRead,
  BarrierDivergence,
  UnpairedBarrier,
  EndedBlock,
  DivergentCollective,
  Hang,
  BadOperand,
  UnfinishedProduct,
  UnfencedProduct,
  UnfencedProxy
};

/// What a message calls it.
const char *name(FaultClass fault);

/// The faults of a launch. The first of a class at an instruction is kept with
/// its text; more of the same are counted.
class Faults {
public:
  explicit Faults(const NmSimKernel &kernel) : kernel(kernel) {}

  /// `what` goes on after the class and the instruction.
  void add(FaultClass fault, int32_t site, const std::array<int64_t, 3> &block,
           const std::array<int64_t, 3> &thread, const std::string &what);

  /// Whether the launch need not go on: there are very many, or a block cannot.
  bool isOver() const { return over.load(std::memory_order_relaxed); }
  void stop() { over = true; }
  uint64_t count() const { return total; }

  /// A line each, or empty.
  std::string str() const;

private:
  struct Entry {
    FaultClass fault;
    int32_t site;
    uint64_t count;
    std::string text;
  };

  const NmSimKernel &kernel;
  std::mutex mutex;
  std::vector<Entry> entries;
  uint64_t total = 0, unlisted = 0;
  std::atomic<bool> over{false};
};

/// `llvm.load at k.mlir:3:4`.
std::string describe(const NmSimKernel &kernel, int32_t site);

} // namespace nm::sim

#endif // NM_LIB_SIM_FAULTS_H
