//===- ScheduleChecks.cpp - What several schedules check ------------------===//

#include "ScheduleChecks.h"

using namespace mlir;
using namespace mlir::nm;

LogicalResult mlir::nm::verifySizes(EmitError emitError, StringRef name,
                                    ArrayRef<int64_t> sizes, size_t rank,
                                    int64_t most) {
  if (!sizes.empty() && sizes.size() != rank)
    return emitError() << "expected " << rank << " sizes in '" << name
                       << "', but got " << sizes.size();
  for (int64_t size : sizes)
    if (size < 1 || size > most)
      return emitError() << "expected sizes in '" << name << "' to be in 1.."
                         << most << ", but got " << size;
  return success();
}

LogicalResult mlir::nm::verifyTiles(EmitError emitError,
                                    ArrayRef<int64_t> block,
                                    ArrayRef<int64_t> warp,
                                    ArrayRef<int64_t> thread) {
  return failure(
      failed(verifySizes(emitError, "block", block, 3, ::nm::kMaxSize)) ||
      failed(verifySizes(emitError, "warp", warp, 2, kMaxTile)) ||
      failed(verifySizes(emitError, "thread", thread, 2, kMaxTile)));
}

LogicalResult mlir::nm::verifyCount(EmitError emitError, StringRef name,
                                    std::optional<int64_t> count,
                                    int64_t most) {
  if (!count || (*count >= 1 && *count <= most))
    return success();
  return emitError() << "expected " << name << " in 1.." << most << ", but got "
                     << *count;
}

LogicalResult mlir::nm::verifyCounts(EmitError emitError,
                                     std::optional<int64_t> stages,
                                     std::optional<int64_t> splitK,
                                     std::optional<int64_t> sliceK) {
  return failure(failed(verifyCount(emitError, "stages", stages, kMaxParts)) ||
                 failed(verifyCount(emitError, "split_k", splitK, kMaxParts)) ||
                 failed(verifyCount(emitError, "slice_k", sliceK, kMaxWarps)));
}

LogicalResult mlir::nm::verifyPadding(EmitError emitError,
                                      std::optional<int64_t> padA) {
  constexpr int64_t kStep = 8, kMost = 64;
  if (!padA || (*padA >= 0 && *padA <= kMost && *padA % kStep == 0))
    return success();
  return emitError() << "expected 'pad_a' to be a multiple of " << kStep
                     << " in 0.." << kMost << ", but got " << *padA;
}

LogicalResult mlir::nm::verifyCluster(EmitError emitError,
                                      std::optional<int64_t> splitK,
                                      std::optional<int64_t> clusterK) {
  if (failed(verifyCount(emitError, "cluster_k", clusterK, kMaxCluster)))
    return failure();
  if (splitK && clusterK && *splitK % *clusterK != 0)
    return emitError() << "expected cluster_k to divide split_k, " << *splitK
                       << ", but got " << *clusterK;
  return success();
}

LogicalResult mlir::nm::verifyPart(EmitError emitError, StringRef name,
                                   ArrayRef<int64_t> block,
                                   ArrayRef<int64_t> part,
                                   ArrayRef<int64_t> steps) {
  for (auto [i, size] : llvm::enumerate(part)) {
    if (size % steps[i] != 0)
      return emitError() << "expected sizes in '" << name
                         << "' to be multiples of " << steps << ", but got "
                         << part;
    if (!block.empty() && block[i] % size != 0)
      return emitError() << "expected '" << name << "' to divide the block's "
                         << block.take_front(2) << ", but got " << part;
  }
  return success();
}

LogicalResult mlir::nm::verifySteps(EmitError emitError,
                                    ArrayRef<int64_t> block, int64_t rows) {
  if (!block.empty() && block[2] % rows != 0)
    return emitError() << "expected k of the block to be a multiple of " << rows
                       << ", but got " << block[2];
  return success();
}
