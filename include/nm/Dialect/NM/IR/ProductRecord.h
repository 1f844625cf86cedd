//===- ProductRecord.h - What was chosen for a product, and why -*- C++ -*-===//

#ifndef NM_DIALECT_NM_IR_PRODUCTRECORD_H
#define NM_DIALECT_NM_IR_PRODUCTRECORD_H

#include "nm/Format/Pattern.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mlir::nm {

enum class ScheduleSource : uint32_t;

/// The fields of #nm.alternative, which NMRecord.td describes.
struct AlternativeRecord {
  std::string name;
  /// Empty where no strategy takes it.
  std::string strategy;
  std::optional<double> estimate, extra;
  bool isChosen = false;
  /// Empty where it can be taken.
  std::string whyNot;
};

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
  std::vector<AlternativeRecord> alternatives;
};

} // namespace mlir::nm

#endif // NM_DIALECT_NM_IR_PRODUCTRECORD_H
