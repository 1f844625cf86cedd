//===- TemporaryMemoryTest.cpp - Tests of the temporaries' memory ---------===//

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include <malloc.h>

extern "C" void *_mlir_memref_to_llvm_alloc(uint64_t size);
extern "C" void _mlir_memref_to_llvm_free(void *memory);

TEST(TemporaryMemoryTest, GivesAFreedBlockAgain) {
  void *first = _mlir_memref_to_llvm_alloc(1 << 20);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % 64, 0u);
  _mlir_memref_to_llvm_free(first);
  void *second = _mlir_memref_to_llvm_alloc(1 << 20);
  EXPECT_EQ(first, second);
  // In use, so not given twice.
  void *third = _mlir_memref_to_llvm_alloc(1 << 20);
  EXPECT_NE(second, third);
  _mlir_memref_to_llvm_free(second);
  _mlir_memref_to_llvm_free(third);
}

TEST(TemporaryMemoryTest, TakesAnySize) {
  std::vector<void *> blocks;
  for (uint64_t size : {0, 1, 63, 64, 65, 65535, 65536, 65537, 40 << 20}) {
    void *block = _mlir_memref_to_llvm_alloc(size);
    ASSERT_NE(block, nullptr);
    std::memset(block, 1, size);
    blocks.push_back(block);
  }
  for (void *block : blocks)
    _mlir_memref_to_llvm_free(block);
  _mlir_memref_to_llvm_free(nullptr);
  EXPECT_EQ(_mlir_memref_to_llvm_alloc(UINT64_MAX), nullptr);
}

/// Bytes that malloc has given and not got back.
static size_t bytesInUse() {
  struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

TEST(TemporaryMemoryTest, KeepsNoMoreThanItMay) {
  // More bytes, and more blocks, than are kept: the rest is freed.
  for (uint64_t size : {1 << 20, 1 << 16}) {
    size_t before = bytesInUse();
    std::vector<void *> blocks;
    for (int i = 0; i < 100; ++i)
      blocks.push_back(_mlir_memref_to_llvm_alloc(size + 64 * i));
    size_t taken = bytesInUse() - before;
    if (taken == 0)
      GTEST_SKIP() << "a sanitizer's allocator counts nothing";
    for (void *block : blocks)
      _mlir_memref_to_llvm_free(block);
    EXPECT_LT(bytesInUse(), before + taken * 2 / 5) << size;
  }
}

TEST(TemporaryMemoryTest, ServesSeveralThreads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t] {
      for (int i = 0; i < 1000; ++i) {
        uint64_t size = uint64_t(1 + i % 3) << 17;
        auto *block = static_cast<char *>(_mlir_memref_to_llvm_alloc(size));
        block[0] = block[size - 1] = char(t);
        std::this_thread::yield();
        EXPECT_EQ(block[0], char(t));
        EXPECT_EQ(block[size - 1], char(t));
        _mlir_memref_to_llvm_free(block);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
}
