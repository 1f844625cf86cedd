//===- FormatCApi.cpp - N:M weights from C --------------------------------===//

#include "nm-c/Format.h"

#include "CApiTensor.h"
#include "nm/Format/DetectPattern.h"
#include "nm/Format/PackedForm.h"
#include "nm/Format/Unstructured.h"
#include "nm/Runtime/Export.h"
#include "nm/Runtime/Weight.h"

using namespace nm;

//===----------------------------------------------------------------------===//
// What came from C
//===----------------------------------------------------------------------===//

static Pattern toPattern(const NmPattern &pattern) {
  return {pattern.n, pattern.m, pattern.bk, pattern.bn};
}

static NmPattern fromPattern(const Pattern &pattern, int64_t dim) {
  return {pattern.n, pattern.m, pattern.bk, pattern.bn, dim};
}

static Status checkDim(int64_t dim) {
  if (dim == 0 || dim == 1)
    return Status::success();
  return Error{"expected dimension 0 or 1 to be k, but got " +
               std::to_string(dim)};
}

static Status checkPatternNumbers(const NmPattern &pattern) {
  if (Status status = toPattern(pattern).verify(); !status)
    return status;
  return checkDim(pattern.dim);
}

static Status checkSizes(int64_t k, int64_t n) {
  if (k >= 0 && n >= 0 && k <= kMaxSize && n <= kMaxSize)
    return Status::success();
  return Error{"expected k and n between 0 and 2^40, but got " +
               std::to_string(k) + " and " + std::to_string(n)};
}

/// A tensor of rank `rank` on the host.
static Result<Tensor> hostTensor(const NmTensor *given, int64_t rank,
                                 const std::string &name) {
  if (!given)
    return Error{name + ": expected a tensor, but got NULL"};
  Result<Tensor> tensor = toTensor(*given);
  if (!tensor)
    return Error{name + ": " + tensor.error().message};
  if (!tensor->device.isCpu())
    return Error{name + ": expected a tensor on the host, but got " +
                 tensor->str()};
  if (tensor->rank() != rank)
    return Error{name + ": expected a tensor of rank " + std::to_string(rank) +
                 ", but got " + tensor->str()};
  if (!tensor->isAligned())
    return Error{name + ": expected data at a multiple of the size of " +
                 std::string(elementName(tensor->type)) +
                 ", but got an odd address"};
  return tensor;
}

/// The type of dense weights, of `element` and as large as `dense`.
static TensorType weightType(const Tensor &dense, const NmPattern &pattern) {
  return {dense.type, dense.shape, Encoding{toPattern(pattern), pattern.dim}};
}

static TensorType weightType(ElementType element, const NmPattern &pattern,
                             int64_t k, int64_t n) {
  return {element, {k, n}, Encoding{toPattern(pattern), 0}};
}

static DenseView denseView(const Tensor &tensor, int64_t dim) {
  return {tensor.data,           tensor.type,         tensor.shape[dim],
          tensor.shape[1 - dim], tensor.strides[dim], tensor.strides[1 - dim]};
}

/// Dense weights, after a check of the pattern that they are used with.
static Result<Tensor> denseTensor(const NmTensor *given,
                                  const NmPattern &pattern) {
  if (Status status = checkPatternNumbers(pattern); !status)
    return status.error();
  Result<Tensor> tensor = hostTensor(given, 2, "dense");
  if (tensor)
    if (Status status = checkSizes(tensor->shape[0], tensor->shape[1]); !status)
      return status.error();
  return tensor;
}

static Status expectType(const Tensor &tensor, const TensorType &type,
                         const std::string &name) {
  if (tensor.type == type.element && tensor.shape == type.shape &&
      tensor.isPassable())
    return Status::success();
  return Error{name + ": expected row-major " + type.str() + ", but got " +
               tensor.str()};
}

/// Memory for both parts of a weight, of these types.
static Result<Weight> outputParts(const NmTensor *values,
                                  const NmTensor *indices,
                                  const TensorType &valuesType,
                                  const TensorType &indicesType) {
  Result<Tensor> valuesTensor = hostTensor(values, valuesType.rank(), "values");
  if (!valuesTensor)
    return valuesTensor.error();
  Result<Tensor> indicesTensor =
      hostTensor(indices, indicesType.rank(), "indices");
  if (!indicesTensor)
    return indicesTensor.error();
  if (Status status = expectType(*valuesTensor, valuesType, "values"); !status)
    return status.error();
  if (Status status = expectType(*indicesTensor, indicesType, "indices");
      !status)
    return status.error();
  return Weight{*valuesTensor, *indicesTensor, nullptr, nullptr};
}

