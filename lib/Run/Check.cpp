//===- Check.cpp - Comparing results with the reference -------------------===//

#include "Check.h"

#include "Progress.h"

#include <cmath>
#include <cstdio>
#include <limits>
#include <utility>

using namespace nm;

Difference nm::compareTensors(const Tensor &result, const Tensor &reference) {
  Difference difference;
  double squaredError = 0, squaredNorm = 0, worst = 0;
  for (int64_t i = 0, e = result.elements(); i < e; ++i) {
    double got = loadAsDouble(result.data, result.type, i);
    double expected = loadAsDouble(reference.data, reference.type, i);
    double error = got - expected;
    squaredError += error * error;
    squaredNorm += expected * expected;
    double size = std::isnan(error) ? std::numeric_limits<double>::infinity()
                                    : std::fabs(error);
    if (size > worst) {
      worst = size;
      difference.worst = i;
      difference.worstGot = got;
      difference.worstExpected = expected;
    }
  }
  if (squaredError == 0)
    difference.relativeError = 0;
  else
    difference.relativeError = std::sqrt(squaredError / squaredNorm);
  return difference;
}

double nm::defaultTolerance(ElementType type) {
  switch (type) {
  case ElementType::F64:
    return 1e-12;
  case ElementType::F32:
    return 1e-5;
  case ElementType::F16:
    return 2e-3;
  case ElementType::BF16:
    return 1e-2;
  case ElementType::F8E4M3:
    return 6e-2;
  case ElementType::I64:
  case ElementType::I32:
  case ElementType::I8:
    return 0;
  }
  return 0;
}

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

static Result<std::vector<Buffer>> runReference(const Module &module,
                                                const Function &function,
                                                const Inputs &inputs) {
  Result<Function> reference = module.reference(function);
  if (!reference)
    return reference.error();
  Result<ReferenceInputs> widened = widenInputs(function, *reference, inputs);
  if (!widened)
    return widened.error();
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

/// `[3, 17]` for the row-major position `flat`.
static std::string positionText(int64_t flat, const Shape &shape) {
  std::string text;
  Shape strides = rowMajorStrides(shape);
  for (size_t d = 0; d < shape.size(); ++d) {
    text += (d ? ", " : "") + std::to_string(flat / strides[d]);
    flat %= strides[d];
  }
  return "[" + text + "]";
}

Result<bool> nm::checkResults(const Module &module, const Function &function,
                              const Inputs &inputs,
                              const std::vector<Tensor> &results,
                              std::optional<double> tolerance) {
  Result<std::vector<Buffer>> reference = [&] {
    Progress progress("running the reference of @" + function.name());
    return runReference(module, function, inputs);
  }();
  if (!reference)
    return reference.error();
  bool allPass = true;
  for (size_t i = 0; i < results.size(); ++i) {
    const Tensor &expected = (*reference)[i].tensor();
    if (expected.shape != results[i].shape)
      return Error{"result " + std::to_string(i) + " of @" + function.name() +
                   ": expected the reference to give " + results[i].str() +
                   ", but got " + expected.str()};
    Difference difference = compareTensors(results[i], expected);
    double allowed = tolerance ? *tolerance : defaultTolerance(results[i].type);
    // Written so that a NaN fails.
    bool passes = difference.relativeError <= allowed;
    allPass &= passes;
    std::printf("check: result %zu of @%s: %s, relative error %.3g, "
                "tolerance %.3g\n",
                i, function.name().c_str(), passes ? "passed" : "FAILED",
                std::fabs(difference.relativeError), allowed);
    if (!passes)
      std::printf("  worst at %s: expected %.9g, but got %.9g\n",
                  positionText(difference.worst, results[i].shape).c_str(),
                  difference.worstExpected, difference.worstGot);
  }
  return allPass;
}
