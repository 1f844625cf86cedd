//===- Weight.cpp - N:M weights as a compiled function takes them ---------===//

#include "nm/Runtime/Weight.h"

#include "WindowRanges.h"
#include "nm/Format/Condensed.h"
#include "nm/Format/Offsets.h"

#include <algorithm>
#include <atomic>
#include <vector>

using namespace nm;
using namespace nm::detail;

int64_t nm::weightRows(const TensorType &type) {
  return type.shape[type.encoding->dim];
}

int64_t nm::weightColumns(const TensorType &type) {
  return type.shape[1 - type.encoding->dim];
}

static std::vector<int64_t> toShape(const std::array<int64_t, 2> &shape) {
  return {shape.begin(), shape.end()};
}

TensorType nm::condensedValuesType(const TensorType &type) {
  const Pattern &pattern = type.encoding->pattern;
  return {type.element,
          toShape(pattern.valueShape(weightRows(type), weightColumns(type))),
          std::nullopt};
}

TensorType nm::condensedIndicesType(const TensorType &type) {
  const Pattern &pattern = type.encoding->pattern;
  return {ElementType::I8,
          toShape(pattern.indexShape(weightRows(type), weightColumns(type))),
          std::nullopt};
}

static Error prefixed(std::string_view name, const std::string &message) {
  return Error{std::string(name) + ": " + message};
}

static Status checkType(const Tensor &tensor, const TensorType &type,
                        std::string_view name) {
  if (tensor.type == type.element && tensor.shape == type.shape)
    return Status::success();
  return prefixed(name, "expected " + type.str() + ", but got " + tensor.str());
}

static DenseView denseView(const TensorType &type, const Tensor &tensor) {
  int64_t dim = type.encoding->dim;
  return {tensor.data,           tensor.type,         tensor.shape[dim],
          tensor.shape[1 - dim], tensor.strides[dim], tensor.strides[1 - dim]};
}

Result<Weight> nm::allocateWeight(const TensorType &values,
                                  const TensorType &indices,
                                  const std::optional<TensorType> &lists) {
  Result<Buffer> valueBuffer = Buffer::allocate(values.element, values.shape);
  if (!valueBuffer)
    return valueBuffer.error();
  Result<Buffer> indexBuffer = Buffer::allocate(indices.element, indices.shape);
  if (!indexBuffer)
    return indexBuffer.error();
  auto ownValues = std::make_shared<Buffer>(std::move(*valueBuffer));
  auto ownIndices = std::make_shared<Buffer>(std::move(*indexBuffer));
  Weight weight{ownValues->tensor(), ownIndices->tensor(), ownValues,
                ownIndices};
  if (lists) {
    Result<Buffer> listBuffer = Buffer::allocate(lists->element, lists->shape);
    if (!listBuffer)
      return listBuffer.error();
    auto ownLists = std::make_shared<Buffer>(std::move(*listBuffer));
    weight.lists = ownLists->tensor();
    weight.listsOwner = ownLists;
  }
  return weight;
}

namespace {
/// The bytes that one window has of each condensed part, where the rows of
/// whole windows are contiguous.
struct FormBytes {
  int64_t values, indices;

  FormBytes(const DenseView &dense, const Pattern &pattern)
      : values(pattern.keptRows() * pattern.paddedColumns(dense.n) *
               elementSize(dense.type)),
        indices(pattern.n * pattern.blockColumns(dense.n)) {}
};
} // namespace

Status nm::compressInto(const TensorType &type, const Tensor &dense,
                        std::string_view name, const Weight &weight) {
  if (Status status = checkType(dense, type, name); !status)
    return status;
  DenseView view = denseView(type, dense);
  const Pattern &pattern = type.encoding->pattern;
  auto *values = static_cast<char *>(weight.values.data);
  auto *indices = static_cast<uint8_t *>(weight.indices.data);
  // The place of a part's weights depends on the parts before it.
  if (pattern.isUnstructured())
    return compress(view, pattern, name, values, indices);
  FormBytes bytes(view, pattern);
  std::atomic<bool> failed{false};
  WindowRanges ranges(view, pattern);
  ranges.forEach([&](int64_t i) {
    int64_t window = ranges.firstWindow(i);
    if (!compress(ranges.part(i), pattern, "", values + window * bytes.values,
                  indices + window * bytes.indices))
      failed = true;
  });
  if (!failed)
    return Status::success();
  // A part knows its own k range alone; the whole gives the right message.
  return Error{checkWeight(view, pattern).describe(name)};
}

PatternReport nm::checkWeight(const DenseView &dense, const Pattern &pattern) {
  WindowRanges ranges(dense, pattern);
  if (ranges.count() == 0 || pattern.isUnstructured())
    return checkPattern(dense, pattern);
  std::vector<PatternReport> reports(ranges.count());
  ranges.forEach([&](int64_t i) {
    reports[i] = checkPattern(ranges.part(i), pattern);
    reports[i].moveAlongK(ranges.firstRow(i));
  });
  for (size_t i = 1; i < reports.size(); ++i)
    reports[0].add(reports[i]);
  return reports[0];
}

