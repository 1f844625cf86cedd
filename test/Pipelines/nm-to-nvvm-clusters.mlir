// RUN: nm-opt %s --nm-to-nvvm="chip=sm_90a format=isa schedule='simt<block = [64, 64, 32], warp = [32, 32], thread = [4, 8], stages = 2, split_k = 4, cluster_k = 4>'" 2>/dev/null | FileCheck %s
// RUN: nm-opt %s --nm-to-nvvm="chip=sm_90a format=isa schedule='simt<block = [64, 64, 32], warp = [32, 32], thread = [4, 8], stages = 2, split_k = 4, cluster_k = 4>'" 2>/dev/null | FileCheck %s --check-prefix=LOCAL

// Parts of k are summed by the blocks of clusters, in one kernel: all meet, read
// from each other's shared memory by 16 bytes, and meet before they end.
// CHECK: gpu.launch_func {{.*}}@kernels::@matmul_kernel clusters in (%{{.*}}, %{{.*}}, %{{.*}}) blocks in
// CHECK-NOT: gpu.launch_func
// CHECK: gpu.binary @kernels
// CHECK-SAME: .target sm_90a
// CHECK-SAME: fma.rn.f32
// CHECK-SAME: st.shared.v4.b32
// CHECK-SAME: barrier.cluster.arrive.aligned
// CHECK-SAME: barrier.cluster.wait.aligned
// CHECK-SAME: mapa.shared::cluster
// CHECK-SAME: ld.shared::cluster.v4
// CHECK-SAME: st.global.v4.b32
// CHECK-SAME: barrier.cluster.arrive.aligned
// CHECK-SAME: barrier.cluster.wait.aligned

// LOCAL-NOT: .local
// LOCAL-NOT: __local_depot

#weights = #nm.encoding<16:32, block = 1x32>
func.func @matmul(%a: tensor<128x512xf32>, %b: tensor<512x512xf32, #weights>) -> tensor<128x512xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128x512xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<128x512xf32>) -> tensor<128x512xf32>
  %r = linalg.matmul ins(%a, %b : tensor<128x512xf32>, tensor<512x512xf32, #weights>) outs(%f : tensor<128x512xf32>) -> tensor<128x512xf32>
  return %r : tensor<128x512xf32>
}
