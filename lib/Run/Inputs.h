//===- Inputs.h - The arguments of a run ------------------------*- C++ -*-===//

#ifndef NM_LIB_RUN_INPUTS_H
#define NM_LIB_RUN_INPUTS_H

#include "RunOptions.h"
#include "nm/Runtime/CudaMemory.h"
#include "nm/Runtime/Module.h"
#include "nm/Runtime/Npy.h"

#include <map>
#include <vector>

namespace nm {

/// The arguments of one call, with whoever owns their memory.
class Inputs {
public:
  /// Reads or draws every argument, packs the weights, and uploads all of them
  /// where the function runs on a CUDA device. A file of dense
  /// weights is unmapped as soon as it is compressed, and condensed weights are
  /// freed as soon as they are packed, unless `keepCondensed`.
  static Result<Inputs> load(const Function &function,
                             const RunOptions &options, bool keepCondensed);

  /// Valid until this object is moved or destroyed.
  std::vector<Argument> arguments() const;
  /// The condensed weights by argument; empty unless they were kept.
  const std::map<size_t, Weight> &condensed() const { return kept; }
  /// A plain argument on the host.
  const Tensor &tensor(size_t arg) const { return tensors.at(arg); }
  /// The arguments that the function updates, in order, on the host.
  Result<std::vector<Tensor>> updated(const Function &function);
  /// Bytes that a call reads.
  int64_t bytes() const;

private:
  Status upload(const Function &function);
  Status loadPlain(const Function &function, size_t arg,
                   const RunOptions &options);
  Result<Weight> loadWeight(const Function &function, size_t arg,
                            const RunOptions &options) const;

  size_t count = 0;
  std::vector<NpyFile> files;
  std::vector<Buffer> buffers;
  std::map<size_t, Tensor> tensors;
  std::map<size_t, CudaBuffer> uploaded;
  std::map<size_t, Weight> weights;
  std::map<size_t, Weight> kept;
};

} // namespace nm

#endif // NM_LIB_RUN_INPUTS_H
