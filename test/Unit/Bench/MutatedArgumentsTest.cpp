//===- MutatedArgumentsTest.cpp - Command lines that are anything ---------===//
//
// The command lines of nm-run and nm-bench, what their values are parsed by,
// and the list of a folder of kernels; see Mutator.h.
//
//===----------------------------------------------------------------------===//

#include "BenchCase.h"
#include "BenchOptions.h"
#include "KernelFolder.h"
#include "RunOptions.h"

#include "nm/Schedule/Target.h"
#include "nm/Support/Checksum.h"

#include "../Mutator.h"
#include "../TemporaryFolder.h"

#include <gtest/gtest.h>

using namespace nm;

TEST(MutatedArguments, NmRunTakesOrRefusesThem) {
  Mutator mutator({"--input=a.npy", "m.so", "--output", "c.npy",
                   "--function=@ffn", "--bench=0.5", "--threads=3",
                   "--random-seed=7", "--dynamic-size=5", "--tolerance=1e-3",
                   "--target=cuda:sm_90a,sm_80", "--device=1", "--random",
                   "--compile-options=opt-level=2", "--check", "--list"});
  for (int64_t i = fuzzExecutions(4000); i > 0; --i)
    if (Result<RunOptions> options = parseRunOptions(mutator.drawArguments());
        !options)
      EXPECT_NE(options.error().message, "");
}

TEST(MutatedArguments, NmBenchTakesOrRefusesThem) {
  Mutator mutator({"--shape=256x64x64", "--pattern=8:32, block = 1x32",
                   "--pattern=2:4", "--type=f32", "--type=bf16",
                   "--seconds=0.5", "--threads=2", "--blas=none",
                   "--tolerance=1e-3", "--seed=7", "--preset=cpu",
                   "--target=cuda:sm_90a", "--schedule=#nm.simt<stages = 2>",
                   "--result-type=f16", "--device=1", "--list"});
  for (int64_t i = fuzzExecutions(4000); i > 0; --i)
    if (Result<BenchOptions> options =
            parseBenchOptions(mutator.drawArguments());
        !options)
      EXPECT_NE(options.error().message, "");
}

TEST(MutatedArguments, ValuesAreTakenOrRefused) {
  Mutator mutator({"256x64x64", "8:32, block = 1x32", "2:4",
                   "1:4, block = 64x64", "f8E4M3FN", "f8E5M2", "bf16",
                   "cuda:sm_90a,sm_80+ptx", "sim:sm_90a", "cpu"});
  for (int64_t i = fuzzExecutions(4000); i > 0; --i) {
    std::string text = mutator.draw();
    if (Result<ProductShape> shape = ProductShape::parse(text))
      EXPECT_TRUE(ProductShape::parse(shape->str())) << text;
    if (Result<Pattern> pattern = Pattern::parse(text))
      EXPECT_TRUE(Pattern::parse(pattern->str())) << text;
    if (Result<Target> target = Target::parse(text))
      EXPECT_TRUE(Target::parse(target->str())) << text;
    (void)parseBenchType(text);
  }
}

TEST(MutatedArguments, ListOfKernelsIsReadOrRefused) {
  Mutator mutator(
      {"nm-bench kernels 7\tcuda:sm_90a\n"
       "a.so\t4x4x4 2:4 f32\t1\t\t\n"
       "b.so\t4x64x32 8:32, block = 1x32 f16 x i4/32 m-major to bf16 "
       "+ bias + relu\t0.25\tstages=2\t+ packing\n"});
  TemporaryFolder folder;
  int64_t read = 0;
  for (int64_t i = fuzzExecutions(4000) / 16; i > 0; --i) {
    std::string text = mutator.draw();
    Crc32 sum;
    sum.add(text);
    folder.write("kernels.tsv",
                 text + "crc32\t" + formatChecksum(sum.value()) + "\n");
    read += bool(KernelFolder::open(folder.path("")));
  }
  EXPECT_GT(read, 0);
}
