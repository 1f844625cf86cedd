//===- Block.cpp - The threads of a block, one at a time ------------------===//

#include "Block.h"

#include "Cluster.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

using namespace nm;
using namespace nm::sim;

/// Kernels keep what they have in registers; what the host's compiler spills of
/// it is here.
static constexpr size_t kStackBytes = 256 << 10;
/// A thread's turn, and how long a block may go on without getting further.
static constexpr int64_t kMaxIdleSteps = int64_t(1) << 28;
/// The most barriers that a block may pass. In a loop over k, with two of them
/// for each tile, this is 2^18 elements.
static constexpr int64_t kMaxBarriers = int64_t(1) << 14;

int64_t Launch::dynamicOffset() const {
  return (kernel.staticShared + 127) / 128 * 128;
}

int64_t Launch::sharedBytes() const {
  return shape.dynamicShared == 0 ? kernel.staticShared
                                  : dynamicOffset() + shape.dynamicShared;
}

//===----------------------------------------------------------------------===//
// Threads taking turns
//===----------------------------------------------------------------------===//

Result<std::unique_ptr<Block>> Block::create(Launch &launch, Cluster &cluster,
                                             uint32_t rank, char *shared) {
  Result<Stacks> stacks =
      Stacks::create(size_t(launch.threadsPerBlock()), kStackBytes);
  if (!stacks)
    return stacks.error();
  return std::unique_ptr<Block>(
      new Block(launch, cluster, rank, shared, std::move(*stacks)));
}

Block::Block(Launch &launch, Cluster &cluster, uint32_t rank, char *shared,
             Stacks stacks)
    : launch(launch), cluster(cluster), rank(rank),
      numThreads(uint32_t(launch.threadsPerBlock())),
      numWarps((numThreads + kWarp - 1) / kWarp),
      sharedBytes(size_t(launch.sharedBytes())), stacks(std::move(stacks)),
      threads(numThreads), shared(shared), shadow(sharedBytes, numThreads),
      logs(numWarps, WarpLog(size_t(launch.kernel.numSites))) {}

void Block::runThread(void *argument) {
  auto &thread = *static_cast<NmSimThread *>(argument);
  Block &block = *thread.block;
  block.launch.kernel.entry(&thread, block.launch.shape.arguments);
  block.endThread(thread);
  block.leave(thread);
}

void Block::endThread(NmSimThread &thread) {
  settleStore(thread);
  thread.state = ThreadState::Done;
  ++numDone;
  idleSteps = 0;
  cluster.endThread(thread);
  checkBulkGroups(thread);
  if (!isDone())
    return;
  checkRegisters();
  for (const RemoteAccess &access : remote)
    if (access.thread && !order.isBeforeAny(access.when))
      report(*access.thread, FaultClass::EndedBlock, access.site,
             describeShared(*access.thread, access.site, access.offset) +
                 ", which may have ended by then: no barrier of the cluster "
                 "comes after that and before its end");
}

void Block::startThreads() {
  const int64_t *size = launch.shape.block;
  for (uint32_t i = 0; i < numThreads; ++i) {
    NmSimThread &thread = threads[i];
    thread.block = this;
    thread.index = i;
    thread.id = {i % size[0], i / size[0] % size[1], i / size[0] / size[1]};
    thread.state = ThreadState::Ready;
    thread.meeting = -1;
    thread.steps = kTurn;
    thread.uncommitted.clear();
    thread.groups.clear();
    thread.products.reset();
    thread.bulk = BulkGroups();
    thread.registers = 0;
    thread.fiber.start(stacks.low(i), stacks.high(i), runThread, &thread);
  }
}

