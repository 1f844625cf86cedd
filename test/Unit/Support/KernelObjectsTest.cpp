//===- KernelObjectsTest.cpp - Kernels of one module for several chips ----===//

#include "nm/Support/KernelObjects.h"

#include "../Mutator.h"

#include <gtest/gtest.h>

#include <cstring>

using namespace nm;

TEST(Chip, Parses) {
  auto hopper = Chip::parse("sm_90a");
  ASSERT_TRUE(hopper);
  EXPECT_EQ(hopper->major, 9);
  EXPECT_EQ(hopper->minor, 0);
  EXPECT_EQ(hopper->suffix, 'a');
  EXPECT_EQ(hopper->str(), "sm_90a");
  auto blackwell = Chip::parse("sm_103");
  ASSERT_TRUE(blackwell);
  EXPECT_EQ(blackwell->major, 10);
  EXPECT_EQ(blackwell->minor, 3);
  for (const char *bad : {"", "sm_", "sm_9", "sm_a", "sm_9x", "90", "sm_90b",
                          "compute_90", "sm_99999", "sm_90aa"})
    EXPECT_FALSE(Chip::parse(bad)) << bad;
}

TEST(Chip, OfDevices) {
  EXPECT_EQ(Chip::ofDevice(8, 9).str(), "sm_89");
  EXPECT_EQ(Chip::ofDevice(9, 0).str(), "sm_90a");
  EXPECT_EQ(Chip::ofDevice(10, 3).str(), "sm_103a");
  EXPECT_EQ(Chip::ofDevice(12, 0).str(), "sm_120");
}

namespace {
struct Ranked {
  int major, minor;
  std::string order;
};
} // namespace

static std::vector<KernelObject> objectsOf(const std::string &text) {
  std::vector<KernelObject> objects;
  for (size_t at = 0; at < text.size();) {
    size_t end = std::min(text.find(' ', at), text.size());
    std::string name = text.substr(at, end - at);
    size_t plus = name.find('+');
    objects.push_back(
        {name.substr(0, plus),
         plus == std::string::npos ? KernelFormat::Cubin : KernelFormat::Ptx,
         ""});
    at = end + 1;
  }
  return objects;
}

static std::string ranked(const std::string &text, int major, int minor) {
  std::vector<KernelObject> objects = objectsOf(text);
  std::string result;
  for (size_t i : rankKernelObjects(objects, major, minor))
    result += (result.empty() ? "" : " ") + objects[i].str();
  return result;
}

TEST(KernelObjects, RanksByChip) {
  const std::string all = "sm_80+ptx sm_80 sm_86 sm_89 sm_90 sm_90a sm_90a+ptx "
                          "sm_100a sm_100f sm_100 sm_120+ptx";
  const Ranked cases[] = {
      {7, 5, ""},
      {8, 0, "sm_80 sm_80+ptx"},
      {8, 6, "sm_86 sm_80 sm_80+ptx"},
      {8, 7, "sm_86 sm_80 sm_80+ptx"},
      {8, 9, "sm_89 sm_86 sm_80 sm_80+ptx"},
      {9, 0, "sm_90a sm_90 sm_90a+ptx sm_80+ptx"},
      {10, 0, "sm_100a sm_100f sm_100 sm_80+ptx"},
      {10, 3, "sm_100f sm_100 sm_80+ptx"},
      {11, 0, "sm_80+ptx"},
      {12, 0, "sm_120+ptx sm_80+ptx"},
      {12, 1, "sm_120+ptx sm_80+ptx"},
  };
  for (const Ranked &c : cases)
    EXPECT_EQ(ranked(all, c.major, c.minor), c.order)
        << c.major << "." << c.minor;
}

TEST(KernelObjects, RoundTrip) {
  std::string cubin("\x7f"
                    "ELF\0\1\2",
                    7),
      ptx = ".version 8.0";
  std::string bytes =
      encodeKernelObjects({{"sm_90a", KernelFormat::Cubin, cubin},
                           {"sm_80", KernelFormat::Ptx, ptx},
                           {"sm_86", KernelFormat::Cubin, ""}});
  EXPECT_TRUE(isKernelContainer(bytes.data()));
  EXPECT_EQ(kernelContainerSize(bytes.data()), bytes.size());
  auto objects = decodeKernelObjects(bytes);
  ASSERT_TRUE(objects) << objects.error().message;
  ASSERT_EQ(objects->size(), 3u);
  EXPECT_EQ((*objects)[0].str(), "sm_90a");
  EXPECT_EQ((*objects)[0].bytes, cubin);
  EXPECT_EQ((*objects)[1].str(), "sm_80+ptx");
  EXPECT_EQ((*objects)[1].bytes, ptx);
  // The driver reads PTX up to its NUL.
  EXPECT_EQ(std::strlen((*objects)[1].bytes.data()), ptx.size());
  EXPECT_EQ((*objects)[2].bytes, "");
  for (const KernelObject &object : *objects)
    EXPECT_EQ((object.bytes.data() - bytes.data()) % 16, 0);
  // More bytes may follow, as the padding of a section does.
  EXPECT_TRUE(decodeKernelObjects(bytes + "more"));
}

TEST(KernelObjects, NothingReadsOutsideABrokenContainer) {
  const std::string good =
      encodeKernelObjects({{"sm_90a", KernelFormat::Cubin, "cubin"},
                           {"sm_80", KernelFormat::Ptx, "ptx"}});
  for (size_t size = 0; size < good.size(); ++size)
    EXPECT_FALSE(decodeKernelObjects(std::string(good, 0, size))) << size;
  EXPECT_FALSE(isKernelContainer("\x7f"
                                 "ELF\2\1\1"));
  // Every field of the header and of the entries, made as large as it can be.
  for (size_t at = 8; at + 8 <= 24 + 2 * 40; at += 8) {
    std::string bad = good;
    std::memset(bad.data() + at, 0xff, 8);
    EXPECT_FALSE(decodeKernelObjects(bad)) << at;
  }
  std::string unterminated = good;
  unterminated[good.rfind("ptx") + 3] = 'x';
  EXPECT_EQ(decodeKernelObjects(unterminated).error().message,
            "expected a NUL after the PTX of sm_80");
}

TEST(MutatedKernelObjects, AreReadOrRefused) {
  Mutator mutator({encodeKernelObjects({}),
                   encodeKernelObjects({{"sm_90a", KernelFormat::Cubin, "c"},
                                        {"sm_80", KernelFormat::Ptx, "ptx"}})});
  int64_t sum = 0;
  for (int64_t i = fuzzExecutions(4000); i > 0; --i) {
    std::string bytes = mutator.draw();
    Result<std::vector<KernelObject>> objects = decodeKernelObjects(bytes);
    if (!objects) {
      EXPECT_NE(objects.error().message, "");
      continue;
    }
    (void)rankKernelObjects(*objects, 9, 0);
    // What is said to be there can be read.
    for (const KernelObject &object : *objects)
      for (char byte : object.bytes)
        sum += byte;
  }
  EXPECT_NE(sum, 0);
}
