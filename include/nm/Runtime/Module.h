//===- Module.h - Loading and calling compiled modules ----------*- C++ -*-===//

#ifndef NM_RUNTIME_MODULE_H
#define NM_RUNTIME_MODULE_H

#include "nm/Runtime/Manifest.h"
#include "nm/Runtime/Tensor.h"
#include "nm/Runtime/Weight.h"

#include <memory>
#include <string>
#include <vector>

namespace nm {

/// One argument of a call: a plain tensor, or the parts of an encoded one.
struct Argument {
  Argument(Tensor tensor) : tensor(std::move(tensor)) {}
  /// `weight` must outlive the call.
  Argument(const Weight &weight) : weight(&weight) {}

  Tensor tensor;
  const Weight *weight = nullptr;
};

/// A function of a loaded module, which must outlive it.
class NM_RUNTIME_API Function {
public:
  const std::string &name() const { return functionName; }
  const std::vector<TensorType> &args() const { return signature->args; }
  const std::vector<TensorType> &results() const { return signature->results; }
  /// What its weights become when they are loaded; null where they stay
  /// condensed.
  const PackInfo *packInfo() const { return loadTimePack; }

  /// Runs the module's packing on the condensed parts of the encoded arguments,
  /// one entry per encoded argument in order, and frees each as soon as nothing
  /// needs it. Without packing it gives them back as they are.
  Result<std::vector<Weight>> pack(std::vector<Weight> condensed) const;

  /// The shapes of the results for `args`, which are checked: their number,
  /// element types and sizes.
  Result<std::vector<Shape>>
  resultShapes(const std::vector<Argument> &args) const;

  /// Calls the function. Weights must have been through `pack`. Tensors may be
  /// strided; those that compiled code cannot take are copied. Calls from
  /// several threads at once are allowed.
  Status call(const std::vector<Argument> &args,
              const std::vector<Tensor> &results) const;

private:
  friend class Module;
  Function() = default;

  Status checkArgument(size_t i, const Argument &arg) const;
  Status checkEqualDims(const std::vector<Argument> &args) const;
  Status checkResults(const std::vector<Shape> &shapes,
                      const std::vector<Tensor> &results) const;
  const PackedWeightInfo *packedInfo(size_t arg) const;
  std::string place(const char *what, size_t i) const;

  std::string functionName;
  const Signature *signature = nullptr;
  const std::vector<std::vector<DimRef>> *equalDims = nullptr;
  const PackInfo *loadTimePack = nullptr;
  void *entry = nullptr;
  void *packEntry = nullptr;
};

/// A compiled shared object. Loading one runs code of it: load only files that
/// you trust.
class NM_RUNTIME_API Module {
public:
  Module(Module &&) noexcept;
  Module &operator=(Module &&) noexcept;
  ~Module();

  /// Errors begin with the path.
  static Result<Module> load(const std::string &path);

  const Manifest &manifest() const;
  const char *manifestText() const;
  /// The function, or an error that names the functions there are. An empty
  /// name means the only one.
  Result<Function> function(const std::string &name) const;
  const FunctionInfo &info(const Function &function) const;
  /// The function in float64 on dense weights, or an error that says how to
  /// compile it.
  Result<Function> reference(const Function &function) const;

private:
  struct Impl;
  explicit Module(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl;
};

} // namespace nm

#endif // NM_RUNTIME_MODULE_H
