//===- KernelFolder.h - Cases compiled beforehand ---------------*- C++ -*-===//
//
// A folder with one compiled module per case and a list of them, so that cases
// can be measured on a machine without the compiler. The list, `kernels.tsv`,
// has a line for the target and one for each case, in columns that tabs part:
//
//   nm-bench kernels 1     cuda:sm_90a
//   FILE  SHAPE  PATTERN  TYPE  SECONDS  SCHEDULE  STEP
//
//===----------------------------------------------------------------------===//

#ifndef NM_LIB_BENCH_KERNELFOLDER_H
#define NM_LIB_BENCH_KERNELFOLDER_H

#include "CompiledCase.h"

#include <map>
#include <string>
#include <vector>

namespace nm {

class KernelFolder {
public:
  /// An empty list for modules of `target`, in a folder that is made where
  /// there is none.
  static Result<KernelFolder> create(const std::string &path,
                                     const std::string &target);
  /// Reads the list of a folder.
  static Result<KernelFolder> open(const std::string &path);

  const std::string &target() const { return compiledFor; }
  const std::vector<BenchCase> &cases() const { return inOrder; }

  /// Where a case's module is to be.
  std::string file(const BenchCase &bench) const;
  /// Notes that the case's module is there.
  void add(const BenchCase &bench, double seconds);
  bool has(const BenchCase &bench) const {
    return seconds.count(bench.str()) != 0;
  }
  /// Writes the list.
  Status writeList() const;

  Result<CompiledCase> load(const BenchCase &bench) const;

private:
  KernelFolder(std::string path, std::string target)
      : path(std::move(path)), compiledFor(std::move(target)) {}
  Status readCase(const std::string &line);

  std::string path, compiledFor;
  std::vector<BenchCase> inOrder;
  /// How long compiling took, by BenchCase::str.
  std::map<std::string, double> seconds;
};

} // namespace nm

#endif // NM_LIB_BENCH_KERNELFOLDER_H
