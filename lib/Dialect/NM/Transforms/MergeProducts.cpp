//===- MergeProducts.cpp - Products that share A to one product -----------===//

#include "nm/Dialect/NM/Transforms/Passes.h"

#include "nm/Dialect/NM/IR/ConstantWeights.h"
#include "nm/Dialect/NM/IR/Contractions.h"
#include "nm/Dialect/NM/IR/Epilogue.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::nm {
#define GEN_PASS_DEF_NMMERGEPRODUCTS
#include "nm/Dialect/NM/Transforms/Passes.h.inc"
} // namespace mlir::nm

using namespace mlir;
using namespace mlir::nm;

/// Columns of a result start at multiples of as many bytes, which vectors and
/// bulk copies access at once.
static constexpr int64_t kSliceBytes = 16;
/// The widest block that a pattern has.
static constexpr int64_t kMostWidth = 65536;

/// Whether all weights are kept, so that the block says nothing.
static bool isDense(SparseProductOpInterface op) {
  PatternAttr pattern = op.getPatternAttr();
  return pattern.getN() == pattern.getM() && pattern.getBk() == 1 &&
         pattern.getBn() == op.getStaticN();
}

//===----------------------------------------------------------------------===//
// What can be merged
//===----------------------------------------------------------------------===//

/// Whether each dimension of the result is one of the source, beside dimensions
/// of one element: rows and columns stay apart.
static bool dropsUnitDims(tensor::CollapseShapeOp collapse) {
  ArrayRef<int64_t> shape = collapse.getSrcType().getShape();
  return llvm::all_of(collapse.getReassociationIndices(),
                      [&](const auto &group) {
                        return llvm::count_if(group, [&](int64_t dim) {
                                 return shape[dim] != 1;
                               }) <= 1;
                      });
}

/// Whether what reads `value` reads a slice of columns at no cost. Columns of
/// one row are contiguous, whatever shape they take.
static bool canBeSlice(Value value, bool isOneRow) {
  return llvm::all_of(value.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    auto collapse = dyn_cast<tensor::CollapseShapeOp>(user);
    if (isa<tensor::ExpandShapeOp, tensor::ExtractSliceOp>(user) ||
        (collapse && (isOneRow || dropsUnitDims(collapse))))
      return canBeSlice(user->getResult(0), isOneRow);
    if (auto product = dyn_cast<SparseProductOpInterface>(user))
      return llvm::is_contained(product.getEpilogueOperands(), use.get()) &&
             product.getA() != use.get() && product.getC() != use.get();
    if (auto scatter = dyn_cast<tensor::ScatterOp>(user))
      return &use == &scatter->getOpOperand(0);
    auto writer = dyn_cast<DestinationStyleOpInterface>(user);
    if (writer && writer.isDpsInit(&use))
      return false;
    return isa<linalg::LinalgOp, AttentionOp, ContractOp, tensor::DimOp,
               tensor::ExtractOp>(user);
  });
}

/// The constant that all of C has; null where C is read and has none.
static Attribute getFill(SparseProductOpInterface op) {
  auto fill = op.getC().getDefiningOp<linalg::FillOp>();
  Attribute constant;
  if (!fill || !matchPattern(fill.value(), m_Constant(&constant)))
    return {};
  return constant;
}

/// Whether the product may be one of several, whatever the others are.
static bool canBeMerged(SparseProductOpInterface op) {
  if (!op.hasPureTensorSemantics() || op.getPackingAttr() ||
      op.getScheduleAttr() || op.getLists() || op.getPattern().isUnstructured())
    return false;
  int64_t n = op.getStaticN();
  if (ShapedType::isDynamic(n) || n == 0 ||
      n % op.getPatternAttr().getBn() != 0 ||
      n * op.getCType().getElementTypeBitWidth() % (8 * kSliceBytes) != 0)
    return false;
  for (Value part : {op.getValues(), op.getIndices(), op.getScales()})
    if (part && !ConstantArray::get(part))
      return false;
  ShapedType type = op.getCType();
  bool isOneRow = type.hasStaticShape() && type.getNumElements() == n;
  return (op.hasEpilogue() || getFill(op)) &&
         canBeSlice(op->getResult(0), isOneRow);
}

