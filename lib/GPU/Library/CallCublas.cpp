//===- CallCublas.cpp - Products of cuBLAS to calls -----------------------===//

#include "nm/GPU/Passes.h"

#include "GPU/Library/CallAttention.h"
#include "GPU/Library/CallContraction.h"
#include "GPU/Library/CallConvolution.h"
#include "GPU/Library/LibraryEpilogue.h"

#include "nm/Dialect/NM/IR/CollectOps.h"
#include "nm/Dialect/NM/IR/ElementTypes.h"
#include "nm/Dialect/NM/IR/NM.h"
#include "nm/GPU/Stage/AccessWidth.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::nm {
#define GEN_PASS_DEF_NMCALLCUBLAS
#include "nm/GPU/Passes.h.inc"
} // namespace mlir::nm

using namespace mlir;
using namespace mlir::nm;

/// Whether the elements stand one after the other.
static bool isContiguous(MemRefType type) {
  int64_t expected = 1;
  SmallVector<int64_t> strides = type.getStridesAndOffset().first;
  for (int64_t dim = type.getRank(); dim-- > 0;) {
    if (type.getDimSize(dim) != 1 && strides[dim] != expected)
      return false;
    expected *= type.getDimSize(dim);
  }
  return true;
}

/// Whether the k of each column of packed weights stand side by side, and the
/// columns one after the other: B as its transpose [n x k].
static bool hasWholeColumns(SparseProductOpInterface product) {
  PackingAttr packing = product.getPanelPacking();
  auto type = dyn_cast<MemRefType>(product.getValues().getType());
  return packing && type && type.hasStaticShape() &&
         packing.getChunkColumns() == 1 &&
         packing.getChunkRows() == product.getStaticK() &&
         type.getDimSize(1) == 1 && isContiguous(type);
}

/// Why the library has no such product, if so.
static std::optional<std::string>
whyNotCublas(SparseProductOpInterface product) {
  if (!isa<SpMMOp>(product))
    return "expected nm.spmm for strategy cublas";
  if (!product.hasPureBufferSemantics())
    return "expected memrefs to call cuBLAS with";
  ::nm::Pattern pattern = product.getPattern();
  if (pattern.n != pattern.m)
    return "expected a pattern that keeps all weights for strategy cublas, "
           "but got " +
           pattern.str();
  if (product.getPackingAttr() && !hasWholeColumns(product))
    return "expected weights in condensed form, or with the k of each column "
           "side by side, for strategy cublas";
  Type type = product.getAType().getElementType();
  if (!type.isF32() && !type.isF16() && !type.isBF16() &&
      !type.isSignlessInteger(8) && !isa<Float8E4M3FNType>(type))
    return "expected operands of element type f32, f16, bf16, i8 or f8E4M3FN "
           "for strategy cublas";
  if (isa<Float8E4M3FNType>(type) &&
      (!product.getPackingAttr() || cast<SpMMOp>(*product).getTransposeA()))
    return "expected f8E4M3FN operands that have the k of each row and column "
           "side by side for strategy cublas";
  if (product.getNumBatchDims() > 1)
    return "expected at most one batch dimension for strategy cublas";
  if (product.hasEpilogue() && !findLibraryEpilogue(product))
    return "expected an epilogue that cuBLASLt has, a bias of columns, ReLU or "
           "GELU by tanh, for strategy cublas";
  if (!areRowsContiguous(product.getValues()))
    return "expected contiguous rows of weights for strategy cublas";
  return std::nullopt;
}

/// Lets the library work on a copy of `operand`, an A or C, where elements of
/// its rows are apart, as in a view of every other column.
static void makeRowsContiguous(OpOperand &operand, bool isWritten) {
  Value memref = operand.get();
  if (areRowsContiguous(memref))
    return;
  Operation *op = operand.getOwner();
  Location loc = op->getLoc();
  OpBuilder builder(op);
  Value copy = memref::AllocOp::create(
      builder, loc, memref::getMixedSizes(builder, loc, memref),
      getElementTypeOrSelf(memref));
  memref::CopyOp::create(builder, loc, memref, copy);
  operand.set(copy);
  builder.setInsertionPointAfter(op);
  if (isWritten)
    memref::CopyOp::create(builder, loc, copy, memref);
  memref::DeallocOp::create(builder, loc, copy);
}

