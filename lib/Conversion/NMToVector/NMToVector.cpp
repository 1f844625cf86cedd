//===- NMToVector.cpp - Expands nm products into vector code --------------===//

#include "nm/Conversion/NMToVector/NMToVector.h"
#include "AttentionAccess.h"
#include "DotsAlongN.h"
#include "ImageTile.h"
#include "ProductTile.h"
#include "WindowSums.h"

#include "nm/Dialect/NM/IR/ElementTypes.h"
#include "nm/Dialect/NM/IR/ScheduleFields.h"
#include "nm/Dialect/NM/Transforms/Patches.h"
#include "nm/Schedule/CpuSchedule.h"

#include "mlir/Dialect/AMX/AMXDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace mlir::nm {
#define GEN_PASS_DEF_CONVERTNMTOVECTOR
#include "nm/Conversion/NMToVector/NMToVector.h.inc"
} // namespace mlir::nm

using namespace mlir;
using namespace mlir::nm;

/// The cost model's schedule for an op that has none.
static VectorSchedule defaultSchedule(const ProductTile &tile,
                                      const VectorTarget &target) {
  ::nm::CpuTarget cpu;
  cpu.vectorBits = target.bits;
  cpu.registers = target.bits >= 512 ? 32 : 16;
  cpu.permutes = target.x86Permutes;
  ::nm::CpuProduct product;
  product.pattern = tile.pattern;
  product.type = *mlir::nm::getElementType(
      cast<MemRefType>(tile.a.getType()).getElementType());
  product.m = ShapedType::isDynamic(tile.staticM) ? ::nm::CpuProduct::kUnknown
                                                  : tile.staticM;
  product.k = tile.k;
  // Columns of the last dimension of condensed values, or of panels.
  int64_t columns = cast<MemRefType>(tile.values.getType()).getShape().back();
  product.n = ShapedType::isDynamic(columns) ? cpu.vectorBits : columns;
  ::nm::CpuSchedule chosen = ::nm::selectCpuSchedule(product, cpu);
  return {chosen.alongM, chosen.threadM, chosen.threadN, chosen.blockK,
          ::nm::choosePanel(product, cpu, /*packs=*/false)};
}

static VectorSchedule scheduleOf(const ProductTile &tile,
                                 const ::nm::GivenFields &given,
                                 const VectorTarget &target) {
  VectorSchedule schedule = defaultSchedule(tile, target);
  if (!given.threadM)
    return schedule;
  schedule.rows = *given.threadM;
  schedule.columns = *given.threadN;
  schedule.alongM = schedule.rows >= schedule.columns;
  if (given.blockK)
    schedule.kRows = *given.blockK;
  if (given.packing)
    schedule.panel = given.packing->panel;
  return schedule;
}

/// Rows that a product of #nm.columns has at a time.
static int64_t rowsOfColumns(SparseProductOpInterface op,
                             const VectorTarget &target) {
  constexpr int64_t kVectors = 4;
  ScheduleAttrInterface schedule = op.getScheduleAttr();
  int64_t rows = schedule ? schedule.getTiling().threadM : 0;
  return rows != 0 ? rows : kVectors * target.lanes();
}

static AmxSchedule amxScheduleOf(const ::nm::GivenFields &given) {
  AmxSchedule schedule;
  if (given.blockM) {
    schedule.rows = std::min(schedule.rows, *given.blockM);
    schedule.kRows = *given.blockK;
  }
  return schedule;
}

/// The dimension of C that is m, of a product that has one.
static int64_t mDimOfC(const ProductTile &tile) {
  int64_t rank = cast<MemRefType>(tile.c.getType()).getRank();
  return rank - (tile.transposeC ? 1 : 2);
}

static ProductTile describe(SparseProductOpInterface op,
                            VectorEmitter &emitter) {
  ProductTile tile;
  tile.pattern = op.getPattern();
  tile.a = op.getA();
  tile.image = findImage(emitter, tile.a);
  tile.values = op.getValues();
  tile.indices = op.getIndices();
  tile.lists = op.getLists();
  tile.c = op.getC();
  if (op.hasEpilogue())
    tile.epilogue = op;
  tile.packing = op.getPanelPacking();
  if (auto spmm = dyn_cast<SpMMOp>(op.getOperation())) {
    tile.transposeA = spmm.getTransposeA();
    tile.transposeC = spmm.getTransposeC();
  }
  std::optional<int64_t> mDim = op.getMDimOfA();
  tile.isVector = !mDim;
  tile.k = op.getStaticK();
  tile.staticM = op.getStaticM();
  // An image's patches are in no memory that could be asked.
  if (tile.image)
    tile.m = emitter.dim(tile.c, mDimOfC(tile));
  else
    tile.m = mDim ? emitter.dim(tile.a, *mDim) : emitter.index(1);
  tile.n = emitter.dim(tile.c, op.getNDimOfC());
  return tile;
}

