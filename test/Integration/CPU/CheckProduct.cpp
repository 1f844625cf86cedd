//===- CheckProduct.cpp - Products against the float64 reference ----------===//

#include "CompareOutputs.h"
#include "ProductCase.h"

#include "nm/Format/ReferenceSpMM.h"

#include <cmath>

using namespace nm;
using namespace nm::test;

namespace {
/// Condensed weights, and the bytes that the op takes for them.
struct Weights {
  std::vector<char> values;
  std::vector<uint8_t> indices;
  std::vector<char> storedValues, storedIndices, storedLists;
};
} // namespace

/// Whether the weight of a column is zero: of each five columns one has no
/// others, and one has none.
static bool drawZero(const ProductCase &product, int64_t column,
                     Random &random) {
  constexpr int64_t kFifths = 5;
  if (!product.panels || column % kFifths == 1)
    return false;
  return column % kFifths == 0 || !random.chance(product.density);
}

static Weights drawWeights(const ProductCase &product, Random &random) {
  const Pattern &pattern = product.pattern;
  Weights weights;
  int64_t count =
      pattern.condensedRows(product.k) * pattern.paddedColumns(product.n);
  weights.values.resize(count * elementSize(product.type));
  for (int64_t i = 0; i < count; ++i)
    storeFromDouble(weights.values.data(), product.type, i,
                    drawZero(product, i % product.n, random)
                        ? 0
                        : random.element(product.type));
  weights.indices = random.indices(pattern, product.k, product.n);
  if (!product.packing && !product.panels) {
    weights.storedValues = weights.values;
    weights.storedIndices.assign(weights.indices.begin(),
                                 weights.indices.end());
    return weights;
  }
  CondensedView view{weights.values.data(),
                     weights.indices.data(),
                     product.type,
                     pattern,
                     product.k,
                     product.n};
  auto elements = [](const std::vector<int64_t> &shape) {
    return shape[0] * shape[1] * shape[2];
  };
  weights.storedValues.resize(elements(product.shapeOfValues()) *
                              elementSize(product.type));
  weights.storedIndices.resize(elements(product.shapeOfIndices()));
  if (product.panels) {
    weights.storedLists.resize(elements(product.shapeOfLists()));
    packBitmapPanels(view, *product.panels, weights.storedValues.data(),
                     reinterpret_cast<uint8_t *>(weights.storedIndices.data()),
                     reinterpret_cast<uint8_t *>(weights.storedLists.data()));
    return weights;
  }
  packValues(view, *product.packing, weights.storedValues.data());
  if (product.hasLists())
    weights.storedLists.resize(weights.storedIndices.size());
  packIndices(view, *product.packing,
              reinterpret_cast<uint8_t *>(weights.storedIndices.data()),
              reinterpret_cast<uint8_t *>(weights.storedLists.data()));
  return weights;
}

/// All elements of `array` as doubles, row-major, with the last two dimensions
/// swapped if `transposed`.
static std::vector<double> asDoubles(const GuardedArray &array,
                                     bool transposed) {
  std::vector<double> elements(array.numElements());
  if (!transposed) {
    for (int64_t i = 0; i < array.numElements(); ++i)
      elements[i] = array.load(i);
    return elements;
  }
  size_t rank = array.sizes().size();
  int64_t rows = array.sizes()[rank - 2], columns = array.sizes()[rank - 1];
  for (int64_t i = 0; i < array.numElements(); ++i) {
    int64_t matrix = i / (rows * columns), inside = i % (rows * columns);
    elements[matrix * rows * columns + inside % columns * rows +
             inside / columns] = array.load(i);
  }
  return elements;
}

/// The values in condensed order, as doubles.
static std::vector<double> asDoubles(const Weights &weights, ElementType type) {
  std::vector<double> values(weights.values.size() / elementSize(type));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = loadAsDouble(weights.values.data(), type, i);
  return values;
}

/// Adds the products of the weights that are not zero.
static void addNonZeros(const ProductCase &product, const double *a,
                        const std::vector<double> &values, double *c) {
  for (int64_t row = 0; row < product.m; ++row)
    for (int64_t k = 0; k < product.k; ++k)
      for (int64_t column = 0; column < product.n; ++column)
        if (double weight = values[k * product.n + column]; weight != 0)
          c[row * product.n + column] += a[row * product.k + k] * weight;
}

/// C0 + A·B in float64, row-major [batch x m x n].
static std::vector<double> makeReference(const ProductCase &product,
                                         const std::vector<double> &a,
                                         const std::vector<double> &values,
                                         const std::vector<uint8_t> &indices,
                                         std::vector<double> c) {
  CondensedView view{values.data(),   indices.data(), ElementType::F64,
                     product.pattern, product.k,      product.n};
  for (int64_t matrix = 0; matrix < product.batchSize(); ++matrix) {
    const double *ofA = a.data() + matrix * product.m * product.k;
    double *ofC = c.data() + matrix * product.m * product.n;
    if (product.panels)
      addNonZeros(product, ofA, values, ofC);
    else
      referenceSpMM(
          ActivationView::rowMajor(ofA, ElementType::F64, product.m, product.k),
          view, ofC);
  }
  return c;
}

