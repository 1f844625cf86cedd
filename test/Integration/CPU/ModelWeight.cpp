//===- ModelWeight.cpp - The weight of a drawn contraction ----------------===//

#include "ModelWeight.h"

#include "nm/Format/Prune.h"

#include <utility>

using namespace nm;
using namespace nm::test;

/// Streams of draws of constants.
static constexpr uint64_t kConstants = 9000000;

DenseView nm::test::viewWeight(const ModelCase &model, const void *data,
                               ElementType type) {
  bool kFirst = model.weightDim == 0;
  return {
      data, type, model.k, model.n, kFirst ? model.n : 1, kFirst ? 1 : model.k};
}

static Result<Buffer> drawPruned(const ModelCase &model, Random &random) {
  Shape shape = {model.k, model.n};
  if (model.weightDim == 1)
    std::swap(shape[0], shape[1]);
  ElementType type = model.weightType();
  Result<Buffer> buffer = Buffer::allocate(type, shape);
  if (!buffer)
    return buffer;
  void *data = buffer->tensor().data;
  for (int64_t i = 0; i < buffer->tensor().elements(); ++i)
    storeFromDouble(data, type, i,
                    model.quantized ? double(model.quantized->drawValue(random))
                                    : random.element(type));
  prune(viewWeight(model, data, type), model.pattern, data);
  return buffer;
}

Result<Buffer> nm::test::drawWeight(const ModelCase &model, Random &random) {
  if (!model.isConstant)
    return drawPruned(model, random);
  Random own(kConstants + uint64_t(model.number));
  return drawPruned(model, own);
}
