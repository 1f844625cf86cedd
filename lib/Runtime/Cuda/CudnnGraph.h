//===- CudnnGraph.h - Graphs of operations for cuDNN ------------*- C++ -*-===//

#ifndef NM_LIB_RUNTIME_CUDA_CUDNNGRAPH_H
#define NM_LIB_RUNTIME_CUDA_CUDNNGRAPH_H

#include "nm/Support/CudnnLibrary.h"

#include <cstdint>
#include <string>
#include <vector>

namespace nm::cuda {

/// Sizes and strides of a tensor: of batches, heads, rows and columns, or of
/// images, channels and pixels.
struct CudnnShape {
  std::vector<int64_t> sizes, strides;

  /// Contiguous elements.
  static CudnnShape getContiguous(const std::vector<int64_t> &sizes);
};

/// How a filter goes over an image, for each dimension of pixels.
struct CudnnSteps {
  std::vector<int64_t> steps, dilations, before, behind;
};

/// Builds a graph of operations, which cuDNN fuses to one kernel. The first
/// call that fails ends it: later ones do nothing.
class CudnnGraph {
public:
  using Descriptor = cudnn::Functions::Descriptor;

  explicit CudnnGraph(const cudnn::Functions &functions)
      : functions(functions) {}
  CudnnGraph(const CudnnGraph &) = delete;
  ~CudnnGraph();

  /// A tensor in memory, which the variant pack names by `id`.
  Descriptor addTensor(const CudnnShape &shape, int type, int64_t id);
  /// A number of f32 that the variant pack points to.
  Descriptor addNumber(int64_t id);
  /// What one operation makes and others read, and which is nowhere in memory.
  Descriptor addVirtual(const CudnnShape &shape, int type);

  void multiply(Descriptor a, Descriptor b, Descriptor c);
  /// The convolution of an image with a filter, whose taps are not turned.
  void convolve(Descriptor image, Descriptor filter, Descriptor output,
                const CudnnSteps &steps);
  /// y = mode(x, b); the selection takes x where `t` is true, and else b.
  void apply(cudnn::PointwiseMode mode, Descriptor x, Descriptor b,
             Descriptor y, Descriptor t = nullptr,
             int precision = cudnn::kFloat);
  /// y = the position of each element of x along dimension `axis`.
  void generateIndex(Descriptor x, int64_t axis, Descriptor y);
  void reduce(cudnn::ReductionOperator how, Descriptor x, Descriptor y);

  /// Looks for the fastest plan by cuDNN's estimate, of engines that have none
  /// of `notes`, a set of NumericalNote. Returns cuDNN's status.
  int build(cudnn::Functions::Handle handle, unsigned notes = 0);
  Descriptor getPlan() const { return plan; }
  uint64_t getWorkspaceBytes() const { return uint64_t(workspaceBytes); }

  /// Queues the graph on the handle's stream; `pointers` are in the order of
  /// `ids`. Returns cuDNN's status.
  int execute(cudnn::Functions::Handle handle, const std::vector<int64_t> &ids,
              std::vector<void *> pointers, void *workspace);

private:
  Descriptor create(int type);
  void set(Descriptor descriptor, int name, int type, int64_t count,
           const void *values);
  void setDescriptor(Descriptor descriptor, int name, Descriptor value);
  void finalize(Descriptor descriptor);
  Descriptor addTensor(const CudnnShape &shape, int type, int64_t id,
                       bool isVirtual, bool isByValue);
  void addPointwise(Descriptor mode, Descriptor x, Descriptor b, Descriptor y,
                    Descriptor t);
  Descriptor createPointwise(int mode, int precision);
  void findConfigs(Descriptor graph, int mode,
                   std::vector<Descriptor> &configs);
  unsigned getNotes(Descriptor config);

  const cudnn::Functions &functions;
  std::vector<Descriptor> descriptors, operations;
  /// Numbers of virtual tensors, which those of others must not be.
  int64_t nextVirtual = 1000;
  Descriptor plan = nullptr;
  int64_t workspaceBytes = 0;
  int status = 0;
};

} // namespace nm::cuda

#endif // NM_LIB_RUNTIME_CUDA_CUDNNGRAPH_H
