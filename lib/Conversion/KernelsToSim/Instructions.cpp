//===- Instructions.cpp - What the simulator has for each op --------------===//

#include "Instructions.h"

#include "InlineAsm.h"
#include "MatrixInstructions.h"
#include "WarpgroupInstructions.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::nm;

Value OperandBuilder::integer(int64_t value) const {
  return LLVM::ConstantOp::create(builder, op->getLoc(),
                                  builder.getI32IntegerAttr(int32_t(value)));
}

Value OperandBuilder::operand(unsigned i) const {
  Value value = operands[i];
  if (!value.getType().isInteger(1))
    return value;
  return LLVM::ZExtOp::create(builder, op->getLoc(), builder.getI32Type(),
                              value);
}

using Operands = FailureOr<SmallVector<Value>>;

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

static Operands getBarrier(const OperandBuilder &b) {
  auto op = dyn_cast<NVVM::BarrierOp>(b.op);
  Value id = op ? op.getBarrierId() : Value();
  Value count = op ? op.getNumberOfThreads() : Value();
  if (op && op.getReductionOp())
    return b.op->emitOpError("expected a barrier without a reduction: the "
                             "simulator has no other");
  return SmallVector<Value>{id ? id : b.integer(0),
                            count ? count : b.integer(-1)};
}

static Operands getBarrierArrival(const OperandBuilder &b) {
  auto op = cast<NVVM::BarrierArriveOp>(b.op);
  Value id = op.getBarrierId();
  return SmallVector<Value>{id ? id : b.integer(0), op.getNumberOfThreads()};
}

static Operands getElection(const OperandBuilder &b) {
  Value mask = cast<NVVM::ElectSyncOp>(b.op).getMembermask();
  return SmallVector<Value>{mask ? mask : b.integer(-1)};
}

static Operands getRegisterCount(const OperandBuilder &b) {
  return SmallVector<Value>{
      b.integer(cast<NVVM::SetMaxRegisterOp>(b.op).getRegCount())};
}

static Operands getPermutation(const OperandBuilder &b) {
  auto op = cast<NVVM::PermuteOp>(b.op);
  if (op.getMode() != NVVM::PermuteMode::DEFAULT || !op.getHi())
    return op.emitOpError("expected the default mode: the simulator has no "
                          "other");
  return SmallVector<Value>{op.getLo(), op.getHi(), op.getSelector()};
}

static Operands getDotOfBytes(const OperandBuilder &b) {
  auto op = cast<NVVM::DotAccumulate4WayOp>(b.op);
  if (op.getAType() != NVVM::DotAccumulateType::UNSIGNED ||
      op.getBType() != NVVM::DotAccumulateType::UNSIGNED)
    return op.emitOpError("expected bytes without a sign: the simulator has no "
                          "other");
  auto asWord = [&](Value bytes) -> Value {
    return LLVM::BitcastOp::create(b.builder, op.getLoc(),
                                   b.builder.getI32Type(), bytes);
  };
  return SmallVector<Value>{asWord(b.operand(0)), asWord(b.operand(1)),
                            b.operand(2)};
}

static Operands getBulkStore(const OperandBuilder &b) {
  auto op = cast<NVVM::CpAsyncBulkSharedCTAToGlobalOp>(b.op);
  if (op.getByteMask())
    return op.emitOpError("expected a copy of all bytes: the simulator has no "
                          "other");
  return SmallVector<Value>{op.getDstMem(), op.getSrcMem(), op.getSize()};
}

static Operands getBulkWait(const OperandBuilder &b) {
  return SmallVector<Value>{
      b.integer(cast<NVVM::CpAsyncBulkWaitGroupOp>(b.op).getGroup())};
}

static Operands getCopy(const OperandBuilder &b) {
  auto op = cast<NVVM::CpAsyncOp>(b.op);
  Value bytes = op.getCpSize();
  return SmallVector<Value>{b.operand(0), b.operand(1),
                            bytes ? bytes : b.integer(op.getSize())};
}

static SiteTable::Access getCopyAccess(Operation *op) {
  int64_t bytes = cast<NVVM::CpAsyncOp>(op).getSize();
  return {NM_SIM_COPY, NM_SIM_SHARED, bytes, bytes};
}

static Operands getWait(const OperandBuilder &b) {
  return SmallVector<Value>{
      b.integer(cast<NVVM::CpAsyncWaitGroupOp>(b.op).getN())};
}

