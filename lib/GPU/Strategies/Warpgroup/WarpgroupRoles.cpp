//===- WarpgroupRoles.cpp - What warps with roles have --------------------===//

#include "nm/GPU/Strategies/Warpgroup/WarpgroupRoles.h"

#include "nm/Support/Warp.h"

#include <algorithm>

using namespace nm;

/// Registers that a thread has at most; setmaxnreg takes multiples of the step.
static constexpr int64_t kMostRegisters = 240, kRegisterStep = 8;
/// Registers of a producer that gathers rows of an m-major A; of one that
/// gathers units of rows of 8-bit elements, whose addresses differ by
/// constants; and the fewest.
static constexpr int64_t kGatherRegisters = 88, kUnitRegisters = 56,
                         kFewestRegisters = 40;

static int64_t roundDown(int64_t registers) {
  return registers / kRegisterStep * kRegisterStep;
}

int64_t nm::countProducerRegisters(bool areCopiesBulk, int64_t elementBytes,
                                   bool haveTwoSums) {
  bool areUnits = elementBytes == 1;
  if (areCopiesBulk || (areUnits && haveTwoSums))
    return kFewestRegisters;
  return areUnits ? kUnitRegisters : kGatherRegisters;
}

int64_t nm::countConsumerRegisters(int64_t producers, int64_t consumers,
                                   int64_t ofProducer) {
  // The block's are those that its threads start with, each the same.
  int64_t threads = producers + consumers,
          ofBlock = roundDown(kRegisters / threads) * threads;
  return std::min(kMostRegisters,
                  roundDown((ofBlock - producers * ofProducer) / consumers));
}

RoleRegisters nm::shareRegisters(int64_t producers, int64_t consumers,
                                 int64_t sums, int64_t ofProducer) {
  int64_t share = roundDown(kRegisters / (producers + consumers));
  if (share >= sums + kConsumersOtherRegisters)
    return {};
  return {ofProducer, countConsumerRegisters(producers, consumers, ofProducer)};
}

int64_t nm::countConsumers(const ScheduleFields &fields) {
  return fields.blockM / fields.warpgroupM *
         (fields.blockN / fields.warpgroupN) * kWarpgroupThreads;
}

int64_t nm::countSharedBytes(const ScheduleFields &fields, int64_t stageBytes) {
  int64_t bytes = fields.stages * stageBytes;
  if (fields.producers != 0)
    bytes += kRoleBarrierBytes;
  if (fields.storeBuffers != 0)
    bytes += countConsumers(fields) / kWarpgroupThreads * fields.storeBuffers *
             kStoreBufferElements * int64_t(sizeof(uint16_t));
  return bytes;
}

void nm::setRoleRegisters(const GivenFields &given, bool areCopiesBulk,
                          int64_t elementBytes, bool haveTwoSums,
                          ScheduleFields &fields) {
  if (fields.producers == 0 || given.consumerRegisters)
    return;
  int64_t consumers = countConsumers(fields);
  if (consumers == 0)
    return;
  int64_t sums =
      fields.blockM * fields.blockN / consumers * (haveTwoSums ? 2 : 1);
  RoleRegisters registers = shareRegisters(
      fields.producers * kWarpSize, consumers, sums,
      countProducerRegisters(areCopiesBulk, elementBytes, haveTwoSums));
  fields.producerRegisters = registers.ofProducer;
  fields.consumerRegisters = registers.ofConsumer;
}

bool nm::wantsOrder(bool isPromoted, int64_t splits, int64_t consumers) {
  return isPromoted && splits == 1 && consumers > kWarpgroupThreads;
}
