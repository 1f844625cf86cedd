//===- ScheduleTableTest.cpp - Schedules that were measured ---------------===//

#include "nm/Tables/ScheduleTable.h"

#include "nm/Schedule/NamedRates.h"

#include "../TemporaryFolder.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

using namespace nm;

static TableProduct drawProduct(int64_t m, int64_t n, int64_t k) {
  return {m, n, k, "8:32, block = 1x32", "f16", "f32", "row-major"};
}

static ScheduleTable makeTable(std::vector<TableEntry> entries,
                               const std::string &device = "GPU A") {
  return {kTableVersion,
          kKernelVersion,
          {device, "sm_90a", 132, 1.98, 4800},
          std::nullopt,
          std::move(entries)};
}

TEST(ScheduleTable, ReadsWhatItWrites) {
  TableProduct product = drawProduct(16, 4096, 11008);
  product.layout = "m-major";
  product.epilogue = "columns";
  std::vector<ScheduleTable> tables{
      makeTable({{product, "#nm.mma_sync<block = [16, 64, 64], stages = 4>",
                  10.25, 12.5},
                 {drawProduct(1, 64, 96), "#nm.gemv", 3, std::nullopt}}),
      makeTable({}, "GPU: B, 'quoted' \"twice\"")};
  std::string text = writeTables(tables);
  Result<std::vector<ScheduleTable>> read = readTables(text, "table");
  ASSERT_TRUE(read) << read.error().message << "\n" << text;
  ASSERT_EQ(read->size(), 2u);
  EXPECT_EQ((*read)[0].device, tables[0].device);
  EXPECT_EQ((*read)[1].device, tables[1].device);
  EXPECT_DOUBLE_EQ((*read)[0].device.clock, 1.98);
  ASSERT_EQ((*read)[0].entries.size(), 2u);
  const TableEntry &entry = (*read)[0].entries[0];
  EXPECT_EQ(entry.product, product);
  EXPECT_EQ(entry.schedule, tables[0].entries[0].schedule);
  EXPECT_DOUBLE_EQ(entry.microseconds, 10.25);
  EXPECT_DOUBLE_EQ(*entry.dense, 12.5);
  EXPECT_FALSE((*read)[0].entries[1].dense);
  EXPECT_EQ(writeTables(*read), text);
}

static std::string errorOf(const std::string &text) {
  Result<std::vector<ScheduleTable>> read = readTables(text, "t.yaml");
  return read ? "" : read.error().message;
}

TEST(ScheduleTable, RefusesWhatItDoesNotKnow) {
  std::string whole = writeTables(
      {makeTable({{drawProduct(16, 4096, 96), "#nm.gemv", 10, std::nullopt}})});
  auto with = [&](const std::string &from, const std::string &to) {
    std::string text = whole;
    size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << text;
    return errorOf(text.replace(at, from.size(), to));
  };
  EXPECT_EQ(errorOf(whole), "");
  // A file without a table has none.
  EXPECT_EQ(errorOf(""), "");
  // The number of the line comes first.
  std::string version = "version:         " + std::to_string(kTableVersion);
  EXPECT_NE(with(version, "version: 7")
                .find("expected a table of version 1, "
                      "but got 7"),
            std::string::npos);
  EXPECT_NE(with("kernels:", "kernel:").find("kernels"), std::string::npos);
  EXPECT_NE(with("10", "-10").find("expected times greater than 0"),
            std::string::npos);
  EXPECT_NE(with("10", "nan").find("expected times greater than 0"),
            std::string::npos);
  EXPECT_NE(with("m: 16", "m: 0").find("expected m, n and k of 1 at least"),
            std::string::npos);
  // A key that is left out, and one that there is not.
  EXPECT_NE(with("m: 16", "mm: 16"), "");
  EXPECT_NE(with("m: 16", "m: 16, mm: 3").find("unknown key 'mm'"),
            std::string::npos);
}

