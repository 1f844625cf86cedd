//===- RecordProducts.cpp - What the manifest says of products ------------===//

#include "RecordProducts.h"

#include "nm/Dialect/NM/IR/ElementTypes.h"
#include "nm/Dialect/NM/IR/PatchesOp.h"
#include "nm/Dialect/NM/IR/SourceLocation.h"
#include "nm/Dialect/NM/Transforms/MeasuredSchedules.h"
#include "nm/Dialect/NM/Transforms/ProductRecord.h"
#include "nm/GPU/Select/ProductProfile.h"

#include "mlir/Support/DebugStringHelper.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::nm;

/// A parameter of a schedule as a value of the manifest.
static llvm::json::Value toJson(Attribute parameter) {
  return TypeSwitch<Attribute, llvm::json::Value>(parameter)
      .Case([](DictionaryAttr dictionary) {
        llvm::json::Object object;
        for (NamedAttribute entry : dictionary)
          object[entry.getName().getValue()] = toJson(entry.getValue());
        return object;
      })
      .Case([](DenseI64ArrayAttr sizes) {
        return llvm::json::Array(sizes.asArrayRef());
      })
      .Case([](BoolAttr choice) { return choice.getValue(); })
      .Case([](IntegerAttr count) { return count.getInt(); })
      .Case([](StringAttr name) { return name.getValue(); })
      .Default([](Attribute other) { return debugString(other); });
}

static int64_t toManifest(int64_t size) {
  return ShapedType::isDynamic(size) ? -1 : size;
}

static OpRecord recordProduct(SparseProductOpInterface op) {
  OpRecord record;
  ScheduleAttrInterface schedule = op.getScheduleAttr();
  record.op = op->getName().getStringRef();
  record.m = toManifest(op.getStaticM());
  record.n = toManifest(op.getStaticN());
  record.k = toManifest(op.getStaticK());
  if (auto type = getElementType(op.getAType().getElementType()))
    record.dtype = ::nm::elementName(*type);
  record.tuneCase = getTuneCase(op);
  record.strategy = getStrategyName(op);
  record.schedule = debugString(schedule);
  record.parameters = toJson(schedule.getParameters());
  record.place = getPlace(op.getLoc());
  record.remark = describeRecord(op);
  if (RecordAttr choice = getRecord(op))
    record.choice = choice.getRecord();
  record.profile = profileProduct(op);
  return record;
}

std::vector<OpRecord> mlir::nm::recordProducts(func::FuncOp function) {
  std::vector<OpRecord> records;
  function.walk([&](SparseProductOpInterface op) {
    if (op.getScheduleAttr())
      records.push_back(recordProduct(op));
  });
  return records;
}
