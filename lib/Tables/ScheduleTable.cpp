//===- ScheduleTable.cpp - Schedules that were measured -------------------===//

#include "nm/Tables/ScheduleTable.h"

#include "TableText.h"

#include "nm/Schedule/NamedRates.h"

#include "llvm/TargetParser/Host.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <tuple>

#include <unistd.h>

using namespace nm;

LLVM_YAML_IS_SEQUENCE_VECTOR(nm::TableEntry)
LLVM_YAML_IS_DOCUMENT_LIST_VECTOR(nm::ScheduleTable)

//===----------------------------------------------------------------------===//
// The text
//===----------------------------------------------------------------------===//

namespace llvm::yaml {
template <>
struct MappingTraits<TableProduct> {
  static void mapping(IO &io, TableProduct &product) {
    io.mapRequired("m", product.m);
    io.mapRequired("n", product.n);
    io.mapRequired("k", product.k);
    io.mapRequired("pattern", product.pattern);
    io.mapRequired("type", product.type);
    io.mapRequired("result", product.result);
    io.mapOptional("a", product.layout, std::string("row-major"));
    io.mapOptional("epilogue", product.epilogue, std::string("none"));
    io.mapOptional("arithmetic", product.arithmetic, std::string("f32"));
  }
  static std::string validate(IO &, TableProduct &product) {
    return product.m < 1 || product.n < 1 || product.k < 1
               ? "expected m, n and k of 1 at least"
               : "";
  }
  static constexpr bool flow = true;
};

template <>
struct MappingTraits<TableEntry> {
  static void mapping(IO &io, TableEntry &entry) {
    io.mapRequired("product", entry.product);
    io.mapRequired("schedule", entry.schedule);
    io.mapRequired("us", entry.microseconds);
    io.mapOptional("dense_us", entry.dense);
  }
  static std::string validate(IO &, TableEntry &entry) {
    // Written so that a NaN is refused.
    bool isTime = entry.microseconds > 0 && std::isfinite(entry.microseconds);
    bool isDense = !entry.dense || (*entry.dense > 0 && *entry.dense < 1e12);
    return isTime && isDense ? "" : "expected times greater than 0";
  }
};

template <>
struct MappingTraits<GpuRates> {
  static void mapping(IO &io, GpuRates &rates) {
    for (const NamedRate &named : kNamedRates)
      io.mapRequired(named.name, rates.*named.rate);
  }
  static std::string validate(IO &, GpuRates &rates) {
    // Written so that a NaN is refused.
    for (const NamedRate &named : kNamedRates)
      if (!(rates.*named.rate > 0 && std::isfinite(rates.*named.rate)))
        return std::string("expected a rate ") + named.name + " greater than 0";
    constexpr double kMost = 1.5;
    return rates.loadedClock <= kMost && rates.reachedMemory <= kMost
               ? ""
               : "expected loaded_clock and reached_memory as shares of the "
                 "device's";
  }
};

template <>
struct MappingTraits<ScheduleTable> {
  static void mapping(IO &io, ScheduleTable &table) {
    io.mapRequired("version", table.version);
    io.mapRequired("kernels", table.kernels);
    // The fields of a later version are not known.
    if (!io.outputting() && table.version != kTableVersion) {
      io.setError("expected a table of version " + llvm::Twine(kTableVersion) +
                  ", but got " + llvm::Twine(table.version));
      return;
    }
    io.mapRequired("device", table.device);
    io.mapOptional("rates", table.rates);
    io.mapOptional("entries", table.entries);
  }
};
} // namespace llvm::yaml

Result<std::vector<ScheduleTable>> nm::readTables(std::string_view text,
                                                  const std::string &name) {
  return readDocuments<ScheduleTable>(text, name, "table");
}

Result<std::vector<ScheduleTable>> nm::readTableFile(const std::string &path) {
  Result<std::string> text = readWholeFile(path);
  if (!text)
    return text.error();
  return readTables(*text, path);
}

std::string nm::hostProcessor() { return llvm::sys::getHostCPUName().str(); }

std::string nm::userTable() {
  auto get = [](const char *name) {
    const char *value = std::getenv(name);
    return std::string(value ? value : "");
  };
  std::string folder = get("NM_CACHE_DIR");
  if (std::string base = get("XDG_CACHE_HOME"); folder.empty() && !base.empty())
    folder = base + "/nm";
  if (std::string home = get("HOME"); folder.empty() && !home.empty())
    folder = home + "/.cache/nm";
  return folder.empty() ? "" : folder + "/schedules.yaml";
}

