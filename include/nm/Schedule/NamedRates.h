//===- NamedRates.h - A GPU's rates by their names --------------*- C++ -*-===//

#ifndef NM_SCHEDULE_NAMEDRATES_H
#define NM_SCHEDULE_NAMEDRATES_H

#include "nm/Schedule/GpuChip.h"

namespace nm {

/// A rate, by its name in files and in IR.
struct NamedRate {
  const char *name;
  double GpuRates::*rate;
};

inline constexpr NamedRate kNamedRates[] = {
    {"tensor", &GpuRates::tensor},
    {"mma", &GpuRates::mma},
    {"shared", &GpuRates::shared},
    {"received", &GpuRates::received},
    {"stored", &GpuRates::stored},
    {"launch", &GpuRates::launch},
    {"early_launch", &GpuRates::earlyLaunch},
    {"start", &GpuRates::start},
    {"barrier", &GpuRates::barrier},
    {"latency", &GpuRates::latency},
    {"loaded_clock", &GpuRates::loadedClock},
    {"reached_memory", &GpuRates::reachedMemory},
};

} // namespace nm

#endif // NM_SCHEDULE_NAMEDRATES_H