/// Expands `tile` by the schedule, and one whose rows may be too few for
/// vectors along m by one that suits their number as well.
static void expand(VectorEmitter &emitter, const ProductTile &tile,
                   const VectorSchedule &schedule) {
  if (!schedule.alongM)
    return expandAlongN(emitter, tile, schedule);
  if (tile.image || !ShapedType::isDynamic(tile.staticM))
    return expandAlongM(emitter, tile, schedule);
  auto few = [&](int64_t rows) {
    VectorSchedule alongN = schedule;
    alongN.alongM = false;
    alongN.rows = rows;
    alongN.columns = (emitter.lanes == 16 ? 16 : 12) / rows * emitter.lanes;
    expandAlongN(emitter, tile, alongN);
  };
  emitter.ifThenElse(
      emitter.less(tile.m, emitter.index(emitter.lanes)),
      [&] {
        emitter.ifThenElse(
            emitter.less(tile.m, emitter.index(2)), [&] { few(1); },
            [&] { few(4); });
      },
      [&] { expandAlongM(emitter, tile, schedule); });
}

static bool isContiguousAlongRows(Value memref) {
  return cast<MemRefType>(memref.getType()).isLastDimUnitStride();
}

namespace {
struct ExpandProduct : OpInterfaceRewritePattern<SparseProductOpInterface> {
  ExpandProduct(MLIRContext *context, const VectorTarget &target)
      : OpInterfaceRewritePattern(context), target(target) {}

  LogicalResult matchAndRewrite(SparseProductOpInterface op,
                                PatternRewriter &rewriter) const override {
    if (failed(checkOp(op, rewriter)))
      return failure();
    VectorEmitter emitter(rewriter, op.getLoc(), op.getAccumulatorType(),
                          target);
    ProductTile tile = describe(op, emitter);
    auto expandOne = [&] {
      ScheduleAttrInterface schedule = op.getScheduleAttr();
      ::nm::GivenFields given = getGivenFields(schedule);
      if (schedule && schedule.isForTileUnit())
        return ::nm::hasWords(tile.packing.getPacking())
                   ? expandDotsAlongN(emitter, tile, amxScheduleOf(given))
                   : expandAmx(emitter, tile, amxScheduleOf(given));
      if (auto columns = dyn_cast_if_present<ColumnsAttr>(op.getPackingAttr()))
        return expandColumns(emitter, tile, columns.getForm(),
                             rowsOfColumns(op, target));
      if (auto panels =
              dyn_cast_if_present<BitmapPanelsAttr>(op.getPackingAttr()))
        return expandBitmapPanels(
            emitter, tile, panels.getForm(), given.threadM.value_or(1),
            given.threadN.value_or(::nm::BitmapPanels::kColumns));
      expand(emitter, tile, scheduleOf(tile, given, target));
    };
    expandBatches(emitter, tile, op.getNumBatchDims(), expandOne);
    rewriter.eraseOp(op);
    return success();
  }

private:
  LogicalResult checkOp(SparseProductOpInterface op,
                        PatternRewriter &rewriter) const {
    if (!isa<MemRefType>(op.getA().getType()))
      return rewriter.notifyMatchFailure(op, "operands are not memrefs");
    ScheduleAttrInterface schedule = op.getScheduleAttr();
    if (schedule && (!schedule.isForCPU() || schedule.isReference()))
      return rewriter.notifyMatchFailure(
          op, "strategy is neither `vector` nor `amx`");
    if (isFloat8(op.getAType().getElementType()))
      return rewriter.notifyMatchFailure(op,
                                         "arith.extf of f8 has no lowering");
    if (failed(schedule && schedule.isForTileUnit()
                   ? checkTiles(op, rewriter)
                   : checkPanels(op, rewriter)))
      return failure();
    if (ShapedType::isDynamic(op.getStaticK()))
      return rewriter.notifyMatchFailure(op, "k is dynamic");
    for (Value operand :
         {op.getA(), op.getValues(), op.getIndices(), op.getC()})
      if (!isContiguousAlongRows(operand))
        return rewriter.notifyMatchFailure(
            op, "an operand's last dimension is not contiguous");
    return success();
  }

  /// What strategy `vector` reads.
  LogicalResult checkPanels(SparseProductOpInterface op,
                            PatternRewriter &rewriter) const {
    PackingAttr packing = op.getPanelPacking();
    if (isa_and_present<ColumnsAttr>(op.getPackingAttr()))
      return success();
    if (isa_and_present<BitmapPanelsAttr>(op.getPackingAttr())) {
      if (target.bits == 512 && !op.getA().getDefiningOp<PatchesOp>())
        return success();
      return rewriter.notifyMatchFailure(
          op, "panels with bitmaps are not for AVX-512, or of an image");
    }
    if (op.getPackingAttr() && !packing)
      return rewriter.notifyMatchFailure(op, "weights are not in panels");
    if (packing &&
        (!packing.getPacking().isRowWise() || packing.getColInfo() != 0))
      return rewriter.notifyMatchFailure(
          op, "weights are packed in chunks, or with lists of rows");
    return success();
  }

