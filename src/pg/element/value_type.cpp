// Looks up element types (see value_type.hpp), and raises the errors for types and collations that
// filters do not support. Which types are supported is decided in scalar.cpp and composed.cpp.

#include "pg/element/canonical.hpp"

#include "pg/list.hpp"
#include "pg/names.hpp"

extern "C" {
#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "parser/parse_coerce.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/syscache.h"
}

namespace bloomfilter {

namespace {

// Names a supported type to which values of an unsupported type can be cast.
const char *supported_instead_of(Oid base) {
  switch (base) {
  case JSONOID:
    return "jsonb";
  case MONEYOID:
    return "numeric";
  default: // the text of a regclass depends on search_path
    return IsBinaryCoercible(base, OIDOID) ? "oid" : "a supported type, such as text";
  }
}

[[noreturn]] void raise_unsupported(Oid type, Oid base) {
  char category;
  bool preferred;
  Kind kind;
  get_type_category_preferred(base, &category, &preferred);
  ereport(ERROR,
          (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
           errmsg("bloom filters of type %s are not supported", format_type_be(type)),
           is_filter_type(base, &kind) ? hint_at_filters(kind)
           : category == TYPCATEGORY_STRING
               ? errhint("The type may call values equal that differ in bytes; use a canonical "
                         "form of the value, such as lower(value::text), on both sides.")
               : errhint("Cast the value to %s, on both sides.", supported_instead_of(base))));
}

} // namespace

// Values are hashed by their bytes, so equal values must have equal bytes under the collation.
void check_collation(Oid type, Oid collation) {
  if (!OidIsValid(collation))
    ereport(ERROR, (errcode(ERRCODE_INDETERMINATE_COLLATION),
                    errmsg("could not determine which collation to use for a bloom filter of %s",
                           format_type_be(type)),
                    errhint("Use the COLLATE clause to set the collation explicitly.")));
  if (!get_collation_isdeterministic(collation))
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("nondeterministic collations are not supported for bloom filters"),
                    errdetail("Values that are equal under collation \"%s\" can differ in bytes.",
                              get_collation_name(collation)),
                    errhint("Use a canonical form of the value, such as lower(value), and a "
                            "deterministic collation, such as COLLATE \"C\", on both sides.")));
}

ValueType *resolve_value_type(Oid type, Oid collation, MemoryContext context) {
  if (!OidIsValid(type))
    ereport(ERROR, (errcode(ERRCODE_INDETERMINATE_DATATYPE),
                    errmsg("could not determine the type of a bloom filter's value")));

  auto *value_type = make_zeroed<ValueType>(context);
  value_type->context = context;
  value_type->type = type;
  value_type->base = getBaseType(type);
  value_type->varying = value_type->base == VARCHAROID;
  if (!resolve_scalar(value_type, collation) && !resolve_composed(value_type, collation))
    raise_unsupported(type, value_type->base);
  return value_type;
}

ValueType *named_value_type(Oid type, MemoryContext context) {
  if (!SearchSysCacheExists1(TYPEOID, ObjectIdGetDatum(type)))
    ereport(ERROR,
            (errcode(ERRCODE_UNDEFINED_OBJECT), errmsg("type with OID %u does not exist", type)));
  // record[] is allowed although it is a pseudo-type: the shape of an array of anonymous rows does
  // not depend on the fields of the rows.
  if (get_typtype(type) == TYPTYPE_PSEUDO && type != RECORDARRAYOID)
    ereport(
        ERROR,
        (errcode(ERRCODE_WRONG_OBJECT_TYPE),
         errmsg("pseudo-type %s does not say which values a filter holds", format_type_be(type)),
         type == RECORDOID ? errhint("Name a composite type with the fields of the rows.")
                           : errhint("Name a type that a column can have.")));
  ValueType *value_type = resolve_value_type(type, get_typcollation(type), context);
  if (value_type->family == Family::row)
    resolve_named_rows(value_type);
  return value_type;
}

ValueType *replace_value_type(Oid type, Oid collation, MemoryContext parent,
                              MemoryContext *memory) {
  if (*memory)
    MemoryContextReset(*memory);
  else
    *memory = AllocSetContextCreate(parent, "bloomfilter element type", ALLOCSET_SMALL_SIZES);
  return resolve_value_type(type, collation, *memory);
}

} // namespace bloomfilter
