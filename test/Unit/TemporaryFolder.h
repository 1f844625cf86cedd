//===- TemporaryFolder.h - A folder for one test ----------------*- C++ -*-===//

#ifndef NM_TEST_UNIT_TEMPORARYFOLDER_H
#define NM_TEST_UNIT_TEMPORARYFOLDER_H

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

/// A folder that is removed with its contents.
class TemporaryFolder {
public:
  TemporaryFolder() {
    std::string name =
        (std::filesystem::temp_directory_path() / "nm-test-XXXXXX").string();
    root = mkdtemp(name.data());
  }
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(root, ignored);
  }

  std::string path(const std::string &name) const {
    return (root / name).string();
  }

  /// Writes a file, and the folders on the way to it; gives its path.
  std::string write(const std::string &name, const std::string &bytes) const {
    std::filesystem::create_directories((root / name).parent_path());
    std::ofstream(root / name, std::ios::binary) << bytes;
    return path(name);
  }

  std::string read(const std::string &name) const {
    std::ifstream file(root / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  int64_t entries() const {
    return std::distance(std::filesystem::directory_iterator(root), {});
  }

private:
  std::filesystem::path root;
};

#endif // NM_TEST_UNIT_TEMPORARYFOLDER_H
