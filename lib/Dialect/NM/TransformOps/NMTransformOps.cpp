//===- NMTransformOps.cpp - The phases as transform ops -------------------===//

#include "nm/Dialect/NM/TransformOps/NMTransformOps.h"

#include "nm/Dialect/NM/IR/CheckDivisors.h"
#include "nm/Dialect/NM/IR/Chip.h"
#include "nm/Dialect/NM/Transforms/Phases.h"
#include "nm/GPU/Phases.h"
#include "nm/GPU/Tile/NMToGPU.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Support/DebugStringHelper.h"
#include "llvm/Support/Threading.h"

using namespace mlir;
using namespace mlir::nm;
using transform::TransformResults;
using transform::TransformRewriter;
using transform::TransformState;

//===----------------------------------------------------------------------===//
// Failures
//===----------------------------------------------------------------------===//

/// Runs `phase` on `target`. The errors that it emits are those of the failure,
/// which a transform op around this one may silence.
static DiagnosedSilenceableFailure
runPhase(Operation *target, function_ref<LogicalResult()> phase) {
  SmallVector<Diagnostic> errors;
  uint64_t thread = llvm::get_threadid();
  ScopedDiagnosticHandler handler(
      target->getContext(), [&](Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() != DiagnosticSeverity::Error ||
            llvm::get_threadid() != thread)
          return failure();
        errors.push_back(std::move(diagnostic));
        return success();
      });
  if (succeeded(phase()))
    return DiagnosedSilenceableFailure::success();
  if (errors.empty())
    return emitSilenceableFailure(target) << "could not be transformed";
  return DiagnosedSilenceableFailure::silenceableFailure(std::move(errors));
}

/// A failure that names the payload that `transform` expected.
static DiagnosedSilenceableFailure
refusePayload(transform::TransformOpInterface transform, StringRef expected,
              Operation *target) {
  DiagnosedSilenceableFailure failure = emitSilenceableFailure(transform)
                                        << "expected payload ops to be "
                                        << expected << ", but got "
                                        << target->getName().getStringRef();
  failure.attachNote(target->getLoc()) << "payload op";
  return failure;
}

//===----------------------------------------------------------------------===//
// What a phase makes
//===----------------------------------------------------------------------===//

namespace {
/// Forwards what a rewriter does, and remembers the ops that it inserts and why
/// it rewrote none.
class StageListener : public RewriterBase::ForwardingListener {
public:
  explicit StageListener(RewriterBase &rewriter)
      : ForwardingListener(rewriter.getListener()), rewriter(rewriter),
        before(rewriter.getListener()) {
    rewriter.setListener(this);
  }
  ~StageListener() override { rewriter.setListener(before); }

  void notifyOperationInserted(Operation *op,
                               OpBuilder::InsertPoint previous) override {
    ForwardingListener::notifyOperationInserted(op, previous);
    inserted.insert(op);
  }

  void notifyMatchFailure(Location loc,
                          function_ref<void(Diagnostic &)> describe) override {
    ForwardingListener::notifyMatchFailure(loc, describe);
    Diagnostic diagnostic(loc, DiagnosticSeverity::Remark);
    describe(diagnostic);
    reason = diagnostic.str();
  }

  /// The ops of type `OpTy` in `root` that were inserted, and `kept`.
  template <typename OpTy>
  SmallVector<Operation *> collect(Operation *root, Operation *kept = nullptr) {
    SmallVector<Operation *> found;
    root->walk<WalkOrder::PreOrder>([&](OpTy op) {
      if (op.getOperation() == kept || inserted.contains(op))
        found.push_back(op);
    });
    return found;
  }

  StringRef whyNot() const { return reason; }

private:
  RewriterBase &rewriter;
  OpBuilder::Listener *before;
  /// Addresses only: some of these may have been erased since.
  llvm::SmallPtrSet<void *, 32> inserted;
  std::string reason;
};
} // namespace

/// The function, or what else is isolated, that `op` is in.
static Operation *getRoot(Operation *op) {
  Operation *root = op->getParentWithTrait<OpTrait::IsIsolatedFromAbove>();
  return root ? root : op;
}

/// Affine maps that divide by zero end upstream's folders.
static LogicalResult checkRoot(Operation *target) {
  return checkDivisors(getRoot(target));
}

