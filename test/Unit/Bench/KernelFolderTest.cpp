//===- KernelFolderTest.cpp - Tests of cases compiled beforehand ----------===//

#include "KernelFolder.h"

#include "../TemporaryFolder.h"
#include "nm/Support/Checksum.h"

#include <gtest/gtest.h>

using namespace nm;

static std::string openError(const std::string &path) {
  Result<KernelFolder> folder = KernelFolder::open(path);
  return folder ? "no error" : folder.error().message;
}

TEST(KernelFolder, ReadsWhatItWrites) {
  TemporaryFolder temporary;
  std::string path = temporary.path("new/kernels");
  Result<KernelFolder> folder = KernelFolder::create(path, "cuda:sm_90a");
  ASSERT_TRUE(folder) << folder.error().message;
  BenchCase first{{4, 64, 32}, {8, 32, 1, 32}, ElementType::F16};
  BenchCase second = first;
  second.schedule = "stages=2 block=1,2,3";
  second.step = "+ packing";
  BenchCase third = first;
  third.isMMajor = true;
  third.givenResult = ElementType::BF16;
  BenchCase fourth{{4, 64, 32}, {2, 4}, ElementType::F8E5M2};
  BenchCase fast = fourth;
  fast.hasFastAccum = true;
  BenchCase quantized = first;
  quantized.quantization = CaseQuantization{4, 32};
  quantized.epilogue = {true, CaseEpilogue::Activation::Gelu, true};
  EXPECT_NE(folder->file(first), folder->file(second));
  EXPECT_NE(folder->file(fourth), folder->file(fast));
  folder->add(first, 0.5);
  folder->add(second, 0.25);
  folder->add(first, 0.75);
  folder->add(third, 0.75);
  folder->add(fast, 0.75);
  folder->add(quantized, 0.75);
  EXPECT_NE(folder->file(first), folder->file(quantized));
  EXPECT_NE(folder->file(first), folder->file(third));
  ASSERT_TRUE(folder->writeList());

  Result<KernelFolder> read = KernelFolder::open(path);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->target(), "cuda:sm_90a");
  ASSERT_EQ(read->cases().size(), 5u);
  EXPECT_EQ(read->cases()[4].str(), quantized.str());
  EXPECT_EQ(read->cases()[0].str(), "4x64x32 8:32, block = 1x32 f16");
  EXPECT_EQ(read->cases()[1].str(), second.str());
  EXPECT_EQ(read->cases()[1].step, "+ packing");
  EXPECT_EQ(read->cases()[2].str(),
            "4x64x32 8:32, block = 1x32 f16 m-major to bf16");
  EXPECT_TRUE(read->cases()[2].isMMajor);
  EXPECT_EQ(read->cases()[2].resultType(), ElementType::BF16);
  EXPECT_FALSE(read->cases()[2].hasFastAccum);
  EXPECT_TRUE(read->cases()[3].hasFastAccum);
  EXPECT_EQ(read->cases()[3].str(), "4x64x32 2:4 f8E5M2 fast accumulation");

  Result<CompiledCase> missing = read->load({{5, 64, 32}, {2, 4}});
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message.find("has no module for it"),
            std::string::npos);
  EXPECT_FALSE(read->load(first)) << "there is no such file";
}

TEST(KernelFolder, SaysWhatIsWrong) {
  TemporaryFolder temporary;
  EXPECT_NE(openError(temporary.path("")).find("cannot be read; nm-bench"),
            std::string::npos);
  auto write = [&](const std::string &text) {
    Crc32 sum;
    sum.add(text);
    temporary.write("kernels.tsv",
                    text + "crc32\t" + formatChecksum(sum.value()) + "\n");
    return openError(temporary.path(""));
  };
  EXPECT_NE(write("something else\n").find(":1: expected 'nm-bench kernels"),
            std::string::npos);
  auto read = [&](const std::string &line) {
    return write("nm-bench kernels 7\tcuda\n" + line + "\n");
  };
  EXPECT_NE(read("a.so\t4x4x4 2:4 f32").find(":2: expected FILE, PRODUCT"),
            std::string::npos);
  EXPECT_NE(read("a.so\t4x4 2:4 f32\t1\t\t").find(":2: expected a product"),
            std::string::npos);
  EXPECT_EQ(read("a.so\t4x4x4 2:4 f32\t1\t\t"), "no error");
  // Only sums of 8-bit floats have fast accumulation.
  EXPECT_NE(read("a.so\t4x4x4 2:4 f32 fast accumulation\t1\t\t").find(":2"),
            std::string::npos);
  // Sums of f32 stay f32.
  EXPECT_NE(read("a.so\t4x4x4 2:4 f32 to f16\t1\t\t").find(":2"),
            std::string::npos);
}

TEST(KernelFolder, EveryByteOfTheListCounts) {
  TemporaryFolder temporary;
  std::string path = temporary.path("");
  Result<KernelFolder> folder = KernelFolder::create(path, "cuda:sm_90a");
  ASSERT_TRUE(folder) << folder.error().message;
  folder->add({{4, 64, 32}, {8, 32, 1, 32}, ElementType::F16}, 0.5);
  ASSERT_TRUE(folder->writeList());
  EXPECT_EQ(openError(path), "no error");
  const std::string text = temporary.read("kernels.tsv");
  for (size_t i = 0; i < text.size(); ++i) {
    std::string flipped = text;
    flipped[i] ^= 1 << i % 8;
    temporary.write("kernels.tsv", flipped);
    EXPECT_NE(openError(path), "no error") << "byte " << i;
    temporary.write("kernels.tsv", text.substr(0, i));
    EXPECT_NE(openError(path), "no error") << i << " bytes";
  }
}
