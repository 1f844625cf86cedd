//===- ModelOperands.cpp - Drawn data of a linalg contraction -------------===//

#include "ModelOperands.h"

#include "CompareOutputs.h"
#include "ModelWeight.h"

#include "nm/Format/Condensed.h"
#include "nm/Format/ReferenceSpMM.h"

#include <algorithm>
#include <array>
#include <cmath>

using namespace nm;
using namespace nm::test;

/// Scales of quantized weights times this are too small to be normal numbers of
/// f16, some of them.
static constexpr double kSmallScale = 1.0 / 1024;

/// A tensor of drawn elements, times `scale`.
static Result<Buffer> drawTensor(ElementType type, const Shape &shape,
                                 Random &random, double scale = 1) {
  Result<Buffer> buffer = Buffer::allocate(type, shape);
  if (buffer)
    for (int64_t i = 0; i < buffer->tensor().elements(); ++i)
      storeFromDouble(buffer->tensor().data, type, i,
                      random.element(type) * scale);
  return buffer;
}

static void addNonFinite(const Tensor &tensor, Random &random) {
  for (auto [element, value] : random.nonFinite(tensor.type, tensor.elements()))
    storeFromDouble(tensor.data, tensor.type, element, value);
}

static std::vector<double> asDoubles(const Tensor &tensor) {
  std::vector<double> elements(tensor.elements());
  for (size_t i = 0; i < elements.size(); ++i)
    elements[i] = loadAsDouble(tensor.data, tensor.type, int64_t(i));
  return elements;
}

namespace {
/// A weight's kept elements in float64.
struct KeptWeight {
  std::vector<double> values;
  std::vector<uint8_t> indices;
};
} // namespace

static Result<KeptWeight> condense(const ModelCase &model,
                                   const Tensor &weight) {
  const Pattern &pattern = model.pattern;
  std::vector<double> dense = asDoubles(weight);
  KeptWeight kept;
  std::array<int64_t, 2> values = pattern.valueShape(model.k, model.n),
                         indices = pattern.indexShape(model.k, model.n);
  kept.values.resize(values[0] * values[1]);
  kept.indices.resize(indices[0] * indices[1]);
  if (Status status =
          compress(viewWeight(model, dense.data(), ElementType::F64), pattern,
                   "the weight", kept.values.data(), kept.indices.data());
      !status)
    return status.error();
  return kept;
}

/// Scales with which weights are at most as large as others are, times `scale`.
static Result<Buffer> drawScales(const ModelCase &model, double scale,
                                 Random &random) {
  const QuantizedCase &quantized = *model.quantized;
  double most = std::ldexp(1, 1 - int(quantized.bits));
  return drawTensor(model.type, quantized.scaleShape(model.k, model.n), random,
                    most * scale);
}

/// Makes `weight`, whose values are bytes, what it stands for.
static void dequantize(const ModelCase &model, const Tensor &scales,
                       KeptWeight &weight) {
  const Pattern &pattern = model.pattern;
  int64_t columns = pattern.paddedColumns(model.n);
  for (size_t i = 0; i < weight.values.size(); ++i) {
    // Groups are whole windows. Padding has zeros.
    int64_t row = int64_t(i) / columns / pattern.keptRows() *
                  pattern.windowRows(),
            column = std::min(int64_t(i) % columns, model.n - 1);
    double scale = loadAsDouble(
        scales.data, scales.type,
        model.quantized->scaleIndex(row, column, model.k, model.n));
    weight.values[i] = model.quantized->dequantize(int64_t(weight.values[i]),
                                                   scale, model.type);
  }
}

/// Adds a·dense, of the weights that are not zero alone.
static void addNonZeros(const ModelCase &model, const std::vector<double> &a,
                        const std::vector<double> &dense,
                        std::vector<double> &c) {
  for (int64_t k = 0; k < model.k; ++k)
    for (int64_t column = 0; column < model.n; ++column)
      if (double weight = dense[k * model.n + column]; weight != 0)
        for (int64_t row = 0; row < model.rows(); ++row)
          c[row * model.n + column] += a[row * model.k + k] * weight;
}

