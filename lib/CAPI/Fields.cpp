//===- Fields.cpp - Attributes and types by their fields ------------------===//

#include "Fields.h"

#include "nm/Dialect/NM/IR/NM.h"

#include "mlir/IR/Builders.h"

#include <optional>

using namespace mlir;
using namespace mlir::nm;

namespace {
/// Takes fields from a dictionary, and keeps the first error.
class FieldReader {
public:
  FieldReader(DictionaryAttr fields, EmitError emitError)
      : fields(fields), emitError(emitError) {}

  template <typename AttrTy>
  AttrTy get(StringRef name, StringRef expected, bool isOptional = false) {
    known.push_back(name);
    Attribute value = fields.get(name);
    if (!value) {
      if (!isOptional)
        reject() << "expected a field " << name << ", " << expected;
      return {};
    }
    auto field = dyn_cast<AttrTy>(value);
    if (!field)
      reject() << "expected " << name << " to be " << expected << ", but got "
               << value;
    return field;
  }

  int64_t getNumber(StringRef name, std::optional<int64_t> byDefault = {}) {
    auto number = get<IntegerAttr>(name, "an integer of type i64",
                                   /*isOptional=*/byDefault.has_value());
    if (!number)
      return byDefault.value_or(0);
    if (number.getType().isSignlessInteger(64))
      return number.getInt();
    reject() << "expected " << name << " to be an integer of type i64, but got "
             << number;
    return 0;
  }

  ArrayRef<int64_t> getNumbers(StringRef name, bool isOptional = false) {
    auto numbers = get<DenseI64ArrayAttr>(name, "an array of i64", isOptional);
    return numbers ? numbers.asArrayRef() : ArrayRef<int64_t>();
  }

  /// A case of an enum, by its name.
  template <typename Enum>
  Enum getCase(StringRef name, std::optional<Enum> (*find)(StringRef)) {
    auto word = get<StringAttr>(name, "a string");
    if (!word)
      return Enum();
    if (std::optional<Enum> found = find(word.getValue()))
      return *found;
    reject() << "expected " << name << " to be the name of a case, but got "
             << word;
    return Enum();
  }

  /// Whether all were there, and no others.
  bool isDone() {
    for (NamedAttribute field : fields)
      if (!llvm::is_contained(known, field.getName().strref())) {
        reject() << "expected no field " << field.getName();
        return false;
      }
    return !isRejected;
  }

private:
  InFlightDiagnostic reject() {
    // One error for one attribute.
    InFlightDiagnostic error = isRejected ? InFlightDiagnostic() : emitError();
    isRejected = true;
    return error;
  }

  DictionaryAttr fields;
  EmitError emitError;
  SmallVector<StringRef> known;
  bool isRejected = false;
};

/// Collects fields.
class FieldWriter {
public:
  explicit FieldWriter(MLIRContext *context) : builder(context) {}

  FieldWriter &add(StringRef name, Attribute value) {
    if (value)
      fields.set(name, value);
    return *this;
  }
  FieldWriter &add(StringRef name, int64_t number) {
    return add(name, builder.getI64IntegerAttr(number));
  }
  FieldWriter &add(StringRef name, std::optional<int64_t> number) {
    return number ? add(name, *number) : *this;
  }
  FieldWriter &add(StringRef name, ArrayRef<int64_t> numbers) {
    return add(name, builder.getDenseI64ArrayAttr(numbers));
  }
  FieldWriter &add(StringRef name, StringRef text) {
    return add(name, builder.getStringAttr(text));
  }
  FieldWriter &addChoice(StringRef name, bool choice) {
    return add(name, builder.getBoolAttr(choice));
  }

  DictionaryAttr take() { return fields.getDictionary(builder.getContext()); }

private:
  Builder builder;
  NamedAttrList fields;
};
} // namespace

