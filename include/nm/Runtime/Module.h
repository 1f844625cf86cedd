//===- Module.h - Loading and calling compiled modules ----------*- C++ -*-===//

#ifndef NM_RUNTIME_MODULE_H
#define NM_RUNTIME_MODULE_H

#include "nm/Runtime/Manifest.h"
#include "nm/Runtime/Tensor.h"
#include "nm/Runtime/Weight.h"

#include <memory>
#include <optional>
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

class PreparedCall;

/// A function of a loaded module, which must outlive it.
class NM_RUNTIME_API Function {
public:
  const std::string &name() const { return functionName; }
  const std::vector<TensorType> &args() const { return signature->args; }
  const std::vector<TensorType> &results() const { return signature->results; }

  /// Where it runs: tensors of a call must be there, and weights are packed for
  /// it. Of a module for CUDA this is cuda:0 until it is set.
  const Device &device() const { return runsOn; }
  Status setDevice(const Device &device);

  /// Runs the module's packing on the condensed parts of the encoded arguments,
  /// one entry per encoded argument in order, and frees each as soon as nothing
  /// needs it. Without packing it gives them back as they are. The condensed
  /// parts are on the host; what comes back is on the function's device.
  Result<std::vector<Weight>> pack(std::vector<Weight> condensed) const;

  /// Whether `pack` gives here what it gives for `other`, of the same weights.
  bool packsAlike(const Function &other) const;

  /// Whether calls on a CUDA device can make what `pack` gives here of what it
  /// gives for `other`, of the same weights.
  bool canMakeOf(const Function &other) const;
  /// Weights that each call makes of `packed`, which `pack` gave for `other`,
  /// in memory that it gives back behind its work.
  std::vector<Weight> makeOf(const std::vector<Weight> &packed) const;

  /// The shapes of the results for `args`, which are checked: their number,
  /// element types and sizes.
  Result<std::vector<Shape>>
  resultShapes(const std::vector<Argument> &args) const;

  /// Calls the function. Weights must have been through `pack`. Tensors that
  /// compiled code cannot take as they are, because they are strided, at an odd
  /// address, or results where arguments are, are copied. On a CUDA device all
  /// of the work, copies included, is queued on the thread's current stream
  /// (Cuda.h) and the call does not wait for it, so that an error of a kernel
  /// shows at a later call or when the stream is synchronized. Calls from
  /// several threads at once are allowed.
  Status call(const std::vector<Argument> &args,
              const std::vector<Tensor> &results) const;

  /// Checks all of `call` that does not depend on addresses.
  Result<PreparedCall> prepare(std::vector<Argument> args,
                               std::vector<Tensor> results) const;

private:
  friend class Module;
  friend class PreparedCall;
  Function() = default;

  Status callOnHost(const std::vector<Argument> &args,
                    const std::vector<Tensor> &results) const;
  Status callOnCuda(const std::vector<Argument> &args,
                    const std::vector<Tensor> &results) const;
  Result<std::vector<Weight>> packOnHost(std::vector<Weight> condensed) const;
  Status checkDevice(const std::string &place, const Tensor &tensor) const;
  Status checkArgument(size_t i, const Argument &arg) const;
  Status checkUpdated(size_t i, const Tensor &data) const;
  Status checkUpdatesApart(const std::vector<Argument> &args,
                           const std::vector<Tensor> &results) const;
  Status checkEqualDims(const std::vector<Argument> &args) const;
  Status checkResults(const std::vector<Shape> &shapes,
                      const std::vector<Tensor> &results) const;
  /// The packed forms that an argument has, in the order of `Weight`'s.
  std::vector<const PackedWeightInfo *> packedForms(size_t arg) const;
  /// Whether `other` runs on the same device and has weights of the same types.
  bool takesWeightsOf(const Function &other) const;
  std::string place(const char *what, size_t i) const;
  /// Whether a result that is written there changes what is still read.
  static bool overlapsArgument(const Tensor &result,
                               const std::vector<Argument> &args);

  std::string functionName;
  const Signature *signature = nullptr;
  const std::vector<std::vector<DimRef>> *equalDims = nullptr;
  /// Its code for one chip, where there are several.
  struct Variant {
    const VariantInfo *info;
    void *entry;
    void *packEntry;
  };
  /// Takes the variant that suits the device best.
  Status chooseVariant();

  std::vector<Variant> variants;
  /// Why there is none, if so.
  std::optional<Error> noVariant;
  /// What its weights become when they are loaded; null where they stay
  /// condensed.
  const PackInfo *loadTimePack = nullptr;
  Device runsOn;
  void *entry = nullptr;
  void *packEntry = nullptr;
  /// The shared object, which captured graphs keep.
  std::weak_ptr<const void> code;
};

/// A call on tensors that differ from one time to the next in their addresses
/// alone: all else was checked once.
class NM_RUNTIME_API PreparedCall {
public:
  /// Calls the function, which must live still. `data` holds the addresses of
  /// the plain arguments and then of the results. Calls from several threads at
  /// once are allowed.
  Status run(void *const *data) const;

private:
  friend class Function;
  PreparedCall() = default;

  Status runGeneral(void *const *data) const;
  /// Whether compiled code can take the addresses as they are.
  bool areDirect(void *const *data) const;

  const Function *function = nullptr;
  std::vector<Argument> args;
  std::vector<Tensor> results;
  /// Where the runtime has to copy, the call goes the general way.
  bool isDirect = false;
  /// The memref descriptors (Invoke.h), and where each begins.
  std::vector<int64_t> words;
  std::vector<size_t> starts;
  /// Where each address goes, in order of `data`: its descriptor, what it must
  /// be a multiple of, and the bytes there.
  struct Place {
    size_t start;
    int64_t alignment;
    int64_t bytes;
    /// Whether this memory is written: of a result, and of an argument that the
    /// function updates.
    bool isWritten;
  };
  bool overlapsWritten(void *const *data) const;

  std::vector<Place> places;
  /// Weights that each call makes, and the descriptor of their values, before
  /// that of their indices.
  struct Made {
    const Weight *weight;
    size_t descriptor;
  };
  std::vector<Made> made;
  /// The first of the results.
  size_t firstResult = 0;
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
  /// The file that was loaded, whatever has become of it since.
  std::string_view contents() const;
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
