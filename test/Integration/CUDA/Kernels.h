//===- Kernels.h - PTX for tests of the runtime -----------------*- C++ -*-===//

#ifndef NM_TEST_INTEGRATION_CUDA_KERNELS_H
#define NM_TEST_INTEGRATION_CUDA_KERNELS_H

/// @twice(x, y, n): y = 2 x. @shared(y, bytes): y[0] = bytes, by way of the
/// last word of that much dynamic shared memory. @crash(): writes to address 4.
inline constexpr char kKernels[] = R"(
.version 7.0
.target sm_80
.address_size 64

.extern .shared .align 16 .b8 memory[];

.visible .entry twice(.param .u64 x, .param .u64 y, .param .u64 n) {
  .reg .pred %p;
  .reg .b32 %r<4>;
  .reg .f32 %f;
  .reg .b64 %rd<6>;
  mov.u32 %r0, %ctaid.x;
  mov.u32 %r1, %ntid.x;
  mov.u32 %r2, %tid.x;
  mad.lo.u32 %r3, %r0, %r1, %r2;
  cvt.u64.u32 %rd0, %r3;
  ld.param.u64 %rd1, [n];
  setp.ge.u64 %p, %rd0, %rd1;
  @%p bra done;
  ld.param.u64 %rd2, [x];
  ld.param.u64 %rd3, [y];
  shl.b64 %rd4, %rd0, 2;
  add.u64 %rd2, %rd2, %rd4;
  add.u64 %rd3, %rd3, %rd4;
  ld.global.f32 %f, [%rd2];
  add.f32 %f, %f, %f;
  st.global.f32 [%rd3], %f;
done:
  ret;
}

.visible .entry shared(.param .u64 y, .param .u64 bytes) {
  .reg .b32 %r<4>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd0, [y];
  ld.param.u64 %rd1, [bytes];
  cvt.u32.u64 %r0, %rd1;
  mov.u32 %r1, memory;
  add.u32 %r1, %r1, %r0;
  st.volatile.shared.u32 [%r1+-4], %r0;
  ld.volatile.shared.u32 %r2, [%r1+-4];
  st.global.u32 [%rd0], %r2;
  ret;
}

.visible .entry crash() {
  .reg .b32 %r<1>;
  .reg .b64 %rd<1>;
  mov.u64 %rd0, 4;
  mov.u32 %r0, 1;
  st.global.u32 [%rd0], %r0;
  ret;
}
)";

/// @cluster(y): y[0] = blocks in a cluster. For chips from sm_90 on.
inline constexpr char kClusterKernel[] = R"(
.version 7.8
.target sm_90
.address_size 64

.visible .entry cluster(.param .u64 y) {
  .reg .b32 %r<1>;
  .reg .b64 %rd<1>;
  ld.param.u64 %rd0, [y];
  mov.u32 %r0, %cluster_nctaid.x;
  st.global.u32 [%rd0], %r0;
  ret;
}
)";

#endif // NM_TEST_INTEGRATION_CUDA_KERNELS_H
