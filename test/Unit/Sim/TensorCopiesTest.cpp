//===- TensorCopiesTest.cpp - Copies of boxes of tensors ------------------===//

#include "RunKernel.h"
#include "nm/Format/MatrixDescriptor.h"

#include <gtest/gtest.h>

#include <cstring>

using namespace nm;

namespace {
/// The driver's numbers.
enum { UInt16 = 1, UInt32 = 2, Float16 = 6 };

/// A tensor of u32, and the box that a kernel copies of it.
struct Tensor {
  std::vector<uint64_t> sizes;
  std::vector<uint32_t> box;
  std::vector<int32_t> at;
  int32_t swizzle = 0;
  /// Bytes between rows, beyond their elements.
  uint64_t padding = 0;

  uint32_t rank() const { return uint32_t(sizes.size()); }
  std::vector<uint64_t> strides() const {
    std::vector<uint64_t> strides;
    uint64_t stride = sizes[0] * 4 + padding;
    for (uint32_t d = 1; d < rank(); ++d) {
      strides.push_back(stride);
      stride *= sizes[d];
    }
    return strides;
  }
  int64_t words() const {
    uint64_t bytes = sizes[0] * 4 + padding;
    for (uint32_t d = 1; d < rank(); ++d)
      bytes *= sizes[d];
    return int64_t(bytes / 4);
  }
  int32_t boxWords() const {
    int32_t words = 1;
    for (uint32_t size : box)
      words *= int32_t(size);
    return words;
  }
};

/// What the kernel does otherwise.
struct Mutation {
  int64_t place = 0, mapShift = 0;
  int32_t expectMore = 0, rankMore = 0, ofPixels = 0;
  bool dropWait = false, dropFence = false, dropLastWait = false;
  bool overwriteEarly = false;
};

constexpr int kMapWords = 32, kThreads = 32;

struct Arguments {
  const Tensor *tensor;
  Mutation mutation;
  uint32_t *map, *words, *result;
  int32_t at[5];
};
} // namespace

static int32_t encode(const Tensor &tensor, void *map, void *base,
                      int32_t type = UInt32) {
  std::vector<uint32_t> ones(tensor.rank(), 1);
  std::vector<uint64_t> strides = tensor.strides();
  return nmSimEncodeTensorMap(
      map, type, tensor.rank(), base, tensor.sizes.data(), strides.data(),
      tensor.box.data(), ones.data(), 0, tensor.swizzle, 0, 0);
}

//===----------------------------------------------------------------------===//
// Loads
//===----------------------------------------------------------------------===//

/// One thread loads a box; all write it out as it lies.
static void load(NmSimThread *thread, void *arguments) {
  auto &args = *static_cast<Arguments *>(arguments);
  const Mutation &mutation = args.mutation;
  int32_t bytes = 4 * args.tensor->boxWords(), tid = getThreadId(thread);
  char *barrier = makeMbarrier(thread, bytes);
  if (tid == 0) {
    nmSimArriveMbarrier(thread, Arrive, barrier, 1,
                        bytes + mutation.expectMore);
    nmSimLoadTensor(thread, BulkLoad, getShared(thread, mutation.place),
                    reinterpret_cast<char *>(args.map) + mutation.mapShift,
                    barrier, int32_t(args.tensor->rank()) + mutation.rankMore,
                    args.at[0], args.at[1], args.at[2], args.at[3], args.at[4],
                    mutation.ofPixels, 0, 0, 0, 0);
  }
  if (!mutation.dropWait)
    nmSimWaitMbarrier(thread, Arrive, barrier, 0);
  storeResult(thread, args.result, bytes / 4, kThreads);
}

/// The place of a box's word in shared memory.
static size_t findWord(const Tensor &tensor, size_t word) {
  static constexpr MatrixSwizzle kSwizzles[] = {
      MatrixSwizzle::None, MatrixSwizzle::Bytes32, MatrixSwizzle::Bytes64,
      MatrixSwizzle::Bytes128};
  return size_t(
             swizzleAddress(kSwizzles[tensor.swizzle], int(word) * 4 & ~15)) /
             4 +
         word % 4;
}

/// The tensor's word that is the box's, or -1.
static int64_t findSource(const Tensor &tensor, size_t word) {
  int64_t source = 0;
  std::vector<uint64_t> strides = tensor.strides();
  for (uint32_t d = 0; d < tensor.rank(); ++d) {
    int64_t coordinate = tensor.at[d] + int64_t(word % tensor.box[d]);
    word /= tensor.box[d];
    if (coordinate < 0 || coordinate >= int64_t(tensor.sizes[d]))
      return -1;
    source += coordinate * (d ? int64_t(strides[d - 1]) / 4 : 1);
  }
  return source;
}