static Operands getShuffle(const OperandBuilder &b) {
  auto kind = cast<NVVM::ShflOp>(b.op).getKind();
  return SmallVector<Value>{b.operand(0), b.operand(1), b.operand(2),
                            b.operand(3), b.integer(int64_t(kind))};
}

static Operands getVote(const OperandBuilder &b) {
  auto kind = cast<NVVM::VoteSyncOp>(b.op).getKind();
  return SmallVector<Value>{b.operand(0), b.operand(1),
                            b.integer(int64_t(kind))};
}

static Operands getReduction(const OperandBuilder &b) {
  auto op = cast<NVVM::ReduxOp>(b.op);
  return SmallVector<Value>{b.operand(1), b.operand(0),
                            b.integer(int64_t(op.getKind())),
                            b.integer(op.getAbs()), b.integer(op.getNan())};
}

template <typename OpTy>
static Operands getAligned(const OperandBuilder &b) {
  return SmallVector<Value>{
      b.integer(cast<OpTy>(b.op).getAligned().value_or(false))};
}

/// An mbarrier's op whose operands are `values`; it may not have a predicate.
template <typename OpTy>
static Operands withoutPredicate(const OperandBuilder &b,
                                 SmallVector<Value> values) {
  if (cast<OpTy>(b.op).getPredicate())
    return b.op->emitOpError("expected no predicate: the simulator has none "
                             "for mbarriers");
  return values;
}

static Operands getMbarrierInit(const OperandBuilder &b) {
  return withoutPredicate<NVVM::MBarrierInitOp>(b,
                                                {b.operand(0), b.operand(1)});
}

static Operands getArrival(const OperandBuilder &b) {
  auto op = cast<NVVM::MBarrierArriveOp>(b.op);
  if (op.getRelaxed())
    return b.op->emitOpError("expected an arrival that is not relaxed: the "
                             "simulator has no other");
  Value count = op.getCount();
  return SmallVector<Value>{b.operand(0), count ? count : b.integer(1),
                            b.integer(0)};
}

static Operands getExpectingArrival(const OperandBuilder &b) {
  if (cast<NVVM::MBarrierArriveExpectTxOp>(b.op).getRelaxed())
    return b.op->emitOpError("expected an arrival that is not relaxed: the "
                             "simulator has no other");
  return withoutPredicate<NVVM::MBarrierArriveExpectTxOp>(
      b, {b.operand(0), b.integer(1), b.operand(1)});
}

static Operands getPhaseWait(const OperandBuilder &b) {
  return SmallVector<Value>{b.operand(0), b.operand(1)};
}

static Operands getExpectation(const OperandBuilder &b) {
  return SmallVector<Value>{b.operand(0), b.integer(0), b.operand(1)};
}

/// The state that an arrival has returned, or a parity.
static Operands getPhaseTest(const OperandBuilder &b) {
  Value phase = b.operand(1);
  bool isParity = phase.getType().isInteger(32);
  if (isParity)
    phase = LLVM::ZExtOp::create(b.builder, b.op->getLoc(),
                                 b.builder.getI64Type(), phase);
  return SmallVector<Value>{b.operand(0), phase, b.integer(isParity)};
}

static Operands getTracked(const OperandBuilder &b) {
  return SmallVector<Value>{
      b.operand(0),
      b.integer(cast<NVVM::CpAsyncMBarrierArriveOp>(b.op).getNoinc())};
}

/// The blocks of a multicast; 0 where there is none.
static Value getMask(const OperandBuilder &b, Value mask) {
  if (!mask)
    return b.integer(0);
  return LLVM::ZExtOp::create(b.builder, b.op->getLoc(), b.builder.getI32Type(),
                              mask);
}

static Operands getBulkCopy(const OperandBuilder &b) {
  auto op = cast<NVVM::CpAsyncBulkGlobalToSharedClusterOp>(b.op);
  return SmallVector<Value>{op.getDstMem(), op.getSrcMem(), op.getMbar(),
                            op.getSize(), getMask(b, op.getMulticastMask())};
}

/// How many bytes it copies, an operand says.
static SiteTable::Access getBulkCopyAccess(Operation *) {
  return {NM_SIM_COPY, NM_SIM_SHARED, /*bytes=*/0, /*alignment=*/16};
}

/// A rank and five coordinates, from the innermost on.
static void addCoordinates(const OperandBuilder &b, ValueRange coordinates,
                           SmallVectorImpl<Value> &operands) {
  constexpr size_t kMaxRank = 5;
  operands.push_back(b.integer(int64_t(coordinates.size())));
  llvm::append_range(operands, coordinates);
  operands.append(kMaxRank - std::min(kMaxRank, coordinates.size()),
                  b.integer(0));
}

