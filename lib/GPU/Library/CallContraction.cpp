//===- CallContraction.cpp - Products of computed operands to calls -------===//

#include "GPU/Library/CallContraction.h"

#include "nm/Dialect/NM/IR/ContractionLoops.h"
#include "nm/Dialect/NM/IR/ElementTypes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace mlir::nm;

Value mlir::nm::getAddress(OpBuilder &builder, Value memref,
                           memref::ExtractStridedMetadataOp metadata) {
  Location loc = metadata.getLoc();
  auto type = cast<MemRefType>(memref.getType());
  Value base =
      memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, memref);
  Value bytes = arith::ConstantIndexOp::create(
      builder, loc, type.getElementTypeBitWidth() / 8);
  Value offset =
      arith::MulIOp::create(builder, loc, metadata.getOffset(), bytes);
  return arith::AddIOp::create(builder, loc, base, offset);
}

/// Memory of the sizes of `like`, whose dimensions are in the order of `dims`.
static Value allocateLike(OpBuilder &builder, Location loc, Value like,
                          ArrayRef<unsigned> dims, Type element) {
  auto type = cast<MemRefType>(like.getType());
  SmallVector<int64_t> shape;
  SmallVector<Value> sizes;
  for (unsigned dim : dims) {
    shape.push_back(type.getDimSize(dim));
    if (type.isDynamicDim(dim))
      sizes.push_back(memref::DimOp::create(builder, loc, like, dim));
  }
  return memref::AllocOp::create(builder, loc, MemRefType::get(shape, element),
                                 sizes);
}

/// Copies the elements of `from`, converted to those of `to`, whose dimensions
/// are those of `from` in the order of `dims`; or, `isBack`, those of `to`.
static void copyElements(OpBuilder &builder, Location loc, Value from, Value to,
                         ArrayRef<unsigned> dims, bool isBack = false) {
  MLIRContext *context = builder.getContext();
  auto rank = static_cast<unsigned>(dims.size());
  AffineMap plain = builder.getMultiDimIdentityMap(rank);
  AffineMap ordered = AffineMap::getPermutationMap(dims, context);
  // Loops run along the operand that has its own order.
  SmallVector<AffineMap> maps = {plain, ordered};
  if (isBack)
    std::swap(maps[0], maps[1]);
  Type type = getElementTypeOrSelf(to.getType());
  linalg::GenericOp::create(
      builder, loc, from, to, maps,
      SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel),
      [&](OpBuilder &body, Location loc, ValueRange elements) {
        Value element = elements[0];
        unsigned bits = element.getType().getIntOrFloatBitWidth();
        if (bits < type.getIntOrFloatBitWidth())
          element = arith::ExtFOp::create(body, loc, type, element);
        else if (bits > type.getIntOrFloatBitWidth())
          element = arith::TruncFOp::create(body, loc, type, element);
        linalg::YieldOp::create(body, loc, element);
      });
}

