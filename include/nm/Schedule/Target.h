//===- Target.h - What code is compiled for ---------------------*- C++ -*-===//

#ifndef NM_SCHEDULE_TARGET_H
#define NM_SCHEDULE_TARGET_H

#include "nm/Support/Error.h"

#include <string>
#include <string_view>
#include <vector>

namespace nm {

/// `cpu[:ARCH]`, `cuda[:sm_XX[,sm_YY...]]` or `sim[:sm_XX]`.
struct Target {
  enum class Kind { Cpu, Cuda, Sim };

  Kind kind = Kind::Cpu;
  /// As ptxas names them, in the order given; empty where none is named.
  std::vector<std::string> chips;
  /// The kind of processor, as LLVM's triples name it; empty for the kind that
  /// this process runs on.
  std::string architecture;

  /// Errors name the targets, the processors or the chips that there are.
  static Result<Target> parse(std::string_view text);

  /// `cuda`.
  std::string kindName() const;
  /// `cuda:sm_80,sm_90a`.
  std::string str() const;
};

} // namespace nm

#endif // NM_SCHEDULE_TARGET_H
