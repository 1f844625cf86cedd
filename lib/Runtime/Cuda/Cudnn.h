//===- Cudnn.h - cuDNN, loaded at run time ----------------------*- C++ -*-===//

#ifndef NM_LIB_RUNTIME_CUDA_CUDNN_H
#define NM_LIB_RUNTIME_CUDA_CUDNN_H

#include "Cuda/CudaDriver.h"
#include "Cuda/CudnnGraph.h"
#include "nm/Format/ElementType.h"
#include "nm/Support/Error.h"

#include <cstdint>
#include <string>

namespace nm::cuda {

/// O = softmax(scale * Q * K^T) * V for each batch and head. Each head of keys
/// and values has `groups` neighbouring heads of queries. With `isCausal`, row
/// i sees columns 0 to i. Rows have contiguous elements.
struct Attention {
  int64_t batches, heads, groups, rows, keys, depth, width;
  const void *q, *k, *v;
  void *o;
  ElementType type;
  float scale;
  bool isCausal;
  /// Distances along batches, heads of queries and rows, and along batches,
  /// heads of keys and keys.
  struct Strides {
    int64_t batch, head, row;
  };
  Strides ofQ, ofK, ofV, ofO;
};

class Cudnn {
public:
  /// The library that NM_CUDNN_LIBRARY names, or else libcudnn.so.9. Both it
  /// and a failure to load it stay for the life of the process.
  static Result<const Cudnn *> get();

  /// Queues the attention on the thread's current stream, or, where the library
  /// refuses it and O is as it was, returns why; empty where it is queued.
  Result<std::string> attend(const ContextScope &scope,
                             const Attention &attention) const;

private:
  explicit Cudnn(const cudnn::Functions &functions) : functions(functions) {}
  static Result<Cudnn> load();
  const Result<cudnn::Functions::Handle> &
  getHandle(const ContextScope &scope) const;
  /// Queues a graph that was built.
  Status execute(const ContextScope &scope, CudnnGraph &graph,
                 cudnn::Functions::Handle handle,
                 const Attention &attention) const;
  Error fail(const char *call, int status) const;

  cudnn::Functions functions;
};

/// Fills `graph` with the operations of `attention`, whose tensors and numbers
/// have the ids that the variant pack of getAttentionIds names.
void buildAttention(CudnnGraph &graph, const Attention &attention);
std::vector<int64_t> getAttentionIds(const Attention &attention);

} // namespace nm::cuda

#endif // NM_LIB_RUNTIME_CUDA_CUDNN_H
