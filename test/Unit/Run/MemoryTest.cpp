//===- MemoryTest.cpp - The memory that a run needs -----------------------===//

#include "../TemporaryFolder.h"
#include "RunProcess.h"
#include "nm/Runtime/Npy.h"

#include <gtest/gtest.h>

#include <unistd.h>

using namespace nm;

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define NM_HAS_SHADOW_MEMORY 1
#endif
#endif

TEST(RunMemory, StaysBelowInputsOutputsCondensedWeightsAnd64MB) {
#ifdef NM_HAS_SHADOW_MEMORY
  GTEST_SKIP() << "a sanitizer has memory of its own";
#endif
  constexpr int64_t kSize = 4096, kMegabyte = 1 << 20;
  constexpr int64_t kInputs = 2 * kSize * kSize * 4;
  constexpr int64_t kCondensed = 2 * (kSize / 2 * kSize * 5);
  TemporaryFolder folder;
  NpyHeader header;
  header.shape = {kSize, kSize};
  // Holes in the files read as zeros.
  std::string path = folder.write("w.npy", header.str());
  ASSERT_EQ(truncate(path.c_str(), off_t(header.str().size() + kInputs / 2)),
            0);

  Finished run =
      runProcess({NM_FAKE_MODEL, "--function=big", "--input", path, "--input",
                  path, "--output", folder.path("y.npy")});
  EXPECT_EQ(run.code, 0) << run.text;
  EXPECT_LE(run.peakBytes, kInputs + kCondensed + 64 * kMegabyte);
  // The dense files are unmapped one by one, and condensed weights live beside
  // their packed form alone.
  EXPECT_LE(run.peakBytes, 2 * kCondensed + 64 * kMegabyte);
}
