//===- RowGroup.cpp - Ops along rows that one kernel runs -----------------===//
//
// Upstream fuses on tensors, producers into consumers; scf's tile-and-fuse
// would make a row's temporaries buffers of a loop body. Here ops are on
// memrefs already, where other passes have chosen rows' padding; a group is a
// set of ops that may run where the last of them stands.
//
//===----------------------------------------------------------------------===//

#include "GPU/Rows/RowGroup.h"

#include "GPU/Rows/LargestOfRow.h"
#include "GPU/Rows/RowShape.h"

#include "nm/Dialect/NM/IR/MemoryAccesses.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace mlir::nm;

/// Ops before and behind a group that may join it, and those of a group, but
/// for ops that fill results and those that find one more largest element.
static constexpr int64_t kReach = 48, kMaxOps = 24;

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

static bool isAccess(const RowOperand &operand, Value memref) {
  return operand.isMemref() && operand.value == memref;
}

static bool writes(const RowOp &row, Value memref) {
  return llvm::any_of(row.outputs, [&](const RowOperand &output) {
    return isAccess(output, memref);
  });
}

std::optional<size_t> RowGroup::findWriter(size_t index, Value memref) const {
  for (size_t i = index; i-- > 0;)
    if (writes(ops[i], memref))
      return i;
  return std::nullopt;
}

/// Whether others than the ops of `group` use `memref`, or what it is a view
/// of or views of it are.
static bool isUsedOutside(const RowGroup &group, Value memref) {
  return llvm::any_of(memref.getUsers(), [&](Operation *user) {
    if (isa<memref::DeallocOp>(user))
      return false;
    if (isa<ViewLikeOpInterface>(user))
      return llvm::any_of(user->getResults(), [&](Value view) {
        return isUsedOutside(group, view);
      });
    return llvm::none_of(group.ops,
                         [&](const RowOp &row) { return row.op == user; });
  });
}

bool RowGroup::isTemporary(Value memref) const {
  Value root = findRoot(memref);
  return root && root.getDefiningOp<memref::AllocOp>() &&
         !isUsedOutside(*this, root);
}

bool RowGroup::isStored(size_t index, Value memref) const {
  for (size_t i = index + 1; i < ops.size(); ++i)
    if (writes(ops[i], memref))
      return false;
  return !isTemporary(memref);
}

namespace {
/// Adds ops to a group as long as some fit.
class GroupBuilder {
public:
  GroupBuilder(RowGroup &group, Block &block) : group(group) {
    for (Operation &op : block)
      order.push_back(&op);
  }

  void grow();

private:
  bool isLinked(const RowOp &row) const;
  bool hasSharedSizes(const RowOp &row) const;
  bool mayStandTogether() const;
  bool areOfRows(const RowOp &first, const RowOp &second) const;
  bool mayReadAgain(const RowOp &first, const RowOp &second) const;
  bool isReadBefore(const RowOp &row) const;
  bool readsTransposedAsMade() const;
  bool tryOp(Operation *op);
  std::pair<int64_t, int64_t> getBounds() const;
  int64_t countOps() const;

  RowGroup &group;
  SmallVector<Operation *> order;
};
} // namespace

static SmallVector<const RowOperand *> getOperands(const RowOp &row) {
  SmallVector<const RowOperand *> operands;
  for (const RowOperand &operand : row.inputs)
    if (operand.isMemref())
      operands.push_back(&operand);
  for (const RowOperand &operand : row.outputs)
    operands.push_back(&operand);
  return operands;
}

static bool hasSamePlaces(const RowOperand &a, const RowOperand &b) {
  return a.value == b.value && a.isOfRows && b.isOfRows &&
         a.map.getResults() == b.map.getResults();
}

/// Whether `row` reads what an op of the group writes, or the reverse.
bool GroupBuilder::isLinked(const RowOp &row) const {
  return llvm::any_of(group.ops, [&](const RowOp &member) {
    for (const RowOperand *a : getOperands(row))
      for (const RowOperand *b : getOperands(member))
        if (a->value == b->value &&
            (writes(row, a->value) || writes(member, b->value)))
          return true;
    return false;
  });
}

/// Sizes that are not static are the same of ops that share an operand that
/// has them.
bool GroupBuilder::hasSharedSizes(const RowOp &row) const {
  bool needsRows = llvm::is_contained(group.space.rows, ShapedType::kDynamic),
       needsColumns =
           (row.kind == RowOp::Elementwise || row.kind == RowOp::Reduction) &&
           ShapedType::isDynamic(group.space.columns);
  if (!needsRows && !needsColumns)
    return true;
  for (const RowOp &member : group.ops)
    for (const RowOperand *a : getOperands(row))
      for (const RowOperand *b : getOperands(member))
        if (hasSamePlaces(*a, *b) && (a->hasColumns || !needsColumns))
          return true;
  return false;
}

static bool accesses(const RowOperand &operand, const RowOp &row,
                     bool &isWrite) {
  isWrite = llvm::any_of(row.outputs, [&](const RowOperand &output) {
    return &output == &operand;
  });
  return isWrite || operand.isRead;
}

/// Whether memory that both ops access, and one of them writes, is accessed in
/// the same place by each thread.
bool GroupBuilder::areOfRows(const RowOp &first, const RowOp &second) const {
  for (const RowOperand *a : getOperands(first))
    for (const RowOperand *b : getOperands(second)) {
      bool aWrites, bWrites;
      if (!accesses(*a, first, aWrites) || !accesses(*b, second, bWrites))
        continue;
      if (conflict({findRoot(a->value), aWrites, a->value},
                   {findRoot(b->value), bWrites, b->value}) &&
          !hasSamePlaces(*a, *b))
        return false;
    }
  return true;
}

