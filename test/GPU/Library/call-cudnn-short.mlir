// RUN: nm-opt %s --nm-call-cublas --canonicalize --split-input-file 2>&1 | FileCheck %s

// With wgmma, attention of few multiply-adds is the kernel's alone: 2^32 of them,
// and as many again where half are hidden.

#q = affine_map<(h, m, n, d, e) -> (h, m, d)>
#k = affine_map<(h, m, n, d, e) -> (h, n, d)>
#v = affine_map<(h, m, n, d, e) -> (h, n, e)>
#o = affine_map<(h, m, n, d, e) -> (h, m, e)>
#gq = affine_map<(h, g, m, n, d, e) -> (h, g, m, d)>
#gk = affine_map<(h, g, m, n, d, e) -> (h, n, d)>
#gv = affine_map<(h, g, m, n, d, e) -> (h, n, e)>
#go = affine_map<(h, g, m, n, d, e) -> (h, g, m, e)>
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

// Rows that are not known may be many.
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

// Of several rows, up to 16, keys and values of 48 MB are few, and of one row of
// 16 MB.
// CHECK-LABEL: func.func @few_rows(
// CHECK-NOT: call @
// CHECK: nm.attention
// CHECK-NEXT: return
func.func @few_rows(%q: memref<32x16x64xf16>, %k: memref<32x6144x64xf16>, %v: memref<32x6144x64xf16>, %o: memref<32x16x64xf16>) {
  %loaded = nm.has_cudnn
  scf.if %loaded {
    nm.attention indexing_maps = [#q, #k, #v, #o] scale = 1.0 ins(%q, %k, %v : memref<32x16x64xf16>, memref<32x6144x64xf16>, memref<32x6144x64xf16>) outs(%o : memref<32x16x64xf16>)
  } else {
    nm.attention indexing_maps = [#q, #k, #v, #o] scale = 1.0 ins(%q, %k, %v : memref<32x16x64xf16>, memref<32x6144x64xf16>, memref<32x6144x64xf16>) outs(%o : memref<32x16x64xf16>)
  }
  return
}

// CHECK-LABEL: func.func @few_rows_long(
// CHECK: call @nmCudnnTryAttention
func.func @few_rows_long(%q: memref<32x16x64xf16>, %k: memref<32x6145x64xf16>, %v: memref<32x6145x64xf16>, %o: memref<32x16x64xf16>) {
  %loaded = nm.has_cudnn
  scf.if %loaded {
    nm.attention indexing_maps = [#q, #k, #v, #o] scale = 1.0 ins(%q, %k, %v : memref<32x16x64xf16>, memref<32x6145x64xf16>, memref<32x6145x64xf16>) outs(%o : memref<32x16x64xf16>)
  } else {
    nm.attention indexing_maps = [#q, #k, #v, #o] scale = 1.0 ins(%q, %k, %v : memref<32x16x64xf16>, memref<32x6145x64xf16>, memref<32x6145x64xf16>) outs(%o : memref<32x16x64xf16>)
  }
  return
}

// CHECK-LABEL: func.func @row(
// CHECK-NOT: call @
// CHECK: nm.attention
// CHECK-NEXT: return
func.func @row(%q: memref<32x1x64xf16>, %k: memref<32x2048x64xf16>, %v: memref<32x2048x64xf16>, %o: memref<32x1x64xf16>) {
  %loaded = nm.has_cudnn
  scf.if %loaded {
    nm.attention indexing_maps = [#q, #k, #v, #o] scale = 1.0 ins(%q, %k, %v : memref<32x1x64xf16>, memref<32x2048x64xf16>, memref<32x2048x64xf16>) outs(%o : memref<32x1x64xf16>)
  } else {
    nm.attention indexing_maps = [#q, #k, #v, #o] scale = 1.0 ins(%q, %k, %v : memref<32x1x64xf16>, memref<32x2048x64xf16>, memref<32x2048x64xf16>) outs(%o : memref<32x1x64xf16>)
  }
  return
}

// CHECK-LABEL: func.func @row_long(
// CHECK: call @nmCudnnTryAttention
func.func @row_long(%q: memref<32x1x64xf16>, %k: memref<32x2049x64xf16>, %v: memref<32x2049x64xf16>, %o: memref<32x1x64xf16>) {
  %loaded = nm.has_cudnn
  scf.if %loaded {
    nm.attention indexing_maps = [#q, #k, #v, #o] scale = 1.0 ins(%q, %k, %v : memref<32x1x64xf16>, memref<32x2049x64xf16>, memref<32x2049x64xf16>) outs(%o : memref<32x1x64xf16>)
  } else {
    nm.attention indexing_maps = [#q, #k, #v, #o] scale = 1.0 ins(%q, %k, %v : memref<32x1x64xf16>, memref<32x2049x64xf16>, memref<32x2049x64xf16>) outs(%o : memref<32x1x64xf16>)
  }
  return
}

// Where heads of queries with several rows share keys, cuDNN reads them several
// times.
// CHECK-LABEL: func.func @shared(
// CHECK-NOT: call @
// CHECK: nm.attention
// CHECK-NEXT: return
func.func @shared(%q: memref<128x4x4x64xf16>, %k: memref<128x8192x64xf16>, %v: memref<128x8192x64xf16>, %o: memref<128x4x4x64xf16>) {
  %loaded = nm.has_cudnn
  scf.if %loaded {
    nm.attention indexing_maps = [#gq, #gk, #gv, #go] scale = 1.0 ins(%q, %k, %v : memref<128x4x4x64xf16>, memref<128x8192x64xf16>, memref<128x8192x64xf16>) outs(%o : memref<128x4x4x64xf16>)
  } else {
    nm.attention indexing_maps = [#gq, #gk, #gv, #go] scale = 1.0 ins(%q, %k, %v : memref<128x4x4x64xf16>, memref<128x8192x64xf16>, memref<128x8192x64xf16>) outs(%o : memref<128x4x4x64xf16>)
  }
  return
}

// CHECK-LABEL: func.func @shared_row(
// CHECK: call @nmCudnnTryAttention
func.func @shared_row(%q: memref<128x4x1x64xf16>, %k: memref<128x8192x64xf16>, %v: memref<128x8192x64xf16>, %o: memref<128x4x1x64xf16>) {
  %loaded = nm.has_cudnn
  scf.if %loaded {
    nm.attention indexing_maps = [#gq, #gk, #gv, #go] scale = 1.0 ins(%q, %k, %v : memref<128x4x1x64xf16>, memref<128x8192x64xf16>, memref<128x8192x64xf16>) outs(%o : memref<128x4x1x64xf16>)
  } else {
    nm.attention indexing_maps = [#gq, #gk, #gv, #go] scale = 1.0 ins(%q, %k, %v : memref<128x4x1x64xf16>, memref<128x8192x64xf16>, memref<128x8192x64xf16>) outs(%o : memref<128x4x1x64xf16>)
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
