//===- EqualStores.cpp - What several threads store alike -----------------===//

#include "EqualStores.h"

using namespace nm::sim;

void EqualStores::add(EqualStore store) {
  for (int32_t i = 0; i < store.bytes; ++i)
    if (!(store.shared >> i & 1))
      store.address[i] = store.value[size_t(i)];
  std::lock_guard<std::mutex> lock(mutex);
  stores.push_back(std::move(store));
}

/// Whether memory holds the bytes that both threads have stored.
static bool holds(const EqualStore &store) {
  for (int32_t i = 0; i < store.bytes; ++i)
    if ((store.shared >> i & 1) && store.address[i] != store.value[size_t(i)])
      return false;
  return true;
}

void EqualStores::check(Faults &faults) const {
  for (const EqualStore &store : stores)
    if (!holds(store))
      faults.add(FaultClass::GlobalRace, store.site, store.block, store.thread,
                 store.what);
}
