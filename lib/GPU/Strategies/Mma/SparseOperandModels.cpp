//===- SparseOperandModels.cpp - What mma_sp and wgmma_sp share -----------===//

#include "GPU/Strategies/Mma/SparseOperandModels.h"

#include "GPU/Strategies/Mma/MmaModel.h"
#include "GPU/Strategies/Warpgroup/SplitFloatModel.h"

#include "nm/Format/SparseOperand.h"
#include "nm/Schedule/WarpsByFours.h"

using namespace nm;

std::optional<std::string> nm::whyNoSparseOperand(const GpuProduct &product,
                                                  int64_t splits) {
  if (product.isVector)
    return "a matrix, but got a vector";
  SparseOperand operand;
  operand.splits = splits;
  if (Status status = operand.verify(product.pattern, product.type); !status)
    return status.error().message.substr(std::string("expected ").size());
  if (product.isMMajor && elementSize(product.type) == 1)
    return "a row-major A, for no instruction transposes " +
           std::string(elementName(product.type));
  // Of splits, zeros that fill groups up can be told from weights.
  if (product.avoidsPrunedWeights && splits == 1 &&
      fillsUpSparseOperand(product.pattern))
    return "a pattern that keeps two of each four rows, for without dense "
           "weights no zero may meet an activation, but got " +
           product.pattern.str();
  return std::nullopt;
}

std::optional<std::string> nm::whyNoMmaSp(ElementType type,
                                          const GpuChip &chip) {
  if (!isFloat8(type) || chip.multipliesSparseFloat8)
    return std::nullopt;
  std::string name(elementName(type));
  return "a chip whose tensor cores skip zeros of " + name +
         " by mma.sp, as those of sm_89 and sm_120, but got " +
         std::string(chip.name);
}

int64_t nm::sparseBytes(const GpuProduct &product) {
  return elementSize(product.type);
}

int64_t nm::sparseTileRows(const GpuProduct &product) {
  constexpr int64_t kLine = 128;
  return kLine / sparseBytes(product);
}

bool nm::isTooLarge(const GpuProduct &product, const GpuSchedule &schedule) {
  constexpr int64_t kLeast = 64;
  auto isLarge = [](int64_t block, int64_t size) {
    return block > kLeast && block >= 2 * size;
  };
  return isLarge(schedule.blockM, product.rows()) ||
         isLarge(schedule.blockN, product.n);
}

int64_t nm::copiedMetadataBytes(const GpuProduct &product,
                                const GpuSchedule &schedule) {
  ScheduleFields fields = schedule;
  fields.bits = product.weightBits;
  if (!copiesMetadata(fields))
    return 0;
  return schedule.blockN *
         (schedule.blockK / 8 +
          ceilDiv(schedule.blockK, product.scaleGroup) * kMmaBytes);
}

void nm::setSparseFloors(const GpuProduct &product, const GpuChip &chip,
                         double operationsPerClock, GpuSchedule &schedule) {
  double k = double(alignTo(product.k, SparseOperand::kStepRows));
  // Of each four rows two values, and metadata of four bits.
  double bits = product.splits > 1 ? 8.0 * double(bytesOfSplits(product))
                                   : double(product.bitsOfWeight());
  double weightBytes = double(product.n) * (k / 2 * bits / 8 + k / 8);
  if (product.scaleGroup != 0)
    weightBytes +=
        double(product.n) * k / double(product.scaleGroup) * kMmaBytes;
  setLeastTimes(product, chip, operationsPerClock, k, weightBytes, schedule);
}
