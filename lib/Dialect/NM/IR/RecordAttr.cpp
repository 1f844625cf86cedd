//===- RecordAttr.cpp - What was chosen for a product, and why ------------===//

#include "nm/Dialect/NM/IR/NM.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::nm;

using EmitError = function_ref<InFlightDiagnostic()>;

static FloatAttr getTimeAttr(MLIRContext *context, std::optional<double> time) {
  return time ? Builder(context).getF64FloatAttr(*time) : FloatAttr();
}

static std::optional<double> getTime(FloatAttr time) {
  if (!time)
    return std::nullopt;
  return time.getValueAsDouble();
}

static StringAttr getTextAttr(MLIRContext *context, StringRef text) {
  return text.empty() ? StringAttr() : StringAttr::get(context, text);
}

static std::string getText(StringAttr text) { return text ? text.str() : ""; }

static std::optional<bool> onlyIf(bool value) {
  return value ? std::optional(true) : std::nullopt;
}

static ArrayAttr getAlternativesAttr(MLIRContext *context,
                                     ArrayRef<AlternativeRecord> alternatives) {
  if (alternatives.empty())
    return {};
  SmallVector<Attribute> list;
  for (const AlternativeRecord &entry : alternatives)
    list.push_back(AlternativeAttr::get(
        context, entry.name, getTextAttr(context, entry.strategy),
        getTimeAttr(context, entry.estimate), getTimeAttr(context, entry.extra),
        onlyIf(entry.isChosen), getTextAttr(context, entry.whyNot)));
  return ArrayAttr::get(context, list);
}

RecordAttr RecordAttr::get(MLIRContext *context, const ProductRecord &record) {
  return get(context, record.source, PatternAttr::get(context, record.pattern),
             getTextAttr(context, record.chip), record.threads, record.lanes,
             record.typicalM, getTimeAttr(context, record.estimate),
             getTimeAttr(context, record.denseEstimate),
             getTimeAttr(context, record.multiplyFloor),
             getTimeAttr(context, record.memoryFloor), record.sharedBytes,
             onlyIf(record.fallsBack), record.reason,
             getAlternativesAttr(context, record.alternatives));
}

ProductRecord RecordAttr::getRecord() const {
  ProductRecord record;
  record.source = getSource();
  record.pattern = getPattern().getPattern();
  record.chip = getText(getChip());
  record.threads = getThreads();
  record.lanes = getLanes();
  record.typicalM = getTypicalM();
  record.estimate = getTime(getEstimateUs());
  record.denseEstimate = getTime(getDenseUs());
  record.multiplyFloor = getTime(getMultiplyFloorUs());
  record.memoryFloor = getTime(getMemoryFloorUs());
  record.sharedBytes = getSharedBytes();
  record.fallsBack = getFallsBack().value_or(false);
  record.reason = getReason().str();
  if (ArrayAttr list = getAlternatives())
    for (auto entry : list.getAsRange<AlternativeAttr>())
      record.alternatives.push_back(
          {entry.getName().str(), getText(entry.getStrategy()),
           getTime(entry.getEstimateUs()), getTime(entry.getExtraUs()),
           entry.getChosen().value_or(false), getText(entry.getWhyNot())});
  return record;
}

static LogicalResult verifyTime(EmitError emitError, StringRef name,
                                FloatAttr time) {
  if (!time || (time.getType().isF64() && time.getValue().isFinite() &&
                !time.getValue().isNegative()))
    return success();
  return emitError() << "expected " << name
                     << " to be a finite f64 that is not negative, but got "
                     << time;
}

static LogicalResult verifyLeast(EmitError emitError, StringRef name,
                                 std::optional<int64_t> count, int64_t least) {
  if (!count || *count >= least)
    return success();
  return emitError() << "expected " << name << " to be at least " << least
                     << ", but got " << *count;
}

LogicalResult AlternativeAttr::verify(EmitError emitError, StringRef name,
                                      StringAttr, FloatAttr estimate,
                                      FloatAttr extra,
                                      std::optional<bool> chosen,
                                      StringAttr whyNot) {
  // (C1).
  if (failed(verifyTime(emitError, "estimate_us", estimate)) ||
      failed(verifyTime(emitError, "extra_us", extra)))
    return failure();
  // (C2).
  if (name.empty())
    return emitError() << "expected a name, but got an empty one";
  // (C3).
  if (!estimate && !whyNot)
    return emitError() << "expected estimate_us or why_not for " << name
                       << ", but got neither";
  // (C4).
  if (chosen.value_or(false) && whyNot)
    return emitError() << "expected no why_not of what is chosen, but got "
                       << whyNot;
  return success();
}

/// (C6).
static LogicalResult verifyAlternatives(EmitError emitError, ArrayAttr list) {
  int64_t chosen = 0;
  for (Attribute entry : list ? list.getValue() : ArrayRef<Attribute>()) {
    auto alternative = dyn_cast<AlternativeAttr>(entry);
    if (!alternative)
      return emitError()
             << "expected alternatives to be of #nm.alternative, but got "
             << entry;
    chosen += alternative.getChosen().value_or(false);
  }
  if (chosen > 1)
    return emitError()
           << "expected at most one alternative to be chosen, but got "
           << chosen;
  return success();
}

LogicalResult RecordAttr::verify(
    EmitError emitError, ScheduleSource, PatternAttr, StringAttr chip,
    std::optional<int64_t> threads, std::optional<int64_t> lanes,
    std::optional<int64_t> typicalM, FloatAttr estimate, FloatAttr dense,
    FloatAttr multiplyFloor, FloatAttr memoryFloor,
    std::optional<int64_t> sharedBytes, std::optional<bool>, StringRef reason,
    ArrayAttr alternatives) {
  // (C1).
  if (failed(verifyTime(emitError, "estimate_us", estimate)) ||
      failed(verifyTime(emitError, "dense_us", dense)) ||
      failed(verifyTime(emitError, "multiply_floor_us", multiplyFloor)) ||
      failed(verifyTime(emitError, "memory_floor_us", memoryFloor)))
    return failure();
  // (C2).
  bool hasAny = multiplyFloor || memoryFloor || sharedBytes;
  bool hasAll = multiplyFloor && memoryFloor && sharedBytes;
  if (hasAny && !(hasAll && estimate && chip))
    return emitError() << "expected multiply_floor_us, memory_floor_us and "
                          "shared_bytes together, with estimate_us and chip";
  // (C3).
  if (failed(verifyLeast(emitError, "threads", threads, 1)) ||
      failed(verifyLeast(emitError, "lanes", lanes, 1)) ||
      failed(verifyLeast(emitError, "typical_m", typicalM, 1)) ||
      failed(verifyLeast(emitError, "shared_bytes", sharedBytes, 0)))
    return failure();
  // (C4).
  if (reason.empty())
    return emitError() << "expected a reason, but got an empty one";
  return verifyAlternatives(emitError, alternatives);
}
