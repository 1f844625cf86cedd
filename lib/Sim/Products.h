//===- Products.h - A thread's products in flight ---------------*- C++ -*-===//

#ifndef NM_LIB_SIM_PRODUCTS_H
#define NM_LIB_SIM_PRODUCTS_H

#include <cstdint>
#include <vector>

namespace nm::sim {

/// The wgmmas that a thread has taken part in. Groups are numbered from 1.
class Products {
public:
  /// One of the kernel's wgmmas.
  struct Product {
    int32_t site = -1;
    /// That of its last execution, or 0.
    uint32_t group = 0;
    /// How many fences there were when its registers were last used.
    uint32_t fencesAtUse = 0;
  };

  void reset() { *this = Products(); }
  Product &get(int32_t number) {
    if (size_t(number) >= all.size())
      all.resize(size_t(number) + 1);
    return all[size_t(number)];
  }
  bool isInFlight(const Product &product) const {
    return product.group > finished;
  }
  bool isFenced(const Product &product) const {
    return fences > product.fencesAtUse;
  }
  void use(Product &product) { product.fencesAtUse = fences; }
  void start(Product &product, int32_t site) {
    product.site = site;
    product.group = group;
  }
  void fence() { ++fences; }
  void commit() { ++group; }
  /// Finishes all groups but the last `pending`; returns the last finished.
  uint32_t wait(uint32_t pending) {
    if (group - 1 > pending + finished)
      finished = group - 1 - pending;
    return finished;
  }
  /// The group that is not committed.
  uint32_t getGroup() const { return group; }

private:
  uint32_t group = 1, finished = 0, fences = 0;
  std::vector<Product> all;
};

} // namespace nm::sim

#endif // NM_LIB_SIM_PRODUCTS_H