void Block::start(const std::array<int64_t, 3> &place) {
  const int64_t *grid = launch.shape.grid;
  id = place;
  blockOrder = {id[0] + grid[0] * (id[1] + grid[1] * id[2]), &order, {}, {}};
  order.reset(int(numWarps), int(launch.blocksPerCluster()));
  remote.fill({});
  // What was there before must not look like a value.
  std::memset(shared, 0xff, sharedBytes);
  shadow.reset(sharedBytes);
  barriers.fill({});
  mbarriers.clear();
  gatherings.clear();
  numDone = 0;
  idleSteps = 0;
  numBarriers = 0;
  numCopiers = 0;
  isStuck = false;
  startThreads();
}

bool Block::runWarps() {
  bool ran = false;
  for (uint32_t warp = 0; warp < numWarps && !isStuck; ++warp)
    ran |= runWarp(warp);
  return ran;
}

/// Runs the warp's threads until each waits for another warp, and counts what
/// they have accessed. Returns whether any of them could run.
bool Block::runWarp(uint32_t warp) {
  uint32_t first = warp * kWarp, end = std::min(first + kWarp, numThreads);
  for (uint32_t i = first; i < end; ++i)
    if (threads[i].state == ThreadState::Yielded)
      threads[i].state = ThreadState::Ready;
  bool ran = false;
  for (bool again = true; again && !isStuck;) {
    again = false;
    for (uint32_t i = first; i < end && !isStuck; ++i) {
      if (threads[i].state != ThreadState::Ready)
        continue;
      Fiber::change(scheduler, threads[i].fiber);
      again = ran = true;
    }
    logs[warp].flush(launch.kernel.sites, counts);
  }
  return ran;
}

void Block::passTurn(NmSimThread &thread, int32_t site, int64_t idle) {
  thread.steps = kTurn;
  idleSteps += idle;
  if (idleSteps > kMaxIdleSteps) {
    report(thread, FaultClass::Hang, site,
           "the block's threads have made " + std::to_string(idleSteps) +
               " steps without any of them reaching a barrier or the end; " +
               listWaiting());
    isStuck = true;
    launch.faults.stop();
  }
  thread.state = ThreadState::Yielded;
  thread.site = site;
  leave(thread);
}

//===----------------------------------------------------------------------===//
// Waiting for each other
//===----------------------------------------------------------------------===//

void Block::barrier(NmSimThread &thread, int32_t site, int32_t number,
                    int32_t count, bool waits) {
  step(thread, site);
  if (number < 0 || number >= int32_t(barriers.size())) {
    report(thread, FaultClass::BadOperand, site,
           "expected a barrier of 0 to 15, but got " + std::to_string(number));
    return;
  }
  Barrier &barrier = barriers[number];
  int64_t expected =
      count < 0 ? int64_t(numWarps) * kWarp : (int64_t(count) + 31) / 32 * 32;
  if (barrier.arrived == 0) {
    barrier = Barrier();
    barrier.expected = expected;
  } else if (barrier.expected != expected) {
    report(thread, FaultClass::BarrierDivergence, site,
           "expects " + std::to_string(expected) + " threads at barrier " +
               std::to_string(number) + ", where others expect " +
               std::to_string(barrier.expected));
  }
  // The lanes of a last warp that is not full count as if they were there.
  bool isLastLane = thread.index + 1 == numThreads;
  barrier.arrived += 1 + (isLastLane ? kWarp - 1 - thread.lane() : 0);
  thread.site = site;
  if (waits) {
    barrier.warps |= 1u << thread.warp();
    thread.state = ThreadState::AtBarrier;
    thread.barrier = number;
    thread.steps = kTurn;
  } else {
    barrier.hasArrivals = true;
    order.release(thread.warp(), barrier.arrivals);
  }
  if (barrier.arrived >= barrier.expected)
    releaseBarrier(thread, number);
  if (waits)
    leave(thread);
}