/// No number, where C can hold that: what has an epilogue does not read it.
static void poison(GuardedArray &array) {
  for (int64_t i = 0; i < array.numElements(); ++i)
    array.store(i, std::nan(""));
}

/// Operands of an epilogue, and what they have, with n last.
namespace {
struct EpilogueOperands {
  std::vector<GuardedArray> arrays;
  std::vector<std::vector<double>> values;
};
} // namespace

static EpilogueOperands drawEpilogueOperands(const ProductCase &product,
                                             Random &random) {
  EpilogueOperands operands;
  if (!product.epilogue)
    return operands;
  for (size_t i = 0; i < product.epilogue->operands.size(); ++i) {
    const EpilogueCase::Operand &operand = product.epilogue->operands[i];
    std::vector<int64_t> shape = product.shapeOfEpilogue(operand);
    // A scalar's descriptor starts like that of one element.
    if (shape.empty())
      shape = {1};
    operands.arrays.push_back(
        product.epilogueLayouts[i].makeArray(operand.type, shape));
    random.fill(operands.arrays.back());
    bool transposed =
        operand.kind == EpilogueCase::Residual && product.transposeResidual;
    operands.values.push_back(asDoubles(operands.arrays.back(), transposed));
  }
  return operands;
}

/// Fills A and C and draws weights whose sums do not cancel; gives the result.
static std::vector<double> drawOperands(const ProductCase &product,
                                        GuardedArray &a, GuardedArray &c,
                                        Weights &weights, Random &random) {
  while (true) {
    // What an epilogue makes of huge or infinite sums may overflow in f32 or in
    // C's type, and not in float64.
    double scale = product.epilogue ? 1 : random.scale(product.type);
    random.fill(a, scale);
    random.fill(c, scale);
    if (!product.epilogue)
      random.addNonFinite(a);
    weights = drawWeights(product, random);
    std::vector<double> activations = asDoubles(a, product.transposeA),
                        values = asDoubles(weights, product.type),
                        before = asDoubles(c, product.transposeC);
    if (product.epilogue)
      before.assign(before.size(), 0);
    std::vector<double> expected =
        makeReference(product, activations, values, weights.indices, before);
    if (!cancels(expected,
                 makeReference(product, squared(activations), squared(values),
                               weights.indices, squared(before))))
      return expected;
  }
}

std::string nm::test::checkProduct(
    const ProductCase &product, Random &random,
    const std::function<bool(const std::string &, const std::vector<void *> &)>
        &call) {
  GuardedArray a = product.layoutA.makeArray(product.type, product.shapeOfA());
  GuardedArray values =
      product.layoutValues.makeArray(product.type, product.shapeOfValues());
  GuardedArray indices = product.layoutIndices.makeArray(
      ElementType::I8, product.shapeOfIndices());
  GuardedArray lists =
      product.layoutIndices.makeArray(ElementType::I8, product.shapeOfLists());
  GuardedArray c =
      product.layoutC.makeArray(product.outputType, product.shapeOfC());
  Weights weights;
  std::vector<double> expected = drawOperands(product, a, c, weights, random);
  EpilogueOperands operands = drawEpilogueOperands(product, random);
  std::vector<double> magnitudes;
  if (product.epilogue) {
    poison(c);
    magnitudes = product.epilogue->apply(
        expected, product.batchSize() * product.m, product.n, operands.values);
  }
  std::vector<void *> descriptors = {a.descriptor(), values.descriptor(),
                                     indices.descriptor()};
  if (product.hasLists()) {
    descriptors.push_back(lists.descriptor());
    lists.setBytes(weights.storedLists);
  }
  descriptors.push_back(c.descriptor());
  for (GuardedArray &array : operands.arrays)
    descriptors.push_back(array.descriptor());
  values.setBytes(weights.storedValues);
  indices.setBytes(weights.storedIndices);
  std::vector<char> aBefore = a.bytes();

  bool called = false;
  callGuarded(product.describe(),
              [&] { called = call(product.name(), descriptors); });
  if (!called)
    return "the function could not be called";
  if (!c.surroundingsAreUntouched())
    return "memory around C was written";
  if (a.bytes() != aBefore || values.bytes() != weights.storedValues ||
      indices.bytes() != weights.storedIndices ||
      (product.hasLists() && lists.bytes() != weights.storedLists))
    return "an input was written";
  return compareOutputs(asDoubles(c, product.transposeC), expected, magnitudes,
                        toleranceOf(product.outputType));
}
