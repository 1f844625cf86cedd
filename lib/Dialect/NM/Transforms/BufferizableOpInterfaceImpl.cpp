//===- BufferizableOpInterfaceImpl.cpp - Bufferization of nm --------------===//

#include "nm/Dialect/NM/Transforms/BufferizableOpInterfaceImpl.h"

#include "ScatterBufferization.h"

#include "nm/Dialect/NM/IR/Contractions.h"
#include "nm/Dialect/NM/IR/PatchesOp.h"

#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"
#include "mlir/IR/Dialect.h"

using namespace mlir;
using namespace mlir::bufferization;
using mlir::nm::PatchesOp;
using mlir::nm::RepeatedRowsOp;

FailureOr<SmallVector<Value>>
mlir::nm::getBuffers(Operation *op, RewriterBase &rewriter,
                     const BufferizationOptions &options,
                     BufferizationState &state) {
  SmallVector<Value> buffers;
  for (Value operand : op->getOperands()) {
    FailureOr<Value> buffer = getBuffer(rewriter, operand, options, state);
    if (failed(buffer))
      return failure();
    buffers.push_back(*buffer);
  }
  return buffers;
}

namespace {
/// Replaces a destination-style op on tensors by the same op on buffers.
template <typename OpTy>
struct DestinationOpInterface
    : DstBufferizableOpInterfaceExternalModel<DestinationOpInterface<OpTy>,
                                              OpTy> {
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand,
                              const AnalysisState &) const {
    // Sums accumulate into their destination, unless an epilogue makes it; the
    // format ops overwrite theirs.
    auto product = dyn_cast<mlir::nm::SparseProductOpInterface>(op);
    return (product && !product.hasEpilogue()) ||
           isa<mlir::nm::CombineOp, mlir::nm::ContractOp,
               mlir::nm::RecomputeFromOp>(op) ||
           !cast<DestinationStyleOpInterface>(op).isDpsInit(&operand);
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto destinationOp = cast<DestinationStyleOpInterface>(op);
    if (!destinationOp.hasPureTensorSemantics())
      return success();
    FailureOr<SmallVector<Value>> buffers =
        mlir::nm::getBuffers(op, rewriter, options, state);
    if (failed(buffers))
      return failure();
    SmallVector<Value> results;
    for (OpOperand &init : destinationOp.getDpsInitsMutable())
      results.push_back((*buffers)[init.getOperandNumber()]);
    rewriter.setInsertionPoint(op);
    clone(rewriter, op, /*newResultTypes=*/TypeRange(), *buffers);
    replaceOpWithBufferizedValues(rewriter, op, results);
    return success();
  }
};

/// A matrix that is in no memory is a view of the tensor that it reads, which
/// it does not copy.
template <typename ConcreteModel, typename OpTy>
struct ViewOpInterface
    : BufferizableOpInterface::ExternalModel<ConcreteModel, OpTy> {
  bool bufferizesToMemoryRead(Operation *, OpOperand &,
                              const AnalysisState &) const {
    return true;
  }
  bool bufferizesToMemoryWrite(Operation *, OpOperand &,
                               const AnalysisState &) const {
    return false;
  }
  AliasingValueList getAliasingValues(Operation *op, OpOperand &,
                                      const AnalysisState &) const {
    return {{op->getResult(0), BufferRelation::Unknown}};
  }

  FailureOr<BufferLikeType>
  getBufferType(Operation *op, Value, const BufferizationOptions &options,
                const BufferizationState &state,
                SmallVector<Value> &invocations) const {
    FailureOr<BufferLikeType> source = bufferization::getBufferType(
        op->getOperand(0), options, state, invocations);
    if (failed(source))
      return failure();
    return cast<BufferLikeType>(
        ConcreteModel::getMatrixBuffer(cast<OpTy>(op), Type(*source)));
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    FailureOr<Value> source =
        getBuffer(rewriter, op->getOperand(0), options, state);
    if (failed(source))
      return failure();
    MemRefType type =
        ConcreteModel::getMatrixBuffer(cast<OpTy>(op), source->getType());
    rewriter.setInsertionPoint(op);
    Operation *view = clone(rewriter, op, TypeRange{type}, ValueRange{*source});
    replaceOpWithBufferizedValues(rewriter, op, view->getResults());
    return success();
  }
};

struct PatchesOpInterface : ViewOpInterface<PatchesOpInterface, PatchesOp> {
  /// The matrix where the image is a memref of type `image`.
  static MemRefType getMatrixBuffer(PatchesOp op, Type image) {
    ShapedType type = op.getMatrixType();
    return MemRefType::get(type.getShape(), type.getElementType(),
                           MemRefLayoutAttrInterface(),
                           cast<MemRefType>(image).getMemorySpace());
  }
};

struct RepeatedRowsOpInterface
    : ViewOpInterface<RepeatedRowsOpInterface, RepeatedRowsOp> {
  static MemRefType getMatrixBuffer(RepeatedRowsOp op, Type a) {
    auto type = cast<RankedTensorType>(op.getResult().getType());
    auto [strides, offset] = cast<MemRefType>(a).getStridesAndOffset();
    return MemRefType::get(
        type.getShape(), type.getElementType(),
        StridedLayoutAttr::get(op.getContext(), offset, strides),
        cast<MemRefType>(a).getMemorySpace());
  }
};

} // namespace

template <typename... Ops>
static void attachModels(MLIRContext *context) {
  (Ops::template attachInterface<DestinationOpInterface<Ops>>(*context), ...);
}

void mlir::nm::registerBufferizableOpInterfaceExternalModels(
    DialectRegistry &registry) {
  registerScatterBufferization(registry);
  registry.addExtension(+[](MLIRContext *context, NMDialect *) {
    attachModels<SpMMOp, SpMVOp, AttentionOp, ContractOp, CombineOp, CompressOp,
                 DecompressOp, PruneOp, PackOp, SplitFloatsOp, RecomputeFromOp>(
        context);
    PatchesOp::attachInterface<PatchesOpInterface>(*context);
    RepeatedRowsOp::attachInterface<RepeatedRowsOpInterface>(*context);
  });
}