void Block::releaseBarrier(const NmSimThread &thread, int32_t number) {
  Barrier &barrier = barriers[number];
  std::array<int32_t, kMaxWarps> sites;
  sites.fill(-1);
  for (NmSimThread &other : threads) {
    if (other.state != ThreadState::AtBarrier || other.barrier != number)
      continue;
    other.state = ThreadState::Ready;
    // bar.sync is for whole warps: lanes that come from two instructions are
    // undefined behaviour.
    int32_t &site = sites[other.warp()];
    if (site >= 0 && site != other.site)
      report(other, FaultClass::BarrierDivergence, other.site,
             "another lane of its warp waits at " +
                 describe(launch.kernel, site));
    site = other.site;
  }
  order.join(barrier.warps);
  for (uint32_t warp = 0; barrier.hasArrivals && warp < numWarps; ++warp)
    if (barrier.warps >> warp & 1)
      order.acquire(warp, barrier.arrivals);
  counts.barriers += uint64_t(__builtin_popcount(barrier.warps));
  barrier.arrived = 0;
  idleSteps = 0;
  if (++numBarriers <= kMaxBarriers)
    return;
  report(thread, FaultClass::Hang, thread.site,
         "the block has passed " + std::to_string(kMaxBarriers) +
             " barriers and goes on");
  isStuck = true;
  launch.faults.stop();
}

void Block::collective(NmSimThread &thread, int32_t site, int32_t width,
                       uint32_t mask, NmSimCollectiveFunction function,
                       void *operands, void *results, bool ordersMemory) {
  uint32_t first = thread.index / width * width, lane = thread.index - first;
  uint32_t there = std::min<uint32_t>(width, numThreads - first);
  if (width == kWarp) {
    uint32_t present = there == 32 ? ~0u : (1u << there) - 1;
    if (!(mask >> lane & 1))
      return report(thread, FaultClass::DivergentCollective, site,
                    "its lane " + std::to_string(lane) +
                        " is not in the mask it gives");
    mask &= present;
    there = uint32_t(__builtin_popcount(mask));
  }
  auto found = std::find_if(
      gatherings.begin(), gatherings.end(), [&](const auto &other) {
        return other->site == site && other->first == first &&
               other->mask == mask && !other->lanes.operands[lane];
      });
  if (found == gatherings.end()) {
    gatherings.push_back(std::make_unique<Gathering>());
    found = std::prev(gatherings.end());
    Gathering &gathering = **found;
    gathering.site = site;
    gathering.first = first;
    gathering.width = uint32_t(width);
    gathering.mask = mask;
    gathering.missing = there;
    gathering.function = function;
    gathering.ordersMemory = ordersMemory;
    gathering.lanes = {};
    gathering.lanes.width = width;
    gathering.lanes.first = &threads[first];
    gathering.lanes.site = site;
  }
  Gathering &gathering = **found;
  // A collective without operands still has to know who is there.
  gathering.lanes.operands[lane] = operands ? operands : &thread;
  gathering.lanes.results[lane] = results;
  thread.state = ThreadState::AtCollective;
  thread.site = site;
  thread.steps = kTurn;
  if (--gathering.missing == 0)
    finishGathering(size_t(found - gatherings.begin()));
  leave(thread);
}

void Block::finishGathering(size_t index) {
  std::unique_ptr<Gathering> gathering = std::move(gatherings[index]);
  gatherings.erase(gatherings.begin() + int64_t(index));
  if (gathering->function)
    gathering->function(&gathering->lanes);
  if (const char *fault = gathering->lanes.fault)
    report(threads[gathering->first], FaultClass::BadOperand, gathering->site,
           fault);
  uint32_t warps = 0;
  for (uint32_t lane = 0; lane < gathering->width; ++lane)
    if (gathering->lanes.operands[lane]) {
      NmSimThread &thread = threads[gathering->first + lane];
      thread.state = ThreadState::Ready;
      warps |= 1u << thread.warp();
    }
  if (gathering->ordersMemory)
    order.join(warps);
  ++counts.collectives;
  idleSteps = 0;
}

//===----------------------------------------------------------------------===//
// Threads that wait for ever
//===----------------------------------------------------------------------===//

