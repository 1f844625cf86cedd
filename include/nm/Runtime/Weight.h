//===- Weight.h - N:M weights as a compiled function takes them -*- C++ -*-===//

#ifndef NM_RUNTIME_WEIGHT_H
#define NM_RUNTIME_WEIGHT_H

#include "nm/Format/CheckPattern.h"
#include "nm/Format/Prune.h"
#include "nm/Runtime/Manifest.h"
#include "nm/Runtime/Tensor.h"

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace nm {

/// The parts of an encoded argument, condensed at first and packed once
/// Function::pack has run, with whoever owns their memory.
struct Weight {
  Tensor values;
  Tensor indices;
  std::shared_ptr<void> valuesOwner;
  std::shared_ptr<void> indicesOwner;
  /// Lists of rows, of packed weights whose form has them.
  std::optional<Tensor> lists = {};
  std::shared_ptr<void> listsOwner = {};
  /// The packed weight that each call makes this one of, if calls make it.
  /// `values`, `indices` and the owners are then those of `madeOf`.
  std::shared_ptr<const Weight> madeOf = {};
  /// Kept rows of k, and columns, of a weight that calls make.
  int64_t keptRows = 0, columns = 0;
  /// Its further packed forms, where products of a function want several.
  std::vector<Weight> otherForms = {};

  /// Calls `fn` with each part there is, in the order that functions take them.
  template <typename Fn>
  void forEachPart(const Fn &fn) const {
    fn(values);
    fn(indices);
    if (lists)
      fn(*lists);
    for (const Weight &form : otherForms)
      form.forEachPart(fn);
  }
  /// The bytes of all parts.
  int64_t bytes() const {
    int64_t sum = 0;
    forEachPart([&](const Tensor &part) { sum += part.bytes(); });
    return sum;
  }
};

/// k and n of the encoded `type`, whichever order its sizes are in.
NM_RUNTIME_API int64_t weightRows(const TensorType &type);
NM_RUNTIME_API int64_t weightColumns(const TensorType &type);

/// The types of the condensed parts of the encoded `type`.
NM_RUNTIME_API TensorType condensedValuesType(const TensorType &type);
NM_RUNTIME_API TensorType condensedIndicesType(const TensorType &type);

/// Memory for the parts of a weight, which have these types.
NM_RUNTIME_API Result<Weight>
allocateWeight(const TensorType &values, const TensorType &indices,
               const std::optional<TensorType> &lists = {});

/// Compresses `dense`, a tensor of `type` with zeros in it, to memory of its
/// own. Refuses one that breaks the pattern; errors begin with `name`.
NM_RUNTIME_API Result<Weight> compressWeight(const TensorType &type,
                                             const Tensor &dense,
                                             std::string_view name);

/// Compresses `dense` to the memory of `weight`, which must have the condensed
/// types, as compressWeight does to memory of its own.
NM_RUNTIME_API Status compressInto(const TensorType &type, const Tensor &dense,
                                   std::string_view name, const Weight &weight);

/// checkPattern by all threads.
NM_RUNTIME_API PatternReport checkWeight(const DenseView &dense,
                                         const Pattern &pattern);

/// prune by all threads.
NM_RUNTIME_API PruneReport pruneWeight(const DenseView &dense,
                                       const Pattern &pattern, void *result,
                                       const ScoreView &scores = {});

/// Checks types, sizes and indices of condensed parts, whose indices may be
/// offsets (nm/Format/Offsets.h) where `type` has a bitmap; errors begin with
/// `name`.
NM_RUNTIME_API Status verifyWeight(const TensorType &type, const Weight &weight,
                                   std::string_view name);

/// The part of it that is about the indices.
NM_RUNTIME_API Status verifyWeightIndices(const TensorType &type,
                                          const Tensor &indices,
                                          std::string_view name);

/// Whether the indices of a weight of `type` are offsets.
NM_RUNTIME_API bool hasOffsets(const TensorType &type, const Tensor &indices);

/// The weight as functions take it: with a bitmap of its own where it has
/// offsets. The parts must satisfy verifyWeight.
NM_RUNTIME_API Result<Weight> withBitmap(const TensorType &type, Weight weight);

/// Writes the dense tensor of a condensed weight of `type` to `dense`, whose
/// element type may be another one. The parts must satisfy verifyWeight.
NM_RUNTIME_API Status decompressWeight(const TensorType &type,
                                       const Weight &weight,
                                       const Tensor &dense);

} // namespace nm

#endif // NM_RUNTIME_WEIGHT_H
