//===- nm-tblgen.cpp - Plain structs of schedules from their records ------===//
//
// Cost models know no MLIR. What they choose is a struct of plain fields, which
// this makes of the parameters of all schedules in NMSchedules.td, with what
// converts the struct to attributes and back, and the verifiers of these.
//
//===----------------------------------------------------------------------===//

#include "mlir/TableGen/AttrOrTypeDef.h"
#include "mlir/TableGen/EnumInfo.h"
#include "mlir/TableGen/Format.h"
#include "mlir/TableGen/GenInfo.h"
#include "mlir/Tools/mlir-tblgen/MlirTblgenMain.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/TableGen/Error.h"
#include "llvm/TableGen/Record.h"

using namespace mlir;
using namespace mlir::tblgen;
using llvm::formatv;
using llvm::Record;
using llvm::RecordKeeper;

namespace {
/// A parameter whose record is an NM_Field.
class Field {
public:
  Field(const AttrOrTypeParameter &parameter, const Record *record)
      : parameter(parameter.getName().str()),
        type(parameter.getCppAccessorType().str()), record(record) {}

  /// The field's name without a suffix.
  std::string getName() const {
    return llvm::convertToCamelFromSnakeCase(parameter);
  }
  std::string getGetter() const {
    return "get" +
           llvm::convertToCamelFromSnakeCase(parameter, /*capitalize=*/true);
  }
  SmallVector<std::string> listNames() const {
    SmallVector<std::string> names;
    for (StringRef suffix : record->getValueAsListOfStrings("suffixes"))
      names.push_back(getName() + suffix.str());
    return names;
  }
  StringRef get(StringRef property) const {
    return record->getValueAsString(property);
  }
  bool hasSizes() const { return listNames().size() > 1; }
  /// Whether the plain struct has `other` in the same form.
  bool matches(const Field &other) const {
    return get("plainType") == other.get("plainType") &&
           get("plainDefault") == other.get("plainDefault");
  }

  /// How the attribute has it.
  std::string parameter, type;
  const Record *record;
};

/// A schedule whose parameters are all fields.
struct Schedule {
  std::string className, strategy;
  const Record *record;
  SmallVector<Field> fields;

  /// The cases of `source` that lack the field, as a condition of the values
  /// `source`; empty where all have it.
  std::string listSourcesWithout(const Field &field) const {
    SmallVector<std::string> conditions;
    if (record->isSubClassOf("NM_SourcedScheduleAttr"))
      for (const Record *source : record->getValueAsListOfDefs("sources"))
        if (llvm::is_contained(source->getValueAsListOfStrings("lacks"),
                               field.parameter))
          conditions.push_back("source == SourceKind::" +
                               source->getValueAsString("symbol").str());
    return llvm::join(conditions, " || ");
  }
};
} // namespace

static SmallVector<Schedule> listSchedules(const RecordKeeper &records) {
  SmallVector<Schedule> schedules;
  for (const Record *record :
       records.getAllDerivedDefinitions("NM_ScheduleAttr")) {
    AttrDef def(record);
    Schedule schedule{
        def.getCppClassName().str(), def.getMnemonic()->str(), record, {}};
    for (const AttrOrTypeParameter &parameter : def.getParameters())
      if (auto *init = dyn_cast<llvm::DefInit>(parameter.getDef());
          init && init->getDef()->isSubClassOf("NM_Field"))
        schedule.fields.emplace_back(parameter, init->getDef());
    if (schedule.fields.size() == def.getParameters().size())
      schedules.push_back(schedule);
  }
  return schedules;
}

namespace {
/// A field, the schedules that have it, and its longest list of names.
struct SharedField {
  Field field;
  SmallVector<std::string> names, strategies;
};
} // namespace

static llvm::MapVector<StringRef, SharedField>
shareFields(ArrayRef<Schedule> schedules) {
  llvm::MapVector<StringRef, SharedField> shared;
  for (const Schedule &schedule : schedules)
    for (const Field &field : schedule.fields) {
      auto [place, isNew] =
          shared.insert({field.parameter, SharedField{field, {}, {}}});
      SharedField &known = place->second;
      if (!known.field.matches(field))
        llvm::PrintFatalError(schedule.record,
                              "expected '" + field.parameter + "' as #nm." +
                                  known.strategies.front() + " has it");
      known.strategies.push_back(schedule.strategy);
      if (field.listNames().size() > known.names.size())
        known.names = field.listNames();
    }
  return shared;
}

//===----------------------------------------------------------------------===//
// Plain structs
//===----------------------------------------------------------------------===//

