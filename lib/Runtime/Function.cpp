//===- Function.cpp - Calling compiled functions --------------------------===//

#include "Cuda/SplitWeight.h"
#include "Invoke.h"
#include "RecordedError.h"
#include "nm/Runtime/CudaMemory.h"
#include "nm/Runtime/Module.h"
#include "nm/Support/Counted.h"

#include <algorithm>
#include <utility>

using namespace nm;

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

std::string Function::place(const char *what, size_t i) const {
  return std::string(what) + " " + std::to_string(i) + " of @" + functionName;
}

std::vector<const PackedWeightInfo *> Function::packedForms(size_t arg) const {
  std::vector<const PackedWeightInfo *> forms;
  if (loadTimePack)
    for (const PackedWeightInfo &info : loadTimePack->weights)
      if (info.arg == int64_t(arg))
        forms.push_back(&info);
  return forms;
}

static bool matches(const Tensor &tensor, const TensorType &type) {
  if (tensor.type != type.element || tensor.rank() != type.rank())
    return false;
  for (int64_t d = 0; d < type.rank(); ++d)
    if (type.shape[d] != kDynamicSize && type.shape[d] != tensor.shape[d])
      return false;
  return true;
}

static Error mismatch(const std::string &place, const std::string &expected,
                      const Tensor &tensor) {
  return Error{place + ": expected " + expected + ", but got " + tensor.str()};
}

static Status checkParts(const std::string &place, const char *form,
                         const Weight &weight, const TensorType &values,
                         const TensorType &indices,
                         const std::optional<TensorType> &lists = {}) {
  if (!matches(weight.values, values) || !weight.values.isPassable())
    return mismatch(place, std::string(form) + " values " + values.str(),
                    weight.values);
  if (!matches(weight.indices, indices) || !weight.indices.isPassable())
    return mismatch(place, std::string(form) + " indices " + indices.str(),
                    weight.indices);
  if (lists && !weight.lists)
    return Error{place + ": expected " + form + " lists " + lists->str() +
                 ", but got none"};
  if (!lists && weight.lists)
    return mismatch(place, std::string(form) + " weights without lists",
                    *weight.lists);
  if (lists && (!matches(*weight.lists, *lists) || !weight.lists->isPassable()))
    return mismatch(place, std::string(form) + " lists " + lists->str(),
                    *weight.lists);
  return Status::success();
}

Status Function::setDevice(const Device &device) {
  if (device.kind != runsOn.kind)
    return Error{"@" + functionName + ": expected a device like " +
                 runsOn.str() + ", for which it was compiled, but got " +
                 device.str()};
  runsOn = device;
  return chooseVariant();
}

Status Function::checkDevice(const std::string &place,
                             const Tensor &tensor) const {
  if (tensor.device == runsOn)
    return Status::success();
  return Error{place + ": expected it on " + runsOn.str() +
               ", where the function runs, but it is on " +
               tensor.device.str() + "; copy it there first"};
}

/// A copy of an argument would be updated in its place.
Status Function::checkUpdated(size_t i, const Tensor &data) const {
  const TensorType &type = signature->args[i];
  if (!type.isUpdated || data.elements() == 0)
    return Status::success();
  int64_t alignment = std::max(type.alignment, elementSize(type.element));
  if (data.isRowMajor() && uintptr_t(data.data) % uintptr_t(alignment) == 0)
    return Status::success();
  return Error{place("argument", i) + ": expected row-major memory at " +
               "multiples of " + std::to_string(alignment) +
               " bytes, which the function updates in place, but got " +
               (data.isRowMajor() ? "another address" : "strides")};
}

/// Memory that is updated is read or written by no other operand.
Status Function::checkUpdatesApart(const std::vector<Argument> &args,
                                   const std::vector<Tensor> &results) const {
  for (size_t i = 0; i < args.size(); ++i) {
    if (!signature->args[i].isUpdated)
      continue;
    auto check = [&](const std::string &other, const Tensor &tensor) -> Status {
      if (!overlap(args[i].tensor, tensor))
        return Status::success();
      return Error{place("argument", i) +
                   ": expected memory of its own, which " +
                   "the function updates in place, but it overlaps " + other};
    };
    for (size_t j = 0; j < args.size(); ++j)
      if (j != i && !args[j].weight)
        if (Status status =
                check("argument " + std::to_string(j), args[j].tensor);
            !status)
          return status;
    for (size_t j = 0; j < results.size(); ++j)
      if (Status status = check("result " + std::to_string(j), results[j]);
          !status)
        return status;
  }
  return Status::success();
}

