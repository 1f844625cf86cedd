// RUN: nm-opt %s --convert-transpose-to-gpu --canonicalize --cse --split-input-file 2>%t.log | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.log
// REMARK-COUNT-3: remark: linalg.generic is a kernel that repeats rows of k

#id = affine_map<(d0, d1) -> (d0, d1)>

// A chunk is a window of 4:6, whose groups share a load, of each of four rows
// of m. The last window is not whole.
// CHECK-LABEL: func @window
// CHECK-SAME: %[[A:.*]]: memref<64x4096xf16>, %[[R:.*]]: memref<64x5464xf16, strided<[5504, 1]>>
// CHECK: gpu.launch blocks(%{{.*}}) in (%{{.*}} = %c96, {{.*}}) threads({{.*}}) in (%{{.*}} = %c128,
// CHECK-COUNT-12: vector.load %[[A]][{{.*}}] {alignment = 4 : i64} : memref<64x4096xf16>, vector<2xf16>
// CHECK-NOT: vector.load
// CHECK-COUNT-4: vector.store %{{.*}}, %[[R]][{{.*}}] {alignment = 16 : i64} : memref<64x5464xf16, strided<[5504, 1]>>, vector<8xf16>
// CHECK-NOT: vector.store
func.func @window(%a: memref<64x4096xf16>, %r: memref<64x5464xf16, strided<[5504, 1]>>) {
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c6 = arith.constant 6 : index
  %last = arith.constant 4095 : index
  %zero = arith.constant 0.0 : f16
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%r : memref<64x5464xf16, strided<[5504, 1]>>) attrs = {nm.windows = 6 : i64} {
  ^bb0(%o: f16):
    %m = linalg.index 0 : index
    %row = linalg.index 1 : index
    %group = arith.divui %row, %c4 : index
    %window = arith.divui %group, %c2 : index
    %first = arith.muli %window, %c6 : index
    %number = arith.remui %group, %c2 : index
    %step = arith.muli %number, %c2 : index
    %of_group = arith.addi %first, %step : index
    %in_group = arith.remui %row, %c4 : index
    %k = arith.addi %of_group, %in_group : index
    %inside = arith.minui %k, %last : index
    %x = memref.load %a[%m, %inside] : memref<64x4096xf16>
    %exists = arith.cmpi ule, %k, %last : index
    %y = arith.select %exists, %x, %zero : f16
    linalg.yield %y : f16
  }
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// Three groups of 6:8, and four in a chunk of 8 bits, which therefore has loads
// of its own for each; the last chunk of a row has one, and reads what would be
// the others' within A. Rows behind the last one are not stored.
// CHECK-LABEL: func @bytes
// CHECK-SAME: %[[A:.*]]: memref<?x88xf8E4M3FN>, %[[R:.*]]: memref<?x132xf8E4M3FN, strided<[256, 1]>>
// CHECK-COUNT-8: arith.minui %{{.*}}, %c86_i32 : i32
// CHECK-COUNT-32: vector.load %[[A]][{{.*}}] {alignment = 2 : i64} : memref<?x88xf8E4M3FN>, vector<2xf8E4M3FN>
// CHECK-NOT: vector.load
// CHECK: vector.store %{{.*}}, %[[R]][{{.*}}] {alignment = 16 : i64} : {{.*}}, vector<16xf8E4M3FN>
// CHECK: } else {
// CHECK: vector.store %{{.*}}, %[[R]][{{.*}}] {alignment = 4 : i64} : {{.*}}, vector<4xf8E4M3FN>
func.func @bytes(%a: memref<?x88xf8E4M3FN>, %r: memref<?x132xf8E4M3FN, strided<[256, 1]>>) {
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%r : memref<?x132xf8E4M3FN, strided<[256, 1]>>) attrs = {nm.windows = 8 : i64} {
  ^bb0(%o: f8E4M3FN):
    // What it reads is as in @window.
    %m = linalg.index 0 : index
    %k = linalg.index 1 : index
    %x = memref.load %a[%m, %k] : memref<?x88xf8E4M3FN>
    linalg.yield %x : f8E4M3FN
  }
  return
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// Of an A [k x m], chunks of the four rows of a group are copied.
// CHECK-LABEL: func @m_major
// CHECK-SAME: %[[A:.*]]: memref<96x1024xbf16>, %[[R:.*]]: memref<128x1024xbf16>
// CHECK-COUNT-4: vector.load %[[A]][{{.*}}] {alignment = 16 : i64} : memref<96x1024xbf16>, vector<8xbf16>
// CHECK-COUNT-4: vector.store %{{.*}}, %[[R]][{{.*}}] {alignment = 16 : i64} : memref<128x1024xbf16>, vector<8xbf16>
// CHECK-NOT: scf.if
func.func @m_major(%a: memref<96x1024xbf16>, %r: memref<128x1024xbf16>) {
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%r : memref<128x1024xbf16>) attrs = {nm.windows = 6 : i64} {
  ^bb0(%o: bf16):
    %k = linalg.index 0 : index
    %m = linalg.index 1 : index
    %x = memref.load %a[%k, %m] : memref<96x1024xbf16>
    linalg.yield %x : bf16
  }
  return
}
