//===- ScheduleTable.h - Schedules that were measured -----------*- C++ -*-===//
//
// A table has, for the products that were measured on a device, the fastest
// schedule of our own, its time and that of the dense product. It is text, of
// one YAML document for each device and version of the kernels.
//
//===----------------------------------------------------------------------===//

#ifndef NM_TABLES_SCHEDULETABLE_H
#define NM_TABLES_SCHEDULETABLE_H

#include "nm/Schedule/GpuChip.h"
#include "nm/Support/Error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nm {

/// The version of the form of tables.
inline constexpr int64_t kTableVersion = 1;
/// The version of kernels and schedules: it is raised with a change after which
/// times that were measured before it no longer hold.
inline constexpr int64_t kKernelVersion = 1;

/// A device, by its name and what its times depend on.
struct TableDevice {
  /// As the driver names a GPU, or LLVM a processor.
  std::string name;
  /// `sm_90a`, or `cpu`.
  std::string chip;
  /// Multiprocessors of a GPU, threads of a CPU.
  int64_t units = 0;
  /// Gigahertz, and GB/s of memory; 0 where they are not known.
  double clock = 0, bandwidth = 0;

  bool operator==(const TableDevice &other) const;
};

/// The key of a table's entry: a product.
struct TableProduct {
  /// Rows of A; a negative number where they are not known.
  int64_t m = 0, n = 0, k = 0;
  /// As Pattern::str writes it.
  std::string pattern;
  /// The types of A and B, and of C: `f16`, and `f16 x i4/128` with quantized
  /// weights.
  std::string type, result;
  /// `row-major`, `m-major` or `vector`.
  std::string layout;
  /// The class of the epilogue, as epilogueClass names it.
  std::string epilogue = "none";
  /// As #nm.arithmetic names it.
  std::string arithmetic = "f32";

  bool operator==(const TableProduct &other) const;
  /// Whether both are in the same bucket: equal but for sizes, m within the
  /// same power of two, n and k within the same quarter of one. One row is a
  /// vector, too, and light epilogues and activations change little.
  bool isLike(const TableProduct &other) const;
  /// Whether what the epilogue reads is next to nothing beside the weights:
  /// operands of columns, or of the elements of few rows.
  bool hasLightEpilogue() const;
};

/// The class of an epilogue with `operands`: `none`; `columns` where each
/// column has operands of its own; `matrix` where each element has. Where it
/// computes a function such as an exponential of each sum, `activation` or
/// `columns and activation`.
std::string epilogueClass(std::string_view operands, bool isActivation);

struct TableEntry {
  TableProduct product;
  /// The schedule attribute.
  std::string schedule;
  double microseconds = 0;
  /// Microseconds of the dense product, where it was measured.
  std::optional<double> dense;
};

/// The entries of one device and version.
struct ScheduleTable {
  int64_t version = kTableVersion;
  int64_t kernels = kKernelVersion;
  TableDevice device;
  /// What a probe of the device measured, for the cost models.
  std::optional<GpuRates> rates = {};
  std::vector<TableEntry> entries = {};
};

/// The documents of `text`, which errors call `name`.
Result<std::vector<ScheduleTable>> readTables(std::string_view text,
                                              const std::string &name);
Result<std::vector<ScheduleTable>> readTableFile(const std::string &path);

std::string writeTables(const std::vector<ScheduleTable> &tables);
/// Replaces the file whole, by a rename.
Status writeTableFile(const std::string &path,
                      const std::vector<ScheduleTable> &tables);

/// Adds `more` to `tables`: of equal products the entry of `more` stays, as its
/// rates do, and entries are in the order of their products.
void mergeTables(std::vector<ScheduleTable> &tables,
                 const std::vector<ScheduleTable> &more);
/// Does so to the file, which need not be there.
Status addToTableFile(const std::string &path,
                      const std::vector<ScheduleTable> &more);

/// The file that tuning writes unless told another, and that compilations read:
/// schedules.yaml in NM_CACHE_DIR, or in nm of XDG_CACHE_HOME or ~/.cache;
/// empty where the user has no home.
std::string userTable();

/// The processor that is here, as LLVM names it.
std::string hostProcessor();

/// The tables that nm has.
std::string_view shippedTables();
/// The name of the tables that ship, in options and messages.
inline constexpr std::string_view kShippedTables = "ships";

} // namespace nm

#endif // NM_TABLES_SCHEDULETABLE_H