/// Condensed parts of k x n weights, verified.
static Result<Weight> condensedParts(const NmTensor *values,
                                     const NmTensor *indices,
                                     const NmPattern &pattern, int64_t k,
                                     int64_t n, std::string_view name) {
  if (Status status = checkPatternNumbers(pattern); !status)
    return status.error();
  if (Status status = checkSizes(k, n); !status)
    return status.error();
  Result<Tensor> valuesTensor = hostTensor(values, 2, "values");
  if (!valuesTensor)
    return valuesTensor.error();
  Result<Tensor> indicesTensor = hostTensor(indices, 2, "indices");
  if (!indicesTensor)
    return indicesTensor.error();
  Weight weight{*valuesTensor, *indicesTensor, nullptr, nullptr};
  TensorType type = weightType(valuesTensor->type, pattern, k, n);
  if (Status status = verifyWeight(type, weight, name); !status)
    return status.error();
  return weight;
}

static CondensedView condensedView(const Weight &weight,
                                   const NmPattern &pattern, int64_t k,
                                   int64_t n) {
  return {weight.values.data,
          static_cast<const uint8_t *>(weight.indices.data),
          weight.values.type,
          toPattern(pattern),
          k,
          n};
}

//===----------------------------------------------------------------------===//
// Dense weights
//===----------------------------------------------------------------------===//

static NmPatternReport fromReport(const PatternReport &report,
                                  const Tensor &dense, int64_t dim) {
  return {fromPattern(report.pattern, dim),
          report.holds,
          report.violations,
          report.windows,
          report.columnBegin,
          report.columnEnd,
          report.kBegin,
          report.kEnd,
          report.count,
          dense.elements(),
          report.nonZeros,
          report.negativeZeros};
}

static PatternReport toReport(const NmPatternReport &given) {
  PatternReport report;
  report.pattern = toPattern(given.pattern);
  report.holds = given.holds;
  report.violations = given.violations;
  report.windows = given.windows;
  report.columnBegin = given.columnBegin;
  report.columnEnd = given.columnEnd;
  report.kBegin = given.kBegin;
  report.kEnd = given.kEnd;
  report.count = given.count;
  return report;
}

static Status detect(const NmTensor *given, int64_t dim, double minSparsity,
                     NmPattern &found, char **reason) {
  if (Status status = checkDim(dim); !status)
    return status;
  Result<Tensor> dense = hostTensor(given, 2, "dense");
  if (!dense)
    return dense.error();
  DetectOptions options;
  options.minSparsity = minSparsity;
  Detection detection = detectPattern(denseView(*dense, dim), options);
  found = detection.pattern ? fromPattern(*detection.pattern, dim)
                            : NmPattern{0, 0, 0, 0, dim};
  *reason = copyMessage(detection.reason);
  return Status::success();
}

static Status findNear(const NmTensor *given, int64_t dim, double share,
                       NmPattern &found, int64_t &excess) {
  if (Status status = checkDim(dim); !status)
    return status;
  Result<Tensor> dense = hostTensor(given, 2, "dense");
  if (!dense)
    return dense.error();
  std::optional<NearPattern> near =
      findNearPattern(denseView(*dense, dim), share);
  found = near ? fromPattern(near->pattern, dim) : NmPattern{0, 0, 0, 0, dim};
  excess = near ? near->excess : 0;
  return Status::success();
}

/// Scores of the elements of `dense`, or none.
static Result<ScoreView> scoreView(const NmTensor *given, const Tensor &dense,
                                   int64_t dim) {
  if (!given)
    return ScoreView();
  Result<Tensor> scores = hostTensor(given, 2, "scores");
  if (!scores)
    return scores.error();
  if (scores->type != ElementType::F32 || scores->shape != dense.shape) {
    TensorType expected{ElementType::F32, dense.shape, {}};
    return Error{"scores: expected " + expected.str() + ", but got " +
                 scores->str()};
  }
  return ScoreView{static_cast<const float *>(scores->data),
                   scores->strides[dim], scores->strides[1 - dim]};
}

