//===- MeasuredSchedules.h - Products that tables know ----------*- C++ -*-===//

#ifndef NM_DIALECT_NM_TRANSFORMS_MEASUREDSCHEDULES_H
#define NM_DIALECT_NM_TRANSFORMS_MEASUREDSCHEDULES_H

#include "nm/Dialect/NM/IR/NM.h"
#include "nm/Tables/ScheduleTable.h"

namespace mlir::nm {

/// The module's attributes that selection for a GPU goes by beside the chip:
/// an array of the tables' files, as strings; the name of the device; and that
/// a row's sums must not depend on m.
inline constexpr StringLiteral kScheduleTablesAttr = "nm.schedule_tables";
inline constexpr StringLiteral kDeviceAttr = "nm.device";
inline constexpr StringLiteral kBatchInvariantAttr = "nm.batch_invariant";

/// The prefix of the file that the user's own tuning wrote. A schedule from
/// that file is a suggestion: one that does not fit is warned of, and no error.
inline constexpr StringLiteral kCachedTable = "cache:";

/// The model takes the schedule of a product of the same bucket where it
/// estimates that schedule at most so many times its own choice.
inline constexpr double kModelAgrees = 1.1;

/// The device whose measurements are looked up.
struct DeviceQuery {
  /// Empty for all that have the facts.
  std::string name;
  std::string chip;
  int64_t units = 0;
  /// Clock and bandwidth of the chip that the models know; 0 where neither is
  /// compared.
  double clock = 0, bandwidth = 0;

  bool matches(const ::nm::TableDevice &device) const;
};

/// The schedule that a table has for a product.
struct MeasuredSchedule {
  ::nm::TableEntry entry;
  /// The file.
  std::string table;
  /// Whether the entry's product is this one, not one of its bucket.
  bool isExact = false;
  /// Whether the schedule is demanded: that it cannot be is an error.
  bool isPinned = false;

  /// `measured 10.0 us by ships, cuBLAS 20.0 us`; `dense` names that product.
  std::string describe(StringRef dense) const;
};

/// Reads the files, so that later look-ups find them; an error at `where` for
/// one that cannot be. Says which tables of the device are of other kernels.
LogicalResult loadScheduleTables(Operation *where, ArrayRef<std::string> files,
                                 const DeviceQuery &device);

/// The table of the device, without its entries, from the first of `files` that
/// has rates of it.
std::optional<::nm::ScheduleTable> findRates(ArrayRef<std::string> files,
                                             const DeviceQuery &device);

/// The schedule from the first of `files` that has one for the product or,
/// failing that, for the product of the same bucket whose sizes are the
/// closest.
std::optional<MeasuredSchedule>
findMeasuredSchedule(ArrayRef<std::string> files, const DeviceQuery &device,
                     const ::nm::TableProduct &product);

/// The key by which `op` is looked up in tables.
::nm::TableProduct getTableProduct(SparseProductOpInterface op);

/// The product as `nm-bench --case` takes it, with `?` for an m that is not
/// known: `16x4096x4096 2:4 f16 to f16 + bias`, with one epilogue of its class.
/// Empty for one that is not tuned: of a batch, or of integers whose sums more
/// is done with.
std::string getTuneCase(SparseProductOpInterface op);

/// Whether `op` is looked up: one without a batch, of known sizes.
bool isInTables(SparseProductOpInterface op);

/// Says that the schedule of `found` is not what the product can have, because
/// of `reason`: an error where it is pinned.
LogicalResult reportUnfit(Operation *op, const MeasuredSchedule &found,
                          const Twine &reason);

} // namespace mlir::nm

#endif // NM_DIALECT_NM_TRANSFORMS_MEASUREDSCHEDULES_H
