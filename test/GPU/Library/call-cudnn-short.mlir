// RUN: nm-opt %s --nm-call-cublas --canonicalize --split-input-file 2>&1 | FileCheck %s

// With wgmma, attention of few multiply-adds is the kernel's alone: 2^32 of them,
// and as many again where half are hidden.

#q = affine_map<(h, m, n, d, e) -> (h, m, d)>
#k = affine_map<(h, m, n, d, e) -> (h, n, d)>
#v = affine_map<(h, m, n, d, e) -> (h, n, e)>
#o = affine_map<(h, m, n, d, e) -> (h, m, e)>
module attributes {nm.chip = #nm.chip<"sm_90a">} {
// CHECK: remark: attention is a kernel, which takes no longer than a call of cuDNN
// CHECK-LABEL: func.func @short
// CHECK-NOT: call @
// CHECK: nm.attention
// CHECK-NEXT: return
func.func @short(%q: memref<32x1024x64xf16>, %k: memref<32x1024x64xf16>, %v: memref<32x1024x64xf16>, %o: memref<32x1024x64xf16>) {
  %loaded = nm.has_cudnn
  scf.if %loaded {
    nm.attention indexing_maps = [#q, #k, #v, #o] scale = 1.0 ins(%q, %k, %v : memref<32x1024x64xf16>, memref<32x1024x64xf16>, memref<32x1024x64xf16>) outs(%o : memref<32x1024x64xf16>)
  } else {
    nm.attention indexing_maps = [#q, #k, #v, #o] scale = 1.0 ins(%q, %k, %v : memref<32x1024x64xf16>, memref<32x1024x64xf16>, memref<32x1024x64xf16>) outs(%o : memref<32x1024x64xf16>)
  }
  return
}

// CHECK-LABEL: func.func @long
// CHECK: call @nmCudnnTryAttention
func.func @long(%q: memref<32x1024x64xf16>, %k: memref<32x1056x64xf16>, %v: memref<32x1056x64xf16>, %o: memref<32x1024x64xf16>) {
  %loaded = nm.has_cudnn
  scf.if %loaded {
    nm.attention indexing_maps = [#q, #k, #v, #o] scale = 1.0 ins(%q, %k, %v : memref<32x1024x64xf16>, memref<32x1056x64xf16>, memref<32x1056x64xf16>) outs(%o : memref<32x1024x64xf16>)
  } else {
    nm.attention indexing_maps = [#q, #k, #v, #o] scale = 1.0 ins(%q, %k, %v : memref<32x1024x64xf16>, memref<32x1056x64xf16>, memref<32x1056x64xf16>) outs(%o : memref<32x1024x64xf16>)
  }
  return
}

// CHECK-LABEL: func.func @causal
// CHECK-NOT: call @
// CHECK: nm.attention
// CHECK-NEXT: return
func.func @causal(%q: memref<32x1024x64xf16>, %k: memref<32x1056x64xf16>, %v: memref<32x1056x64xf16>, %o: memref<32x1024x64xf16>) {
  %loaded = nm.has_cudnn
  scf.if %loaded {
    nm.attention indexing_maps = [#q, #k, #v, #o] scale = 1.0 causal ins(%q, %k, %v : memref<32x1024x64xf16>, memref<32x1056x64xf16>, memref<32x1056x64xf16>) outs(%o : memref<32x1024x64xf16>)
  } else {
    nm.attention indexing_maps = [#q, #k, #v, #o] scale = 1.0 causal ins(%q, %k, %v : memref<32x1024x64xf16>, memref<32x1056x64xf16>, memref<32x1056x64xf16>) outs(%o : memref<32x1024x64xf16>)
  }
  return
}

// Rows that are not known may be many, and of few rows cuDNN's is as fast.
// CHECK-LABEL: func.func @unknown
// CHECK: call @nmCudnnTryAttention
func.func @unknown(%q: memref<32x?x64xf16>, %k: memref<32x64x64xf16>, %v: memref<32x64x64xf16>, %o: memref<32x?x64xf16>) {
  %loaded = nm.has_cudnn
  scf.if %loaded {
    nm.attention indexing_maps = [#q, #k, #v, #o] scale = 1.0 ins(%q, %k, %v : memref<32x?x64xf16>, memref<32x64x64xf16>, memref<32x64x64xf16>) outs(%o : memref<32x?x64xf16>)
  } else {
    nm.attention indexing_maps = [#q, #k, #v, #o] scale = 1.0 ins(%q, %k, %v : memref<32x?x64xf16>, memref<32x64x64xf16>, memref<32x64x64xf16>) outs(%o : memref<32x?x64xf16>)
  }
  return
}

// CHECK-LABEL: func.func @few
// CHECK: call @nmCudnnTryAttention
func.func @few(%q: memref<32x16x64xf16>, %k: memref<32x1024x64xf16>, %v: memref<32x1024x64xf16>, %o: memref<32x16x64xf16>) {
  %loaded = nm.has_cudnn
  scf.if %loaded {
    nm.attention indexing_maps = [#q, #k, #v, #o] scale = 1.0 ins(%q, %k, %v : memref<32x16x64xf16>, memref<32x1024x64xf16>, memref<32x1024x64xf16>) outs(%o : memref<32x16x64xf16>)
  } else {
    nm.attention indexing_maps = [#q, #k, #v, #o] scale = 1.0 ins(%q, %k, %v : memref<32x16x64xf16>, memref<32x1024x64xf16>, memref<32x1024x64xf16>) outs(%o : memref<32x16x64xf16>)
  }
  return
}

// Of few rows and few keys the kernel is one, which starts early. 16 rows and 128
// keys are few.
// CHECK-LABEL: func.func @one_part
// CHECK-NOT: call @
// CHECK: nm.attention
// CHECK-NEXT: return
func.func @one_part(%q: memref<32x16x64xf16>, %k: memref<32x128x64xf16>, %v: memref<32x128x64xf16>, %o: memref<32x16x64xf16>) {
  %loaded = nm.has_cudnn
  scf.if %loaded {
    nm.attention indexing_maps = [#q, #k, #v, #o] scale = 1.0 ins(%q, %k, %v : memref<32x16x64xf16>, memref<32x128x64xf16>, memref<32x128x64xf16>) outs(%o : memref<32x16x64xf16>)
  } else {
    nm.attention indexing_maps = [#q, #k, #v, #o] scale = 1.0 ins(%q, %k, %v : memref<32x16x64xf16>, memref<32x128x64xf16>, memref<32x128x64xf16>) outs(%o : memref<32x16x64xf16>)
  }
  return
}

// CHECK-LABEL: func.func @parts
// CHECK: call @nmCudnnTryAttention
func.func @parts(%q: memref<32x16x64xf16>, %k: memref<32x129x64xf16>, %v: memref<32x129x64xf16>, %o: memref<32x16x64xf16>) {
  %loaded = nm.has_cudnn
  scf.if %loaded {
    nm.attention indexing_maps = [#q, #k, #v, #o] scale = 1.0 ins(%q, %k, %v : memref<32x16x64xf16>, memref<32x129x64xf16>, memref<32x129x64xf16>) outs(%o : memref<32x16x64xf16>)
  } else {
    nm.attention indexing_maps = [#q, #k, #v, #o] scale = 1.0 ins(%q, %k, %v : memref<32x16x64xf16>, memref<32x129x64xf16>, memref<32x129x64xf16>) outs(%o : memref<32x16x64xf16>)
  }
  return
}
}

// -----

// Without wgmma cuDNN's is the faster one.

#q = affine_map<(h, m, n, d, e) -> (h, m, d)>
#k = affine_map<(h, m, n, d, e) -> (h, n, d)>
#v = affine_map<(h, m, n, d, e) -> (h, n, e)>
#o = affine_map<(h, m, n, d, e) -> (h, m, e)>
module attributes {nm.chip = #nm.chip<"sm_80">} {
// CHECK-LABEL: func.func @without
// CHECK: call @nmCudnnTryAttention
func.func @without(%q: memref<32x1024x64xf16>, %k: memref<32x1024x64xf16>, %v: memref<32x1024x64xf16>, %o: memref<32x1024x64xf16>) {
  %loaded = nm.has_cudnn
  scf.if %loaded {
    nm.attention indexing_maps = [#q, #k, #v, #o] scale = 1.0 ins(%q, %k, %v : memref<32x1024x64xf16>, memref<32x1024x64xf16>, memref<32x1024x64xf16>) outs(%o : memref<32x1024x64xf16>)
  } else {
    nm.attention indexing_maps = [#q, #k, #v, #o] scale = 1.0 ins(%q, %k, %v : memref<32x1024x64xf16>, memref<32x1024x64xf16>, memref<32x1024x64xf16>) outs(%o : memref<32x1024x64xf16>)
  }
  return
}
}
