//===- RunReference.cpp - A function in float64 on dense weights ----------===//

#include "RunReference.h"

#include <random>
#include <utility>

using namespace nm;

namespace {
/// The arguments of the reference, with their memory.
struct ReferenceInputs {
  std::vector<Buffer> buffers;
  std::vector<Weight> weights;
  std::vector<Argument> arguments;
};
} // namespace

/// A copy of `tensor` with elements of `type`.
static Result<Buffer> widen(const Tensor &tensor, ElementType type) {
  Result<Buffer> buffer = Buffer::allocate(type, tensor.shape);
  if (buffer)
    copyTensor(tensor, buffer->tensor());
  return buffer;
}

/// The dense tensor of an encoded argument.
static Result<Buffer> decompressAs(const TensorType &type, const Weight &weight,
                                   ElementType element) {
  Result<Buffer> buffer = Buffer::allocate(element, type.shape);
  if (!buffer)
    return buffer;
  if (Status status = decompressWeight(type, weight, buffer->tensor()); !status)
    return status.error();
  return buffer;
}

/// Moves each element by kPerturbation of it, up or down.
static void perturb(const Tensor &tensor, std::mt19937_64 &random) {
  if (!isFloat(tensor.type))
    return;
  for (int64_t i = 0, e = tensor.elements(); i < e; ++i) {
    double value = loadAsDouble(tensor.data, tensor.type, i);
    double change = random() & 1 ? kPerturbation : -kPerturbation;
    storeFromDouble(tensor.data, tensor.type, i, value * (1 + change));
  }
}

static Result<ReferenceInputs> widenInputs(const Function &function,
                                           const Function &reference,
                                           const Inputs &inputs) {
  ReferenceInputs widened;
  // Arguments point into it.
  widened.weights.reserve(function.args().size());
  for (size_t arg = 0; arg < function.args().size(); ++arg) {
    const TensorType &type = function.args()[arg];
    const TensorType &wanted = reference.args()[arg];
    bool keepsEncoding = type.encoding && wanted.encoding;
    Result<Buffer> buffer =
        !type.encoding ? widen(inputs.tensor(arg), wanted.element)
        : keepsEncoding
            ? widen(inputs.condensed().at(arg).values, wanted.element)
            : decompressAs(type, inputs.condensed().at(arg), wanted.element);
    if (!buffer)
      return buffer.error();
    widened.buffers.push_back(std::move(*buffer));
    const Tensor &tensor = widened.buffers.back().tensor();
    if (!keepsEncoding) {
      widened.arguments.emplace_back(tensor);
      continue;
    }
    Weight weight = inputs.condensed().at(arg);
    weight.values = tensor;
    widened.weights.push_back(std::move(weight));
    widened.arguments.emplace_back(widened.weights.back());
  }
  return widened;
}

Result<std::vector<Buffer>>
nm::runReference(const Module &module, const Function &function,
                 const Inputs &inputs, std::optional<uint64_t> perturbation) {
  Result<Function> reference = module.reference(function);
  if (!reference)
    return reference.error();
  Result<ReferenceInputs> widened = widenInputs(function, *reference, inputs);
  if (!widened)
    return widened.error();
  if (perturbation) {
    std::mt19937_64 random(*perturbation);
    for (const Buffer &buffer : widened->buffers)
      perturb(buffer.tensor(), random);
  }
  Result<std::vector<Shape>> shapes =
      reference->resultShapes(widened->arguments);
  if (!shapes)
    return shapes.error();
  std::vector<Buffer> buffers;
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < shapes->size(); ++i) {
    Result<Buffer> buffer =
        Buffer::allocate(reference->results()[i].element, (*shapes)[i]);
    if (!buffer)
      return buffer.error();
    tensors.push_back(buffer->tensor());
    buffers.push_back(std::move(*buffer));
  }
  if (Status status = reference->call(widened->arguments, tensors); !status)
    return status.error();
  return buffers;
}
