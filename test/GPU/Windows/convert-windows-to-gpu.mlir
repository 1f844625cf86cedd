// RUN: nm-opt %s --split-input-file --convert-windows-to-gpu --canonicalize --cse | FileCheck %s
// RUN: nm-opt %s --split-input-file --convert-windows-to-gpu 2>&1 | FileCheck %s --check-prefix=REMARK

#image = affine_map<(n, y, x, c, s, t) -> (n, y * 2 + s, x * 2 + t, c)>
#window = affine_map<(n, y, x, c, s, t) -> (s, t)>
#place = affine_map<(n, y, x, c, s, t) -> (n, y, x, c)>

// Channels are last: a thread has eight of them, and reads the image, which is
// freed behind the kernel. A tap above or left of the image is the border, and
// loads another element; the others are inside for all places.

// REMARK: remark: linalg.generic is a kernel of windows of 9 elements, whose threads make 8 neighbours of vectors, and which reads the image without its padding

// CHECK-LABEL: func @channels_last
// CHECK-SAME: %[[SOURCE:.*]]: memref<32x112x112x64xf16>, %[[POOL:.*]]: memref<32x56x56x64xf16>
// CHECK-DAG: %[[LEAST:.*]] = arith.constant dense<0xFC00> : vector<8xf16>
// CHECK: %[[IMAGE:.*]] = memref.alloc() : memref<32x112x112x64xf16>
// CHECK: memref.copy %[[SOURCE]], %[[IMAGE]]
// CHECK-NOT: memref.alloc
// CHECK-NOT: linalg
// CHECK-DAG: %[[OUT:.*]] = memref.reinterpret_cast %[[POOL]] to offset: [0], sizes: [6422528], strides: [1]
// CHECK-DAG: %[[FLAT:.*]] = memref.reinterpret_cast %[[IMAGE]] to offset: [0], sizes: [25690112], strides: [1]
// CHECK: gpu.launch blocks({{.*}}) in (%{{.*}} = %c3136, {{.*}}threads({{.*}}) in (%{{.*}} = %c256,
// CHECK: %[[BELOW:.*]] = arith.cmpi ult, %{{.*}}, %c112{{.*}} : i32
// CHECK: %[[RIGHT:.*]] = arith.cmpi ult, %{{.*}}, %c112{{.*}} : i32
// CHECK: %[[BOTH:.*]] = arith.andi %[[BELOW]], %[[RIGHT]]
// CHECK: arith.select %[[BOTH]], %{{.*}}, %c0{{.*}} : i32
// CHECK: %[[FIRST:.*]] = vector.load %[[FLAT]]{{.*}} {alignment = 16 : i64} : {{.*}}, vector<8xf16>
// CHECK: %[[VALUE:.*]] = arith.select %[[BOTH]], %[[FIRST]], %[[LEAST]]
// CHECK: vector.load
// CHECK: %[[SECOND:.*]] = arith.select %[[BELOW]]{{.*}} : vector<8xf16>
// CHECK: arith.maximumf %[[SECOND]], %[[VALUE]] : vector<8xf16>
// CHECK-COUNT-7: vector.load
// CHECK-NOT: arith.cmpi
// CHECK: vector.store %{{.*}}, %[[OUT]]{{.*}} {alignment = 16 : i64}
// CHECK-NOT: gpu.launch
// CHECK: memref.dealloc %[[IMAGE]]
func.func @channels_last(%source: memref<32x112x112x64xf16>, %pool: memref<32x56x56x64xf16>) {
  %least = arith.constant 0xFC00 : f16
  %image = memref.alloc() : memref<32x112x112x64xf16>
  memref.copy %source, %image : memref<32x112x112x64xf16> to memref<32x112x112x64xf16>
  %padded = memref.alloc() : memref<32x114x114x64xf16>
  linalg.fill ins(%least : f16) outs(%padded : memref<32x114x114x64xf16>)
  %inner = memref.subview %padded[0, 1, 1, 0] [32, 112, 112, 64] [1, 1, 1, 1]
    : memref<32x114x114x64xf16> to memref<32x112x112x64xf16, strided<[831744, 7296, 64, 1], offset: 7360>>
  memref.copy %image, %inner
    : memref<32x112x112x64xf16> to memref<32x112x112x64xf16, strided<[831744, 7296, 64, 1], offset: 7360>>
  memref.dealloc %image : memref<32x112x112x64xf16>
  linalg.fill ins(%least : f16) outs(%pool : memref<32x56x56x64xf16>)
  %window = memref.alloc() : memref<3x3xf16>
  linalg.generic {indexing_maps = [#image, #window, #place],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%padded, %window : memref<32x114x114x64xf16>, memref<3x3xf16>)
      outs(%pool : memref<32x56x56x64xf16>) {
  ^bb0(%a: f16, %w: f16, %most: f16):
    %m = arith.maximumf %a, %most : f16
    linalg.yield %m : f16
  }
  memref.dealloc %window : memref<3x3xf16>
  memref.dealloc %padded : memref<32x114x114x64xf16>
  return
}

// -----

#image = affine_map<(n, c, y, s, t, x) -> (n, c, y * 2 + s, x * 2 + t)>
#window = affine_map<(n, c, y, s, t, x) -> (s, t)>
#place = affine_map<(n, c, y, s, t, x) -> (n, c, y, x)>

// Channels are first: a thread makes four neighbours of a row. It loads the
// eight elements at even places that their windows have by one access, and the
// one before them.

// REMARK: remark: linalg.generic is a kernel of windows of 9 elements, whose threads make 4 neighbours one by one, and which reads the image without its padding

// CHECK-LABEL: func @channels_first
// CHECK-NOT: memref.alloc
// CHECK-NOT: linalg
// CHECK: gpu.launch blocks({{.*}}) in (%{{.*}} = %c6272,
// CHECK: memref.load
// CHECK: vector.load {{.*}} {alignment = 16 : i64} : {{.*}}, vector<8xf16>
// CHECK: memref.load
// CHECK: vector.load {{.*}} {alignment = 16 : i64} : {{.*}}, vector<8xf16>
// CHECK: memref.load
// CHECK: vector.load {{.*}} {alignment = 16 : i64} : {{.*}}, vector<8xf16>
// CHECK-NOT: load
// CHECK: vector.from_elements
// CHECK: vector.store {{.*}} {alignment = 8 : i64} : {{.*}}, vector<4xf16>
func.func @channels_first(%image: memref<32x64x112x112xf16>, %pool: memref<32x64x56x56xf16>) {
  %least = arith.constant 0xFC00 : f16
  %padded = memref.alloc() : memref<32x64x114x120xf16>
  %rows = memref.subview %padded[0, 0, 0, 0] [32, 64, 114, 114] [1, 1, 1, 1]
    : memref<32x64x114x120xf16> to memref<32x64x114x114xf16, strided<[875520, 13680, 120, 1]>>
  linalg.map outs(%rows : memref<32x64x114x114xf16, strided<[875520, 13680, 120, 1]>>) (%old: f16) {
    linalg.yield %least : f16
  }
  %inner = memref.subview %rows[0, 0, 1, 1] [32, 64, 112, 112] [1, 1, 1, 1]
    : memref<32x64x114x114xf16, strided<[875520, 13680, 120, 1]>> to memref<32x64x112x112xf16, strided<[875520, 13680, 120, 1], offset: 121>>
  memref.copy %image, %inner
    : memref<32x64x112x112xf16> to memref<32x64x112x112xf16, strided<[875520, 13680, 120, 1], offset: 121>>
  linalg.fill ins(%least : f16) outs(%pool : memref<32x64x56x56xf16>)
  %window = memref.alloc() : memref<3x3xf16>
  linalg.generic {indexing_maps = [#image, #window, #place],
      iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "parallel"]}
      ins(%rows, %window : memref<32x64x114x114xf16, strided<[875520, 13680, 120, 1]>>, memref<3x3xf16>)
      outs(%pool : memref<32x64x56x56xf16>) {
  ^bb0(%a: f16, %w: f16, %most: f16):
    %m = arith.maximumf %a, %most : f16
    linalg.yield %m : f16
  }
  memref.dealloc %window : memref<3x3xf16>
  memref.dealloc %padded : memref<32x64x114x120xf16>
  return
}

// -----

#image = affine_map<(x, c, t) -> (x + t, c)>
#taps = affine_map<(x, c, t) -> (t, c)>
#place = affine_map<(x, c, t) -> (x, c)>
#id = affine_map<(x, c) -> (x, c)>

// An op makes the image within its border, which is then not filled. The output
// is read, for nothing fills it.

// CHECK-LABEL: func @made_in_place
// CHECK-SAME: %{{.*}}: memref<8x16xf32>, %[[WEIGHTS:.*]]: memref<3x16xf32>, %[[OUT:.*]]: memref<8x16xf32>
// CHECK: memref.alloc
// CHECK-NOT: linalg.fill
// CHECK: %[[INNER:.*]] = memref.subview
// CHECK: linalg.generic
// CHECK-DAG: %[[TO:.*]] = memref.reinterpret_cast %[[OUT]]
// CHECK-DAG: %[[FROM:.*]] = memref.reinterpret_cast %[[INNER]] to offset: [16], sizes: [128], strides: [1]
// CHECK-DAG: %[[TAPS:.*]] = memref.reinterpret_cast %[[WEIGHTS]]
// CHECK: gpu.launch
// CHECK: %[[START:.*]] = vector.load %[[TO]]
// CHECK: vector.load %[[FROM]]
// CHECK: %[[WEIGHT:.*]] = vector.load %[[TAPS]]
// CHECK: %[[PRODUCT:.*]] = arith.mulf %{{.*}}, %[[WEIGHT]] : vector<4xf32>
// CHECK: arith.addf %[[START]], %[[PRODUCT]]
func.func @made_in_place(%x: memref<8x16xf32>, %weights: memref<3x16xf32>, %out: memref<8x16xf32>) {
  %zero = arith.constant 0.0 : f32
  %padded = memref.alloc() : memref<10x16xf32>
  linalg.fill ins(%zero : f32) outs(%padded : memref<10x16xf32>)
  %inner = memref.subview %padded[1, 0] [8, 16] [1, 1]
    : memref<10x16xf32> to memref<8x16xf32, strided<[16, 1], offset: 16>>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<8x16xf32>) outs(%inner : memref<8x16xf32, strided<[16, 1], offset: 16>>) {
  ^bb0(%a: f32, %old: f32):
    %s = arith.addf %a, %a : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#image, #taps, #place], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%padded, %weights : memref<10x16xf32>, memref<3x16xf32>) outs(%out : memref<8x16xf32>) {
  ^bb0(%a: f32, %w: f32, %sum: f32):
    %p = arith.mulf %a, %w : f32
    %s = arith.addf %sum, %p : f32
    linalg.yield %s : f32
  }
  memref.dealloc %padded : memref<10x16xf32>
  return
}

// -----

#image = affine_map<(x, t) -> (x + t)>
#taps = affine_map<(x, t) -> (t)>
#place = affine_map<(x, t) -> (x)>

// What pads stays where another op reads it, too; the kernel does not.

// CHECK-LABEL: func @read_twice
// CHECK: linalg.fill
// CHECK: memref.copy %{{.*}}, %{{.*}} : memref<8xi32> to
// CHECK: gpu.launch
// CHECK: memref.copy %{{.*}}, %{{.*}} : memref<10xi32> to memref<10xi32>

// REMARK: remark: linalg.generic is a kernel of windows of 3 elements, whose threads make 4 neighbours one by one, and which reads the image without its padding
func.func @read_twice(%image: memref<8xi32>, %out: memref<8xi32>, %all: memref<10xi32>) {
  %zero = arith.constant 0 : i32
  %padded = memref.alloc() : memref<10xi32>
  linalg.fill ins(%zero : i32) outs(%padded : memref<10xi32>)
  %inner = memref.subview %padded[1] [8] [1] : memref<10xi32> to memref<8xi32, strided<[1], offset: 1>>
  memref.copy %image, %inner : memref<8xi32> to memref<8xi32, strided<[1], offset: 1>>
  %window = memref.alloc() : memref<3xi32>
  linalg.generic {indexing_maps = [#image, #taps, #place], iterator_types = ["parallel", "reduction"]}
      ins(%padded, %window : memref<10xi32>, memref<3xi32>) outs(%out : memref<8xi32>) {
  ^bb0(%a: i32, %w: i32, %sum: i32):
    %s = arith.addi %sum, %a : i32
    linalg.yield %s : i32
  }
  memref.copy %padded, %all : memref<10xi32> to memref<10xi32>
  memref.dealloc %padded : memref<10xi32>
  return
}

// -----

#image = affine_map<(x, t) -> (x + t)>
#taps = affine_map<(x, t) -> (t)>
#place = affine_map<(x, t) -> (x)>

// The image is written between its copy and its use, so that the copy is read.

// CHECK-LABEL: func @written_between
// CHECK: linalg.fill
// CHECK: memref.copy
// CHECK: linalg.fill
// CHECK: gpu.launch

// REMARK: remark: linalg.generic is a kernel of windows of 3 elements, whose threads make 4 neighbours one by one{{$}}
func.func @written_between(%image: memref<8xi32>, %out: memref<8xi32>) {
  %zero = arith.constant 0 : i32
  %padded = memref.alloc() : memref<10xi32>
  linalg.fill ins(%zero : i32) outs(%padded : memref<10xi32>)
  %inner = memref.subview %padded[1] [8] [1] : memref<10xi32> to memref<8xi32, strided<[1], offset: 1>>
  memref.copy %image, %inner : memref<8xi32> to memref<8xi32, strided<[1], offset: 1>>
  linalg.fill ins(%zero : i32) outs(%image : memref<8xi32>)
  %window = memref.alloc() : memref<3xi32>
  linalg.generic {indexing_maps = [#image, #taps, #place], iterator_types = ["parallel", "reduction"]}
      ins(%padded, %window : memref<10xi32>, memref<3xi32>) outs(%out : memref<8xi32>) {
  ^bb0(%a: i32, %w: i32, %sum: i32):
    %s = arith.addi %sum, %a : i32
    linalg.yield %s : i32
  }
  memref.dealloc %padded : memref<10xi32>
  return
}

// -----

#image = affine_map<(x, t) -> (x + t)>
#taps = affine_map<(x, t) -> (t)>
#place = affine_map<(x, t) -> (x)>

// A part of what pads is written once more, and a part of the output, too,
// behind the fill of all of it.

// CHECK-LABEL: func @written_again
// CHECK-SAME: %{{.*}}: memref<8xi32>, %{{.*}}: memref<3xi32>, %[[OUT:.*]]: memref<8xi32>
// CHECK: linalg.fill
// CHECK: memref.copy
// CHECK: memref.copy
// CHECK: linalg.fill
// CHECK: memref.copy
// CHECK: %[[TO:.*]] = memref.reinterpret_cast %[[OUT]]
// CHECK: gpu.launch
// CHECK: vector.load %[[TO]]

// REMARK: remark: linalg.generic is a kernel of windows of 3 elements, whose threads make 4 neighbours one by one{{$}}
func.func @written_again(%image: memref<8xi32>, %three: memref<3xi32>, %out: memref<8xi32>) {
  %zero = arith.constant 0 : i32
  %padded = memref.alloc() : memref<10xi32>
  linalg.fill ins(%zero : i32) outs(%padded : memref<10xi32>)
  %inner = memref.subview %padded[1] [8] [1] : memref<10xi32> to memref<8xi32, strided<[1], offset: 1>>
  memref.copy %image, %inner : memref<8xi32> to memref<8xi32, strided<[1], offset: 1>>
  %part = memref.subview %padded[2] [3] [1] : memref<10xi32> to memref<3xi32, strided<[1], offset: 2>>
  memref.copy %three, %part : memref<3xi32> to memref<3xi32, strided<[1], offset: 2>>
  linalg.fill ins(%zero : i32) outs(%out : memref<8xi32>)
  %begin = memref.subview %out[0] [3] [1] : memref<8xi32> to memref<3xi32, strided<[1]>>
  memref.copy %three, %begin : memref<3xi32> to memref<3xi32, strided<[1]>>
  %window = memref.alloc() : memref<3xi32>
  linalg.generic {indexing_maps = [#image, #taps, #place], iterator_types = ["parallel", "reduction"]}
      ins(%padded, %window : memref<10xi32>, memref<3xi32>) outs(%out : memref<8xi32>) {
  ^bb0(%a: i32, %w: i32, %sum: i32):
    %s = arith.addi %sum, %a : i32
    linalg.yield %s : i32
  }
  memref.dealloc %padded : memref<10xi32>
  return
}

// -----

// A named pool; sizes that are not known are of its index arithmetic.

// REMARK: remark: linalg.pooling_nhwc_sum is a kernel of windows of 4 elements, whose threads make 4 neighbours of vectors{{$}}

// CHECK-LABEL: func @named
// CHECK: gpu.launch
// CHECK: vector.load
// CHECK-COUNT-4: arith.addf {{.*}} : vector<4xf32>
// CHECK: vector.store
func.func @named(%image: memref<?x6x6x4xf32>, %window: memref<2x2xf32>, %pool: memref<?x3x3x4xf32>) {
  linalg.pooling_nhwc_sum {strides = dense<2> : tensor<2xi64>}
      ins(%image, %window : memref<?x6x6x4xf32>, memref<2x2xf32>) outs(%pool : memref<?x3x3x4xf32>)
  return
}

// -----

#image = affine_map<(x, t) -> (x + t)>
#taps = affine_map<(x, t) -> (t)>
#place = affine_map<(x, t) -> (x)>
#row = affine_map<(x, t) -> (x, t)>

// Left: places of elements, reductions of rows, and of few elements.

// CHECK-LABEL: func @left
// CHECK-NOT: gpu.launch
// REMARK-NOT: remark
func.func @left(%image: memref<10xi32>, %x: memref<8x30xi32>, %y: memref<8x3xi32>, %out: memref<8xi32>) {
  %window = memref.alloc() : memref<3xi32>
  linalg.generic {indexing_maps = [#image, #taps, #place], iterator_types = ["parallel", "reduction"]}
      ins(%image, %window : memref<10xi32>, memref<3xi32>) outs(%out : memref<8xi32>) {
  ^bb0(%a: i32, %w: i32, %sum: i32):
    %i = linalg.index 1 : index
    %j = arith.index_cast %i : index to i32
    %s = arith.addi %sum, %j : i32
    linalg.yield %s : i32
  }
  linalg.generic {indexing_maps = [#row, #place], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<8x30xi32>) outs(%out : memref<8xi32>) {
  ^bb0(%a: i32, %sum: i32):
    %s = arith.addi %sum, %a : i32
    linalg.yield %s : i32
  }
  linalg.generic {indexing_maps = [#row, #place], iterator_types = ["parallel", "reduction"]}
      ins(%y : memref<8x3xi32>) outs(%out : memref<8xi32>) {
  ^bb0(%a: i32, %sum: i32):
    %s = arith.addi %sum, %a : i32
    linalg.yield %s : i32
  }
  return
}