  /// What strategy `amx` reads.
  LogicalResult checkTiles(SparseProductOpInterface op,
                           PatternRewriter &rewriter) const {
    if (target.bits != 512 && (target.bits != 128 || target.x86Permutes))
      return rewriter.notifyMatchFailure(
          op, "vectors are neither of 512 bits nor of Arm");
    Type type = op.getAType().getElementType();
    if (!type.isBF16() && !type.isSignlessInteger(8))
      return rewriter.notifyMatchFailure(op,
                                         "operands are neither bf16 nor i8");
    if (!op.getPackingAttr() ||
        op.getPackingAttr() !=
            op.getScheduleAttr().getPackedForm(op.getPattern()))
      return rewriter.notifyMatchFailure(
          op, "weights are not in the packed form of the schedule");
    if (op.getPanelPacking().getPacking().hasBitmaps()) {
      if (type.isBF16() && target.bits == 512)
        return success();
      return rewriter.notifyMatchFailure(
          op, "weights with bitmaps are neither of bf16 nor for AMX");
    }
    if (::nm::hasWords(op.getPanelPacking().getPacking())) {
      if (target.bits == 512 && 32 / type.getIntOrFloatBitWidth() ==
                                    op.getPanelPacking().getChunkRows())
        return success();
      return rewriter.notifyMatchFailure(
          op, "chunks are no words of the operands, or not for AVX-512");
    }
    if (op.getPanelPacking().getChunkRows() != 32 &&
        (!type.isSignlessInteger(8) || target.bits != 512))
      return rewriter.notifyMatchFailure(
          op, "chunks of 64 rows are neither of i8 nor for AMX");
    return success();
  }

  /// Loops over the `count` batch dimensions, from `tile.batch.size()` on.
  void expandBatches(VectorEmitter &emitter, ProductTile &tile, int64_t count,
                     llvm::function_ref<void()> expandOne) const {
    int64_t dimension = tile.batch.size();
    if (dimension == count)
      return expandOne();
    emitter.loop(emitter.index(0), emitter.dim(tile.a, dimension), 1,
                 [&](Value batch) {
                   tile.batch.push_back(batch);
                   expandBatches(emitter, tile, count, expandOne);
                   tile.batch.pop_back();
                 });
  }

  VectorTarget target;
};

struct ExpandAttention : OpRewritePattern<AttentionOp> {
  ExpandAttention(MLIRContext *context, const VectorTarget &target)
      : OpRewritePattern(context), target(target) {}

  LogicalResult matchAndRewrite(AttentionOp op,
                                PatternRewriter &rewriter) const override {
    if (!isa<MemRefType>(op.getQ().getType()))
      return rewriter.notifyMatchFailure(op, "operands are not memrefs");
    VectorEmitter e(rewriter, op.getLoc(), rewriter.getF32Type(), target);
    AttentionAccess access(e, op);
    // With more, lanes along rows are less idle than the sums across lanes are
    // long.
    constexpr int64_t kFew = 4;
    int64_t rows = access.getStaticSize(access.getRow());
    if (ShapedType::isDynamic(rows))
      e.ifThenElse(
          e.less(access.sizeOf(access.getRow()), e.index(kFew + 1)),
          [&] { expandAttentionOfFewRows(access); },
          [&] { expandAttentionAlongRows(access); });
    else if (rows <= kFew)
      expandAttentionOfFewRows(access);
    else
      expandAttentionAlongRows(access);
    rewriter.eraseOp(op);
    return success();
  }

  VectorTarget target;
};

struct ConvertNMToVector
    : mlir::nm::impl::ConvertNMToVectorBase<ConvertNMToVector> {
  using ConvertNMToVectorBase::ConvertNMToVectorBase;

  void runOnOperation() override {
    if (vectorBits != 128 && vectorBits != 256 && vectorBits != 512) {
      getOperation()->emitError()
          << "expected vector-bits to be 128, 256 or 512, but got "
          << vectorBits.getValue();
      return signalPassFailure();
    }
    VectorTarget target = {vectorBits, x86Permutes, i8mm, bf16Pairs,
                           shuffleWeights};
    expandWindows(getOperation(), target);
    RewritePatternSet patterns(&getContext());
    populateNMToVectorPatterns(patterns, target);
    walkAndApplyPatterns(getOperation(), std::move(patterns));
    erasePatches(getOperation());
  }
};
} // namespace

void mlir::nm::populateNMToVectorPatterns(RewritePatternSet &patterns,
                                          const VectorTarget &target) {
  patterns.add<ExpandProduct, ExpandAttention>(patterns.getContext(), target);
}