/// Runs `phase` on each payload op of `transform`, which is to be a `TargetTy`;
/// `expected` names that. `collect` takes what each of them became.
template <typename TargetTy>
static DiagnosedSilenceableFailure runOnPayload(
    transform::TransformOpInterface transform, TransformRewriter &rewriter,
    TransformState &state, StringRef expected,
    function_ref<LogicalResult(TargetTy)> phase,
    function_ref<void(StageListener &, Operation *root, Operation *target)>
        collect) {
  for (Operation *target : state.getPayloadOps(transform->getOperand(0))) {
    auto op = dyn_cast<TargetTy>(target);
    if (!op)
      return refusePayload(transform, expected, target);
    Operation *root = getRoot(target);
    StageListener listener(rewriter);
    rewriter.setInsertionPoint(target);
    DiagnosedSilenceableFailure result = runPhase(target, [&] {
      return success(succeeded(checkRoot(target)) && succeeded(phase(op)));
    });
    if (!result.succeeded())
      return result;
    collect(listener, root, target);
  }
  return DiagnosedSilenceableFailure::success();
}

static constexpr StringLiteral kProducts = "nm.spmm or nm.spmv";

//===----------------------------------------------------------------------===//
// On tensors
//===----------------------------------------------------------------------===//

DiagnosedSilenceableFailure
TransformFuseEpilogueOp::apply(TransformRewriter &rewriter,
                               TransformResults &results,
                               TransformState &state) {
  SmallVector<Operation *> fused;
  for (Operation *target : state.getPayloadOps(getTarget())) {
    auto op = dyn_cast<SparseProductOpInterface>(target);
    if (!op)
      return refusePayload(*this, kProducts, target);
    StageListener listener(rewriter);
    FailureOr<SparseProductOpInterface> product = fuseEpilogue(rewriter, op);
    if (failed(product))
      return emitSilenceableFailure(target)
             << "expected something to fuse to the epilogue, but "
             << listener.whyNot();
    fused.push_back(*product);
  }
  results.set(cast<OpResult>(getProduct()), fused);
  return DiagnosedSilenceableFailure::success();
}

static bool isForChip(Operation *op) {
  for (; op; op = op->getParentOp())
    if (op->hasAttr(kChipAttr))
      return true;
  return false;
}

/// Selects for a GPU where the module has a chip.
static LogicalResult selectByOptions(RewriterBase &rewriter,
                                     TransformSelectScheduleOp transform,
                                     SparseProductOpInterface op) {
  std::string schedule;
  if (ScheduleAttrInterface given = transform.getScheduleAttr())
    schedule = debugString(given);
  if (isForChip(op)) {
    NMSelectGpuScheduleOptions options;
    options.schedule = schedule;
    options.denseFallback = transform.getDenseFallback();
    options.exactPattern = !transform.getDenseFallback();
    return selectGpuSchedule(rewriter, op, options);
  }
  NMSelectScheduleOptions options;
  options.schedule = schedule;
  options.denseFallback = transform.getDenseFallback();
  options.features = transform.getFeatures().str();
  options.threads = transform.getThreads();
  return selectSchedule(op, options);
}

DiagnosedSilenceableFailure
TransformSelectScheduleOp::apply(TransformRewriter &rewriter,
                                 TransformResults &, TransformState &state) {
  return runOnPayload<SparseProductOpInterface>(
      *this, rewriter, state, kProducts,
      [&](SparseProductOpInterface op) {
        return selectByOptions(rewriter, *this, op);
      },
      [](StageListener &, Operation *, Operation *) {});
}

void TransformSelectScheduleOp::getEffects(
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  transform::onlyReadsHandle(getTargetMutable(), effects);
  transform::modifiesPayload(effects);
}

