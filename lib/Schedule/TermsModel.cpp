//===- TermsModel.cpp - What products of terms take beside them -----------===//

#include "TermsModel.h"

using namespace nm;

/// Of the kernel before, which makes A's terms: its launch, and the share of
/// the memory's rate, for the L2 cache has some of it.
static constexpr double kSplitMicroseconds = 1.5, kSplitShare = 1;
/// Of the kernel behind, which adds up parts of k: its launch with that of what
/// it waits for, and the share of the memory's rate. 13 kernels with 2 to 4
/// parts of 0.25 to 2 million sums took 5.5 to 14 us more than their share.
static constexpr double kAddMicroseconds = 3.5, kAddShare = 0.6;

int64_t nm::bytesOfTerms(const GpuProduct &product) {
  return product.terms * int64_t(elementSize(ElementType::BF16));
}

int64_t nm::productsOfTerms(const GpuProduct &product) {
  return product.terms * (product.terms + 1) / 2;
}

double nm::splitMicroseconds(const GpuProduct &product, const GpuChip &chip) {
  double bytes =
      double(product.rows() * product.k) *
      double(int64_t(elementSize(product.type)) + bytesOfTerms(product));
  return kSplitMicroseconds + bytes / (chip.memoryGBs * kSplitShare) / 1000;
}

double nm::addMicroseconds(const GpuProduct &product, const GpuChip &chip,
                           int64_t parts) {
  if (parts == 1)
    return 0;
  double bytes = double(product.rows() * product.n) * 4 * double(parts + 1);
  return kAddMicroseconds + bytes / (chip.memoryGBs * kAddShare) / 1000;
}
