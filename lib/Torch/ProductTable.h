//===- ProductTable.h - Prepared calls of weights ---------------*- C++ -*-===//

#ifndef NM_LIB_TORCH_PRODUCTTABLE_H
#define NM_LIB_TORCH_PRODUCTTABLE_H

#include "Autocast.h"

#include "nm-c/Runtime.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <shared_mutex>
#include <vector>

namespace nm::torch {

constexpr int64_t kMaxRank = 8;

/// What a call depends on beside addresses.
struct Signature {
  int32_t type;
  int32_t deviceKind;
  int32_t deviceIndex;
  int64_t rank;
  std::array<int64_t, kMaxRank> sizes;
  std::array<int64_t, kMaxRank> strides;

  bool operator==(const Signature &other) const;
};

/// A call for inputs of one signature.
struct Product {
  Signature x;
  int64_t resultColumns;
  bool hasBias;
  /// Whether work is queued on a stream, which wants aligned addresses.
  bool onCuda;
  uint64_t xAlignment, biasAlignment, resultAlignment;
  /// Whoever adds it frees it, after it was dropped.
  const NmCall *call;
};

/// The prepared calls of a weight.
struct WeightProducts {
  /// Where the elements of the weight are.
  const void *values;
  const void *indices;
  std::vector<Product> products;
  bool isDropped = false;
  /// Whoever asks for the bias holds Python's GIL.
  CastBias bias;
  /// Held while a call runs, so that what it needs is not freed.
  std::shared_timed_mutex mutex;
};

/// Weights by numbers that are never used again.
class ProductTable {
public:
  static ProductTable &get();

  int64_t addWeight(const void *values, const void *indices);
  /// False where a call runs, or the number is none.
  bool addProduct(int64_t number, const Product &product);
  /// Waits for the calls that run.
  void dropWeight(int64_t number);
  /// Null where there is none.
  std::shared_ptr<WeightProducts> find(int64_t number);

private:
  std::shared_timed_mutex mutex;
  std::vector<std::shared_ptr<WeightProducts>> weights;
};

} // namespace nm::torch

#endif // NM_LIB_TORCH_PRODUCTTABLE_H
