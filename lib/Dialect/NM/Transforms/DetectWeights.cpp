//===- DetectWeights.cpp - Finds constant weights with a pattern ----------===//

#include "nm/Dialect/NM/Transforms/Phases.h"

#include "nm/Dialect/NM/IR/ConstantWeights.h"
#include "nm/Dialect/NM/IR/ElementTypes.h"
#include "nm/Dialect/NM/IR/StorageShape.h"
#include "nm/Dialect/NM/Transforms/WeightContraction.h"
#include "nm/Format/DetectPattern.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

#include <cstring>

namespace mlir::nm {
#define GEN_PASS_DEF_NMDETECTWEIGHTS
#include "nm/Dialect/NM/Transforms/Passes.h.inc"
} // namespace mlir::nm

using namespace mlir;
using namespace mlir::nm;

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

namespace {
/// The constant behind an operand, directly or through a transposition.
struct ConstantSource {
  arith::ConstantOp constant;
  bool isTransposed = false;

  explicit operator bool() { return bool(constant); }
};
} // namespace

static ConstantSource findConstant(Value value) {
  if (!isa<RankedTensorType>(value.getType()))
    return {};
  if (auto constant = value.getDefiningOp<arith::ConstantOp>())
    return {constant};
  Value source = getTransposedMatrix(value);
  if (!source)
    return {};
  return {source.getDefiningOp<arith::ConstantOp>(), /*isTransposed=*/true};
}

/// The elements of a matrix, columns first.
static std::vector<char> transposeElements(const ConstantArray &array) {
  int64_t rows = array.getType().getDimSize(0);
  int64_t columns = array.getType().getDimSize(1);
  int64_t size = ::nm::elementSize(array.getElementType());
  std::vector<char> transposed(array.getBytes().size());
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column)
      std::memcpy(transposed.data() + (column * rows + row) * size,
                  array.getBytes().data() + (row * columns + column) * size,
                  size);
  return transposed;
}

/// The constant of the encoded `type` with the elements of `source`.
static TypedAttr encodeConstant(ConstantSource source,
                                const ConstantArray &array,
                                RankedTensorType type) {
  if (source.isTransposed)
    return getConstant(type, transposeElements(array));
  Attribute value = source.constant.getValue();
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value))
    return DenseResourceElementsAttr::get(type, resource.getRawHandle());
  return cast<DenseElementsAttr>(value).reshape(type);
}

/// Names the weight in a remark.
static std::string describe(ConstantSource source) {
  std::string text;
  llvm::raw_string_ostream(text)
      << "weight '" << getConstantName(source.constant.getValue()) << "' ("
      << source.constant.getType() << ")";
  return text;
}

//===----------------------------------------------------------------------===//
// Detection
//===----------------------------------------------------------------------===//

namespace {
/// The search for patterns in the constants of `root`.
class WeightDetection {
public:
  WeightDetection(Operation *root, double minSparsity, bool byBytes)
      : root(root), minSparsity(minSparsity), byBytes(byBytes) {}

  void run();

private:
  void visit(linalg::LinalgOp op);
  void visitWeight(linalg::LinalgOp op, OpOperand &operand,
                   ConstantSource source);
  /// The constant with an encoding in which dimension `kDim` is k; null if no
  /// pattern holds. Says which, once for each weight.
  Value getEncoded(ConstantSource source, int64_t kDim);
  Value detect(ConstantSource source, int64_t kDim);
  void eraseReplaced();

  Operation *root;
  double minSparsity;
  bool byBytes;
  llvm::MapVector<std::tuple<Operation *, int, int64_t>, Value>
      encodedConstants;
};
} // namespace

/// The share of zeros from which the other weights, with half a byte for where
/// each is, take fewer bytes than dense ones.
static double findLeastShare(::nm::ElementType type) {
  constexpr double kPlaceBytes = 0.5;
  return kPlaceBytes / (kPlaceBytes + double(::nm::elementSize(type)));
}

