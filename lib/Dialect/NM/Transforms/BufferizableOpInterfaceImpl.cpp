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

/// Patches are a view of their image, which they do not copy.
struct PatchesOpInterface
    : BufferizableOpInterface::ExternalModel<PatchesOpInterface,
                                             mlir::nm::PatchesOp> {
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
    auto patches = cast<mlir::nm::PatchesOp>(op);
    FailureOr<BufferLikeType> image = bufferization::getBufferType(
        patches.getImage(), options, state, invocations);
    if (failed(image))
      return failure();
    return cast<BufferLikeType>(getMatrixBuffer(patches, Type(*image)));
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto patches = cast<mlir::nm::PatchesOp>(op);
    FailureOr<Value> image =
        getBuffer(rewriter, patches.getImage(), options, state);
    if (failed(image))
      return failure();
    replaceOpWithNewBufferizedOp<mlir::nm::PatchesOp>(
        rewriter, op, getMatrixBuffer(patches, image->getType()), *image,
        patches.getMap(), patches.getLoops(), patches.getGroups());
    return success();
  }

private:
  /// The matrix where the image is a memref of type `image`.
  static MemRefType getMatrixBuffer(mlir::nm::PatchesOp op, Type image) {
    ShapedType type = op.getMatrixType();
    return MemRefType::get(type.getShape(), type.getElementType(),
                           MemRefLayoutAttrInterface(),
                           cast<MemRefType>(image).getMemorySpace());
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
  });
}