PruneReport nm::pruneWeight(const DenseView &dense, const Pattern &pattern,
                            void *result, const ScoreView &scores) {
  if (pattern.isUnstructured())
    return prune(dense, pattern, result, scores);
  WindowRanges ranges(dense, pattern);
  std::vector<PruneReport> reports(ranges.count());
  ranges.forEach([&](int64_t i) {
    int64_t row = ranges.firstRow(i);
    ScoreView part = scores;
    if (part.data)
      part.data += row * part.strideK;
    reports[i] = prune(ranges.part(i), pattern,
                       static_cast<char *>(result) +
                           row * dense.strideK * elementSize(dense.type),
                       part);
  });
  PruneReport report;
  for (const PruneReport &part : reports)
    report.add(part);
  return report;
}

Result<Weight> nm::compressWeight(const TensorType &type, const Tensor &dense,
                                  std::string_view name) {
  if (Status status = checkType(dense, type, name); !status)
    return status.error();
  Result<Weight> weight =
      allocateWeight(condensedValuesType(type), condensedIndicesType(type));
  if (!weight)
    return prefixed(name, weight.error().message);
  if (Status status = compressInto(type, dense, name, *weight); !status)
    return status.error();
  return weight;
}

/// The type of offsets and gaps of so many bytes.
static TensorType typeOfOffsets(int64_t bytes) {
  return {ElementType::I8, {bytes, 1}, std::nullopt};
}

bool nm::hasOffsets(const TensorType &type, const Tensor &indices) {
  return type.encoding->pattern.isUnstructured() && indices.rank() == 2 &&
         indices.shape[1] == 1 &&
         indexFormOf(indices.shape[0]) == IndexForm::Offsets;
}

Result<Weight> nm::withBitmap(const TensorType &type, Weight weight) {
  if (!hasOffsets(type, weight.indices))
    return weight;
  TensorType bitmap = condensedIndicesType(type);
  Result<Buffer> bits = Buffer::allocate(bitmap.element, bitmap.shape);
  if (!bits)
    return bits.error();
  auto owner = std::make_shared<Buffer>(std::move(*bits));
  offsetsToBitmap(static_cast<const uint8_t *>(weight.indices.data),
                  weightRows(type), weightColumns(type),
                  static_cast<uint8_t *>(owner->tensor().data));
  weight.indices = owner->tensor();
  weight.indicesOwner = owner;
  return weight;
}

Status nm::verifyWeightIndices(const TensorType &type, const Tensor &indices,
                               std::string_view name) {
  bool isOffsets = hasOffsets(type, indices);
  TensorType expected =
      isOffsets ? typeOfOffsets(indices.shape[0]) : condensedIndicesType(type);
  if (Status status = checkType(indices, expected, name); !status)
    return status;
  if (!indices.isPassable())
    return prefixed(name, "expected them row-major");
  const auto *bytes = static_cast<const uint8_t *>(indices.data);
  const Pattern &pattern = type.encoding->pattern;
  int64_t k = weightRows(type), n = weightColumns(type);
  return isOffsets ? verifyOffsets(bytes, indices.shape[0], pattern, k, n, name)
                   : verifyIndices(bytes, pattern, k, n, name);
}

Status nm::verifyWeight(const TensorType &type, const Weight &weight,
                        std::string_view name) {
  if (Status status = checkType(weight.values, condensedValuesType(type),
                                std::string(name) + ", values");
      !status)
    return status;
  if (!weight.values.isPassable())
    return prefixed(name, "expected row-major condensed parts");
  return verifyWeightIndices(type, weight.indices,
                             std::string(name) + ", indices");
}

Status nm::decompressWeight(const TensorType &type, const Weight &given,
                            const Tensor &dense) {
  Result<Weight> whole = withBitmap(type, given);
  if (!whole)
    return whole.error();
  const Weight &weight = *whole;
  Buffer narrow;
  Tensor target = dense;
  if (dense.type != type.element) {
    Result<Buffer> buffer = Buffer::allocate(type.element, dense.shape);
    if (!buffer)
      return buffer.error();
    narrow = std::move(*buffer);
    target = narrow.tensor();
  }
  const Pattern &pattern = type.encoding->pattern;
  DenseView view = denseView(type, target);
  if (pattern.isUnstructured()) {
    decompress({weight.values.data,
                static_cast<const uint8_t *>(weight.indices.data), type.element,
                pattern, view.k, view.n},
               target.data, view.strideK, view.strideN);
    if (narrow.tensor().data)
      copyTensor(target, dense);
    return Status::success();
  }
  FormBytes bytes(view, pattern);
  WindowRanges ranges(view, pattern);
  ranges.forEach([&](int64_t i) {
    DenseView part = ranges.part(i);
    int64_t window = ranges.firstWindow(i);
    decompress(
        {static_cast<const char *>(weight.values.data) + window * bytes.values,
         static_cast<const uint8_t *>(weight.indices.data) +
             window * bytes.indices,
         type.element, pattern, part.k, part.n},
        const_cast<void *>(part.data), part.strideK, part.strideN);
  });
  if (narrow.tensor().data)
    copyTensor(target, dense);
  return Status::success();
}
