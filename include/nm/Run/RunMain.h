//===- RunMain.h - The program nm-run ---------------------------*- C++ -*-===//

#ifndef NM_RUN_RUNMAIN_H
#define NM_RUN_RUNMAIN_H

namespace nm {

/// Runs a function of a compiled module on .npy files. Gives the exit code: 0,
/// 1 where the run or its check failed, 2 where the command line is wrong.
int runMain(int argc, char **argv);

} // namespace nm

#endif // NM_RUN_RUNMAIN_H
