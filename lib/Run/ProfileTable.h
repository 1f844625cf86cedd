//===- ProfileTable.h - The time of each step of a function -----*- C++ -*-===//

#ifndef NM_LIB_RUN_PROFILETABLE_H
#define NM_LIB_RUN_PROFILETABLE_H

#include "nm/Runtime/Ceilings.h"
#include "nm/Runtime/Module.h"

#include <vector>

namespace nm {

/// Times the steps of `function`, of which `info` is, and prints a line for
/// each: its time, its share of the call's, of its roofline, what it computes
/// and where that is in the source.
Status profileFunction(const Function &function, const FunctionInfo &info,
                       const std::vector<Argument> &args,
                       const std::vector<Tensor> &results,
                       const Ceilings &ceilings, int64_t runs);

} // namespace nm

#endif // NM_LIB_RUN_PROFILETABLE_H
