// RUN: nm-opt %s --nm-attach-chip=chip=sm_90a --nm-stage-shared-memory --convert-nm-to-gpu --canonicalize | FileCheck %s

// Tiles with the swizzle of 128-byte rows start at multiples of 1024 bytes,
// behind a buffer of 128 bytes, too; what is not swizzled at multiples of 128,
// or of what it says itself.
// CHECK-LABEL: func.func @behind_a_line
// CHECK: dynamic_shared_memory_size %[[BYTES:.*]] {
// CHECK: %[[MEMORY:.*]] = gpu.dynamic_shared_memory
// CHECK-DAG: memref.view %[[MEMORY]][%c0][] : {{.*}} to memref<64xf16
// CHECK-DAG: memref.view %[[MEMORY]][%c128][] : {{.*}} to memref<64xf32
// CHECK-DAG: memref.view %[[MEMORY]][%c512][] {nm.alignment = 512 : i64} : {{.*}} to memref<32xf32
// CHECK-DAG: memref.view %[[MEMORY]][%c1024][] {nm.alignment = 1024 : i64} : {{.*}} to memref<2048xf16
// CHECK-DAG: memref.view %[[MEMORY]][%c5120][] {nm.alignment = 1024 : i64} : {{.*}} to memref<4096xf16
func.func @behind_a_line(%a: memref<128x64xf16>, %v: memref<1x32x128xf16>, %i: memref<1x32x1xi8>, %c: memref<64x128xf32>, %l: memref<64xf16>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  scf.forall (%m, %n) in (1, 1) {
    %line = memref.alloc() : memref<64xf16, #gpu.address_space<workgroup>>
    %two = memref.alloc() : memref<64xf32, #gpu.address_space<workgroup>>
    %far = memref.alloc() {alignment = 512} : memref<32xf32, #gpu.address_space<workgroup>>
    %x = memref.load %l[%c0] : memref<64xf16>
    memref.store %x, %line[%c0] : memref<64xf16, #gpu.address_space<workgroup>>
    memref.store %zero, %two[%c0] : memref<64xf32, #gpu.address_space<workgroup>>
    memref.store %zero, %far[%c0] : memref<32xf32, #gpu.address_space<workgroup>>
    linalg.fill ins(%zero : f32) outs(%c : memref<64x128xf32>)
    nm.spmm <8:32, block = 1x128> transpose_a packing #nm.packing<panel = 128, index_bits = 8>
      schedule #nm.wgmma<block = [64, 128, 128], warpgroup = [64, 64], stages = 3, packing = <panel = 128, index_bits = 8>>
      ins(%a, %v, %i : memref<128x64xf16>, memref<1x32x128xf16>, memref<1x32x1xi8>)
      outs(%c : memref<64x128xf32>)
  } {mapping = [#gpu.block<linear_dim_1>, #gpu.block<linear_dim_0>]}
  return
}
