//===- CudnnLibrary.h - cuDNN without its headers ---------------*- C++ -*-===//

#ifndef NM_SUPPORT_CUDNNLIBRARY_H
#define NM_SUPPORT_CUDNNLIBRARY_H

#include "nm/Format/ElementType.h"
#include "nm/Support/Error.h"

#include <cstddef>
#include <cstdint>

namespace nm::cudnn {

/// Functions of cudnn_graph.h, where handles and descriptors are pointers and
/// enums ints. Most return a cudnnStatus_t.
struct Functions {
  using Handle = void *;
  using Descriptor = void *;

  size_t (*getVersion)() = nullptr;
  int (*create)(Handle *) = nullptr;
  int (*setStream)(Handle, void *stream) = nullptr;
  const char *(*getErrorString)(int status) = nullptr;
  void (*getLastErrorString)(char *message, size_t size) = nullptr;
  int (*createDescriptor)(int type, Descriptor *) = nullptr;
  int (*destroyDescriptor)(Descriptor) = nullptr;
  int (*setAttribute)(Descriptor, int name, int type, int64_t count,
                      const void *values) = nullptr;
  int (*getAttribute)(Descriptor, int name, int type, int64_t most,
                      int64_t *count, void *values) = nullptr;
  int (*finalize)(Descriptor) = nullptr;
  int (*execute)(Handle, Descriptor plan, Descriptor variantPack) = nullptr;

  /// Those of the library at `path`, or, where that is empty, of that which
  /// NM_CUDNN_LIBRARY names, else libcudnn.so.9, which is never closed.
  static Result<Functions> load(const std::string &path = "");
};

// The values of cudnn_graph.h.
enum DescriptorType {
  kPointwise = 0,
  kConvolution = 1,
  kEngine = 2,
  kEngineConfig = 3,
  kEngineHeuristics = 4,
  kExecutionPlan = 5,
  kOperationConvolution = 10,
  kOperationPointwise = 13,
  kOperationGraph = 15,
  kVariantPack = 16,
  kTensor = 17,
  kMatmul = 18,
  kOperationMatmul = 19,
  kReduction = 21,
  kOperationReduction = 22,
};
enum AttributeType {
  kTypeHandle = 0,
  kTypeDataType = 1,
  kTypeBoolean = 2,
  kTypeInt64 = 3,
  kTypeFloat = 4,
  kTypeVoidPointer = 6,
  kTypeConvolutionMode = 7,
  kTypeHeuristicsMode = 8,
  kTypeNumericalNote = 11,
  kTypePointwiseMode = 14,
  kTypeDescriptor = 15,
  kTypeReductionOperator = 18,
};
enum Attribute {
  kPointwiseModeOf = 0,
  kPointwisePrecision = 1,
  kPointwiseAxis = 9,
  kConvolutionType = 100,
  kConvolutionMode = 101,
  kConvolutionDilations = 102,
  kConvolutionSteps = 103,
  kConvolutionPaddingsBehind = 104,
  kConvolutionPaddings = 105,
  kConvolutionDimensions = 106,
  kHeuristicsMode = 200,
  kHeuristicsGraph = 201,
  kHeuristicsResults = 202,
  kConfigEngine = 300,
  kPlanHandle = 400,
  kPlanConfig = 401,
  kPlanWorkspaceSize = 402,
  kOperationConvolutionAlpha = 700,
  kOperationConvolutionBeta = 701,
  kOperationConvolutionOf = 702,
  kOperationConvolutionFilter = 703,
  kOperationConvolutionImage = 704,
  kOperationConvolutionOutput = 705,
  kOperationPointwiseOf = 750,
  kOperationPointwiseX = 751,
  kOperationPointwiseB = 752,
  kOperationPointwiseY = 753,
  kOperationPointwiseT = 758,
  kGraphHandle = 800,
  kGraphOperations = 801,
  kTensorAlignment = 900,
  kTensorDataType = 901,
  kTensorDimensions = 902,
  kTensorStrides = 903,
  kTensorId = 906,
  kTensorIsVirtual = 907,
  kTensorIsByValue = 908,
  kPackIds = 1000,
  kPackPointers = 1001,
  kPackWorkspace = 1003,
  kEngineNotes = 1303,
  kMatmulType = 1500,
  kOperationMatmulA = 1520,
  kOperationMatmulB = 1521,
  kOperationMatmulC = 1522,
  kOperationMatmulOf = 1523,
  kReductionOperator = 1600,
  kReductionType = 1601,
  kOperationReductionX = 1610,
  kOperationReductionY = 1611,
  kOperationReductionOf = 1612,
};
enum DataType {
  kFloat = 0,
  kHalf = 2,
  kInt32 = 4,
  kBFloat16 = 9,
  kBoolean = 11
};
enum PointwiseMode {
  kAdd = 0,
  kMul = 1,
  kDiv = 6,
  kSub = 9,
  kExp = 13,
  kLog = 15,
  kGreaterOrEqual = 303,
  kGenerateIndex = 501,
  kSelect = 601,
};
enum ReductionOperator { kReduceAdd = 0, kReduceMax = 3 };
/// A property of the arithmetic of an engine of cuDNN, such as that it sums in
/// less than f32. Of a set of notes, bit 1 << note says whether it has `note`.
enum NumericalNote {
  kTensorCores = 0,
  kDownConvertsInputs = 1,
  kReducesInLess = 2,
  kFourierTransform = 3,
  kNonDeterministic = 4,
  kWinograd = 5,
  kWinogradOf4 = 6,
  kWinogradOf6 = 7,
  kWinogradOf13 = 8,
};
/// CUDNN_HEUR_MODE_A.
inline constexpr int kHeuristics = 3;
/// CUDNN_CROSS_CORRELATION.
inline constexpr int kCrossCorrelation = 1;

/// Statuses from this one to below kStatusInternalError say that cuDNN has no
/// such graph.
inline constexpr int kStatusNotSupported = 3000, kStatusInternalError = 4000;

} // namespace nm::cudnn

#endif // NM_SUPPORT_CUDNNLIBRARY_H
