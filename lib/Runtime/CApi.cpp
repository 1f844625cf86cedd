//===- CApi.cpp - Loading and running modules from C ----------------------===//

#include "nm-c/Runtime.h"

#include "CApiTensor.h"
#include "nm/Runtime/Cuda.h"
#include "nm/Runtime/CudaMemory.h"
#include "nm/Runtime/Module.h"

#include <cmath>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

using namespace nm;

struct NmModule {
  Module module;
};

struct NmFunction {
  Function function;
  /// The module's.
  const FunctionInfo *info;
  /// Condensed weights by argument, until they are packed.
  std::map<size_t, Weight> condensed;
  /// Packed weights, one per encoded argument in order.
  std::vector<Weight> packed;
  bool isPacked = false;
  std::mutex packing;
};

struct NmCall {
  PreparedCall call;
};

static std::string place(const char *what, int64_t i) {
  return std::string(what) + " " + std::to_string(i);
}

/// Converts `count` tensors; an error says which of `what` is wrong.
static Result<std::vector<Tensor>> toTensors(const NmTensor *tensors,
                                             int64_t count, const char *what) {
  std::vector<Tensor> result;
  for (int64_t i = 0; i < count; ++i) {
    Result<Tensor> tensor = toTensor(tensors[i]);
    if (!tensor)
      return Error{place(what, i) + ": " + tensor.error().message};
    result.push_back(std::move(*tensor));
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

static std::string weightName(const NmFunction &function, int64_t arg) {
  return place("argument", arg) + " of @" + function.function.name();
}

static Status setDevice(NmFunction &function, int32_t device) {
  if (function.isPacked)
    return Error{"@" + function.function.name() +
                 ": expected the device before the weights are packed"};
  return function.function.setDevice(Device::cuda(device));
}

/// Whether argument `arg` can be given a weight now.
static Status checkEncoded(const NmFunction &function, int64_t arg) {
  const std::vector<TensorType> &args = function.function.args();
  if (arg < 0 || arg >= int64_t(args.size()))
    return Error{"@" + function.function.name() + ": expected an argument " +
                 "below " + std::to_string(args.size()) + ", but got " +
                 std::to_string(arg)};
  if (!args[arg].encoding)
    return Error{weightName(function, arg) +
                 ": expected an encoded argument, but it is " +
                 args[arg].str()};
  if (function.isPacked)
    return Error{weightName(function, arg) +
                 ": expected weights before they are packed; create another "
                 "function to give it other weights"};
  return Status::success();
}

static Status setWeight(NmFunction &function, int64_t arg,
                        const NmTensor &dense) {
  if (Status status = checkEncoded(function, arg); !status)
    return status;
  std::string name = weightName(function, arg);
  Result<Tensor> tensor = toTensor(dense);
  if (!tensor)
    return Error{name + ": " + tensor.error().message};
  Buffer copy;
  if (!tensor->device.isCpu() || !tensor->isAligned()) {
    Result<Buffer> copied = copyToHost(*tensor);
    if (!copied)
      return Error{name + ": " + copied.error().message};
    copy = std::move(*copied);
    tensor = copy.tensor();
  }
  Result<Weight> weight =
      compressWeight(function.function.args()[arg], *tensor, name);
  if (!weight)
    return weight.error();
  function.condensed[arg] = std::move(*weight);
  return Status::success();
}

/// Has `part` be `given` itself where that may be `lent` and lies as packing
/// reads it, and otherwise a copy that `owner` keeps.
static Status takePart(const Tensor &given, bool lent, Tensor &part,
                       std::shared_ptr<void> &owner) {
  if (lent && given.device.isCpu() && given.isRowMajor() &&
      given.isPassable()) {
    part = given;
    return Status::success();
  }
  Result<Buffer> copied = copyToHost(given);
  if (!copied)
    return copied.error();
  auto buffer = std::make_shared<Buffer>(std::move(*copied));
  part = buffer->tensor();
  owner = std::move(buffer);
  return Status::success();
}

static Status takeParts(const Tensor &values, const Tensor &indices, bool lent,
                        Weight &weight) {
  if (Status status = takePart(values, lent, weight.values, weight.valuesOwner);
      !status)
    return status;
  return takePart(indices, lent, weight.indices, weight.indicesOwner);
}

static Status setCondensed(NmFunction &function, int64_t arg,
                           const NmTensor &values, const NmTensor &indices,
                           bool lent) {
  if (Status status = checkEncoded(function, arg); !status)
    return status;
  std::string name = weightName(function, arg);
  NmTensor parts[] = {values, indices};
  Result<std::vector<Tensor>> tensors = toTensors(parts, 2, "part");
  if (!tensors)
    return Error{name + ": " + tensors.error().message};
  const TensorType &type = function.function.args()[arg];
  Weight weight;
  if (Status status = takeParts((*tensors)[0], (*tensors)[1], lent, weight);
      !status)
    return Error{name + ": " + status.error().message};
  if (Status status = verifyWeight(type, weight, name); !status)
    return status;
  function.condensed[arg] = std::move(weight);
  return Status::success();
}

static Status packWeights(NmFunction &function) {
  std::lock_guard<std::mutex> lock(function.packing);
  if (function.isPacked)
    return Status::success();
  std::vector<Weight> parts;
  for (size_t arg = 0; arg < function.function.args().size(); ++arg) {
    if (!function.function.args()[arg].encoding)
      continue;
    auto given = function.condensed.find(arg);
    if (given == function.condensed.end())
      return Error{weightName(function, arg) +
                   ": expected its weights, but none were given"};
    parts.push_back(given->second);
  }
  Result<std::vector<Weight>> packed = function.function.pack(std::move(parts));
  if (!packed)
    return packed.error();
  // A function that takes the condensed form as it is keeps a copy of what it
  // was lent.
  for (Weight &weight : *packed)
    if (weight.values.device.isCpu() &&
        !(weight.valuesOwner && weight.indicesOwner))
      if (Status status = takeParts(Tensor(weight.values),
                                    Tensor(weight.indices), false, weight);
          !status)
        return status;
  // Only now: what has failed for want of memory may be tried again.
  function.condensed.clear();
  function.packed = std::move(*packed);
  function.isPacked = true;
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// All arguments of a call: the plain ones given, the encoded ones from the
/// function's weights.
static Result<std::vector<Argument>>
arguments(NmFunction &function, const NmTensor *args, int64_t numArgs) {
  if (Status status = packWeights(function); !status)
    return status.error();
  Result<std::vector<Tensor>> tensors = toTensors(args, numArgs, "argument");
  if (!tensors)
    return tensors.error();
  const std::vector<TensorType> &types = function.function.args();
  size_t expected = types.size() - function.packed.size();
  if (tensors->size() != expected)
    return Error{"@" + function.function.name() + ": expected " +
                 std::to_string(expected) +
                 " arguments that are not encoded, but got " +
                 std::to_string(numArgs)};
  std::vector<Argument> result;
  size_t nextPlain = 0, nextWeight = 0;
  for (const TensorType &type : types) {
    if (type.encoding)
      result.emplace_back(function.packed[nextWeight++]);
    else
      result.emplace_back(std::move((*tensors)[nextPlain++]));
  }
  return result;
}

static Status call(NmFunction &function, const NmTensor *args, int64_t numArgs,
                   const NmTensor *results, int64_t numResults) {
  Result<std::vector<Argument>> all = arguments(function, args, numArgs);
  if (!all)
    return all.error();
  Result<std::vector<Tensor>> outputs =
      toTensors(results, numResults, "result");
  if (!outputs)
    return outputs.error();
  return function.function.call(*all, *outputs);
}

/// Tensors whose data are not known yet.
static std::vector<NmTensor> withAddresses(const NmTensor *tensors,
                                           int64_t count) {
  static char anywhere;
  std::vector<NmTensor> result(tensors, tensors + count);
  for (NmTensor &tensor : result)
    tensor.data = &anywhere;
  return result;
}

static Result<PreparedCall> prepare(NmFunction &function, const NmTensor *args,
                                    int64_t numArgs, const NmTensor *results,
                                    int64_t numResults) {
  std::vector<NmTensor> givenArgs = withAddresses(args, numArgs);
  std::vector<NmTensor> givenResults = withAddresses(results, numResults);
  Result<std::vector<Argument>> all =
      arguments(function, givenArgs.data(), numArgs);
  if (!all)
    return all.error();
  Result<std::vector<Tensor>> outputs =
      toTensors(givenResults.data(), numResults, "result");
  if (!outputs)
    return outputs.error();
  return function.function.prepare(std::move(*all), std::move(*outputs));
}

//===----------------------------------------------------------------------===//
// The C symbols
//===----------------------------------------------------------------------===//

extern "C" {

NM_RUNTIME_API void nmMessageFree(char *text) { std::free(text); }

NM_RUNTIME_API char *nmModuleLoad(const char *path, NmModule **module) {
  Result<Module> loaded = Module::load(path);
  if (!loaded)
    return copyMessage(loaded.error());
  *module = new NmModule{std::move(*loaded)};
  return nullptr;
}

NM_RUNTIME_API void nmModuleFree(NmModule *module) { delete module; }

NM_RUNTIME_API const char *nmModuleGetManifest(const NmModule *module) {
  return module->module.manifestText();
}

NM_RUNTIME_API char *nmFunctionCreate(const NmModule *module, const char *name,
                                      NmFunction **function) {
  Result<Function> found = module->module.function(name ? name : "");
  if (!found)
    return copyMessage(found.error());
  const FunctionInfo *info = &module->module.info(*found);
  *function = new NmFunction{std::move(*found), info, {}, {}, false, {}};
  return nullptr;
}

NM_RUNTIME_API void nmFunctionFree(NmFunction *function) { delete function; }

NM_RUNTIME_API int64_t nmFunctionGetNumArgs(const NmFunction *function) {
  return int64_t(function->function.args().size());
}

NM_RUNTIME_API int64_t nmFunctionGetNumResults(const NmFunction *function) {
  return int64_t(function->function.results().size());
}

NM_RUNTIME_API char *nmFunctionSetDevice(NmFunction *function, int32_t device) {
  return copyMessage(setDevice(*function, device));
}

NM_RUNTIME_API char *nmFunctionSetWeight(NmFunction *function, int64_t arg,
                                         const NmTensor *dense) {
  return copyMessage(setWeight(*function, arg, *dense));
}

NM_RUNTIME_API char *nmFunctionSetCondensedWeight(NmFunction *function,
                                                  int64_t arg,
                                                  const NmTensor *values,
                                                  const NmTensor *indices) {
  return copyMessage(setCondensed(*function, arg, *values, *indices, false));
}

NM_RUNTIME_API char *nmFunctionLendCondensedWeight(NmFunction *function,
                                                   int64_t arg,
                                                   const NmTensor *values,
                                                   const NmTensor *indices) {
  return copyMessage(setCondensed(*function, arg, *values, *indices, true));
}

NM_RUNTIME_API char *nmFunctionPackWeights(NmFunction *function) {
  return copyMessage(packWeights(*function));
}

NM_RUNTIME_API char *nmFunctionGetResultShape(NmFunction *function,
                                              const NmTensor *args,
                                              int64_t numArgs, int64_t result,
                                              int64_t *shape) {
  Result<std::vector<Argument>> all = arguments(*function, args, numArgs);
  if (!all)
    return copyMessage(all.error());
  Result<std::vector<Shape>> shapes = function->function.resultShapes(*all);
  if (!shapes)
    return copyMessage(shapes.error());
  if (result < 0 || result >= int64_t(shapes->size()))
    return copyMessage(Error{"@" + function->function.name() +
                             ": expected a result below " +
                             std::to_string(shapes->size()) + ", but got " +
                             std::to_string(result)});
  std::copy((*shapes)[result].begin(), (*shapes)[result].end(), shape);
  return nullptr;
}

NM_RUNTIME_API char *nmFunctionCall(NmFunction *function, const NmTensor *args,
                                    int64_t numArgs, const NmTensor *results,
                                    int64_t numResults) {
  return copyMessage(call(*function, args, numArgs, results, numResults));
}

NM_RUNTIME_API char *nmFunctionCallOnStream(NmFunction *function,
                                            const NmTensor *args,
                                            int64_t numArgs,
                                            const NmTensor *results,
                                            int64_t numResults, void *stream) {
  CurrentStreamScope current(stream);
  return copyMessage(call(*function, args, numArgs, results, numResults));
}

NM_RUNTIME_API int64_t nmFunctionGetNumProducts(const NmFunction *function) {
  return int64_t(function->info->ops.size());
}

NM_RUNTIME_API int nmFunctionGetProduct(const NmFunction *function,
                                        int64_t index,
                                        NmProductRecord *record) {
  if (index < 0 || index >= nmFunctionGetNumProducts(function))
    return 1;
  const OpInfo &op = function->info->ops[size_t(index)];
  const double unknown = std::nan("");
  record->op = op.op.c_str();
  record->pattern = op.pattern.c_str();
  record->m = op.m;
  record->n = op.n;
  record->k = op.k;
  record->dtype = op.dtype.c_str();
  record->strategy = op.strategy.c_str();
  record->schedule = op.schedule.c_str();
  record->source = op.source.c_str();
  record->fallsBack = op.fallsBack;
  record->reason = op.reason.c_str();
  record->estimate = op.estimate.value_or(unknown);
  record->denseEstimate = op.denseEstimate.value_or(unknown);
  record->multiplyFloor = op.multiplyFloor.value_or(unknown);
  record->memoryFloor = op.memoryFloor.value_or(unknown);
  record->sharedBytes = op.sharedBytes.value_or(-1);
  record->place = op.loc.c_str();
  record->remark = op.remark.c_str();
  return 0;
}

NM_RUNTIME_API char *nmCallCreate(NmFunction *function, const NmTensor *args,
                                  int64_t numArgs, const NmTensor *results,
                                  int64_t numResults, NmCall **call) {
  Result<PreparedCall> prepared =
      prepare(*function, args, numArgs, results, numResults);
  if (!prepared)
    return copyMessage(prepared.error());
  *call = new NmCall{std::move(*prepared)};
  return nullptr;
}

NM_RUNTIME_API void nmCallFree(NmCall *call) { delete call; }

NM_RUNTIME_API char *nmCallRun(const NmCall *call, void *const *data,
                               void *stream) {
  CurrentStreamScope current(stream);
  return copyMessage(call->call.run(data));
}
}
