//===- NpyTest.cpp - Reading and writing .npy files -----------------------===//

#include "nm/Runtime/Npy.h"

#include "../TemporaryFolder.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstring>

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace nm;

namespace {
class NpyTest : public ::testing::Test {
protected:
  std::string write(const std::string &bytes) {
    return folder.write("a.npy", bytes);
  }
  std::string openError(const std::string &bytes) {
    Result<NpyFile> file = NpyFile::open(write(bytes));
    return file ? "" : file.error().message;
  }

  TemporaryFolder folder;
};
} // namespace

/// The bytes of a file of version `major` with `text` as its dictionary.
static std::string npyBytes(int major, const std::string &text,
                            const std::string &data) {
  std::string bytes("\x93NUMPY", 6);
  bytes += {char(major), 0, char(text.size() & 0xff), char(text.size() >> 8)};
  if (major > 1)
    bytes += std::string(2, '\0');
  return bytes + text + data;
}

static std::string dictionary(const std::string &descr,
                              const std::string &shape, bool fortran = false) {
  return "{'descr': '" + descr +
         "', 'fortran_order': " + (fortran ? "True" : "False") +
         ", 'shape': " + shape + ", }\n";
}

static std::string floats(std::initializer_list<float> values) {
  return std::string(reinterpret_cast<const char *>(values.begin()),
                     values.size() * sizeof(float));
}

TEST_F(NpyTest, ReadsEveryVersion) {
  for (int major : {1, 2, 3}) {
    auto file = NpyFile::open(write(npyBytes(major, dictionary("<f4", "(2, 3)"),
                                             floats({0, 1, 2, 3, 4, 5}))));
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_EQ(file->tensor().shape, (Shape{2, 3}));
    EXPECT_EQ(file->tensor().strides, (Shape{3, 1}));
    EXPECT_EQ(loadAsDouble(file->tensor().data, ElementType::F32, 5), 5.0);
  }
}

TEST_F(NpyTest, ReadsFortranOrder) {
  auto file = NpyFile::open(write(npyBytes(1, dictionary("<f4", "(2, 3)", true),
                                           floats({0, 3, 1, 4, 2, 5}))));
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->tensor().strides, (Shape{1, 2}));
  auto copy = Buffer::allocate(ElementType::F64, {2, 3});
  ASSERT_TRUE(copy);
  copyTensor(file->tensor(), copy->tensor());
  for (int64_t i = 0; i < 6; ++i)
    EXPECT_EQ(loadAsDouble(copy->tensor().data, ElementType::F64, i), i);
}

TEST_F(NpyTest, ReadsEveryElementType) {
  struct Case {
    const char *descr;
    ElementType type;
  } cases[] = {{"<f8", ElementType::F64},
               {"<f4", ElementType::F32},
               {"<f2", ElementType::F16},
               {"<V2", ElementType::BF16},
               {"bfloat16", ElementType::BF16},
               {"|V1", ElementType::F8E4M3},
               {"<i8", ElementType::I64},
               {"<i4", ElementType::I32},
               {"|i1", ElementType::I8},
               {"<f1", ElementType::F8E5M2},
               {"float8_e5m2", ElementType::F8E5M2}};
  for (const Case &c : cases) {
    std::string data(elementSize(c.type) * 3, '\0');
    auto file =
        NpyFile::open(write(npyBytes(1, dictionary(c.descr, "(3,)"), data)));
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_EQ(file->tensor().type, c.type) << c.descr;
    EXPECT_FALSE(file->isUnsigned());
  }
  auto file = NpyFile::open(write(npyBytes(1, dictionary("|u1", "(1,)"), "x")));
  ASSERT_TRUE(file);
  EXPECT_TRUE(file->isUnsigned());
}

TEST_F(NpyTest, ReadsOddSpellings) {
  const char *spellings[] = {
      "{\"shape\":(2L,),\"descr\":\"<f4\",\"fortran_order\":False}",
      "  { 'shape' : ( 2 , ) , 'fortran_order' : False , 'descr' : '<f4' }  "};
  for (const char *text : spellings) {
    auto file = NpyFile::open(write(npyBytes(1, text, floats({1, 2}))));
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_EQ(file->tensor().shape, Shape{2});
  }
}

