// RUN: nm-opt %s --split-input-file --convert-windows-to-gpu --canonicalize --cse | FileCheck %s
// RUN: nm-opt %s --split-input-file --convert-windows-to-gpu 2>&1 | FileCheck %s --check-prefix=REMARK

#image = affine_map<(n, c, h, w) -> (n, h, w, c)>
#sum = affine_map<(n, c, h, w) -> (n, c)>
#id = affine_map<(n, c) -> (n, c)>

// The mean of an image whose channels are last, which is freed behind the
// kernel: sixteen threads have a part each of eight channels, and read three or
// four pixels. A thread then adds the parts of one channel to the first value,
// and divides. No sum is stored.

// REMARK: remark: linalg.generic is a kernel of windows of 49 elements, of which 16 threads behind each other share those of 8 neighbours, with the op behind it

// CHECK-LABEL: func @mean_of_pixels
// CHECK-SAME: %[[SOURCE:.*]]: memref<32x7x7x512xf16>, %[[MEAN:.*]]: memref<32x512xf16>
// CHECK: %[[IMAGE:.*]] = memref.alloc() : memref<32x7x7x512xf16>
// CHECK: memref.copy %[[SOURCE]], %[[IMAGE]]
// CHECK-NOT: memref.alloc
// CHECK-NOT: linalg
// CHECK-DAG: %[[OUT:.*]] = memref.reinterpret_cast %[[MEAN]]
// CHECK-DAG: %[[FLAT:.*]] = memref.reinterpret_cast %[[IMAGE]]
// CHECK: gpu.launch blocks({{.*}}) in (%{{.*}} = %c128{{.*}}, {{.*}}threads({{.*}}) in (%{{.*}} = %c256{{.*}} dynamic_shared_memory_size %c8192_i32
// CHECK-COUNT-3: vector.load %[[FLAT]]{{.*}} {alignment = 16 : i64} : {{.*}}, vector<8xf16>
// CHECK: %[[EXISTS:.*]] = arith.cmpi ult, %{{.*}}, %c49_i32
// CHECK: vector.load %[[FLAT]]
// CHECK: %[[PART:.*]] = arith.select %[[EXISTS]], %{{.*}}, %{{.*}} : vector<8xf32>
// CHECK-NOT: vector.load
// CHECK: vector.store %[[PART]], %{{.*}} : memref<16x128xf32, #gpu.address_space<workgroup>>
// CHECK: gpu.barrier
// CHECK: %[[OF_BLOCK:.*]] = arith.cmpi ult, %{{.*}}, %c128
// CHECK: %[[STORES:.*]] = arith.andi %{{.*}}, %[[OF_BLOCK]]
// CHECK: scf.if %[[STORES]]
// CHECK-COUNT-16: arith.addf {{.*}} : f32
// CHECK: arith.divf {{.*}} : f32
// CHECK: %[[ROUNDED:.*]] = arith.truncf
// CHECK: memref.store %[[ROUNDED]], %[[OUT]]
// CHECK-NOT: gpu.launch
// CHECK: memref.dealloc %[[IMAGE]]
func.func @mean_of_pixels(%source: memref<32x7x7x512xf16>, %mean: memref<32x512xf16>) {
  %zero = arith.constant 0.0 : f32
  %count = arith.constant 49.0 : f32
  %image = memref.alloc() : memref<32x7x7x512xf16>
  memref.copy %source, %image : memref<32x7x7x512xf16> to memref<32x7x7x512xf16>
  %sums = memref.alloc() : memref<32x512xf32>
  linalg.fill ins(%zero : f32) outs(%sums : memref<32x512xf32>)
  linalg.generic {indexing_maps = [#image, #sum], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%image : memref<32x7x7x512xf16>) outs(%sums : memref<32x512xf32>) {
  ^bb0(%a: f16, %sum: f32):
    %e = arith.extf %a : f16 to f32
    %s = arith.addf %sum, %e : f32
    linalg.yield %s : f32
  }
  memref.dealloc %image : memref<32x7x7x512xf16>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%sums : memref<32x512xf32>) outs(%mean : memref<32x512xf16>) {
  ^bb0(%sum: f32, %old: f16):
    %d = arith.divf %sum, %count : f32
    %t = arith.truncf %d : f32 to f16
    linalg.yield %t : f16
  }
  memref.dealloc %sums : memref<32x512xf32>
  return
}

// -----

#image = affine_map<(n, c, h, w) -> (n, c, h, w)>
#sum = affine_map<(n, c, h, w) -> (n, c)>

// Channels are first: eight lanes of a warp share an image of one channel, and
// meet by shuffles. The output is read, for nothing fills it.

// REMARK: remark: linalg.generic is a kernel of windows of 49 elements, of which 8 threads side by side share those of 1 element{{$}}

