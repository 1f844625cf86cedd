/*===- StridedCopyKernel.h - What a thread of a strided copy does -*- C -*-===*\
|*
|* Compiled for a GPU, this is the kernel in StridedCopyKernel.ptx, which the
|* runtime carries as text so that it needs no CUDA to be built:
|*
|*   clang-22 -x c --target=nvptx64-nvidia-cuda -march=sm_80
|*     --cuda-feature=+ptx70 -O2 -S StridedCopyKernel.h -o StridedCopyKernel.ptx
|*
|* test/Tools/runtime-kernels.test compares the two. Tests without a GPU
|* compile it for the host.
|*
\*===----------------------------------------------------------------------===*/

#ifndef NM_LIB_RUNTIME_CUDA_STRIDEDCOPYKERNEL_H
#define NM_LIB_RUNTIME_CUDA_STRIDEDCOPYKERNEL_H

/** The threads of a block: a warp copies a part of a row. */
#define NM_STRIDED_COPY_ROW_THREADS 32
#define NM_STRIDED_COPY_ROWS 8

/** An array of four dimensions, of which the last makes the rows; strides are
 * in bytes. */
typedef struct {
  const char *from;
  char *to;
  long long sizes[4];
  long long fromStrides[4];
  long long toStrides[4];
  /** Bytes of an element, which both addresses are multiples of: 1, 2, 4, 8. */
  long long elementBytes;
} NmStridedCopy;

static inline void nmCopyElement(const char *from, char *to,
                                 long long elementBytes) {
  switch (elementBytes) {
  case 8:
    *(long long *)to = *(const long long *)from;
    return;
  case 4:
    *(int *)to = *(const int *)from;
    return;
  case 2:
    *(short *)to = *(const short *)from;
    return;
  default:
    *to = *from;
    return;
  }
}

/** Copies the elements of one thread: `firstRow` and `first` are its place in
 * the grid, which has `rowStep` by `step` threads. */
static inline void nmStridedCopyThread(const NmStridedCopy *copy,
                                       long long firstRow, long long rowStep,
                                       long long first, long long step) {
  const long long *sizes = copy->sizes, *fromStrides = copy->fromStrides,
                  *toStrides = copy->toStrides;
  long long rows = sizes[0] * sizes[1] * sizes[2];
  for (long long row = firstRow; row < rows; row += rowStep) {
    long long at[3] = {row / sizes[2] / sizes[1], row / sizes[2] % sizes[1],
                       row % sizes[2]};
    const char *from = copy->from;
    char *to = copy->to;
    for (int d = 0; d < 3; ++d) {
      from += at[d] * fromStrides[d];
      to += at[d] * toStrides[d];
    }
    for (long long i = first; i < sizes[3]; i += step)
      nmCopyElement(from + i * fromStrides[3], to + i * toStrides[3],
                    copy->elementBytes);
  }
}

#ifdef __NVPTX__
/** Each parameter is 8 bytes. */
__attribute__((device_kernel)) void
nm_strided_copy(const char *from, char *to, long long size0, long long size1,
                long long size2, long long size3, long long from0,
                long long from1, long long from2, long long from3,
                long long to0, long long to1, long long to2, long long to3,
                long long elementBytes) {
  NmStridedCopy copy = {from,
                        to,
                        {size0, size1, size2, size3},
                        {from0, from1, from2, from3},
                        {to0, to1, to2, to3},
                        elementBytes};
  long long rowBlock = __nvvm_read_ptx_sreg_ctaid_x();
  long long rowBlocks = __nvvm_read_ptx_sreg_nctaid_x();
  long long block = __nvvm_read_ptx_sreg_ctaid_y();
  long long blocks = __nvvm_read_ptx_sreg_nctaid_y();
  nmStridedCopyThread(
      &copy, rowBlock * NM_STRIDED_COPY_ROWS + __nvvm_read_ptx_sreg_tid_y(),
      rowBlocks * NM_STRIDED_COPY_ROWS,
      block * NM_STRIDED_COPY_ROW_THREADS + __nvvm_read_ptx_sreg_tid_x(),
      blocks * NM_STRIDED_COPY_ROW_THREADS);
}
#endif

#endif /* NM_LIB_RUNTIME_CUDA_STRIDEDCOPYKERNEL_H */
