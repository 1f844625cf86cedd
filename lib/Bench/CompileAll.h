//===- CompileAll.h - Compiling cases beforehand ----------------*- C++ -*-===//

#ifndef NM_LIB_BENCH_COMPILEALL_H
#define NM_LIB_BENCH_COMPILEALL_H

#include "KernelFolder.h"

#include <functional>
#include <vector>

namespace nm {

/// Compiles `cases` to `folder`, `jobs` at a time, each in a process of its
/// own, and writes the folder's list of those that could be. Says on stderr how
/// far it is, where that is a terminal, and which could not be, and why. Gives
/// their number. It begins no other case once `isOver` holds.
Result<size_t> compileAll(const std::vector<BenchCase> &cases,
                          const CompileSettings &settings, KernelFolder &folder,
                          size_t jobs,
                          const std::function<bool()> &isOver = nullptr);

} // namespace nm

#endif // NM_LIB_BENCH_COMPILEALL_H
