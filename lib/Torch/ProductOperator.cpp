//===- ProductOperator.cpp - nm::product, a call without Python -----------===//
//
// nm::product(Tensor x, Tensor values, Tensor indices, Tensor bias, int weight)
// runs a call that Python has prepared, for a weight by its number and an x of
// the same signature. Where there is none, or anything else is not as it was,
// the result is an undefined tensor, None to Python, which then goes the way
// that handles and names everything. Without a bias `values` takes its place.
//
//===----------------------------------------------------------------------===//

#include "ProductTable.h"
#include "StableAbi.h"

#include "nm/Runtime/Export.h"

#include <algorithm>
#include <cstring>
#include <mutex>

using namespace nm::torch;

static StableAbi abi;

namespace {
/// A tensor that is given back.
class Tensor {
public:
  explicit Tensor(Word word = 0)
      : handle(reinterpret_cast<TensorHandle>(word)) {}
  Tensor(const Tensor &) = delete;
  Tensor &operator=(const Tensor &) = delete;
  ~Tensor() {
    if (handle)
      abi.deleteTensor(handle);
  }

  TensorHandle get() const { return handle; }
  TensorHandle *place() { return &handle; }
  Word release() {
    auto word = reinterpret_cast<Word>(handle);
    handle = nullptr;
    return word;
  }
  /// Null where it has no elements.
  void *data() const {
    void *result = nullptr;
    return abi.getData(handle, &result) == 0 ? result : nullptr;
  }

private:
  TensorHandle handle;
};
} // namespace

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

static bool isAligned(const void *data, uint64_t alignment) {
  return reinterpret_cast<uintptr_t>(data) % alignment == 0;
}

/// Whether `result` holds the product now.
static bool run(const Tensor &x, const Tensor &values, const Tensor &indices,
                const Tensor &bias, int64_t number, Tensor &result) {
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
  if (!isAligned(data[0], product->xAlignment))
    return false;
  if (product->hasBias) {
    data[arguments++] = bias.data();
    if (!fits(bias, *product) || !isAligned(data[1], product->biasAlignment))
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

static void product(Word *stack, uint64_t, uint64_t) {
  Tensor x(stack[0]), values(stack[1]), indices(stack[2]), bias(stack[3]);
  auto number = int64_t(stack[4]);
  Tensor result;
  if (!run(x, values, indices, bias, number, result)) {
    Tensor none;
    abi.makeUndefined(none.place());
    stack[0] = none.release();
    return;
  }
  stack[0] = result.release();
}

static std::string registerKernels(const char *folder) {
  if (std::string missing = abi.load(folder); !missing.empty())
    return missing;
  for (const char *key : {"CPU", "CUDA"}) {
    LibraryHandle library = nullptr;
    // The library is never given back, as then its kernels would be, too.
    if (abi.initImplementations("nm", key, __FILE__, __LINE__, &library) != 0 ||
        abi.implement(library, "product", product) != 0)
      return "PyTorch refuses a kernel of nm::product for " + std::string(key);
  }
  return "";
}

extern "C" {

/// Registers the kernels of nm::product, which is defined, with the PyTorch
/// whose libraries are in `folder`. Returns why not, as nmMessageFree takes it,
/// or NULL.
NM_RUNTIME_API char *nmTorchRegister(const char *folder) {
  std::string message = registerKernels(folder);
  return message.empty() ? nullptr : strdup(message.c_str());
}

/// The number of a new weight, or -1.
NM_RUNTIME_API int64_t nmTorchAddWeight(const void *values,
                                        const void *indices) {
  return ProductTable::get().addWeight(values, indices);
}

/// Has nm::product run `call` for inputs as the last that this thread missed
/// for the weight, with results of the same type. Alignments are of x, of the
/// bias, 0 without, and of the result. Returns whether it does.
NM_RUNTIME_API int32_t nmTorchAddProduct(int64_t weight, int64_t resultColumns,
                                         const int64_t *alignments,
                                         int32_t onCuda, const NmCall *call) {
  if (missed.weight != weight || missed.x.rank < 1)
    return 0;
  Product added;
  added.x = missed.x;
  missed.weight = -1;
  added.resultColumns = resultColumns;
  added.hasBias = alignments[1] != 0;
  added.onCuda = onCuda != 0;
  added.xAlignment = uint64_t(alignments[0]);
  added.biasAlignment = uint64_t(alignments[1]);
  added.resultAlignment = uint64_t(alignments[2]);
  added.call = call;
  return ProductTable::get().addProduct(weight, added);
}

/// Forgets a weight. Its calls may be freed then.
NM_RUNTIME_API void nmTorchDropWeight(int64_t weight) {
  ProductTable::get().dropWeight(weight);
}

} // extern "C"