TEST(ScheduleTable, NeverFailsOnDamagedText) {
  std::string whole = writeTables({makeTable(
      {{drawProduct(16, 4096, 11008), "#nm.gemv<split_k = 2>", 10, 11.0}})});
  for (size_t i = 0; i < whole.size(); ++i) {
    (void)readTables(whole.substr(0, i), "t.yaml");
    std::string text = whole;
    text[i] = char(text[i] ^ 0x15);
    (void)readTables(text, "t.yaml");
  }
}

static ScheduleTable makeProbed(double tensor) {
  ScheduleTable table = makeTable({});
  table.rates = GpuRates{tensor, 2000, 120, 40,   20,   2.25,
                         0.75,   2400, 90,  1300, 0.85, 0.9};
  return table;
}

TEST(ScheduleTable, RatesComeBack) {
  std::string text = writeTables({makeProbed(4000)});
  Result<std::vector<ScheduleTable>> read = readTables(text, "t.yaml");
  ASSERT_TRUE(read) << read.error().message << "\n" << text;
  ASSERT_TRUE((*read)[0].rates);
  for (const NamedRate &named : kNamedRates)
    EXPECT_DOUBLE_EQ((*read)[0].rates.value().*named.rate,
                     makeProbed(4000).rates.value().*named.rate)
        << named.name;
  EXPECT_EQ(writeTables(*read), text);
  auto with = [&](const std::string &from, const std::string &to) {
    std::string changed = text;
    size_t at = changed.find(from);
    EXPECT_NE(at, std::string::npos) << text;
    return errorOf(changed.replace(at, from.size(), to));
  };
  EXPECT_NE(with("4000", "-4000").find("expected a rate tensor greater than 0"),
            std::string::npos);
  EXPECT_NE(with("4000", "nan").find("expected a rate tensor greater than 0"),
            std::string::npos);
  EXPECT_NE(with("0.9", "90").find("as shares of the device's"),
            std::string::npos);
  EXPECT_NE(with("launch", "lunch"), "");
}

TEST(ScheduleTable, MergesRates) {
  std::vector<ScheduleTable> tables;
  TableEntry entry{drawProduct(1, 64, 64), "#nm.gemv", 3, std::nullopt};
  mergeTables(tables, {makeTable({entry})});
  mergeTables(tables, {makeProbed(1)});
  mergeTables(tables, {makeProbed(2)});
  // Entries alone leave what a probe measured.
  mergeTables(tables, {makeTable({})});
  ASSERT_EQ(tables.size(), 1u);
  EXPECT_EQ(tables[0].rates->tensor, 2);
  EXPECT_EQ(tables[0].entries.size(), 1u);
}

TEST(ScheduleTable, BucketsOfSizes) {
  TableProduct product = drawProduct(64, 4096, 4096);
  auto isLike = [&](int64_t m, int64_t n, int64_t k) {
    return product.isLike(drawProduct(m, n, k));
  };
  EXPECT_TRUE(isLike(64, 4096, 4096));
  EXPECT_TRUE(isLike(33, 4800, 4200));
  EXPECT_FALSE(isLike(32, 4096, 4096));
  EXPECT_FALSE(isLike(65, 4096, 4096));
  EXPECT_FALSE(isLike(64, 4095, 4096));
  EXPECT_FALSE(isLike(64, 4096, 5120));
  EXPECT_FALSE(isLike(-1, 4096, 4096));
  // Rows that are few are buckets by themselves.
  EXPECT_FALSE(drawProduct(1, 64, 64).isLike(drawProduct(2, 64, 64)));
  EXPECT_FALSE(drawProduct(2, 64, 64).isLike(drawProduct(3, 64, 64)));
}