Status Function::checkArgument(size_t i, const Argument &arg) const {
  const TensorType &type = signature->args[i];
  const Tensor &data = arg.weight ? arg.weight->values : arg.tensor;
  if (!type.encoding) {
    if (arg.weight || !matches(data, type))
      return mismatch(place("argument", i), type.str(), data);
    if (Status status = checkUpdated(i, data); !status)
      return status;
    return checkDevice(place("argument", i), data);
  }
  if (!arg.weight)
    return mismatch(place("argument", i), "the parts of " + type.str(),
                    arg.tensor);
  if (Status status = checkDevice(place("argument", i), data); !status)
    return status;
  std::vector<const PackedWeightInfo *> forms = packedForms(i);
  size_t others = std::max<size_t>(forms.size(), 1) - 1;
  if (arg.weight->otherForms.size() != others)
    return Error{place("argument", i) + ": expected " +
                 counted(others + 1, "packed form") + ", but got " +
                 std::to_string(arg.weight->otherForms.size() + 1)};
  if (forms.empty())
    return checkParts(place("argument", i), "condensed", *arg.weight,
                      condensedValuesType(type), condensedIndicesType(type));
  for (size_t form = 0; form < forms.size(); ++form) {
    const Weight &weight =
        form == 0 ? *arg.weight : arg.weight->otherForms[form - 1];
    if (Status status = checkParts(place("argument", i), "packed", weight,
                                   forms[form]->values, forms[form]->indices,
                                   forms[form]->lists);
        !status)
      return status;
  }
  return Status::success();
}

/// The size of `ref`, which the argument's type has where it is encoded.
static int64_t sizeOf(const DimRef &ref, const std::vector<Argument> &args,
                      const Signature &signature) {
  const Argument &arg = args[ref.arg];
  return arg.weight ? signature.args[ref.arg].shape[ref.dim]
                    : arg.tensor.shape[ref.dim];
}

Status Function::checkEqualDims(const std::vector<Argument> &args) const {
  for (const std::vector<DimRef> &list : *equalDims)
    for (const DimRef &ref : list) {
      int64_t expected = sizeOf(list[0], args, *signature);
      int64_t got = sizeOf(ref, args, *signature);
      if (got != expected)
        return Error{place("argument", ref.arg) + ": expected dimension " +
                     std::to_string(ref.dim) + " to be " +
                     std::to_string(expected) + ", as dimension " +
                     std::to_string(list[0].dim) + " of argument " +
                     std::to_string(list[0].arg) + " is, but got " +
                     std::to_string(got)};
    }
  return Status::success();
}

static Status checkCount(const std::string &name, const char *what,
                         size_t expected, size_t got) {
  if (expected == got)
    return Status::success();
  return Error{"@" + name + ": expected " + counted(expected, what) +
               ", but got " + std::to_string(got)};
}

Result<std::vector<Shape>>
Function::resultShapes(const std::vector<Argument> &args) const {
  if (Status status = checkCount(functionName, "argument",
                                 signature->args.size(), args.size());
      !status)
    return status.error();
  for (size_t i = 0; i < args.size(); ++i)
    if (Status status = checkArgument(i, args[i]); !status)
      return status.error();
  if (Status status = checkEqualDims(args); !status)
    return status.error();
  std::vector<Shape> shapes;
  for (const std::vector<ResultDim> &dims : signature->resultDims) {
    shapes.emplace_back();
    for (const ResultDim &dim : dims)
      shapes.back().push_back(dim.from ? sizeOf(*dim.from, args, *signature)
                                       : dim.size);
  }
  return shapes;
}

/// A result of a broadcast tensor's strides would keep one of many values.
static Status checkElementsApart(const std::string &place,
                                 const Tensor &tensor) {
  for (int64_t d = 0; d < tensor.rank(); ++d)
    if (tensor.elements() > 0 && tensor.shape[d] > 1 && tensor.strides[d] == 0)
      return Error{place +
                   ": expected elements that do not share memory, but the " +
                   std::to_string(tensor.shape[d]) + " of dimension " +
                   std::to_string(d) + " have stride 0"};
  return Status::success();
}

