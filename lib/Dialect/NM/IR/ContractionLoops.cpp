//===- ContractionLoops.cpp - What the loops of nm.contract are -----------===//

#include "nm/Dialect/NM/IR/ContractionLoops.h"

#include "VerifyMaps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace mlir::nm;

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

SmallVector<unsigned> mlir::nm::getLoopsOf(AffineMap map) {
  SmallVector<unsigned> loops;
  for (AffineExpr result : map.getResults())
    loops.push_back(cast<AffineDimExpr>(result).getPosition());
  return loops;
}

std::optional<LoopRoles> mlir::nm::getLoopRoles(ArrayRef<AffineMap> maps) {
  SmallVector<unsigned> a = getLoopsOf(maps[0]), b = getLoopsOf(maps[1]),
                        c = getLoopsOf(maps[2]);
  LoopRoles roles;
  for (unsigned loop : c) {
    bool isOfA = llvm::is_contained(a, loop),
         isOfB = llvm::is_contained(b, loop);
    if (!isOfA && !isOfB)
      return std::nullopt;
    (isOfA && isOfB ? roles.batches
     : isOfA        ? roles.m
                    : roles.n)
        .push_back(loop);
  }
  for (unsigned loop : a)
    if (!llvm::is_contained(c, loop) && llvm::is_contained(b, loop))
      roles.k.push_back(loop);
  size_t found =
      roles.batches.size() + roles.m.size() + roles.n.size() + roles.k.size();
  if (roles.k.empty() || found != maps[0].getNumDims())
    return std::nullopt;
  return roles;
}

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

OperandLayout OperandLayout::getContiguous(ArrayRef<unsigned> loops,
                                           ArrayRef<int64_t> sizes) {
  OperandLayout layout{SmallVector<unsigned>(loops),
                       SmallVector<int64_t>(loops.size()), true};
  int64_t stride = 1;
  for (size_t dim = loops.size(); dim-- > 0;) {
    layout.strides[dim] = stride;
    int64_t size = sizes[loops[dim]];
    stride = ShapedType::isDynamic(stride) || ShapedType::isDynamic(size)
                 ? ShapedType::kDynamic
                 : stride * size;
  }
  return layout;
}

OperandLayout OperandLayout::get(MemRefType type, ArrayRef<unsigned> loops) {
  return {SmallVector<unsigned>(loops),
          SmallVector<int64_t>(type.getStridesAndOffset().first),
          type.getLayout().isIdentity()};
}

namespace {
/// Finds which loops are one loop in the memory of all three operands.
class LoopMerger {
public:
  LoopMerger(ArrayRef<int64_t> sizes, const OperandLayouts &layouts)
      : sizes(sizes), layouts(layouts) {}

  /// `loops` without those of size one, in groups that are one loop each.
  SmallVector<SmallVector<unsigned>> merge(ArrayRef<unsigned> loops) const;
  /// Whether the elements of a group's fastest loop stand side by side in
  /// `layout`, or the operand has only one of them.
  bool isUnitStride(const OperandLayout &layout,
                    ArrayRef<unsigned> group) const;

private:
  bool areOne(unsigned outer, unsigned inner) const {
    return llvm::all_of(layouts, [&](const OperandLayout &layout) {
      return areOneIn(layout, outer, inner);
    });
  }
  bool areOneIn(const OperandLayout &layout, unsigned outer,
                unsigned inner) const;
  /// The dimension of `layout` that runs along `loop`.
  static std::optional<size_t> find(const OperandLayout &layout,
                                    unsigned loop) {
    const auto *at = llvm::find(layout.loops, loop);
    return at == layout.loops.end()
               ? std::nullopt
               : std::optional<size_t>(at - layout.loops.begin());
  }

  ArrayRef<int64_t> sizes;
  const OperandLayouts &layouts;
};
} // namespace

bool LoopMerger::areOneIn(const OperandLayout &layout, unsigned outer,
                          unsigned inner) const {
  std::optional<size_t> outerDim = find(layout, outer),
                        innerDim = find(layout, inner);
  if (!outerDim || !innerDim)
    return !outerDim && !innerDim;
  int64_t stride = layout.strides[*outerDim], step = layout.strides[*innerDim];
  if (!ShapedType::isDynamic(stride) && !ShapedType::isDynamic(step) &&
      !ShapedType::isDynamic(sizes[inner]))
    return stride == step * sizes[inner];
  // Whatever the sizes, neighbours of a contiguous tensor are one dimension.
  if (!layout.isContiguous || *outerDim >= *innerDim)
    return false;
  for (size_t dim = *outerDim + 1; dim < *innerDim; ++dim)
    if (sizes[layout.loops[dim]] != 1)
      return false;
  return true;
}

