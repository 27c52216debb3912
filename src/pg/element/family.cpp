// See family.hpp.

#include "pg/element/family.hpp"

#include "pg/names.hpp"

extern "C" {
#include "catalog/pg_type.h"
}

namespace bloomfilter {

namespace {

// The names of the families, indexed by the family's number. NULL for an open family.
constexpr const char *kFamilyNames[] = {
    nullptr,   "integer",  "float",      "numeric", "text",      "bytea",       "uuid",
    "boolean", "\"char\"", "oid",        "date",    "timestamp", "timestamptz", "time",
    "timetz",  "interval", "inet",       "macaddr", "macaddr8",  "jsonb",       "enum",
    "array",   "range",    "multirange", "row",     "hash",      "byte string", "integer",
    "text",    "float",    nullptr,
};
static_assert(lengthof(kFamilyNames) == static_cast<int>(kLastFamily) + 1,
              "every family has a name");

// The type of the first value may have been a mistake, for example because the value was a bare
// literal, which is text. The hint shows how to name the type before the first value. Anonymous
// rows have no type that could be named.
const char *hint_at_first_value(Kind kind, const ValueType *value_type) {
  return value_type->type == RECORDOID
             ? ""
             : psprintf(" An empty filter takes the type of its first value; %s_create(expected, "
                        "type => %s) names it beforehand.",
                        prefix_of(kind), quote_literal_cstr(format_type_be(value_type->type)));
}

} // namespace

int hint_at_elements(Kind kind) {
  return errhint("It holds whole arrays, such as '{...}'::text[]. To hold the elements of a "
                 "column's arrays, build it over unnest(): SELECT %s_agg(element) FROM table_name, "
                 "unnest(column_name) element.",
                 prefix_of(kind));
}

bool holds(const Header &header, const ValueType *value_type) {
  const Family family = header.element_type.family;
  const Layout layout = header.geometry.layout;
  if (is_foreign(layout)) {
    const Family stored = stored_family(scheme_of(layout, family), value_type->family);
    return stored != Family::none && (is_open(family) || family == stored);
  }
  return is_open(family) || family == Family::hash || fits(header, value_type);
}

void raise_mismatch(const Header &header, const ValueType *value_type, Purpose purpose) {
  const Layout layout = header.geometry.layout;
  if (is_foreign(layout) && stored_family(scheme_of(layout, header.element_type.family),
                                          value_type->family) == Family::none)
    ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                    errmsg("bloom filters of layout \"%s\" do not hold %s values",
                           layout_name(layout, header.element_type.family),
                           format_type_be(value_type->type)),
                    errhint("Cast the value to a type that the layout knows.")));

  const char *type = format_type_be(value_type->type);
  const Kind kind = kind_of(header.geometry.layout);
  if (header.element_type.family == value_type->family)
    ereport(ERROR,
            (errcode(ERRCODE_DATATYPE_MISMATCH),
             errmsg("%s holds %s values of another composition, but the value is %s", noun_of(kind),
                    family_name(header.element_type.family), type),
             errdetail("The filter's element type is %s, that of the value is %s.",
                       element_type_in_words(header.element_type), value_type_in_words(value_type)),
             errhint("Cast the value to the type that the filter was built from.")));
  ereport(
      ERROR,
      (errcode(ERRCODE_DATATYPE_MISMATCH),
       errmsg("%s holds %s values, but the value is %s", noun_of(kind),
              family_name(header.element_type.family), type),
       header.element_type.family == Family::array ? hint_at_elements(kind)
       : value_type->family != Family::array
           ? errhint("Cast the value to the type that the filter was built from.%s",
                     purpose == Purpose::change ? hint_at_first_value(kind, value_type) : "")
       : kind == Kind::bloom
           ? errhint("To add the array's elements, call bf_add_all(); to probe for them, "
                     "bf_contains_all(), bf_contains_any() or bf_contains_each().")
           : errhint("To add the array's elements, call %s_add_all(); probe for them, or remove "
                     "them, one by one.",
                     prefix_of(kind))));
}

bool same_family(const ElementType &one, const ElementType &other) {
  return is_open(one.family) || is_open(other.family) || one == other;
}

void check_family(const Header &header, const Header &other) {
  const ElementType &one = header.element_type, &another = other.element_type;
  if (same_family(one, another))
    return;
  if (one.family != another.family)
    ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                    errmsg("%ss hold values of different types: %s and %s",
                           noun_of(kind_of(header.geometry.layout)), family_name(one.family),
                           family_name(another.family)),
                    errhint("Build both filters from values of one type, with a cast if needed.")));
  ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                  errmsg("%ss hold %s values of different compositions",
                         noun_of(kind_of(header.geometry.layout)), family_name(one.family)),
                  errdetail("The element types are %s and %s.", element_type_in_words(one),
                            element_type_in_words(another)),
                  errhint("Build both filters from values of one type, with a cast if needed.")));
}

void adopt_family(Header *header, const ElementType &member) {
  if (is_open(header->element_type.family)) {
    const Scheme &scheme = scheme_of(header->geometry.layout, header->element_type.family);
    header->element_type = {stored_family(scheme, member.family), member.shape};
  }
}

const char *family_name(Family family) {
  return kFamilyNames[static_cast<int>(family)];
}

void check_hashed_alike(const Header &header) {
  if (is_foreign(header.geometry.layout))
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("bloom filters of layout \"%s\" do not take hashes",
                           layout_name(header.geometry.layout, header.element_type.family)),
                    errhint("Add the value itself, or probe for it.")));
}

} // namespace bloomfilter