/// A map, a tensor whose words count from 1, and room for results.
static std::vector<uint32_t> makeMemory(const Tensor &tensor, size_t results) {
  std::vector<uint32_t> memory(size_t(kMapWords + tensor.words()) + results);
  for (int64_t i = 0; i < tensor.words(); ++i)
    memory[size_t(kMapWords + i)] = uint32_t(i + 1);
  EXPECT_EQ(encode(tensor, memory.data(), memory.data() + kMapWords), 0);
  return memory;
}

static Arguments makeArguments(const Tensor &tensor, const Mutation &mutation,
                               std::vector<uint32_t> &memory) {
  Arguments arguments{&tensor,
                      mutation,
                      memory.data(),
                      memory.data() + kMapWords,
                      memory.data() + kMapWords + tensor.words(),
                      {}};
  std::copy(tensor.at.begin(), tensor.at.end(), arguments.at);
  return arguments;
}

static std::string runLoad(const Tensor &tensor,
                           const Mutation &mutation = {}) {
  auto count = size_t(tensor.boxWords());
  std::vector<uint32_t> memory = makeMemory(tensor, count);
  Arguments arguments = makeArguments(tensor, mutation, memory);
  std::string text =
      runKernel(load, &arguments, kThreads, int64_t(4 * count + 16), memory);
  for (size_t i = 0; i < count && text.empty(); ++i) {
    int64_t source = findSource(tensor, i);
    uint32_t expected = source < 0 ? 0 : uint32_t(source + 1);
    EXPECT_EQ(arguments.result[findWord(tensor, i)], expected) << i;
  }
  return text;
}

static const Tensor kMatrix{{40, 24}, {32, 16}, {0, 0}, /*swizzle=*/3};

TEST(TensorCopiesTest, Loads) {
  EXPECT_EQ(runLoad(kMatrix), "");
  EXPECT_EQ(runLoad({{100}, {64}, {4}}), "");
  EXPECT_EQ(runLoad({{16, 5, 3}, {16, 2, 3}, {0, 3, 0}, 2}), "");
  EXPECT_EQ(runLoad({{12, 4, 3, 2}, {8, 3, 2, 2}, {4, 1, 1, 0}, 1}), "");
  EXPECT_EQ(runLoad({{4, 3, 2, 2, 3}, {4, 2, 2, 1, 3}, {0, 1, 0, 1, 0}, 0, 16}),
            "");
}

TEST(TensorCopiesTest, BeyondTheTensorIsZero) {
  EXPECT_EQ(runLoad({{40, 24}, {32, 16}, {-3, -5}, 3}), "");
  EXPECT_EQ(runLoad({{40, 24}, {32, 16}, {25, 17}, 3}), "");
  EXPECT_EQ(runLoad({{40, 24}, {32, 16}, {40, 0}, 3}), "");
  EXPECT_EQ(runLoad({{40, 24}, {32, 16}, {0, -1000}, 3}), "");
  EXPECT_EQ(runLoad({{8, 3, 2}, {8, 3, 2}, {0, 1, 1}}), "");
}

TEST(TensorCopiesTest, LoadsThatGoWrong) {
  Mutation wait, more, rank, place, map, outside, pixels;
  wait.dropWait = true;
  expectFault(runLoad(kMatrix, wait),
              "read of an asynchronous copy before its wait: load-shared");
  more.expectMore = 16;
  expectFault(runLoad(kMatrix, more), "barrier that not all threads reach");
  rank.rankMore = 1;
  expectFault(runLoad(kMatrix, rank), "operand out of range: bulk-load",
              "expected a tensor map of rank 3, but got one of rank 2");
  place.place = 64;
  expectFault(runLoad(kMatrix, place), "shared access out of bounds: bulk-load",
              "copies a box of 2048 bytes, which is at byte 64 of shared "
              "memory, which has 2064");
  place.place = 16;
  expectFault(runLoad(kMatrix, place), "misaligned access: bulk-load",
              "expected a multiple of 128");
  map.mapShift = 8;
  expectFault(runLoad(kMatrix, map), "operand out of range: bulk-load",
              "expected a tensor map that nmSimEncodeTensorMap has written");
  pixels.ofPixels = 1;
  expectFault(runLoad(kMatrix, pixels), "operand out of range: bulk-load",
              "expected a tensor map of pixels");
  outside.mapShift = -64;
  expectFault(runLoad(kMatrix, outside),
              "global access out of bounds: bulk-load");
}

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