TEST(ScheduleTable, ClassesAreApart) {
  TableProduct product = drawProduct(64, 4096, 4096), other = product;
  other.pattern = "2:8, block = 1x32";
  EXPECT_FALSE(product.isLike(other));
  other = product;
  other.result = "f16";
  EXPECT_FALSE(product.isLike(other));
  other = product;
  other.layout = "m-major";
  EXPECT_FALSE(product.isLike(other));
  other = product;
  other.epilogue = "columns";
  EXPECT_TRUE(product.isLike(other));
  EXPECT_FALSE(product == other);
  other.epilogue = "matrix";
  EXPECT_FALSE(product.isLike(other));
  // An activation is one beside others, whatever they read.
  other.epilogue = "activation";
  EXPECT_TRUE(product.isLike(other));
  EXPECT_FALSE(product == other);
  product.epilogue = "matrix";
  other.epilogue = "matrix and activation";
  EXPECT_TRUE(product.isLike(other));
  other.epilogue = "columns and activation";
  EXPECT_FALSE(product.isLike(other));
  // Those of few rows are light, too.
  product = other = drawProduct(32, 4096, 4096);
  other.epilogue = "matrix";
  EXPECT_TRUE(product.isLike(other));
  // A row of its own may be a vector.
  product = other = drawProduct(1, 4096, 4096);
  other.layout = "vector";
  EXPECT_TRUE(product.isLike(other));
}

TEST(ScheduleTable, NamesClassesOfEpilogues) {
  EXPECT_EQ(epilogueClass("none", false), "none");
  EXPECT_EQ(epilogueClass("none", true), "activation");
  EXPECT_EQ(epilogueClass("columns", false), "columns");
  EXPECT_EQ(epilogueClass("matrix", true), "matrix and activation");
}

TEST(ScheduleTable, MergesByDeviceAndProduct) {
  TableProduct one = drawProduct(1, 64, 64), two = drawProduct(2, 64, 64);
  std::vector<ScheduleTable> tables{
      makeTable({{two, "#nm.gemv", 5, std::nullopt}})};
  ScheduleTable older = makeTable({{one, "#nm.loops", 1, std::nullopt}});
  older.kernels = kKernelVersion - 1;
  mergeTables(tables, {makeTable({{two, "#nm.simt", 6, std::nullopt},
                                  {one, "#nm.gemv", 4, std::nullopt}}),
                       makeTable({{one, "#nm.simt", 7, std::nullopt}}, "GPU B"),
                       older});
  ASSERT_EQ(tables.size(), 3u);
  ASSERT_EQ(tables[0].entries.size(), 2u);
  EXPECT_EQ(tables[0].entries[0].product, one);
  EXPECT_EQ(tables[0].entries[1].schedule, "#nm.simt");
  EXPECT_EQ(tables[1].device.name, "GPU B");
  EXPECT_EQ(tables[2].kernels, kKernelVersion - 1);
}

TEST(ScheduleTable, ReplacesFilesWhole) {
  TemporaryFolder folder;
  std::string path = folder.path("t.yaml");
  ASSERT_TRUE(writeTableFile(path, {makeTable({})}));
  ASSERT_TRUE(readTableFile(path));
  Status failed = writeTableFile(folder.path("none/t.yaml"), {makeTable({})});
  ASSERT_FALSE(failed);
  EXPECT_NE(failed.error().message.find("cannot be written"),
            std::string::npos);
  EXPECT_FALSE(readTableFile(folder.path("other.yaml")));
}

TEST(ScheduleTable, ShippedTablesAreRead) {
  Result<std::vector<ScheduleTable>> read =
      readTables(shippedTables(), std::string(kShippedTables));
  ASSERT_TRUE(read) << read.error().message;
  std::set<std::string> chips;
  for (const ScheduleTable &table : *read) {
    EXPECT_EQ(table.kernels, kKernelVersion) << table.device.name;
    EXPECT_FALSE(table.entries.empty()) << table.device.name;
    chips.insert(table.device.chip);
  }
  EXPECT_EQ(chips, (std::set<std::string>{"cpu", "sm_90a"}));
}
