//===- SplitWeight.h - Packed weights that each call makes ------*- C++ -*-===//
//
// Kernels of many rows of f32 take three bf16 of each weight that is kept, 6
// bytes, and those of few rows the 4 bytes of f32. A weight may keep the second
// form alone: a call of many rows makes the first of it, to memory that the
// next call of any weight takes again.
//
//===----------------------------------------------------------------------===//

#ifndef NM_LIB_RUNTIME_CUDA_SPLITWEIGHT_H
#define NM_LIB_RUNTIME_CUDA_SPLITWEIGHT_H

#include "Cuda/CudaDriver.h"
#include "nm/Runtime/Manifest.h"
#include "nm/Runtime/Weight.h"

#include <vector>

namespace nm::cuda {

extern const char kSplitWeightPtx[];

/// Whether a weight of `type` that is packed as `to` can be made of one that is
/// packed as `from`.
bool canSplitWeight(const TensorType &type, const PackedWeightInfo &from,
                    const PackedWeightInfo &to);

/// The weights that calls on a stream make, in memory that is given back, in
/// the stream's order, at the end.
class MadeWeights {
public:
  MadeWeights(const ContextScope &scope, Stream stream)
      : scope(scope), stream(stream) {}
  MadeWeights(const MadeWeights &) = delete;
  ~MadeWeights();

  /// Queues the kernel that makes `weight`, which has madeOf, and returns it
  /// with its addresses.
  Result<Weight> make(const Weight &weight);

private:
  const ContextScope &scope;
  Stream stream;
  std::vector<Address> taken;
};

} // namespace nm::cuda

#endif // NM_LIB_RUNTIME_CUDA_SPLITWEIGHT_H
