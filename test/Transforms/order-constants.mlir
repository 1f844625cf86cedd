// RUN: nm-opt %s --nm-order-constants --split-input-file | FileCheck %s

// Constants of bufferization, the last one first, with the names that they get
// in order of their first use; all else stays.
// CHECK: memref.global "private" constant @__constant_3xi8
// CHECK-NEXT: memref.global "private" constant @__constant_2xf32_0 : memref<2xf32> = dense<[3.0{{.*}}, 4.0
// CHECK-NEXT: memref.global "private" constant @__constant_2xf32 : memref<2xf32> = dense<[1.0{{.*}}, 2.0{{.*}}]> {alignment = 64 : i64}
// CHECK-NEXT: memref.global "private" constant @table : memref<2xf32>
// CHECK-NEXT: memref.global "private" @__constant_2xf32_1 : memref<2xf32>
memref.global "private" constant @table : memref<2xf32> = dense<[5.0, 6.0]>
memref.global "private" @__constant_2xf32_1 : memref<2xf32> = dense<[7.0, 8.0]>
memref.global "private" constant @__constant_2xf32 : memref<2xf32> = dense<[3.0, 4.0]>
memref.global "private" constant @__constant_3xi8 : memref<3xi8> = dense<1>
memref.global "private" constant @__constant_2xf32_0 : memref<2xf32> = dense<[1.0, 2.0]> {alignment = 64}

// CHECK-LABEL: @first
// CHECK: memref.get_global @table
// CHECK: memref.get_global @__constant_2xf32 :
func.func @first() -> (memref<2xf32>, memref<2xf32>) {
  %t = memref.get_global @table : memref<2xf32>
  %0 = memref.get_global @__constant_2xf32_0 : memref<2xf32>
  return %t, %0 : memref<2xf32>, memref<2xf32>
}

// CHECK-LABEL: @second
// CHECK: memref.get_global @__constant_2xf32_0 :
// CHECK: memref.get_global @__constant_2xf32_1 :
// CHECK: memref.get_global @__constant_2xf32 :
// CHECK: memref.get_global @__constant_3xi8 :
func.func @second() -> (memref<2xf32>, memref<2xf32>, memref<2xf32>, memref<3xi8>) {
  %0 = memref.get_global @__constant_2xf32 : memref<2xf32>
  %1 = memref.get_global @__constant_2xf32_1 : memref<2xf32>
  %2 = memref.get_global @__constant_2xf32_0 : memref<2xf32>
  %3 = memref.get_global @__constant_3xi8 : memref<3xi8>
  return %0, %1, %2, %3 : memref<2xf32>, memref<2xf32>, memref<2xf32>, memref<3xi8>
}
