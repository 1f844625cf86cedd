//===- OtherLayouts.cpp - Layouts that activations may change to ----------===//

#include "GPU/Select/OtherLayouts.h"

#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::nm;

//===----------------------------------------------------------------------===//
// Orders of loops
//===----------------------------------------------------------------------===//

OtherLayouts::Order LoopOrders::getOrder(ArrayRef<int64_t> dims) const {
  auto restrict = [&](ArrayRef<int64_t> loops) {
    SmallVector<int64_t> kept;
    llvm::copy_if(loops, std::back_inserter(kept),
                  [&](int64_t loop) { return llvm::is_contained(dims, loop); });
    return kept;
  };
  SmallVector<int64_t> ofOther = restrict(other);
  if (restrict(own) != dims || ofOther == dims)
    return {};
  return llvm::map_to_vector(ofOther, [&](int64_t loop) -> int64_t {
    return llvm::find(dims, loop) - dims.begin();
  });
}

LoopOrders mlir::nm::getOutputOrders(SparseProductOpInterface op) {
  int64_t batch = op.getNumBatchDims();
  LoopOrders orders;
  orders.own = llvm::to_vector(llvm::seq<int64_t>(0, batch + 2));
  if (op.getNDimOfC() == batch)
    std::swap(orders.own[batch], orders.own[batch + 1]);
  orders.other = orders.own;
  std::swap(orders.other[batch], orders.other[batch + 1]);
  return orders;
}

SmallVector<int64_t> mlir::nm::getLoops(AffineMap map) {
  SmallVector<int64_t> loops;
  for (unsigned i = 0; i < map.getNumResults(); ++i)
    loops.push_back(map.getDimPosition(i));
  return loops;
}

bool mlir::nm::canChangeLayouts(linalg::LinalgOp op) {
  if (!op.hasPureTensorSemantics() || isa<linalg::TransposeOp>(op))
    return false;
  bool visitsAll = false;
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    if (!isa<RankedTensorType>(operand.get().getType()))
      continue;
    if (!map.isProjectedPermutation())
      return false;
    visitsAll |= map.getNumResults() == op.getNumLoops();
  }
  return visitsAll;
}

Value mlir::nm::getValueOf(linalg::LinalgOp op, OpOperand &operand) {
  return op.isDpsInit(&operand) ? op.getTiedOpResult(&operand) : operand.get();
}

OpOperand *mlir::nm::findLeader(linalg::LinalgOp op,
                                const OtherLayouts &layouts) {
  OpOperand *leader = nullptr;
  // The last is an output, where that visits all.
  for (OpOperand &operand : op->getOpOperands())
    if (op.getMatchingIndexingMap(&operand).getNumResults() ==
            op.getNumLoops() &&
        !layouts.getOrder(getValueOf(op, operand)).empty())
      leader = &operand;
  return leader;
}

LoopOrders mlir::nm::getLeaderOrders(linalg::LinalgOp op, OpOperand &leader,
                                     const OtherLayouts &layouts) {
  LoopOrders orders;
  orders.own = getLoops(op.getMatchingIndexingMap(&leader));
  for (int64_t dim : layouts.getOrder(getValueOf(op, leader)))
    orders.other.push_back(orders.own[dim]);
  return orders;
}

bool mlir::nm::isView(Operation *op) {
  return isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op) ||
         (isa<tensor::CastOp>(op) &&
          isa<RankedTensorType>(op->getOperand(0).getType()) &&
          isa<RankedTensorType>(op->getResult(0).getType()));
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

/// Groups of a reshape in `order`, one after the other.
static OtherLayouts::Order expandOrder(ArrayRef<ReassociationIndices> groups,
                                       ArrayRef<int64_t> order) {
  OtherLayouts::Order expanded;
  for (int64_t group : order)
    llvm::append_range(expanded, groups[group]);
  return expanded;
}