static Operands getTensorLoad(const OperandBuilder &b) {
  constexpr size_t kMaxOffsets = 3;
  auto op = cast<NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp>(b.op);
  bool isOfPixels = op.getMode() == NVVM::TMALoadMode::IM2COL;
  if (op.getPredicate() || op.getGroup() ||
      (op.getMode() != NVVM::TMALoadMode::TILE && !isOfPixels))
    return op.emitOpError("expected a copy of a tile or of pixels without "
                          "predicate: the simulator has no other");
  SmallVector<Value> operands = {op.getDstMem(), op.getTmaDescriptor(),
                                 op.getMbar()};
  addCoordinates(b, op.getCoordinates(), operands);
  operands.push_back(b.integer(isOfPixels));
  for (Value offset : op.getIm2colOffsets())
    operands.push_back(LLVM::ZExtOp::create(b.builder, op.getLoc(),
                                            b.builder.getI32Type(), offset));
  operands.append(kMaxOffsets - op.getIm2colOffsets().size(), b.integer(0));
  operands.push_back(getMask(b, op.getMulticastMask()));
  return operands;
}

static Operands getTensorStore(const OperandBuilder &b) {
  auto op = cast<NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp>(b.op);
  if (op.getPredicate() || op.getMode() != NVVM::TMAStoreMode::TILE)
    return op.emitOpError("expected a copy of a tile without predicate: the "
                          "simulator has no other");
  SmallVector<Value> operands = {op.getTmaDescriptor(), op.getSrcMem()};
  addCoordinates(b, op.getCoordinates(), operands);
  return operands;
}

static SiteTable::Access getBulkStoreAccess(Operation *) {
  return {NM_SIM_COPY, NM_SIM_GLOBAL, /*bytes=*/0, /*alignment=*/16};
}

/// Whether it orders accesses of shared memory for the asynchronous proxy.
static Operands getProxyFence(const OperandBuilder &b) {
  NVVM::ProxyKind kind = cast<NVVM::FenceProxyOp>(b.op).getKind();
  return SmallVector<Value>{b.integer(kind == NVVM::ProxyKind::async ||
                                      kind == NVVM::ProxyKind::async_shared)};
}

static Operands getSharedFence(const OperandBuilder &b) {
  return SmallVector<Value>{b.integer(1)};
}

/// A barrier's number, and how many threads if not all.
static Operands getBarrierInAsm(const OperandBuilder &b) {
  std::optional<AsmInstruction> text =
      parseInlineAsm(cast<LLVM::InlineAsmOp>(b.op));
  SmallVector<Value> values;
  for (const AsmOperand &operand : text->operands)
    values.push_back(operand.value ? operand.value : b.integer(operand.number));
  if (values.size() == 1)
    values.push_back(b.integer(-1));
  if (values.size() != 2 || !values[0].getType().isInteger(32) ||
      !values[1].getType().isInteger(32))
    return b.op->emitOpError("expected the number of a barrier and of threads");
  return values;
}

/// The address, the word as an i64, the mbarrier, and the bytes.
static Operands getAsyncStore(const OperandBuilder &b) {
  std::optional<AsmInstruction> text =
      parseInlineAsm(cast<LLVM::InlineAsmOp>(b.op));
  StringRef name = text->name;
  bool isKnown = name.consume_front("st.async.weak.shared::cluster.mbarrier::"
                                    "complete_tx::bytes.b") &&
                 (name == "32" || name == "64");
  if (!isKnown || text->operands.size() != 3 ||
      !llvm::all_of(text->operands, [](const AsmOperand &operand) {
        return operand.value != nullptr;
      }))
    return b.op->emitOpError(
        "expected st.async.weak.shared::cluster.mbarrier::"
        "complete_tx::bytes.b32 or .b64 of three operands");
  Value word = text->operands[1].value;
  if (word.getType().isInteger(32))
    word = LLVM::ZExtOp::create(b.builder, b.op->getLoc(),
                                b.builder.getI64Type(), word);
  return SmallVector<Value>{text->operands[0].value, word,
                            text->operands[2].value,
                            b.integer(name == "32" ? 4 : 8)};
}

static Operands getNone(const OperandBuilder &) { return SmallVector<Value>{}; }

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

static Instruction makeRegister(StringLiteral op, NmSimRegister reg) {
  return {op, Execution::Register, "nmSimReadRegister", getNone, nullptr, reg};
}