/// Whether `row`, or another op of the group, reads what the memory that `row`
/// writes has before.
bool GroupBuilder::isReadBefore(const RowOp &row) const {
  auto reads = [](const RowOp &reader, Value memref) {
    return llvm::any_of(getOperands(reader), [&](const RowOperand *operand) {
      return operand->isRead && operand->value == memref;
    });
  };
  return llvm::any_of(row.outputs, [&](const RowOperand &output) {
    return reads(row, output.value) ||
           llvm::any_of(group.ops, [&](const RowOp &member) {
             return member.op->isBeforeInBlock(row.op) &&
                    reads(member, output.value);
           });
  });
}

/// Whether `second` leaves the memory that `first` reads as it is, where a
/// later pass may read it again.
bool GroupBuilder::mayReadAgain(const RowOp &first, const RowOp &second) const {
  size_t index = &first - group.ops.begin();
  for (const RowOperand *operand : getOperands(first)) {
    if (!operand->isRead || group.findWriter(index, operand->value))
      continue;
    for (const RowOperand &output : second.outputs)
      if (mayAlias({findRoot(operand->value), false, operand->value},
                   {findRoot(output.value), true, output.value}) &&
          !(operand->value == output.value && !output.hasColumns))
        return false;
  }
  return true;
}

/// Whether what is read transposed is what an op of the group has made.
bool GroupBuilder::readsTransposedAsMade() const {
  for (auto [index, row] : llvm::enumerate(group.ops))
    for (const RowOperand &input : row.inputs)
      if (input.isTransposed && !group.findWriter(index, input.value))
        return false;
  return true;
}

std::pair<int64_t, int64_t> GroupBuilder::getBounds() const {
  auto position = [&](const RowOp &row) {
    return int64_t(llvm::find(order, row.op) - order.begin());
  };
  return {position(group.ops.front()), position(group.ops.back())};
}

/// Whether all ops of the group may run where its last one stands.
bool GroupBuilder::mayStandTogether() const {
  for (auto [index, second] : llvm::enumerate(group.ops))
    for (const RowOp &first : ArrayRef(group.ops).take_front(index))
      if (!areOfRows(first, second) ||
          (!group.keepsRows && !mayReadAgain(first, second)))
        return false;
  // An op between them runs before those that stood in front of it.
  SmallVector<Access> moved;
  size_t next = 0;
  auto [begin, end] = getBounds();
  for (int64_t at = begin; at <= end; ++at) {
    Operation *op = order[at];
    std::optional<SmallVector<Access>> found = findAccesses(op);
    if (!found)
      return false;
    if (next < group.ops.size() && group.ops[next].op == op) {
      llvm::append_range(moved, *found);
      ++next;
      continue;
    }
    for (const Access &access : *found)
      if (llvm::any_of(moved, [&](const Access &earlier) {
            return conflict(earlier, access);
          }))
        return false;
  }
  return true;
}

/// Adds `op` if it fits.
bool GroupBuilder::tryOp(Operation *op) {
  if (llvm::any_of(group.ops, [&](const RowOp &row) { return row.op == op; }))
    return false;
  std::optional<RowOp> row = RowOp::get(op, group.space);
  if (!row || !isLinked(*row) || !hasSharedSizes(*row))
    return false;
  // Without a reduction, rows that have no columns have no threads either.
  if (row->kind == RowOp::Scalar && !group.hasReduction() &&
      ShapedType::isDynamic(group.space.columns))
    return false;
  // Nor does one thread of many know when the others have read its output.
  if (row->kind == RowOp::Scalar && !group.hasReduction() && isReadBefore(*row))
    return false;
  if (row->kind == RowOp::Short && !group.hasReduction())
    return false;
  RowGroup before = group;
  auto *place = llvm::find_if(group.ops, [&](const RowOp &member) {
    return op->isBeforeInBlock(member.op);
  });
  group.ops.insert(place, *row);
  if (mayStandTogether() && readsTransposedAsMade() &&
      (!row->transposes() || findTransposedRows(group)))
    return true;
  group = std::move(before);
  return false;
}

int64_t GroupBuilder::countOps() const {
  return llvm::count_if(group.ops, [](const RowOp &row) {
    return !isa<linalg::FillOp>(row.op) &&
           (row.kind != RowOp::Reduction || !findBound(row));
  });
}

void GroupBuilder::grow() {
  bool grows = true;
  while (grows && countOps() < kMaxOps) {
    grows = false;
    auto [begin, end] = getBounds();
    int64_t last = order.size() - 1;
    // The nearest first, without which those behind it cannot join.
    for (int64_t at = begin; at <= std::min(end + kReach, last) && !grows; ++at)
      grows = tryOp(order[at]);
    for (int64_t at = begin - 1;
         at >= std::max<int64_t>(begin - kReach, 0) && !grows; --at)
      grows = tryOp(order[at]);
  }
}

std::optional<RowGroup>
mlir::nm::findRowGroup(linalg::LinalgOp seed,
                       llvm::function_ref<bool(const RowSpace &)> keepsRows) {
  std::optional<RowSpace> space = RowOp::findSpace(seed);
  if (!space)
    return std::nullopt;
  RowGroup group{*space, {*RowOp::get(seed, *space)}, keepsRows(*space)};
  GroupBuilder(group, *seed->getBlock()).grow();
  return group;
}
