//===- SealTest.cpp - Modules that are damaged ----------------------------===//
//
// A damaged module is refused before its constructors run. The model's sets a
// variable of the environment.
//
//===----------------------------------------------------------------------===//

#include "nm/Support/Seal.h"
#include "nm/Runtime/Module.h"

#include "../TemporaryFolder.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include <fcntl.h>
#include <unistd.h>

using namespace nm;

static constexpr const char *kRan = "NM_FAKE_MODEL_RAN";

static std::string readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

namespace {
class SealTest : public ::testing::Test {
protected:
  void SetUp() override {
    path = folder.write("model.so", readFile(NM_FAKE_MODEL_SEALED));
    Status status = addSeal(path);
    ASSERT_TRUE(status) << status.error().message;
    bytes = readFile(path);
    unsetenv(kRan);
  }
  /// What loading it says; nothing may have run where that is an error.
  std::string loadError() const {
    Result<Module> module = Module::load(path);
    if (module)
      return "";
    EXPECT_EQ(std::getenv(kRan), nullptr) << module.error().message;
    EXPECT_EQ(module.error().message.find(path + ": cannot load: "), 0u)
        << module.error().message;
    return module.error().message;
  }

  TemporaryFolder folder;
  std::string path, bytes;
};
} // namespace

TEST_F(SealTest, WholeModuleIsLoaded) {
  EXPECT_EQ(loadError(), "");
  EXPECT_NE(std::getenv(kRan), nullptr);
}

TEST_F(SealTest, ModuleThatWasNeverSealedIsLoaded) {
  path = folder.write("unsealed.so", readFile(NM_FAKE_MODEL));
  EXPECT_EQ(loadError(), "");
}

TEST_F(SealTest, EveryByteCounts) {
  int fd = open(path.c_str(), O_WRONLY);
  ASSERT_GE(fd, 0);
  for (size_t i = 0; i < bytes.size(); ++i) {
    char flipped = char(bytes[i] ^ (1 << i % 8));
    ASSERT_EQ(pwrite(fd, &flipped, 1, off_t(i)), 1);
    EXPECT_NE(loadError(), "") << "byte " << i;
    ASSERT_EQ(pwrite(fd, &bytes[i], 1, off_t(i)), 1);
  }
  close(fd);
  EXPECT_EQ(loadError(), "");
}

TEST_F(SealTest, EveryLengthCounts) {
  for (size_t length = bytes.size(); length-- > 0;) {
    ASSERT_EQ(truncate(path.c_str(), off_t(length)), 0);
    EXPECT_NE(loadError(), "") << length << " bytes";
  }
}

TEST_F(SealTest, BytesBehindTheEndAreDamage) {
  path = folder.write("longer.so", bytes + '\0');
  EXPECT_NE(loadError().find("expected the checksum that it was written with "
                             "at its end, but found none"),
            std::string::npos);
}

// What a file system leaves of a file that was not written out.
TEST_F(SealTest, ZeroesInPlaceOfTheEndAreDamage) {
  for (size_t length : {bytes.size() - 24, bytes.size() / 2, size_t(0)}) {
    path =
        folder.write("zeroes.so", bytes.substr(0, length) +
                                      std::string(bytes.size() - length, '\0'));
    EXPECT_NE(loadError(), "") << length;
  }
}

TEST_F(SealTest, SaysWhatIsWrong) {
  std::string flipped = bytes;
  flipped[bytes.size() / 2] ^= 1;
  path = folder.write("flipped.so", flipped);
  std::string message = loadError();
  EXPECT_NE(message.find("expected its bytes to have the checksum "),
            std::string::npos)
      << message;
  path = folder.write("shorter.so", bytes.substr(1));
  EXPECT_NE(loadError().find("bytes before its checksum, but got "),
            std::string::npos);
}