/// `96 threads wait at nvvm.barrier0 at k.mlir:1:2, 32 have ended`.
std::string Block::listWaiting() const {
  struct Group {
    int32_t site;
    ThreadState state;
    uint32_t count, first;
  };
  std::vector<Group> groups;
  for (const NmSimThread &thread : threads) {
    int32_t site = thread.state == ThreadState::Done ? -1 : thread.site;
    auto found =
        std::find_if(groups.begin(), groups.end(), [&](const Group &group) {
          return group.site == site && group.state == thread.state;
        });
    if (found == groups.end())
      groups.push_back({site, thread.state, 1, thread.index});
    else
      ++found->count;
  }
  std::string text;
  for (const Group &group : groups) {
    text += (text.empty() ? "" : ", ") + std::to_string(group.count) +
            (group.count == 1 ? " thread" : " threads") + " from number " +
            std::to_string(group.first) + " on ";
    if (group.state == ThreadState::Done)
      text += group.count == 1 ? "has ended" : "have ended";
    else if (group.state == ThreadState::Ready)
      text += "can run";
    else
      text += (group.count == 1 ? "is at " : "are at ") +
              describe(launch.kernel, group.site);
  }
  return text;
}

bool Block::reportStuck(ThreadState state) {
  auto found = std::find_if(
      threads.begin(), threads.end(),
      [&](const NmSimThread &thread) { return thread.state == state; });
  if (found == threads.end())
    return false;
  report(*found,
         state == ThreadState::AtCollective ? FaultClass::DivergentCollective
                                            : FaultClass::BarrierDivergence,
         found->site,
         "no thread can go on: " + listWaiting() + cluster.listOthers(*this));
  return true;
}

void Block::report(const NmSimThread &thread, FaultClass fault, int32_t site,
                   const std::string &what) {
  launch.faults.add(fault, site, thread.block->id, thread.id, what);
}

//===----------------------------------------------------------------------===//
// Waiting for other blocks
//===----------------------------------------------------------------------===//

/// Lanes that execute as one arrive as one.
void Block::arriveWarp(NmSimCollective *lanes) {
  for (int lane = 0; lane < lanes->width; ++lane)
    if (auto *thread = static_cast<NmSimThread *>(lanes->operands[lane]))
      thread->block->arrive(*thread);
}

void Block::arrive(NmSimThread &thread) {
  if (thread.meeting >= 0)
    report(thread, FaultClass::UnpairedBarrier, thread.site,
           "arrives at the barrier of the cluster again, and has not waited "
           "since it last did");
  cluster.arrive(thread);
}

void Block::arriveCluster(NmSimThread &thread, int32_t site, bool aligned) {
  if (aligned)
    return collective(thread, site, kWarp, ~0u, arriveWarp, &thread, nullptr,
                      /*ordersMemory=*/false);
  thread.site = site;
  arrive(thread);
}

void Block::waitCluster(NmSimThread &thread, int32_t site, bool aligned) {
  if (aligned)
    collective(thread, site, kWarp, ~0u, nullptr, nullptr, nullptr,
               /*ordersMemory=*/false);
  if (thread.meeting < 0)
    return report(thread, FaultClass::UnpairedBarrier, site,
                  "waits for the barrier of the cluster, and has not arrived "
                  "there since it last did");
  thread.steps = kTurn;
  // One that need not wait lets the lanes before it come as far.
  if (!cluster.isOver(thread.meeting))
    thread.state = ThreadState::AtClusterBarrier;
  thread.site = site;
  leave(thread);
  thread.meeting = -1;
  order.wait(thread.warp());
}

void Block::passClusterBarrier() {
  order.meet();
  for (NmSimThread &thread : threads)
    if (thread.state == ThreadState::AtClusterBarrier)
      thread.state = ThreadState::Ready;
  idleSteps = 0;
  counts.barriers += isDone() ? 0 : numWarps;
}

