//===- Faults.cpp - What simulated kernels do wrong -----------------------===//

#include "Faults.h"

using namespace nm::sim;

/// A kernel that goes wrong does so everywhere: more says nothing new.
static constexpr size_t kMaxEntriesOfClass = 3;
static constexpr uint64_t kMaxFaults = 100'000;

const char *nm::sim::name(FaultClass fault) {
  switch (fault) {
  case FaultClass::GlobalBounds:
    return "global access out of bounds";
  case FaultClass::SharedBounds:
    return "shared access out of bounds";
  case FaultClass::Misaligned:
    return "misaligned access";
  case FaultClass::UninitializedShared:
    return "read of shared memory that nobody wrote";
  case FaultClass::SharedRace:
    return "race on shared memory";
  case FaultClass::GlobalRace:
    return "race on global memory";
  case FaultClass::EarlyAsyncRead:
    return "read of an asynchronous copy before its wait";
  case FaultClass::BarrierDivergence:
    return "barrier that not all threads reach";
  case FaultClass::UnpairedBarrier:
    return "barrier of a cluster whose arrive and wait are no pair";
  case FaultClass::EndedBlock:
    return "access of shared memory of a block that has ended";
  case FaultClass::DivergentCollective:
    return "collective instruction that not all lanes reach";
  case FaultClass::Hang:
    return "hang";
  case FaultClass::BadOperand:
    return "operand out of range";
  case FaultClass::UnfinishedProduct:
    return "register of a product that is in flight";
  case FaultClass::UnfencedProduct:
    return "product without a fence";
  case FaultClass::UnfencedProxy:
    return "asynchronous read of what was written, without a fence";
  }
  return "fault";
}

std::string nm::sim::describe(const NmSimKernel &kernel, int32_t site) {
  if (site < 0 || site >= kernel.numSites)
    return "an unknown instruction";
  const NmSimSite &info = kernel.sites[site];
  return std::string(kernel.text + info.op) + " at " +
         (kernel.text + info.place);
}

static std::string str(const std::array<int64_t, 3> &id) {
  return "(" + std::to_string(id[0]) + ", " + std::to_string(id[1]) + ", " +
         std::to_string(id[2]) + ")";
}

void Faults::add(FaultClass fault, int32_t site,
                 const std::array<int64_t, 3> &block,
                 const std::array<int64_t, 3> &thread,
                 const std::string &what) {
  std::lock_guard<std::mutex> lock(mutex);
  if (++total >= kMaxFaults)
    stop();
  size_t ofClass = 0;
  for (Entry &entry : entries) {
    ofClass += entry.fault == fault;
    if (entry.fault == fault && entry.site == site) {
      ++entry.count;
      return;
    }
  }
  if (ofClass == kMaxEntriesOfClass) {
    ++unlisted;
    return;
  }
  entries.push_back({fault, site, 1,
                     std::string(name(fault)) + ": " + describe(kernel, site) +
                         ": block " + ::str(block) + ", thread " +
                         ::str(thread) + ": " + what});
}

std::string Faults::str() const {
  std::string text;
  for (const Entry &entry : entries) {
    text += (text.empty() ? "" : "\n  ") + entry.text;
    if (entry.count > 1)
      text += "; and " + std::to_string(entry.count - 1) + " more there";
  }
  if (unlisted > 0)
    text += "\n  and " + std::to_string(unlisted) + " of these elsewhere";
  return text;
}