DiagnosedSilenceableFailure TransformTileOp::apply(TransformRewriter &rewriter,
                                                   TransformResults &results,
                                                   TransformState &state) {
  SmallVector<Operation *> loops, products;
  auto tile = [&](SparseProductOpInterface op) {
    ScheduleAttrInterface schedule = op.getScheduleAttr();
    return schedule && schedule.isForGPU() ? tileToGpuBlocks(rewriter, op)
                                           : tileToBlocks(rewriter, op);
  };
  auto collect = [&](StageListener &listener, Operation *root,
                     Operation *target) {
    llvm::append_range(loops, listener.collect<scf::ForallOp>(root));
    // One that has one tile is left as it is.
    llvm::append_range(
        products, listener.collect<SparseProductOpInterface>(root, target));
  };
  DiagnosedSilenceableFailure result = runOnPayload<SparseProductOpInterface>(
      *this, rewriter, state, kProducts, tile, collect);
  if (!result.succeeded())
    return result;
  results.set(cast<OpResult>(getLoops()), loops);
  results.set(cast<OpResult>(getProducts()), products);
  return result;
}

//===----------------------------------------------------------------------===//
// On memrefs
//===----------------------------------------------------------------------===//

/// Runs `phase` on the payload of `transform`, whose result are the ops of type
/// `ResultTy` that it makes or leaves as they are.
template <typename TargetTy, typename ResultTy>
static DiagnosedSilenceableFailure
applyStage(transform::TransformOpInterface transform,
           TransformRewriter &rewriter, TransformResults &results,
           TransformState &state, function_ref<LogicalResult(TargetTy)> phase) {
  SmallVector<Operation *> made;
  DiagnosedSilenceableFailure result = runOnPayload<TargetTy>(
      transform, rewriter, state, TargetTy::getOperationName(), phase,
      [&](StageListener &listener, Operation *root, Operation *target) {
        llvm::append_range(made, listener.collect<ResultTy>(root, target));
      });
  if (result.succeeded())
    results.set(cast<OpResult>(transform->getResult(0)), made);
  return result;
}

DiagnosedSilenceableFailure TransformStageOp::apply(TransformRewriter &rewriter,
                                                    TransformResults &results,
                                                    TransformState &state) {
  return applyStage<SpMMOp, SpMMOp>(
      *this, rewriter, results, state,
      [&](SpMMOp op) { return stageSharedMemory(rewriter, op); });
}

DiagnosedSilenceableFailure
TransformPipelineOp::apply(TransformRewriter &rewriter,
                           TransformResults &results, TransformState &state) {
  return applyStage<SpMMOp, SpMMOp>(
      *this, rewriter, results, state,
      [&](SpMMOp op) { return pipelineCopies(rewriter, op); });
}

DiagnosedSilenceableFailure
TransformExpandOp::apply(TransformRewriter &rewriter, TransformResults &results,
                         TransformState &state) {
  return applyStage<scf::ForallOp, gpu::LaunchOp>(
      *this, rewriter, results, state, [&](scf::ForallOp loop) {
        return convertBlocksToLaunch(rewriter, loop);
      });
}

//===----------------------------------------------------------------------===//
// The extension
//===----------------------------------------------------------------------===//

namespace {
class NMTransformDialectExtension
    : public transform::TransformDialectExtension<NMTransformDialectExtension> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(NMTransformDialectExtension)

  void init() {
    // Of the schedules that are attributes of the ops.
    declareDependentDialect<NMDialect>();
    // What the phases make.
    declareGeneratedDialect<affine::AffineDialect>();
    declareGeneratedDialect<arith::ArithDialect>();
    declareGeneratedDialect<gpu::GPUDialect>();
    declareGeneratedDialect<linalg::LinalgDialect>();
    declareGeneratedDialect<LLVM::LLVMDialect>();
    declareGeneratedDialect<memref::MemRefDialect>();
    declareGeneratedDialect<NVVM::NVVMDialect>();
    declareGeneratedDialect<nvgpu::NVGPUDialect>();
    declareGeneratedDialect<scf::SCFDialect>();
    declareGeneratedDialect<tensor::TensorDialect>();
    declareGeneratedDialect<ub::UBDialect>();
    declareGeneratedDialect<vector::VectorDialect>();
    registerTransformOps<
#define GET_OP_LIST
#include "nm/Dialect/NM/TransformOps/NMTransformOps.cpp.inc"
        >();
  }
};
} // namespace

#define GET_OP_CLASSES
#include "nm/Dialect/NM/TransformOps/NMTransformOps.cpp.inc"

void mlir::nm::registerTransformDialectExtension(DialectRegistry &registry) {
  registry.addExtensions<NMTransformDialectExtension>();
}
