//===- Registers.cpp - What setmaxnreg asks for ---------------------------===//

#include "Block.h"

#include "nm/Support/Warp.h"

#include <algorithm>

using namespace nm;
using namespace nm::sim;

/// What a thread can have at most when the kernel is launched, and a block in
/// all: registers are given by eights.
static int32_t getLaunchRegisters(uint32_t warps) {
  constexpr int64_t kUnit = 8, kMost = 256;
  return int32_t(std::min(kRegisters / (warps * kWarp) / kUnit * kUnit, kMost));
}

void Block::setRegisters(NmSimThread &thread, int32_t site, int32_t count) {
  step(thread, site);
  if (count < 24 || count > 256 || count % 8 != 0)
    return report(thread, FaultClass::BadOperand, site,
                  "expected 24 to 256 registers, a multiple of 8, but got " +
                      std::to_string(count));
  thread.registers = count;
  thread.registersSite = site;
}

/// When all threads have ended: a warp that never gets what it asks for waits
/// for ever on a GPU. All have as many as there can be, but for those that have
/// asked for others.
void Block::checkRegisters() {
  int32_t launched = getLaunchRegisters(numWarps);
  int64_t asked = 0;
  const NmSimThread *most = nullptr;
  for (uint32_t i = 0; i < numThreads; i += kWarp) {
    const NmSimThread &first = threads[i];
    uint32_t end = std::min(i + kWarp, numThreads);
    for (uint32_t lane = i; lane < end; ++lane)
      if (threads[lane].registers != first.registers)
        return report(
            first, FaultClass::DivergentCollective,
            std::max(first.registersSite, threads[lane].registersSite),
            "lanes of a warp ask for different numbers of registers");
    asked += first.registers ? first.registers : launched;
    if (first.registers && (!most || first.registers > most->registers))
      most = &first;
  }
  int64_t total = int64_t(launched) * numWarps;
  if (most && asked > total)
    report(*most, FaultClass::BadOperand, most->registersSite,
           "the block's warps ask for " + std::to_string(asked * kWarp) +
               " registers, but it has at most " +
               std::to_string(total * kWarp) + ", " + std::to_string(launched) +
               " a thread: some have to ask for fewer");
}

void nmSimSetRegisters(NmSimThread *thread, int32_t site, int32_t count) {
  thread->block->setRegisters(*thread, site, count);
}