Status Function::checkResults(const std::vector<Shape> &shapes,
                              const std::vector<Tensor> &results) const {
  if (Status status =
          checkCount(functionName, "result", shapes.size(), results.size());
      !status)
    return status;
  for (size_t i = 0; i < results.size(); ++i) {
    TensorType expected{signature->results[i].element, shapes[i], std::nullopt};
    if (!matches(results[i], expected))
      return mismatch(place("result", i), expected.str(), results[i]);
    if (Status status = checkElementsApart(place("result", i), results[i]);
        !status)
      return status;
    if (Status status = checkDevice(place("result", i), results[i]); !status)
      return status;
  }
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// Row-major memory for a tensor that compiled code cannot take as it is, or
/// nothing where it can.
static Result<Buffer> stagingBuffer(const Tensor &tensor, bool isApart) {
  if (tensor.isPassable() && isApart)
    return Buffer();
  return Buffer::allocate(tensor.type, tensor.shape);
}

Status Function::call(const std::vector<Argument> &args,
                      const std::vector<Tensor> &results) const {
  if (noVariant)
    return *noVariant;
  Result<std::vector<Shape>> shapes = resultShapes(args);
  if (!shapes)
    return shapes.error();
  if (Status status = checkResults(*shapes, results); !status)
    return status;
  if (Status status = checkUpdatesApart(args, results); !status)
    return status;
  return runsOn.isCpu() ? callOnHost(args, results) : callOnCuda(args, results);
}

bool Function::overlapsArgument(const Tensor &result,
                                const std::vector<Argument> &args) {
  return std::any_of(args.begin(), args.end(), [&](const Argument &arg) {
    return !arg.weight && overlap(result, arg.tensor);
  });
}

Status Function::callOnHost(const std::vector<Argument> &args,
                            const std::vector<Tensor> &results) const {
  Descriptors descriptors;
  std::vector<Buffer> staged;
  auto stage = [&](const Tensor &tensor, bool isApart) -> Status {
    Result<Buffer> buffer = stagingBuffer(tensor, isApart);
    if (!buffer)
      return buffer.error();
    staged.push_back(std::move(*buffer));
    const Tensor &copy = staged.back().tensor();
    descriptors.add(copy.data ? copy : tensor);
    return Status::success();
  };
  for (const Argument &arg : args) {
    if (arg.weight) {
      descriptors.add(*arg.weight);
      continue;
    }
    if (Status status = stage(arg.tensor, /*isApart=*/true); !status)
      return status;
    if (const Tensor &copy = staged.back().tensor(); copy.data)
      copyTensor(arg.tensor, copy);
  }
  size_t firstResult = staged.size();
  for (const Tensor &result : results)
    if (Status status = stage(result, !overlapsArgument(result, args)); !status)
      return status;

  // Simulated kernels record theirs.
  ErrorCollector errors;
  Status status = invoke(entry, descriptors);
  if (status)
    status = errors.status();
  if (!status)
    return Error{"@" + functionName + ": " + status.error().message};
  for (size_t i = 0; i < results.size(); ++i)
    if (const Tensor &copy = staged[firstResult + i].tensor(); copy.data)
      copyTensor(copy, results[i]);
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Packing
//===----------------------------------------------------------------------===//

Result<std::vector<Weight>>
Function::pack(std::vector<Weight> condensed) const {
  if (noVariant)
    return *noVariant;
  Result<std::vector<Weight>> packed = packOnHost(std::move(condensed));
  if (!packed || runsOn.isCpu())
    return packed;
  for (Weight &weight : *packed) {
    Result<Weight> uploaded = uploadWeight(weight, runsOn);
    if (!uploaded)
      return Error{"weights of @" + functionName + ": " +
                   uploaded.error().message};
    weight = std::move(*uploaded);
  }
  return packed;
}

static bool isAlike(const TensorType &type, const TensorType &other) {
  return type.element == other.element && type.shape == other.shape;
}

static bool isAlike(const PackedWeightInfo &info,
                    const PackedWeightInfo &other) {
  return info.arg == other.arg && !info.layout.empty() &&
         info.layout == other.layout && isAlike(info.values, other.values) &&
         isAlike(info.indices, other.indices) &&
         info.lists.has_value() == other.lists.has_value();
}

bool Function::takesWeightsOf(const Function &other) const {
  if (noVariant || other.noVariant || runsOn != other.runsOn)
    return false;
  auto isSame = [](const TensorType &type, const TensorType &otherType) {
    return isAlike(type, otherType) &&
           type.encoding.has_value() == otherType.encoding.has_value() &&
           (!type.encoding ||
            type.encoding->str() == otherType.encoding->str());
  };
  std::vector<TensorType> encoded, otherEncoded;
  for (const TensorType &type : args())
    if (type.encoding)
      encoded.push_back(type);
  for (const TensorType &type : other.args())
    if (type.encoding)
      otherEncoded.push_back(type);
  return std::equal(encoded.begin(), encoded.end(), otherEncoded.begin(),
                    otherEncoded.end(), isSame);
}

bool Function::packsAlike(const Function &other) const {
  if (!takesWeightsOf(other))
    return false;
  if (!loadTimePack || !other.loadTimePack)
    return !loadTimePack && !other.loadTimePack;
  const std::vector<PackedWeightInfo> &infos = loadTimePack->weights;
  const std::vector<PackedWeightInfo> &others = other.loadTimePack->weights;
  return std::equal(infos.begin(), infos.end(), others.begin(), others.end(),
                    [](const PackedWeightInfo &a, const PackedWeightInfo &b) {
                      return isAlike(a, b);
                    });
}

bool Function::canMakeOf(const Function &other) const {
  if (runsOn.isCpu() || !takesWeightsOf(other) || !loadTimePack ||
      !other.loadTimePack)
    return false;
  for (size_t arg = 0; arg < args().size(); ++arg)
    if (packedForms(arg).size() > 1)
      return false;
  const std::vector<PackedWeightInfo> &infos = loadTimePack->weights;
  const std::vector<PackedWeightInfo> &others = other.loadTimePack->weights;
  return std::equal(
      infos.begin(), infos.end(), others.begin(), others.end(),
      [&](const PackedWeightInfo &to, const PackedWeightInfo &from) {
        return to.arg == from.arg &&
               cuda::canSplitWeight(args()[to.arg], from, to);
      });
}

std::vector<Weight> Function::makeOf(const std::vector<Weight> &packed) const {
  std::vector<Weight> weights;
  for (size_t arg = 0; arg < args().size(); ++arg) {
    const TensorType &type = args()[arg];
    if (!type.encoding)
      continue;
    const Weight &from = packed[weights.size()];
    Weight weight = from;
    for (const PackedWeightInfo *info : packedForms(arg)) {
      weight.values =
          Tensor(from.values.data, info->values.element, info->values.shape);
      weight.indices =
          Tensor(from.indices.data, info->indices.element, info->indices.shape);
      weight.values.device = weight.indices.device = runsOn;
      weight.madeOf = std::make_shared<const Weight>(from);
      const Pattern &pattern = type.encoding->pattern;
      weight.keptRows = pattern.condensedRows(weightRows(type));
      weight.columns = pattern.paddedColumns(weightColumns(type));
    }
    weights.push_back(std::move(weight));
  }
  return weights;
}

Result<std::vector<Weight>>
Function::packOnHost(std::vector<Weight> condensed) const {
  std::vector<size_t> encoded;
  for (size_t i = 0; i < signature->args.size(); ++i)
    if (signature->args[i].encoding)
      encoded.push_back(i);
  if (Status status =
          checkCount(functionName, "weight", encoded.size(), condensed.size());
      !status)
    return status.error();
  for (size_t i = 0; i < encoded.size(); ++i) {
    const TensorType &type = signature->args[encoded[i]];
    if (Status status =
            checkParts(place("argument", encoded[i]), "condensed", condensed[i],
                       condensedValuesType(type), condensedIndicesType(type));
        !status)
      return status.error();
  }
  if (!loadTimePack)
    return condensed;

  auto position = [&](int64_t arg) {
    size_t i = 0;
    while (int64_t(encoded[i]) != arg)
      ++i;
    return i;
  };
  Descriptors descriptors;
  for (size_t i = 0; i < loadTimePack->weights.size(); ++i)
    if (i == 0 ||
        loadTimePack->weights[i - 1].arg != loadTimePack->weights[i].arg)
      descriptors.add(condensed[position(loadTimePack->weights[i].arg)]);
  std::vector<Weight> packed;
  for (const PackedWeightInfo &info : loadTimePack->weights) {
    Result<Weight> weight =
        allocateWeight(info.values, info.indices, info.lists);
    if (!weight)
      return Error{place("argument", info.arg) + ": " + weight.error().message};
    packed.push_back(std::move(*weight));
    descriptors.add(packed.back());
  }
  if (Status status = invoke(packEntry, descriptors); !status)
    return Error{"@" + functionName + ".pack: " + status.error().message};
  // The condensed parts are freed here.
  for (size_t i = 0; i < packed.size(); ++i) {
    int64_t arg = loadTimePack->weights[i].arg;
    Weight &weight = condensed[position(arg)];
    if (i > 0 && loadTimePack->weights[i - 1].arg == arg)
      weight.otherForms.push_back(std::move(packed[i]));
    else
      weight = std::move(packed[i]);
  }
  return condensed;
}