static Status pruneTensor(const NmTensor *given, const NmTensor *givenScores,
                          const NmPattern &pattern, const NmTensor *givenResult,
                          NmPruneReport &report) {
  Result<Tensor> dense = denseTensor(given, pattern);
  if (!dense)
    return dense.error();
  Result<Tensor> result = hostTensor(givenResult, 2, "result");
  if (!result)
    return result.error();
  if (result->type != dense->type || result->shape != dense->shape)
    return Error{"result: expected " + dense->str() + ", but got " +
                 result->str()};
  Result<ScoreView> scores = scoreView(givenScores, *dense, pattern.dim);
  if (!scores)
    return scores.error();
  // Pruning reads and writes with the same strides.
  if (result->strides != dense->strides)
    copyTensor(*dense, *result);
  const Tensor &from = result->strides != dense->strides ? *result : *dense;
  PruneReport pruned = pruneWeight(denseView(from, pattern.dim),
                                   toPattern(pattern), result->data, *scores);
  report = {pruned.nonZeros, pruned.dropped, pruned.droppedEnergy()};
  return Status::success();
}

//===----------------------------------------------------------------------===//
// The condensed form
//===----------------------------------------------------------------------===//

static Status compressTensor(const NmTensor *given, const NmPattern &pattern,
                             const char *name, const NmTensor *values,
                             const NmTensor *indices) {
  Result<Tensor> dense = denseTensor(given, pattern);
  if (!dense)
    return dense.error();
  TensorType type = weightType(*dense, pattern);
  Result<Weight> parts = outputParts(values, indices, condensedValuesType(type),
                                     condensedIndicesType(type));
  if (!parts)
    return parts.error();
  return compressInto(type, *dense, name ? name : "weight", *parts);
}

static Status decompressTensor(const NmTensor *values, const NmTensor *indices,
                               const NmPattern &pattern,
                               const NmTensor *given) {
  Result<Tensor> dense = denseTensor(given, pattern);
  if (!dense)
    return dense.error();
  Result<Weight> parts =
      condensedParts(values, indices, pattern, dense->shape[pattern.dim],
                     dense->shape[1 - pattern.dim], "weight");
  if (!parts)
    return parts.error();
  TensorType type = weightType(*dense, pattern);
  type.element = parts->values.type;
  return decompressWeight(type, *parts, *dense);
}

//===----------------------------------------------------------------------===//
// The packed form
//===----------------------------------------------------------------------===//

static Status checkPacking(const NmPacking &packing, const NmPattern &pattern,
                           int64_t k, int64_t n) {
  if (Status status = checkPatternNumbers(pattern); !status)
    return status;
  if (Status status = checkSizes(k, n); !status)
    return status;
  if (pattern.m == 0)
    return Error{"expected an N:M pattern to pack, but got unstructured "
                 "weights"};
  return PanelPacking{packing.panel, packing.indexBits}.verify(
      toPattern(pattern));
}

static Result<Weight> packedParts(const NmTensor *values,
                                  const NmTensor *indices, ElementType element,
                                  const PanelPacking &packing,
                                  const Pattern &pattern, int64_t k,
                                  int64_t n) {
  auto valueShape = packing.valueShape(pattern, k, n);
  auto indexShape = packing.indexShape(pattern, k, n);
  return outputParts(
      values, indices,
      TensorType{element, {valueShape.begin(), valueShape.end()}, {}},
      TensorType{ElementType::I8, {indexShape.begin(), indexShape.end()}, {}});
}

static Status pack(const NmTensor *values, const NmTensor *indices,
                   const NmPacking &given, const NmPattern &pattern, int64_t k,
                   int64_t n, const NmTensor *packedValues,
                   const NmTensor *packedIndices) {
  if (Status status = checkPacking(given, pattern, k, n); !status)
    return status;
  Result<Weight> parts =
      condensedParts(values, indices, pattern, k, n, "weight");
  if (!parts)
    return parts.error();
  PanelPacking packing{given.panel, given.indexBits};
  Result<Weight> packed =
      packedParts(packedValues, packedIndices, parts->values.type, packing,
                  toPattern(pattern), k, n);
  if (!packed)
    return packed.error();
  CondensedView view = condensedView(*parts, pattern, k, n);
  packValues(view, packing, packed->values.data);
  packIndices(view, packing, static_cast<uint8_t *>(packed->indices.data));
  return Status::success();
}

