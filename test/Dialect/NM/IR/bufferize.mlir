// RUN: nm-opt %s --one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" --canonicalize --cse --canonicalize --split-input-file | FileCheck %s

// A product accumulates in place, in the memory of its destination.

// CHECK-LABEL: func.func @in_place
// CHECK-SAME: %[[A:.*]]: memref<?x64xf32>, %[[V:.*]]: memref<32x48xf32>, %[[I:.*]]: memref<32x48xi8>, %[[C:.*]]: memref<?x48xf32>
func.func @in_place(%a: tensor<?x64xf32>, %v: tensor<32x48xf32>, %i: tensor<32x48xi8>, %c: tensor<?x48xf32>) -> tensor<?x48xf32> {
  // CHECK-NOT: memref.alloc
  // CHECK: nm.spmm <2:4> ins(%[[A]], %[[V]], %[[I]] : {{.*}}) outs(%[[C]] : {{.*}})
  // CHECK: return %[[C]]
  %r = nm.spmm <2:4> ins(%a, %v, %i : tensor<?x64xf32>, tensor<32x48xf32>, tensor<32x48xi8>)
    outs(%c : tensor<?x48xf32>) -> tensor<?x48xf32>
  return %r : tensor<?x48xf32>
}

// -----

// Its destination is read later: the product gets a copy of it, as it
// accumulates.

// CHECK-LABEL: func.func @destination_read_later
// CHECK-SAME: %[[C:[^:]*]]: memref<3x48xf32>
func.func @destination_read_later(%c: tensor<3x48xf32>, %a: tensor<3x64xf32>, %v: tensor<32x48xf32>, %i: tensor<32x48xi8>)
    -> (tensor<3x48xf32>, tensor<3x48xf32>) {
  // CHECK: %[[COPY:.*]] = memref.alloc()
  // CHECK: memref.copy %[[C]], %[[COPY]]
  // CHECK: nm.spmm {{.*}} outs(%[[COPY]] : memref<3x48xf32>)
  // CHECK: return %[[COPY]], %[[C]]
  %r = nm.spmm <2:4> ins(%a, %v, %i : tensor<3x64xf32>, tensor<32x48xf32>, tensor<32x48xi8>)
    outs(%c : tensor<3x48xf32>) -> tensor<3x48xf32>
  return %r, %c : tensor<3x48xf32>, tensor<3x48xf32>
}

// -----

// A product of an output with itself reads what it writes: A is another buffer
// than C.

// CHECK-LABEL: func.func @input_is_destination
// CHECK-SAME: %[[A:[^:]*]]: memref<3x48xf32>
func.func @input_is_destination(%a: tensor<3x48xf32>, %v: tensor<24x48xf32>, %i: tensor<24x48xi8>) -> tensor<3x48xf32> {
  // CHECK: %[[COPY:.*]] = memref.alloc()
  // CHECK: memref.copy %[[A]], %[[COPY]]
  // CHECK: nm.spmm <2:4> ins(%[[A]], {{.*}}) outs(%[[COPY]] : memref<3x48xf32>)
  // CHECK: return %[[COPY]]
  %r = nm.spmm <2:4> ins(%a, %v, %i : tensor<3x48xf32>, tensor<24x48xf32>, tensor<24x48xi8>)
    outs(%a : tensor<3x48xf32>) -> tensor<3x48xf32>
  return %r : tensor<3x48xf32>
}

// -----

// Format ops overwrite their destinations: what these held is not copied.

