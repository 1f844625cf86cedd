//===- Inputs.cpp - The arguments of a run --------------------------------===//

#include "Inputs.h"

#include "Random.h"
#include "nm/Support/Progress.h"

#include <filesystem>
#include <utility>

using namespace nm;

/// `argument 1 of @ffn`, and the file that it comes from.
static std::string place(const Function &function, size_t arg,
                         const std::string &file = "") {
  std::string text =
      "argument " + std::to_string(arg) + " of @" + function.name();
  return file.empty() ? text : text + " (" + file + ")";
}

static Error mismatch(const std::string &place, const TensorType &type,
                      const std::string &got) {
  return Error{place + ": expected " + type.str() + ", but got " + got};
}

static uint64_t seedOf(const RunOptions &options, size_t arg) {
  return uint64_t(options.randomSeed) * 1000003 + arg + 1;
}

//===----------------------------------------------------------------------===//
// Plain arguments
//===----------------------------------------------------------------------===//

/// Whether the sizes fit and the elements are of the type; bytes of an unsigned
/// file stand for other numbers than i8.
static bool fits(const NpyFile &file, const TensorType &type) {
  const Tensor &tensor = file.tensor();
  if (tensor.type != type.element || file.isUnsigned() ||
      tensor.rank() != type.rank())
    return false;
  for (int64_t d = 0; d < type.rank(); ++d)
    if (type.shape[d] != kDynamicSize && type.shape[d] != tensor.shape[d])
      return false;
  return true;
}

static std::string describe(const NpyFile &file) {
  return file.isUnsigned() ? shapeText(file.tensor().shape) + " u8"
                           : file.tensor().str();
}

