/*===- ClearWordsKernel.h - What fills memory between two kernels -*- C -*-===*\
|*
|* Compiled for a GPU, this is the kernel in ClearWordsKernel.ptx, which the
|* runtime carries as text so that it needs no CUDA to be built:
|*
|*   clang-22 -x c --target=nvptx64-nvidia-cuda -march=sm_90
|*     --cuda-feature=+ptx78 -O2 -S ClearWordsKernel.h -o ClearWordsKernel.ptx
|*
|* test/Tools/runtime-kernels.test compares the two.
|*
\*===----------------------------------------------------------------------===*/

#ifndef NM_LIB_RUNTIME_CUDA_CLEARWORDSKERNEL_H
#define NM_LIB_RUNTIME_CUDA_CLEARWORDSKERNEL_H

#define NM_CLEAR_WORDS_THREADS 128

#ifdef __NVPTX__
/** Tells the runtime that the kernel waits for the one before it; see
 * KernelObjects.h. */
__attribute__((address_space(1))) const char nm_waits_nm_clear_words = 1;

/** Fills `count` words at `to` with the lower half of `value`. The memory may
 * be what the kernel before works with. */
__attribute__((device_kernel)) void
nm_clear_words(unsigned *to, long long value, long long count) {
  __asm__ volatile("griddepcontrol.wait;" ::: "memory");
  long long threads = __nvvm_read_ptx_sreg_nctaid_x() * NM_CLEAR_WORDS_THREADS;
  for (long long i = __nvvm_read_ptx_sreg_ctaid_x() * NM_CLEAR_WORDS_THREADS +
                     __nvvm_read_ptx_sreg_tid_x();
       i < count; i += threads)
    to[i] = (unsigned)value;
}
#endif

#endif /* NM_LIB_RUNTIME_CUDA_CLEARWORDSKERNEL_H */
