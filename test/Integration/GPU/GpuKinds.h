//===- GpuKinds.h - Kinds of products that are drawn for GPUs ---*- C++ -*-===//

#ifndef NM_TEST_INTEGRATION_GPU_GPUKINDS_H
#define NM_TEST_INTEGRATION_GPU_GPUKINDS_H

#include "nm/Format/ElementType.h"

#include <cstdint>
#include <vector>

namespace nm::test {

/// What the products of a kind are drawn for.
enum GroupTrait : unsigned {
  /// cuBLAS, or what stands for it, has all of them.
  kDense = 1 << 0,
  /// The blocks of clusters sum parts of k.
  kClusters = 1 << 1,
  /// Tensor cores multiply, which take units of whole matrices of 8 columns,
  /// and activations whose m are contiguous.
  kMatrices = 1 << 2,
  /// The weights are the sparse operand of tensor cores.
  kSparseOperand = 1 << 3,
  /// Rows of an m-major A are gathered, for columns that share them.
  kExactGather = 1 << 4,
  /// Rows of A are copied as they are.
  kCopiesRows = 1 << 5,
  /// Tensor copies fetch them.
  kTensorCopies = 1 << 6,
  /// Units of rows of A are gathered, for columns that share them.
  kByteUnits = 1 << 7,
  /// Weights have 4 or 8 bits, and scales.
  kQuantized = 1 << 8,
  /// The weights are the sparse operand of tensor cores, once windows are
  /// groups of four rows that overlap.
  kOverlapping = 1 << 9,
  /// Threads select the bytes of A that short windows keep.
  kSelected = 1 << 10,
  /// C leaves through slots of shared memory.
  kSlots = 1 << 11,
  /// Threads select bytes of windows that do not divide eight rows, or make
  /// several words of those that they have side by side.
  kSelectedRuns = 1 << 12,
  /// A is put into panels before, and k is whole panels.
  kPanels = 1 << 13,
  /// Weights are bits and the kept ones.
  kBitmap = 1 << 14,
  /// Weights are kept anywhere.
  kUnstructured = 1 << 15,
  /// Few weights, which are constant, so that they can become code.
  kConstant = 1 << 16,
  /// Activations are an image, and k its channels and a filter's taps.
  kImage = 1 << 17,
  /// One whose channels are side by side.
  kChannelsLast = 1 << 18,
};

/// What a group's cases have in common.
struct GroupKind {
  const char *name;
  /// The strategy of all, and what its schedule says; empty for the cost
  /// model's choice.
  const char *strategy;
  const char *parameters;
  ElementType type;
  /// Rows of A at most; 0 for vectors.
  int64_t maxRows;
  /// Rows of B of a window at most: a tile has one, and shared memory all of a
  /// tile's stages.
  int64_t maxWindow;
  /// GroupTraits.
  unsigned traits = 0;
  /// Columns of a block that shares lists of its rows of A; 0 for none.
  int64_t listColumns = 0;
  /// What products may be computed by; empty for f32.
  const char *arithmetic = "";
  /// Rows of k at most of a group that shares scales, unless it has all.
  int64_t maxGroup = 256;

  bool has(GroupTrait trait) const { return traits & trait; }
};

/// The schedules that the cost model chooses, and some that it does not.
const std::vector<GroupKind> &groupKinds();

} // namespace nm::test

#endif // NM_TEST_INTEGRATION_GPU_GPUKINDS_H