static ArrayRef<Instruction> getInstructions() {
  constexpr Execution thread = Execution::Thread, warp = Execution::Warp;
  static const Instruction kTable[] = {
      makeRegister("nvvm.read.ptx.sreg.tid.x", NM_SIM_TID_X),
      makeRegister("nvvm.read.ptx.sreg.tid.y", NM_SIM_TID_Y),
      makeRegister("nvvm.read.ptx.sreg.tid.z", NM_SIM_TID_Z),
      makeRegister("nvvm.read.ptx.sreg.ntid.x", NM_SIM_NTID_X),
      makeRegister("nvvm.read.ptx.sreg.ntid.y", NM_SIM_NTID_Y),
      makeRegister("nvvm.read.ptx.sreg.ntid.z", NM_SIM_NTID_Z),
      makeRegister("nvvm.read.ptx.sreg.ctaid.x", NM_SIM_CTAID_X),
      makeRegister("nvvm.read.ptx.sreg.ctaid.y", NM_SIM_CTAID_Y),
      makeRegister("nvvm.read.ptx.sreg.ctaid.z", NM_SIM_CTAID_Z),
      makeRegister("nvvm.read.ptx.sreg.nctaid.x", NM_SIM_NCTAID_X),
      makeRegister("nvvm.read.ptx.sreg.nctaid.y", NM_SIM_NCTAID_Y),
      makeRegister("nvvm.read.ptx.sreg.nctaid.z", NM_SIM_NCTAID_Z),
      makeRegister("nvvm.read.ptx.sreg.laneid", NM_SIM_LANEID),
      makeRegister("nvvm.read.ptx.sreg.warpid", NM_SIM_WARPID),
      makeRegister("nvvm.read.ptx.sreg.nwarpid", NM_SIM_NWARPID),
      makeRegister("nvvm.read.ptx.sreg.warpsize", NM_SIM_WARPSIZE),
      makeRegister("nvvm.read.ptx.sreg.lanemask.eq", NM_SIM_LANEMASK_EQ),
      makeRegister("nvvm.read.ptx.sreg.lanemask.le", NM_SIM_LANEMASK_LE),
      makeRegister("nvvm.read.ptx.sreg.lanemask.lt", NM_SIM_LANEMASK_LT),
      makeRegister("nvvm.read.ptx.sreg.lanemask.ge", NM_SIM_LANEMASK_GE),
      makeRegister("nvvm.read.ptx.sreg.lanemask.gt", NM_SIM_LANEMASK_GT),
      makeRegister("nvvm.read.ptx.sreg.dynamic.smem.size",
                   NM_SIM_DYNAMIC_SMEM_SIZE),
      makeRegister("nvvm.read.ptx.sreg.total.smem.size",
                   NM_SIM_TOTAL_SMEM_SIZE),
      makeRegister("nvvm.read.ptx.sreg.clusterid.x", NM_SIM_CLUSTERID_X),
      makeRegister("nvvm.read.ptx.sreg.clusterid.y", NM_SIM_CLUSTERID_Y),
      makeRegister("nvvm.read.ptx.sreg.clusterid.z", NM_SIM_CLUSTERID_Z),
      makeRegister("nvvm.read.ptx.sreg.nclusterid.x", NM_SIM_NCLUSTERID_X),
      makeRegister("nvvm.read.ptx.sreg.nclusterid.y", NM_SIM_NCLUSTERID_Y),
      makeRegister("nvvm.read.ptx.sreg.nclusterid.z", NM_SIM_NCLUSTERID_Z),
      makeRegister("nvvm.read.ptx.sreg.cluster.ctaid.x",
                   NM_SIM_CLUSTER_CTAID_X),
      makeRegister("nvvm.read.ptx.sreg.cluster.ctaid.y",
                   NM_SIM_CLUSTER_CTAID_Y),
      makeRegister("nvvm.read.ptx.sreg.cluster.ctaid.z",
                   NM_SIM_CLUSTER_CTAID_Z),
      makeRegister("nvvm.read.ptx.sreg.cluster.nctaid.x",
                   NM_SIM_CLUSTER_NCTAID_X),
      makeRegister("nvvm.read.ptx.sreg.cluster.nctaid.y",
                   NM_SIM_CLUSTER_NCTAID_Y),
      makeRegister("nvvm.read.ptx.sreg.cluster.nctaid.z",
                   NM_SIM_CLUSTER_NCTAID_Z),
      makeRegister("nvvm.read.ptx.sreg.cluster.ctarank",
                   NM_SIM_CLUSTER_CTARANK),
      makeRegister("nvvm.read.ptx.sreg.cluster.nctarank",
                   NM_SIM_CLUSTER_NCTARANK),
      {"nvvm.mapa", thread, "nmSimMapShared"},
      {"nvvm.cluster.arrive", thread, "nmSimArriveCluster",
       getAligned<NVVM::ClusterArriveOp>},
      {"nvvm.cluster.wait", thread, "nmSimWaitCluster",
       getAligned<NVVM::ClusterWaitOp>},
      {"nvvm.barrier0", thread, "nmSimBarrier", getBarrier},
      {"nvvm.barrier", thread, "nmSimBarrier", getBarrier},
      {"nvvm.barrier.arrive", thread, "nmSimArriveBarrier", getBarrierArrival},
      {"nvvm.bar.warp.sync", thread, "nmSimSyncWarp"},
      {"nvvm.memory.barrier", thread, "nmSimFence", getNone},
      {"nvvm.fence.proxy", thread, "nmSimFenceProxies", getProxyFence},
      {"nvvm.fence.mbarrier.init", thread, "nmSimFence", getNone},
      // Simulated kernels run one after the other.
      {"nvvm.griddepcontrol", thread, "nmSimFence", getNone},
      {"nvvm.cp.async.bulk.prefetch", thread, "nmSimPrefetchBulk"},
      {"nvvm.cp.async.shared.global", thread, "nmSimCopyAsync", getCopy,
       getCopyAccess},
      {"nvvm.cp.async.bulk.shared.cluster.global", thread, "nmSimCopyBulk",
       getBulkCopy, getBulkCopyAccess},
      {"nvvm.cp.async.mbarrier.arrive", thread, "nmSimTrackCopies", getTracked},
      {"nvvm.mbarrier.init", thread, "nmSimInitMbarrier", getMbarrierInit},
      {"nvvm.mbarrier.inval", thread, "nmSimInvalidateMbarrier"},
      {"nvvm.mbarrier.arrive", thread, "nmSimArriveMbarrier", getArrival,
       nullptr, 0, /*returnsState=*/true},
      {"nvvm.mbarrier.arrive.expect_tx", thread, "nmSimArriveMbarrier",
       getExpectingArrival, nullptr, 0, /*returnsState=*/true},
      {"nvvm.mbarrier.expect_tx", thread, "nmSimArriveMbarrier", getExpectation,
       nullptr, 0, /*returnsState=*/true},
      {"nvvm.mbarrier.test.wait", thread, "nmSimTestMbarrier", getPhaseTest},
      {"nvvm.mbarrier.try_wait", thread, "nmSimTestMbarrier", getPhaseTest},
      {"nvvm.mbarrier.try_wait.parity", thread, "nmSimWaitMbarrier",
       getPhaseWait},
      {"nvvm.setmaxregister", thread, "nmSimSetRegisters", getRegisterCount},
      {"nvvm.cp.async.commit.group", thread, "nmSimCommitCopies"},
      {"nvvm.cp.async.wait.group", thread, "nmSimWaitForCopies", getWait},
      {"nvvm.cp.async.bulk.global.shared.cta", thread, "nmSimStoreBulk",
       getBulkStore, getBulkStoreAccess},
      {"nvvm.cp.async.bulk.tensor.shared.cluster.global", thread,
       "nmSimLoadTensor", getTensorLoad, getBulkCopyAccess},
      {"nvvm.cp.async.bulk.tensor.global.shared.cta", thread,
       "nmSimStoreTensor", getTensorStore, getBulkStoreAccess},
      {"nvvm.cp.async.bulk.commit.group", thread, "nmSimCommitBulk"},
      {"nvvm.cp.async.bulk.wait_group", thread, "nmSimWaitForBulk",
       getBulkWait},
      {"nvvm.elect.sync", warp, "nmSimElect", getElection},
      {"nvvm.prmt", thread, "nmSimPermute", getPermutation},
      {"nvvm.dot.accumulate.4way", thread, "nmSimDotBytes", getDotOfBytes},
      {"nvvm.shfl.sync", warp, "nmSimShuffle", getShuffle},
      {"nvvm.vote.sync", warp, "nmSimVote", getVote},
      {"nvvm.redux.sync", warp, "nmSimReduce", getReduction},
      {"nvvm.ldmatrix", warp, "nmSimLoadMatrices", getLoadedMatrices,
       getLoadedMatricesAccess},
      {"nvvm.stmatrix", warp, "nmSimStoreMatrices", getStoredMatrices,
       getStoredMatricesAccess},
      {"nvvm.mma.sync", warp, "nmSimMultiplyMatrices", getProduct},
      {"nvvm.mma.sp.sync", warp, "nmSimMultiplyMatrices", getSparseProduct},
      {"nvvm.wgmma.fence.aligned", thread, "nmSimFenceProducts"},
      {"nvvm.wgmma.mma_async", Execution::Warpgroup, "nmSimMultiplyWarpgroup",
       getWarpgroupProduct, getWarpgroupProductAccess},
      {"nvvm.wgmma.commit.group.sync.aligned", thread, "nmSimCommitProducts"},
      {"nvvm.wgmma.wait.group.sync.aligned", thread, "nmSimWaitForProducts",
       getWarpgroupWait},
      {"nvvm.rcp.approx.ftz.f", thread, "nmSimReciprocal"},
  };
  return kTable;
}

