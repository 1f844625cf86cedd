//===- RunKernel.cpp - Kernels that are written in C++ --------------------===//

#include "RunKernel.h"

#include "nm-c/Runtime.h"

#include "gtest/gtest.h"

#include <array>
#include <cstring>

namespace {
struct SiteTable {
  std::string text;
  std::array<NmSimSite, NumSites> sites;

  SiteTable() {
    add(Other, "other", NM_SIM_OTHER, NM_SIM_GENERIC, 0, 1);
    add(StoreShared, "store-shared", NM_SIM_STORE, NM_SIM_SHARED, 4, 4);
    add(LoadShared, "load-shared", NM_SIM_LOAD, NM_SIM_SHARED, 4, 4);
    add(StoreGlobal, "store-global", NM_SIM_STORE, NM_SIM_GLOBAL, 4, 4);
    add(CopyAsync, "cp.async", NM_SIM_COPY, NM_SIM_SHARED, 16, 16);
    add(BulkLoad, "bulk-load", NM_SIM_COPY, NM_SIM_SHARED, 0, 16);
    add(BulkStore, "bulk-store", NM_SIM_COPY, NM_SIM_GLOBAL, 0, 16);
    add(Product, "wgmma.mma_async", NM_SIM_LOAD, NM_SIM_SHARED, 16, 16);
    add(Use, "use", NM_SIM_OTHER, NM_SIM_GENERIC, 0, 1);
    add(Arrive, "arrive", NM_SIM_OTHER, NM_SIM_GENERIC, 0, 1);
    int32_t place = addText("file:1:2");
    for (NmSimSite &site : sites)
      site.place = place;
  }

private:
  int32_t addText(const char *line) {
    auto offset = int32_t(text.size());
    text += line;
    text += '\0';
    return offset;
  }
  void add(Site site, const char *name, NmSimKind kind, NmSimSpace space,
           int32_t bytes, int32_t alignment) {
    sites[site] = {addText(name), 0, kind, space, bytes, alignment};
  }
};
} // namespace

std::string runKernel(void (*entry)(NmSimThread *, void *), void *arguments,
                      int64_t threads, int64_t shared,
                      std::vector<uint32_t> &memory, int64_t blocks) {
  static const SiteTable table;
  NmSimKernel kernel{"kernel",           "sm_90a", int64_t(227) << 10, 0, entry,
                     table.sites.data(), NumSites, table.text.data()};
  auto *bytes = reinterpret_cast<const char *>(memory.data());
  NmSimExtent extent{bytes, int64_t(memory.size() * 4), bytes};
  NmSimLaunch shape{{blocks, 1, 1},
                    {threads, 1, 1},
                    {blocks, 1, 1},
                    shared,
                    arguments,
                    &extent,
                    1};
  nmSimLaunch(&kernel, &shape);
  char *error = nmTakeError();
  std::string text = error ? error : "";
  nmMessageFree(error);
  return text;
}

void expectFault(const std::string &faults, const std::string &fault,
                 const std::string &what) {
  EXPECT_NE(faults.find(fault), std::string::npos) << faults;
  EXPECT_NE(faults.find(what), std::string::npos) << faults;
}

void storeShared(NmSimThread *thread, int64_t offset, uint32_t value) {
  void *to = nmSimAccess(thread, StoreShared, getShared(thread, offset));
  std::memcpy(to, &value, sizeof value);
}

uint32_t loadShared(NmSimThread *thread, int64_t offset) {
  uint32_t value;
  std::memcpy(&value,
              nmSimAccess(thread, LoadShared, getShared(thread, offset)),
              sizeof value);
  return value;
}

void storeGlobal(NmSimThread *thread, uint32_t *to, uint32_t value) {
  *static_cast<uint32_t *>(nmSimAccess(thread, StoreGlobal, to)) = value;
}

char *makeMbarrier(NmSimThread *thread, int64_t offset) {
  char *barrier = getShared(thread, offset);
  if (getThreadId(thread) == 0)
    nmSimInitMbarrier(thread, Other, barrier, 1);
  syncThreads(thread);
  return barrier;
}

void storeResult(NmSimThread *thread, uint32_t *result, int32_t words,
                 int32_t threads) {
  for (int32_t i = getThreadId(thread); i < words; i += threads)
    storeGlobal(thread, result + i, loadShared(thread, 4 * i));
}
