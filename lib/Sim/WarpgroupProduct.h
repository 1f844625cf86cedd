//===- WarpgroupProduct.h - What wgmma computes -----------------*- C++ -*-===//

#ifndef NM_LIB_SIM_WARPGROUPPRODUCT_H
#define NM_LIB_SIM_WARPGROUPPRODUCT_H

#include "TensorCore.h"
#include "nm/Format/MatrixDescriptor.h"

#include <string>
#include <vector>

namespace nm::sim {

/// An operand of wgmma in shared memory, as the instruction reads it.
struct SharedMatrix {
  NmSimElement type;
  MatrixDescriptor descriptor;
  /// Rows of A or columns of B; elements along k, as they are stored.
  int extent, k;
  bool isMNMajor;

  int perChunk() const { return 128 / getBits(type); }
  /// Calls visit(offset, i, k) for each chunk of 16 bytes, whose first element
  /// is in row (of A) or column (of B) `i`.
  template <typename Visit>
  void forEachChunk(Visit visit) const {
    int per = perChunk();
    if (isMNMajor) {
      for (int row = 0; row < k; ++row)
        for (int i = 0; i < extent; i += per)
          visit(descriptor.getMNMajorOffset(row, i / per), i, row);
      return;
    }
    for (int i = 0; i < extent; ++i)
      for (int column = 0; column < k; column += per)
        visit(descriptor.getKMajorOffset(i, column / per), i, column);
  }
};

/// A product of all 128 threads' operands.
class WarpgroupProduct {
public:
  explicit WarpgroupProduct(const NmSimCollective &lanes);

  /// What is wrong with what the instruction is given, or empty.
  std::string check() const;
  bool isAShared() const { return form.isAInRegisters == 0; }
  SharedMatrix getA() const;
  SharedMatrix getB() const;
  /// Computes all threads' results. Returns what is wrong with metadata, or
  /// null. `memory` has `bytes`; what is beyond reads as zero.
  const char *run(const char *memory, size_t bytes);

private:
  const NmSimWarpgroupProduct &operandsOf(int thread) const {
    return *static_cast<NmSimWarpgroupProduct *>(lanes.operands[thread]);
  }
  void gatherRegisters();
  void gatherShared(const SharedMatrix &matrix, double scale,
                    std::vector<double> &elements, int iStep, int kStep);
  const char *findColumns();
  void multiply(int row, double *sums) const;

  const NmSimCollective &lanes;
  const NmSimWarpgroupProduct &form;
  /// The shape of a warp's part of A and of its metadata.
  MmaShape shape;
  const char *memory = nullptr;
  size_t bytes = 0;
  /// In rows; a sparse A as it is stored.
  std::vector<double> a, b;
  /// The rows of B that the elements of A are multiplied with.
  std::vector<int> columns;
};

} // namespace nm::sim

#endif // NM_LIB_SIM_WARPGROUPPRODUCT_H
