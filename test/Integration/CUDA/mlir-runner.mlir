// mlir-runner runs what upstream's own pipeline emits on our wrappers. The
// driver is that of test/Unit/Runtime/FakeCuda.h, which prints its calls.

// RUN: mlir-opt %s \
// RUN:   --gpu-lower-to-nvvm-pipeline="cubin-chip=sm_90 cubin-features=+ptx80 cubin-format=isa" \
// RUN: | env NM_CUDA_LIBRARY=%nm_lib_dir/NMFakeCuda.so FAKE_CUDA=print=1 \
// RUN:   mlir-runner --shared-libs=%nm_lib_dir/libnm_runtime.so \
// RUN:     --entry-point-result=void 2>&1 \
// RUN: | FileCheck %s

// CHECK-NOT: error
// CHECK: cuStreamCreate
// CHECK: cuMemAllocAsync 64
// CHECK: cuModuleLoadDataEx ptx
// CHECK: cuModuleGetFunction main_kernel
// CHECK: cuLaunchKernel 2x1x1 8x1x1
// CHECK: cuMemFreeAsync
// CHECK: cuStreamSynchronize
// CHECK: cuStreamDestroy
// CHECK: cuModuleUnload
// CHECK-NOT: error

func.func @main() {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %value = arith.constant 1.0 : f32
  %start = gpu.wait async
  %memory, %ready = gpu.alloc async [%start] () : memref<16xf32>
  %done = gpu.launch async [%ready]
      blocks(%bx, %by, %bz) in (%gx = %c2, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%nx = %c8, %ny = %c1, %nz = %c1) {
    %base = arith.muli %bx, %nx : index
    %i = arith.addi %base, %tx : index
    memref.store %value, %memory[%i] : memref<16xf32>
    gpu.terminator
  }
  %freed = gpu.dealloc async [%done] %memory : memref<16xf32>
  gpu.wait [%freed]
  return
}