/// The enums that fields are of, as plain ones.
static void emitEnums(const RecordKeeper &records, ArrayRef<Schedule> schedules,
                      raw_ostream &os) {
  llvm::StringSet<> emitted;
  for (const Schedule &schedule : schedules)
    for (const Field &field : schedule.fields) {
      if (!field.record->isSubClassOf("NM_Case") ||
          !emitted.insert(field.get("enumName")).second)
        continue;
      const Record *record =
          records.getDef(("NM_" + field.get("enumName")).str());
      if (!record)
        llvm::PrintFatalError(field.record, "expected a definition of NM_" +
                                                field.get("enumName"));
      EnumInfo info(record);
      os << formatv("/// Of {0}.\nenum class {1} {{\n", info.getSummary(),
                    info.getEnumClassName());
      for (const EnumCase &enumCase : info.getAllCases())
        os << formatv("  {0} = {1},\n", enumCase.getSymbol(),
                      enumCase.getValue());
      os << "};\n\n";
    }
}

static bool emitStructs(const RecordKeeper &records, raw_ostream &os) {
  SmallVector<Schedule> schedules = listSchedules(records);
  auto fields = shareFields(schedules);
  os << "// Made by nm-tblgen of NMSchedules.td.\n\n";
  emitEnums(records, schedules, os);
  os << "/// The fields of all schedules; each strategy has some of them.\n"
        "struct ScheduleFields {\n";
  for (const auto &[parameter, shared] : fields) {
    os << formatv("  /// `{0}` of {1}.\n", parameter,
                  llvm::join(shared.strategies, ", "));
    for (const std::string &name : shared.names)
      os << formatv("  {0} {1} = {2};\n", shared.field.get("plainType"), name,
                    shared.field.get("plainDefault"));
  }
  os << "};\n\n/// The fields that are given.\nstruct GivenFields {\n";
  for (const auto &[parameter, shared] : fields)
    for (const std::string &name : shared.names)
      os << formatv("  std::optional<{0}> {1};\n",
                    shared.field.get("plainType"), name);
  os << "\n  /// Puts these in place of those of `fields`.\n"
        "  void replaceIn(ScheduleFields &fields) const {\n";
  for (const auto &[parameter, shared] : fields)
    for (const std::string &name : shared.names)
      os << formatv("    fields.{0} = {0}.value_or(fields.{0});\n", name);
  os << "  }\n};\n";
  return false;
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

/// Names the parameter `given` in a condition of that it is.
static std::string getIfGiven(const Field &field) {
  return formatv("  if (auto given = {0}{1})", field.parameter,
                 field.hasSizes() ? "; !given.empty()" : "");
}

/// Reads the parameter to the fields that are given.
static void emitToPlain(const Field &field, raw_ostream &os) {
  os << getIfGiven(field) << " {\n";
  for (auto [i, name] : llvm::enumerate(field.listNames()))
    os << formatv("    fields.{0} = {1};\n", name,
                  field.hasSizes() ? formatv("given[{0}]", i).str()
                                   : field.get("toPlain").str());
  os << "  }\n";
}

/// Makes a variable of the parameter's name and type of the field.
static void emitFromPlain(const Field &field, const Schedule &schedule,
                          raw_ostream &os) {
  std::string name = field.getName();
  SmallVector<std::string> names = field.listNames();
  if (field.hasSizes()) {
    os << formatv("  const int64_t {0}Sizes[] = {{fields.{1}};\n", name,
                  llvm::join(names, ", fields."))
       << formatv("  ::llvm::ArrayRef<int64_t> {0};\n  if (fields.{1} != 0)\n"
                  "    {0} = {0}Sizes;\n",
                  name, names.front());
    return;
  }
  std::string condition = field.get("writtenIf").str();
  if (condition.empty())
    condition = "true";
  if (std::string without = schedule.listSourcesWithout(field);
      !without.empty())
    condition = formatv("!({0}) && ({1})", without, condition);
  os << formatv("  {0} {1};\n", field.get("cppType"), name);
  os << formatv("  if ([[maybe_unused]] auto field = fields.{0}; {1})\n"
                "    {0} = {2};\n",
                name, condition, field.get("fromPlain"));
}

/// The same of fields of which some are given, and no others are written.
static void emitFromGiven(const Field &field, raw_ostream &os) {
  std::string name = field.getName();
  SmallVector<std::string> names = field.listNames();
  if (field.hasSizes()) {
    os << formatv("  ::llvm::SmallVector<int64_t> {0}Sizes;\n"
                  "  if (fields.{1})\n    {0}Sizes = {{*fields.{2}};\n"
                  "  ::llvm::ArrayRef<int64_t> {0}({0}Sizes);\n",
                  name, names.front(), llvm::join(names, ", *fields."));
    return;
  }
  os << formatv("  {0} {1};\n  if (fields.{1}) {{\n"
                "    auto field = *fields.{1};\n    {1} = {2};\n  }\n",
                field.get("cppType"), name, field.get("fromPlain"));
}

/// What `each` makes of all fields, one behind the other.
static std::string
listFields(const Schedule &schedule,
           llvm::function_ref<std::string(const Field &)> each) {
  return llvm::join(llvm::map_range(schedule.fields, each), ", ");
}

/// The fields that parameters give, and those that an attribute has.
static void emitReaders(const Schedule &schedule, raw_ostream &os) {
  std::string parameters = listFields(schedule, [](const Field &field) {
    return field.type + " " + field.parameter;
  });
  os << formatv("static ::nm::GivenFields read{0}Fields({1}) {{\n"
                "  ::nm::GivenFields fields;\n",
                schedule.className, parameters);
  for (const Field &field : schedule.fields)
    emitToPlain(field, os);
  std::string getters = listFields(schedule, [](const Field &field) {
    return "schedule." + field.getGetter() + "()";
  });
  os << formatv("  return fields;\n}\n\n"
                "static ::nm::GivenFields readFields({0} schedule) {{\n"
                "  return read{0}Fields({1});\n}\n\n",
                schedule.className, getters);
}

/// The verifier: what each field is checked for, then what several are
/// together.
static void emitVerifier(const Schedule &schedule, raw_ostream &os) {
  std::string parameters = listFields(schedule, [](const Field &field) {
    return field.type + " " + field.parameter;
  });
  os << formatv("::llvm::LogicalResult {0}::verify(\n"
                "    ::llvm::function_ref<::mlir::InFlightDiagnostic()> "
                "emitError,\n    {1}) {{\n",
                schedule.className, parameters);
  bool isWhole = !schedule.record->isSubClassOf("NM_SourcedScheduleAttr");
  for (const Field &field : schedule.fields) {
    // Readers rely on the numbers of sizes alone; the rest is checked once the
    // dialect's parser has added the source.
    if (!isWhole && !field.hasSizes() && field.parameter != "source") {
      os << "  if (!source)\n    return ::mlir::success();\n";
      isWhole = true;
    }
    if (std::string without = schedule.listSourcesWithout(field);
        !without.empty())
      os << getIfGiven(field)
         << formatv("\n    if ({0})\n      return refuseParameter(emitError, "
                    "\"{1}\", *source);\n",
                    without, field.parameter);
    if (field.get("check").empty())
      continue;
    FmtContext context;
    context.addSubst("_name", field.parameter);
    os << getIfGiven(field) << "\n    if (failed("
       << tgfmt(field.get("check"), &context)
       << "))\n      return ::mlir::failure();\n";
  }
  std::string names =
      listFields(schedule, [](const Field &field) { return field.parameter; });
  os << formatv("  [[maybe_unused]] ::nm::GivenFields fields = "
                "read{0}Fields({1});\n",
                schedule.className, names);
  for (StringRef check : schedule.record->getValueAsListOfStrings("checks"))
    os << formatv("  if (failed(verify{0}(emitError, fields)))\n"
                  "    return ::mlir::failure();\n",
                  check);
  os << "  return ::mlir::success();\n}\n\n";
}

static bool emitConversions(const RecordKeeper &records, raw_ostream &os) {
  SmallVector<Schedule> schedules = listSchedules(records);
  os << "// Made by nm-tblgen of NMSchedules.td.\n\n";
  for (const Schedule &schedule : schedules) {
    emitReaders(schedule, os);
    emitVerifier(schedule, os);
    os << formatv("template <>\n{0} mlir::nm::getSchedule<{0}>(\n"
                  "    ::llvm::function_ref<::mlir::InFlightDiagnostic()> "
                  "emitError,\n    ::mlir::MLIRContext *context, const "
                  "::nm::ScheduleFields &fields) {{\n",
                  schedule.className);
    std::string names;
    for (const Field &field : schedule.fields) {
      emitFromPlain(field, schedule, os);
      names += ", " + field.getName();
    }
    os << formatv("  return {0}::getChecked(emitError, context{1});\n}\n\n"
                  "template <>\n{0} mlir::nm::getSchedule<{0}>(\n"
                  "    ::llvm::function_ref<::mlir::InFlightDiagnostic()> "
                  "emitError,\n    ::mlir::MLIRContext *context, const "
                  "::nm::GivenFields &fields) {{\n",
                  schedule.className, names);
    for (const Field &field : schedule.fields)
      emitFromGiven(field, os);
    os << formatv("  return {0}::getChecked(emitError, context{1});\n}\n\n",
                  schedule.className, names);
  }
  os << "::nm::GivenFields mlir::nm::getGivenFields(ScheduleAttrInterface "
        "schedule) {\n"
        "  if (!schedule)\n    return {};\n"
        "  return ::llvm::TypeSwitch<::mlir::Attribute, ::nm::GivenFields>("
        "schedule)\n";
  for (const Schedule &schedule : schedules)
    os << formatv("      .Case([]({0} it) {{ return readFields(it); })\n",
                  schedule.className);
  os << "      .Default([](::mlir::Attribute) { return ::nm::GivenFields(); "
        "});\n}\n";
  return false;
}

static GenRegistration
    structs("gen-schedule-structs",
            "Generate the plain structs of schedules, without MLIR",
            emitStructs);
static GenRegistration conversions(
    "gen-schedule-conversions",
    "Generate what converts plain schedules to attributes and back, and "
    "verifiers",
    emitConversions);

int main(int argc, char **argv) { return MlirTblgenMain(argc, argv); }
