//===- SelectSchedule.cpp - How each product is mapped to the chip --------===//

#include "nm/Dialect/NM/Transforms/Passes.h"

#include "nm/Dialect/NM/Transforms/DenseFallback.h"
#include "nm/Dialect/NM/Transforms/DescribeProduct.h"
#include "nm/Dialect/NM/Transforms/WeightOrigin.h"

#include "nm/Dialect/NM/IR/ElementTypes.h"
#include "nm/Dialect/NM/IR/NM.h"
#include "nm/Dialect/NM/Transforms/CpuFeatures.h"
#include "nm/Dialect/NM/Transforms/ProductRecord.h"
#include "nm/Schedule/CpuSchedule.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::nm {
#define GEN_PASS_DEF_NMSELECTSCHEDULE
#include "nm/Dialect/NM/Transforms/Passes.h.inc"
} // namespace mlir::nm

using namespace mlir;
using namespace mlir::nm;
using ::nm::CpuProduct;
using ::nm::CpuSchedule;
using ::nm::CpuTarget;

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// The product of one batch entry; ops with a batch are tiled to those.
static CpuProduct getProduct(SparseProductOpInterface op) {
  CpuProduct product;
  product.pattern = op.getPattern();
  product.type = *mlir::nm::getElementType(op.getAType().getElementType());
  int64_t m = op.getStaticM();
  product.m = ShapedType::isDynamic(m) ? CpuProduct::kUnknown : m;
  product.n = op.getStaticN();
  product.k = op.getStaticK();
  return product;
}

/// Why the cost model has nothing to say about `op`, if so.
static std::optional<StringRef> whyUnknown(SparseProductOpInterface op) {
  int64_t k = op.getStaticK(), n = op.getStaticN();
  if (ShapedType::isDynamic(k) || ShapedType::isDynamic(n))
    return "k or n is dynamic";
  if (k == 0 || n == 0 || op.getStaticM() == 0)
    return "the product is empty";
  return std::nullopt;
}

/// Whether packing pays: at each call it would cost more than it gains.
static bool canPack(SparseProductOpInterface op) {
  return op.hasPureTensorSemantics() && areWeightsLoaded(op);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct NMSelectSchedule
    : mlir::nm::impl::NMSelectScheduleBase<NMSelectSchedule> {
  using NMSelectScheduleBase::NMSelectScheduleBase;

  void runOnOperation() override;

private:
  LogicalResult checkOptions();
  LogicalResult checkOp(SparseProductOpInterface op);
  LogicalResult checkGiven(SparseProductOpInterface op);
  LogicalResult checkThreadTile(SparseProductOpInterface op,
                                VectorScheduleAttr schedule);
  LogicalResult select(SparseProductOpInterface op);
  void selectLoops(SparseProductOpInterface op, StringRef reason);
  /// Falls back to dense weights where they are estimated to be faster, and
  /// gives the reason for what was done.
  std::string chooseDense(SparseProductOpInterface op, CpuSchedule &chosen);
  VectorScheduleAttr getVectorSchedule(const CpuSchedule &chosen,
                                       PackingAttr packing);
  std::string explain(const CpuProduct &product, const CpuSchedule &chosen);
  /// The remark that `record` makes.
  std::string describe(StringRef name, StringRef why,
                       VectorScheduleAttr schedule,
                       const ProductRecord &record);

  CpuTarget cpu;
  /// What the option `schedule` says; null where it is empty.
  ScheduleAttrInterface given;
};
} // namespace

LogicalResult NMSelectSchedule::checkOptions() {
  Operation *root = getOperation();
  auto emitError = [&] { return root->emitError(); };
  if (!schedule.empty()) {
    FailureOr<ScheduleAttrInterface> parsed =
        parseSchedule(schedule, &getContext(), emitError);
    if (failed(parsed))
      return failure();
    given = *parsed;
  }
  if (given && !given.isForCPU())
    return emitError() << "expected a schedule of strategy vector or loops on "
                          "the cpu, but got "
                       << given;
  ::nm::Result<CpuTarget> found = getCpuTarget(features, threads);
  if (!found)
    return root->emitError() << found.error().message;
  cpu = *found;
  return success();
}

