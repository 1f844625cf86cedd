//===- IndexCApi.cpp - Forms of unstructured indices from C ---------------===//

#include "nm-c/Format.h"

#include "CApiTensor.h"
#include "nm/Format/Offsets.h"
#include "nm/Format/Unstructured.h"
#include "nm/Runtime/Export.h"
#include "nm/Runtime/Weight.h"

#include <algorithm>

using namespace nm;

/// The type of unstructured weights of `pattern`.
static Result<TensorType> unstructuredType(const NmPattern &given, int64_t k,
                                           int64_t n) {
  Pattern pattern{given.n, given.m, given.bk, given.bn};
  if (Status status = pattern.verify(); !status)
    return status.error();
  if (!pattern.isUnstructured())
    return Error{"expected unstructured weights, whose indices have two forms, "
                 "but got " +
                 pattern.str()};
  if (k < 0 || n < 0 || k > kMaxSize || n > kMaxSize)
    return Error{"expected k and n between 0 and 2^40, but got " +
                 std::to_string(k) + " and " + std::to_string(n)};
  return TensorType{ElementType::F32, {k, n}, Encoding{pattern, 0}};
}

static Result<Tensor> bytesOnHost(const NmTensor &given, const char *name) {
  Result<Tensor> tensor = toTensor(given);
  if (!tensor)
    return Error{std::string(name) + ": " + tensor.error().message};
  if (!tensor->device.isCpu() || tensor->rank() != 2 ||
      tensor->type != ElementType::I8 || !tensor->isPassable())
    return Error{std::string(name) +
                 ": expected row-major bytes of rank 2 on the host, but got " +
                 tensor->str()};
  return tensor;
}

/// Indices of k x n weights of `pattern`, verified, as a bitmap.
static Result<Weight> readBitmap(const NmPattern &pattern, int64_t k, int64_t n,
                                 const NmTensor &given) {
  Result<TensorType> type = unstructuredType(pattern, k, n);
  if (!type)
    return type.error();
  Result<Tensor> indices = bytesOnHost(given, "indices");
  if (!indices)
    return indices.error();
  if (Status status = verifyWeightIndices(*type, *indices, "indices"); !status)
    return status.error();
  return withBitmap(*type, Weight{{}, *indices, nullptr, nullptr});
}

/// indexShapeOf, where there are such indices.
static Result<std::array<int64_t, 2>>
shapeOf(IndexForm form, const uint8_t *bits, int64_t k, int64_t n) {
  std::array<int64_t, 2> sizes = indexShapeOf(form, bits, k, n);
  if (form == IndexForm::Offsets && !offsetsReach(sizes[0], n))
    return Error{"expected at most 2^32 - 1 gaps for offsets, but got " +
                 std::to_string(sizes[0] - bytesOfOffsets(n))};
  return sizes;
}

static Status indexShape(const NmPattern &pattern, int64_t k, int64_t n,
                         const NmTensor &given, int32_t form, int64_t *shape) {
  if (form < NM_INDICES_SMALLEST || form > NM_INDICES_OFFSETS)
    return Error{"expected a form of NmIndexForm, but got " +
                 std::to_string(form)};
  Result<Weight> weight = readBitmap(pattern, k, n, given);
  if (!weight)
    return weight.error();
  const auto *bits = static_cast<const uint8_t *>(weight->indices.data);
  IndexForm wanted = form == NM_INDICES_BITMAP    ? IndexForm::Bitmap
                     : form == NM_INDICES_OFFSETS ? IndexForm::Offsets
                                                  : chooseIndexForm(bits, k, n);
  Result<std::array<int64_t, 2>> sizes = shapeOf(wanted, bits, k, n);
  if (!sizes)
    return sizes.error();
  std::copy(sizes->begin(), sizes->end(), shape);
  return Status::success();
}

static Status convertIndices(const NmPattern &pattern, int64_t k, int64_t n,
                             const NmTensor &given, const NmTensor &result) {
  Result<Weight> weight = readBitmap(pattern, k, n, given);
  if (!weight)
    return weight.error();
  Result<Tensor> to = bytesOnHost(result, "result");
  if (!to)
    return to.error();
  const auto *bits = static_cast<const uint8_t *>(weight->indices.data);
  IndexForm form = indexFormOf(to->shape[0]);
  Result<std::array<int64_t, 2>> sizes = shapeOf(form, bits, k, n);
  if (!sizes)
    return sizes.error();
  if (!std::equal(sizes->begin(), sizes->end(), to->shape.begin()))
    return Error{"result: expected " + std::to_string((*sizes)[0]) + "x" +
                 std::to_string((*sizes)[1]) + " bytes, but got " + to->str()};
  auto *bytes = static_cast<uint8_t *>(to->data);
  if (form == IndexForm::Offsets)
    bitmapToOffsets(bits, k, n, bytes);
  else
    std::copy_n(bits, (*sizes)[1], bytes);
  return Status::success();
}

extern "C" {

NM_RUNTIME_API char *nmIndexShape(const NmPattern *pattern, int64_t k,
                                  int64_t n, const NmTensor *indices,
                                  int32_t form, int64_t shape[2]) {
  if (char *message = refuseNull({{"a pattern", pattern},
                                  {"indices", indices},
                                  {"a place for the shape", shape}}))
    return message;
  return copyMessage(indexShape(*pattern, k, n, *indices, form, shape));
}

NM_RUNTIME_API char *nmConvertIndices(const NmPattern *pattern, int64_t k,
                                      int64_t n, const NmTensor *from,
                                      const NmTensor *to) {
  if (char *message = refuseNull(
          {{"a pattern", pattern}, {"indices", from}, {"a result", to}}))
    return message;
  return copyMessage(convertIndices(*pattern, k, n, *from, *to));
}
}
