//===- BenchCublasLt.h - Every algorithm of cuBLAS for a product *- C++ -*-===//

#ifndef NM_LIB_BENCH_BENCHCUBLASLT_H
#define NM_LIB_BENCH_BENCHCUBLASLT_H

#include "BenchCase.h"
#include "nm/Support/CublasLtLibrary.h"

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

namespace nm {

/// cuBLASLt, which cuBLAS brings along: its products name the algorithm that
/// makes them, of which cuBLAS takes the one that is expected to be fastest.
class CublasLt {
  struct Problem;

public:
  using Handle = cublas::LtFunctions::Handle;

  /// One way to make one product.
  class Algorithm {
  public:
    /// Queues C = A * B on `stream`, all row-major on the device, and B as its
    /// transpose where the algorithm is for that. Returns cuBLAS's status.
    int multiply(Handle handle, const void *a, const void *b, void *c,
                 void *workspace, size_t workspaceBytes, void *stream) const;

  private:
    friend CublasLt;
    std::shared_ptr<const Problem> problem;
    std::array<uint64_t, 8> algorithm;
  };

  /// The most that are taken of a product and layout.
  static constexpr int kMostAlgorithms = 8;

  /// That which the loaded `library` depends on; null if it depends on none.
  static std::optional<CublasLt> find(void *library);

  /// The algorithms that are expected to be fastest, at most kMostAlgorithms,
  /// for B[k x n] or its transpose; none where it has no such product. f32 is
  /// rounded to TensorFloat-32 where `isTF32`. The device that it is for is the
  /// current one. The library is asked once for each product.
  const std::vector<Algorithm> &algorithms(Handle handle,
                                           const BenchCase &bench,
                                           bool isTransposed, bool isTF32,
                                           size_t workspaceBytes) const;

private:
  /// m, n, k, the types of A and C, whether sums have fast accumulation, B is
  /// transposed and f32 is rounded to TensorFloat-32, the workspace.
  using Question = std::tuple<int64_t, int64_t, int64_t, ElementType,
                              ElementType, bool, bool, bool, size_t>;

  std::vector<Algorithm> findAlgorithms(Handle handle, const BenchCase &bench,
                                        bool isTransposed, bool isTF32,
                                        size_t workspaceBytes) const;

  std::shared_ptr<const cublas::LtFunctions> functions;
  mutable std::map<Question, std::vector<Algorithm>> known;
};

} // namespace nm

#endif // NM_LIB_BENCH_BENCHCUBLASLT_H
