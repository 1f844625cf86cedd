//===- Measurements.h - What candidates were measured to take ---*- C++ -*-===//

#ifndef NM_LIB_BENCH_MEASUREMENTS_H
#define NM_LIB_BENCH_MEASUREMENTS_H

#include "BenchCase.h"

#include "nm/Tables/ScheduleTable.h"

#include <string>
#include <vector>

namespace nm {

/// A line of a file of measurements.
struct Measurement {
  TableProduct product;
  std::string device;
  int64_t kernels = 0;
  /// The whole schedule that ran, and whether its kernel is one of the product
  /// itself, not of another that took its place.
  std::string schedule;
  bool isAsIs = false;
  bool isAccurate = false;
  bool isDisturbed = false;
  /// The options that asked for it.
  std::string candidate;
  double microseconds = 0;
  std::optional<double> dense;
};

/// Reads what `nm-bench --tune --csv` wrote; none where there is no file.
Result<std::vector<Measurement>> readMeasurements(const std::string &path);

/// The key of a table's entry for the product of a bench case.
TableProduct tableProductOf(const BenchCase &bench,
                            const std::string &arithmetic);

/// A schedule of a product, with the medians of all that was measured of it.
struct CandidateTime {
  Measurement measured;
  double microseconds = 0;
  /// The number of measurements.
  size_t times = 0;
};

/// The schedules of `product` on `device`, the fastest first: those of the
/// product itself, or also what took its place.
std::vector<CandidateTime> rank(const std::vector<Measurement> &all,
                                const TableProduct &product,
                                const std::string &device, bool asIsOnly);

/// The median of the dense product's times.
std::optional<double> denseTime(const std::vector<Measurement> &all,
                                const TableProduct &product,
                                const std::string &device);

/// The line with the names of the columns that `summarize` fills.
inline constexpr const char *kSummaryHeader =
    "product,schedule,us,model_us,dense_us,candidates\n";
/// A line for the product of `bench`: the schedule that a table has of it, its
/// time, that of the model's choice and the dense product's, in microseconds,
/// and how many schedules were measured; empty where none was.
std::string summarize(const std::vector<Measurement> &all,
                      const BenchCase &bench, const std::string &arithmetic,
                      const std::string &device);

/// The entries that the measurements of `device` are worth: for each product
/// the fastest schedule, and the model's where no other is clearly faster. None
/// for a product that another takes the place of and is faster.
std::vector<TableEntry> makeEntries(const std::vector<Measurement> &all,
                                    const std::string &device);

} // namespace nm

#endif // NM_LIB_BENCH_MEASUREMENTS_H