/// Whether operand `i` of both epilogues can be one operand: the same value, or
/// constants along n.
static bool isOneOperand(SparseProductOpInterface a, SparseProductOpInterface b,
                         size_t i) {
  Value ofA = a.getEpilogueOperands()[i], ofB = b.getEpilogueOperands()[i];
  AffineMap map = getEpilogueMap(a, i);
  if (map != getEpilogueMap(b, i) || getElementTypeOrSelf(ofA.getType()) !=
                                         getElementTypeOrSelf(ofB.getType()))
    return false;
  if (!map.isFunctionOfDim(unsigned(a.getNumOutputLoops() - 1)))
    return ofA == ofB;
  return map.getNumResults() == 1 && ConstantArray::get(ofA) &&
         ConstantArray::get(ofB);
}

static bool haveOneEpilogue(SparseProductOpInterface a,
                            SparseProductOpInterface b) {
  if (a.hasEpilogue() != b.hasEpilogue())
    return false;
  if (!a.hasEpilogue())
    return getFill(a) == getFill(b);
  size_t operands = a.getEpilogueOperands().size();
  if (operands != b.getEpilogueOperands().size())
    return false;
  for (size_t i = 0; i < operands; ++i)
    if (!isOneOperand(a, b, i))
      return false;
  return OperationEquivalence::isRegionEquivalentTo(
      a.getEpilogue().getParent(), b.getEpilogue().getParent(),
      OperationEquivalence::IgnoreLocations);
}

/// The attributes that one product cannot have twice.
static DictionaryAttr getSharedAttributes(SparseProductOpInterface op) {
  NamedAttrList attributes(op->getAttrDictionary());
  if (isDense(op))
    attributes.set("pattern", PatternAttr::get(op.getContext(), 1, 1, 1, 1));
  return attributes.getDictionary(op.getContext());
}

/// Whether two products that may be merged are one, with other weights.
static bool areAlike(SparseProductOpInterface a, SparseProductOpInterface b) {
  auto elementOf = [](Value value) {
    return value ? getElementTypeOrSelf(value.getType()) : Type();
  };
  return a->getName() == b->getName() && a.getA() == b.getA() &&
         getSharedAttributes(a) == getSharedAttributes(b) &&
         elementOf(a.getValues()) == elementOf(b.getValues()) &&
         elementOf(a.getIndices()) == elementOf(b.getIndices()) &&
         elementOf(a.getScales()) == elementOf(b.getScales()) &&
         elementOf(a.getC()) == elementOf(b.getC()) && haveOneEpilogue(a, b);
}

//===----------------------------------------------------------------------===//
// The product of several
//===----------------------------------------------------------------------===//

namespace {
/// Builds the product that makes what all of `parts` make.
class MergedProduct {
public:
  MergedProduct(RewriterBase &rewriter,
                ArrayRef<SparseProductOpInterface> parts)
      : rewriter(rewriter), parts(parts), first(parts.front()) {
    SmallVector<Location> places;
    for (SparseProductOpInterface part : parts) {
      places.push_back(part.getLoc());
      n += part.getStaticN();
    }
    loc = FusedLoc::get(rewriter.getContext(), places);
  }

  void create();

private:
  Value concatenate(function_ref<Value(SparseProductOpInterface)> valueOf);
  Value createC();
  SmallVector<Value> getEpilogueOperands();
  void replaceBySlices(Value merged);

  RewriterBase &rewriter;
  ArrayRef<SparseProductOpInterface> parts;
  SparseProductOpInterface first;
  Location loc = UnknownLoc::get(rewriter.getContext());
  int64_t n = 0;
};
} // namespace

/// The constants that the parts have, side by side along their last dimension.
Value MergedProduct::concatenate(
    function_ref<Value(SparseProductOpInterface)> valueOf) {
  SmallVector<ConstantArray> arrays;
  for (SparseProductOpInterface part : parts)
    arrays.push_back(*ConstantArray::get(valueOf(part)));
  return arith::ConstantOp::create(rewriter, loc, joinColumns(arrays));
}

Value MergedProduct::createC() {
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(rewriter, loc, first.getC());
  sizes[first.getNDimOfC()] = rewriter.getIndexAttr(n);
  Value c = tensor::EmptyOp::create(rewriter, loc, sizes,
                                    first.getCType().getElementType());
  if (first.hasEpilogue())
    return c;
  Value start = first.getC().getDefiningOp<linalg::FillOp>().value();
  return linalg::FillOp::create(rewriter, loc, start, c).getResult(0);
}

