//===- CApiFunction.h - What the handles of the C API stand for -*- C++ -*-===//

#ifndef NM_LIB_RUNTIME_CAPIFUNCTION_H
#define NM_LIB_RUNTIME_CAPIFUNCTION_H

#include "nm/Runtime/CallGraphs.h"
#include "nm/Runtime/Module.h"

#include <map>
#include <memory>
#include <mutex>
#include <vector>

struct NmModule {
  nm::Module module;
};

struct NmFunction {
  nm::Function function;
  /// The module's.
  const nm::FunctionInfo *info;
  /// Condensed weights by argument, until they are packed.
  std::map<size_t, nm::Weight> condensed;
  /// Packed weights, one per encoded argument in order.
  std::vector<nm::Weight> packed;
  bool isPacked = false;
  std::mutex packing;
};

struct NmCall {
  nm::PreparedCall call;
  /// The module's.
  const nm::FunctionInfo *info;
  nm::Device device;
  /// The number of addresses that a call takes.
  size_t numAddresses;
  /// Where its calls are replayed as graphs.
  std::unique_ptr<nm::CallGraphs> graphs;
};

#endif // NM_LIB_RUNTIME_CAPIFUNCTION_H
