//===- ChipFileTest.cpp - Rates of the GPU at hand ------------------------===//

#include "nm/Tables/ChipFile.h"

#include "../TemporaryFolder.h"

#include <gtest/gtest.h>

using namespace nm;

static ProbedChip drawChip(const std::string &name, double tensor) {
  ProbedChip chip;
  chip.device = {name, "sm_90a", 114, 1.75, 2039};
  chip.rates = {tensor, 2000, 120, 40,   20,   2.25,
                0.75,   2400, 90,  1300, 0.85, 0.9};
  return chip;
}

TEST(ChipFile, ReadsWhatItWrites) {
  std::string text =
      writeChips({drawChip("GPU A", 4000), drawChip("B: 'x'", 1)});
  Result<std::vector<ProbedChip>> read = readChips(text, "chips");
  ASSERT_TRUE(read) << read.error().message << "\n" << text;
  ASSERT_EQ(read->size(), 2u);
  EXPECT_EQ((*read)[1].device, drawChip("B: 'x'", 1).device);
  EXPECT_DOUBLE_EQ((*read)[0].device.bandwidth, 2039);
  int rates = 0;
  forEachRate((*read)[0].rates, [&](const char *name, double rate) {
    forEachRate(drawChip("", 4000).rates, [&](const char *other, double was) {
      if (std::string(name) == other) {
        EXPECT_DOUBLE_EQ(rate, was) << name;
      }
    });
    ++rates;
  });
  EXPECT_EQ(rates, 12);
  EXPECT_EQ(writeChips(*read), text);
}

TEST(ChipFile, RefusesWhatItDoesNotKnow) {
  std::string whole = writeChips({drawChip("GPU A", 4000)});
  auto with = [&](const std::string &from, const std::string &to) {
    std::string text = whole;
    size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << text;
    Result<std::vector<ProbedChip>> read =
        readChips(text.replace(at, from.size(), to), "c.yaml");
    return read ? "" : read.error().message;
  };
  EXPECT_EQ(with("4000", "3999"), "");
  EXPECT_NE(with("4000", "-4000").find("expected a rate tensor greater than 0"),
            std::string::npos);
  EXPECT_NE(with("4000", "nan").find("expected a rate tensor greater than 0"),
            std::string::npos);
  EXPECT_NE(with("0.9", "90").find("as shares of the device's"),
            std::string::npos);
  EXPECT_NE(with("version:         1", "version: 2")
                .find("expected a chip file of version 1, but got 2"),
            std::string::npos);
  EXPECT_NE(with("launch", "lunch"), "");
  EXPECT_NE(with("units: 114", "units: 0").find("one unit at least"),
            std::string::npos);
}

TEST(ChipFile, KeepsOneOfADevice) {
  TemporaryFolder folder;
  std::string path = folder.path("chips.yaml");
  for (double tensor : {1.0, 2.0})
    for (const char *name : {"GPU A", "GPU B"}) {
      Status status = addToChipFile(path, drawChip(name, tensor));
      ASSERT_TRUE(status) << status.error().message;
    }
  Result<std::vector<ProbedChip>> read = readChipFile(path);
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->size(), 2u);
  EXPECT_EQ((*read)[0].rates.tensor, 2);
  EXPECT_FALSE(addToChipFile(folder.path("none/chips.yaml"), drawChip("A", 1)));
  folder.write("chips.yaml", "version: 7\n");
  EXPECT_FALSE(addToChipFile(path, drawChip("GPU A", 1)));
}

TEST(ChipFile, AppliesWhatIsKnown) {
  GpuChip nominal;
  nominal.memoryGBs = 4800;
  nominal.hasWgmma = true;
  ProbedChip probed = drawChip("GPU A", 4000);
  GpuChip chip = probed.appliedTo(nominal);
  EXPECT_EQ(chip.multiprocessors, 114);
  EXPECT_EQ(chip.clockGHz, 1.75);
  EXPECT_EQ(chip.memoryGBs, 2039);
  EXPECT_EQ(chip.rates.tensor, 4000);
  EXPECT_TRUE(chip.hasWgmma);
  probed.device.bandwidth = 0;
  EXPECT_EQ(probed.appliedTo(nominal).memoryGBs, nominal.memoryGBs);
}
