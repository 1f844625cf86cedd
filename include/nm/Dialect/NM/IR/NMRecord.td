//===- NMRecord.td - What was chosen for a product, and why -*- tablegen -*-===//

#ifndef NM_DIALECT_NM_IR_NMRECORD_TD
#define NM_DIALECT_NM_IR_NMRECORD_TD

include "nm/Dialect/NM/IR/NMAttributes.td"
include "nm/Dialect/NM/IR/NMSchedules.td"

def NM_ScheduleSource : I32EnumAttr<"ScheduleSource", "who chose a schedule", [
    I32EnumAttrCase<"Model", 0, "model">,
    I32EnumAttrCase<"Option", 1, "option">,
    I32EnumAttrCase<"Op", 2, "op">,
    I32EnumAttrCase<"Only", 3, "only">,
    I32EnumAttrCase<"Table", 4, "table">]> {
  let cppNamespace = "::mlir::nm";
  let genSpecializedAttr = 0;
}

/// Microseconds, as an attribute of f64; may be left out.
def NM_Time : OptionalParameter<"::mlir::FloatAttr"> {
  let printer = "$_printer.printFloat($_self.getValue())";
}

def NM_AlternativeAttr : NM_Attr<"Alternative", "alternative"> {
  let summary = "one way to make a product, and its estimate";
  let description = [{
    An entry of the `alternatives` of `#nm.record`.

    * `name`: how the product would be made, as in `own`, `dense` or
      `widened, coarsened`.
    * `strategy`: whose schedule it would have, where one takes it.
    * `estimate_us`: the time of all that it takes at each call, in microseconds;
      `extra_us`: that of the kernels before the product, which the estimate
      includes.
    * `chosen`: whether it was taken.
    * `why_not`: why it cannot be taken, whatever its estimate.

    Constraints:
    * (C1) times are finite, of type f64, and not negative.
    * (C2) `name` is not empty.
    * (C3) it has `estimate_us` or `why_not`.
    * (C4) what is `chosen` has no `why_not`.

    ```mlir
    #nm.alternative<name = "dense", strategy = "cublas", estimate_us = 19.8>
    ```
  }];
  let parameters = (ins
      StringRefParameter<>:$name,
      OptionalParameter<"::mlir::StringAttr">:$strategy,
      NM_Time:$estimate_us, NM_Time:$extra_us, NM_Choice:$chosen,
      OptionalParameter<"::mlir::StringAttr">:$why_not);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def NM_RecordAttr : NM_Attr<"Record", "record"> {
  let summary = "what a product's schedule was chosen by, and why";
  let description = [{
    `nm-select-schedule` and `nm-select-gpu-schedule` leave one on every product
    as `nm.record`. The schedule itself is the op's. Remarks, the manifest of a
    compiled module, and its C and Python readers say what it holds; no result
    depends on it.

    * `source`: `model` where the cost model chose the whole schedule, `option`
      where the pass's option gave it or parts of it, `op` where the op came with
      it, `only` where no other strategy has the product, and `table` where a
      measured schedule was looked up, of the table that `reason` names.
    * `pattern`: that of the weights before dense ones took their place.
    * `chip`, of a GPU: whose model it was. `threads` and `lanes`, of a CPU: how
      many threads, and 32-bit lanes of a vector, the estimates are for.
    * `typical_m`: the rows that stand for a dynamic m in the estimates.
    * `estimate_us`: the time of the product, in microseconds, where the model
      has one for this very schedule: not for one whose sizes were given.
    * `dense_us`: the time of the dense product, in microseconds, by a BLAS on a
      CPU and by cuBLAS on a GPU, where they have it.
    * `multiply_floor_us`, `memory_floor_us`: the least that the multipliers and
      the memory of a GPU allow, in microseconds.
    * `shared_bytes`: shared memory of a thread block.
    * `falls_back`: whether dense weights took the sparse ones' place.
    * `reason`: why they did, or did not, or why no model was asked.
    * `alternatives`, of a GPU: all ways to make the product that selection
      compared, each `#nm.alternative`.

    Constraints:
    * (C1) times are finite, of type f64, and not negative.
    * (C2) `multiply_floor_us`, `memory_floor_us` and `shared_bytes` come
      together, with `estimate_us` and `chip`.
    * (C3) `threads`, `lanes` and `typical_m` are at least 1, `shared_bytes` at
      least 0.
    * (C4) `reason` is not empty.
    * (C5) the op that has it is `nm.spmm` or `nm.spmv`.
    * (C6) `alternatives` are of `#nm.alternative`, one of them chosen at most.

    ```mlir
    #nm.record<source = model, pattern = <8:32, block = 1x32>, chip = "sm_90",
               estimate_us = 9.0, dense_us = 19.8, multiply_floor_us = 2.3,
               memory_floor_us = 0.9, shared_bytes = 86016,
               reason = "cuBLAS is estimated to take 19.8 us">
    ```
  }];
  let parameters = (ins
      EnumParameter<NM_ScheduleSource>:$source,
      "::mlir::nm::PatternAttr":$pattern,
      OptionalParameter<"::mlir::StringAttr">:$chip,
      NM_Count:$threads, NM_Count:$lanes, NM_Count:$typical_m,
      NM_Time:$estimate_us, NM_Time:$dense_us, NM_Time:$multiply_floor_us,
      NM_Time:$memory_floor_us, NM_Count:$shared_bytes, NM_Choice:$falls_back,
      StringRefParameter<>:$reason,
      OptionalParameter<"::mlir::ArrayAttr">:$alternatives);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let builders = [
    AttrBuilder<(ins "const ::mlir::nm::ProductRecord &":$record)>
  ];
  let extraClassDeclaration = [{
    /// The record in plain types, as passes fill it in.
    ProductRecord getRecord() const;
  }];
}

#endif // NM_DIALECT_NM_IR_NMRECORD_TD