LogicalResult NMSelectSchedule::checkOp(SparseProductOpInterface op) {
  Type type = op.getAType().getElementType();
  if (type.isF32() || type.isF16() || type.isBF16() ||
      type.isSignlessInteger(8))
    return success();
  return op->emitOpError() << "expected operands of element type f32, f16, "
                              "bf16 or i8 on the cpu, but got "
                           << type;
}

/// A tile that does not fit in registers is no schedule that anyone wants.
LogicalResult NMSelectSchedule::checkThreadTile(SparseProductOpInterface op,
                                                VectorScheduleAttr schedule) {
  ArrayRef<int64_t> tile = schedule.getThread();
  if (tile.empty())
    return success();
  int64_t longer = std::max(tile[0], tile[1]);
  int64_t shorter = std::min(tile[0], tile[1]);
  int64_t registers = cpu.vectorBits >= 512 ? 32 : 16;
  // Divided rather than multiplied, for sizes near 2^63.
  int64_t vectors = longer / cpu.lanes() + (longer % cpu.lanes() != 0);
  if (vectors <= registers / shorter)
    return success();
  return op->emitOpError() << "expected the schedule's thread tile to fit in "
                           << registers << " registers of " << cpu.lanes()
                           << " lanes, but got " << tile[0] << "x" << tile[1];
}

/// Checks a schedule that the op came with.
LogicalResult NMSelectSchedule::checkGiven(SparseProductOpInterface op) {
  ScheduleAttrInterface schedule = op.getScheduleAttr();
  if (!schedule.isForCPU())
    return op->emitOpError()
           << "expected a schedule of strategy vector or loops on the cpu, but "
              "got "
           << schedule.getStrategyName();
  PackedFormAttrInterface packing = op.getPackingAttr(),
                          wanted = schedule.getPackedForm(op.getPattern());
  if (packing && wanted && packing != wanted)
    return op->emitOpError()
           << "expected a schedule with the packing " << packing
           << " that the weights have, but got " << wanted;
  if (auto vector = dyn_cast<VectorScheduleAttr>(schedule);
      vector && failed(checkThreadTile(op, vector)))
    return failure();
  ProductRecord record;
  record.reason = "as the schedule it came with says";
  record.remark = describeProduct(op) + ": strategy " +
                  schedule.getStrategyName().str() + ", " + record.reason;
  setRecord(op, record);
  emitRemark(op.getLoc()) << record.remark;
  return success();
}

VectorScheduleAttr
NMSelectSchedule::getVectorSchedule(const CpuSchedule &chosen,
                                    PackingAttr packing) {
  SmallVector<int64_t> blockSizes{chosen.blockM, chosen.blockN, chosen.blockK};
  SmallVector<int64_t> threadSizes{chosen.threadM, chosen.threadN};
  if (auto vector = dyn_cast_if_present<VectorScheduleAttr>(given)) {
    if (!vector.getBlock().empty())
      blockSizes.assign(vector.getBlock().begin(), vector.getBlock().end());
    if (!vector.getThread().empty())
      threadSizes.assign(vector.getThread().begin(), vector.getThread().end());
    if (vector.getPacking() && packing)
      packing = vector.getPacking();
  }
  return VectorScheduleAttr::get(&getContext(), blockSizes, threadSizes,
                                 packing);
}

std::string NMSelectSchedule::explain(const CpuProduct &product,
                                      const CpuSchedule &chosen) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << "vectors of " << cpu.lanes() << " lanes along ";
  if (product.m == CpuProduct::kUnknown)
    stream << (chosen.alongM ? "m" : "n")
           << ", because m is dynamic and taken to be typically "
           << CpuProduct::kTypicalRows;
  else if (chosen.alongM)
    stream << "m, because m = " << product.m << " fills them";
  else
    stream << "n, because m = " << product.m << " does not fill them";
  return text;
}

