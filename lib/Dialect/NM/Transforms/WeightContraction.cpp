//===- WeightContraction.cpp - Roles of a contraction's loops -------------===//

#include "nm/Dialect/NM/Transforms/WeightContraction.h"

#include "nm/Dialect/NM/IR/StorageShape.h"
#include "nm/Dialect/NM/Transforms/ProductBody.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::nm;
using ::nm::Error;

/// The loop behind each dimension of an operand; the map is a projected
/// permutation.
static SmallVector<unsigned> getLoops(AffineMap map) {
  SmallVector<unsigned> loops;
  for (AffineExpr result : map.getResults())
    loops.push_back(cast<AffineDimExpr>(result).getPosition());
  return loops;
}

/// Integer operands of nm ops are signed.
static bool hasUnsignedCast(linalg::LinalgOp op) {
  return llvm::any_of(op.getBlock()->getOperations(), [](Operation &inner) {
    return isa<arith::ExtUIOp, arith::UIToFPOp>(inner);
  });
}

/// Why the types of a contraction do not suit nm ops, if so.
static std::optional<Error> checkTypes(const WeightContraction &contraction) {
  auto element = [](Value value) {
    return getElementTypeOrSelf(value.getType());
  };
  Type activations = element(contraction.activations);
  Type weight = element(contraction.weight);
  Type output = element(contraction.output);
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (activations != weight)
    stream << "expected activations of the weight's element type " << weight
           << ", but got " << activations;
  else if (Type accumulator =
               mlir::nm::detail::getProductAccumulatorType(weight);
           output != accumulator &&
           (output != weight || !isa<FloatType>(weight)))
    stream << "expected an output of element type " << accumulator
           << ", but got " << output;
  else
    return std::nullopt;
  return Error{text};
}

bool mlir::nm::reducesTwoOperands(linalg::LinalgOp op) {
  return op.getNumDpsInputs() == 2 && op.getNumDpsInits() == 1 &&
         op.getNumReductionLoops() > 0 &&
         llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) {
           return map.isProjectedPermutation();
         });
}

/// What makes `op` no contraction that nm ops can take, whichever operand is
/// the weight; its body is checkProductBody's.
static std::optional<Error> checkContraction(linalg::LinalgOp op) {
  if (!op.hasPureTensorSemantics())
    return Error{"op is not on tensors"};
  if (!reducesTwoOperands(op))
    return Error{"op is not a contraction (a sum of products of two operands)"};
  if (hasUnsignedCast(op))
    return Error{"operands are unsigned, and nm takes signed integers"};
  return std::nullopt;
}

/// Whether `op` yields its one input, a matrix, with rows and columns swapped.
/// Upstream's isaTransposeOpInterface wants the output in the loops' order;
/// torch-mlir writes the input so.
static bool swapsDimensions(linalg::GenericOp op) {
  if (op.getNumDpsInputs() != 1 || op.getNumDpsInits() != 1 ||
      op.getNumLoops() != 2 || op.getNumParallelLoops() != 2)
    return false;
  Operation &last = op.getBody()->front();
  if (!isa<linalg::YieldOp>(last) ||
      last.getOperand(0) != op.getBody()->getArgument(0))
    return false;
  AffineMap input = op.getMatchingIndexingMap(op.getDpsInputOperand(0)),
            output = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  return input.isPermutation() && output.isPermutation() && input != output;
}

Value mlir::nm::getTransposedMatrix(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || type.getRank() != 2)
    return {};
  if (auto transpose = value.getDefiningOp<linalg::TransposeOp>())
    return transpose.getPermutation() == ArrayRef<int64_t>{1, 0}
               ? transpose.getInput()
               : Value();
  auto generic = value.getDefiningOp<linalg::GenericOp>();
  return generic && swapsDimensions(generic)
             ? generic.getDpsInputOperand(0)->get()
             : Value();
}

namespace {
/// A value with an encoding, and which dimension of the operand that it is, or
/// that is its transposition, is k.
struct EncodedWeight {
  Value value;
  int64_t kDim = 0;
  /// How it becomes the weight, where it is quantized.
  std::optional<QuantizedWeight> quantized;
};
} // namespace

/// `value`, or what it is dequantized from, where that has an encoding.
static EncodedWeight findUntransposed(Value value) {
  EncodedWeight weight;
  if (linalg::GenericOp op = getDequantization(value)) {
    weight.quantized = *QuantizedWeight::match(op);
    value = weight.quantized->values;
  }
  EncodingAttr encoding = getEncoding(value.getType());
  if (!encoding)
    return {};
  weight.value = value;
  weight.kDim = encoding.getDim();
  return weight;
}