SmallVector<Value> MergedProduct::getEpilogueOperands() {
  SmallVector<Value> operands;
  unsigned loopOfN = unsigned(first.getNumOutputLoops() - 1);
  for (size_t i = 0; i < first.getEpilogueOperands().size(); ++i)
    operands.push_back(
        getEpilogueMap(first, i).isFunctionOfDim(loopOfN)
            ? concatenate([i](SparseProductOpInterface part) -> Value {
                return part.getEpilogueOperands()[i];
              })
            : first.getEpilogueOperands()[i]);
  return operands;
}

void MergedProduct::replaceBySlices(Value merged) {
  SmallVector<OpFoldResult> sizes =
                                tensor::getMixedSizes(rewriter, loc, merged),
                            offsets(sizes.size(), rewriter.getIndexAttr(0)),
                            strides(sizes.size(), rewriter.getIndexAttr(1));
  int64_t dim = first.getNDimOfC(), begin = 0;
  for (SparseProductOpInterface part : parts) {
    offsets[dim] = rewriter.getIndexAttr(begin);
    sizes[dim] = rewriter.getIndexAttr(part.getStaticN());
    begin += part.getStaticN();
    auto type = cast<RankedTensorType>(part->getResult(0).getType());
    rewriter.replaceOp(
        part, tensor::ExtractSliceOp::create(rewriter, part.getLoc(), type,
                                             merged, offsets, sizes, strides));
  }
}

void MergedProduct::create() {
  rewriter.setInsertionPoint(first);
  Value values = concatenate([](auto part) { return part.getValues(); });
  // Each row of a dense weight has one index.
  Value indices =
      isDense(first) ? first.getIndices()
                     : concatenate([](auto part) { return part.getIndices(); });
  Value scales;
  if (first.getScales())
    scales = concatenate([](auto part) { return part.getScales(); });
  SmallVector<Value> operands = getEpilogueOperands();
  OperationState state = createProductState(first, operands, createC());
  state.location = loc;
  state.operands[1] = values;
  state.operands[2] = indices;
  if (scales)
    state.operands[3] = scales;
  if (isDense(first))
    state.attributes.set("pattern",
                         PatternAttr::get(first.getContext(), 1, 1, 1, n));
  if (first.hasEpilogue()) {
    Region &epilogue = *state.addRegion();
    rewriter.cloneRegionBefore(*first.getEpilogue().getParent(), epilogue,
                               epilogue.end());
  }
  Operation *merged = rewriter.create(state);
  replaceBySlices(merged->getResult(0));
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

using Groups = SmallVector<SmallVector<SparseProductOpInterface>>;

/// Adds `op` to the group of those like it.
static void addToGroup(Groups &groups, SparseProductOpInterface op) {
  for (SmallVector<SparseProductOpInterface> &group : groups) {
    int64_t width = op.getStaticN();
    for (SparseProductOpInterface part : group)
      width += part.getStaticN();
    if (areAlike(group.front(), op) && (!isDense(op) || width <= kMostWidth)) {
      group.push_back(op);
      return;
    }
  }
  groups.push_back({op});
}

static void mergeProductsOf(RewriterBase &rewriter, Block &block) {
  llvm::MapVector<Value, Groups> groupsOfA;
  for (auto op : block.getOps<SparseProductOpInterface>())
    if (canBeMerged(op))
      addToGroup(groupsOfA[op.getA()], op);
  for (auto &[a, groups] : groupsOfA)
    for (SmallVector<SparseProductOpInterface> &group : groups) {
      if (group.size() < 2)
        continue;
      InFlightDiagnostic remark = emitRemark(group.front().getLoc())
                                  << group.size()
                                  << " products of one A are one, of n = ";
      llvm::interleave(
          group, remark, [&](auto part) { remark << part.getStaticN(); },
          " + ");
      remark.report();
      MergedProduct(rewriter, group).create();
    }
}

namespace {
struct NMMergeProducts : mlir::nm::impl::NMMergeProductsBase<NMMergeProducts> {
  void runOnOperation() override {
    SmallVector<Block *> blocks;
    getOperation()->walk([&](Block *block) { blocks.push_back(block); });
    IRRewriter rewriter(&getContext());
    for (Block *block : blocks)
      mergeProductsOf(rewriter, *block);
  }
};
} // namespace
