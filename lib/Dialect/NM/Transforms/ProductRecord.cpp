//===- ProductRecord.cpp - What was chosen for a product, and why ---------===//

#include "nm/Dialect/NM/Transforms/ProductRecord.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace mlir::nm;

/// The attribute of an op that has its record.
static constexpr StringLiteral kRecordAttr = "nm.record";

static constexpr std::pair<StringLiteral,
                           std::optional<double> ProductRecord::*>
    kTimes[] = {{"estimate_us", &ProductRecord::estimate},
                {"dense_us", &ProductRecord::denseEstimate},
                {"multiply_floor_us", &ProductRecord::multiplyFloor},
                {"memory_floor_us", &ProductRecord::memoryFloor}};

void mlir::nm::setRecord(SparseProductOpInterface op,
                         const ProductRecord &record) {
  Builder builder(op.getContext());
  NamedAttrList fields;
  fields.set("remark", builder.getStringAttr(record.remark));
  fields.set("reason", builder.getStringAttr(record.reason));
  fields.set("falls_back", builder.getBoolAttr(record.fallsBack));
  for (auto [name, time] : kTimes)
    if (record.*time)
      fields.set(name, builder.getF64FloatAttr(*(record.*time)));
  if (record.sharedBytes)
    fields.set("shared_bytes", builder.getI64IntegerAttr(*record.sharedBytes));
  op->setAttr(kRecordAttr, fields.getDictionary(op.getContext()));
}

static std::string getText(DictionaryAttr fields, StringRef name) {
  auto text = fields.getAs<StringAttr>(name);
  return text ? text.str() : "";
}

std::optional<ProductRecord> mlir::nm::getRecord(SparseProductOpInterface op) {
  auto fields = op->getAttrOfType<DictionaryAttr>(kRecordAttr);
  if (!fields)
    return std::nullopt;
  ProductRecord record;
  record.remark = getText(fields, "remark");
  record.reason = getText(fields, "reason");
  if (auto fallsBack = fields.getAs<BoolAttr>("falls_back"))
    record.fallsBack = fallsBack.getValue();
  for (auto [name, time] : kTimes)
    if (auto value = fields.getAs<FloatAttr>(name))
      record.*time = value.getValueAsDouble();
  if (auto bytes = fields.getAs<IntegerAttr>("shared_bytes"))
    record.sharedBytes = bytes.getInt();
  return record;
}
