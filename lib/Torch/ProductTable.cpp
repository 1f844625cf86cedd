//===- ProductTable.cpp - Prepared calls of weights -----------------------===//
//
// Locks are tried, for a while at most: in the child of a fork one may stay
// locked by a thread that the child has not.
//
//===----------------------------------------------------------------------===//

#include "ProductTable.h"

#include <algorithm>
#include <chrono>
#include <mutex>

using namespace nm::torch;

/// Longer than any call of a product.
static constexpr std::chrono::seconds kLongest{60};

bool Signature::operator==(const Signature &other) const {
  return type == other.type && deviceKind == other.deviceKind &&
         deviceIndex == other.deviceIndex && rank == other.rank &&
         std::equal(sizes.begin(), sizes.begin() + rank, other.sizes.begin()) &&
         std::equal(strides.begin(), strides.begin() + rank,
                    other.strides.begin());
}

ProductTable &ProductTable::get() {
  // Never destroyed: calls may still come while the process exits.
  static ProductTable *table = new ProductTable;
  return *table;
}

int64_t ProductTable::addWeight(const void *values, const void *indices) {
  auto weight = std::make_shared<WeightProducts>();
  weight->values = values;
  weight->indices = indices;
  std::unique_lock<std::shared_timed_mutex> lock(mutex, kLongest);
  if (!lock)
    return -1;
  weights.push_back(std::move(weight));
  return int64_t(weights.size()) - 1;
}

bool ProductTable::addProduct(int64_t number, const Product &product) {
  std::shared_ptr<WeightProducts> weight = find(number);
  if (!weight)
    return false;
  std::unique_lock<std::shared_timed_mutex> lock(weight->mutex,
                                                 std::try_to_lock);
  if (!lock || weight->isDropped)
    return false;
  weight->products.push_back(product);
  return true;
}

void ProductTable::dropWeight(int64_t number) {
  std::shared_ptr<WeightProducts> weight;
  {
    std::unique_lock<std::shared_timed_mutex> lock(mutex, kLongest);
    if (!lock || number < 0 || number >= int64_t(weights.size()))
      return;
    weight = std::move(weights[number]);
    weights[number] = nullptr;
  }
  if (!weight)
    return;
  std::unique_lock<std::shared_timed_mutex> lock(weight->mutex, kLongest);
  weight->isDropped = true;
}

std::shared_ptr<WeightProducts> ProductTable::find(int64_t number) {
  std::shared_lock<std::shared_timed_mutex> lock(mutex, std::try_to_lock);
  if (!lock || number < 0 || number >= int64_t(weights.size()))
    return nullptr;
  return weights[number];
}
