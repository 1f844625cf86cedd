//===- GpuWays.h - The ways that drawn products take ------------*- C++ -*-===//
//
// What a product was compiled to, as far as it decides which code of the
// compiler was used: its strategy, what its schedule says, how its operands
// lie. Read from the record that a module keeps of each op, so that a generator
// that no longer reaches a way is seen.
//
//===----------------------------------------------------------------------===//

#ifndef NM_TEST_INTEGRATION_GPU_GPUWAYS_H
#define NM_TEST_INTEGRATION_GPU_GPUWAYS_H

#include "../CPU/ModelCase.h"

#include "nm/Format/WindowTiles.h"
#include "nm/Runtime/Manifest.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace nm::test {

/// How many products took each way.
using WayCounts = std::map<std::string, int64_t>;

/// Whether operands of 8 bits were widened to f16.
bool isWidened(const ModelCase &product, const OpInfo &op);

/// The tiles of its A, where tensor copies repeat rows of groups that overlap.
std::optional<WindowTiles> findWindowTiles(const ModelCase &product,
                                           const OpInfo &op);

/// The ways that `product` took, whose op has the record `op`.
std::vector<std::string> describeWays(const ModelCase &product,
                                      const OpInfo &op);

/// Prints a line for each way.
void printWays(const WayCounts &ways);

/// Those that the drawn cases are meant to take for a chip with clusters.
const std::vector<std::string> &expectedWays();

/// The counts of a part of the cases, in the folder that it was run in.
bool saveWays(const std::string &folder, const WayCounts &ways);
/// Adds those of `folder`; false where there are none.
bool addWays(const std::string &folder, WayCounts &ways);

} // namespace nm::test

#endif // NM_TEST_INTEGRATION_GPU_GPUWAYS_H