std::string NMSelectSchedule::chooseDense(SparseProductOpInterface op,
                                          CpuSchedule &chosen) {
  CpuProduct product = getProduct(op);
  product.pattern = getDensePattern(cpu.lanes());
  CpuSchedule dense = ::nm::selectCpuSchedule(product, cpu);
  if (dense.sparseMicroseconds >= chosen.sparseMicroseconds)
    return chosen.denseMicroseconds < chosen.sparseMicroseconds
               ? "a dense BLAS would be faster, but the dense product that "
                 "is available, " +
                     describeTime(dense.sparseMicroseconds * countBatches(op)) +
                     ", is not"
               : "the product with its zeros skipped is faster";
  if (std::optional<StringRef> obstacle = whyNotDense(op))
    return ("dense would be faster, but " + *obstacle).str();
  makeDense(op, product.pattern);
  std::string reason =
      "falls back to dense weights, which are faster: " +
      describeTime(chosen.sparseMicroseconds * countBatches(op)) +
      " with the zeros skipped";
  if (isa<FloatType>(op.getAccumulatorType()))
    reason += "; " + kDenseMeetsNonFinite.str();
  chosen = dense;
  return reason;
}

void NMSelectSchedule::selectLoops(SparseProductOpInterface op,
                                   StringRef reason) {
  op.setScheduleAttr(LoopsScheduleAttr::get(&getContext()));
  ProductRecord record;
  record.reason = reason.str();
  record.remark = describeProduct(op) + ": strategy loops, " + record.reason;
  setRecord(op, record);
  emitRemark(op.getLoc()) << record.remark;
}

std::string NMSelectSchedule::describe(StringRef name, StringRef why,
                                       VectorScheduleAttr schedule,
                                       const ProductRecord &record) {
  std::string text;
  llvm::raw_string_ostream remark(text);
  remark << name << ": strategy vector, " << why << "; estimated "
         << describeTime(*record.estimate) << " beside "
         << describeTime(*record.denseEstimate) << " for a dense BLAS ("
         << llvm::formatv("{0:f2}x", *record.denseEstimate / *record.estimate)
         << ") on " << cpu.threads
         << (cpu.threads == 1 ? " thread" : " threads") << "; " << record.reason
         << (schedule.getPacking()
                 ? ""
                 : "; weights stay condensed, for they would be packed at "
                   "each call")
         << "; schedule " << schedule;
  return text;
}

LogicalResult NMSelectSchedule::select(SparseProductOpInterface op) {
  std::optional<StringRef> unknown = whyUnknown(op);
  if (unknown || isa_and_present<LoopsScheduleAttr>(given)) {
    selectLoops(op, unknown ? *unknown : "as the schedule option says");
    return success();
  }
  std::string name = describeProduct(op);
  bool wasDense = isDense(op);
  CpuSchedule chosen = ::nm::selectCpuSchedule(getProduct(op), cpu);
  int64_t batches = countBatches(op);
  double denseTime = chosen.denseMicroseconds * batches;
  // Asked before dense weights take the place of what was loaded.
  bool packs = canPack(op);
  std::string reason = "dense was not considered";
  if (op.getPattern().n == op.getPattern().m)
    reason = "the pattern keeps every weight";
  else if (denseFallback)
    reason = chooseDense(op, chosen);
  PackingAttr packing = op.getPanelPacking();
  if (!op.getPackingAttr() && packs)
    packing = PackingAttr::get(&getContext(), chosen.packing);
  VectorScheduleAttr schedule = getVectorSchedule(chosen, packing);
  if (failed(checkThreadTile(op, schedule)))
    return failure();
  op.setScheduleAttr(schedule);
  ProductRecord record;
  record.reason = reason;
  record.fallsBack = !wasDense && isDense(op);
  record.estimate = chosen.sparseMicroseconds * batches;
  record.denseEstimate = denseTime;
  record.remark =
      describe(name, explain(getProduct(op), chosen), schedule, record);
  setRecord(op, record);
  emitRemark(op.getLoc()) << record.remark;
  return success();
}

void NMSelectSchedule::runOnOperation() {
  if (failed(checkOptions()))
    return signalPassFailure();
  SmallVector<SparseProductOpInterface> products;
  getOperation()->walk(
      [&](SparseProductOpInterface op) { products.push_back(op); });
  for (SparseProductOpInterface op : products)
    if (failed(checkOp(op)) ||
        failed(op.getScheduleAttr() ? checkGiven(op) : select(op)))
      return signalPassFailure();
}
