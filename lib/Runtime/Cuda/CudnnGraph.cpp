//===- CudnnGraph.cpp - Graphs of operations for cuDNN --------------------===//

#include "Cuda/CudnnGraph.h"

#include <utility>

using namespace nm;
using namespace nm::cudnn;
using namespace nm::cuda;

CudnnShape CudnnShape::getContiguous(const std::vector<int64_t> &sizes) {
  CudnnShape shape{sizes, std::vector<int64_t>(sizes.size())};
  int64_t stride = 1;
  for (size_t dim = sizes.size(); dim-- > 0; stride *= sizes[dim])
    shape.strides[dim] = stride;
  return shape;
}

CudnnGraph::~CudnnGraph() {
  for (Descriptor descriptor : descriptors)
    functions.destroyDescriptor(descriptor);
}

//===----------------------------------------------------------------------===//
// Descriptors
//===----------------------------------------------------------------------===//

CudnnGraph::Descriptor CudnnGraph::create(int type) {
  if (status != 0)
    return nullptr;
  Descriptor descriptor = nullptr;
  status = functions.createDescriptor(type, &descriptor);
  if (status == 0)
    descriptors.push_back(descriptor);
  return descriptor;
}

void CudnnGraph::set(Descriptor descriptor, int name, int type, int64_t count,
                     const void *values) {
  if (status == 0)
    status = functions.setAttribute(descriptor, name, type, count, values);
}

void CudnnGraph::setDescriptor(Descriptor descriptor, int name,
                               Descriptor value) {
  set(descriptor, name, kTypeDescriptor, 1, &value);
}

void CudnnGraph::finalize(Descriptor descriptor) {
  if (status == 0)
    status = functions.finalize(descriptor);
}

CudnnGraph::Descriptor CudnnGraph::addTensor(const CudnnShape &shape, int type,
                                             int64_t id, bool isVirtual,
                                             bool isByValue) {
  Descriptor tensor = create(kTensor);
  // Kernels access 16 bytes at once.
  constexpr int64_t kAlignment = 16;
  set(tensor, kTensorDataType, kTypeDataType, 1, &type);
  auto rank = int64_t(shape.sizes.size());
  set(tensor, kTensorDimensions, kTypeInt64, rank, shape.sizes.data());
  set(tensor, kTensorStrides, kTypeInt64, rank, shape.strides.data());
  set(tensor, kTensorId, kTypeInt64, 1, &id);
  set(tensor, kTensorAlignment, kTypeInt64, 1, &kAlignment);
  set(tensor, kTensorIsVirtual, kTypeBoolean, 1, &isVirtual);
  set(tensor, kTensorIsByValue, kTypeBoolean, 1, &isByValue);
  finalize(tensor);
  return tensor;
}

CudnnGraph::Descriptor CudnnGraph::addTensor(const CudnnShape &shape, int type,
                                             int64_t id) {
  return addTensor(shape, type, id, /*isVirtual=*/false, /*isByValue=*/false);
}

CudnnGraph::Descriptor CudnnGraph::addNumber(int64_t id) {
  return addTensor({{1, 1, 1, 1}, {1, 1, 1, 1}}, kFloat, id,
                   /*isVirtual=*/false, /*isByValue=*/true);
}