/// The instructions of inline PTX, by how their names begin.
static ArrayRef<Instruction> getAsmInstructions() {
  static const Instruction kTable[] = {
      {"mma.", Execution::Warp, "nmSimMultiplyMatrices", getProductInAsm},
      {"movmatrix.", Execution::Warp, "nmSimTransposeMatrix",
       getTransposedMatrix},
      {"bar.sync", Execution::Thread, "nmSimBarrier", getBarrierInAsm},
      {"barrier.sync", Execution::Thread, "nmSimBarrier", getBarrierInAsm},
      {"bar.arrive", Execution::Thread, "nmSimArriveBarrier", getBarrierInAsm},
      {"barrier.arrive", Execution::Thread, "nmSimArriveBarrier",
       getBarrierInAsm},
      {"setmaxnreg.", Execution::Thread, "nmSimSetRegisters", getNumberInAsm},
      {"fence.proxy.async.global", Execution::Thread, "nmSimFence", getNone},
      {"fence.proxy.async", Execution::Thread, "nmSimFenceProxies",
       getSharedFence},
      {"wgmma.mma_async.", Execution::Warpgroup, "nmSimMultiplyWarpgroup",
       getWarpgroupProductInAsm, getWarpgroupProductAccess},
      {"wgmma.fence.sync.aligned", Execution::Thread, "nmSimFenceProducts",
       getNone},
      {"wgmma.commit_group.sync.aligned", Execution::Thread,
       "nmSimCommitProducts", getNone},
      {"wgmma.wait_group.sync.aligned", Execution::Thread,
       "nmSimWaitForProducts", getNumberInAsm},
      {"st.async.", Execution::Thread, "nmSimStoreAsync", getAsyncStore},
      {"ex2.approx.ftz.f32", Execution::Thread, "nmSimExp2"},
      {"bfind.u32", Execution::Thread, "nmSimHighestBit"},
      {"lop3.b32", Execution::Thread, "nmSimLogic"},
  };
  return kTable;
}