namespace {
/// Builds the arguments of one call, all of them index.
class CallBuilder {
public:
  CallBuilder(OpBuilder &builder, SpMMOp op)
      : builder(builder), loc(op.getLoc()), op(op) {}

  SmallVector<Value> getArguments(bool accumulate);
  /// The further ones of a product with an epilogue: its kind, and the address
  /// of its bias or 0.
  SmallVector<Value> getEpilogueArguments(const LibraryEpilogue &epilogue);

private:
  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  Value sizeOf(Value operand, int64_t dim) {
    return builder.createOrFold<memref::DimOp>(loc, operand, dim);
  }
  memref::ExtractStridedMetadataOp describe(Value operand) {
    return memref::ExtractStridedMetadataOp::create(builder, loc, operand);
  }
  Value pointerTo(Value operand, memref::ExtractStridedMetadataOp metadata) {
    return getAddress(builder, operand, metadata);
  }
  /// As lib/Runtime/Cuda/Cublas.cpp takes them.
  int64_t getFlags(bool accumulate) {
    constexpr int64_t kAccumulate = 1, kAllowTF32 = 2, kTransposeB = 4,
                      kFastAccum = 8;
    return (accumulate ? kAccumulate : 0) +
           (op.getPackingAttr() ? kTransposeB : 0) +
           (op.getArithmetic() == Arithmetic::TF32 ? kAllowTF32 : 0) +
           (op.getArithmetic() == Arithmetic::FastAccum ? kFastAccum : 0);
  }
  /// Elements from one matrix of a batch to the next.
  Value batchStride(memref::ExtractStridedMetadataOp metadata) {
    auto strides = metadata.getStrides();
    return strides.size() == 3 ? strides[0] : constant(0);
  }

  OpBuilder &builder;
  Location loc;
  SpMMOp op;
};
} // namespace

SmallVector<Value> CallBuilder::getArguments(bool accumulate) {
  auto product = cast<SparseProductOpInterface>(*op);
  Value a = op.getA(), b = op.getValues(), c = op.getC();
  memref::ExtractStridedMetadataOp ofA = describe(a), ofB = describe(b),
                                   ofC = describe(c);
  auto typeOf = [&](ShapedType type) {
    return constant(
        static_cast<int64_t>(*mlir::nm::getElementType(type.getElementType())));
  };
  auto rowOf = [](memref::ExtractStridedMetadataOp metadata) -> Value {
    auto strides = metadata.getStrides();
    return strides[strides.size() - 2];
  };
  return {sizeOf(a, *product.getMDimOfA()),
          sizeOf(c, product.getNDimOfC()),
          sizeOf(a, product.getKDimOfA()),
          product.getNumBatchDims() == 0 ? constant(1) : sizeOf(a, 0),
          pointerTo(a, ofA),
          pointerTo(b, ofB),
          pointerTo(c, ofC),
          typeOf(product.getAType()),
          typeOf(product.getCType()),
          rowOf(ofA),
          op.getPackingAttr() ? constant(product.getStaticK()) : rowOf(ofB),
          rowOf(ofC),
          batchStride(ofA),
          batchStride(ofC),
          constant(op.getTransposeA()),
          constant(op.getTransposeC()),
          constant(getFlags(accumulate))};
}

SmallVector<Value>
CallBuilder::getEpilogueArguments(const LibraryEpilogue &epilogue) {
  Value bias = epilogue.bias;
  return {constant(epilogue.kind),
          bias ? pointerTo(bias, describe(bias)) : constant(0)};
}

namespace {
struct NMCallCublas : mlir::nm::impl::NMCallCublasBase<NMCallCublas> {
  using NMCallCublasBase::NMCallCublasBase;

  void runOnOperation() override {
    auto products = collectOps<SparseProductOpInterface>(
        getOperation(), [](SparseProductOpInterface product) {
          return isLibraryCall(product.getScheduleAttr());
        });
    if (available)
      for (SparseProductOpInterface product : products)
        if (failed(replaceProduct(product)))
          return signalPassFailure();
    if (failed(replaceContractions()) || failed(replaceAttention()))
      return signalPassFailure();
    for (Operation *condition : collectOps<Operation *>(
             getOperation(), llvm::IsaPred<HasCublasOp, HasCudnnOp>))
      replaceCondition(condition);
    removeDeadBranches();
  }

private:
  func::FuncOp declare(StringRef name, FunctionType type);
  void replaceCondition(Operation *op);
  /// Removes the branches of conditions that are known to be false.
  void removeDeadBranches();
  LogicalResult replaceProduct(SparseProductOpInterface product);
  LogicalResult replaceConvolution(SpMMOp op, PatchesOp patches);
  LogicalResult replaceContractions();
  LogicalResult replaceAttention();
  func::CallOp createCall(SpMMOp op, bool canRefuse, bool accumulate);
};
} // namespace

