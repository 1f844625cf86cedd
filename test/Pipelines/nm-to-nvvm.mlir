// RUN: nm-opt %s --nm-to-nvvm="chip=sm_90a format=isa schedule=simt" 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.remarks
// RUN: nm-opt %s --nm-to-nvvm="chip=sm_90a format=isa schedule=simt" 2>/dev/null | FileCheck %s --check-prefix=LOCAL
// RUN: nm-opt %s --nm-to-nvvm="chip=sm_80 ptx-version=78 opt-level=2 format=llvm" 2>/dev/null | FileCheck %s --check-prefix=OPTIONS
// RUN: not nm-opt %s --nm-to-nvvm="chip=sm_12" 2>&1 | FileCheck %s --check-prefix=CHIP
// RUN: not nm-opt %s --nm-to-nvvm="chip=sm_90a ptx-version=78" 2>&1 | FileCheck %s --check-prefix=PTX-VERSION

// The PTX: loads of A and stores of C by 16 bytes, asynchronous copies that
// bypass L1, operands read from shared memory by 16 bytes; nothing in local
// memory. Weights are packed by a function of their own; the host launches.
// CHECK: llvm.func @matmul.pack
// CHECK: llvm.func @matmul(
// CHECK: llvm.call @nmGetStream
// CHECK: gpu.launch_func <%{{.*}} : !llvm.ptr> @kernels::@matmul_kernel
// CHECK: gpu.binary @kernels
// CHECK-SAME: .target sm_90a
// CHECK-SAME: ld.global.v4.b32
// CHECK-SAME: cp.async.cg.shared.global
// CHECK-SAME: cp.async.commit_group
// CHECK-SAME: cp.async.wait_group
// CHECK-SAME: bar.sync
// CHECK-SAME: ld.shared.v4.b32
// CHECK-SAME: fma.rn.f32
// CHECK-SAME: st.global.v4.b32

// LOCAL-NOT: .local
// LOCAL-NOT: __local_depot

// REMARK: remark: nm.spmm <16:32, block = 1x32> (50.0 % sparse), m = ?, taken to be 1024, n = 4096, k = 4096, f32: strategy simt on sm_90; estimated {{.*}} us, at least 256.8 us of multiplications and {{.*}} us of memory

// OPTIONS: gpu.object<#nvvm.target<chip = "sm_80", features = "+ptx78">
// CHIP: error: expected a chip of sm_80, sm_86, sm_89, sm_90, sm_90a, sm_100, sm_100a, sm_100f, sm_120, sm_120a, sm_120f, but got 'sm_12'
// PTX-VERSION: error: expected a PTX version between 84, the oldest for the chip, and 90 other than 79 and 89, which there are not, but got 78

#weights = #nm.encoding<16:32, block = 1x32>
func.func @matmul(%a: tensor<?x4096xf32>, %b: tensor<4096x4096xf32, #weights>) -> tensor<?x4096xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %a, %c0 : tensor<?x4096xf32>
  %e = tensor.empty(%m) : tensor<?x4096xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x4096xf32>) -> tensor<?x4096xf32>
  %r = linalg.matmul ins(%a, %b : tensor<?x4096xf32>, tensor<4096x4096xf32, #weights>) outs(%f : tensor<?x4096xf32>) -> tensor<?x4096xf32>
  return %r : tensor<?x4096xf32>
}
