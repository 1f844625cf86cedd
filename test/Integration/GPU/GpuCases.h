//===- GpuCases.h - Drawn products for GPUs ---------------------*- C++ -*-===//
//
// One generator for every target that runs kernels. CompileCases writes the
// shared objects of its cases to a folder, with the seed that they were drawn
// from; RunCases draws them again, on a machine that may have the runtime
// alone, and compares what they compute with float64.
//
//===----------------------------------------------------------------------===//

#ifndef NM_TEST_INTEGRATION_GPU_GPUCASES_H
#define NM_TEST_INTEGRATION_GPU_GPUCASES_H

#include "../CPU/ModelCase.h"

#include <string>
#include <vector>

namespace nm::test {

/// Cases that are compiled to one shared object with the same options.
struct GpuGroup {
  std::string name;
  /// As nmCompileFile takes them.
  std::string options;
  /// More of them, where the chip has thread block clusters.
  std::string clusterOptions;
  std::vector<ModelCase> cases;

  /// A module of all cases, or of one.
  std::string module() const;
};

/// The groups of `count` cases or a few more, at least one of each kind, in
/// which every granularity, M and strategy comes up.
std::vector<GpuGroup> drawGpuGroups(int64_t count);

/// One of `count` parts of the groups, so that several processes share them.
struct Part {
  int64_t index = 0, count = 1;

  /// Whether group `turn` is of this part.
  bool has(int64_t turn) const { return turn % count == index; }
};

} // namespace nm::test

#endif // NM_TEST_INTEGRATION_GPU_GPUCASES_H
