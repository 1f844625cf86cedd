//===- ProductRun.cpp - Running a prepared product ------------------------===//

#include "ProductRun.h"

#include <algorithm>
#include <mutex>

using namespace nm::torch;

StableAbi nm::torch::abi;

static bool describe(const Tensor &tensor, Signature &signature) {
  int64_t *sizes = nullptr, *strides = nullptr;
  TensorHandle handle = tensor.get();
  if (abi.getType(handle, &signature.type) != 0 ||
      abi.getDeviceKind(handle, &signature.deviceKind) != 0 ||
      abi.getDeviceIndex(handle, &signature.deviceIndex) != 0 ||
      abi.getRank(handle, &signature.rank) != 0 || signature.rank > kMaxRank ||
      abi.getSizes(handle, &sizes) != 0 ||
      abi.getStrides(handle, &strides) != 0)
    return false;
  std::copy(sizes, sizes + signature.rank, signature.sizes.begin());
  std::copy(strides, strides + signature.rank, signature.strides.begin());
  return true;
}

static const Product *findProduct(const WeightProducts &weight,
                                  const Signature &x) {
  for (const Product &product : weight.products)
    if (product.x == x)
      return &product;
  return nullptr;
}

namespace {
/// The last input on this thread that a weight had no call for.
struct Missed {
  int64_t weight = -1;
  Signature x;
};
} // namespace

static thread_local Missed missed;

/// Whether a bias is one of the result's type for each column.
static bool fits(const Tensor &bias, const Product &product) {
  Signature signature;
  return describe(bias, signature) && signature.type == product.x.type &&
         signature.deviceKind == product.x.deviceKind &&
         signature.deviceIndex == product.x.deviceIndex &&
         signature.rank == 1 && signature.sizes[0] == product.resultColumns &&
         (signature.strides[0] == 1 || signature.sizes[0] == 1);
}

static bool makeResult(const Product &product, Tensor &result) {
  std::array<int64_t, kMaxRank> sizes = product.x.sizes, strides;
  sizes[product.x.rank - 1] = product.resultColumns;
  int64_t step = 1;
  for (int64_t i = product.x.rank; i-- > 0;) {
    strides[i] = step;
    step *= sizes[i] > 1 ? sizes[i] : 1;
  }
  return abi.makeEmpty(product.x.rank, sizes.data(), strides.data(),
                       product.x.type, product.x.deviceKind,
                       product.x.deviceIndex, result.place()) == 0;
}

static bool hasElements(const Signature &signature) {
  return std::find(signature.sizes.begin(),
                   signature.sizes.begin() + signature.rank,
                   0) == signature.sizes.begin() + signature.rank;
}

static bool isAligned(const void *data, uint64_t alignment) {
  return reinterpret_cast<uintptr_t>(data) % alignment == 0;
}

bool nm::torch::runProduct(const Tensor &x, const Tensor &values,
                           const Tensor &indices, const Tensor &bias,
                           int64_t number, Tensor &result) {
  std::shared_ptr<WeightProducts> weight = ProductTable::get().find(number);
  if (!weight)
    return false;
  std::shared_lock<std::shared_timed_mutex> lock(weight->mutex,
                                                 std::try_to_lock);
  if (!lock || weight->isDropped || values.data() != weight->values ||
      indices.data() != weight->indices)
    return false;
  Signature signature;
  if (!describe(x, signature))
    return false;
  const Product *product = findProduct(*weight, signature);
  if (!product) {
    missed = {number, signature};
    return false;
  }
  void *stream = nullptr;
  if (product->onCuda &&
      (!abi.getCudaStream ||
       abi.getCudaStream(signature.deviceIndex, &stream) != 0))
    return false;
  void *data[3] = {x.data()};
  int arguments = 1;
  if (!data[0] && hasElements(signature))
    return false;
  if (!isAligned(data[0], product->xAlignment))
    return false;
  if (product->hasBias) {
    data[arguments++] = bias.data();
    if (!data[1] || !fits(bias, *product) ||
        !isAligned(data[1], product->biasAlignment))
      return false;
  }
  if (!makeResult(*product, result))
    return false;
  data[arguments] = result.data();
  if (!isAligned(data[arguments], product->resultAlignment))
    return false;
  char *message = nmCallRun(product->call, data, stream);
  if (!message)
    return true;
  // The other way says it.
  nmMessageFree(message);
  return false;
}

bool nm::torch::addMissedProduct(int64_t weight, Product &product) {
  if (missed.weight != weight || missed.x.rank < 1)
    return false;
  product.x = missed.x;
  missed.weight = -1;
  return ProductTable::get().addProduct(weight, product);
}