static Status unpack(const NmTensor *packedValues,
                     const NmTensor *packedIndices, const NmPacking &given,
                     const NmPattern &pattern, int64_t k, int64_t n,
                     const NmTensor *values, const NmTensor *indices) {
  if (Status status = checkPacking(given, pattern, k, n); !status)
    return status;
  Result<Tensor> first = hostTensor(packedValues, 3, "packed values");
  if (!first)
    return first.error();
  PanelPacking packing{given.panel, given.indexBits};
  Result<Weight> packed = packedParts(packedValues, packedIndices, first->type,
                                      packing, toPattern(pattern), k, n);
  if (!packed)
    return packed.error();
  TensorType type = weightType(first->type, pattern, k, n);
  Result<Weight> parts = outputParts(values, indices, condensedValuesType(type),
                                     condensedIndicesType(type));
  if (!parts)
    return parts.error();
  unpackValues(packed->values.data, packing, toPattern(pattern), first->type, k,
               n, parts->values.data);
  unpackIndices(static_cast<const uint8_t *>(packed->indices.data), packing,
                toPattern(pattern), k, n,
                static_cast<uint8_t *>(parts->indices.data));
  return verifyWeight(type, *parts, "packed weight");
}

//===----------------------------------------------------------------------===//
// The C symbols
//===----------------------------------------------------------------------===//

template <typename From>
static void copyShape(const From &from, int64_t *to) {
  std::copy(from.begin(), from.end(), to);
}

