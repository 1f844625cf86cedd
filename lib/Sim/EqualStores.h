//===- EqualStores.h - What several threads store alike ---------*- C++ -*-===//

#ifndef NM_LIB_SIM_EQUALSTORES_H
#define NM_LIB_SIM_EQUALSTORES_H

#include "Faults.h"

#include <array>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace nm::sim {

/// A store to where another thread stores, in no order with it.
struct EqualStore {
  static constexpr int32_t kMaxBytes = 16;

  /// Null where there is none.
  char *address = nullptr;
  std::array<char, kMaxBytes> value = {};
  int32_t bytes = 0, site = -1;
  /// A bit for each byte that the other thread has stored, too.
  uint32_t shared = 0;
  std::array<int64_t, 3> block = {}, thread = {};
  /// The text of the fault that this store is where the values differ.
  std::string what;
};

/// Those of a launch. Tiles of C that overlap, of two blocks or of one that
/// takes turns at them, make the same elements twice, in no order: that is no
/// fault, for either store leaves what both make. The first to come is made;
/// what others have of the same bytes is compared with it once all blocks have
/// ended.
class EqualStores {
public:
  /// Makes the rest of `store`.
  void add(EqualStore store);
  /// Reports those that differ from what memory holds.
  void check(Faults &faults) const;

private:
  std::mutex mutex;
  std::vector<EqualStore> stores;
};

} // namespace nm::sim

#endif // NM_LIB_SIM_EQUALSTORES_H
