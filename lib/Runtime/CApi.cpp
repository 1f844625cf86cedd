//===- CApi.cpp - Loading and running modules from C ----------------------===//

#include "nm-c/Runtime.h"

#include "CApiFunction.h"
#include "CApiTensor.h"
#include "Cuda/CaptureKeep.h"
#include "nm/Runtime/Cuda.h"
#include "nm/Runtime/CudaMemory.h"
#include "nm/Runtime/Module.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

using namespace nm;

static std::string place(const char *what, int64_t i) {
  return std::string(what) + " " + std::to_string(i);
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
  Result<Tensor> valuesTensor = toTensor(values);
  if (!valuesTensor)
    return Error{name + ": values: " + valuesTensor.error().message};
  Result<Tensor> indicesTensor = toTensor(indices);
  if (!indicesTensor)
    return Error{name + ": indices: " + indicesTensor.error().message};
  const TensorType &type = function.function.args()[arg];
  Weight weight;
  if (Status status = takeParts(*valuesTensor, *indicesTensor, lent, weight);
      !status)
    return Error{name + ": " + status.error().message};
  if (Status status = verifyWeight(type, weight, name); !status)
    return status;
  Result<Weight> whole = withBitmap(type, std::move(weight));
  if (!whole)
    return Error{name + ": " + whole.error().message};
  function.condensed[arg] = std::move(*whole);
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

/// Returns whether the weights are shared now.
static Result<bool> shareWeights(NmFunction &function, NmFunction &other) {
  if (&function == &other)
    return true;
  std::scoped_lock<std::mutex, std::mutex> lock(function.packing,
                                                other.packing);
  if (function.isPacked)
    return Error{"@" + function.function.name() +
                 ": expected a function without packed weights"};
  if (!other.isPacked || !function.function.packsAlike(other.function))
    return false;
  function.condensed.clear();
  function.packed = other.packed;
  function.isPacked = true;
  return true;
}

/// Returns whether calls of `function` make its weights now.
static Result<bool> makeWeights(NmFunction &function, NmFunction &other) {
  if (&function == &other)
    return false;
  std::scoped_lock<std::mutex, std::mutex> lock(function.packing,
                                                other.packing);
  if (function.isPacked)
    return Error{"@" + function.function.name() +
                 ": expected a function without packed weights"};
  bool isMade = std::any_of(
      other.packed.begin(), other.packed.end(),
      [](const Weight &weight) { return weight.madeOf != nullptr; });
  if (!other.isPacked || isMade || !function.function.canMakeOf(other.function))
    return false;
  function.condensed.clear();
  function.packed = function.function.makeOf(other.packed);
  function.isPacked = true;
  return true;
}

static NmTensor describe(const Tensor &tensor) {
  return {tensor.data,
          NmElementType(tensor.type),
          int32_t(tensor.rank()),
          tensor.shape.data(),
          nullptr,
          tensor.device.isCpu() ? NM_CPU : NM_CUDA,
          tensor.device.ordinal};
}

/// Returns how many parts there are.
static Result<int32_t> getPackedWeight(NmFunction &function, int64_t arg,
                                       NmTensor *parts) {
  const std::vector<TensorType> &args = function.function.args();
  if (arg < 0 || arg >= int64_t(args.size()) || !args[arg].encoding)
    return Error{"@" + function.function.name() +
                 ": expected the number of an encoded argument, but got " +
                 std::to_string(arg)};
  std::lock_guard<std::mutex> lock(function.packing);
  if (!function.isPacked)
    return Error{weightName(function, arg) + ": expected packed weights"};
  size_t place = 0;
  for (int64_t i = 0; i < arg; ++i)
    place += args[i].encoding.has_value();
  const Weight &own = function.packed[place];
  const Weight &weight = own.madeOf ? *own.madeOf : own;
  parts[0] = describe(weight.values);
  parts[1] = describe(weight.indices);
  if (!weight.lists)
    return 2;
  parts[2] = describe(*weight.lists);
  return 3;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// Refuses an array of another number of tensors than `expected`, which are
/// `what`, before any is read.
static Status checkArray(const NmFunction &function, const NmTensor *tensors,
                         int64_t count, size_t expected,
                         const std::string &what) {
  std::string error = "@" + function.function.name() + ": expected " +
                      std::to_string(expected) + " " + what + ", but got ";
  if (count != int64_t(expected))
    return Error{error + std::to_string(count)};
  if (!tensors && count > 0)
    return Error{error + "NULL"};
  return Status::success();
}

/// All arguments of a call: the plain ones given, the encoded ones from the
/// function's weights. An error names an argument by its place among all of
/// them.
static Result<std::vector<Argument>>
arguments(NmFunction &function, const NmTensor *args, int64_t numArgs) {
  if (Status status = packWeights(function); !status)
    return status.error();
  const std::vector<TensorType> &types = function.function.args();
  size_t expected = types.size() - function.packed.size();
  if (Status status = checkArray(function, args, numArgs, expected,
                                 "arguments that are not encoded");
      !status)
    return status.error();
  std::vector<Argument> result;
  size_t nextPlain = 0, nextWeight = 0;
  for (size_t i = 0; i < types.size(); ++i) {
    if (types[i].encoding) {
      result.emplace_back(function.packed[nextWeight++]);
      continue;
    }
    Result<Tensor> tensor = toTensor(args[nextPlain++]);
    if (!tensor)
      return Error{place("argument", int64_t(i)) + " of @" +
                   function.function.name() + ": " + tensor.error().message};
    result.emplace_back(std::move(*tensor));
  }
  return result;
}

static Result<std::vector<Tensor>>
toResults(const NmFunction &function, const NmTensor *results, int64_t count) {
  size_t expected = function.function.results().size();
  if (Status status = checkArray(function, results, count, expected, "results");
      !status)
    return status.error();
  std::vector<Tensor> tensors;
  for (int64_t i = 0; i < count; ++i) {
    Result<Tensor> tensor = toTensor(results[i]);
    if (!tensor)
      return Error{place("result", i) + " of @" + function.function.name() +
                   ": " + tensor.error().message};
    tensors.push_back(std::move(*tensor));
  }
  return tensors;
}

static Status call(NmFunction &function, const NmTensor *args, int64_t numArgs,
                   const NmTensor *results, int64_t numResults) {
  Result<std::vector<Argument>> all = arguments(function, args, numArgs);
  if (!all)
    return all.error();
  Result<std::vector<Tensor>> outputs =
      toResults(function, results, numResults);
  if (!outputs)
    return outputs.error();
  return function.function.call(*all, *outputs);
}

/// The first of the tensors that a function takes, whose data are not known
/// yet; none where there are not as many as it takes.
static std::vector<NmTensor> withAddresses(const NmTensor *tensors,
                                           int64_t count, size_t most) {
  static char anywhere;
  if (!tensors || count < 0 || size_t(count) > most)
    return {};
  std::vector<NmTensor> result(tensors, tensors + count);
  for (NmTensor &tensor : result)
    tensor.data = &anywhere;
  return result;
}

static Result<PreparedCall> prepare(NmFunction &function, const NmTensor *args,
                                    int64_t numArgs, const NmTensor *results,
                                    int64_t numResults) {
  std::vector<NmTensor> givenArgs =
      withAddresses(args, numArgs, function.function.args().size());
  std::vector<NmTensor> givenResults =
      withAddresses(results, numResults, function.function.results().size());
  Result<std::vector<Argument>> all = arguments(
      function, givenArgs.empty() ? nullptr : givenArgs.data(), numArgs);
  if (!all)
    return all.error();
  Result<std::vector<Tensor>> outputs =
      toResults(function, givenResults.empty() ? nullptr : givenResults.data(),
                numResults);
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
  if (char *message =
          refuseNull({{"a path", path}, {"a place for the module", module}}))
    return message;
  Result<Module> loaded = Module::load(path);
  if (!loaded)
    return copyMessage(loaded.error());
  *module = new NmModule{std::move(*loaded)};
  return nullptr;
}

NM_RUNTIME_API void nmModuleFree(NmModule *module) { delete module; }

NM_RUNTIME_API const char *nmModuleGetManifest(const NmModule *module) {
  return module ? module->module.manifestText() : nullptr;
}

NM_RUNTIME_API const void *nmModuleGetContents(const NmModule *module,
                                               size_t *size) {
  std::string_view contents;
  if (module)
    contents = module->module.contents();
  if (size)
    *size = contents.size();
  return contents.data();
}

NM_RUNTIME_API char *nmFunctionCreate(const NmModule *module, const char *name,
                                      NmFunction **function) {
  if (char *message = refuseNull(
          {{"a module", module}, {"a place for the function", function}}))
    return message;
  Result<Function> found = module->module.function(name ? name : "");
  if (!found)
    return copyMessage(found.error());
  const FunctionInfo *info = &module->module.info(*found);
  *function = new NmFunction{std::move(*found), info, {}, {}, false, {}};
  return nullptr;
}

NM_RUNTIME_API void nmFunctionFree(NmFunction *function) {
  delete function;
  cuda::freeUnkept();
}

NM_RUNTIME_API int64_t nmFunctionGetNumArgs(const NmFunction *function) {
  return function ? int64_t(function->function.args().size()) : -1;
}

NM_RUNTIME_API int64_t nmFunctionGetNumResults(const NmFunction *function) {
  return function ? int64_t(function->function.results().size()) : -1;
}

NM_RUNTIME_API char *nmFunctionGetArgument(const NmFunction *function,
                                           int64_t arg, NmArgument *argument) {
  if (char *message = refuseNull(
          {{"a function", function}, {"an argument to write", argument}}))
    return message;
  const std::vector<TensorType> &args = function->function.args();
  if (arg < 0 || arg >= int64_t(args.size()))
    return copyMessage(Error{
        "@" + function->function.name() + ": expected an argument below " +
        std::to_string(args.size()) + ", but got " + std::to_string(arg)});
  const TensorType &type = args[arg];
  *argument = {NmElementType(type.element), int32_t(type.rank()),
               type.shape.data(), type.encoding.has_value(), type.isUpdated};
  return nullptr;
}

NM_RUNTIME_API char *nmFunctionSetDevice(NmFunction *function, int32_t device) {
  if (char *message = refuseNull({{"a function", function}}))
    return message;
  return copyMessage(setDevice(*function, device));
}

NM_RUNTIME_API char *nmFunctionSetWeight(NmFunction *function, int64_t arg,
                                         const NmTensor *dense) {
  if (char *message =
          refuseNull({{"a function", function}, {"dense weights", dense}}))
    return message;
  return copyMessage(setWeight(*function, arg, *dense));
}

NM_RUNTIME_API char *nmFunctionSetCondensedWeight(NmFunction *function,
                                                  int64_t arg,
                                                  const NmTensor *values,
                                                  const NmTensor *indices) {
  if (char *message = refuseNull(
          {{"a function", function}, {"values", values}, {"indices", indices}}))
    return message;
  return copyMessage(setCondensed(*function, arg, *values, *indices, false));
}

NM_RUNTIME_API char *nmFunctionLendCondensedWeight(NmFunction *function,
                                                   int64_t arg,
                                                   const NmTensor *values,
                                                   const NmTensor *indices) {
  if (char *message = refuseNull(
          {{"a function", function}, {"values", values}, {"indices", indices}}))
    return message;
  return copyMessage(setCondensed(*function, arg, *values, *indices, true));
}

NM_RUNTIME_API char *nmFunctionPackWeights(NmFunction *function) {
  if (char *message = refuseNull({{"a function", function}}))
    return message;
  return copyMessage(packWeights(*function));
}

/// Writes what `take` answers, whether `function` takes weights of `other`.
static char *takeWeights(NmFunction *function, NmFunction *other,
                         int32_t *answer,
                         Result<bool> (*take)(NmFunction &, NmFunction &)) {
  if (char *message = refuseNull({{"a function", function},
                                  {"another function", other},
                                  {"a place for the answer", answer}}))
    return message;
  Result<bool> taken = take(*function, *other);
  if (!taken)
    return copyMessage(taken.error());
  *answer = *taken;
  return nullptr;
}

NM_RUNTIME_API char *nmFunctionShareWeights(NmFunction *function,
                                            NmFunction *other,
                                            int32_t *shared) {
  return takeWeights(function, other, shared, shareWeights);
}

NM_RUNTIME_API char *nmFunctionMakeWeights(NmFunction *function,
                                           NmFunction *other, int32_t *made) {
  return takeWeights(function, other, made, makeWeights);
}

NM_RUNTIME_API char *nmFunctionGetPackedWeight(NmFunction *function,
                                               int64_t arg, NmTensor parts[3],
                                               int32_t *count) {
  if (char *message = refuseNull({{"a function", function},
                                  {"a place for the parts", parts},
                                  {"a place for their number", count}}))
    return message;
  Result<int32_t> found = getPackedWeight(*function, arg, parts);
  if (!found)
    return copyMessage(found.error());
  *count = *found;
  return nullptr;
}

NM_RUNTIME_API char *nmFunctionGetResultShape(NmFunction *function,
                                              const NmTensor *args,
                                              int64_t numArgs, int64_t result,
                                              int64_t *shape) {
  if (char *message = refuseNull(
          {{"a function", function}, {"a place for the shape", shape}}))
    return message;
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
  if (char *message = refuseNull({{"a function", function}}))
    return message;
  return copyMessage(call(*function, args, numArgs, results, numResults));
}

NM_RUNTIME_API char *nmFunctionCallOnStream(NmFunction *function,
                                            const NmTensor *args,
                                            int64_t numArgs,
                                            const NmTensor *results,
                                            int64_t numResults, void *stream) {
  if (char *message = refuseNull({{"a function", function}}))
    return message;
  CurrentStreamScope current(stream);
  return copyMessage(call(*function, args, numArgs, results, numResults));
}

NM_RUNTIME_API char *nmCallCreate(NmFunction *function, const NmTensor *args,
                                  int64_t numArgs, const NmTensor *results,
                                  int64_t numResults, NmCall **call) {
  if (char *message = refuseNull(
          {{"a function", function}, {"a place for the call", call}}))
    return message;
  Result<PreparedCall> prepared =
      prepare(*function, args, numArgs, results, numResults);
  if (!prepared)
    return copyMessage(prepared.error());
  *call = new NmCall{std::move(*prepared), function->info,
                     function->function.device(),
                     size_t(numArgs) + size_t(numResults), nullptr};
  return nullptr;
}

NM_RUNTIME_API void nmCallFree(NmCall *call) { delete call; }

NM_RUNTIME_API char *nmCallRun(const NmCall *call, void *const *data,
                               void *stream) {
  if (char *message = refuseNull({{"a call", call}, {"addresses", data}}))
    return message;
  CurrentStreamScope current(stream);
  if (!call->graphs)
    return copyMessage(call->call.run(data));
  return copyMessage(call->graphs->run(data, call->numAddresses,
                                       [&] { return call->call.run(data); }));
}

NM_RUNTIME_API char *nmCallKeepGraphs(NmCall *call, int64_t most) {
  if (char *message = refuseNull({{"a call", call}}))
    return message;
  if (call->device.isCpu())
    return copyMessage(Error{"expected a function that runs on a CUDA device "
                             "with graphs, but this one runs on cpu"});
  if (most < 0)
    return copyMessage(
        Error{"expected 0 graphs or more, but got " + std::to_string(most)});
  call->graphs = most == 0
                     ? nullptr
                     : std::make_unique<CallGraphs>(call->device, size_t(most));
  return nullptr;
}
}