CudnnGraph::Descriptor CudnnGraph::addVirtual(const CudnnShape &shape,
                                              int type) {
  return addTensor(shape, type, nextVirtual++, /*isVirtual=*/true,
                   /*isByValue=*/false);
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

void CudnnGraph::multiply(Descriptor a, Descriptor b, Descriptor c) {
  constexpr int kType = kFloat;
  Descriptor how = create(kMatmul);
  set(how, kMatmulType, kTypeDataType, 1, &kType);
  finalize(how);
  Descriptor operation = create(kOperationMatmul);
  setDescriptor(operation, kOperationMatmulA, a);
  setDescriptor(operation, kOperationMatmulB, b);
  setDescriptor(operation, kOperationMatmulC, c);
  setDescriptor(operation, kOperationMatmulOf, how);
  finalize(operation);
  operations.push_back(operation);
}

void CudnnGraph::convolve(Descriptor image, Descriptor filter,
                          Descriptor output, const CudnnSteps &steps) {
  constexpr int kType = kFloat, kMode = kCrossCorrelation;
  constexpr float kAlpha = 1, kBeta = 0;
  Descriptor how = create(kConvolution);
  set(how, kConvolutionType, kTypeDataType, 1, &kType);
  set(how, kConvolutionMode, kTypeConvolutionMode, 1, &kMode);
  auto rank = int64_t(steps.steps.size());
  set(how, kConvolutionDimensions, kTypeInt64, 1, &rank);
  auto setEach = [&](int name, const std::vector<int64_t> &values) {
    set(how, name, kTypeInt64, rank, values.data());
  };
  setEach(kConvolutionDilations, steps.dilations);
  setEach(kConvolutionSteps, steps.steps);
  setEach(kConvolutionPaddings, steps.before);
  setEach(kConvolutionPaddingsBehind, steps.behind);
  finalize(how);
  Descriptor operation = create(kOperationConvolution);
  setDescriptor(operation, kOperationConvolutionOf, how);
  setDescriptor(operation, kOperationConvolutionImage, image);
  setDescriptor(operation, kOperationConvolutionFilter, filter);
  setDescriptor(operation, kOperationConvolutionOutput, output);
  set(operation, kOperationConvolutionAlpha, kTypeFloat, 1, &kAlpha);
  set(operation, kOperationConvolutionBeta, kTypeFloat, 1, &kBeta);
  finalize(operation);
  operations.push_back(operation);
}

CudnnGraph::Descriptor CudnnGraph::createPointwise(int mode, int precision) {
  Descriptor how = create(kPointwise);
  set(how, kPointwiseModeOf, kTypePointwiseMode, 1, &mode);
  set(how, kPointwisePrecision, kTypeDataType, 1, &precision);
  return how;
}

void CudnnGraph::addPointwise(Descriptor mode, Descriptor x, Descriptor b,
                              Descriptor y, Descriptor t) {
  finalize(mode);
  Descriptor operation = create(kOperationPointwise);
  setDescriptor(operation, kOperationPointwiseOf, mode);
  setDescriptor(operation, kOperationPointwiseX, x);
  if (b)
    setDescriptor(operation, kOperationPointwiseB, b);
  setDescriptor(operation, kOperationPointwiseY, y);
  if (t)
    setDescriptor(operation, kOperationPointwiseT, t);
  finalize(operation);
  operations.push_back(operation);
}

void CudnnGraph::apply(PointwiseMode mode, Descriptor x, Descriptor b,
                       Descriptor y, Descriptor t, int precision) {
  addPointwise(createPointwise(mode, precision), x, b, y, t);
}

void CudnnGraph::generateIndex(Descriptor x, int64_t axis, Descriptor y) {
  Descriptor how = createPointwise(kGenerateIndex, kFloat);
  set(how, kPointwiseAxis, kTypeInt64, 1, &axis);
  addPointwise(how, x, nullptr, y, nullptr);
}

void CudnnGraph::reduce(ReductionOperator how, Descriptor x, Descriptor y) {
  constexpr int kType = kFloat;
  int kind = how;
  Descriptor reduction = create(kReduction);
  set(reduction, kReductionOperator, kTypeReductionOperator, 1, &kind);
  set(reduction, kReductionType, kTypeDataType, 1, &kType);
  finalize(reduction);
  Descriptor operation = create(kOperationReduction);
  setDescriptor(operation, kOperationReductionX, x);
  setDescriptor(operation, kOperationReductionY, y);
  setDescriptor(operation, kOperationReductionOf, reduction);
  finalize(operation);
  operations.push_back(operation);
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

/// Adds the configurations of kernels for `graph`, the fastest by estimate
/// first.
void CudnnGraph::findConfigs(Descriptor graph, int mode,
                             std::vector<Descriptor> &configs) {
  // Most of those for f32 round operands to TensorFloat-32.
  constexpr int64_t kMost = 64;
  Descriptor heuristics = create(kEngineHeuristics);
  setDescriptor(heuristics, kHeuristicsGraph, graph);
  set(heuristics, kHeuristicsMode, kTypeHeuristicsMode, 1, &mode);
  finalize(heuristics);
  std::vector<Descriptor> more;
  for (int64_t i = 0; i < kMost; ++i)
    more.push_back(create(kEngineConfig));
  int64_t found = 0;
  if (status == 0)
    status =
        functions.getAttribute(heuristics, kHeuristicsResults, kTypeDescriptor,
                               kMost, &found, more.data());
  if (status == 0)
    configs.insert(configs.end(), more.begin(), more.begin() + found);
}

/// What the engine of `config` does to numbers.
unsigned CudnnGraph::getNotes(Descriptor config) {
  constexpr int64_t kMost = 32;
  Descriptor engine = create(kEngine);
  int notes[kMost] = {};
  int64_t count = 0;
  if (status == 0)
    status = functions.getAttribute(config, kConfigEngine, kTypeDescriptor, 1,
                                    &count, &engine);
  if (status == 0)
    status = functions.getAttribute(engine, kEngineNotes, kTypeNumericalNote,
                                    kMost, &count, notes);
  unsigned all = 0;
  for (int64_t i = 0; status == 0 && i < count; ++i)
    all |= 1U << unsigned(notes[i]);
  return all;
}

int CudnnGraph::build(Functions::Handle handle, unsigned notes) {
  Descriptor graph = create(kOperationGraph);
  set(graph, kGraphOperations, kTypeDescriptor, int64_t(operations.size()),
      operations.data());
  set(graph, kGraphHandle, kTypeHandle, 1, &handle);
  finalize(graph);
  std::vector<Descriptor> configs;
  findConfigs(graph, kHeuristics, configs);
  if (status == 0 && configs.empty())
    return status = kStatusNotSupported;
  // Not all that are found can be built.
  int refusal = status == 0 ? kStatusNotSupported : status;
  for (Descriptor config : configs) {
    status = 0;
    if (notes != 0 && (getNotes(config) & notes) != 0)
      continue;
    Descriptor built = create(kExecutionPlan);
    set(built, kPlanHandle, kTypeHandle, 1, &handle);
    setDescriptor(built, kPlanConfig, config);
    finalize(built);
    int64_t count = 0;
    if (status == 0)
      status = functions.getAttribute(built, kPlanWorkspaceSize, kTypeInt64, 1,
                                      &count, &workspaceBytes);
    refusal = status;
    if (status != 0)
      continue;
    plan = built;
    return 0;
  }
  return status = refusal;
}

int CudnnGraph::execute(Functions::Handle handle,
                        const std::vector<int64_t> &ids,
                        std::vector<void *> pointers, void *workspace) {
  Descriptor pack = nullptr;
  int code = functions.createDescriptor(kVariantPack, &pack);
  if (code != 0)
    return code;
  auto setPack = [&](int name, int type, int64_t count, const void *values) {
    if (code == 0)
      code = functions.setAttribute(pack, name, type, count, values);
  };
  setPack(kPackPointers, kTypeVoidPointer, int64_t(pointers.size()),
          pointers.data());
  setPack(kPackIds, kTypeInt64, int64_t(ids.size()), ids.data());
  setPack(kPackWorkspace, kTypeVoidPointer, 1, &workspace);
  if (code == 0)
    code = functions.finalize(pack);
  if (code == 0)
    code = functions.execute(handle, plan, pack);
  functions.destroyDescriptor(pack);
  return code;
}
