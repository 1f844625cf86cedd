//===- Autocast.cpp - What torch.autocast asks of a product ---------------===//

#include "Autocast.h"

#include "ProductTable.h"

#include <array>
#include <cstring>

using namespace nm::torch;

namespace {
struct Known {
  /// Functions of torch: whether autocast is on anywhere, whether it is on a
  /// kind of device, and its type there.
  PyObject *isAnyOn, *isOn, *getType;
  /// The names of kinds of devices.
  PyObject *cpu, *cuda;
  std::array<LowerType, 2> types;
};
} // namespace

static Known known;

bool nm::torch::keepAutocast(PyObject *parts) {
  if (!abi.copy || python.tupleSize(parts) != 5)
    return false;
  PyObject *items[5];
  for (int i = 0; i < 5; ++i)
    python.incRef(items[i] = python.tupleItem(parts, i));
  known = {items[0],
           items[1],
           items[2],
           python.intern("cpu"),
           python.intern("cuda"),
           {LowerType{abi.bfloat16(), items[3]},
            LowerType{abi.float16(), items[4]}}};
  return known.cpu && known.cuda;
}

bool nm::torch::isAutocastType(int32_t code) {
  return code == abi.float32() || code == abi.bfloat16() ||
         code == abi.float16();
}

/// Whether a function says yes, or nothing.
static bool maySay(const Object &answer) {
  return !answer || python.isTrue(answer.get()) != 0;
}

bool nm::torch::findLowerType(const Tensor &x, LowerType &type) {
  type = {kNoCast, nullptr};
  if (!maySay(Object(python.call(known.isAnyOn, nullptr))))
    return true;
  int32_t kind;
  if (abi.getDeviceKind(x.get(), &kind) != 0)
    return false;
  PyObject *device = kind == abi.cpu()    ? known.cpu
                     : kind == abi.cuda() ? known.cuda
                                          : nullptr;
  if (!device)
    return false;
  if (!maySay(Object(python.call(known.isOn, device, nullptr))))
    return true;
  Object found(python.call(known.getType, device, nullptr));
  for (const LowerType &each : known.types)
    if (found.get() == each.object)
      type = each;
  return type.code != kNoCast && isAutocastType(x.type());
}

bool nm::torch::castTensor(const Tensor &tensor, int32_t type, Tensor &cast) {
  TensorHandle handle = tensor.get();
  int64_t rank, *sizes, strides[kMaxRank], step = 1;
  int32_t kind, index;
  if (abi.getRank(handle, &rank) != 0 || rank > kMaxRank ||
      abi.getSizes(handle, &sizes) != 0 ||
      abi.getDeviceKind(handle, &kind) != 0 ||
      abi.getDeviceIndex(handle, &index) != 0)
    return false;
  for (int64_t i = rank; i-- > 0; step *= sizes[i] > 1 ? sizes[i] : 1)
    strides[i] = step;
  return abi.makeEmpty(rank, sizes, strides, type, kind, index, cast.place()) ==
             0 &&
         abi.copy(cast.get(), handle, /*nonBlocking=*/0) == 0;
}

static std::shared_ptr<const Tensor> castAnew(const Tensor &tensor,
                                              int32_t type) {
  auto cast = std::make_shared<Tensor>();
  return castTensor(tensor, type, *cast) ? cast : nullptr;
}

/// The bytes of a vector of the host without gaps, or 0.
static size_t countBytes(const Tensor &bias) {
  int64_t rank, *sizes, *strides;
  int32_t kind;
  if (abi.getDeviceKind(bias.get(), &kind) != 0 || kind != abi.cpu() ||
      abi.getRank(bias.get(), &rank) != 0 || rank != 1 ||
      abi.getSizes(bias.get(), &sizes) != 0 ||
      abi.getStrides(bias.get(), &strides) != 0 || strides[0] != 1)
    return 0;
  return size_t(sizes[0]) * (bias.type() == abi.float32() ? 4 : 2);
}

std::shared_ptr<const Tensor> CastBias::get(const Tensor &bias, int32_t type) {
  int32_t own = bias.type();
  if (!isAutocastType(own))
    return nullptr;
  size_t size = countBytes(bias);
  const void *data = bias.data();
  if (!size || !data)
    return castAnew(bias, type);
  if (cast && ownType == own && castType == type && bytes == size &&
      std::memcmp(copy->data(), data, size) == 0)
    return cast;
  // Another thread may write to the bias: what is cast is the copy.
  copy = castAnew(bias, own);
  cast = copy ? castAnew(*copy, type) : nullptr;
  ownType = own;
  castType = type;
  bytes = size;
  return cast;
}
