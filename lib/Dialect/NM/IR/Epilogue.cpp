//===- Epilogue.cpp - What a product does with its sums -------------------===//

#include "nm/Dialect/NM/IR/Epilogue.h"
#include "nm/Dialect/NM/IR/EpilogueBuilder.h"

#include "VerifyStorage.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::nm;

//===----------------------------------------------------------------------===//
// Maps
//===----------------------------------------------------------------------===//

AffineMap mlir::nm::getEpilogueMap(SparseProductOpInterface op,
                                   size_t operand) {
  return cast<AffineMapAttr>(op.getEpilogueMaps()[operand]).getValue();
}

/// The dimension of C that each loop of (batch..., m, n) runs over.
static SmallVector<int64_t> getDimsOfC(SparseProductOpInterface op) {
  SmallVector<int64_t> dims =
      llvm::to_vector(llvm::seq<int64_t>(0, op.getNumBatchDims()));
  if (std::optional<int64_t> m = op.getMDimOfC())
    dims.push_back(*m);
  dims.push_back(op.getNDimOfC());
  return dims;
}

AffineMap mlir::nm::getEpilogueMapOfC(SparseProductOpInterface op,
                                      size_t operand) {
  SmallVector<AffineExpr> dims;
  for (int64_t dim : getDimsOfC(op))
    dims.push_back(getAffineDimExpr(dim, op.getContext()));
  return getEpilogueMap(op, operand)
      .replaceDimsAndSymbols(dims, {}, dims.size(), /*numResultSyms=*/0);
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

/// (E1): the region's arguments.
static LogicalResult verifyArguments(SparseProductOpInterface op) {
  Block &body = op.getEpilogue();
  SmallVector<Type> expected = {op.getAccumulatorType()};
  for (Value operand : op.getEpilogueOperands())
    expected.push_back(cast<ShapedType>(operand.getType()).getElementType());
  if (body.getNumArguments() != expected.size())
    return op->emitOpError()
           << "expected the epilogue to take " << expected.size()
           << " arguments, the sum and an element of each operand, but got "
           << body.getNumArguments();
  for (auto [i, type] : llvm::enumerate(expected))
    if (body.getArgument(i).getType() != type)
      return op->emitOpError()
             << "expected argument " << i << " of the epilogue to be " << type
             << ", but got " << body.getArgument(i).getType();
  return success();
}

/// (E2): the map of one operand.
static LogicalResult verifyMap(SparseProductOpInterface op, size_t operand) {
  AffineMap map = getEpilogueMap(op, operand);
  auto type = cast<ShapedType>(op.getEpilogueOperands()[operand].getType());
  std::string name = "epilogue operand " + std::to_string(operand);
  int64_t loops = op.getNumOutputLoops();
  if (map.getNumDims() != loops || map.getNumSymbols() != 0 ||
      !map.isProjectedPermutation())
    return op->emitOpError()
           << "expected the map of " << name << " to take the " << loops
           << " dimensions (batch..., m, n) to distinct ones of them, but got "
           << AffineMapAttr::get(map);
  if (map.getNumResults() != type.getRank())
    return op->emitOpError()
           << "expected " << name << " to have rank " << map.getNumResults()
           << ", as its map " << AffineMapAttr::get(map) << " says, but got "
           << type;
  SmallVector<int64_t> dimsOfC = getDimsOfC(op), sizes;
  for (unsigned i = 0; i < map.getNumResults(); ++i)
    sizes.push_back(op.getCType().getDimSize(dimsOfC[map.getDimPosition(i)]));
  return verifyShape(op, name, type, sizes);
}

LogicalResult mlir::nm::verifyEpilogue(SparseProductOpInterface op) {
  size_t operands = op.getEpilogueOperands().size(),
         maps = op.getEpilogueMaps().size();
  if (!op.hasEpilogue() && operands + maps == 0)
    return success();
  if (op->getNumRegions() != 1 || op.getEpilogue().empty())
    return op->emitOpError() << "expected one epilogue, with a terminator, for "
                             << operands << " operands";
  if (maps != operands)
    return op->emitOpError() << "expected a map for each of the " << operands
                             << " epilogue operands, but got " << maps;
  for (size_t i = 0; i < operands; ++i)
    if (failed(verifyMap(op, i)))
      return failure();
  return verifyArguments(op);
}

/// Whether all types are scalars that an epilogue computes with.
static bool areScalars(TypeRange types) {
  return llvm::all_of(types, [](Type type) {
    return isa<FloatType>(type) || type.isSignlessInteger();
  });
}

bool mlir::nm::isEpilogueOp(Operation *op) {
  bool isKnown = op->hasTrait<OpTrait::ConstantLike>() ||
                 OpTrait::hasElementwiseMappableTraits(op);
  return isKnown && op->getNumRegions() == 0 && op->getNumResults() == 1 &&
         isMemoryEffectFree(op) && areScalars(op->getOperandTypes()) &&
         areScalars(op->getResultTypes());
}

// (E3).
LogicalResult mlir::nm::verifyEpilogueRegion(SparseProductOpInterface op) {
  if (!op.hasEpilogue())
    return success();
  Block &body = op.getEpilogue();
  auto yield = dyn_cast<YieldOp>(body.back());
  if (!yield)
    return op->emitOpError() << "expected the epilogue to end with nm.yield";
  Type element = op.getCType().getElementType();
  if (yield.getValue().getType() != element)
    return yield.emitOpError()
           << "expected a value of C's element type " << element << ", but got "
           << yield.getValue().getType();
  for (Operation &inner : body.without_terminator())
    if (!isEpilogueOp(&inner))
      return inner.emitOpError()
             << "has no place in an epilogue, which takes constants and "
                "elementwise scalar ops without side effects";
  return success();
}

//===----------------------------------------------------------------------===//
// Inlining
//===----------------------------------------------------------------------===//

/// `value`, a scalar, in all elements of `type`.
static Value splat(OpBuilder &builder, Location loc, VectorType type,
                   Value value) {
  TypedAttr constant;
  if (!matchPattern(value, m_Constant(&constant)))
    return vector::BroadcastOp::create(builder, loc, type, value);
  return arith::ConstantOp::create(
      builder, loc, DenseElementsAttr::get(type, Attribute(constant)));
}

Value mlir::nm::inlineElementwise(
    OpBuilder &builder, Location loc, Block &body, ValueRange arguments,
    llvm::function_ref<Value(unsigned)> getIndex) {
  auto shape = dyn_cast<VectorType>(arguments.front().getType());
  IRMapping mapping;
  mapping.map(body.getArguments(), arguments);
  // Scalars are the constants, and what comes from outside.
  auto lookup = [&](Value value) -> Value {
    Value mapped = mapping.lookupOrDefault(value);
    if (!shape || isa<VectorType>(mapped.getType()))
      return mapped;
    mapped = splat(builder, loc, shape.clone(value.getType()), mapped);
    mapping.map(value, mapped);
    return mapped;
  };
  for (Operation &op : body.without_terminator()) {
    if (op.hasTrait<OpTrait::ConstantLike>()) {
      builder.clone(op, mapping);
      continue;
    }
    if (auto index = dyn_cast<linalg::IndexOp>(op)) {
      mapping.map(index.getResult(), getIndex(index.getDim()));
      continue;
    }
    OperationState state(loc, op.getName());
    for (Value operand : op.getOperands())
      state.operands.push_back(lookup(operand));
    for (Type type : op.getResultTypes())
      state.types.push_back(shape ? Type(shape.clone(type)) : type);
    state.attributes = op.getAttrDictionary().getValue();
    mapping.map(op.getResults(), builder.create(state)->getResults());
  }
  return lookup(body.getTerminator()->getOperand(0));
}

//===----------------------------------------------------------------------===//
// Splitting
//===----------------------------------------------------------------------===//

/// A, the values, the indices, and the lists and scales, where there are any.
static SmallVector<Value> getInputs(SparseProductOpInterface op) {
  SmallVector<Value> inputs = {op.getA(), op.getValues(), op.getIndices()};
  if (op.getLists())
    inputs.push_back(op.getLists());
  if (op.getScales())
    inputs.push_back(op.getScales());
  return inputs;
}

/// A product as `op`, but of `operands`, of which an epilogue takes so many.
static OperationState createState(SparseProductOpInterface op,
                                  ValueRange operands,
                                  size_t epilogueOperands) {
  OperationState state(op.getLoc(), op->getName());
  state.addOperands(operands);
  if (isa<TensorType>(operands.back().getType()))
    state.addTypes(operands.back().getType());
  state.addAttributes(op->getAttrs());
  state.attributes.set(
      "operandSegmentSizes",
      DenseI32ArrayAttr::get(op->getContext(), {1, 1, 1, op.getLists() ? 1 : 0,
                                                op.getScales() ? 1 : 0,
                                                int32_t(epilogueOperands), 1}));
  return state;
}

OperationState mlir::nm::createProductState(SparseProductOpInterface op,
                                            ValueRange epilogueOperands,
                                            Value c) {
  SmallVector<Value> operands = getInputs(op);
  llvm::append_range(operands, epilogueOperands);
  operands.push_back(c);
  return createState(op, operands, epilogueOperands.size());
}

SparseProductOpInterface
mlir::nm::cloneWithoutEpilogue(OpBuilder &builder, SparseProductOpInterface op,
                               Value c) {
  SmallVector<Value> operands = getInputs(op);
  operands.push_back(c);
  return cloneWithoutEpilogue(builder, op, operands);
}

SparseProductOpInterface
mlir::nm::cloneWithoutEpilogue(OpBuilder &builder, SparseProductOpInterface op,
                               ArrayRef<Value> operands) {
  OperationState state = createState(op, operands, /*epilogueOperands=*/0);
  auto bare = cast<SparseProductOpInterface>(builder.create(state));
  bare.setEpilogueMapsAttr(builder.getArrayAttr({}));
  return bare;
}

bool mlir::nm::readsOneInPlace(linalg::GenericOp op) {
  return op.getNumDpsInputs() == 1 && op.getNumDpsInits() == 1 &&
         !op.payloadUsesValueFromOperand(op.getDpsInitOperand(0)) &&
         op.getNumParallelLoops() == op.getNumLoops() &&
         llvm::all_of(op.getIndexingMapsArray(),
                      [](AffineMap map) { return map.isIdentity(); });
}

bool mlir::nm::mapsElements(linalg::GenericOp op) {
  return readsOneInPlace(op) &&
         llvm::all_of(op.getBody()->without_terminator(),
                      [](Operation &inner) { return isEpilogueOp(&inner); });
}

Value mlir::nm::emitRoundedSum(OpBuilder &builder, Location loc, Value before,
                               Value sum) {
  Type accumulator = sum.getType(), element = before.getType();
  if (element != accumulator)
    before = arith::ExtFOp::create(builder, loc, accumulator, before);
  sum = isa<FloatType>(accumulator)
            ? arith::AddFOp::create(builder, loc, before, sum).getResult()
            : arith::AddIOp::create(builder, loc, before, sum).getResult();
  if (element != accumulator)
    sum = arith::TruncFOp::create(builder, loc, element, sum);
  return sum;
}

Value mlir::nm::emitSumWithC(OpBuilder &builder, Location loc,
                             SparseProductOpInterface op, Value sum,
                             function_ref<Value()> takeC) {
  Type accumulator = sum.getType(), element = op.getCType().getElementType();
  auto fill = op.getC().getDefiningOp<linalg::FillOp>();
  Attribute constant;
  bool isConstant = fill && matchPattern(fill.value(), m_Constant(&constant)) &&
                    fill.value().getType() == element;
  bool isZero = isConstant && (matchPattern(fill.value(), m_AnyZeroFloat()) ||
                               matchPattern(fill.value(), m_Zero()));
  if (isZero)
    return element == accumulator
               ? sum
               : arith::TruncFOp::create(builder, loc, element, sum)
                     .getResult();
  Value before =
      isConstant
          ? arith::ConstantOp::create(builder, loc, cast<TypedAttr>(constant))
          : takeC();
  return emitRoundedSum(builder, loc, before, sum);
}

//===----------------------------------------------------------------------===//
// Another epilogue
//===----------------------------------------------------------------------===//

EpilogueBuilder::EpilogueBuilder(RewriterBase &rewriter,
                                 SparseProductOpInterface op, Location loc,
                                 Type sumType)
    : rewriter(rewriter), op(op), loc(loc) {
  Block &body = region.emplaceBlock();
  body.addArgument(sumType, loc);
  rewriter.setInsertionPointToStart(&body);
}

Value EpilogueBuilder::addOperand(Value value, AffineMap map) {
  // A broadcast is the operand's map, and need not be made.
  if (auto broadcast = value.getDefiningOp<linalg::BroadcastOp>()) {
    SmallVector<AffineExpr> kept;
    for (auto [dim, expr] : llvm::enumerate(map.getResults()))
      if (!llvm::is_contained(broadcast.getDimensions(), int64_t(dim)))
        kept.push_back(expr);
    value = broadcast.getInput();
    map = AffineMap::get(map.getNumDims(), 0, kept, op.getContext());
  }
  operands.push_back(value);
  maps.push_back(map);
  Type element = cast<RankedTensorType>(value.getType()).getElementType();
  return region.front().addArgument(element, loc);
}

Value EpilogueBuilder::emitOwn(Value sum) {
  if (!op.hasEpilogue())
    return emitSumWithC(rewriter, loc, op, sum, [&] {
      SmallVector<int64_t> dims = getDimsOfC(op);
      SmallVector<AffineExpr> loops(dims.size());
      for (auto [loop, dim] : llvm::enumerate(dims))
        loops[size_t(dim)] = rewriter.getAffineDimExpr(unsigned(loop));
      return addOperand(op.getC(), AffineMap::get(unsigned(dims.size()), 0,
                                                  loops, op.getContext()));
    });
  SmallVector<Value> arguments = {sum};
  for (auto [i, operand] : llvm::enumerate(op.getEpilogueOperands()))
    arguments.push_back(addOperand(operand, getEpilogueMap(op, i)));
  return inlineElementwise(rewriter, loc, op.getEpilogue(), arguments);
}

SparseProductOpInterface EpilogueBuilder::create(Operation *place, Value stored,
                                                 Value c) {
  rewriter.setInsertionPointToEnd(&region.front());
  YieldOp::create(rewriter, loc, stored);
  rewriter.setInsertionPoint(place);
  OperationState state = createProductState(op, operands, c);
  state.location = loc;
  state.addRegion()->takeBody(region);
  auto product = cast<SparseProductOpInterface>(rewriter.create(state));
  product.setEpilogueMapsAttr(rewriter.getAffineMapArrayAttr(maps));
  return product;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

Type mlir::nm::getFirstRounding(SparseProductOpInterface op) {
  Type rounded;
  for (Operation *user : op.getEpilogue().getArgument(0).getUsers()) {
    auto trunc = dyn_cast<arith::TruncFOp>(user);
    if (!trunc || (rounded && trunc.getType() != rounded))
      return {};
    rounded = trunc.getType();
  }
  return rounded;
}

Type mlir::nm::getRoundedSumType(SparseProductOpInterface op) {
  Type rounded = getFirstRounding(op);
  return rounded == op.getAType().getElementType() ? rounded
                                                   : op.getAccumulatorType();
}

Value mlir::nm::createZeroSums(OpBuilder &builder, SparseProductOpInterface op,
                               Type type) {
  Location loc = op.getLoc();
  Value c = op.getC();
  if (op.getCType().getElementType() != type)
    c = tensor::EmptyOp::create(builder, loc,
                                tensor::getMixedSizes(builder, loc, c), type);
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  return linalg::FillOp::create(builder, loc, zero, c).getResult(0);
}

Value mlir::nm::applyEpilogue(OpBuilder &builder, SparseProductOpInterface op,
                              Value sums) {
  auto type = cast<RankedTensorType>(sums.getType());
  auto rank = static_cast<unsigned>(type.getRank());
  bool isInPlace = type.getElementType() == op.getCType().getElementType();
  SmallVector<Value> inputs(op.getEpilogueOperands());
  SmallVector<AffineMap> maps;
  for (size_t i = 0; i < inputs.size(); ++i)
    maps.push_back(getEpilogueMapOfC(op, i));
  maps.append(isInPlace ? 1 : 2, builder.getMultiDimIdentityMap(rank));
  if (!isInPlace)
    inputs.push_back(sums);
  Value output = isInPlace ? sums : op.getC();
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  size_t operands = op.getEpilogueOperands().size();
  auto emitBody = [&](OpBuilder &body, Location loc, ValueRange elements) {
    Value sum = elements[operands];
    if (sum.getType() != op.getAccumulatorType())
      sum = arith::ExtFOp::create(body, loc, op.getAccumulatorType(), sum);
    SmallVector<Value> arguments = {sum};
    llvm::append_range(arguments, elements.take_front(operands));
    linalg::YieldOp::create(
        body, loc, inlineElementwise(body, loc, op.getEpilogue(), arguments));
  };
  return linalg::GenericOp::create(builder, op.getLoc(), output.getType(),
                                   inputs, output, maps, iterators, emitBody)
      .getResult(0);
}

SparseProductOpInterface mlir::nm::splitEpilogue(RewriterBase &rewriter,
                                                 SparseProductOpInterface op,
                                                 Type sumType) {
  rewriter.setInsertionPoint(op);
  SparseProductOpInterface product =
      cloneWithoutEpilogue(rewriter, op, createZeroSums(rewriter, op, sumType));
  rewriter.replaceOp(op, applyEpilogue(rewriter, op, product->getResult(0)));
  return product;
}
