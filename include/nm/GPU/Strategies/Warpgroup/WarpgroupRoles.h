//===- WarpgroupRoles.h - What warps with roles have ------------*- C++ -*-===//
//
// Registers and shared memory of blocks whose last warps copy for the others.
// Models count by these numbers, selection writes the registers into the
// schedule, and passes read them there.
//
//===----------------------------------------------------------------------===//

#ifndef NM_GPU_STRATEGIES_WARPGROUP_WARPGROUPROLES_H
#define NM_GPU_STRATEGIES_WARPGROUP_WARPGROUPROLES_H

#include "nm/Schedule/ScheduleFields.h"

#include <cstdint>

namespace nm {

/// Bytes of the two rings of mbarriers, with their alignment.
inline constexpr int64_t kRoleBarrierBytes = 2 * 128;

/// Registers that hold no sums: of a thread that multiplies, and the fewest
/// that ptxas gets by with.
inline constexpr int64_t kConsumersOtherRegisters = 80,
                         kLeastOtherRegisters = 40;

/// Registers of the threads of each role; 0 where they keep those that they
/// start with.
struct RoleRegisters {
  int64_t ofProducer = 0, ofConsumer = 0;
};

/// Registers of a producer of elements of `elementBytes`: one that only starts
/// bulk copies, or whose consumers have two sums of each element of C, has the
/// fewest.
int64_t countProducerRegisters(bool areCopiesBulk, int64_t elementBytes,
                               bool haveTwoSums);

/// Registers that are left for a consumer, where `producers` threads have
/// `ofProducer` each.
int64_t countConsumerRegisters(int64_t producers, int64_t consumers,
                               int64_t ofProducer);

/// How threads share registers out, of which consumers have `sums` sums:
/// producers give them what they lack.
RoleRegisters shareRegisters(int64_t producers, int64_t consumers, int64_t sums,
                             int64_t ofProducer);

/// Sets the registers of a schedule's roles that are not given.
void setRoleRegisters(const GivenFields &given, bool areCopiesBulk,
                      int64_t elementBytes, bool haveTwoSums,
                      ScheduleFields &fields);

/// Whether warpgroups start products whose sums are promoted in turn: two of
/// them, beside which adding these sums takes long. 2:4 of 8-bit floats, 4096
/// cubed, takes 79 us in turn and 90 else, 1024 rows 20.4 and 21.9. Products of
/// splits take six times as long, and those of rows that are gathered or
/// selected wait for rows: none gains (one H100, 2026-11-26).
bool wantsOrder(bool isPromoted, int64_t splits, int64_t consumers);

/// Threads of a block that multiply.
int64_t countConsumers(const ScheduleFields &fields);

/// Elements of 16 bits of a store buffer, 64 x 64.
inline constexpr int64_t kStoreBufferElements = 64 * 64;

/// Bytes of shared memory of a block of warpgroups: its stages, of `stageBytes`
/// each, the barriers of its roles, and its store buffers.
int64_t countSharedBytes(const ScheduleFields &fields, int64_t stageBytes);

} // namespace nm

#endif // NM_GPU_STRATEGIES_WARPGROUP_WARPGROUPROLES_H