/// The order of groups that `order` has one after the other; empty if it takes
/// one apart.
static OtherLayouts::Order collapseOrder(ArrayRef<ReassociationIndices> groups,
                                         ArrayRef<int64_t> order) {
  OtherLayouts::Order collapsed;
  for (size_t i = 0; i < order.size();) {
    const auto *group = llvm::find_if(groups, [&](ArrayRef<int64_t> dims) {
      return dims.front() == order[i];
    });
    if (group == groups.end() ||
        order.slice(i).take_front(group->size()) != ArrayRef<int64_t>(*group))
      return {};
    collapsed.push_back(group - groups.begin());
    i += group->size();
  }
  return collapsed;
}

static SmallVector<ReassociationIndices> getGroups(Operation *op) {
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    return expand.getReassociationIndices();
  return cast<tensor::CollapseShapeOp>(op).getReassociationIndices();
}

OtherLayouts::Order mlir::nm::getOrderBehind(Operation *view,
                                             ArrayRef<int64_t> order,
                                             bool isResult) {
  if (order.empty() || isa<tensor::CastOp>(view))
    return OtherLayouts::Order(order);
  return isa<tensor::ExpandShapeOp>(view) == isResult
             ? expandOrder(getGroups(view), order)
             : collapseOrder(getGroups(view), order);
}

//===----------------------------------------------------------------------===//
// Propagation
//===----------------------------------------------------------------------===//

OtherLayouts::OtherLayouts(func::FuncOp function) {
  function.walk([&](SpMMOp op) {
    // One with a schedule has the layouts that it is for.
    if (!op.hasPureTensorSemantics() || op.getScheduleAttr())
      return;
    for (Value value : {Value(op.getA()), Value(op->getResult(0))}) {
      Order order = llvm::to_vector(llvm::seq<int64_t>(
          0, cast<RankedTensorType>(value.getType()).getRank()));
      std::swap(order[order.size() - 2], order.back());
      set(value, order);
    }
  });
  while (!changed.empty())
    propagate(changed.pop_back_val());
}

ArrayRef<int64_t> OtherLayouts::getOrder(Value value) const {
  const auto *it = orders.find(value);
  return it == orders.end() ? ArrayRef<int64_t>() : it->second;
}

RankedTensorType OtherLayouts::getType(Value value) const {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape;
  for (int64_t dim : getOrder(value))
    shape.push_back(type.getDimSize(dim));
  return RankedTensorType::get(shape, type.getElementType());
}

/// The first layout that is found is the one: where another op would have
/// another, it takes what there is as a whole.
void OtherLayouts::set(Value value, ArrayRef<int64_t> order) {
  if (order.empty() || !orders.insert({value, Order(order)}).second)
    return;
  if (Operation *op = value.getDefiningOp())
    changed.push_back(op);
  llvm::append_range(changed, value.getUsers());
}

void OtherLayouts::propagate(Operation *op) {
  if (auto product = dyn_cast<SpMMOp>(op)) {
    if (product.getScheduleAttr())
      return;
    auto interface = cast<SparseProductOpInterface>(op);
    LoopOrders output = getOutputOrders(interface);
    set(product.getC(), getOrder(product->getResult(0)));
    for (auto [operand, map] : llvm::zip(
             interface.getEpilogueOperands(),
             interface.getEpilogueMaps().getAsValueRange<AffineMapAttr>()))
      set(operand, output.getOrder(getLoops(map)));
    return;
  }
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
    OpOperand *leader =
        canChangeLayouts(linalgOp) ? findLeader(linalgOp, *this) : nullptr;
    if (!leader)
      return;
    LoopOrders loops = getLeaderOrders(linalgOp, *leader, *this);
    for (OpOperand &operand : op->getOpOperands()) {
      if (!isa<RankedTensorType>(operand.get().getType()))
        continue;
      Order order =
          loops.getOrder(getLoops(linalgOp.getMatchingIndexingMap(&operand)));
      set(operand.get(), order);
      set(getValueOf(linalgOp, operand), order);
    }
    return;
  }
  if (!isView(op))
    return;
  Value from = op->getOperand(0), to = op->getResult(0);
  set(to, getOrderBehind(op, getOrder(from), /*isResult=*/true));
  set(from, getOrderBehind(op, getOrder(to), /*isResult=*/false));
}
