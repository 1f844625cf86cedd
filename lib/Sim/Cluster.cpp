//===- Cluster.cpp - Blocks that run together -----------------------------===//

#include "Cluster.h"

#include <cstdlib>

using namespace nm;
using namespace nm::sim;

Result<std::unique_ptr<Cluster>> Cluster::create(Launch &launch) {
  std::unique_ptr<Cluster> cluster(new Cluster(launch));
  auto count = uint32_t(launch.blocksPerCluster());
  void *memory = nullptr;
  if (posix_memalign(&memory, kSharedStride, count * kSharedStride))
    return Error{"cannot allocate the shared memory of " +
                 std::to_string(count) + " blocks"};
  cluster->shared = static_cast<char *>(memory);
  for (uint32_t rank = 0; rank < count; ++rank) {
    Result<std::unique_ptr<Block>> block =
        Block::create(launch, *cluster, rank, cluster->getShared(rank));
    if (!block)
      return block.error();
    cluster->blocks.push_back(std::move(*block));
  }
  return cluster;
}

Cluster::~Cluster() { std::free(shared); }

void Cluster::addCounts(Counts &counts) const {
  for (const std::unique_ptr<Block> &block : blocks)
    counts.add(block->getCounts());
}

//===----------------------------------------------------------------------===//
// Blocks taking turns
//===----------------------------------------------------------------------===//

/// Places the cluster in a grid of `size` clusters, x fastest.
static std::array<int64_t, 3> unravel(int64_t index,
                                      const std::array<int64_t, 3> &size) {
  return {index % size[0], index / size[0] % size[1],
          index / size[0] / size[1]};
}

void Cluster::start(int64_t index) {
  const NmSimLaunch &shape = launch.shape;
  std::array<int64_t, 3> clusters, size;
  for (int d = 0; d < 3; ++d) {
    size[d] = shape.cluster[d];
    clusters[d] = shape.grid[d] / size[d];
  }
  std::array<int64_t, 3> first = unravel(index, clusters);
  for (const std::unique_ptr<Block> &block : blocks) {
    std::array<int64_t, 3> id = unravel(block->getRank(), size);
    for (int d = 0; d < 3; ++d)
      id[d] += first[d] * size[d];
    block->start(id);
  }
  for (const std::unique_ptr<Block> &block : blocks)
    for (const std::unique_ptr<Block> &other : blocks)
      if (other != block)
        block->getBlockOrder().peers.push_back(
            {other->getBlockOrder().index, &other->getOrder()});
  running = int64_t(blocks.size()) * launch.threadsPerBlock();
  arrived = 0;
  numMeetings = 0;
}

void Cluster::run(int64_t index) {
  start(index);
  while (running > 0 && !launch.faults.isOver()) {
    bool ran = false;
    for (const std::unique_ptr<Block> &block : blocks)
      ran |= block->runWarps();
    if (!ran && running > 0)
      return reportStuck();
  }
}

/// Those that wait for their own block are to blame before those that wait for
/// others.
void Cluster::reportStuck() {
  // Other clusters would do the same.
  launch.faults.stop();
  for (ThreadState state :
       {ThreadState::AtCollective, ThreadState::AtBarrier,
        ThreadState::AtMbarrier, ThreadState::AtClusterBarrier})
    for (const std::unique_ptr<Block> &block : blocks)
      if (block->reportStuck(state))
        return;
}

std::string Cluster::listOthers(const Block &block) const {
  std::string text;
  for (const std::unique_ptr<Block> &other : blocks)
    if (other.get() != &block)
      text += "; in block " + std::to_string(other->getRank()) +
              " of its cluster " + other->listWaiting();
  return text;
}

//===----------------------------------------------------------------------===//
// The barrier
//===----------------------------------------------------------------------===//

void Cluster::arrive(NmSimThread &thread) {
  thread.block->getOrder().arrive(thread.warp());
  if (thread.meeting == numMeetings)
    return;
  thread.meeting = numMeetings;
  ++arrived;
  meetIfAllArrived(thread);
}

void Cluster::endThread(NmSimThread &thread) {
  if (blocks.size() > 1)
    thread.block->getOrder().arrive(thread.warp());
  --running;
  arrived -= thread.meeting == numMeetings;
  meetIfAllArrived(thread);
}

void Cluster::meetIfAllArrived(const NmSimThread &last) {
  // Of a loop over k, with one of them for each tile, this is 2^17 elements.
  constexpr int64_t kMaxMeetings = int64_t(1) << 14;
  if (arrived == 0 || arrived < running)
    return;
  arrived = 0;
  std::vector<bool> before;
  for (const std::unique_ptr<Block> &block : blocks) {
    block->passClusterBarrier();
    const std::vector<bool> &known = block->getBlockOrder().before;
    before.resize(std::max(before.size(), known.size()));
    for (size_t i = 0; i < known.size(); ++i)
      before[i] = before[i] || known[i];
  }
  for (const std::unique_ptr<Block> &block : blocks)
    block->getBlockOrder().before = before;
  if (++numMeetings <= kMaxMeetings)
    return;
  last.block->report(last, FaultClass::Hang, last.site,
                     "the cluster has passed " + std::to_string(kMaxMeetings) +
                         " barriers and goes on");
  launch.faults.stop();
}