TEST_F(NpyTest, ReadsScalarsAndEmptyArrays) {
  auto scalar =
      NpyFile::open(write(npyBytes(1, dictionary("<f4", "()"), floats({7}))));
  ASSERT_TRUE(scalar) << scalar.error().message;
  EXPECT_EQ(scalar->tensor().rank(), 0);
  auto empty =
      NpyFile::open(write(npyBytes(1, dictionary("<f4", "(0, 3)"), "")));
  ASSERT_TRUE(empty) << empty.error().message;
  EXPECT_EQ(empty->tensor().elements(), 0);
}

TEST_F(NpyTest, RefusesEveryTruncation) {
  std::string whole = npyBytes(1, dictionary("<f4", "(2,)"), floats({1, 2}));
  for (size_t size = 0; size < whole.size(); ++size) {
    std::string error = openError(whole.substr(0, size));
    EXPECT_NE(error.find("a.npy: expected"), std::string::npos)
        << size << ": " << error;
  }
  EXPECT_EQ(openError(whole), "");
  EXPECT_NE(openError(whole + "x").find("something after the array"),
            std::string::npos);
}

TEST_F(NpyTest, SurvivesEveryFlippedHeaderByte) {
  std::string whole = npyBytes(2, dictionary("<f4", "(2,)"), floats({1, 2}));
  size_t header = whole.size() - 8;
  for (size_t i = 0; i < header; ++i)
    for (int bit = 0; bit < 8; ++bit) {
      std::string bytes = whole;
      bytes[i] = char(bytes[i] ^ (1 << bit));
      // Some flips give another valid header; none may crash.
      (void)openError(bytes);
    }
}

TEST_F(NpyTest, SaysWhatIsWrong) {
  struct Case {
    std::string bytes, message;
  } cases[] = {
      {"PK\x03\x04 and more", "expected an .npy file, but the first bytes"},
      {npyBytes(4, "", ""), "expected version 1, 2 or 3"},
      {npyBytes(1, dictionary(">f4", "(1,)"), floats({1})), "big-endian"},
      {npyBytes(1, dictionary("|O", "(1,)"), ""), "Python objects"},
      {npyBytes(1, dictionary("<c8", "(1,)"), ""), "but got '<c8'"},
      {npyBytes(1, dictionary("<f4", "(-1,)"), ""), "expected a size"},
      {npyBytes(1, dictionary("<f4", "(9223372036854775807, 3)"), ""),
       "expected sizes whose product fits"},
      {npyBytes(1, dictionary("<f4", "(0, 9223372036854775807, 3)"), ""),
       "expected sizes whose product fits"},
      {npyBytes(1, dictionary("<f4", "(99999999999999999999,)"), ""),
       "expected a size"},
      {npyBytes(1, "{'descr': [('a', '<f4')], 'shape': (1,)}", ""),
       "structured records"},
      {npyBytes(1, "{'descr': '<f4', 'shape': (1,)}", ""), "missing"},
      {npyBytes(1, "{'descr': '<f4', 'size': (1,)}", ""), "but got 'size'"},
      {npyBytes(1, "", ""), "expected a dictionary"},
  };
  for (const Case &c : cases)
    EXPECT_NE(openError(c.bytes).find(c.message), std::string::npos)
        << openError(c.bytes) << "\nhas no: " << c.message;
}

TEST_F(NpyTest, SaysWhichFileCannotBeRead) {
  auto missing = NpyFile::open(folder.path("none.npy"));
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message.find("none.npy: cannot read: No such file"),
            std::string::npos);
  auto directory = NpyFile::open(folder.path(""));
  ASSERT_FALSE(directory);
  EXPECT_NE(directory.error().message.find("a directory"), std::string::npos);
}

TEST_F(NpyTest, ReleasedPagesComeBack) {
  auto file = NpyFile::open(
      write(npyBytes(1, dictionary("<f4", "(2,)"), floats({1, 2}))));
  ASSERT_TRUE(file);
  file->release();
  EXPECT_EQ(loadAsDouble(file->tensor().data, ElementType::F32, 1), 2.0);
}