/// The weight behind an operand; null if there is none.
static EncodedWeight findEncoded(Value operand) {
  EncodedWeight weight = findUntransposed(operand);
  Value source = weight.value ? Value() : getTransposedMatrix(operand);
  if (!source)
    return weight;
  weight = findUntransposed(source);
  weight.kDim = 1 - weight.kDim;
  return weight;
}

bool mlir::nm::isEncodedMatrix(Value value) {
  return bool(findEncoded(value).value);
}

::nm::Result<WeightContraction> WeightContraction::match(linalg::LinalgOp op) {
  if (std::optional<Error> error = checkContraction(op))
    return *error;
  OpOperand *lhs = op.getDpsInputOperand(0), *rhs = op.getDpsInputOperand(1);
  EncodedWeight left = findEncoded(lhs->get()), right = findEncoded(rhs->get());
  if (bool(left.value) == bool(right.value))
    return Error{left.value ? "both operands carry an #nm.encoding"
                            : "no operand carries an #nm.encoding"};
  const EncodedWeight &weight = left.value ? left : right;
  ::nm::Result<WeightContraction> contraction =
      matchWeight(op, left.value ? *lhs : *rhs, weight.kDim);
  if (contraction) {
    contraction->weight = weight.value;
    contraction->quantized = weight.quantized;
  }
  return contraction;
}

/// Sets the loops of k and n from the weight's two dimensions.
static std::optional<Error> findWeightLoops(WeightContraction &contraction,
                                            ArrayRef<unsigned> weightLoops,
                                            std::optional<int64_t> kDim) {
  auto isReduced = [&](unsigned loop) {
    return !llvm::is_contained(contraction.outputLoops, loop);
  };
  contraction.kDim = kDim ? *kDim : (isReduced(weightLoops[0]) ? 0 : 1);
  contraction.kLoop = weightLoops[contraction.kDim];
  contraction.nLoop = weightLoops[1 - contraction.kDim];
  if (!isReduced(contraction.kLoop))
    return Error{kDim ? "dimension " + std::to_string(*kDim) +
                            " of the weight, which its encoding says is k, is "
                            "not reduced"
                      : "neither dimension of the weight is reduced"};
  if (isReduced(contraction.nLoop))
    return Error{"both dimensions of the weight are reduced"};
  return std::nullopt;
}

/// Checks that activations and output have the same dimensions beside k and n.
static std::optional<Error>
checkSharedLoops(const WeightContraction &contraction) {
  SmallVector<unsigned> shared(contraction.activationLoops);
  llvm::erase(shared, contraction.kLoop);
  SmallVector<unsigned> rest(contraction.outputLoops);
  llvm::erase(rest, contraction.nLoop);
  bool same = shared.size() + 1 == contraction.activationLoops.size() &&
              !llvm::is_contained(shared, contraction.nLoop) &&
              shared.size() == rest.size() &&
              llvm::all_of(shared, [&](unsigned loop) {
                return llvm::is_contained(rest, loop);
              });
  if (same)
    return std::nullopt;
  return Error{"activations and output do not have the same dimensions beside "
               "k and n"};
}

::nm::Result<WeightContraction>
WeightContraction::matchWeight(linalg::LinalgOp op, OpOperand &weight,
                               std::optional<int64_t> kDim) {
  if (std::optional<Error> error = checkContraction(op))
    return *error;
  SmallVector<unsigned> weightLoops =
      getLoops(op.getMatchingIndexingMap(&weight));
  if (weightLoops.size() != 2)
    return Error{"expected a weight of rank 2, but got rank " +
                 std::to_string(weightLoops.size())};
  OpOperand *activations =
      op.getDpsInputOperand(weight.getOperandNumber() == 0 ? 1 : 0);
  OpOperand *output = op.getDpsInitOperand(0);

  WeightContraction contraction;
  contraction.activations = activations->get();
  contraction.weight = weight.get();
  contraction.output = output->get();
  contraction.activationLoops =
      getLoops(op.getMatchingIndexingMap(activations));
  contraction.outputLoops = getLoops(op.getMatchingIndexingMap(output));
  if (std::optional<Error> error =
          findWeightLoops(contraction, weightLoops, kDim))
    return *error;
  if (std::optional<Error> error = checkSharedLoops(contraction))
    return *error;
  if (std::optional<Error> error = checkTypes(contraction))
    return *error;
  if (std::optional<Error> error = checkProductBody(op))
    return *error;
  return contraction;
}
