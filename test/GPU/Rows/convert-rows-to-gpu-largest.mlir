// RUN: nm-opt %s --convert-rows-to-gpu --canonicalize --cse 2>/dev/null | FileCheck %s
// RUN: nm-opt %s --convert-rows-to-gpu -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// Reductions each of which finds the largest key below the one before, an element
// and the complement of its column, are one search. Only the thread whose largest
// key is found looks for its next one.

#rows = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>

module attributes {nm.chip = #nm.chip<"sm_90a">} {
  // The first warp orders the largest keys of groups of lanes. Warps with keys
  // that are not less than the second of these list them, and look for the next
  // one in the accesses of the thread that had the last one. The first warp
  // merges the lists.
  // REMARK: linalg.generic and 3 ops around it are one kernel: 512 threads for each row, accesses of 8 elements, rows read for each reduction, 2 largest elements found by one pass
  // CHECK-LABEL: func @two_largest
  // CHECK: gpu.launch
  // CHECK: vector.load {{.*}} vector<8xf16>
  // CHECK: arith.maximumf {{.*}} : vector<4xf16>
  // CHECK: gpu.barrier
  // CHECK: nvvm.redux.sync max
  // CHECK: nvvm.redux.sync umax
  // CHECK: gpu.barrier
  // CHECK: scf.while
  // CHECK: scf.condition
  // CHECK: vector.load {{.*}} vector<8xf16>
  // CHECK-NOT: vector.load
  // CHECK: nvvm.redux.sync max
  // CHECK: gpu.barrier
  // CHECK: scf.for
  // CHECK: gpu.barrier
  // CHECK: gpu.terminator
  func.func @two_largest(%x: memref<512x4096xf16>, %first: memref<512xi64>, %second: memref<512xi64>) {
    %none = arith.constant -9223372036854775808 : i64
    %low = arith.constant 4294967295 : i64
    %c32 = arith.constant 32 : i64
    %c31 = arith.constant 31 : i32
    %last = arith.constant 2147483647 : i32
    linalg.fill ins(%none : i64) outs(%first : memref<512xi64>)
    linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]}
        ins(%x : memref<512x4096xf16>) outs(%first : memref<512xi64>) {
    ^bb0(%a: f16, %most: i64):
      %wide = arith.extf %a : f16 to f32
      %bits = arith.bitcast %wide : f32 to i32
      %is_nan = arith.cmpf une, %a, %a : f16
      %sign = arith.shrsi %bits, %c31 : i32
      %lower = arith.andi %sign, %last : i32
      %turned = arith.xori %bits, %lower : i32
      %order = arith.select %is_nan, %last, %turned : i32
      %extended = arith.extsi %order : i32 to i64
      %upper = arith.shli %extended, %c32 : i64
      %column = linalg.index 1 : index
      %place = arith.index_cast %column : index to i64
      %complement = arith.xori %place, %low : i64
      %key = arith.ori %upper, %complement : i64
      %next = arith.maxsi %key, %most : i64
      linalg.yield %next : i64
    }
    linalg.fill ins(%none : i64) outs(%second : memref<512xi64>)
    linalg.generic {indexing_maps = [#rows, #row, #row], iterator_types = ["parallel", "reduction"]}
        ins(%x, %first : memref<512x4096xf16>, memref<512xi64>) outs(%second : memref<512xi64>) {
    ^bb0(%a: f16, %bound: i64, %most: i64):
      %wide = arith.extf %a : f16 to f32
      %bits = arith.bitcast %wide : f32 to i32
      %is_nan = arith.cmpf une, %a, %a : f16
      %sign = arith.shrsi %bits, %c31 : i32
      %lower = arith.andi %sign, %last : i32
      %turned = arith.xori %bits, %lower : i32
      %order = arith.select %is_nan, %last, %turned : i32
      %extended = arith.extsi %order : i32 to i64
      %upper = arith.shli %extended, %c32 : i64
      %column = linalg.index 1 : index
      %place = arith.index_cast %column : index to i64
      %complement = arith.xori %place, %low : i64
      %key = arith.ori %upper, %complement : i64
      %is_below = arith.cmpi slt, %key, %bound : i64
      %other = arith.select %is_below, %key, %none : i64
      %next = arith.maxsi %other, %most : i64
      linalg.yield %next : i64
    }
    return
  }

  // One is found by shuffles, as other results are.
  // REMARK: , 1 largest element found by one pass
  // CHECK-LABEL: func @largest
  // CHECK-NOT: scf.for
  // CHECK-NOT: nvvm.redux
  // CHECK: gpu.barrier
  // CHECK-NOT: gpu.barrier
  // CHECK: gpu.terminator
  func.func @largest(%x: memref<512x4096xf16>, %first: memref<512xi64>) {
    %none = arith.constant -9223372036854775808 : i64
    %low = arith.constant 4294967295 : i64
    %c32 = arith.constant 32 : i64
    %c31 = arith.constant 31 : i32
    %last = arith.constant 2147483647 : i32
    linalg.fill ins(%none : i64) outs(%first : memref<512xi64>)
    linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]}
        ins(%x : memref<512x4096xf16>) outs(%first : memref<512xi64>) {
    ^bb0(%a: f16, %most: i64):
      %wide = arith.extf %a : f16 to f32
      %bits = arith.bitcast %wide : f32 to i32
      %is_nan = arith.cmpf une, %a, %a : f16
      %sign = arith.shrsi %bits, %c31 : i32
      %lower = arith.andi %sign, %last : i32
      %turned = arith.xori %bits, %lower : i32
      %order = arith.select %is_nan, %last, %turned : i32
      %extended = arith.extsi %order : i32 to i64
      %upper = arith.shli %extended, %c32 : i64
      %column = linalg.index 1 : index
      %place = arith.index_cast %column : index to i64
      %complement = arith.xori %place, %low : i64
      %key = arith.ori %upper, %complement : i64
      %next = arith.maxsi %key, %most : i64
      linalg.yield %next : i64
    }
    return
  }

  // Two elements may have the same key where the lower half is no column: each op
  // is a pass.
  // REMARK: rows kept in registers{{$}}
  // CHECK-LABEL: func @no_columns
  // CHECK-NOT: scf.while
  // CHECK-COUNT-2: gpu.barrier
  // CHECK-NOT: gpu.barrier
  // CHECK: gpu.terminator
  func.func @no_columns(%x: memref<512x4096xf16>, %first: memref<512xi64>, %second: memref<512xi64>) {
    %none = arith.constant -9223372036854775808 : i64
    %low = arith.constant 1 : i64
    %c32 = arith.constant 32 : i64
    %c31 = arith.constant 31 : i32
    %last = arith.constant 2147483647 : i32
    linalg.fill ins(%none : i64) outs(%first : memref<512xi64>)
    linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]}
        ins(%x : memref<512x4096xf16>) outs(%first : memref<512xi64>) {
    ^bb0(%a: f16, %most: i64):
      %wide = arith.extf %a : f16 to f32
      %bits = arith.bitcast %wide : f32 to i32
      %is_nan = arith.cmpf une, %a, %a : f16
      %sign = arith.shrsi %bits, %c31 : i32
      %lower = arith.andi %sign, %last : i32
      %turned = arith.xori %bits, %lower : i32
      %order = arith.select %is_nan, %last, %turned : i32
      %extended = arith.extsi %order : i32 to i64
      %upper = arith.shli %extended, %c32 : i64
      %column = linalg.index 1 : index
      %place = arith.index_cast %column : index to i64
      %complement = arith.xori %place, %low : i64
      %key = arith.ori %upper, %complement : i64
      %next = arith.maxsi %key, %most : i64
      linalg.yield %next : i64
    }
    linalg.fill ins(%none : i64) outs(%second : memref<512xi64>)
    linalg.generic {indexing_maps = [#rows, #row, #row], iterator_types = ["parallel", "reduction"]}
        ins(%x, %first : memref<512x4096xf16>, memref<512xi64>) outs(%second : memref<512xi64>) {
    ^bb0(%a: f16, %bound: i64, %most: i64):
      %wide = arith.extf %a : f16 to f32
      %bits = arith.bitcast %wide : f32 to i32
      %is_nan = arith.cmpf une, %a, %a : f16
      %sign = arith.shrsi %bits, %c31 : i32
      %lower = arith.andi %sign, %last : i32
      %turned = arith.xori %bits, %lower : i32
      %order = arith.select %is_nan, %last, %turned : i32
      %extended = arith.extsi %order : i32 to i64
      %upper = arith.shli %extended, %c32 : i64
      %column = linalg.index 1 : index
      %place = arith.index_cast %column : index to i64
      %complement = arith.xori %place, %low : i64
      %key = arith.ori %upper, %complement : i64
      %is_below = arith.cmpi slt, %key, %bound : i64
      %other = arith.select %is_below, %key, %none : i64
      %next = arith.maxsi %other, %most : i64
      linalg.yield %next : i64
    }
    return
  }

  // Ops that read different rows do not share a search.
  // REMARK: rows kept in registers, 1 largest element found by one pass{{$}}
  // CHECK-LABEL: func @other_rows
  // CHECK-NOT: scf.while
  // CHECK: return
  func.func @other_rows(%x: memref<512x4096xf16>, %y: memref<512x4096xf16>, %first: memref<512xi64>, %second: memref<512xi64>) {
    %none = arith.constant -9223372036854775808 : i64
    %low = arith.constant 4294967295 : i64
    %c32 = arith.constant 32 : i64
    %c31 = arith.constant 31 : i32
    %last = arith.constant 2147483647 : i32
    linalg.fill ins(%none : i64) outs(%first : memref<512xi64>)
    linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]}
        ins(%x : memref<512x4096xf16>) outs(%first : memref<512xi64>) {
    ^bb0(%a: f16, %most: i64):
      %wide = arith.extf %a : f16 to f32
      %bits = arith.bitcast %wide : f32 to i32
      %is_nan = arith.cmpf une, %a, %a : f16
      %sign = arith.shrsi %bits, %c31 : i32
      %lower = arith.andi %sign, %last : i32
      %turned = arith.xori %bits, %lower : i32
      %order = arith.select %is_nan, %last, %turned : i32
      %extended = arith.extsi %order : i32 to i64
      %upper = arith.shli %extended, %c32 : i64
      %column = linalg.index 1 : index
      %place = arith.index_cast %column : index to i64
      %complement = arith.xori %place, %low : i64
      %key = arith.ori %upper, %complement : i64
      %next = arith.maxsi %key, %most : i64
      linalg.yield %next : i64
    }
    linalg.fill ins(%none : i64) outs(%second : memref<512xi64>)
    linalg.generic {indexing_maps = [#rows, #row, #row], iterator_types = ["parallel", "reduction"]}
        ins(%y, %first : memref<512x4096xf16>, memref<512xi64>) outs(%second : memref<512xi64>) {
    ^bb0(%a: f16, %bound: i64, %most: i64):
      %wide = arith.extf %a : f16 to f32
      %bits = arith.bitcast %wide : f32 to i32
      %is_nan = arith.cmpf une, %a, %a : f16
      %sign = arith.shrsi %bits, %c31 : i32
      %lower = arith.andi %sign, %last : i32
      %turned = arith.xori %bits, %lower : i32
      %order = arith.select %is_nan, %last, %turned : i32
      %extended = arith.extsi %order : i32 to i64
      %upper = arith.shli %extended, %c32 : i64
      %column = linalg.index 1 : index
      %place = arith.index_cast %column : index to i64
      %complement = arith.xori %place, %low : i64
      %key = arith.ori %upper, %complement : i64
      %is_below = arith.cmpi slt, %key, %bound : i64
      %other = arith.select %is_below, %key, %none : i64
      %next = arith.maxsi %other, %most : i64
      linalg.yield %next : i64
    }
    return
  }

  // The largest element and its first column are one pass.
  // REMARK: linalg.generic and 3 ops around it are one kernel: 128 threads for each row, accesses of 8 elements, rows kept in registers, 1 largest element found by one pass
  // CHECK-LABEL: func @column_of_largest
  // CHECK: arith.addf {{.*}} : vector<8xf16>
  // CHECK: gpu.barrier
  // CHECK-NOT: gpu.barrier
  // CHECK: gpu.terminator
  func.func @column_of_largest(%x: memref<512x4096xf16>, %place: memref<512xi32>) {
    %least = arith.constant 0xFC00 : f16
    %end = arith.constant 2147483647 : i32
    %largest = memref.alloc() : memref<512xf16>
    linalg.fill ins(%least : f16) outs(%largest : memref<512xf16>)
    linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]}
        ins(%x : memref<512x4096xf16>) outs(%largest : memref<512xf16>) {
    ^bb0(%a: f16, %most: f16):
      %next = arith.maximumf %a, %most : f16
      linalg.yield %next : f16
    }
    linalg.fill ins(%end : i32) outs(%place : memref<512xi32>)
    linalg.generic {indexing_maps = [#rows, #row, #row], iterator_types = ["parallel", "reduction"]}
        ins(%x, %largest : memref<512x4096xf16>, memref<512xf16>) outs(%place : memref<512xi32>) {
    ^bb0(%a: f16, %most: f16, %least_place: i32):
      %is_most = arith.cmpf oeq, %a, %most : f16
      %is_nan = arith.cmpf une, %a, %a : f16
      %is_it = arith.ori %is_most, %is_nan : i1
      %column = linalg.index 1 : index
      %here = arith.index_cast %column : index to i32
      %other = arith.select %is_it, %here, %end : i32
      %next = arith.minsi %other, %least_place : i32
      linalg.yield %next : i32
    }
    memref.dealloc %largest : memref<512xf16>
    return
  }

  // So are the least element, a result of its own that another op reads, too, and
  // its first column.
  // REMARK: linalg.generic and 4 ops around it are one kernel: 128 threads for each row, accesses of 8 elements, rows kept in registers, 1 least element found by one pass
  // CHECK-LABEL: func @column_of_least
  // CHECK: arith.negf {{.*}} : vector<8xf16>
  // CHECK: gpu.barrier
  // CHECK-NOT: gpu.barrier
  // CHECK: %[[NEGATED:.*]] = arith.negf {{.*}} : f16
  // CHECK: %[[LEAST:.*]] = arith.addf %[[NEGATED]], {{.*}} : f16
  // CHECK: memref.store %[[LEAST]], {{.*}} : memref<512xf16>
  // CHECK: memref.store {{.*}} : memref<512xi32>
  // CHECK: arith.addf %[[LEAST]], %[[LEAST]] : f16
  // CHECK: gpu.terminator
  func.func @column_of_least(%x: memref<512x4096xf16>, %least: memref<512xf16>, %place: memref<512xi32>, %twice: memref<512xf16>) {
    %most = arith.constant 0x7C00 : f16
    %end = arith.constant 2147483647 : i32
    linalg.fill ins(%most : f16) outs(%least : memref<512xf16>)
    linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]}
        ins(%x : memref<512x4096xf16>) outs(%least : memref<512xf16>) {
    ^bb0(%a: f16, %before: f16):
      %next = arith.minimumf %a, %before : f16
      linalg.yield %next : f16
    }
    linalg.add ins(%least, %least : memref<512xf16>, memref<512xf16>)
        outs(%twice : memref<512xf16>)
    linalg.fill ins(%end : i32) outs(%place : memref<512xi32>)
    linalg.generic {indexing_maps = [#rows, #row, #row], iterator_types = ["parallel", "reduction"]}
        ins(%x, %least : memref<512x4096xf16>, memref<512xf16>) outs(%place : memref<512xi32>) {
    ^bb0(%a: f16, %found: f16, %least_place: i32):
      %is_least = arith.cmpf oeq, %a, %found : f16
      %is_nan = arith.cmpf une, %a, %a : f16
      %is_it = arith.ori %is_least, %is_nan : i1
      %column = linalg.index 1 : index
      %here = arith.index_cast %column : index to i32
      %other = arith.select %is_it, %here, %end : i32
      %next = arith.minsi %other, %least_place : i32
      linalg.yield %next : i32
    }
    return
  }

  // Of rows that are not few a block has one each, which is read once.
  // REMARK: 1024 threads for each row, accesses of 8 elements, rows read for each reduction
  // CHECK-LABEL: func @many_long_rows
  // CHECK: gpu.launch blocks({{.*}}) in (%{{.*}} = %c256{{[_0-9]*}}, {{.*}}) threads({{.*}}) in (%{{.*}} = %c1024{{[_0-9]*}},
  // CHECK: scf.for
  // CHECK-COUNT-4: vector.load
  // CHECK-NOT: vector.load
  // CHECK: }
  // CHECK: gpu.terminator
  func.func @many_long_rows(%x: memref<256x131072xf16>, %y: memref<256xf16>) {
    linalg.reduce { arith.maximumf } ins(%x : memref<256x131072xf16>)
        outs(%y : memref<256xf16>) dimensions = [1]
    return
  }

  // A few elements of a row that are made of its results are stored by its first
  // threads.
  // REMARK: linalg.reduce and 1 op around it are one kernel
  // CHECK-LABEL: func @results_side_by_side
  // CHECK: gpu.launch
  // CHECK: arith.cmpi ult, {{.*}}, %c3
  // CHECK: memref.store {{.*}} : memref<512x3xf16>
  // CHECK-NOT: gpu.launch
  // CHECK: return
  func.func @results_side_by_side(%x: memref<512x4096xf16>, %z: memref<512x3xf16>) {
    %y = memref.alloc() : memref<512xf16>
    linalg.reduce { arith.maximumf } ins(%x : memref<512x4096xf16>)
        outs(%y : memref<512xf16>) dimensions = [1]
    linalg.generic {indexing_maps = [#row, #rows], iterator_types = ["parallel", "parallel"]}
        ins(%y : memref<512xf16>) outs(%z : memref<512x3xf16>) {
    ^bb0(%most: f16, %out: f16):
      %twice = arith.addf %most, %most : f16
      linalg.yield %twice : f16
    }
    memref.dealloc %y : memref<512xf16>
    return
  }

  // A warp finds a few elements of one of many rows without a barrier.
  // REMARK: linalg.generic and 3 ops around it are one kernel: 32 threads for each row, accesses of 8 elements, rows read for each reduction, 2 largest
  // CHECK-LABEL: func @two_largest_of_many
  // CHECK-NOT: gpu.barrier
  // CHECK: return
  func.func @two_largest_of_many(%x: memref<2048x4096xf16>, %first: memref<2048xi64>, %second: memref<2048xi64>) {
    %none = arith.constant -9223372036854775808 : i64
    %low = arith.constant 4294967295 : i64
    %c32 = arith.constant 32 : i64
    %c31 = arith.constant 31 : i32
    %last = arith.constant 2147483647 : i32
    linalg.fill ins(%none : i64) outs(%first : memref<2048xi64>)
    linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]}
        ins(%x : memref<2048x4096xf16>) outs(%first : memref<2048xi64>) {
    ^bb0(%a: f16, %most: i64):
      %wide = arith.extf %a : f16 to f32
      %bits = arith.bitcast %wide : f32 to i32
      %is_nan = arith.cmpf une, %a, %a : f16
      %sign = arith.shrsi %bits, %c31 : i32
      %lower = arith.andi %sign, %last : i32
      %turned = arith.xori %bits, %lower : i32
      %order = arith.select %is_nan, %last, %turned : i32
      %extended = arith.extsi %order : i32 to i64
      %upper = arith.shli %extended, %c32 : i64
      %column = linalg.index 1 : index
      %place = arith.index_cast %column : index to i64
      %complement = arith.xori %place, %low : i64
      %key = arith.ori %upper, %complement : i64
      %next = arith.maxsi %key, %most : i64
      linalg.yield %next : i64
    }
    linalg.fill ins(%none : i64) outs(%second : memref<2048xi64>)
    linalg.generic {indexing_maps = [#rows, #row, #row], iterator_types = ["parallel", "reduction"]}
        ins(%x, %first : memref<2048x4096xf16>, memref<2048xi64>) outs(%second : memref<2048xi64>) {
    ^bb0(%a: f16, %bound: i64, %most: i64):
      %wide = arith.extf %a : f16 to f32
      %bits = arith.bitcast %wide : f32 to i32
      %is_nan = arith.cmpf une, %a, %a : f16
      %sign = arith.shrsi %bits, %c31 : i32
      %lower = arith.andi %sign, %last : i32
      %turned = arith.xori %bits, %lower : i32
      %order = arith.select %is_nan, %last, %turned : i32
      %extended = arith.extsi %order : i32 to i64
      %upper = arith.shli %extended, %c32 : i64
      %column = linalg.index 1 : index
      %place = arith.index_cast %column : index to i64
      %complement = arith.xori %place, %low : i64
      %key = arith.ori %upper, %complement : i64
      %is_below = arith.cmpi slt, %key, %bound : i64
      %other = arith.select %is_below, %key, %none : i64
      %next = arith.maxsi %other, %most : i64
      linalg.yield %next : i64
    }
    return
  }
}
