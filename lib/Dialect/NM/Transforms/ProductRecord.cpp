//===- ProductRecord.cpp - Recording what was chosen, and why -------------===//

#include "nm/Dialect/NM/Transforms/ProductRecord.h"

#include "nm/Dialect/NM/IR/PatchesOp.h"
#include "nm/Dialect/NM/Transforms/DescribeProduct.h"
#include "nm/Schedule/CpuSchedule.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::nm;

RecordAttr mlir::nm::getRecord(SparseProductOpInterface op) {
  return op->getAttrOfType<RecordAttr>(kRecordAttr);
}

/// What the tile unit multiplies: the remark's words for a tile of weights.
static StringRef describeTiles(SparseProductOpInterface op) {
  auto packing =
      cast<PackingAttr>(op.getScheduleAttr().getPackedForm(op.getPattern()));
  if (packing.getPacking().hasBitmaps())
    return ", tiles of dense weights, packed without their zeros";
  if (::nm::hasWords(packing.getPacking()))
    return ", vectors along n, whose lanes choose the rows of A that they meet";
  return op.getPattern().n == op.getPattern().m
             ? ", tiles of dense weights"
             : ", tiles of kept rows, copied side by side";
}

/// Which way the vectors of a CPU run, and why where the cost model chose it.
static void describeVectors(raw_ostream &stream, SparseProductOpInterface op,
                            const ProductRecord &record) {
  ScheduleAttrInterface schedule = op.getScheduleAttr();
  if (schedule.isForTileUnit()) {
    stream << describeTiles(op);
    if (op.getAType().getElementType().isBF16())
      stream << ", in which subnormal numbers are zero";
    return;
  }
  BlockTiling tiling = schedule.getTiling();
  if (!schedule.isForCPU() || tiling.threadM == 0 || !record.lanes)
    return;
  bool alongM = tiling.threadM >= tiling.threadN;
  stream << ", vectors of " << *record.lanes << " lanes along "
         << (alongM ? "m" : "n");
  // Weights pruned anywhere have more ways for few rows.
  int64_t rows = record.typicalM.value_or(op.getStaticM());
  if (record.estimate && alongM == (rows >= *record.lanes))
    stream << ", because m = " << rows
           << (alongM ? " fills them" : " does not fill them");
}

/// The estimate beside dense on a CPU, and above the floors on a GPU.
static void describeEstimates(raw_ostream &stream,
                              const ProductRecord &record) {
  if (!record.estimate)
    return;
  stream << "; estimated " << describeTime(*record.estimate);
  if (record.threads && record.denseEstimate)
    stream << " beside " << describeTime(*record.denseEstimate)
           << " for a dense BLAS ("
           << llvm::formatv("{0:f2}x", *record.denseEstimate / *record.estimate)
           << ") on " << *record.threads
           << (*record.threads == 1 ? " thread" : " threads");
  if (record.sharedBytes)
    stream << ", at least " << describeTime(*record.multiplyFloor)
           << " of multiplications and " << describeTime(*record.memoryFloor)
           << " of memory; " << *record.sharedBytes
           << " bytes of shared memory";
}

std::string mlir::nm::describeRecord(SparseProductOpInterface op) {
  RecordAttr attribute = getRecord(op);
  ScheduleAttrInterface schedule = op.getScheduleAttr();
  if (!attribute || !schedule)
    return "";
  ProductRecord record = attribute.getRecord();
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << describeProduct(op, record.pattern, record.typicalM)
         << ": strategy " << getStrategyName(op);
  if (!record.chip.empty())
    stream << " on " << record.chip;
  bool isLoops = schedule.isReference();
  if (isLoops && !record.chip.empty())
    stream << ", a thread for each element of C, which is slow";
  describeVectors(stream, op, record);
  if (record.source == ScheduleSource::Option && !record.estimate && !isLoops)
    stream << ", with sizes that were given";
  describeEstimates(stream, record);
  stream << "; " << record.reason;
  if (!isLoops)
    stream << "; schedule " << schedule;
  return text;
}

void mlir::nm::setRecord(SparseProductOpInterface op,
                         const ProductRecord &record,
                         DiagnosticSeverity severity) {
  op->setAttr(kRecordAttr, RecordAttr::get(op.getContext(), record));
  op.getContext()->getDiagEngine().emit(op.getLoc(), severity)
      << describeRecord(op);
}