/// c + a·weight in float64, of kept weights alone. Of constants, and of weights
/// kept anywhere, those that are not zero are kept.
static std::vector<double> makeReference(const ModelCase &model,
                                         const std::vector<double> &a,
                                         const KeptWeight &weight,
                                         std::vector<double> c) {
  CondensedView kept{weight.values.data(),
                     weight.indices.data(),
                     ElementType::F64,
                     model.pattern,
                     model.k,
                     model.n};
  if (model.pattern.isUnstructured() || model.isConstant) {
    std::vector<double> dense(model.k * model.n);
    decompress(kept, dense.data(), model.n, 1);
    addNonZeros(model, a, dense, c);
    return c;
  }
  referenceSpMM(ActivationView::rowMajor(a.data(), ElementType::F64,
                                         model.rows(), model.k),
                kept, c.data());
  return c;
}

/// Draws what follows the product, and brings the reference up to it.
Status ModelOperands::drawEpilogue(const ModelCase &model, Random &random) {
  if (!model.epilogue)
    return Status::success();
  std::vector<std::vector<double>> values;
  for (const EpilogueCase::Operand &operand : model.epilogue->operands) {
    Result<Buffer> buffer =
        drawTensor(operand.type, model.sizes(model.loopsOf(operand)), random);
    if (!buffer)
      return buffer.error();
    values.push_back(
        operand.kind == EpilogueCase::Residual
            ? model.asMatrix(buffer->tensor(), model.outputLoops, model.nLoop())
            : asDoubles(buffer->tensor()));
    others.push_back(std::move(*buffer));
  }
  magnitudes = model.epilogue->apply(expected, model.rows(), model.n, values);
  return Status::success();
}

Result<ModelOperands> ModelOperands::draw(const ModelCase &model,
                                          Random &random, bool hasSpecials) {
  while (true) {
    double scale = hasSpecials ? random.scale(model.type) : 1;
    bool isSmall =
        model.quantized && !model.epilogue && scale == 1 && random.chance(0.2);
    Result<Buffer> a =
        drawTensor(model.type, model.activationSizes(), random, scale);
    Result<Buffer> w = drawWeight(model, random);
    Result<Buffer> c = drawTensor(
        model.outputType, model.sizes(model.outputLoops), random, scale);
    for (const Result<Buffer> *buffer : {&a, &w, &c})
      if (!*buffer)
        return buffer->error();
    if (hasSpecials)
      addNonFinite(a->tensor(), random);
    std::vector<double> activations = model.activationMatrix(a->tensor());
    Result<KeptWeight> weight = condense(model, w->tensor());
    if (!weight)
      return weight.error();
    Buffer scales;
    if (model.quantized) {
      Result<Buffer> drawn =
          drawScales(model, isSmall ? kSmallScale : 1, random);
      if (!drawn)
        return drawn.error();
      scales = std::move(*drawn);
      dequantize(model, scales.tensor(), *weight);
    }
    std::vector<double> before =
        model.asMatrix(c->tensor(), model.outputLoops, model.nLoop());
    if (model.filled)
      std::fill(before.begin(), before.end(), 0.0);
    std::vector<double> expected =
        makeReference(model, activations, *weight, before);
    weight->values = squared(std::move(weight->values));
    if (cancels(expected, makeReference(model, squared(activations), *weight,
                                        squared(before))))
      continue;
    ModelOperands operands;
    operands.activation = std::move(*a);
    operands.weight = std::move(*w);
    operands.output = std::move(*c);
    operands.expected = std::move(expected);
    if (Status status = operands.drawEpilogue(model, random); !status)
      return status.error();
    if (model.quantized)
      operands.others.push_back(std::move(scales));
    return operands;
  }
}
