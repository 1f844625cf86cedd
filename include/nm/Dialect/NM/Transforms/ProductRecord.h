//===- ProductRecord.h - Recording what was chosen, and why -----*- C++ -*-===//

#ifndef NM_DIALECT_NM_TRANSFORMS_PRODUCTRECORD_H
#define NM_DIALECT_NM_TRANSFORMS_PRODUCTRECORD_H

#include "nm/Dialect/NM/IR/NM.h"

#include <string>

namespace mlir::nm {

/// Keeps `record` with `op`, which has its schedule, and prints it as a remark,
/// or as a warning.
void setRecord(SparseProductOpInterface op, const ProductRecord &record,
               DiagnosticSeverity severity = DiagnosticSeverity::Remark);

/// What was chosen for `op`; null before a schedule is selected.
RecordAttr getRecord(SparseProductOpInterface op);

/// The record and the schedule of `op` as a sentence, which the remark is;
/// empty where it has none.
std::string describeRecord(SparseProductOpInterface op);

} // namespace mlir::nm

#endif // NM_DIALECT_NM_TRANSFORMS_PRODUCTRECORD_H
