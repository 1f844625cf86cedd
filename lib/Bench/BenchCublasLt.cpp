//===- BenchCublasLt.cpp - Every algorithm of cuBLAS for a product --------===//

#include "BenchCublasLt.h"

#include "nm/Support/CublasLibrary.h"

#include <utility>

using namespace nm;
using namespace nm::cublas;

/// What a product is called with. cuBLASLt reads column-major, as cuBLAS does:
/// row-major B[k x n] is a matrix n x k to it, and C^T = B^T * A^T.
struct CublasLt::Problem {
  std::shared_ptr<const LtFunctions> functions;
  LtFunctions::Descriptor product = nullptr, b = nullptr, a = nullptr,
                          c = nullptr, preference = nullptr;
  bool isInteger = false;

  Problem() = default;
  Problem(const Problem &) = delete;
  ~Problem() {
    for (LtFunctions::Descriptor layout : {a, b, c})
      if (layout)
        functions->destroyLayout(layout);
    if (product)
      functions->destroyProduct(product);
    if (preference)
      functions->destroyPreference(preference);
  }

  /// Whether the library has the types and sizes.
  bool create(const BenchCase &bench, bool isTransposed, bool isTF32,
              size_t workspaceBytes);
};

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

std::optional<CublasLt> CublasLt::find(void *library) {
  std::optional<LtFunctions> functions = LtFunctions::find(library);
  if (!functions)
    return std::nullopt;
  CublasLt blas;
  blas.functions = std::make_shared<LtFunctions>(*functions);
  return blas;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

bool CublasLt::Problem::create(const BenchCase &bench, bool isTransposed,
                               bool isTF32, size_t workspaceBytes) {
  ElementType resultType = bench.resultType();
  isInteger = resultType == ElementType::I32;
  int from = dataType(bench.type), to = dataType(resultType);
  auto m = uint64_t(bench.shape.m), n = uint64_t(bench.shape.n),
       k = uint64_t(bench.shape.k);
  constexpr int8_t kFast = 1;
  int op = isTransposed ? kTranspose : kNoTranspose;
  return from >= 0 && to >= 0 &&
         functions->createProduct(
             &product,
             isInteger ? kComputeI32
             : isTF32  ? kComputeTF32
                       : kComputeF32,
             dataType(isInteger ? resultType : ElementType::F32)) == 0 &&
         functions->setProduct(product, kProductOpOfA, &op, sizeof op) == 0 &&
         (!bench.hasFastAccum ||
          functions->setProduct(product, kProductFastAccum, &kFast,
                                sizeof kFast) == 0) &&
         functions->createLayout(&b, from, isTransposed ? k : n,
                                 isTransposed ? n : k,
                                 int64_t(isTransposed ? k : n)) == 0 &&
         functions->createLayout(&a, from, k, m, int64_t(k)) == 0 &&
         functions->createLayout(&c, to, n, m, int64_t(n)) == 0 &&
         functions->createPreference(&preference) == 0 &&
         functions->setPreference(preference, kPreferWorkspace, &workspaceBytes,
                                  sizeof workspaceBytes) == 0;
}

const std::vector<CublasLt::Algorithm> &
CublasLt::algorithms(Handle handle, const BenchCase &bench, bool isTransposed,
                     bool isTF32, size_t workspaceBytes) const {
  const ProductShape &shape = bench.shape;
  Question question{shape.m,
                    shape.n,
                    shape.k,
                    bench.type,
                    bench.resultType(),
                    bench.hasFastAccum,
                    isTransposed,
                    isTF32,
                    workspaceBytes};
  auto answer = known.find(question);
  if (answer == known.end())
    answer = known
                 .emplace(question, findAlgorithms(handle, bench, isTransposed,
                                                   isTF32, workspaceBytes))
                 .first;
  return answer->second;
}

std::vector<CublasLt::Algorithm>
CublasLt::findAlgorithms(Handle handle, const BenchCase &bench,
                         bool isTransposed, bool isTF32,
                         size_t workspaceBytes) const {
  auto problem = std::make_shared<Problem>();
  problem->functions = functions;
  if (!problem->create(bench, isTransposed, isTF32, workspaceBytes))
    return {};
  std::array<LtFunctions::Found, kMostAlgorithms> found;
  int count = 0;
  if (functions->findAlgorithms(handle, problem->product, problem->b,
                                problem->a, problem->c, problem->c,
                                problem->preference, kMostAlgorithms,
                                found.data(), &count) != 0)
    return {};
  std::vector<Algorithm> algorithms;
  for (int i = 0; i < count; ++i) {
    if (found[i].status != 0 || found[i].workspaceBytes > workspaceBytes)
      continue;
    Algorithm algorithm;
    algorithm.problem = problem;
    algorithm.algorithm = found[i].algorithm;
    algorithms.push_back(algorithm);
  }
  return algorithms;
}

int CublasLt::Algorithm::multiply(Handle handle, const void *a, const void *b,
                                  void *c, void *workspace,
                                  size_t workspaceBytes, void *stream) const {
  const float ones[] = {0, 1};
  const int32_t onesI32[] = {0, 1};
  auto scalar = [&](bool one) -> const void * {
    return problem->isInteger ? static_cast<const void *>(&onesI32[one])
                              : &ones[one];
  };
  return problem->functions->multiply(
      handle, problem->product, scalar(true), b, problem->b, a, problem->a,
      scalar(false), c, problem->c, c, problem->c, algorithm.data(), workspace,
      workspaceBytes, stream);
}