Value WeightDetection::detect(ConstantSource source, int64_t kDim) {
  Location loc = source.constant.getLoc();
  // A remark on the op itself would print the whole constant.
  auto leaveDense = [&](const Twine &reason) {
    emitRemark(loc) << describe(source) << " stays dense: " << reason;
    return Value();
  };
  std::optional<ConstantArray> array =
      ConstantArray::get(source.constant.getValue());
  if (!array)
    return leaveDense(
        whyNoBytes(source.constant.getValue())
            .value_or("its value is not a dense or dense_resource array of at "
                      "most 4 GiB"));
  ::nm::DetectOptions options;
  options.minSparsity = minSparsity;
  // A CPU multiplies one row by half of the weights more slowly than by dense
  // weights in cache.
  constexpr double kLeastShare = 0.6;
  options.leastUnstructured =
      byBytes ? findLeastShare(array->getElementType()) : kLeastShare;
  ::nm::Detection detection = ::nm::detectPattern(
      array->getDenseView(source.isTransposed ? 1 - kDim : kDim), options);
  if (!detection.pattern)
    return leaveDense(detection.reason);
  emitRemark(loc) << describe(source) << " is taken as "
                  << (detection.pattern->isUnstructured() ? "unstructured: "
                                                          : "N:M-sparse: ")
                  << detection.reason;

  SmallVector<int64_t> shape(array->getType().getShape());
  if (source.isTransposed)
    std::swap(shape[0], shape[1]);
  auto encoding = EncodingAttr::get(
      root->getContext(),
      PatternAttr::get(root->getContext(), *detection.pattern), kDim);
  auto type =
      RankedTensorType::get(shape, array->getType().getElementType(), encoding);
  OpBuilder builder(source.constant);
  return arith::ConstantOp::create(builder, loc,
                                   encodeConstant(source, *array, type));
}

Value WeightDetection::getEncoded(ConstantSource source, int64_t kDim) {
  auto key = std::make_tuple(source.constant.getOperation(),
                             int(source.isTransposed), kDim);
  auto *it = encodedConstants.find(key);
  if (it == encodedConstants.end())
    it = encodedConstants.insert({key, detect(source, kDim)}).first;
  return it->second;
}

void WeightDetection::visitWeight(linalg::LinalgOp op, OpOperand &operand,
                                  ConstantSource source) {
  auto leaveDense = [&](const Twine &reason) {
    emitRemark(op.getLoc()) << describe(source) << " stays dense: " << reason;
  };
  Type elementType = getElementTypeOrSelf(operand.get().getType());
  if (!isWeightElementType(elementType)) {
    std::string text;
    llvm::raw_string_ostream(text) << elementType;
    return leaveDense("expected element type " + kWeightElementTypes +
                      ", but got " + text);
  }
  ::nm::Result<WeightContraction> contraction =
      WeightContraction::matchWeight(op, operand);
  if (!contraction)
    return leaveDense(contraction.error().message);
  if (Value encoded = getEncoded(source, contraction->kDim))
    operand.set(encoded);
}

void WeightDetection::visit(linalg::LinalgOp op) {
  if (!op.hasPureTensorSemantics() || !reducesTwoOperands(op))
    return;
  OpOperand *lhs = op.getDpsInputOperand(0), *rhs = op.getDpsInputOperand(1);
  // Weights that already carry an encoding need no search.
  if (isEncodedMatrix(lhs->get()) || isEncodedMatrix(rhs->get()))
    return;
  ConstantSource lhsSource = findConstant(lhs->get());
  ConstantSource rhsSource = findConstant(rhs->get());
  if (lhsSource && rhsSource) {
    emitRemark(op.getLoc()) << describe(rhsSource)
                            << " stays dense: the activations are constant too";
    return;
  }
  if (lhsSource)
    visitWeight(op, *lhs, lhsSource);
  if (rhsSource)
    visitWeight(op, *rhs, rhsSource);
}

/// Erases the constants that were replaced, and their transpositions, where
/// they have lost their last use.
void WeightDetection::eraseReplaced() {
  llvm::SetVector<Operation *> replaced;
  for (auto &[key, encoded] : encodedConstants)
    if (encoded)
      replaced.insert(std::get<0>(key));
  for (Operation *constant : replaced) {
    for (Operation *user : llvm::make_early_inc_range(constant->getUsers()))
      if (user->getNumResults() == 1 && user->use_empty() &&
          getTransposedMatrix(user->getResult(0)))
        user->erase();
    if (constant->use_empty())
      constant->erase();
  }
}

void WeightDetection::run() {
  root->walk([&](linalg::LinalgOp op) { visit(op); });
  eraseReplaced();
}

LogicalResult mlir::nm::detectWeights(Operation *root, double minSparsity,
                                      bool byBytes) {
  // Written so that NaN is refused too.
  if (!(minSparsity >= 0 && minSparsity < 1))
    return root->emitError()
           << "expected min-sparsity to be at least 0 and below 1, but got "
           << minSparsity;
  WeightDetection(root, minSparsity, byBytes).run();
  return success();
}

namespace {
struct NMDetectWeights : mlir::nm::impl::NMDetectWeightsBase<NMDetectWeights> {
  using NMDetectWeightsBase::NMDetectWeightsBase;

  void runOnOperation() override {
    if (failed(detectWeights(getOperation(), minSparsity, byBytes)))
      signalPassFailure();
  }
};
} // namespace