/// 0, 1, 2 and so on: the dimensions of a memref in its own order.
static SmallVector<unsigned> getDims(Value memref) {
  return llvm::to_vector(llvm::seq<unsigned>(
      0, unsigned(cast<MemRefType>(memref.getType()).getRank())));
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

void mlir::nm::expandContraction(ContractOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  if (op.getOperandType(2).getElementType().isF32()) {
    createLoopsOf(builder, op);
    op.erase();
    return;
  }
  // Sums are rounded once.
  Value c = op.getC();
  SmallVector<unsigned> dims = getDims(c);
  Value sums = allocateLike(builder, loc, c, dims, builder.getF32Type());
  copyElements(builder, loc, c, sums, dims);
  op.getCMutable().assign(sums);
  createLoopsOf(builder, op);
  copyElements(builder, loc, sums, c, dims);
  memref::DeallocOp::create(builder, loc, sums);
  op.erase();
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// Whether nothing before `op` reads or writes `memref` by another name.
static bool hasOneName(Value memref, Operation *op) {
  return isa_and_present<memref::AllocOp>(memref.getDefiningOp()) &&
         llvm::none_of(memref.getUsers(), [&](Operation *user) {
           return isa<ViewLikeOpInterface>(user) &&
                  (user->getBlock() != op->getBlock() ||
                   user->isBeforeInBlock(op));
         });
}

linalg::FillOp mlir::nm::findZeroFill(Operation *op, Value c) {
  bool isOwn = hasOneName(c, op);
  for (Operation *before = op->getPrevNode(); before;
       before = before->getPrevNode()) {
    if (auto fill = dyn_cast<linalg::FillOp>(before);
        fill && fill.output() == c) {
      bool isZero = matchPattern(fill.value(), m_AnyZeroFloat()) ||
                    matchPattern(fill.value(), m_Zero());
      return isZero ? fill : linalg::FillOp();
    }
    bool usesC = before->getNumRegions() != 0 ||
                 llvm::is_contained(before->getOperands(), c) ||
                 (!isOwn && !isMemoryEffectFree(before));
    if (usesC)
      return {};
  }
  return {};
}

namespace {
/// Builds the call of one product.
class ContractionCall {
public:
  ContractionCall(OpBuilder &builder, ContractOp op)
      : builder(builder), loc(op.getLoc()), op(op), sizes(getLoopSizes(op)),
        roles(*getLoopRoles({op.getMap(0), op.getMap(1), op.getMap(2)})) {
    for (unsigned i = 0; i < 3; ++i)
      layouts[i] =
          OperandLayout::get(cast<MemRefType>(op.getOperand(i).getType()),
                             getLoopsOf(op.getMap(i)));
  }

  /// The call, whose result is 0 where the library refuses the product, and
  /// the copies that it reads and writes.
  Value create(bool accumulate, DeclareFunction declare);

private:
  MatrixProducts chooseCopies();
  SmallVector<unsigned> getLoopsOfCopy(unsigned i) const;
  void copy(unsigned i, bool accumulate);
  SmallVector<Value> getArguments(const MatrixProducts &products,
                                  bool accumulate);
  Value sizeOf(ArrayRef<unsigned> group);
  Value strideOf(unsigned i, ArrayRef<unsigned> group);
  Value pointerTo(unsigned i) {
    return getAddress(builder, operands[i], metadata[i]);
  }
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }

  OpBuilder &builder;
  Location loc;
  ContractOp op;
  SmallVector<int64_t> sizes;
  LoopRoles roles;
  OperandLayouts layouts;
  std::array<bool, 3> isCopied{};
  /// What the call reads and writes, and how that lies.
  std::array<Value, 3> operands;
  std::array<memref::ExtractStridedMetadataOp, 3> metadata;
};
} // namespace

/// Batches in C's order, then rows and columns.
SmallVector<unsigned> ContractionCall::getLoopsOfCopy(unsigned i) const {
  SmallVector<unsigned> loops(roles.batches);
  llvm::append_range(loops, i == 1 ? roles.k : roles.m);
  llvm::append_range(loops, i == 0 ? roles.k : roles.n);
  return loops;
}

/// Whether some strides, which are only known when the call is made, decide
/// whether two loops of batches are one.
static bool hasUnknownStrides(const OperandLayouts &layouts) {
  return llvm::any_of(layouts, [](const OperandLayout &layout) {
    return llvm::any_of(layout.strides, ShapedType::isDynamic);
  });
}

/// Chooses which operands to copy, as few as make one call of the product; the
/// last choice, all of them, always does.
MatrixProducts ContractionCall::chooseCopies() {
  constexpr unsigned kChoices[] = {0, 1, 2, 3, 4, 5, 6, 7};
  for (unsigned choice : kChoices) {
    OperandLayouts chosen = layouts;
    for (unsigned i = 0; i < 3; ++i)
      if (choice >> i & 1)
        chosen[i] = OperandLayout::getContiguous(getLoopsOfCopy(i), sizes);
    std::optional<MatrixProducts> products =
        findMatrixProducts(roles, sizes, chosen);
    if (!products ||
        (!isOneCall(products) && (choice != 0 || !hasUnknownStrides(chosen))))
      continue;
    for (unsigned i = 0; i < 3; ++i)
      isCopied[i] = choice >> i & 1;
    layouts = chosen;
    return *products;
  }
  llvm_unreachable("contiguous operands are one call");
}

void ContractionCall::copy(unsigned i, bool accumulate) {
  operands[i] = op.getOperand(i);
  if (!isCopied[i])
    return;
  // For each dimension of the copy that of the operand, and the reverse.
  SmallVector<unsigned> own = getLoopsOf(op.getMap(i)), dims, places;
  for (unsigned loop : layouts[i].loops)
    dims.push_back(llvm::find(own, loop) - own.begin());
  for (unsigned loop : own)
    places.push_back(llvm::find(layouts[i].loops, loop) -
                     layouts[i].loops.begin());
  Value source = op.getOperand(i);
  Type element = op.getOperandType(i).getElementType();
  operands[i] = allocateLike(builder, loc, source, dims, element);
  if (i < 2 || accumulate)
    copyElements(builder, loc, source, operands[i], dims);
}

Value ContractionCall::sizeOf(ArrayRef<unsigned> group) {
  Value size = constant(1);
  for (unsigned loop : group)
    for (unsigned i = 0; i < 3; ++i) {
      const auto *at = llvm::find(layouts[i].loops, loop);
      if (at == layouts[i].loops.end())
        continue;
      Value extent = builder.createOrFold<memref::DimOp>(
          loc, operands[i], at - layouts[i].loops.begin());
      size = builder.createOrFold<arith::MulIOp>(loc, size, extent);
      break;
    }
  return size;
}

/// From one element of the group's fastest loop to the next; 0 where the
/// operand has the same for all.
Value ContractionCall::strideOf(unsigned i, ArrayRef<unsigned> group) {
  const auto *at = group.empty() ? layouts[i].loops.end()
                                 : llvm::find(layouts[i].loops, group.back());
  if (at == layouts[i].loops.end())
    return constant(0);
  auto dim = at - layouts[i].loops.begin();
  int64_t known = layouts[i].strides[dim];
  return ShapedType::isDynamic(known) ? Value(metadata[i].getStrides()[dim])
                                      : constant(known);
}

/// As nmCublasTryContract of lib/Runtime/Cuda/CublasContract.cpp takes them.
SmallVector<Value> ContractionCall::getArguments(const MatrixProducts &products,
                                                 bool accumulate) {
  constexpr int64_t kAccumulate = 1, kAllowTF32 = 2;
  SmallVector<unsigned> none;
  ArrayRef<unsigned> inner = none, outer = none;
  if (!products.batches.empty())
    inner = products.batches.back();
  if (products.batches.size() > 1)
    outer = products.batches.front();
  auto typeOf = [&](unsigned i) {
    Type element = op.getOperandType(i).getElementType();
    return constant(static_cast<int64_t>(*mlir::nm::getElementType(element)));
  };
  SmallVector<Value> arguments = {
      sizeOf(products.m), sizeOf(products.n), sizeOf(products.k), sizeOf(outer),
      sizeOf(inner),      pointerTo(0),       pointerTo(1),       pointerTo(2),
      typeOf(0),          typeOf(2)};
  ArrayRef<unsigned> rows[] = {products.m, products.k, products.m},
                     columns[] = {products.k, products.n, products.n};
  for (unsigned i = 0; i < 3; ++i)
    llvm::append_range(arguments, SmallVector<Value>{strideOf(i, outer),
                                                     strideOf(i, inner),
                                                     strideOf(i, rows[i]),
                                                     strideOf(i, columns[i])});
  bool allowTF32 = op.getArithmetic() == Arithmetic::TF32;
  arguments.push_back(
      constant((accumulate ? kAccumulate : 0) + (allowTF32 ? kAllowTF32 : 0)));
  return arguments;
}

Value ContractionCall::create(bool accumulate, DeclareFunction declare) {
  MatrixProducts products = chooseCopies();
  for (unsigned i = 0; i < 3; ++i) {
    copy(i, accumulate);
    metadata[i] =
        memref::ExtractStridedMetadataOp::create(builder, loc, operands[i]);
  }
  SmallVector<Value> arguments = getArguments(products, accumulate);
  func::FuncOp callee =
      declare("nmCublasTryContract",
              builder.getFunctionType(ValueRange(arguments).getTypes(),
                                      builder.getIndexType()));
  Value queued =
      func::CallOp::create(builder, loc, callee, arguments).getResult(0);
  if (isCopied[2]) {
    SmallVector<unsigned> own = getLoopsOf(op.getMap(2)), dims;
    for (unsigned loop : layouts[2].loops)
      dims.push_back(llvm::find(own, loop) - own.begin());
    copyElements(builder, loc, operands[2], op.getC(), dims, /*isBack=*/true);
  }
  for (unsigned i = 0; i < 3; ++i)
    if (isCopied[i])
      memref::DeallocOp::create(builder, loc, operands[i]);
  return queued;
}

void mlir::nm::callContraction(ContractOp op, DeclareFunction declare) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  linalg::FillOp fill = findZeroFill(op, op.getC());
  Value loaded = HasCublasOp::create(builder, loc);
  auto attempt =
      scf::IfOp::create(builder, loc, builder.getIndexType(), loaded,
                        /*addThenBlock=*/true, /*addElseBlock=*/true);
  builder.setInsertionPointToStart(attempt.thenBlock());
  Value queued =
      ContractionCall(builder, op).create(/*accumulate=*/!fill, declare);
  scf::YieldOp::create(builder, loc, queued);
  builder.setInsertionPointToStart(attempt.elseBlock());
  scf::YieldOp::create(builder, loc,
                       Value(arith::ConstantIndexOp::create(builder, loc, 0)));

  builder.setInsertionPoint(op);
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value isLeft = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                       attempt.getResult(0), zero);
  auto left = scf::IfOp::create(builder, loc, isLeft);
  op->moveBefore(left.thenBlock()->getTerminator());
  if (fill)
    fill->moveBefore(op);
  expandContraction(op);
}
