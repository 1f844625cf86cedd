//===- Abi.h - What simulated kernels call ----------------------*- C++ -*-===//
//
// convert-kernels-to-sim turns kernels into host code that calls these
// functions of libnm_sim. A kernel's first argument is the thread that runs it,
// which it passes on to each of them, with the index of the instruction in the
// kernel's table of sites.
//
//===----------------------------------------------------------------------===//

#ifndef NM_SIM_ABI_H
#define NM_SIM_ABI_H

#include <cstdint>

#define NM_SIM_API __attribute__((visibility("default")))

extern "C" {

/// Where memory is, as the instruction's pointer says.
enum NmSimSpace : int32_t {
  NM_SIM_GENERIC = 0,
  NM_SIM_GLOBAL = 1,
  NM_SIM_SHARED = 3,
  /// Shared memory of any block of the cluster.
  NM_SIM_SHARED_CLUSTER = 7
};

enum NmSimKind : int32_t {
  NM_SIM_OTHER = 0,
  NM_SIM_LOAD = 1,
  NM_SIM_STORE = 2,
  NM_SIM_ATOMIC = 3,
  NM_SIM_COPY = 4
};

/// An instruction of a kernel.
struct NmSimSite {
  /// Where in the kernel's text the op's name is, and `file:line:column`.
  int32_t op, place;
  NmSimKind kind;
  NmSimSpace space;
  /// What a thread accesses.
  int32_t bytes;
  /// What its address must be a multiple of. A GPU accesses as much at once:
  /// 16 bytes aligned to 4 are four instructions.
  int32_t alignment;
};

struct NmSimThread;

struct NmSimKernel {
  const char *name;
  const char *chip;
  /// The most that a block of the chip can have.
  int64_t sharedLimit;
  int64_t staticShared;
  void (*entry)(NmSimThread *thread, void *arguments);
  const NmSimSite *sites;
  int64_t numSites;
  const char *text;
};

/// The memory that an argument gives a kernel.
struct NmSimExtent {
  const char *base;
  int64_t bytes;
  /// Where the buffer starts that it is in. On a GPU that is a multiple of 256:
  /// alignment and sectors are counted from here, wherever the host has it.
  const char *buffer;
};

struct NmSimLaunch {
  int64_t grid[3];
  int64_t block[3];
  /// Blocks of a thread block cluster; (1, 1, 1) where there are none.
  int64_t cluster[3];
  int64_t dynamicShared;
  void *arguments;
  const NmSimExtent *extents;
  int64_t numExtents;
};

/// Runs the kernel on all threads of all blocks. Faults are recorded as the
/// runtime's error of the calling thread.
NM_SIM_API void nmSimLaunch(const NmSimKernel *kernel,
                            const NmSimLaunch *launch);

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Checks and counts an access of the site's bytes at `address`. Returns where
/// to make it: there, or in memory of no meaning where it is out of bounds.
NM_SIM_API void *nmSimAccess(NmSimThread *thread, int32_t site, void *address);
/// Checks and counts an access, as nmSimAccess does, of an instruction of a
/// warp of which only the first `lanes` lanes access memory. Returns where to
/// make it; null in the others.
NM_SIM_API void *nmSimAccessOfLanes(NmSimThread *thread, int32_t site,
                                    void *address, int32_t lanes);

/// Bytes of the block's shared memory: static at their offset, then dynamic.
NM_SIM_API void *nmSimStaticShared(NmSimThread *thread, int32_t site,
                                   int64_t offset);
NM_SIM_API void *nmSimDynamicShared(NmSimThread *thread, int32_t site);
/// A pointer to shared memory as the number that a GPU has for it, and back.
NM_SIM_API int64_t nmSimSharedToInt(NmSimThread *thread, int32_t site,
                                    void *address);
NM_SIM_API void *nmSimIntToShared(NmSimThread *thread, int32_t site,
                                  int64_t offset);

/// `address` of the block's shared memory in that of the block with `rank` in
/// the cluster.
NM_SIM_API void *nmSimMapShared(NmSimThread *thread, int32_t site,
                                void *address, int32_t rank);

/// Starts a copy of `bytes` to shared memory, filled up to the site's bytes
/// with zeros.
/// cp.async.bulk.prefetch, which changes nothing; the range is checked.
NM_SIM_API void nmSimPrefetchBulk(NmSimThread *thread, int32_t site, void *from,
                                  int32_t bytes);
NM_SIM_API void nmSimCopyAsync(NmSimThread *thread, int32_t site, void *to,
                               void *from, int32_t bytes);
NM_SIM_API void nmSimCommitCopies(NmSimThread *thread, int32_t site);
/// Waits until at most `pending` committed groups are in flight.
NM_SIM_API void nmSimWaitForCopies(NmSimThread *thread, int32_t site,
                                   int32_t pending);
/// All copies, committed or not.
NM_SIM_API void nmSimWaitForAllCopies(NmSimThread *thread, int32_t site);

//===----------------------------------------------------------------------===//
// mbarriers
//===----------------------------------------------------------------------===//

NM_SIM_API void nmSimInitMbarrier(NmSimThread *thread, int32_t site,
                                  void *address, int32_t count);
NM_SIM_API void nmSimInvalidateMbarrier(NmSimThread *thread, int32_t site,
                                        void *address);
/// Expects `bytes` more of copies, then arrives `count` times. Returns the
/// phase.
NM_SIM_API int64_t nmSimArriveMbarrier(NmSimThread *thread, int32_t site,
                                       void *address, int32_t count,
                                       int32_t bytes);
/// Waits until the phase of `parity` is over.
NM_SIM_API void nmSimWaitMbarrier(NmSimThread *thread, int32_t site,
                                  void *address, int32_t parity);
/// Whether that phase is over, or the one that an arrival has returned.
NM_SIM_API bool nmSimTestMbarrier(NmSimThread *thread, int32_t site,
                                  void *address, int64_t phase,
                                  int32_t isParity);
/// cp.async.mbarrier.arrive; the mbarrier's count includes it where `noinc`.
NM_SIM_API void nmSimTrackCopies(NmSimThread *thread, int32_t site,
                                 void *address, int32_t noinc);
/// cp.async.bulk from global memory, with complete_tx on the mbarrier. Where
/// there is a mask of the cluster's blocks, to the same place in each, with
/// complete_tx on the mbarrier that each has there.
NM_SIM_API void nmSimCopyBulk(NmSimThread *thread, int32_t site, void *to,
                              void *from, void *mbarrier, int32_t bytes,
                              int32_t mask);

/// st.async of the low `bytes` of `word` to the shared memory of a block of the
/// cluster, with complete_tx on an mbarrier of that block.
NM_SIM_API void nmSimStoreAsync(NmSimThread *thread, int32_t site, void *to,
                                int64_t word, void *mbarrier, int32_t bytes);

/// cp.async.bulk out of shared memory, commit_group and wait_group, whether of
/// reads alone or of the whole copies.
NM_SIM_API void nmSimStoreBulk(NmSimThread *thread, int32_t site, void *to,
                               void *from, int32_t bytes);
NM_SIM_API void nmSimCommitBulk(NmSimThread *thread, int32_t site);
NM_SIM_API void nmSimWaitForBulk(NmSimThread *thread, int32_t site,
                                 int32_t pending);

//===----------------------------------------------------------------------===//
// Tensor copies
//===----------------------------------------------------------------------===//

/// For the host: the driver's cuTensorMapEncodeTiled, with the same operands
/// and the same numbers for types and swizzles. Writes 128 bytes, which only
/// the simulator understands. Returns 0, or 1 for what the driver would refuse,
/// or the simulator does not have: interleaving, strides between elements,
/// a fill of NaN, a box narrower than its swizzle.
NM_SIM_API int32_t nmSimEncodeTensorMap(void *to, int32_t type, uint32_t rank,
                                        void *base, const uint64_t *sizes,
                                        const uint64_t *strides,
                                        const uint32_t *box,
                                        const uint32_t *elementStrides,
                                        int32_t interleave, int32_t swizzle,
                                        int32_t promotion, int32_t fill);
/// The driver's cuTensorMapEncodeIm2col, likewise; an image has three to five
/// dimensions.
NM_SIM_API int32_t nmSimEncodePixelMap(
    void *to, int32_t type, uint32_t rank, void *base, const uint64_t *sizes,
    const uint64_t *strides, const int32_t *lower, const int32_t *upper,
    uint32_t channels, uint32_t pixels, const uint32_t *elementStrides,
    int32_t interleave, int32_t swizzle, int32_t promotion, int32_t fill);
/// cp.async.bulk.tensor of a box at coordinates of which the first `rank`
/// count, from the innermost on; with complete_tx on the mbarrier, and a mask
/// as nmSimCopyBulk has. In im2col mode, where `isOfPixels`: of places from the
/// one at the coordinates on, a tap at offsets from each, of which the first
/// `rank` less two count.
NM_SIM_API void nmSimLoadTensor(NmSimThread *thread, int32_t site, void *to,
                                void *map, void *mbarrier, int32_t rank,
                                int32_t c0, int32_t c1, int32_t c2, int32_t c3,
                                int32_t c4, int32_t isOfPixels, int32_t o0,
                                int32_t o1, int32_t o2, int32_t mask);
/// The other way round, as a bulk copy of the thread's group.
NM_SIM_API void nmSimStoreTensor(NmSimThread *thread, int32_t site, void *map,
                                 void *from, int32_t rank, int32_t c0,
                                 int32_t c1, int32_t c2, int32_t c3,
                                 int32_t c4);

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

enum NmSimRegister : int32_t {
  NM_SIM_TID_X,
  NM_SIM_TID_Y,
  NM_SIM_TID_Z,
  NM_SIM_NTID_X,
  NM_SIM_NTID_Y,
  NM_SIM_NTID_Z,
  NM_SIM_CTAID_X,
  NM_SIM_CTAID_Y,
  NM_SIM_CTAID_Z,
  NM_SIM_NCTAID_X,
  NM_SIM_NCTAID_Y,
  NM_SIM_NCTAID_Z,
  NM_SIM_LANEID,
  NM_SIM_WARPID,
  NM_SIM_NWARPID,
  NM_SIM_WARPSIZE,
  NM_SIM_LANEMASK_EQ,
  NM_SIM_LANEMASK_LE,
  NM_SIM_LANEMASK_LT,
  NM_SIM_LANEMASK_GE,
  NM_SIM_LANEMASK_GT,
  NM_SIM_DYNAMIC_SMEM_SIZE,
  NM_SIM_TOTAL_SMEM_SIZE,
  NM_SIM_CLUSTERID_X,
  NM_SIM_CLUSTERID_Y,
  NM_SIM_CLUSTERID_Z,
  NM_SIM_NCLUSTERID_X,
  NM_SIM_NCLUSTERID_Y,
  NM_SIM_NCLUSTERID_Z,
  NM_SIM_CLUSTER_CTAID_X,
  NM_SIM_CLUSTER_CTAID_Y,
  NM_SIM_CLUSTER_CTAID_Z,
  NM_SIM_CLUSTER_NCTAID_X,
  NM_SIM_CLUSTER_NCTAID_Y,
  NM_SIM_CLUSTER_NCTAID_Z,
  NM_SIM_CLUSTER_CTARANK,
  NM_SIM_CLUSTER_NCTARANK
};

NM_SIM_API int32_t nmSimReadRegister(NmSimThread *thread, int32_t site,
                                     int32_t name);

/// `count` of -1 means all threads of the block.
NM_SIM_API void nmSimBarrier(NmSimThread *thread, int32_t site, int32_t id,
                             int32_t count);
/// Arrives there and does not wait.
NM_SIM_API void nmSimArriveBarrier(NmSimThread *thread, int32_t site,
                                   int32_t id, int32_t count);
/// setmaxnreg.
NM_SIM_API void nmSimSetRegisters(NmSimThread *thread, int32_t site,
                                  int32_t count);
/// Arrives at the barrier of the cluster, and waits for all of its threads that
/// have not ended to arrive. The lanes of a warp execute an `aligned` one as
/// one.
NM_SIM_API void nmSimArriveCluster(NmSimThread *thread, int32_t site,
                                   int32_t aligned);
NM_SIM_API void nmSimWaitCluster(NmSimThread *thread, int32_t site,
                                 int32_t aligned);
NM_SIM_API void nmSimSyncWarp(NmSimThread *thread, int32_t site, int32_t mask);
/// Orders memory, which the simulator never reorders.
NM_SIM_API void nmSimFence(NmSimThread *thread, int32_t site);
/// fence.proxy, which is of shared memory and the asynchronous proxy or not.
NM_SIM_API void nmSimFenceProxies(NmSimThread *thread, int32_t site,
                                  int32_t isAsyncShared);
/// Where a loop starts its next iteration: finds those that never end.
NM_SIM_API void nmSimStep(NmSimThread *thread, int32_t site);

/// What all lanes of a group bring to an instruction that they execute as one.
struct NmSimCollective {
  /// How many lanes there are: 32, or 128 of a warpgroup.
  int32_t width;
  /// Per lane, null where the lane takes no part.
  void *operands[128];
  void *results[128];
  /// What the function finds wrong with the operands, or null.
  const char *fault;
  /// The first lane's, and the instruction.
  NmSimThread *first;
  int32_t site;
};
using NmSimCollectiveFunction = void (*)(NmSimCollective *lanes);

/// Waits for the lanes in `mask` of the warp, or for all of the warpgroup where
/// `width` is 128; `function` then makes the results of all from the operands
/// of all.
NM_SIM_API void nmSimCollective(NmSimThread *thread, int32_t site,
                                int32_t width, int32_t mask,
                                NmSimCollectiveFunction function,
                                void *operands, void *results);

//===----------------------------------------------------------------------===//
// Collective functions
//===----------------------------------------------------------------------===//

NM_SIM_API void nmSimShuffle(NmSimCollective *lanes);
NM_SIM_API void nmSimVote(NmSimCollective *lanes);
NM_SIM_API void nmSimReduce(NmSimCollective *lanes);
/// Elects the first lane of the mask.
NM_SIM_API void nmSimElect(NmSimCollective *lanes);
/// ldmatrix and stmatrix, of 1, 2 or 4 matrices of 8 x 8 elements of 16 bits.
/// The operands are of type NmSimMatrices.
NM_SIM_API void nmSimLoadMatrices(NmSimCollective *lanes);
NM_SIM_API void nmSimStoreMatrices(NmSimCollective *lanes);
/// movmatrix. The operands and results are words, of a matrix of 8 x 8 elements
/// of 16 bits and of its transpose.
NM_SIM_API void nmSimTransposeMatrix(NmSimCollective *lanes);
/// mma.sync and mma.sp.sync. The operands are of type NmSimMultiply, the
/// results the lane's four sums.
NM_SIM_API void nmSimMultiplyMatrices(NmSimCollective *lanes);

/// What a lane brings to ldmatrix and stmatrix.
struct NmSimMatrices {
  /// The address of the 16 bytes of a row, which the lane has accessed; null in
  /// lanes that name no row.
  char *row;
  int32_t count, isTransposed;
  /// What stmatrix stores: a word of each matrix.
  uint32_t words[4];
};

enum NmSimElement : int32_t {
  NM_SIM_F16,
  NM_SIM_BF16,
  NM_SIM_TF32,
  NM_SIM_E4M3,
  NM_SIM_E5M2,
  NM_SIM_S8,
  NM_SIM_U8
};

/// What a lane brings to a product of matrices m16n8k`k`.
struct NmSimMultiply {
  NmSimElement a, b;
  int32_t k;
  int32_t isSparse;
  /// Integer sums stop at the ends of their range; otherwise they wrap around.
  int32_t saturates;
  /// Registers of A, B and the sums; where A is sparse, the metadata and the
  /// selector.
  uint32_t words[14];
};

//===----------------------------------------------------------------------===//
// Products of warpgroups
//===----------------------------------------------------------------------===//

/// wgmma.mma_async, and with `sp`, of all 128 threads. The operands are of type
/// NmSimWarpgroupProduct, the results the thread's sums.
NM_SIM_API void nmSimMultiplyWarpgroup(NmSimCollective *lanes);

/// What a thread brings to a product of matrices m64n`n`k`k`.
struct NmSimWarpgroupProduct {
  /// The descriptors of A, where it is not in registers, and of B.
  uint64_t descriptorA, descriptorB;
  NmSimElement a, b;
  int32_t n, k;
  int32_t isSparse, saturates;
  int32_t isAInRegisters, isATransposed, isBTransposed;
  /// 1 or -1, by which the operands are multiplied.
  int32_t scaleA, scaleB;
  /// Whether the sums are added to, or begin at zero.
  int32_t addsSums;
  uint32_t registersA[4];
  uint32_t metadata, selector;
  uint32_t sums[128];
};

/// A thread is about to execute the kernel's wgmma number `product`.
NM_SIM_API void nmSimStartProduct(NmSimThread *thread, int32_t site,
                                  int32_t product);
/// It uses what the product's sums are in, or changes one of its operands that
/// are in registers: neither may be while the product is in flight.
NM_SIM_API void nmSimUseSums(NmSimThread *thread, int32_t site,
                             int32_t product);
NM_SIM_API void nmSimChangeRegister(NmSimThread *thread, int32_t site,
                                    int32_t product);
/// wgmma.fence, commit_group and wait_group.
NM_SIM_API void nmSimFenceProducts(NmSimThread *thread, int32_t site);
NM_SIM_API void nmSimCommitProducts(NmSimThread *thread, int32_t site);
NM_SIM_API void nmSimWaitForProducts(NmSimThread *thread, int32_t site,
                                     int32_t pending);

//===----------------------------------------------------------------------===//
// Arithmetic that host instructions do not have
//===----------------------------------------------------------------------===//

/// prmt in its default mode.
NM_SIM_API int32_t nmSimPermute(NmSimThread *thread, int32_t site, int32_t low,
                                int32_t high, int32_t selector);
/// dp4a of bytes without a sign.
NM_SIM_API int32_t nmSimDotBytes(NmSimThread *thread, int32_t site, int32_t a,
                                 int32_t b, int32_t sum);
/// bfind of a word without a sign: -1 if it has no bit.
NM_SIM_API int32_t nmSimHighestBit(NmSimThread *thread, int32_t site,
                                   int32_t value);
/// lop3: for each place, the bit of `table` that the bits of a, b and c number.
NM_SIM_API int32_t nmSimLogic(NmSimThread *thread, int32_t site, int32_t a,
                              int32_t b, int32_t c, int32_t table);
NM_SIM_API float nmSimReciprocal(NmSimThread *thread, int32_t site,
                                 float value);
NM_SIM_API float nmSimExp2(NmSimThread *thread, int32_t site, float value);
NM_SIM_API float nmSimRsqrtF32(float value);
NM_SIM_API double nmSimRsqrtF64(double value);

} // extern "C"

#endif // NM_SIM_ABI_H