const Instruction *mlir::nm::findInstruction(Operation *op) {
  if (auto text = dyn_cast<LLVM::InlineAsmOp>(op)) {
    std::optional<AsmInstruction> parsed = parseInlineAsm(text);
    for (const Instruction &instruction : getAsmInstructions())
      if (parsed && parsed->name.starts_with(instruction.op))
        return &instruction;
    return nullptr;
  }
  for (const Instruction &instruction : getInstructions())
    if (instruction.op == op->getName().getStringRef())
      return &instruction;
  return nullptr;
}

std::string mlir::nm::findMathFunction(StringRef name) {
  static const llvm::StringSet<> kSame = {
      "acos",  "acosh", "asin",  "asinh", "atan", "atan2",    "atanh",
      "cbrt",  "ceil",  "cos",   "cosh",  "erf",  "copysign", "erfc",
      "exp",   "exp2",  "expm1", "fabs",  "fma",  "floor",    "fmax",
      "fmin",  "fmod",  "log",   "log10", "pow",  "log1p",    "log2",
      "round", "rint",  "sin",   "sinh",  "sqrt", "tan",      "tanh"};
  if (!name.consume_front("__nv_"))
    return {};
  name.consume_front("fast_");
  if (name == "rsqrtf")
    return "nmSimRsqrtF32";
  if (name == "rsqrt")
    return "nmSimRsqrtF64";
  StringRef stem = name;
  if (kSame.contains(name) || (stem.consume_back("f") && kSame.contains(stem)))
    return name.str();
  return {};
}