/// The runtime's function `name`.
func::FuncOp NMCallCublas::declare(StringRef name, FunctionType type) {
  if (auto known = getOperation().lookupSymbol<func::FuncOp>(name))
    return known;
  OpBuilder builder = OpBuilder::atBlockBegin(getOperation().getBody());
  auto function =
      func::FuncOp::create(builder, getOperation().getLoc(), name, type);
  function.setPrivate();
  return function;
}

/// `op` asks whether a library can be loaded.
void NMCallCublas::replaceCondition(Operation *op) {
  OpBuilder builder(op);
  Location loc = op->getLoc();
  Value loaded = arith::ConstantIntOp::create(builder, loc, 0, 1);
  if (available) {
    StringRef name =
        isa<HasCudnnOp>(op) ? "nmCudnnIsLoaded" : "nmCublasIsLoaded";
    func::FuncOp callee =
        declare(name, builder.getFunctionType({}, builder.getIndexType()));
    Value code = func::CallOp::create(builder, loc, callee).getResult(0);
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
    loaded = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, code,
                                   zero);
  }
  op->replaceAllUsesWith(ValueRange{loaded});
  op->erase();
}

void NMCallCublas::removeDeadBranches() {
  RewritePatternSet patterns(&getContext());
  scf::IfOp::getCanonicalizationPatterns(patterns, &getContext());
  (void)applyPatternsGreedily(getOperation(), std::move(patterns));
}

/// The branches of which `op` is one and the other computes the same in the
/// same memory, if so.
template <typename Condition>
static scf::IfOp findBranches(Operation *op) {
  auto branches = dyn_cast<scf::IfOp>(op->getParentOp());
  if (!branches || branches.getNumResults() != 0 ||
      branches.getElseRegion().empty() ||
      branches.thenBlock() != op->getBlock() ||
      !branches.getCondition().getDefiningOp<Condition>())
    return {};
  return branches;
}

/// Lets the else branch run after the then branch, too, where that yields zero:
/// cuBLAS has refused, and C is as it was.
static void runElseOnRefusal(scf::IfOp branches, Value queued) {
  OpBuilder builder(branches);
  Location loc = branches.getLoc();
  auto attempt =
      scf::IfOp::create(builder, loc, queued.getType(), branches.getCondition(),
                        /*addThenBlock=*/false, /*addElseBlock=*/true);
  attempt.getThenRegion().takeBody(branches.getThenRegion());
  attempt.thenYield().getResultsMutable().assign(queued);
  builder.setInsertionPointToEnd(attempt.elseBlock());
  Value no = arith::ConstantIndexOp::create(builder, loc, 0);
  scf::YieldOp::create(builder, loc, no);

  builder.setInsertionPoint(branches);
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value isLeft = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                       attempt.getResult(0), zero);
  branches.getConditionMutable().assign(isLeft);
  branches.getThenRegion().takeBody(branches.getElseRegion());
}

/// Products of computed operands are not scheduled: the library makes them, or
/// loops do.
LogicalResult NMCallCublas::replaceContractions() {
  for (auto op : collectOps<ContractOp>(getOperation())) {
    if (!op.hasPureBufferSemantics())
      return op.emitOpError("expected memrefs to call cuBLAS with");
    if (!available) {
      expandContraction(op);
      continue;
    }
    callContraction(op, [&](StringRef name, FunctionType type) {
      return declare(name, type);
    });
  }
  return success();
}

/// Never takes the branch of the library.
static void forbidLibrary(scf::IfOp branches) {
  OpBuilder builder(branches);
  Operation *loaded = branches.getCondition().getDefiningOp();
  branches.getConditionMutable().assign(
      arith::ConstantIntOp::create(builder, branches.getLoc(), 0, 1));
  // Nothing else would load the library for this.
  if (loaded->use_empty())
    loaded->erase();
}

