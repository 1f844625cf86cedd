//===- ModuleFileTest.cpp - Modules are the files they were loaded from ---===//

#include "nm/Runtime/Module.h"

#include "../TemporaryFolder.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <thread>
#include <vector>

#include <elf.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace nm;

static std::string readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

static std::string loadError(const std::string &path) {
  Result<Module> module = Module::load(path);
  return module ? "" : module.error().message;
}

/// What @stats of a fake model multiplies with.
static float factorOf(const Module &module) {
  float x[1] = {1}, y[1] = {0};
  int32_t size = 0;
  Status status = module.function("stats")->call(
      {Tensor(x, ElementType::F32, {1})},
      {Tensor(y, ElementType::F32, {1}), Tensor(&size, ElementType::I32, {1})});
  EXPECT_TRUE(status) << status.error().message;
  return y[0];
}

namespace {
class ModuleFile : public ::testing::Test {
protected:
  /// Writes to the same inode, as `cp` does, or to a new one; behind all that
  /// ELF's headers tell of, no two are alike.
  std::string put(int factor, bool inPlace = false) {
    if (!inPlace)
      std::filesystem::remove(folder.path("same.so"));
    written = readFile(factor == 2 ? NM_FAKE_MODEL : NM_FAKE_MODEL_TRIPLES) +
              std::to_string(++count);
    return folder.write("same.so", written);
  }
  std::unique_ptr<Module> load() {
    Result<Module> module = Module::load(folder.path("same.so"));
    EXPECT_TRUE(module) << module.error().message;
    return std::make_unique<Module>(std::move(*module));
  }

  TemporaryFolder folder;
  std::string written;
  int count = 0;
};
} // namespace

TEST_F(ModuleFile, OfOnePathEachIsWhatWasThere) {
  std::vector<std::pair<int, std::unique_ptr<Module>>> loaded;
  for (int time = 0; time < 12; ++time) {
    int factor = 2 + time % 2;
    put(factor, /*inPlace=*/time % 3 != 0);
    loaded.emplace_back(factor, load());
    for (const auto &[expected, module] : loaded)
      EXPECT_EQ(factorOf(*module), float(expected)) << "after " << time;
    // Those that went leave numbers of descriptors and addresses to others.
    if (time == 7)
      loaded.erase(loaded.begin(), loaded.begin() + 5);
  }
}

TEST_F(ModuleFile, ItsContentsStayWithIt) {
  put(2);
  std::unique_ptr<Module> module = load();
  std::string loaded = written;
  put(3, /*inPlace=*/true);
  EXPECT_EQ(module->contents(), loaded);
  std::filesystem::remove(folder.path("same.so"));
  EXPECT_EQ(factorOf(*module), 2);
  EXPECT_EQ(module->contents(), loaded);
}

TEST_F(ModuleFile, OfAnotherProcessorIsRefused) {
  put(2);
  // The two bytes of e_machine.
  std::string other = written;
  other[18] = char(EM_RISCV);
  other[19] = 0;
  std::string error = loadError(folder.write("other.so", other));
  EXPECT_NE(error.find("other.so: cannot load: expected a module for a "
                       "processor of "),
            std::string::npos)
      << error;
  EXPECT_NE(error.find(", but got one for riscv64"), std::string::npos)
      << error;
}

TEST_F(ModuleFile, TakesNoDescriptors) {
  auto count = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                         {});
  };
  auto before = count();
  std::vector<std::unique_ptr<Module>> modules;
  for (int i = 0; i < 100; ++i) {
    put(2);
    modules.push_back(load());
  }
  EXPECT_EQ(count(), before);
}

TEST_F(ModuleFile, ThreadsLoadWhileTheFileIsReplaced) {
  put(2);
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      for (int time = 0; time < 20; ++time) {
        Result<Module> module = Module::load(folder.path("same.so"));
        if (!module)
          continue;
        bool isFirst = module->contents().find(readFile(NM_FAKE_MODEL)) == 0;
        right += factorOf(*module) == (isFirst ? 2 : 3);
      }
    });
  for (int time = 0; time < 50; ++time) {
    std::string made =
        folder.write("new.so", readFile(time % 2 == 0 ? NM_FAKE_MODEL_TRIPLES
                                                      : NM_FAKE_MODEL));
    std::filesystem::rename(made, folder.path("same.so"));
  }
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(right, 8 * 20);
}

TEST_F(ModuleFile, AForkedChildLoadsToo) {
  put(2);
  std::unique_ptr<Module> module = load();
  put(3, /*inPlace=*/true);
  pid_t child = fork();
  if (child == 0) {
    Result<Module> own = Module::load(folder.path("same.so"));
    _exit(own && factorOf(*own) == 3 && factorOf(*module) == 2 ? 0 : 1);
  }
  int state = 1;
  ASSERT_EQ(waitpid(child, &state, 0), child);
  EXPECT_EQ(state, 0);
}

TEST_F(ModuleFile, LibrariesBesideItAreFound) {
  std::string path = folder.write("model.so", readFile(NM_FAKE_MODEL_BESIDE));
  EXPECT_NE(loadError(path).find("libnm_beside.so: cannot open"),
            std::string::npos);
  folder.write("inner/libnm_beside.so", readFile(NM_BESIDE));
  Result<Module> module = Module::load(path);
  ASSERT_TRUE(module) << module.error().message;
  EXPECT_EQ(factorOf(*module), 5);
}

TEST_F(ModuleFile, WhatIsNoFileIsRefused) {
  std::string pipe = folder.path("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string &path : {pipe, std::string("/dev/zero")})
    EXPECT_EQ(loadError(path), path + ": cannot load: expected a file, but got "
                                      "a device or a pipe");
  std::string root = std::filesystem::path(pipe).parent_path();
  EXPECT_EQ(loadError(root),
            root + ": cannot load: expected a file, but got a folder");
}

TEST_F(ModuleFile, NoCodeRunsOnAProcessorThatLacksAFeature) {
  unsetenv("NM_FAKE_MODEL_RAN");
  std::string error = loadError(NM_FAKE_MODEL_MISSING);
  EXPECT_NE(error.find(": expected a processor with a"), std::string::npos)
      << error;
  EXPECT_EQ(std::getenv("NM_FAKE_MODEL_RAN"), nullptr);
}

TEST_F(ModuleFile, EqualFilesAreLoadedOnce) {
  put(2);
  std::unique_ptr<Module> first = load();
  std::string other = folder.write("other.so", written);
  Result<Module> second = Module::load(other);
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_EQ(second->contents().data(), first->contents().data());
  first.reset();
  EXPECT_EQ(factorOf(*second), 2);
  put(3);
  EXPECT_EQ(factorOf(*load()), 3);
}

TEST_F(ModuleFile, ItsCopyIsNoMemoryInUseOnceItIsChecked) {
  auto resident = [] {
    long total = 0, pages = 0;
    std::ifstream("/proc/self/statm") >> total >> pages;
    return pages * sysconf(_SC_PAGESIZE);
  };
  // Bytes behind all that ELF's headers tell of, as a module's constants are
  // bytes that no one has read yet.
  constexpr size_t kBytes = size_t(1) << 26;
  folder.write("same.so", readFile(NM_FAKE_MODEL) + std::string(kBytes, 'x'));
  long before = resident();
  std::unique_ptr<Module> module = load();
  EXPECT_LT(resident() - before, long(kBytes / 4));
  EXPECT_EQ(module->contents().back(), 'x');
}
