//===- Invoke.h - MLIR's C interface to compiled functions ------*- C++ -*-===//

#ifndef NM_LIB_RUNTIME_INVOKE_H
#define NM_LIB_RUNTIME_INVOKE_H

#include "nm/Runtime/Tensor.h"
#include "nm/Runtime/Weight.h"

#include <cstdint>
#include <vector>

namespace nm {

/// The memref descriptors of one call: per tensor the words
///   allocated pointer, aligned pointer, offset, sizes[rank], strides[rank]
class Descriptors {
public:
  void add(const Tensor &tensor);
  /// One for each part.
  void add(const Weight &weight);

  size_t count() const { return starts.size(); }
  /// One pointer per descriptor; valid until the next add.
  std::vector<void *> pointers();
  const std::vector<int64_t> &getWords() const { return words; }
  const std::vector<size_t> &getStarts() const { return starts; }

private:
  std::vector<int64_t> words;
  std::vector<size_t> starts;
};

/// The most descriptors that a call can pass.
inline constexpr size_t kMaxDescriptors = 128;

/// Calls `entry` with a pointer to each descriptor.
Status invoke(void *entry, Descriptors &descriptors);
/// Calls `entry` with `count` pointers, at most kMaxDescriptors.
void invoke(void *entry, void **pointers, size_t count);
/// Whether that many can be passed.
Status checkDescriptorCount(size_t count);

} // namespace nm

#endif // NM_LIB_RUNTIME_INVOKE_H
