//===- PaddedImage.cpp - Images with a border of one value ----------------===//

#include "GPU/Windows/PaddedImage.h"

#include "nm/Dialect/NM/IR/MemoryAccesses.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace mlir::nm;

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

namespace {
/// A view with all dimensions of an allocation, from `first` on.
struct Box {
  memref::AllocOp memory;
  SmallVector<int64_t> first;
};
} // namespace

static bool isBox(memref::SubViewOp view) {
  auto isOne = [](int64_t stride) { return stride == 1; };
  return view.getType().getRank() == view.getSourceType().getRank() &&
         llvm::all_of(view.getStaticStrides(), isOne) &&
         llvm::none_of(view.getStaticOffsets(), ShapedType::isDynamic);
}

static std::optional<Box> findBox(Value memref) {
  int64_t rank = cast<MemRefType>(memref.getType()).getRank();
  Box box{{}, SmallVector<int64_t>(rank, 0)};
  while (auto view = memref.getDefiningOp<memref::SubViewOp>()) {
    if (!isBox(view))
      return std::nullopt;
    for (auto [first, offset] : llvm::zip(box.first, view.getStaticOffsets()))
      first += offset;
    memref = view.getSource();
  }
  box.memory = memref.getDefiningOp<memref::AllocOp>();
  return box.memory ? std::optional(box) : std::nullopt;
}

/// Whether `part` is `whole` or a view of it.
static bool isViewOf(Value part, Value whole) {
  while (part != whole) {
    auto view = part.getDefiningOp<ViewLikeOpInterface>();
    if (!view)
      return false;
    part = view.getViewSource();
  }
  return true;
}

/// The size of dimension `dim`, where it is known, or the value that it is.
static OpFoldResult getSize(Value memref, int64_t dim) {
  auto type = cast<MemRefType>(memref.getType());
  if (!type.isDynamicDim(dim))
    return IntegerAttr::get(IndexType::get(memref.getContext()),
                            type.getDimSize(dim));
  if (auto view = memref.getDefiningOp<memref::SubViewOp>();
      view && view.getType().getRank() == view.getSourceType().getRank())
    return view.getMixedSizes()[dim];
  if (auto alloc = memref.getDefiningOp<memref::AllocOp>())
    return alloc.getDynamicSizes()[type.getDynamicDimIndex(dim)];
  return OpFoldResult();
}

void mlir::nm::collectUsers(Value memref, SmallVector<Operation *> &users) {
  for (Operation *user : memref.getUsers()) {
    if (isa<ViewLikeOpInterface>(user))
      for (Value view : user->getResults())
        collectUsers(view, users);
    else if (!isa<memref::DeallocOp>(user))
      users.push_back(user);
  }
}

//===----------------------------------------------------------------------===//
// Images
//===----------------------------------------------------------------------===//

std::optional<MemoryFill> MemoryFill::get(Operation *operation) {
  auto op = dyn_cast<linalg::LinalgOp>(operation);
  if (!op || !op.hasPureBufferSemantics() || op.getNumDpsInits() != 1)
    return std::nullopt;
  Value memref = op.getDpsInits()[0], value;
  if (auto fill = dyn_cast<linalg::FillOp>(operation))
    value = fill.getInputs()[0];
  else if (op.getNumDpsInputs() == 0 && llvm::hasSingleElement(*op.getBlock()))
    value = op.getBlock()->getTerminator()->getOperand(0);
  if (!value || value.getParentRegion() == &op->getRegion(0) ||
      value.getType() != cast<MemRefType>(memref.getType()).getElementType())
    return std::nullopt;
  return MemoryFill{operation, value, memref};
}

/// What an op copies, and where to; null where it does another thing.
static std::pair<Value, Value> getCopy(Operation *op) {
  if (auto copy = dyn_cast<memref::CopyOp>(op))
    return {copy.getSource(), copy.getTarget()};
  if (auto copy = dyn_cast<linalg::CopyOp>(op))
    return {copy.getInputs()[0], copy.getOutputs()[0]};
  return {};
}

bool mlir::nm::mayWrite(Operation *op, Value root) {
  std::optional<SmallVector<Access>> accesses = findAccesses(op);
  return !accesses || llvm::any_of(*accesses, [&](const Access &access) {
    return access.writes && mayAlias(access, {root, false, Value()});
  });
}

/// The view of which `op`, a linalg op, writes all elements of memory `root`
/// that it writes or reads; null for none.
static Value getMade(Operation *operation, Value root) {
  auto op = dyn_cast<linalg::LinalgOp>(operation);
  if (!op || !op.hasPureBufferSemantics())
    return Value();
  Value made;
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()) ||
        findRoot(operand.get()) != root)
      continue;
    if (made || !op.isDpsInit(&operand) ||
        op.payloadUsesValueFromOperand(&operand) ||
        !op.getMatchingIndexingMap(&operand).isPermutation())
      return Value();
    made = operand.get();
  }
  return made;
}

