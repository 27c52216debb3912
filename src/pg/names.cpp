// See names.hpp.

#include "pg/names.hpp"

extern "C" {
#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "lib/stringinfo.h"
#include "parser/parse_type.h"
#include "utils/builtins.h"
#include "utils/syscache.h"
}

namespace bloomfilter {
namespace {

constexpr struct {
  const char *noun, *type, *prefix;
} kKinds[] = {{"bloom filter", "bloomfilter", "bf"},
              {"counting bloom filter", "countingbloomfilter", "cbf"},
              {"cuckoo filter", "cuckoofilter", "cf"}}; // indexed by Kind
static_assert(lengthof(kKinds) == kLastKind + 1, "a row for each");

// Returns the name of a type that may be ours, or an empty name. A type of ours is a base type of
// variable length, which only superusers can make. So an enum that a user named bloomfilter is not
// mistaken for ours.
NameData possible_name(Oid type) {
  NameData name = {};
  const Type entry = typeidType(type);
  const auto *form = reinterpret_cast<Form_pg_type>(GETSTRUCT(entry));
  if (form->typtype == TYPTYPE_BASE && form->typlen == -1)
    name = form->typname;
  ReleaseSysCache(entry);
  return name;
}

} // namespace

const char *noun_of(Kind kind) {
  return kKinds[static_cast<int>(kind)].noun;
}

const char *type_of(Kind kind) {
  return kKinds[static_cast<int>(kind)].type;
}

const char *prefix_of(Kind kind) {
  return kKinds[static_cast<int>(kind)].prefix;
}

bool is_filter_type(Oid type, Kind *kind) {
  const NameData name = possible_name(type);
  for (Size i = 0; i < lengthof(kKinds); i++)
    if (strcmp(NameStr(name), kKinds[i].type) == 0) {
      *kind = static_cast<Kind>(i);
      return true;
    }
  return false;
}

Oid access_method_of(const char *name) {
  return get_am_oid(name, true);
}

bool is_partial_type(Oid type) {
  const NameData name = possible_name(type);
  return strcmp(NameStr(name), "bf_partial") == 0;
}

int hint_at_filters(Kind kind) {
  switch (kind) {
  case Kind::counting:
    return errhint("To unite filters, use cbf_union() or cbf_union_agg(); to compare them, cast "
                   "them to bloomfilter and use bf_intersect_count() or bf_jaccard().");
  case Kind::cuckoo:
    return errhint("To unite filters, use cf_union() or cf_union_agg(); they cannot be compared.");
  case Kind::bloom:
    break;
  }
  return errhint("To compare filters, use bf_intersect_count() or bf_jaccard(); to unite them, "
                 "bf_union() or bf_union_agg().");
}

const char *layout_name(Layout layout, Family family) {
  return layout == Layout::pages ? "pages" : scheme_of(layout, family).name;
}

const Scheme &scheme_for(const text *argument, bool has_type) {
  const Size length = VARSIZE_ANY_EXHDR(argument);
  for (const Scheme &scheme : kSchemes)
    if (scheme.name && strlen(scheme.name) == length &&
        pg_strncasecmp(scheme.name, VARDATA_ANY(argument), length) == 0)
      return scheme;
  StringInfoData names;
  initStringInfo(&names);
  for (const Scheme &scheme : kSchemes)
    if (scheme.name)
      appendStringInfo(&names, "%s%s", names.len > 0 ? ", " : "", scheme.name);
  const char *name = text_to_cstring(argument);
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                  errmsg("bloom filter layout \"%s\" is unknown", name),
                  errhint("Layouts are %s.%s", names.data,
                          has_type ? psprintf(" To name an element type, write type => %s.",
                                              quote_literal_cstr(name))
                                   : "")));
}

} // namespace bloomfilter
