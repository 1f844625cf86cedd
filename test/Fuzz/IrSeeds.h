//===- IrSeeds.h - The IR of the lit tests, and its passes ------*- C++ -*-===//

#ifndef NM_TEST_FUZZ_IRSEEDS_H
#define NM_TEST_FUZZ_IRSEEDS_H

#include <string>
#include <vector>

/// Flags of nm-opt that run passes.
using PassFlags = std::vector<std::string>;

/// A lit test: its parts, and the flags of its RUN lines of nm-opt.
struct IrSeed {
  std::string path;
  std::vector<PassFlags> runs;
  std::vector<std::string> parts;
};

/// The tests that run a pass, each with its runs that have it.
struct PassSeeds {
  std::string name;
  std::vector<IrSeed> tests;
};

struct IrSeeds {
  std::vector<IrSeed> tests;
  /// All passes of nm, in the order of their names.
  std::vector<PassSeeds> passes;

  /// Reads test/ and include/ of the sources. Passes have to be registered.
  static IrSeeds read(const std::string &source);
};

/// The pipeline of flags on a module, without the module.
std::string pipelineOf(const PassFlags &flags);

#endif // NM_TEST_FUZZ_IRSEEDS_H