LogicalResult NMCallCublas::replaceAttention() {
  for (auto op : collectOps<AttentionOp>(getOperation())) {
    if (!op.hasPureBufferSemantics())
      return op.emitOpError("expected memrefs to call cuDNN with");
    // Others are for kernels.
    scf::IfOp branches = findBranches<HasCudnnOp>(op);
    if (!branches)
      continue;
    Value queued;
    bool isShort = isShortKernel(op);
    if (isShort)
      op.emitRemark("attention is a kernel, which takes no longer than a call "
                    "of cuDNN for so few products");
    if (available && !isShort)
      queued = callAttention(op, [&](StringRef name, FunctionType type) {
        return declare(name, type);
      });
    op.erase();
    if (queued)
      runElseOnRefusal(branches, queued);
    else
      forbidLibrary(branches);
  }
  return success();
}

/// The runtime's function for a product, which may refuse it where something
/// else can make it.
func::CallOp NMCallCublas::createCall(SpMMOp op, bool canRefuse,
                                      bool accumulate) {
  OpBuilder builder(op);
  CallBuilder call(builder, op);
  SmallVector<Value> arguments = call.getArguments(accumulate);
  StringRef name = canRefuse ? "nmCublasTryMultiply" : "nmCublasMultiply";
  if (std::optional<LibraryEpilogue> epilogue = findLibraryEpilogue(op)) {
    llvm::append_range(arguments, call.getEpilogueArguments(*epilogue));
    name = "nmCublasTryEpilogue";
  }
  SmallVector<Type> results(canRefuse ? 1 : 0, builder.getIndexType());
  func::FuncOp callee = declare(
      name, builder.getFunctionType(ValueRange(arguments).getTypes(), results));
  return func::CallOp::create(builder, op.getLoc(), callee, arguments);
}

/// Whether the library can read the bias of `op`, if it has one, as it is.
static bool hasContiguousBias(SpMMOp op) {
  std::optional<LibraryEpilogue> epilogue = findLibraryEpilogue(op);
  return !epilogue || !epilogue->bias ||
         isContiguous(cast<MemRefType>(epilogue->bias.getType()));
}

LogicalResult NMCallCublas::replaceConvolution(SpMMOp op, PatchesOp patches) {
  scf::IfOp branches = findBranches<HasCudnnOp>(op);
  linalg::FillOp fill = findZeroFill(op, op.getC());
  if (!branches || !fill || op.hasEpilogue() || !op.getPackingAttr())
    return op.emitOpError()
           << "expected zeros as C, weights with the k of each column side by "
              "side, no epilogue, and another branch under nm.has_cudnn, for "
              "where cuDNN refuses the convolution";
  Value queued =
      callConvolution(op, patches, [&](StringRef name, FunctionType type) {
        return declare(name, type);
      });
  if (!queued)
    return op.emitOpError() << "expected patches of a convolution";
  fill.erase();
  op.erase();
  if (patches->use_empty())
    patches.erase();
  runElseOnRefusal(branches, queued);
  return success();
}

LogicalResult NMCallCublas::replaceProduct(SparseProductOpInterface product) {
  if (std::optional<std::string> reason = whyNotCublas(product))
    return product->emitOpError() << *reason;
  auto op = cast<SpMMOp>(*product);
  if (PatchesOp patches = findConvolvedPatches(product))
    return replaceConvolution(op, patches);
  scf::IfOp branches = findBranches<HasCublasOp>(op);
  if (product.hasEpilogue() && !branches)
    return op.emitOpError() << "expected another branch under nm.has_cublas, "
                               "for where cuBLASLt refuses the epilogue";
  if (!hasContiguousBias(op)) {
    forbidLibrary(branches);
    return success();
  }
  linalg::FillOp fill = findZeroFill(op, op.getC());
  makeRowsContiguous(op.getAMutable(), /*isWritten=*/false);
  makeRowsContiguous(op.getCMutable(), /*isWritten=*/true);
  func::CallOp call = createCall(op, /*canRefuse=*/bool(branches),
                                 !fill && !product.hasEpilogue());
  if (fill)
    fill.erase();
  op.erase();
  if (branches)
    runElseOnRefusal(branches, call.getResult(0));
  return success();
}