// CHECK-LABEL: func.func @formats
// CHECK-SAME: %[[W:[^:]*]]: memref<48x64xf16>, %[[V:[^:]*]]: memref<32x48xf16>, %[[I:[^:]*]]: memref<32x48xi8>
func.func @formats(%w: tensor<48x64xf16>, %v0: tensor<32x48xf16>, %i0: tensor<32x48xi8>)
    -> (tensor<3x32x16xf16>, tensor<3x32x4xi8>, tensor<32x48xf16>, tensor<48x64xf16>, tensor<48x64xf16>) {
  // CHECK-NOT: memref.copy
  // CHECK: %[[P:.*]] = memref.alloc() {{.*}} : memref<48x64xf16>
  // CHECK: nm.prune <2:4> dim 1 ins(%[[W]] : memref<48x64xf16>) outs(%[[P]] : memref<48x64xf16>)
  %p0 = tensor.empty() : tensor<48x64xf16>
  %p = nm.prune <2:4> dim 1 ins(%w : tensor<48x64xf16>) outs(%p0 : tensor<48x64xf16>) -> tensor<48x64xf16>
  // CHECK: nm.compress <2:4> dim 1 ins(%[[P]] : memref<48x64xf16>) outs(%[[V]], %[[I]] : memref<32x48xf16>, memref<32x48xi8>)
  %v, %i = nm.compress <2:4> dim 1 ins(%p : tensor<48x64xf16>)
    outs(%v0, %i0 : tensor<32x48xf16>, tensor<32x48xi8>) -> tensor<32x48xf16>, tensor<32x48xi8>
  // CHECK: %[[PV:.*]] = memref.alloc() {{.*}} : memref<3x32x16xf16>
  // CHECK: %[[PI:.*]] = memref.alloc() {{.*}} : memref<3x32x4xi8>
  // CHECK: nm.pack <2:4> #nm.packing<panel = 16, index_bits = 2> ins(%[[V]], %[[I]] : {{.*}}) outs(%[[PV]], %[[PI]] : {{.*}})
  %pv0 = tensor.empty() : tensor<3x32x16xf16>
  %pi0 = tensor.empty() : tensor<3x32x4xi8>
  %pv, %pi = nm.pack <2:4> #nm.packing<panel = 16, index_bits = 2> ins(%v, %i : tensor<32x48xf16>, tensor<32x48xi8>)
    outs(%pv0, %pi0 : tensor<3x32x16xf16>, tensor<3x32x4xi8>) -> tensor<3x32x16xf16>, tensor<3x32x4xi8>
  // CHECK: %[[D:.*]] = memref.alloc() {{.*}} : memref<48x64xf16>
  // CHECK: nm.decompress <2:4> dim 1 ins(%{{.*}}, %{{.*}} : {{.*}}) outs(%[[D]] : memref<48x64xf16>)
  %d0 = tensor.empty() : tensor<48x64xf16>
  %i1 = arith.constant dense<0> : tensor<32x48xi8>
  %d = nm.decompress <2:4> dim 1 ins(%v, %i1 : tensor<32x48xf16>, tensor<32x48xi8>)
    outs(%d0 : tensor<48x64xf16>) -> tensor<48x64xf16>
  // CHECK: return %[[PV]], %[[PI]], %[[V]], %[[P]], %[[D]]
  return %pv, %pi, %v, %p, %d : tensor<3x32x16xf16>, tensor<3x32x4xi8>, tensor<32x48xf16>, tensor<48x64xf16>, tensor<48x64xf16>
}

// -----

// A tile writes its part of the output where it lies.

// CHECK-LABEL: func.func @tiles
// CHECK-SAME: %[[A:.*]]: memref<6x64xf32>, {{.*}} %[[C:[^:]*]]: memref<6x48xf32>)
func.func @tiles(%a: tensor<6x64xf32>, %v: tensor<32x48xf32>, %i: tensor<32x48xi8>, %c: tensor<6x48xf32>) -> tensor<6x48xf32> {
  // CHECK-NOT: memref.alloc
  // CHECK: scf.forall (%[[M:.*]]) = (0) to (6) step (2)
  // CHECK-DAG: %[[AT:.*]] = memref.subview %[[A]][%[[M]], 0] [2, 64] [1, 1]
  // CHECK-DAG: %[[CT:.*]] = memref.subview %[[C]][%[[M]], 0] [2, 48] [1, 1]
  // CHECK: nm.spmm <2:4> ins(%[[AT]], {{.*}}) outs(%[[CT]] : {{.*}})
  // CHECK-NOT: memref.copy
  %r = scf.forall (%m) = (0) to (6) step (2) shared_outs(%out = %c) -> (tensor<6x48xf32>) {
    %at = tensor.extract_slice %a[%m, 0] [2, 64] [1, 1] : tensor<6x64xf32> to tensor<2x64xf32>
    %ct = tensor.extract_slice %out[%m, 0] [2, 48] [1, 1] : tensor<6x48xf32> to tensor<2x48xf32>
    %t = nm.spmm <2:4> ins(%at, %v, %i : tensor<2x64xf32>, tensor<32x48xf32>, tensor<32x48xi8>)
      outs(%ct : tensor<2x48xf32>) -> tensor<2x48xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %t into %out[%m, 0] [2, 48] [1, 1] : tensor<2x48xf32> into tensor<6x48xf32>
    }
  }
  return %r : tensor<6x48xf32>
}

// -----

// An epilogue makes C: what that had is not read, so that no copy is made of
// it, though it is read later.

// CHECK-LABEL: func.func @epilogue
// CHECK-SAME: %[[C:[^:]*]]: memref<3x48xf32>, {{.*}}, %[[B:[^:]*]]: memref<48xf32>)
func.func @epilogue(%c: tensor<3x48xf32>, %a: tensor<3x64xf32>, %v: tensor<32x48xf32>, %i: tensor<32x48xi8>, %b: tensor<48xf32>)
    -> (tensor<3x48xf32>, tensor<3x48xf32>) {
  // CHECK: %[[NEW:.*]] = memref.alloc()
  // CHECK-NOT: memref.copy
  // CHECK: nm.spmm <2:4> arithmetic <tf32> ins({{.*}}) outs(%[[NEW]] : {{.*}}) epilogue ins(%[[B]] : memref<48xf32>)
  %r = nm.spmm <2:4> arithmetic <tf32> ins(%a, %v, %i : tensor<3x64xf32>, tensor<32x48xf32>, tensor<32x48xi8>)
    outs(%c : tensor<3x48xf32>) -> tensor<3x48xf32>
    epilogue ins(%b : tensor<48xf32>) maps [affine_map<(m, n) -> (n)>] {
    ^bb0(%s: f32, %x: f32):
      %y = arith.addf %s, %x : f32
      nm.yield %y : f32
    }
  return %r, %c : tensor<3x48xf32>, tensor<3x48xf32>
}