TEST_F(NpyTest, WritesWhatItReads) {
  for (ElementType type :
       {ElementType::F64, ElementType::F32, ElementType::F16, ElementType::BF16,
        ElementType::F8E4M3, ElementType::F8E5M2, ElementType::I64,
        ElementType::I32, ElementType::I8})
    for (const Shape &shape :
         {Shape{}, Shape{3}, Shape{2, 3}, Shape{2, 1, 2}}) {
      auto buffer = Buffer::allocate(type, shape);
      ASSERT_TRUE(buffer);
      for (int64_t i = 0; i < buffer->tensor().elements(); ++i)
        storeFromDouble(buffer->tensor().data, type, i, double(i));
      std::string path = folder.path("b.npy");
      ASSERT_TRUE(writeNpy(path, buffer->tensor()));
      auto file = NpyFile::open(path);
      ASSERT_TRUE(file) << file.error().message;
      EXPECT_EQ(file->tensor().type, type);
      EXPECT_EQ(file->tensor().shape, shape);
      EXPECT_EQ(std::memcmp(file->tensor().data, buffer->tensor().data,
                            buffer->tensor().bytes()),
                0);
    }
}

TEST_F(NpyTest, WritesStridedTensorsRowMajor) {
  float data[] = {0, 3, 1, 4, 2, 5};
  std::string path = folder.path("t.npy");
  ASSERT_TRUE(writeNpy(path, Tensor(data, ElementType::F32, {2, 3}, {1, 2})));
  auto file = NpyFile::open(path);
  ASSERT_TRUE(file);
  for (int64_t i = 0; i < 6; ++i)
    EXPECT_EQ(loadAsDouble(file->tensor().data, ElementType::F32, i), i);
}

TEST_F(NpyTest, TellsThatThereIsNoSpace) {
  float value = 1;
  Status status = writeNpy("/dev/full", Tensor(&value, ElementType::F32, {1}));
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message,
            "/dev/full: cannot write: No space left on device");
}

TEST_F(NpyTest, AFailedWriteKeepsTheOldFile) {
  std::string path = folder.write("a.npy", "old");
  std::vector<float> values(1000);
  // The limit stops the write half way, as a full disk does.
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit small{1024, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  Status status =
      writeNpy(path, Tensor(values.data(), ElementType::F32, {1000}));
  setrlimit(RLIMIT_FSIZE, &before);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message, path + ": cannot write: File too large");
  EXPECT_EQ(folder.read("a.npy"), "old");
  EXPECT_EQ(folder.entries(), 1);
}

TEST_F(NpyTest, AWriteKeepsTheModeOfTheOldFile) {
  float value = 1;
  std::string path = folder.write("a.npy", "old");
  ASSERT_EQ(chmod(path.c_str(), 0600), 0);
  ASSERT_TRUE(writeNpy(path, Tensor(&value, ElementType::F32, {1})));
  struct stat info;
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, mode_t(0600));
}

TEST_F(NpyTest, AWriteLeavesOthersTemporaryFiles) {
  float value = 1;
  constexpr int kOthers = 100;
  auto other = [](int i) {
    return "a.npy.tmp." + std::to_string(getpid()) + "." + std::to_string(i);
  };
  for (int i = 0; i < kOthers; ++i)
    folder.write(other(i), "another's");
  ASSERT_TRUE(
      writeNpy(folder.path("a.npy"), Tensor(&value, ElementType::F32, {1})));
  EXPECT_EQ(folder.entries(), kOthers + 1);
  for (int i = 0; i < kOthers; ++i)
    EXPECT_EQ(folder.read(other(i)), "another's");
}

TEST_F(NpyTest, AWriteThroughALinkKeepsTheLink) {
  float value = 1;
  Tensor tensor(&value, ElementType::F32, {1});
  std::string target = folder.write("target.npy", "old");
  std::string link = folder.path("link.npy");
  ASSERT_EQ(symlink(target.c_str(), link.c_str()), 0);
  ASSERT_TRUE(writeNpy(link, tensor));
  EXPECT_TRUE(NpyFile::open(target));
  struct stat info;
  ASSERT_EQ(lstat(link.c_str(), &info), 0);
  EXPECT_TRUE(S_ISLNK(info.st_mode));
}
