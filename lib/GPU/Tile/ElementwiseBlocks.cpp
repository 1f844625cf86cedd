//===- ElementwiseBlocks.cpp - Rows of elements to threads ----------------===//

#include "GPU/Tile/ElementwiseBlocks.h"

#include "GPU/Sums/TileEpilogue.h"
#include "GPU/Tile/CombineBlocks.h"
#include "GPU/Tile/LaunchBlocks.h"

#include "nm/Dialect/NM/IR/Epilogue.h"
#include "nm/Dialect/NM/IR/NM.h"
#include "nm/GPU/Tile/GpuTile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::nm;

/// Elements of a thread: four of 32 bits are the widest access.
static constexpr int64_t kWidth = 4;

static SmallVector<linalg::GenericOp> collectGenerics(scf::ForallOp loop) {
  return llvm::to_vector(loop.getBody()->getOps<linalg::GenericOp>());
}

bool mlir::nm::isElementwise(scf::ForallOp loop) {
  bool hasProduct = loop.walk([](SparseProductOpInterface) {
                          return WalkResult::interrupt();
                        })
                        .wasInterrupted();
  return !hasProduct && (!collectGenerics(loop).empty() ||
                         !loop.getBody()->getOps<CombineOp>().empty());
}

/// Whether rows of `buffer` are a multiple of four elements apart.
static bool hasAlignedStrides(Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  auto [strides, offset] = type.getStridesAndOffset();
  return strides.back() == 1 &&
         llvm::all_of(ArrayRef(strides).drop_back(), [](int64_t stride) {
           return !ShapedType::isDynamic(stride) && stride % kWidth == 0;
         });
}

/// Whether four elements, from a multiple of four on, can be accessed at once.
static bool hasAlignedRows(Value buffer) {
  // A view may have dropped the dimension that its offset is a multiple of.
  auto view = buffer.getDefiningOp<memref::SubViewOp>();
  while (hasAlignedStrides(buffer) && view) {
    buffer = view.getSource();
    view = buffer.getDefiningOp<memref::SubViewOp>();
  }
  return hasAlignedStrides(buffer);
}

namespace {
class RowOfElements {
public:
  RowOfElements(RewriterBase &rewriter, linalg::GenericOp op)
      : rewriter(rewriter), loc(op.getLoc()), op(op) {}

  LogicalResult verify(scf::ForallOp loop);
  void expand(int64_t threads);

private:
  MemRefType getOutputType() {
    return cast<MemRefType>(op.getDpsInits()[0].getType());
  }
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(rewriter, loc, value);
  }
  Value isInside(Value column);
  SmallVector<Value> getIndices(Value column);
  Value load(OpOperand &operand, Value column, int64_t width);
  /// Computes `width` elements from `column` on.
  void compute(Value column, int64_t width);
  void computeOneByOne(Value first, Value step);

  RewriterBase &rewriter;
  Location loc;
  linalg::GenericOp op;
};
} // namespace

LogicalResult RowOfElements::verify(scf::ForallOp loop) {
  if (!op.hasPureBufferSemantics())
    return op.emitOpError() << "expected operands to be memrefs, which "
                               "bufferization makes of tensors";
  if (op.getNumLoops() == 0)
    return op.emitOpError() << "expected rows of elements in blocks without a "
                               "product, but got a scalar";
  bool permutations =
      llvm::all_of(op.getIndexingMapsArray(),
                   [](AffineMap map) { return map.isProjectedPermutation(); });
  bool readsOperands =
      llvm::any_of(op->getOpOperands(), [&](OpOperand &operand) {
        return op.payloadUsesValueFromOperand(&operand);
      });
  bool mappable =
      llvm::all_of(op.getBody()->without_terminator(), [](Operation &inner) {
        return OpTrait::hasElementwiseMappableTraits(&inner);
      });
  if (op.getNumDpsInits() != 1 || !permutations || !mappable ||
      !readsOperands ||
      !op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity())
    return op.emitOpError() << "expected elementwise arithmetic with one "
                               "result in blocks without a product";
  if (!llvm::all_of(getOutputType().getShape().drop_back(),
                    [](int64_t size) { return size == 1; }) ||
      !getConstantIntValue(loop.getMixedStep().back()))
    return op.emitOpError() << "expected blocks of one row, of a constant "
                               "number of columns";
  return success();
}

/// `column < size of the row`.
Value RowOfElements::isInside(Value column) {
  Value row = op.getDpsInits()[0];
  Value size = rewriter.createOrFold<memref::DimOp>(
      loc, row, getOutputType().getRank() - 1);
  return arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ult, column,
                               size);
}

