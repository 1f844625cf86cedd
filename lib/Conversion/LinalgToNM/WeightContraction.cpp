//===- WeightContraction.cpp - Roles of a contraction's loops -------------===//

#include "WeightContraction.h"

#include "nm/Dialect/NM/IR/StorageShape.h"

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

::nm::Result<WeightContraction> WeightContraction::match(linalg::LinalgOp op) {
  if (!op.hasPureTensorSemantics())
    return Error{"op is not on tensors"};
  if (!linalg::isaContractionOpInterface(op))
    return Error{"op is not a contraction (a sum of products of two operands)"};
  if (hasUnsignedCast(op))
    return Error{"operands are unsigned, and nm takes signed integers"};
  OpOperand *lhs = op.getDpsInputOperand(0), *rhs = op.getDpsInputOperand(1);
  EncodingAttr lhsEncoding = getEncoding(lhs->get().getType());
  EncodingAttr rhsEncoding = getEncoding(rhs->get().getType());
  if (bool(lhsEncoding) == bool(rhsEncoding))
    return Error{lhsEncoding ? "both operands carry an #nm.encoding"
                             : "no operand carries an #nm.encoding"};
  OpOperand *weight = lhsEncoding ? lhs : rhs;
  OpOperand *activations = lhsEncoding ? rhs : lhs;
  OpOperand *output = op.getDpsInitOperand(0);

  WeightContraction contraction;
  contraction.activations = activations->get();
  contraction.weight = weight->get();
  contraction.output = output->get();
  contraction.encoding = lhsEncoding ? lhsEncoding : rhsEncoding;
  contraction.activationLoops =
      getLoops(op.getMatchingIndexingMap(activations));
  contraction.outputLoops = getLoops(op.getMatchingIndexingMap(output));
  SmallVector<unsigned> weightLoops =
      getLoops(op.getMatchingIndexingMap(weight));
  contraction.kLoop = weightLoops[contraction.encoding.getDim()];
  contraction.nLoop = weightLoops[1 - contraction.encoding.getDim()];

  if (llvm::is_contained(contraction.outputLoops, contraction.kLoop))
    return Error{
        "dimension " + std::to_string(contraction.encoding.getDim()) +
        " of the weight, which its encoding says is k, is not reduced"};
  if (!llvm::is_contained(contraction.outputLoops, contraction.nLoop))
    return Error{"both dimensions of the weight are reduced"};
  SmallVector<unsigned> shared(contraction.activationLoops);
  llvm::erase(shared, contraction.kLoop);
  SmallVector<unsigned> rest(contraction.outputLoops);
  llvm::erase(rest, contraction.nLoop);
  if (shared.size() + 1 != contraction.activationLoops.size() ||
      llvm::is_contained(shared, contraction.nLoop) ||
      shared.size() != rest.size() || !llvm::all_of(shared, [&](unsigned loop) {
        return llvm::is_contained(rest, loop);
      }))
    return Error{
        "activations and output do not have the same dimensions beside "
        "k and n"};
  if (std::optional<Error> error = checkTypes(contraction))
    return *error;
  return contraction;
}
