//===- StableAbi.cpp - Finding PyTorch's stable C functions ---------------===//

#include "StableAbi.h"

#include "FindFunction.h"

#include <dlfcn.h>

using namespace nm::torch;

std::string StableAbi::load(const std::string &folder) {
  // What is not loaded is not PyTorch's: it is not to be loaded here.
  auto open = [&](const char *name) {
    return dlopen((folder + "/" + name).c_str(), RTLD_LAZY | RTLD_NOLOAD);
  };
  void *library = open("libtorch_cpu.so");
  if (!library)
    return "expected PyTorch to have loaded libtorch_cpu.so from '" + folder +
           "'";
  auto need = [&](const char *name, auto &function) {
    return findFunction(library, name, function)
               ? std::string()
               : "PyTorch has no function " + std::string(name);
  };
  for (const std::string &missing :
       {need("aoti_torch_delete_tensor_object", deleteTensor),
        need("aoti_torch_new_uninitialized_tensor", makeUndefined),
        need("aoti_torch_get_data_ptr", getData),
        need("aoti_torch_get_dim", getRank),
        need("aoti_torch_get_sizes", getSizes),
        need("aoti_torch_get_strides", getStrides),
        need("aoti_torch_get_dtype", getType),
        need("aoti_torch_get_device_type", getDeviceKind),
        need("aoti_torch_get_device_index", getDeviceIndex),
        need("aoti_torch_empty_strided", makeEmpty),
        need("aoti_torch_copy_", copy),
        need("aoti_torch_dtype_float32", float32),
        need("aoti_torch_dtype_bfloat16", bfloat16),
        need("aoti_torch_dtype_float16", float16),
        need("aoti_torch_device_type_cpu", cpu),
        need("aoti_torch_device_type_cuda", cuda),
        need("aoti_torch_library_init_impl", initImplementations),
        need("aoti_torch_library_impl", implement)})
    if (!missing.empty())
      return missing;
  findFunction(library, "torch_tensor_from_pyobject", fromPython);
  findFunction(library, "torch_tensor_to_pyobject", toPython);
  findFunction(library, "aoti_torch_grad_mode_is_enabled", isGradEnabled);
  getCudaStream = nullptr;
  if (void *cuda = open("libtorch_cuda.so"))
    findFunction(cuda, "aoti_torch_get_current_cuda_stream", getCudaStream);
  return "";
}