SmallVector<Value> RowOfElements::getIndices(Value column) {
  SmallVector<Value> indices(getOutputType().getRank(), constant(0));
  indices.back() = column;
  return indices;
}

Value RowOfElements::load(OpOperand &operand, Value column, int64_t width) {
  Value buffer = operand.get();
  Type element = cast<MemRefType>(buffer.getType()).getElementType();
  AffineMap map = op.getMatchingIndexingMap(&operand);
  if (width == 1 || !map.isIdentity() || element.getIntOrFloatBitWidth() < 8)
    return loadOperand(rewriter, loc, buffer, map, getIndices(column),
                       width == 1 ? VectorType()
                                  : VectorType::get(width, element));
  int64_t bytes = width * element.getIntOrFloatBitWidth() / 8;
  return vector::LoadOp::create(rewriter, loc, VectorType::get(width, element),
                                buffer, getIndices(column),
                                /*nontemporal=*/false, llvm::MaybeAlign(bytes));
}

void RowOfElements::compute(Value column, int64_t width) {
  SmallVector<Value> arguments;
  for (OpOperand &operand : op->getOpOperands())
    arguments.push_back(op.payloadUsesValueFromOperand(&operand)
                            ? load(operand, column, width)
                            : Value());
  // What is not used may be anything, as all of one shape.
  auto *used =
      llvm::find_if(arguments, [](Value value) { return bool(value); });
  for (Value &argument : arguments)
    if (!argument)
      argument = *used;
  Value result = inlineElementwise(rewriter, loc, *op.getBody(), arguments);
  Value output = op.getDpsInits()[0];
  int64_t bytes = width * getOutputType().getElementTypeBitWidth() / 8;
  if (width == 1)
    memref::StoreOp::create(rewriter, loc, result, output, getIndices(column));
  else
    vector::StoreOp::create(rewriter, loc, result, output, getIndices(column),
                            /*nontemporal=*/false, llvm::MaybeAlign(bytes));
}

/// The elements at `first`, `first` + `step` and so on, as far as there are.
void RowOfElements::computeOneByOne(Value first, Value step) {
  for (int64_t i = 0; i < kWidth; ++i) {
    OpBuilder::InsertionGuard guard(rewriter);
    Value offset = arith::MulIOp::create(rewriter, loc, step, constant(i));
    Value column = arith::AddIOp::create(rewriter, loc, first, offset);
    auto inside = scf::IfOp::create(rewriter, loc, isInside(column));
    rewriter.setInsertionPointToStart(inside.thenBlock());
    compute(column, 1);
  }
}

void RowOfElements::expand(int64_t threads) {
  rewriter.setInsertionPoint(op);
  Value thread = gpu::ThreadIdOp::create(rewriter, loc, gpu::Dimension::x);
  // Operands with another map are loaded whatever their alignment is.
  auto isAligned = [&](OpOperand &operand) {
    return !op.getMatchingIndexingMap(&operand).isIdentity() ||
           hasAlignedRows(operand.get());
  };
  // A vector of bits would be packed, where memory has a byte for each.
  if (getOutputType().getElementTypeBitWidth() < 8 ||
      !llvm::all_of(op->getOpOperands(), isAligned))
    return computeOneByOne(thread, constant(threads));
  Value column = arith::MulIOp::create(rewriter, loc, thread, constant(kWidth));
  Value last =
      arith::AddIOp::create(rewriter, loc, column, constant(kWidth - 1));
  auto whole = scf::IfOp::create(rewriter, loc, isInside(last),
                                 /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(whole.elseBlock());
  computeOneByOne(column, constant(1));
  rewriter.setInsertionPointToStart(whole.thenBlock());
  compute(column, kWidth);
}

LogicalResult mlir::nm::convertElementwiseToLaunch(RewriterBase &rewriter,
                                                   scf::ForallOp loop) {
  if (failed(expandCombine(rewriter, loop)))
    return failure();
  SmallVector<linalg::GenericOp> generics = collectGenerics(loop);
  if (generics.size() != 1)
    return loop.emitOpError() << "expected one linalg.generic in blocks "
                                 "without a product, but got "
                              << generics.size();
  RowOfElements row(rewriter, generics.front());
  if (failed(row.verify(loop)))
    return failure();
  int64_t columns = *getConstantIntValue(loop.getMixedStep().back());
  int64_t threads = llvm::alignTo(llvm::divideCeil(columns, kWidth), kWarpSize);
  row.expand(threads);
  rewriter.eraseOp(generics.front());
  launchBlocks(rewriter, loop, threads);
  return success();
}
