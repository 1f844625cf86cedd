//===- ProductProfile.cpp - A product's kernel by its schedule ------------===//

#include "nm/GPU/Select/ProductProfile.h"

#include "GPU/Select/GpuProductCost.h"
#include "nm/GPU/Select/ProfileKernel.h"

#include "nm/Dialect/NM/Transforms/ProductRecord.h"
#include "nm/Support/Warp.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::nm;
using ::nm::GpuChip;
using ::nm::KernelProfile;

/// Threads of a block; 0 where the schedule has no tiles of warps.
static int64_t countThreads(const BlockTiling &tiling) {
  if (tiling.threads != 0)
    return tiling.threads;
  if (tiling.warpM == 0 || tiling.warpN == 0)
    return 0;
  return tiling.blockM / tiling.warpM * (tiling.blockN / tiling.warpN) *
         tiling.sliceK * ::nm::kWarpSize;
}

KernelProfile mlir::nm::profileProduct(SparseProductOpInterface op) {
  ScheduleAttrInterface schedule = op.getScheduleAttr();
  RecordAttr attribute = getRecord(op);
  if (!attribute || !schedule || !schedule.isForGPU() ||
      isLibraryCall(schedule) || whyUnknown(op))
    return {};
  ProductRecord record = attribute.getRecord();
  ::nm::Result<GpuChip> chip = GpuChip::get(record.chip);
  if (!chip)
    return {};
  ::nm::ScheduleEstimate estimate;
  if (record.sharedBytes) {
    estimate.sharedBytes = *record.sharedBytes;
    estimate.multiplyFloor = *record.multiplyFloor;
    estimate.memoryFloor = *record.memoryFloor;
  }
  BlockTiling tiling = schedule.getTiling();
  return ::nm::profileKernel(
      getGpuProduct(op), *chip, schedule.getStrategyName(), tiling,
      countThreads(tiling), record.sharedBytes ? &estimate : nullptr);
}

std::string mlir::nm::describeProfile(const KernelProfile &profile) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (profile.registers)
    stream << "; " << *profile.registers << " registers a thread by "
           << profile.registersFrom;
  if (profile.occupancy)
    stream << llvm::formatv(", occupancy {0:f0} %", *profile.occupancy * 100);
  if (!profile.ofL2)
    return text;
  stream << "; operations a byte of ";
  if (profile.ofRegisters)
    stream << llvm::formatv("registers {0:f2}, ", *profile.ofRegisters);
  if (profile.ofShared)
    stream << llvm::formatv("shared memory {0:f1}, ", *profile.ofShared);
  stream << llvm::formatv("L2 {0:f1}, memory {1:f1}", *profile.ofL2,
                          *profile.ofMemory);
  if (profile.computeToLoads)
    stream << llvm::formatv("; {0:f1} multiply-adds a load",
                            *profile.computeToLoads);
  if (!profile.bound.empty())
    stream << "; bound by "
           << (profile.bound == "shared" ? StringRef("shared memory")
               : profile.bound == "l2"   ? StringRef("L2")
                                         : StringRef(profile.bound));
  return text;
}
