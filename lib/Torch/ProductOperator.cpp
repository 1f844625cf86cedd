//===- ProductOperator.cpp - nm::product, a call without Python -----------===//
//
// nm::product(Tensor x, Tensor values, Tensor indices, Tensor bias, int weight)
// runs a call that Python has prepared, for a weight by its number and an x of
// the same signature. Where there is none, or anything else is not as it was,
// the result is an undefined tensor, None to Python, which then goes the way
// that handles and names everything. Without a bias `values` takes its place.
//
//===----------------------------------------------------------------------===//

#include "ProductRun.h"

#include "nm/Runtime/Export.h"

#include <cstring>
#include <string>

using namespace nm::torch;

static void product(Word *stack, uint64_t, uint64_t) {
  Tensor x(stack[0]), values(stack[1]), indices(stack[2]), bias(stack[3]);
  auto number = int64_t(stack[4]);
  Tensor result;
  if (!runProduct(x, values, indices, bias, number, result)) {
    Tensor none;
    abi.makeUndefined(none.place());
    stack[0] = none.release();
    return;
  }
  stack[0] = result.release();
}

static std::string registerKernels(const char *folder) {
  if (std::string missing = abi.load(folder); !missing.empty())
    return missing;
  for (const char *key : {"CPU", "CUDA"}) {
    LibraryHandle library = nullptr;
    // The library is never given back, as then its kernels would be, too.
    if (abi.initImplementations("nm", key, __FILE__, __LINE__, &library) != 0 ||
        abi.implement(library, "product", product) != 0)
      return "PyTorch refuses a kernel of nm::product for " + std::string(key);
  }
  return "";
}

extern "C" {

/// Registers the kernels of nm::product, which is defined, with the PyTorch
/// whose libraries are in `folder`. Returns why not, as nmMessageFree takes it,
/// or NULL.
NM_RUNTIME_API char *nmTorchRegister(const char *folder) {
  std::string message = registerKernels(folder);
  return message.empty() ? nullptr : strdup(message.c_str());
}

/// The number of a new weight, or -1.
NM_RUNTIME_API int64_t nmTorchAddWeight(const void *values,
                                        const void *indices) {
  return ProductTable::get().addWeight(values, indices);
}

/// Has nm::product run `call` for inputs as the last that this thread missed
/// for the weight, with results of the same type. Alignments are of x, of the
/// bias, 0 without, and of the result. Returns whether it does.
NM_RUNTIME_API int32_t nmTorchAddProduct(int64_t weight, int64_t resultColumns,
                                         const int64_t *alignments,
                                         int32_t onCuda, const NmCall *call) {
  Product added;
  added.resultColumns = resultColumns;
  added.hasBias = alignments[1] != 0;
  added.onCuda = onCuda != 0;
  added.xAlignment = uint64_t(alignments[0]);
  added.biasAlignment = uint64_t(alignments[1]);
  added.resultAlignment = uint64_t(alignments[2]);
  added.call = call;
  return addMissedProduct(weight, added);
}

/// Forgets a weight. Its calls may be freed then.
NM_RUNTIME_API void nmTorchDropWeight(int64_t weight) {
  ProductTable::get().dropWeight(weight);
}

} // extern "C"