/// The kind of an attribute or a type.
template <typename One, typename Object>
static FieldsKind<Object> kindOf(Object (*get)(StringRef, DictionaryAttr,
                                               EmitError),
                                 DictionaryAttr (*getFields)(Object)) {
  return {One::getMnemonic(), [](Object object) { return isa<One>(object); },
          get, getFields};
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

template <typename AttrTy>
static Attribute getNothing(StringRef, DictionaryAttr fields,
                            EmitError emitError) {
  FieldReader reader(fields, emitError);
  return reader.isDone() ? Attribute(AttrTy::get(fields.getContext()))
                         : Attribute();
}

static DictionaryAttr getNoFields(Attribute attribute) {
  return DictionaryAttr::get(attribute.getContext());
}

static Attribute getPattern(StringRef, DictionaryAttr fields,
                            EmitError emitError) {
  FieldReader reader(fields, emitError);
  int64_t n = reader.getNumber("n"), m = reader.getNumber("m"),
          bk = reader.getNumber("bk", 1), bn = reader.getNumber("bn", 1);
  if (!reader.isDone())
    return {};
  return PatternAttr::getChecked(emitError, fields.getContext(), n, m, bk, bn);
}

static DictionaryAttr getFieldsOfPattern(Attribute attribute) {
  auto pattern = cast<PatternAttr>(attribute);
  return FieldWriter(attribute.getContext())
      .add("n", pattern.getN())
      .add("m", pattern.getM())
      .add("bk", pattern.getBk())
      .add("bn", pattern.getBn())
      .take();
}

static Attribute getColumns(StringRef, DictionaryAttr fields,
                            EmitError emitError) {
  FieldReader reader(fields, emitError);
  int64_t kept = reader.getNumber("kept"),
          tileRows = reader.getNumber("tile_rows");
  if (!reader.isDone())
    return {};
  return ColumnsAttr::getChecked(emitError, fields.getContext(), kept,
                                 tileRows);
}

static DictionaryAttr getFieldsOfColumns(Attribute attribute) {
  auto columns = cast<ColumnsAttr>(attribute);
  return FieldWriter(attribute.getContext())
      .add("kept", columns.getKept())
      .add("tile_rows", columns.getTileRows())
      .take();
}

static Attribute getBitmapPanels(StringRef, DictionaryAttr fields,
                                 EmitError emitError) {
  FieldReader reader(fields, emitError);
  int64_t kept = reader.getNumber("kept"),
          wordRows = reader.getNumber("word_rows");
  if (!reader.isDone())
    return {};
  return BitmapPanelsAttr::getChecked(emitError, fields.getContext(), kept,
                                      wordRows);
}

static DictionaryAttr getFieldsOfBitmapPanels(Attribute attribute) {
  auto panels = cast<BitmapPanelsAttr>(attribute);
  return FieldWriter(attribute.getContext())
      .add("kept", panels.getKept())
      .add("word_rows", panels.getWordRows())
      .take();
}

static Attribute getEll(StringRef, DictionaryAttr fields, EmitError emitError) {
  FieldReader reader(fields, emitError);
  int64_t steps = reader.getNumber("steps"), bits = reader.getNumber("bits"),
          parts = reader.getNumber("parts", 1);
  if (!reader.isDone())
    return {};
  return EllAttr::getChecked(emitError, fields.getContext(), steps, bits,
                             parts);
}

static DictionaryAttr getFieldsOfEll(Attribute attribute) {
  auto ell = cast<EllAttr>(attribute);
  return FieldWriter(attribute.getContext())
      .add("steps", ell.getSteps())
      .add("bits", ell.getBits())
      .add("parts", ell.getParts())
      .take();
}

static Attribute getEncoding(StringRef, DictionaryAttr fields,
                             EmitError emitError) {
  FieldReader reader(fields, emitError);
  auto pattern = reader.get<PatternAttr>("pattern", "an #nm.pattern");
  int64_t dim = reader.getNumber("dim", 0);
  if (!reader.isDone())
    return {};
  return EncodingAttr::getChecked(emitError, fields.getContext(), pattern, dim);
}

static DictionaryAttr getFieldsOfEncoding(Attribute attribute) {
  auto encoding = cast<EncodingAttr>(attribute);
  return FieldWriter(attribute.getContext())
      .add("pattern", encoding.getPattern())
      .add("dim", encoding.getDim())
      .take();
}

static DictionaryAttr getFieldsOfPacking(Attribute attribute) {
  auto packing = cast<PackingAttr>(attribute);
  return FieldWriter(attribute.getContext())
      .add("panel", packing.getPanel())
      .add("index_bits", packing.getIndexBits())
      .add("chunk_rows", packing.getChunkRows())
      .add("chunk_columns", packing.getChunkColumns())
      .add("index_rows", packing.getIndexRows())
      .add("col_info", packing.getColInfo())
      .add("tile_rows", packing.getTileRows())
      .add("splits", packing.getSplits())
      .add("lane_words", packing.getLaneWords())
      .add("bits", packing.getBits())
      .take();
}

static Attribute getSparseOperand(StringRef, DictionaryAttr fields,
                                  EmitError emitError) {
  FieldReader reader(fields, emitError);
  auto order = reader.getCase<::nm::SparseOperand::Order>(
      "order", [](StringRef name) { return ::nm::parseOrder(name); });
  int64_t bits = reader.getNumber("bits", 0),
          splits = reader.getNumber("splits", 1);
  if (!reader.isDone())
    return {};
  return SparseOperandAttr::getChecked(emitError, fields.getContext(), order,
                                       bits, splits);
}

static DictionaryAttr getFieldsOfSparseOperand(Attribute attribute) {
  auto operand = cast<SparseOperandAttr>(attribute);
  return FieldWriter(attribute.getContext())
      .add("order", StringRef(::nm::orderName(operand.getOrder())))
      .add("bits", operand.getBits())
      .add("splits", operand.getSplits())
      .take();
}

static Attribute getQuantization(StringRef, DictionaryAttr fields,
                                 EmitError emitError) {
  FieldReader reader(fields, emitError);
  int64_t bits = reader.getNumber("bits"), group = reader.getNumber("group");
  if (!reader.isDone())
    return {};
  return QuantizationAttr::getChecked(emitError, fields.getContext(), bits,
                                      group);
}

static DictionaryAttr getFieldsOfQuantization(Attribute attribute) {
  auto quantization = cast<QuantizationAttr>(attribute);
  return FieldWriter(attribute.getContext())
      .add("bits", quantization.getBits())
      .add("group", quantization.getGroup())
      .take();
}

static Attribute getChip(StringRef, DictionaryAttr fields,
                         EmitError emitError) {
  FieldReader reader(fields, emitError);
  auto name = reader.get<StringAttr>("name", "a string");
  if (!reader.isDone())
    return {};
  return ChipAttr::getChecked(emitError, fields.getContext(), name.getValue());
}

static DictionaryAttr getFieldsOfChip(Attribute attribute) {
  return FieldWriter(attribute.getContext())
      .add("name", cast<ChipAttr>(attribute).getName())
      .take();
}

template <typename AttrTy, typename Enum,
          std::optional<Enum> (*symbolize)(StringRef)>
static Attribute getEnum(StringRef, DictionaryAttr fields,
                         EmitError emitError) {
  FieldReader reader(fields, emitError);
  Enum value = reader.getCase<Enum>("value", symbolize);
  return reader.isDone() ? Attribute(AttrTy::get(fields.getContext(), value))
                         : Attribute();
}

template <typename AttrTy, typename Enum, StringRef (*stringify)(Enum)>
static DictionaryAttr getFieldsOfEnum(Attribute attribute) {
  return FieldWriter(attribute.getContext())
      .add("value", stringify(cast<AttrTy>(attribute).getValue()))
      .take();
}

static Attribute getTileLayout(StringRef, DictionaryAttr fields,
                               EmitError emitError) {
  FieldReader reader(fields, emitError);
  ArrayRef<int64_t> strides = reader.getNumbers("strides");
  auto isDynamic = reader.get<BoolAttr>("dynamic_offset", "a boolean",
                                        /*isOptional=*/true);
  auto order = reader.get<ArrayAttr>("order", "an array of arrays of i64",
                                     /*isOptional=*/true);
  ArrayRef<int64_t> xors = reader.getNumbers("xor", /*isOptional=*/true);
  int64_t columns = reader.getNumber("panel_columns", 0),
          stride = reader.getNumber("panel_stride", 0);
  if (!reader.isDone())
    return {};
  SmallVector<DenseI64ArrayAttr> bits;
  for (Attribute list : order ? order.getValue() : ArrayRef<Attribute>()) {
    bits.push_back(dyn_cast<DenseI64ArrayAttr>(list));
    if (!bits.back()) {
      emitError() << "expected order to be an array of arrays of i64, but got "
                  << order;
      return {};
    }
  }
  if (strides.empty()) {
    emitError() << "expected at least one stride";
    return {};
  }
  return TileLayoutAttr::getChecked(emitError, fields.getContext(), strides,
                                    bool(isDynamic && isDynamic.getValue()),
                                    ArrayRef(bits), xors, columns, stride);
}

static DictionaryAttr getFieldsOfTileLayout(Attribute attribute) {
  auto layout = cast<TileLayoutAttr>(attribute);
  MLIRContext *context = attribute.getContext();
  SmallVector<Attribute> order(layout.getOrder());
  return FieldWriter(context)
      .add("strides", layout.getStrides())
      .addChoice("dynamic_offset", layout.getHasDynamicOffset())
      .add("order", ArrayAttr::get(context, order))
      .add("xor", layout.getXors())
      .add("panel_columns", layout.getPanelColumns())
      .add("panel_stride", layout.getPanelStride())
      .take();
}

static DictionaryAttr getFieldsOfRowList(Attribute attribute) {
  auto list = cast<RowListAttr>(attribute);
  return FieldWriter(attribute.getContext())
      .add("pattern", list.getPattern())
      .add("packing", list.getPacking())
      .add("windows", list.getWindows())
      .add("dim", list.getDim())
      .take();
}

static DictionaryAttr getFieldsOfRecord(Attribute attribute) {
  auto record = cast<RecordAttr>(attribute);
  FieldWriter writer(attribute.getContext());
  writer.add("source", stringifyScheduleSource(record.getSource()))
      .add("pattern", record.getPattern())
      .add("chip", record.getChip())
      .add("threads", record.getThreads())
      .add("lanes", record.getLanes())
      .add("typical_m", record.getTypicalM())
      .add("estimate_us", record.getEstimateUs())
      .add("dense_us", record.getDenseUs())
      .add("multiply_floor_us", record.getMultiplyFloorUs())
      .add("memory_floor_us", record.getMemoryFloorUs())
      .add("shared_bytes", record.getSharedBytes())
      .add("reason", record.getReason());
  if (record.getFallsBack())
    writer.addChoice("falls_back", *record.getFallsBack());
  if (record.getAlternatives())
    writer.add("alternatives", record.getAlternatives());
  return writer.take();
}

static DictionaryAttr getFieldsOfAlternative(Attribute attribute) {
  auto alternative = cast<AlternativeAttr>(attribute);
  FieldWriter writer(attribute.getContext());
  writer.add("name", alternative.getName())
      .add("strategy", alternative.getStrategy())
      .add("estimate_us", alternative.getEstimateUs())
      .add("extra_us", alternative.getExtraUs())
      .add("why_not", alternative.getWhyNot());
  if (alternative.getChosen())
    writer.addChoice("chosen", *alternative.getChosen());
  return writer.take();
}

static DictionaryAttr getFieldsOfSchedule(Attribute attribute) {
  return cast<ScheduleAttrInterface>(attribute).getParameters();
}

template <typename AttrTy, typename Enum,
          std::optional<Enum> (*symbolize)(StringRef),
          StringRef (*stringify)(Enum)>
static AttributeKind enumKind() {
  return kindOf<AttrTy>(getEnum<AttrTy, Enum, symbolize>,
                        getFieldsOfEnum<AttrTy, Enum, stringify>);
}

template <typename AttrTy>
static AttributeKind scheduleKind() {
  return kindOf<AttrTy>(getByText, getFieldsOfSchedule);
}

template <SourceKind source>
static AttributeKind sourcedKind() {
  return {stringifySourceKind(source),
          [](Attribute attribute) {
            auto schedule = dyn_cast<ScheduleAttrInterface>(attribute);
            return schedule && schedule.getSource() == source;
          },
          getByText, getFieldsOfSchedule};
}

ArrayRef<AttributeKind> mlir::nm::getAttributeKinds() {
  static const AttributeKind kinds[] = {
      kindOf<PatternAttr>(getPattern, getFieldsOfPattern),
      kindOf<EncodingAttr>(getEncoding, getFieldsOfEncoding),
      kindOf<PackingAttr>(getByText, getFieldsOfPacking),
      kindOf<SparseOperandAttr>(getSparseOperand, getFieldsOfSparseOperand),
      kindOf<BitmapAttr>(getNothing<BitmapAttr>, getNoFields),
      kindOf<ColumnsAttr>(getColumns, getFieldsOfColumns),
      kindOf<BitmapPanelsAttr>(getBitmapPanels, getFieldsOfBitmapPanels),
      kindOf<EllAttr>(getEll, getFieldsOfEll),
      kindOf<QuantizationAttr>(getQuantization, getFieldsOfQuantization),
      kindOf<ChipAttr>(getChip, getFieldsOfChip),
      enumKind<ArithmeticAttr, Arithmetic, symbolizeArithmetic,
               stringifyArithmetic>(),
      enumKind<CopyKindAttr, CopyKind, symbolizeCopyKind, stringifyCopyKind>(),
      enumKind<SyncScopeAttr, SyncScope, symbolizeSyncScope,
               stringifySyncScope>(),
      kindOf<ClusterBlockAttr>(getNothing<ClusterBlockAttr>, getNoFields),
      kindOf<TileLayoutAttr>(getTileLayout, getFieldsOfTileLayout),
      kindOf<RowListAttr>(getByText, getFieldsOfRowList),
      kindOf<RecordAttr>(getByText, getFieldsOfRecord),
      kindOf<AlternativeAttr>(getByText, getFieldsOfAlternative),
      kindOf<LoopsScheduleAttr>(getNothing<LoopsScheduleAttr>, getNoFields),
      scheduleKind<VectorScheduleAttr>(),
      scheduleKind<AmxScheduleAttr>(),
      scheduleKind<SimtScheduleAttr>(),
      scheduleKind<GemvScheduleAttr>(),
      scheduleKind<GemvColumnsScheduleAttr>(),
      scheduleKind<SimtColumnsScheduleAttr>(),
      sourcedKind<SourceKind::MmaGathered>(),
      sourcedKind<SourceKind::MmaSparse>(),
      sourcedKind<SourceKind::MmaBitmap>(),
      sourcedKind<SourceKind::MmaImage>(),
      sourcedKind<SourceKind::Gathered>(),
      sourcedKind<SourceKind::Selected>(),
      sourcedKind<SourceKind::Sparse>(),
      scheduleKind<CublasScheduleAttr>(),
  };
  return kinds;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

static Type getToken(StringRef, DictionaryAttr fields, EmitError emitError) {
  FieldReader reader(fields, emitError);
  return reader.isDone() ? Type(TokenType::get(fields.getContext())) : Type();
}

static DictionaryAttr getFieldsOfToken(Type type) {
  return DictionaryAttr::get(type.getContext());
}

static Type getFragment(StringRef, DictionaryAttr fields, EmitError emitError) {
  FieldReader reader(fields, emitError);
  auto destination = reader.get<TypeAttr>("destination", "a memref type");
  if (!reader.isDone())
    return {};
  if (auto type = dyn_cast<MemRefType>(destination.getValue()))
    return FragmentType::get(fields.getContext(), type);
  emitError() << "expected destination to be a memref type, but got "
              << destination;
  return {};
}

static DictionaryAttr getFieldsOfFragment(Type type) {
  MemRefType destination = cast<FragmentType>(type).getDestination();
  return FieldWriter(type.getContext())
      .add("destination", TypeAttr::get(destination))
      .take();
}

static Type getBarriers(StringRef, DictionaryAttr fields, EmitError emitError) {
  FieldReader reader(fields, emitError);
  int64_t stages = reader.getNumber("stages");
  if (!reader.isDone())
    return {};
  return BarriersType::getChecked(emitError, fields.getContext(), stages);
}

static DictionaryAttr getFieldsOfBarriers(Type type) {
  return FieldWriter(type.getContext())
      .add("stages", cast<BarriersType>(type).getStages())
      .take();
}

ArrayRef<TypeKind> mlir::nm::getTypeKinds() {
  static const TypeKind kinds[] = {
      kindOf<TokenType>(getToken, getFieldsOfToken),
      kindOf<FragmentType>(getFragment, getFieldsOfFragment),
      kindOf<BarriersType>(getBarriers, getFieldsOfBarriers),
  };
  return kinds;
}
