//===- BenchMain.h - The program nm-bench -----------------------*- C++ -*-===//

#ifndef NM_BENCH_BENCHMAIN_H
#define NM_BENCH_BENCHMAIN_H

namespace nm {

/// Runs nm-bench and returns its exit code: 0, 1 where a case failed or is not
/// accurate, 2 where the command line is wrong.
int benchMain(int argc, char **argv);

} // namespace nm

#endif // NM_BENCH_BENCHMAIN_H
