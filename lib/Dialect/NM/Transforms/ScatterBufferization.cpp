//===- ScatterBufferization.cpp - tensor.scatter to a loop of stores ------===//
//
// Upstream has tensor.scatter, which index_copy of a cache of keys and values
// becomes, and neither a bufferization of it nor bounds of its sizes.
//
//===----------------------------------------------------------------------===//

#include "ScatterBufferization.h"

#include "nm/Dialect/NM/IR/Checks.h"
#include "nm/Dialect/NM/IR/NM.h"
#include "nm/Dialect/NM/IR/SourceLocation.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dialect.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"

using namespace mlir;
using namespace mlir::bufferization;

namespace {
/// Stores the elements of one scatter, whose operands are buffers.
class ScatterLoop {
public:
  ScatterLoop(tensor::ScatterOp op, Value source, Value dest, Value indices)
      : op(op), source(source), dest(dest), indices(indices) {}

  void build(OpBuilder &builder);

private:
  int64_t countBatchDims() { return op.getIndicesType().getRank() - 1; }
  bool isScattered(int64_t dim) {
    return llvm::is_contained(op.getScatterDims(), dim);
  }
  Value getCoordinate(OpBuilder &builder, ValueRange ivs, int64_t place);
  void storeElement(OpBuilder &builder, ValueRange ivs);

  tensor::ScatterOp op;
  Value source, dest, indices;
};
} // namespace

/// Coordinate `place` of the slice that the element at `ivs` belongs to.
Value ScatterLoop::getCoordinate(OpBuilder &builder, ValueRange ivs,
                                 int64_t place) {
  Location loc = op.getLoc();
  SmallVector<Value> at(ivs.take_front(countBatchDims()));
  at.push_back(arith::ConstantIndexOp::create(builder, loc, place));
  Value index = memref::LoadOp::create(builder, loc, indices, at);
  if (index.getType().isIndex())
    return index;
  return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                    index);
}

/// An index outside of the destination stores nothing, and fails the call.
void ScatterLoop::storeElement(OpBuilder &builder, ValueRange ivs) {
  Location loc = op.getLoc();
  int64_t rank = op.getDestType().getRank();
  bool keepsRank = op.getSourceType().getRank() == countBatchDims() + rank;
  SmallVector<Value> at(rank);
  Value isInside =
      arith::ConstantIntOp::create(builder, loc, builder.getI1Type(), 1);
  std::string place = mlir::nm::getPlace(loc);
  for (auto [i, dim] : llvm::enumerate(op.getScatterDims())) {
    Value index = getCoordinate(builder, ivs, i);
    Value size = memref::DimOp::create(builder, loc, dest, dim);
    std::string text = (place.empty() ? "" : place + ": ") +
                       "tensor.scatter: expected an index from 0 to below {1} "
                       "in dimension " +
                       std::to_string(dim) + ", but got {0}";
    at[dim] = mlir::nm::CheckIndexOp::create(
        builder, loc, builder.getIndexType(), index, size, text);
    Value holds = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                        index, size);
    isInside = arith::AndIOp::create(builder, loc, isInside, holds);
  }
  size_t next = countBatchDims();
  for (int64_t dim = 0; dim < rank; ++dim) {
    if (!isScattered(dim))
      at[dim] = ivs[next];
    if (!isScattered(dim) || keepsRank)
      ++next;
  }
  Value element = memref::LoadOp::create(builder, loc, source, ivs);
  auto branch = scf::IfOp::create(builder, loc, isInside);
  OpBuilder inside = branch.getThenBodyBuilder();
  memref::StoreOp::create(inside, loc, element, dest, at);
}

void ScatterLoop::build(OpBuilder &builder) {
  Location loc = op.getLoc();
  int64_t rank = op.getSourceType().getRank();
  SmallVector<Value> zeros(rank,
                           arith::ConstantIndexOp::create(builder, loc, 0)),
      ones(rank, arith::ConstantIndexOp::create(builder, loc, 1)), sizes;
  for (int64_t dim = 0; dim < rank; ++dim)
    sizes.push_back(memref::DimOp::create(builder, loc, source, dim));
  scf::ParallelOp::create(builder, loc, zeros, sizes, ones,
                          [&](OpBuilder &body, Location, ValueRange ivs) {
                            storeElement(body, ivs);
                          });
}

namespace {
/// A scatter writes into its destination.
struct ScatterInterface
    : BufferizableOpInterface::ExternalModel<ScatterInterface,
                                             tensor::ScatterOp> {
  static bool isDest(Operation *op, OpOperand &operand) {
    return operand.get() == cast<tensor::ScatterOp>(op).getDest() &&
           &operand == &op->getOpOperand(1);
  }
  /// What is not scattered to stays.
  bool bufferizesToMemoryRead(Operation *, OpOperand &,
                              const AnalysisState &) const {
    return true;
  }
  bool bufferizesToMemoryWrite(Operation *op, OpOperand &operand,
                               const AnalysisState &) const {
    return isDest(op, operand);
  }
  AliasingValueList getAliasingValues(Operation *op, OpOperand &operand,
                                      const AnalysisState &) const {
    if (!isDest(op, operand))
      return {};
    return {{op->getOpResult(0), BufferRelation::Equivalent}};
  }
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto scatter = cast<tensor::ScatterOp>(op);
    FailureOr<SmallVector<Value>> buffers =
        mlir::nm::getBuffers(op, rewriter, options, state);
    if (failed(buffers))
      return failure();
    auto [source, dest, indices] =
        std::tuple((*buffers)[0], (*buffers)[1], (*buffers)[2]);
    rewriter.setInsertionPoint(op);
    ScatterLoop(scatter, source, dest, indices).build(rewriter);
    replaceOpWithBufferizedValues(rewriter, op, dest);
    return success();
  }
};

/// A scatter has its destination's sizes, by which callers allocate a result.
struct ScatterSizes
    : ValueBoundsOpInterface::ExternalModel<ScatterSizes, tensor::ScatterOp> {
  void
  populateBoundsForShapedValueDim(Operation *op, Value value, int64_t dim,
                                  ValueBoundsConstraintSet &constraints) const {
    Value dest = cast<tensor::ScatterOp>(op).getDest();
    constraints.bound(value)[dim] == constraints.getExpr(dest, dim);
  }
};
} // namespace

void mlir::nm::registerScatterBufferization(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, tensor::TensorDialect *) {
    tensor::ScatterOp::attachInterface<ScatterInterface, ScatterSizes>(
        *context);
    // Dialects that the loop has ops of.
    context->loadDialect<NMDialect, arith::ArithDialect, memref::MemRefDialect,
                         scf::SCFDialect>();
  });
}