std::string nm::writeTables(const std::vector<ScheduleTable> &tables) {
  return writeDocuments(tables);
}

Status nm::writeTableFile(const std::string &path,
                          const std::vector<ScheduleTable> &tables) {
  return replaceFile(path, writeTables(tables));
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

bool TableDevice::operator==(const TableDevice &other) const {
  return name == other.name && chip == other.chip && units == other.units;
}

/// All of `product` but its sizes.
static auto classOf(const TableProduct &product) {
  return std::tie(product.pattern, product.type, product.result, product.layout,
                  product.epilogue, product.arithmetic);
}

static auto sizesOf(const TableProduct &product) {
  return std::tuple(product.n, product.k, product.m);
}

bool TableProduct::operator==(const TableProduct &other) const {
  return classOf(*this) == classOf(other) && sizesOf(*this) == sizesOf(other);
}

/// The power of two that `rows` are at most.
static int64_t bucketOfRows(int64_t rows) {
  int64_t bucket = 1;
  while (bucket < rows)
    bucket *= 2;
  return bucket;
}

static int64_t bucketOfSize(int64_t size) {
  constexpr double kParts = 4;
  return int64_t(std::floor(std::log2(double(size)) * kParts));
}

static constexpr std::string_view kNone = "none", kActivation = "activation";

std::string nm::epilogueClass(std::string_view operands, bool isActivation) {
  std::string text(isActivation && operands == kNone ? "" : operands);
  if (isActivation)
    text += (text.empty() ? "" : " and ") + std::string(kActivation);
  return text;
}

/// The operands of a class of epilogues.
static std::string_view operandsOf(std::string_view epilogue) {
  return epilogue == kActivation ? kNone
                                 : epilogue.substr(0, epilogue.find(' '));
}

bool TableProduct::hasLightEpilogue() const {
  // A column has k weights, and m elements of an operand.
  constexpr int64_t kWeights = 128;
  std::string_view operands = operandsOf(epilogue);
  return operands == kNone || operands == "columns" ||
         (operands == "matrix" && m > 0 && m * kWeights <= k);
}

bool TableProduct::isLike(const TableProduct &other) const {
  bool isOneRow = m == 1 && other.m == 1;
  if (m < 1 || other.m < 1 ||
      std::tie(pattern, type, result, arithmetic) !=
          std::tie(other.pattern, other.type, other.result, other.arithmetic) ||
      (layout != other.layout && !isOneRow) ||
      (operandsOf(epilogue) != operandsOf(other.epilogue) &&
       !(hasLightEpilogue() && other.hasLightEpilogue())))
    return false;
  return bucketOfRows(m) == bucketOfRows(other.m) &&
         bucketOfSize(n) == bucketOfSize(other.n) &&
         bucketOfSize(k) == bucketOfSize(other.k);
}

void nm::mergeTables(std::vector<ScheduleTable> &tables,
                     const std::vector<ScheduleTable> &more) {
  for (const ScheduleTable &added : more) {
    auto same =
        std::find_if(tables.begin(), tables.end(), [&](const auto &table) {
          return table.device == added.device && table.kernels == added.kernels;
        });
    if (same == tables.end())
      same = tables.insert(tables.end(),
                           {kTableVersion, added.kernels, added.device});
    if (added.rates)
      same->rates = added.rates;
    for (const TableEntry &entry : added.entries) {
      auto known = std::find_if(
          same->entries.begin(), same->entries.end(),
          [&](const auto &old) { return old.product == entry.product; });
      if (known == same->entries.end())
        same->entries.push_back(entry);
      else
        *known = entry;
    }
    std::sort(
        same->entries.begin(), same->entries.end(),
        [](const TableEntry &left, const TableEntry &right) {
          return std::tuple(classOf(left.product), sizesOf(left.product)) <
                 std::tuple(classOf(right.product), sizesOf(right.product));
        });
  }
}

Status nm::addToTableFile(const std::string &path,
                          const std::vector<ScheduleTable> &more) {
  std::vector<ScheduleTable> tables;
  if (access(path.c_str(), F_OK) == 0) {
    Result<std::vector<ScheduleTable>> read = readTableFile(path);
    if (!read)
      return read.error();
    tables = std::move(*read);
  }
  mergeTables(tables, more);
  return writeTableFile(path, tables);
}
