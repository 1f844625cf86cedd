//===- CudaTimingTest.cpp - Timing a function on a CUDA device ------------===//

#include "CudaTiming.h"

#include "../Runtime/FakeCudaControl.h"
#include "nm/Runtime/CudaMemory.h"

#include <dlfcn.h>
#include <link.h>

using namespace nm;

/// What the model counts. The runtime maps modules from copies of their files,
/// so that the model is found among all that is loaded.
static int64_t countWeightChanges() {
  std::vector<std::string> names;
  dl_iterate_phdr(
      [](dl_phdr_info *info, size_t, void *found) {
        static_cast<std::vector<std::string> *>(found)->push_back(
            info->dlpi_name);
        return 0;
      },
      &names);
  for (const std::string &name : names) {
    void *file = dlopen(name.c_str(), RTLD_NOW | RTLD_NOLOAD);
    void *count = file ? dlsym(file, "nmFakeWeightChanges") : nullptr;
    int64_t changes = count ? *static_cast<int64_t *>(count) : 0;
    if (file)
      dlclose(file);
    if (count)
      return changes;
  }
  ADD_FAILURE() << "expected a model that counts changes of weights";
  return 0;
}

/// Times @ffn on `rows` rows with a cache of 100 bytes; its weights have 30.
static CudaTimes timeRows(FakeCuda &cuda, int64_t rows, int64_t &changes) {
  cuda.set("l2", 100);
  Result<Module> module = Module::load(NM_FAKE_CUDA_MODEL);
  EXPECT_TRUE(module) << module.error().message;
  Function ffn = *module->function("ffn");
  float dense[12] = {1, 0, 0, 0, 5, 0, 3, 0, 0, 0, 6, 7};
  auto weight = compressWeight(ffn.args()[1],
                               Tensor(dense, ElementType::F32, {4, 3}), "w");
  auto packed = ffn.pack({*weight});
  EXPECT_TRUE(packed) << packed.error().message;
  auto a = CudaBuffer::allocate(ffn.device(), ElementType::F32, {rows, 4});
  auto c = CudaBuffer::allocate(ffn.device(), ElementType::F32, {rows, 3});
  EXPECT_TRUE(fillBytes(a->tensor(), 0));
  auto times =
      timeOnCuda(ffn, {a->tensor(), (*packed)[0]}, {c->tensor()}, 1e-4);
  EXPECT_TRUE(times) << times.error().message;
  changes = countWeightChanges();
  return *times;
}

TEST(CudaTiming, TakesCopiesOfWeightsInTurn) {
  FakeCuda cuda;
  int64_t before = cuda.live(), changes = 0;
  CudaTimes times = timeRows(cuda, 1, changes);
  EXPECT_TRUE(times.usesGraph);
  EXPECT_EQ(times.weightCopies, 12);
  EXPECT_EQ(times.callsPerReplay % 12, 0);
  ASSERT_GE(times.seconds.size(), 5u);
  EXPECT_LE(times.seconds.front(), times.seconds.back());
  // Two rounds to begin with, a replay that is not counted, and the others.
  EXPECT_EQ(changes,
            24 + int64_t(times.seconds.size() + 1) * times.callsPerReplay);
  EXPECT_EQ(cuda.live(), before);
}

TEST(CudaTiming, LeavesWeightsOfManyRowsWhereTheyAre) {
  FakeCuda cuda;
  int64_t changes = 0;
  CudaTimes times = timeRows(cuda, 9, changes);
  EXPECT_EQ(times.weightCopies, 1);
  EXPECT_EQ(changes, 1);
}

TEST(CudaTiming, FreesWhatItHasWhenItFails) {
  FakeCuda cuda;
  int64_t before = cuda.live();
  {
    Result<Module> module = Module::load(NM_FAKE_CUDA_MODEL);
    Function twice = *module->function("twice");
    auto x = CudaBuffer::allocate(twice.device(), ElementType::F32, {4});
    auto y = CudaBuffer::allocate(twice.device(), ElementType::F32, {4});
    for (const char *call : {"cuLaunchKernel", "cuEventRecord", "cuEventCreate",
                             "cuEventElapsedTime", "cuGraphLaunch"}) {
      cuda.fail(call, 1);
      auto times = timeOnCuda(twice, {x->tensor()}, {y->tensor()}, 1e-4);
      ASSERT_FALSE(times) << call;
      EXPECT_NE(times.error().message.find(call), std::string::npos)
          << times.error().message;
    }
  }
  EXPECT_EQ(cuda.live(), before);
}
