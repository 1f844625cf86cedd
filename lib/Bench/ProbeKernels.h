//===- ProbeKernels.h - Kernels whose times tell a GPU's rates --*- C++ -*-===//

#ifndef NM_LIB_BENCH_PROBEKERNELS_H
#define NM_LIB_BENCH_PROBEKERNELS_H

#include "nm/Runtime/CudaMemory.h"

#include <cstdint>
#include <vector>

namespace nm {

/// The kernels' text: for all chips, for those whose kernels start early, and
/// for those that have wgmma.
extern const char kProbePtx[], kProbeEarlyPtx[], kProbeWgmmaPtx[];

/// A kernel of the probe, which the driver has compiled for a device.
class ProbeKernel {
public:
  /// Loads `name` of the text `ptx`.
  static Result<ProbeKernel> load(Device device, const char *ptx,
                                  const char *name);

  /// Queues the kernel on the thread's current stream. Its arguments are the
  /// addresses of 64 bits, then the iterations, where it has them; with
  /// `startsEarly` it may start before the kernel before it has ended.
  Status launch(unsigned blocks, unsigned threads,
                std::vector<uint64_t> addresses, uint32_t iterations,
                bool startsEarly = false) const;

private:
  void *function = nullptr;
  Device device;
};

} // namespace nm

#endif // NM_LIB_BENCH_PROBEKERNELS_H