Status Inputs::loadPlain(const Function &function, size_t arg,
                         const RunOptions &options) {
  const TensorType &type = function.args()[arg];
  if (arg < options.inputs.size()) {
    Result<NpyFile> file = NpyFile::open(options.inputs[arg]);
    if (!file)
      return file.error();
    if (!fits(*file, type))
      return mismatch(place(function, arg, file->path()), type,
                      describe(*file));
    tensors[arg] = file->tensor();
    files.push_back(std::move(*file));
    return Status::success();
  }
  Shape shape = type.shape;
  for (int64_t &size : shape)
    if (size == kDynamicSize)
      size = options.dynamicSize;
  Result<Buffer> buffer = Buffer::allocate(type.element, shape);
  if (!buffer)
    return Error{place(function, arg) + ": " + buffer.error().message};
  fillRandom(buffer->tensor(), seedOf(options, arg));
  tensors[arg] = buffer->tensor();
  buffers.push_back(std::move(*buffer));
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

/// The two files of VALUES,INDICES, or one file. A name with a comma in it
/// that exists is one file.
static std::pair<std::string, std::string>
splitParts(const std::string &input) {
  size_t comma = input.find(',');
  std::error_code ignored;
  if (comma == std::string::npos || std::filesystem::exists(input, ignored))
    return {input, ""};
  return {input.substr(0, comma), input.substr(comma + 1)};
}

/// The tensor of `file` as compiled code can take it, with its owner.
static Result<std::pair<Tensor, std::shared_ptr<void>>> passable(NpyFile file) {
  if (file.tensor().isPassable()) {
    auto owner = std::make_shared<NpyFile>(std::move(file));
    return std::make_pair(owner->tensor(), std::shared_ptr<void>(owner));
  }
  Result<Buffer> copy =
      Buffer::allocate(file.tensor().type, file.tensor().shape);
  if (!copy)
    return Error{file.path() + ": " + copy.error().message};
  copyTensor(file.tensor(), copy->tensor());
  auto owner = std::make_shared<Buffer>(std::move(*copy));
  return std::make_pair(owner->tensor(), std::shared_ptr<void>(owner));
}

static Result<Weight> readParts(const TensorType &type,
                                const std::string &valuesPath,
                                const std::string &indicesPath,
                                const std::string &place) {
  Result<NpyFile> values = NpyFile::open(valuesPath);
  if (!values)
    return values.error();
  Result<NpyFile> indices = NpyFile::open(indicesPath);
  if (!indices)
    return indices.error();
  if (values->isUnsigned())
    return mismatch(place + ", values", condensedValuesType(type),
                    describe(*values));
  auto ownValues = passable(std::move(*values));
  if (!ownValues)
    return ownValues.error();
  auto ownIndices = passable(std::move(*indices));
  if (!ownIndices)
    return ownIndices.error();
  Weight weight{ownValues->first, ownIndices->first, ownValues->second,
                ownIndices->second};
  if (Status status = verifyWeight(type, weight, place); !status)
    return status.error();
  return withBitmap(type, std::move(weight));
}

Result<Weight> Inputs::loadWeight(const Function &function, size_t arg,
                                  const RunOptions &options) const {
  const TensorType &type = function.args()[arg];
  if (arg >= options.inputs.size())
    return randomWeight(type, seedOf(options, arg));
  auto [first, second] = splitParts(options.inputs[arg]);
  std::string where = place(function, arg, options.inputs[arg]);
  if (!second.empty())
    return readParts(type, first, second, where);
  Result<NpyFile> file = NpyFile::open(first);
  if (!file)
    return file.error();
  if (file->isUnsigned())
    return mismatch(where, type, describe(*file));
  return compressWeight(type, file->tensor(), where);
}

//===----------------------------------------------------------------------===//
// All of them
//===----------------------------------------------------------------------===//

Status Inputs::upload(const Function &function) {
  for (const auto &[arg, tensor] : tensors) {
    Progress progress("uploading " + place(function, arg));
    Result<CudaBuffer> buffer =
        CudaBuffer::allocate(function.device(), tensor.type, tensor.shape);
    if (!buffer)
      return Error{place(function, arg) + ": " + buffer.error().message};
    // A file may be in Fortran order; the device takes rows alone.
    Result<Buffer> rows = Buffer();
    if (!tensor.isRowMajor())
      rows = copyToHost(tensor);
    if (!rows)
      return Error{place(function, arg) + ": " + rows.error().message};
    const Tensor &from = rows->tensor().data ? rows->tensor() : tensor;
    if (Status status = copyAcross(from, buffer->tensor()); !status)
      return Error{place(function, arg) + ": " + status.error().message};
    uploaded[arg] = std::move(*buffer);
  }
  return Status::success();
}

Result<Inputs> Inputs::load(const Function &function, const RunOptions &options,
                            bool keepCondensed) {
  Inputs inputs;
  inputs.count = function.args().size();
  // Weights first: they need the most memory while they are loaded.
  std::vector<Weight> parts;
  for (size_t arg = 0; arg < inputs.count; ++arg) {
    if (!function.args()[arg].encoding)
      continue;
    Progress progress("loading " + place(function, arg));
    Result<Weight> weight = inputs.loadWeight(function, arg, options);
    if (!weight)
      return weight.error();
    if (keepCondensed)
      inputs.kept[arg] = *weight;
    parts.push_back(std::move(*weight));
  }
  {
    Progress progress("packing the weights of @" + function.name());
    Result<std::vector<Weight>> packed = function.pack(std::move(parts));
    if (!packed)
      return packed.error();
    parts = std::move(*packed);
  }
  size_t next = 0;
  for (size_t arg = 0; arg < inputs.count; ++arg) {
    if (function.args()[arg].encoding) {
      inputs.weights[arg] = std::move(parts[next++]);
      continue;
    }
    Progress progress("loading " + place(function, arg));
    if (Status status = inputs.loadPlain(function, arg, options); !status)
      return status.error();
  }
  if (!function.device().isCpu())
    if (Status status = inputs.upload(function); !status)
      return status.error();
  return inputs;
}

std::vector<Argument> Inputs::arguments() const {
  std::vector<Argument> arguments;
  for (size_t arg = 0; arg < count; ++arg) {
    auto weight = weights.find(arg);
    auto device = uploaded.find(arg);
    if (weight != weights.end())
      arguments.emplace_back(weight->second);
    else if (device != uploaded.end())
      arguments.emplace_back(device->second.tensor());
    else
      arguments.emplace_back(tensors.at(arg));
  }
  return arguments;
}

Result<std::vector<Tensor>> Inputs::updated(const Function &function) {
  std::vector<Tensor> found;
  for (size_t arg = 0; arg < count; ++arg) {
    if (!function.args()[arg].isUpdated)
      continue;
    auto device = uploaded.find(arg);
    if (device == uploaded.end()) {
      found.push_back(tensors.at(arg));
      continue;
    }
    Result<Buffer> copy = copyToHost(device->second.tensor());
    if (!copy)
      return Error{place(function, arg) + ": " + copy.error().message};
    found.push_back(copy->tensor());
    buffers.push_back(std::move(*copy));
  }
  return found;
}

int64_t Inputs::bytes() const {
  int64_t sum = 0;
  for (const auto &[arg, tensor] : tensors)
    sum += tensor.bytes();
  for (const auto &[arg, weight] : weights)
    sum += weight.bytes();
  return sum;
}
