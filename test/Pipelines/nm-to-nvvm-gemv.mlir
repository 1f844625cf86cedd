// RUN: nm-opt %s --nm-to-nvvm="chip=sm_90a format=isa" 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.remarks
// RUN: nm-opt %s --nm-to-nvvm="chip=sm_90a format=isa" 2>/dev/null | FileCheck %s --check-prefix=LOCAL

// Weights are loaded by 16 bytes, x is picked from shared memory a word at a
// time; nothing is in local memory.
// CHECK: llvm.func @matvec.pack
// CHECK: gpu.launch_func <%{{.*}} : !llvm.ptr> @kernels::@matvec_kernel
// CHECK: gpu.binary @kernels
// CHECK-SAME: .target sm_90a
// CHECK-SAME: ld.global.v4.b32
// CHECK-SAME: bar.sync
// CHECK-SAME: ld.shared.b32
// CHECK-SAME: fma.rn.f32

// LOCAL-NOT: .local
// LOCAL-NOT: __local_depot

// REMARK: remark: nm.spmv <8:32> (75.0 % sparse), {{.*}}n = 4096, k = 4096, f16: strategy gemv on sm_90; estimated

#weights = #nm.encoding<8:32, dim = 1>
func.func @matvec(%w: tensor<4096x4096xf16, #weights>, %x: tensor<4096xf16>) -> tensor<4096xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096xf32>
  %y = linalg.fill ins(%zero : f32) outs(%e : tensor<4096xf32>) -> tensor<4096xf32>
  %r = linalg.matvec ins(%w, %x : tensor<4096x4096xf16, #weights>, tensor<4096xf16>) outs(%y : tensor<4096xf32>) -> tensor<4096xf32>
  return %r : tensor<4096xf32>
}