SmallVector<SmallVector<unsigned>>
LoopMerger::merge(ArrayRef<unsigned> loops) const {
  SmallVector<SmallVector<unsigned>> groups;
  for (unsigned loop : loops) {
    if (sizes[loop] == 1)
      continue;
    if (!groups.empty() && areOne(groups.back().back(), loop))
      groups.back().push_back(loop);
    else
      groups.push_back({loop});
  }
  return groups;
}

bool LoopMerger::isUnitStride(const OperandLayout &layout,
                              ArrayRef<unsigned> group) const {
  std::optional<size_t> dim =
      group.empty() ? std::nullopt : find(layout, group.back());
  return !dim || layout.strides[*dim] == 1;
}

std::optional<MatrixProducts>
mlir::nm::findMatrixProducts(const LoopRoles &roles, ArrayRef<int64_t> sizes,
                             const OperandLayouts &layouts) {
  LoopMerger merger(sizes, layouts);
  MatrixProducts products;
  SmallVector<unsigned> batches(roles.batches);
  for (auto [loops, group] :
       {std::pair(&roles.m, &products.m), {&roles.n, &products.n}}) {
    SmallVector<SmallVector<unsigned>> groups = merger.merge(*loops);
    if (groups.empty())
      continue;
    *group = groups.pop_back_val();
    for (ArrayRef<unsigned> other : groups)
      llvm::append_range(batches, other);
  }
  SmallVector<SmallVector<unsigned>> sums = merger.merge(roles.k);
  if (sums.size() > 1)
    return std::nullopt;
  if (!sums.empty())
    products.k = sums.front();
  for (ArrayRef<unsigned> group : merger.merge(batches))
    products.batches.emplace_back(group);
  if (products.batches.size() > 2)
    return std::nullopt;
  auto isMatrix = [&](unsigned i, ArrayRef<unsigned> rows,
                      ArrayRef<unsigned> columns) {
    return merger.isUnitStride(layouts[i], rows) ||
           merger.isUnitStride(layouts[i], columns);
  };
  if (!isMatrix(0, products.m, products.k) ||
      !isMatrix(1, products.k, products.n) ||
      !isMatrix(2, products.m, products.n))
    return std::nullopt;
  return products;
}

//===----------------------------------------------------------------------===//
// The op
//===----------------------------------------------------------------------===//

SmallVector<int64_t> mlir::nm::getLoopSizes(ContractOp op) {
  return getSizesOfLoops({{"A", op.getMap(0), op.getOperandType(0)},
                          {"B", op.getMap(1), op.getOperandType(1)},
                          {"C", op.getMap(2), op.getOperandType(2)}});
}

static Value widen(OpBuilder &builder, Location loc, Value value) {
  Type f32 = builder.getF32Type();
  return value.getType() == f32
             ? value
             : arith::ExtFOp::create(builder, loc, f32, value);
}

linalg::GenericOp mlir::nm::createLoopsOf(OpBuilder &builder, ContractOp op) {
  SmallVector<unsigned> ofC = getLoopsOf(op.getMap(2));
  SmallVector<utils::IteratorType> iterators;
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    iterators.push_back(llvm::is_contained(ofC, loop)
                            ? utils::IteratorType::parallel
                            : utils::IteratorType::reduction);
  SmallVector<AffineMap> maps = {op.getMap(0), op.getMap(1), op.getMap(2)};
  auto addProduct = [](OpBuilder &builder, Location loc, ValueRange elements) {
    Value product =
        arith::MulFOp::create(builder, loc, widen(builder, loc, elements[0]),
                              widen(builder, loc, elements[1]));
    Value sum = arith::AddFOp::create(builder, loc, elements[2], product);
    linalg::YieldOp::create(builder, loc, sum);
  };
  return linalg::GenericOp::create(builder, op.getLoc(), op->getResultTypes(),
                                   ValueRange{op.getA(), op.getB()},
                                   ValueRange{op.getC()}, maps, iterators,
                                   addProduct);
}