/// All write a box as it is to lie, and one stores it.
static void store(NmSimThread *thread, void *arguments) {
  auto &args = *static_cast<Arguments *>(arguments);
  const Mutation &mutation = args.mutation;
  int32_t count = args.tensor->boxWords(), tid = getThreadId(thread);
  for (int32_t i = tid; i < count; i += kThreads)
    storeShared(thread, int64_t(4 * findWord(*args.tensor, size_t(i))),
                uint32_t(10000 + i));
  if (!mutation.dropFence)
    nmSimFenceProxies(thread, Other, 1);
  syncThreads(thread);
  if (tid == 0) {
    nmSimStoreTensor(thread, BulkStore, args.map,
                     getShared(thread, mutation.place),
                     int32_t(args.tensor->rank()), args.at[0], args.at[1],
                     args.at[2], args.at[3], args.at[4]);
    nmSimCommitBulk(thread, Other);
    if (mutation.overwriteEarly)
      storeShared(thread, 0, 0);
    if (!mutation.dropLastWait)
      nmSimWaitForBulk(thread, Other, 0);
  }
}

static std::string runStore(const Tensor &tensor,
                            const Mutation &mutation = {}) {
  std::vector<uint32_t> memory = makeMemory(tensor, 1), before = memory;
  Arguments arguments = makeArguments(tensor, mutation, memory);
  std::string text =
      runKernel(store, &arguments, kThreads, 4 * tensor.boxWords(), memory);
  if (!text.empty())
    return text;
  for (int32_t i = 0; i < tensor.boxWords(); ++i)
    if (int64_t source = findSource(tensor, size_t(i)); source >= 0)
      before[size_t(kMapWords + source)] = uint32_t(10000 + i);
  // What is not in the box, or not in the tensor, is as it was.
  EXPECT_EQ(memory, before);
  return text;
}

TEST(TensorCopiesTest, Stores) {
  EXPECT_EQ(runStore(kMatrix), "");
  EXPECT_EQ(runStore({{40, 24}, {32, 16}, {25, 17}, 3}), "");
  EXPECT_EQ(runStore({{40, 24}, {32, 16}, {-3, -5}, 3}), "");
  EXPECT_EQ(runStore({{16, 5, 3}, {16, 2, 3}, {0, 4, 1}, 2, 16}), "");
}

TEST(TensorCopiesTest, StoresThatGoWrong) {
  Mutation fence, last, early, place;
  fence.dropFence = true;
  expectFault(runStore(kMatrix, fence),
              "asynchronous read of what was written, without a fence: "
              "bulk-store");
  last.dropLastWait = true;
  expectFault(runStore(kMatrix, last),
              "access of shared memory of a block that has ended: bulk-store");
  early.overwriteEarly = true;
  expectFault(runStore(kMatrix, early), "race on shared memory: store-shared",
              "where a copy of thread 0 of 32 out of shared memory, which "
              "nobody waited for, reads (bulk-store");
  place.place = 128;
  expectFault(runStore(kMatrix, place),
              "shared access out of bounds: bulk-store");
}

//===----------------------------------------------------------------------===//
// Maps
//===----------------------------------------------------------------------===//

TEST(TensorCopiesTest, MapsThatTheDriverRefuses) {
  alignas(64) char map[128];
  auto isRight = [&](const Tensor &tensor, int32_t type = UInt32) {
    return encode(tensor, map, map, type) == 0;
  };
  EXPECT_TRUE(isRight(kMatrix));
  EXPECT_FALSE(isRight({{40, 24}, {300, 16}, {}}));
  EXPECT_FALSE(isRight({{40, 24}, {3, 16}, {}}));
  EXPECT_FALSE(isRight({{39, 24}, {32, 16}, {}}));
  EXPECT_FALSE(isRight({{40, 24}, {64, 16}, {}, 3}));
  EXPECT_FALSE(isRight({{40, 24}, {16, 16}, {}, 3}));
  EXPECT_FALSE(isRight({{40, 24}, {32, 16}, {}, 4}));
  EXPECT_FALSE(isRight({{40, 0}, {32, 16}, {}}));
  EXPECT_FALSE(isRight({{8, 8, 8, 8, 8, 8}, {8, 1, 1, 1, 1, 1}, {}}));
  EXPECT_FALSE(isRight(kMatrix, 13));
  // Halves of it are half as wide.
  EXPECT_FALSE(isRight(kMatrix, Float16));
  EXPECT_TRUE(isRight({{40, 24}, {64, 16}, {}, 3}, Float16));
}