// CHECK-LABEL: func @most_of_pixels
// CHECK: gpu.launch blocks({{.*}}) in (%{{.*}} = %c512
// CHECK-COUNT-7: memref.load
// CHECK-COUNT-3: gpu.shuffle xor
// CHECK: %[[IS_FIRST:.*]] = arith.cmpi eq
// CHECK: scf.if
// CHECK: memref.load
// CHECK: arith.maximumf
// CHECK: memref.store
func.func @most_of_pixels(%image: memref<32x512x7x7xf16>, %most: memref<32x512xf16>) {
  linalg.generic {indexing_maps = [#image, #sum], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%image : memref<32x512x7x7xf16>) outs(%most : memref<32x512xf16>) {
  ^bb0(%a: f16, %m: f16):
    %s = arith.maximumf %a, %m : f16
    linalg.yield %s : f16
  }
  return
}

// -----

#image = affine_map<(c, k) -> (k, c)>
#sum = affine_map<(c, k) -> (c)>

// Sums of columns: of many rows there is a loop, and the last ones behind it.

// REMARK: remark: linalg.generic is a kernel of windows of 400 elements, of which 16 threads behind each other share those of 4 neighbours

// CHECK-LABEL: func @columns
// CHECK: scf.for %{{.*}} = %c0 to %c3
// CHECK-COUNT-8: vector.load
// CHECK: scf.yield
// CHECK: vector.load
// CHECK: gpu.barrier
func.func @columns(%x: memref<400x64xi32>, %sums: memref<64xi32>) {
  linalg.generic {indexing_maps = [#image, #sum], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<400x64xi32>) outs(%sums : memref<64xi32>) {
  ^bb0(%a: i32, %sum: i32):
    %s = arith.addi %a, %sum : i32
    linalg.yield %s : i32
  }
  return
}

// -----

#image = affine_map<(x, t) -> (x + t)>
#taps = affine_map<(x, t) -> (t)>
#place = affine_map<(x, t) -> (x)>
#id = affine_map<(x) -> (x)>

// Windows of more elements than a thread's code names are shared, too. The op
// behind stays where it writes what the kernel reads, and where another op
// reads the sums.

// REMARK: remark: linalg.generic is a kernel of windows of 65 elements, of which 16 threads side by side share those of 1 element{{$}}
// REMARK: remark: linalg.generic is a kernel of windows of 3 elements, whose threads make 4 neighbours one by one{{$}}

// CHECK-LABEL: func @not_with_the_op_behind
// CHECK: gpu.launch
// CHECK: linalg.generic
// CHECK: gpu.launch
// CHECK: linalg.generic
// CHECK: memref.copy
func.func @not_with_the_op_behind(%image: memref<72xi32>, %other: memref<8xi32>, %copy: memref<8xi32>) {
  %zero = arith.constant 0 : i32
  %sums = memref.alloc() : memref<8xi32>
  linalg.fill ins(%zero : i32) outs(%sums : memref<8xi32>)
  %window = memref.alloc() : memref<65xi32>
  linalg.generic {indexing_maps = [#image, #taps, #place], iterator_types = ["parallel", "reduction"]}
      ins(%image, %window : memref<72xi32>, memref<65xi32>) outs(%sums : memref<8xi32>) {
  ^bb0(%a: i32, %w: i32, %sum: i32):
    %s = arith.addi %sum, %a : i32
    linalg.yield %s : i32
  }
  %part = memref.subview %image[0] [8] [1] : memref<72xi32> to memref<8xi32, strided<[1]>>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%sums : memref<8xi32>) outs(%part : memref<8xi32, strided<[1]>>) {
  ^bb0(%sum: i32, %old: i32):
    %s = arith.addi %sum, %sum : i32
    linalg.yield %s : i32
  }
  %more = memref.alloc() : memref<8xi32>
  linalg.fill ins(%zero : i32) outs(%more : memref<8xi32>)
  %ten = memref.subview %image[0] [10] [1] : memref<72xi32> to memref<10xi32, strided<[1]>>
  %three = memref.subview %window[0] [3] [1] : memref<65xi32> to memref<3xi32, strided<[1]>>
  linalg.generic {indexing_maps = [#image, #taps, #place], iterator_types = ["parallel", "reduction"]}
      ins(%ten, %three : memref<10xi32, strided<[1]>>, memref<3xi32, strided<[1]>>) outs(%more : memref<8xi32>) {
  ^bb0(%a: i32, %w: i32, %sum: i32):
    %s = arith.addi %sum, %a : i32
    linalg.yield %s : i32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%more : memref<8xi32>) outs(%other : memref<8xi32>) {
  ^bb0(%sum: i32, %old: i32):
    %s = arith.addi %sum, %sum : i32
    linalg.yield %s : i32
  }
  memref.copy %more, %copy : memref<8xi32> to memref<8xi32>
  return
}

// -----

// The first place of a column's least element: threads know the row of each
// tap, and the columns of neighbours.
// REMARK: remark: linalg.generic is a kernel of windows of 40 elements, of which 16 threads behind each other share those of 4 neighbours
// CHECK-LABEL: func @places
// CHECK: gpu.launch
// CHECK: %[[NS:.*]] = vector.from_elements {{.*}} : vector<4xindex>
// CHECK: %[[K:.*]] = vector.broadcast %{{.*}} : index to vector<4xindex>
// CHECK: arith.addi %[[K]], %[[NS]] : vector<4xindex>
// CHECK: arith.minsi {{.*}} : vector<4xi32>
// CHECK-NOT: linalg
func.func @places(%x: memref<40x64xf32>, %least: memref<64xf32>, %place: memref<64xi32>) {
  %last = arith.constant 0x7FFFFFFF : i32
  linalg.fill ins(%last : i32) outs(%place : memref<64xi32>)
  linalg.generic {indexing_maps = [affine_map<(k, n) -> (k, n)>, affine_map<(k, n) -> (n)>, affine_map<(k, n) -> (n)>], iterator_types = ["reduction", "parallel"]}
      ins(%x, %least : memref<40x64xf32>, memref<64xf32>) outs(%place : memref<64xi32>) {
  ^bb0(%a: f32, %b: f32, %before: i32):
    %k = linalg.index 0 : index
    %n = linalg.index 1 : index
    %both = arith.addi %k, %n : index
    %here = arith.index_cast %both : index to i32
    %is = arith.cmpf oeq, %a, %b : f32
    %one = arith.select %is, %here, %last : i32
    %r = arith.minsi %one, %before : i32
    linalg.yield %r : i32
  }
  return
}