char *Block::mapShared(NmSimThread &thread, int32_t site, char *address,
                       int32_t other) {
  if (other >= 0 && other < launch.blocksPerCluster())
    return cluster.getShared(uint32_t(other)) + (address - shared);
  report(thread, FaultClass::BadOperand, site,
         "expected a block of 0 to " +
             std::to_string(launch.blocksPerCluster() - 1) +
             " of the cluster, but got " + std::to_string(other));
  return address;
}

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

int32_t Block::readRegister(NmSimThread &thread, int32_t name) {
  uint32_t lane = thread.lane();
  switch (NmSimRegister(name)) {
  case NM_SIM_TID_X:
  case NM_SIM_TID_Y:
  case NM_SIM_TID_Z:
    return int32_t(thread.id[name - NM_SIM_TID_X]);
  case NM_SIM_NTID_X:
  case NM_SIM_NTID_Y:
  case NM_SIM_NTID_Z:
    return int32_t(launch.shape.block[name - NM_SIM_NTID_X]);
  case NM_SIM_CTAID_X:
  case NM_SIM_CTAID_Y:
  case NM_SIM_CTAID_Z:
    return int32_t(id[name - NM_SIM_CTAID_X]);
  case NM_SIM_NCTAID_X:
  case NM_SIM_NCTAID_Y:
  case NM_SIM_NCTAID_Z:
    return int32_t(launch.shape.grid[name - NM_SIM_NCTAID_X]);
  case NM_SIM_LANEID:
    return int32_t(lane);
  case NM_SIM_WARPID:
    return int32_t(thread.warp());
  case NM_SIM_NWARPID:
    return int32_t(numWarps);
  case NM_SIM_WARPSIZE:
    return kWarp;
  case NM_SIM_LANEMASK_EQ:
    return int32_t(1u << lane);
  case NM_SIM_LANEMASK_LE:
    return int32_t((2u << lane) - 1);
  case NM_SIM_LANEMASK_LT:
    return int32_t((1u << lane) - 1);
  case NM_SIM_LANEMASK_GE:
    return int32_t(~0u << lane);
  case NM_SIM_LANEMASK_GT:
    return int32_t(lane == 31 ? 0 : ~0u << (lane + 1));
  case NM_SIM_DYNAMIC_SMEM_SIZE:
    return int32_t(launch.shape.dynamicShared);
  case NM_SIM_TOTAL_SMEM_SIZE:
    return int32_t(sharedBytes);
  case NM_SIM_CLUSTERID_X:
  case NM_SIM_CLUSTERID_Y:
  case NM_SIM_CLUSTERID_Z: {
    int dimension = name - NM_SIM_CLUSTERID_X;
    return int32_t(id[size_t(dimension)] / launch.shape.cluster[dimension]);
  }
  case NM_SIM_NCLUSTERID_X:
  case NM_SIM_NCLUSTERID_Y:
  case NM_SIM_NCLUSTERID_Z: {
    int dimension = name - NM_SIM_NCLUSTERID_X;
    return int32_t(launch.shape.grid[dimension] /
                   launch.shape.cluster[dimension]);
  }
  case NM_SIM_CLUSTER_CTAID_X:
  case NM_SIM_CLUSTER_CTAID_Y:
  case NM_SIM_CLUSTER_CTAID_Z: {
    int dimension = name - NM_SIM_CLUSTER_CTAID_X;
    return int32_t(id[size_t(dimension)] % launch.shape.cluster[dimension]);
  }
  case NM_SIM_CLUSTER_NCTAID_X:
  case NM_SIM_CLUSTER_NCTAID_Y:
  case NM_SIM_CLUSTER_NCTAID_Z:
    return int32_t(launch.shape.cluster[name - NM_SIM_CLUSTER_NCTAID_X]);
  case NM_SIM_CLUSTER_CTARANK:
    return int32_t(rank);
  case NM_SIM_CLUSTER_NCTARANK:
    return int32_t(launch.blocksPerCluster());
  }
  return 0;
}
