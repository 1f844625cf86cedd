//===- ProductRecord.h - What was chosen for a product, and why -*- C++ -*-===//

#ifndef NM_DIALECT_NM_IR_PRODUCTRECORD_H
#define NM_DIALECT_NM_IR_PRODUCTRECORD_H

#include "nm/Format/Pattern.h"

#include <cstdint>
#include <optional>
#include <string>

namespace mlir::nm {

enum class ScheduleSource : uint32_t;

/// The fields of #nm.record, which NMRecord.td describes. Times are in
/// microseconds; what no model gives is absent.
struct ProductRecord {
  ScheduleSource source{};
  ::nm::Pattern pattern;
  /// Empty for a CPU.
  std::string chip;
  std::optional<int64_t> threads, lanes, typicalM;
  std::optional<double> estimate, denseEstimate, multiplyFloor, memoryFloor;
  std::optional<int64_t> sharedBytes;
  bool fallsBack = false;
  std::string reason;
};

} // namespace mlir::nm

#endif // NM_DIALECT_NM_IR_PRODUCTRECORD_H
