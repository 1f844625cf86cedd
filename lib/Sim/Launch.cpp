//===- Launch.cpp - Running a kernel on all threads of a grid -------------===//

#include "Cluster.h"

#include "nm-c/Runtime.h"
#include "nm/Runtime/ThreadPool.h"
#include "nm/Sim/Report.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <utility>

using namespace nm;
using namespace nm::sim;

//===----------------------------------------------------------------------===//
// Limits
//===----------------------------------------------------------------------===//

static Status checkDimensions(const char *what, const int64_t (&size)[3],
                              const int64_t (&most)[3]) {
  static const char *const kNames[] = {"x", "y", "z"};
  for (int d = 0; d < 3; ++d)
    if (size[d] < 1 || size[d] > most[d])
      return Error{std::string("expected a ") + what + " of 1 to " +
                   std::to_string(most[d]) + " in " + kNames[d] + ", but got " +
                   std::to_string(size[d])};
  return Status::success();
}

/// The portable size.
static constexpr int64_t kMaxBlocks = kMaxClusterBlocks;

static Status checkClusters(const Launch &launch) {
  const int64_t *cluster = launch.shape.cluster, *grid = launch.shape.grid;
  if (Status status = checkDimensions("cluster", launch.shape.cluster,
                                      {kMaxBlocks, kMaxBlocks, kMaxBlocks});
      !status)
    return status;
  int64_t blocks = launch.blocksPerCluster();
  if (blocks > kMaxBlocks)
    return Error{"expected at most " + std::to_string(kMaxBlocks) +
                 " blocks in a cluster, but got " + std::to_string(blocks)};
  // `sm_90a` and the like.
  constexpr int kFirst = 90;
  if (blocks > 1 && std::atoi(launch.kernel.chip + 3) < kFirst)
    return Error{std::string("expected no clusters on ") + launch.kernel.chip +
                 ", for compute capability 9.0 is the first to have them, but "
                 "got clusters of " +
                 std::to_string(blocks) + " blocks"};
  for (int d = 0; d < 3; ++d)
    if (grid[d] % cluster[d] != 0)
      return Error{std::string("expected a grid of whole clusters, but got ") +
                   std::to_string(grid[d]) + " blocks in " + "xyz"[d] +
                   " for clusters of " + std::to_string(cluster[d])};
  return Status::success();
}

