//===- Wgmma.cpp - Products that are in flight while a block goes on ------===//
//
// A product is computed when all threads of its warpgroup have come to it, and
// counts as in flight until they have waited for its group: until then its
// registers are not to be touched, and the shadow has its operands in shared
// memory as read by somebody who has met no barrier.
//
//===----------------------------------------------------------------------===//

#include "Block.h"
#include "WarpgroupProduct.h"

#include "nm/Support/Warp.h"

#include <algorithm>

using namespace nm;
using namespace nm::sim;

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

void Block::startProduct(NmSimThread &thread, int32_t site, int32_t number) {
  Products::Product &product = thread.products.get(number);
  if (!thread.products.isFenced(product))
    report(thread, FaultClass::UnfencedProduct, site,
           "expected a wgmma.fence between it and what the thread last did "
           "with its registers");
  thread.products.start(product, site);
}

void Block::useRegisters(NmSimThread &thread, int32_t site, int32_t number,
                         const char *what) {
  Products::Product &product = thread.products.get(number);
  if (thread.products.isInFlight(product))
    report(thread, FaultClass::UnfinishedProduct, site,
           std::string(what) + " of " + describe(launch.kernel, product.site) +
               ", which nobody waited for");
  thread.products.use(product);
}

void Block::waitForProducts(NmSimThread &thread, int32_t pending) {
  uint32_t last = thread.products.wait(uint32_t(std::max(pending, 0)));
  order.finishProducts(thread.warp(), last);
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

/// Reports a chunk that is not there, or that is not to be read; returns false
/// after the first.
bool Block::readChunk(NmSimThread &thread, int32_t site, uint32_t cores,
                      size_t offset) {
  constexpr size_t kChunk = MatrixDescriptor::kChunk;
  if (offset >= sharedBytes || kChunk > sharedBytes - offset) {
    report(thread, FaultClass::SharedBounds, site,
           describeShared(thread, site, offset) + ", which has " +
               std::to_string(sharedBytes));
    return false;
  }
  SharedConflict conflict =
      shadow.readAsync(order, cores, site, offset, kChunk);
  if (conflict.kind == Conflict::None)
    return true;
  reportShared(thread, site, offset, conflict);
  return false;
}

void Block::multiply(NmSimCollective &lanes) {
  NmSimThread &thread = *lanes.first;
  int32_t site = lanes.site;
  if (std::any_of(lanes.operands, lanes.operands + kWarpgroupThreads,
                  [](void *operands) { return !operands; })) {
    lanes.fault = "expected all 128 threads of a warpgroup to take part";
    return;
  }
  for (uint32_t i = 1; i < kWarpgroupThreads; ++i)
    if (threads[thread.index + i].products.getGroup() !=
        thread.products.getGroup()) {
      lanes.fault = "the threads of its warpgroup have committed different "
                    "numbers of groups";
      return;
    }
  WarpgroupProduct product(lanes);
  if (std::string fault = product.check(); !fault.empty())
    return report(thread, FaultClass::BadOperand, site, fault);
  uint32_t warpgroup = thread.warp() / kWarpgroupWarps;
  uint32_t cores = Order::getTensorCores(warpgroup);
  order.startProduct(warpgroup, thread.products.getGroup());
  auto read = [&](const SharedMatrix &matrix) {
    bool isRight = true;
    matrix.forEachChunk([&](int offset, int, int) {
      isRight = isRight && readChunk(thread, site, cores, size_t(offset));
    });
  };
  if (product.isAShared())
    read(product.getA());
  read(product.getB());
  lanes.fault = product.run(shared, sharedBytes);
}

void nmSimMultiplyWarpgroup(NmSimCollective *lanes) {
  lanes->first->block->multiply(*lanes);
}

void nmSimStartProduct(NmSimThread *thread, int32_t site, int32_t product) {
  thread->block->startProduct(*thread, site, product);
}

void nmSimUseSums(NmSimThread *thread, int32_t site, int32_t product) {
  thread->block->useRegisters(*thread, site, product, "uses the sums");
}

void nmSimChangeRegister(NmSimThread *thread, int32_t site, int32_t product) {
  thread->block->useRegisters(*thread, site, product,
                              "changes an operand in registers");
}

void nmSimFenceProducts(NmSimThread *thread, int32_t) {
  thread->products.fence();
}

void nmSimCommitProducts(NmSimThread *thread, int32_t) {
  thread->products.commit();
}

void nmSimWaitForProducts(NmSimThread *thread, int32_t, int32_t pending) {
  thread->block->waitForProducts(*thread, pending);
}