namespace {
/// The ops that alone write a temporary.
struct Writers {
  std::optional<MemoryFill> fill;
  /// Writes the image: a copy, or an op that makes it.
  Operation *ofImage = nullptr;
};
} // namespace

/// The ops in front of `reader`, a fill of `padded` first, that alone write its
/// memory.
static std::optional<Writers> findWriters(Value padded, Value memory,
                                          Operation *reader) {
  SmallVector<Operation *> users;
  collectUsers(memory, users);
  Writers found;
  for (Operation *user : users) {
    if (!mayWrite(user, memory))
      continue;
    if (user->getBlock() != reader->getBlock() ||
        !user->isBeforeInBlock(reader))
      return std::nullopt;
    if (std::optional<MemoryFill> fill = MemoryFill::get(user);
        fill && !found.fill)
      found.fill = fill;
    else if (!found.ofImage)
      found.ofImage = user;
    else
      return std::nullopt;
  }
  if (!found.fill || !found.ofImage ||
      !found.fill->op->isBeforeInBlock(found.ofImage) ||
      !isViewOf(padded, found.fill->memref))
    return std::nullopt;
  return found;
}

bool mlir::nm::isKept(Value root, Operation *first, Operation *last,
                      SmallVector<Operation *> &deallocs) {
  for (Operation *op = first->getNextNode(); op != last;
       op = op->getNextNode()) {
    if (auto dealloc = dyn_cast<memref::DeallocOp>(op);
        dealloc && root && dealloc.getMemref() == root)
      deallocs.push_back(op);
    else if (mayWrite(op, root))
      return false;
  }
  return true;
}

std::optional<PaddedImage> mlir::nm::findPaddedImage(Value padded,
                                                     Operation *reader) {
  std::optional<Box> whole = findBox(padded);
  if (!whole)
    return std::nullopt;
  std::optional<Writers> writers = findWriters(padded, whole->memory, reader);
  if (!writers)
    return std::nullopt;
  auto [image, target] = getCopy(writers->ofImage);
  PaddedImage found{image, writers->fill->value, {}, {}, {}};
  if (image) {
    Value root = findRoot(image);
    if (!isKept(root, writers->ofImage, reader, found.deallocs) ||
        mayWrite(reader, root))
      return std::nullopt;
  } else {
    found.image = target = getMade(writers->ofImage, whole->memory);
    if (!target)
      return std::nullopt;
  }
  std::optional<Box> inner = findBox(target);
  auto type = cast<MemRefType>(padded.getType()),
       ofImage = dyn_cast<MemRefType>(found.image.getType());
  if (!inner || !ofImage || inner->memory != whole->memory ||
      ofImage.getRank() != type.getRank() ||
      ofImage.getElementType() != type.getElementType())
    return std::nullopt;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    found.first.push_back(inner->first[dim] - whole->first[dim]);
    OpFoldResult size = getSize(target, dim);
    found.hasBorder.push_back(found.first[dim] != 0 || !size ||
                              size != getSize(padded, dim));
  }
  return found;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Erases `memref` and its views, which nothing but deallocations uses.
static void eraseViews(Value memref) {
  for (Operation *user : llvm::make_early_inc_range(memref.getUsers())) {
    for (Value view : user->getResults())
      eraseViews(view);
    user->erase();
  }
}

/// Whether `user`, which may be part of a kernel, only reads what `writer` has
/// written of memory `root`.
static bool readsOnly(Operation *user, Operation *writer, Value root) {
  Value made = getMade(writer, root);
  Operation *kernel = writer->getBlock()->findAncestorOpInBlock(*user);
  return kernel && writer->isBeforeInBlock(kernel) && !mayWrite(user, root) &&
         llvm::all_of(user->getOperands(), [&](Value operand) {
           return !isa<MemRefType>(operand.getType()) ||
                  findRoot(operand) != root || isViewOf(operand, made);
         });
}

/// Erases the fill of `users`, the ops that use `root`, if one of them then
/// writes all that the others read.
static void eraseUnreadFill(ArrayRef<Operation *> users, Value root) {
  Operation *fill = nullptr, *writer = nullptr;
  for (Operation *user : users) {
    if (!fill && MemoryFill::get(user))
      fill = user;
    else if (getMade(user, root))
      writer = user;
  }
  if (fill && writer && llvm::all_of(users, [&](Operation *user) {
        return user == fill || user == writer || readsOnly(user, writer, root);
      }))
    fill->erase();
}

void mlir::nm::eraseUnread(Value root) {
  auto alloc = root.getDefiningOp<memref::AllocOp>();
  if (!alloc)
    return;
  SmallVector<Operation *> users;
  collectUsers(root, users);
  auto onlyWrites = [&](Operation *user) {
    if (MemoryFill::get(user))
      return true;
    auto [source, target] = getCopy(user);
    return source && findRoot(target) == root && findRoot(source) != root;
  };
  if (!llvm::all_of(users, onlyWrites))
    return eraseUnreadFill(users, root);
  for (Operation *user : users)
    user->erase();
  eraseViews(root);
  alloc.erase();
}