/// What the driver would refuse.
static Status checkLaunch(const Launch &launch) {
  if (Status status =
          checkDimensions("grid", launch.shape.grid, {INT32_MAX, 65535, 65535});
      !status)
    return status;
  if (Status status =
          checkDimensions("block", launch.shape.block, {1024, 1024, 64});
      !status)
    return status;
  if (Status status = checkClusters(launch); !status)
    return status;
  if (launch.threadsPerBlock() > 1024)
    return Error{"expected at most 1024 threads in a block, but got " +
                 std::to_string(launch.threadsPerBlock())};
  if (launch.shape.dynamicShared < 0 ||
      launch.sharedBytes() > launch.kernel.sharedLimit)
    return Error{
        "expected at most " + std::to_string(launch.kernel.sharedLimit) +
        " bytes of shared memory for a block of " + launch.kernel.chip +
        ", but got " + std::to_string(launch.sharedBytes())};
  // The shadow keeps an instruction's number in 16 bits.
  if (launch.kernel.numSites > UINT16_MAX)
    return Error{"expected a kernel of at most 65535 instructions that the "
                 "simulator calls for, but got " +
                 std::to_string(launch.kernel.numSites)};
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Reports
//===----------------------------------------------------------------------===//

namespace {
struct Reports {
  std::mutex mutex;
  std::vector<LaunchReport> list;
};
} // namespace

static Reports &getReports() {
  // Threads may still launch while the process ends.
  static Reports *reports = new Reports();
  return *reports;
}

std::vector<LaunchReport> nm::sim::takeReports() {
  Reports &reports = getReports();
  std::lock_guard<std::mutex> lock(reports.mutex);
  return std::exchange(reports.list, {});
}

static void keepReport(LaunchReport report) {
  // For programs that do not ask.
  if (std::getenv("NM_SIM_PRINT"))
    std::fputs(report.str().c_str(), stderr);
  Reports &reports = getReports();
  std::lock_guard<std::mutex> lock(reports.mutex);
  if (reports.list.size() < kMaxReports)
    reports.list.push_back(std::move(report));
}

//===----------------------------------------------------------------------===//
// Clusters in parallel
//===----------------------------------------------------------------------===//

namespace {
/// The clusters of a launch, handed out in order to the threads that ask.
struct Queue {
  Queue(Launch &launch, int64_t numClusters)
      : launch(launch), numClusters(numClusters) {}

  Launch &launch;
  int64_t numClusters;
  std::atomic<int64_t> next{0};
  std::mutex mutex;
  Counts counts;
  Status status;
};
} // namespace

/// Simulated threads that run at a time. The stack of each is two mappings, of
/// which Linux lets a process have 65530 unless told otherwise.
static constexpr int64_t kMaxStacks = 1 << 14;

static void runClusters(int64_t, void *context) {
  Queue &queue = *static_cast<Queue *>(context);
  int64_t index = queue.next++;
  if (index >= queue.numClusters)
    return;
  Result<std::unique_ptr<Cluster>> cluster = Cluster::create(queue.launch);
  if (!cluster) {
    std::lock_guard<std::mutex> lock(queue.mutex);
    queue.status = cluster.error();
    return;
  }
  for (; index < queue.numClusters && !queue.launch.faults.isOver();
       index = queue.next++)
    (*cluster)->run(index);
  std::lock_guard<std::mutex> lock(queue.mutex);
  (*cluster)->addCounts(queue.counts);
}

static Status runLaunch(Launch &launch, LaunchReport &report) {
  // As on a device, where the runtime launches no empty grid.
  const int64_t *grid = launch.shape.grid;
  if (std::find(grid, grid + 3, 0) != grid + 3)
    return Status::success();
  if (Status status = checkLaunch(launch); !status)
    return status;
  if (!launch.global.isWatched())
    return Error{"cannot reserve memory to watch that of the arguments"};
  Queue queue(launch, grid[0] * grid[1] * grid[2] / launch.blocksPerCluster());
  ThreadPool &pool = ThreadPool::global();
  int64_t most = std::max<int64_t>(
      1, kMaxStacks / (launch.blocksPerCluster() * launch.threadsPerBlock()));
  pool.parallelFor(
      std::min({int64_t(pool.numThreads()), most, queue.numClusters}),
      runClusters, &queue);
  launch.equalStores.check(launch.faults);
  report.counts = queue.counts;
  report.faults = launch.faults.count();
  if (!queue.status)
    return queue.status;
  if (launch.faults.count() == 0)
    return Status::success();
  return Error{std::to_string(launch.faults.count()) +
               (launch.faults.count() == 1 ? " fault" : " faults") + "\n  " +
               launch.faults.str()};
}

void nmSimLaunch(const NmSimKernel *kernel, const NmSimLaunch *shape) {
  GlobalMemory global(*shape);
  Faults faults(*kernel);
  EqualStores equalStores;
  Launch launch{*kernel, *shape, global, faults, equalStores};
  LaunchReport report;
  report.kernel = kernel->name;
  std::copy_n(shape->grid, 3, report.grid.begin());
  std::copy_n(shape->block, 3, report.block.begin());
  std::copy_n(shape->cluster, 3, report.cluster.begin());
  report.sharedBytes = launch.sharedBytes();
  auto start = std::chrono::steady_clock::now();
  Status status = runLaunch(launch, report);
  report.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  keepReport(std::move(report));
  if (!status)
    nmRecordError(("simulated kernel " + std::string(kernel->name) + ": " +
                   status.error().message)
                      .c_str());
}