extern "C" {

NM_RUNTIME_API char *nmPatternParse(const char *text, NmPattern *pattern) {
  if (char *message =
          refuseNull({{"a text", text}, {"a place for the pattern", pattern}}))
    return message;
  Result<Encoding> encoding = Encoding::parse(text);
  if (!encoding)
    return copyMessage(encoding.error());
  *pattern = fromPattern(encoding->pattern, encoding->dim);
  return nullptr;
}

NM_RUNTIME_API char *nmPatternVerify(const NmPattern *pattern) {
  if (char *message = refuseNull({{"a pattern", pattern}}))
    return message;
  return copyMessage(checkPatternNumbers(*pattern));
}

NM_RUNTIME_API char *nmPatternPrint(const NmPattern *pattern, char **text) {
  if (char *message =
          refuseNull({{"a pattern", pattern}, {"a place for the text", text}}))
    return message;
  if (Status status = checkPatternNumbers(*pattern); !status)
    return copyMessage(status);
  *text = copyMessage(Encoding{toPattern(*pattern), pattern->dim}.str());
  return nullptr;
}

NM_RUNTIME_API char *nmCheckPattern(const NmTensor *dense,
                                    const NmPattern *pattern,
                                    NmPatternReport *report) {
  if (char *message = refuseNull(
          {{"a pattern", pattern}, {"a place for the report", report}}))
    return message;
  Result<Tensor> tensor = denseTensor(dense, *pattern);
  if (!tensor)
    return copyMessage(tensor.error());
  *report = fromReport(
      checkWeight(denseView(*tensor, pattern->dim), toPattern(*pattern)),
      *tensor, pattern->dim);
  return nullptr;
}

NM_RUNTIME_API char *nmPatternReportDescribe(const NmPatternReport *report,
                                             const char *name, char **text) {
  if (char *message =
          refuseNull({{"a report", report}, {"a place for the text", text}}))
    return message;
  *text = copyMessage(toReport(*report).describe(name ? name : "weight"));
  return nullptr;
}

NM_RUNTIME_API char *nmDetectPattern(const NmTensor *dense, int64_t dim,
                                     double minSparsity, NmPattern *found,
                                     char **reason) {
  if (char *message = refuseNull({{"a place for the pattern", found},
                                  {"a place for the reason", reason}}))
    return message;
  return copyMessage(detect(dense, dim, minSparsity, *found, reason));
}

NM_RUNTIME_API char *nmFindNearPattern(const NmTensor *dense, int64_t dim,
                                       double share, NmPattern *found,
                                       int64_t *excess) {
  if (char *message = refuseNull({{"a place for the pattern", found},
                                  {"a place for the excess", excess}}))
    return message;
  return copyMessage(findNear(dense, dim, share, *found, *excess));
}

NM_RUNTIME_API char *nmPrune(const NmTensor *dense, const NmTensor *scores,
                             const NmPattern *pattern, const NmTensor *result,
                             NmPruneReport *report) {
  if (char *message = refuseNull(
          {{"a pattern", pattern}, {"a place for the report", report}}))
    return message;
  return copyMessage(pruneTensor(dense, scores, *pattern, result, *report));
}

NM_RUNTIME_API char *nmCondensedShape(const NmPattern *pattern, int64_t k,
                                      int64_t n, int64_t values[2],
                                      int64_t indices[2]) {
  if (char *message = refuseNull({{"a pattern", pattern},
                                  {"a place for the values' shape", values},
                                  {"a place for the indices' shape", indices}}))
    return message;
  if (Status status = checkPatternNumbers(*pattern); !status)
    return copyMessage(status);
  if (Status status = checkSizes(k, n); !status)
    return copyMessage(status);
  TensorType type = weightType(ElementType::F32, *pattern, k, n);
  copyShape(condensedValuesType(type).shape, values);
  copyShape(condensedIndicesType(type).shape, indices);
  return nullptr;
}

NM_RUNTIME_API char *nmCompress(const NmTensor *dense, const NmPattern *pattern,
                                const char *name, const NmTensor *values,
                                const NmTensor *indices) {
  if (char *message = refuseNull({{"a pattern", pattern}}))
    return message;
  return copyMessage(compressTensor(dense, *pattern, name, values, indices));
}

NM_RUNTIME_API char *nmVerifyCondensed(const NmPattern *pattern, int64_t k,
                                       int64_t n, const char *name,
                                       const NmTensor *values,
                                       const NmTensor *indices) {
  if (char *message = refuseNull({{"a pattern", pattern}}))
    return message;
  Result<Weight> parts =
      condensedParts(values, indices, *pattern, k, n, name ? name : "weight");
  return parts ? nullptr : copyMessage(parts.error());
}

NM_RUNTIME_API char *nmDecompress(const NmTensor *values,
                                  const NmTensor *indices,
                                  const NmPattern *pattern,
                                  const NmTensor *dense) {
  if (char *message = refuseNull({{"a pattern", pattern}}))
    return message;
  return copyMessage(decompressTensor(values, indices, *pattern, dense));
}

NM_RUNTIME_API char *nmPackedShape(const NmPacking *packing,
                                   const NmPattern *pattern, int64_t k,
                                   int64_t n, int64_t values[3],
                                   int64_t indices[3]) {
  if (char *message = refuseNull({{"a packing", packing},
                                  {"a pattern", pattern},
                                  {"a place for the values' shape", values},
                                  {"a place for the indices' shape", indices}}))
    return message;
  if (Status status = checkPacking(*packing, *pattern, k, n); !status)
    return copyMessage(status);
  PanelPacking panels{packing->panel, packing->indexBits};
  copyShape(panels.valueShape(toPattern(*pattern), k, n), values);
  copyShape(panels.indexShape(toPattern(*pattern), k, n), indices);
  return nullptr;
}

NM_RUNTIME_API char *nmPack(const NmTensor *values, const NmTensor *indices,
                            const NmPacking *packing, const NmPattern *pattern,
                            int64_t k, int64_t n, const NmTensor *packedValues,
                            const NmTensor *packedIndices) {
  if (char *message =
          refuseNull({{"a packing", packing}, {"a pattern", pattern}}))
    return message;
  return copyMessage(pack(values, indices, *packing, *pattern, k, n,
                          packedValues, packedIndices));
}

NM_RUNTIME_API char *nmUnpack(const NmTensor *packedValues,
                              const NmTensor *packedIndices,
                              const NmPacking *packing,
                              const NmPattern *pattern, int64_t k, int64_t n,
                              const NmTensor *values, const NmTensor *indices) {
  if (char *message =
          refuseNull({{"a packing", packing}, {"a pattern", pattern}}))
    return message;
  return copyMessage(unpack(packedValues, packedIndices, *packing, *pattern, k,
                            n, values, indices));
}
}
