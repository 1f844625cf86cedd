//===- Cudnn.h - cuDNN, loaded at run time ----------------------*- C++ -*-===//

#ifndef NM_LIB_RUNTIME_CUDA_CUDNN_H
#define NM_LIB_RUNTIME_CUDA_CUDNN_H

#include "Cuda/CudaDriver.h"
#include "Cuda/CudnnGraph.h"
#include "nm/Format/ElementType.h"
#include "nm/Support/Error.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace nm::cuda {

/// A graph to queue.
struct CudnnCall {
  /// What is called, for messages.
  const char *name;
  /// What the graph depends on, of which calls of one kind have as many; one
  /// that is equal has the graph of before.
  std::vector<int64_t> key;
  /// Fills a new graph with operations.
  std::function<void(CudnnGraph &)> fill;
  /// Notes that engines must not have.
  unsigned notes;
  /// The tensors and numbers, and where they are.
  std::vector<int64_t> ids;
  std::vector<void *> pointers;
};

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

/// Y = the convolution of the image X with the filter W, both of `type`, with
/// sums in f32.
struct Convolution {
  /// Images, their channels, and those of the output.
  int64_t images, channels, outputs;
  /// A dimension of pixels: how many the image has, the filter's taps along it
  /// and the places of the output; how far places and taps are apart; and how
  /// far in front of the first pixel the first tap of the first place is.
  struct Dimension {
    int64_t size, taps, places, step, dilation, before;
    /// Distances, in elements, in the image, the filter and the output.
    int64_t ofX, ofW, ofY;

    /// The padding behind the last pixel, with which cuDNN has as many places;
    /// negative where there is none.
    int64_t getBehind() const;
    bool isOne() const { return size == 1 && taps == 1 && places == 1; }
  };
  /// Two or three.
  std::vector<Dimension> dimensions;
  const void *x, *w;
  void *y;
  ElementType type;
  /// Whether operands of f32 may be rounded to TensorFloat-32.
  bool allowsTF32;
  /// Distances along images and channels of X, outputs and channels of W, and
  /// images and outputs of Y.
  struct Strides {
    int64_t outer, inner;
  };
  Strides ofX, ofW, ofY;
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
  /// Queues the convolution as attend does attention.
  Result<std::string> convolve(const ContextScope &scope,
                               const Convolution &convolution) const;

private:
  explicit Cudnn(const cudnn::Functions &functions) : functions(functions) {}
  static Result<Cudnn> load();
  const Result<cudnn::Functions::Handle> &
  getHandle(const ContextScope &scope) const;
  /// Queues the graph of `call`, which is built where it is the first one of
  /// its key.
  Result<std::string> queue(const ContextScope &scope,
                            const CudnnCall &call) const;
  /// Queues a graph that was built.
  Status execute(const ContextScope &scope, CudnnGraph &graph,
                 cudnn::Functions::Handle handle, const CudnnCall &call) const;
  Error fail(const char *call, int status) const;

  cudnn::Functions functions;
};

/// Queues what `queue` queues on the current stream, for compiled code: whether
/// the library could be loaded and took it. What fails is recorded.
bool queueOrRecord(const std::function<Result<std::string>(
                       const Cudnn &, const ContextScope &)> &queue);

} // namespace nm::cuda

#endif // NM_LIB_RUNTIME_CUDA_CUDNN_H
