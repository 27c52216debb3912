#include "pg/layout.hpp"

extern "C" {
#include "lib/stringinfo.h"
#include "utils/builtins.h"
}

namespace bloomfilter {
namespace {

constexpr struct {
  const char *noun, *type, *prefix;
} kKinds[] = {{"bloom filter", "bloomfilter", "bf"},
              {"counting bloom filter", "countingbloomfilter", "cbf"},
              {"cuckoo filter", "cuckoofilter", "cf"}}; // by the number of Kind

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

const char *layout_name(Layout layout, Family family) {
  return layout == Layout::pages ? "pages" : scheme_of(layout, family).name;
}

const Scheme &scheme_for(const text *argument) {
  const char *name = text_to_cstring(argument);
  StringInfoData names;
  initStringInfo(&names);
  for (const Scheme &scheme : kSchemes)
    if (scheme.name) {
      if (pg_strcasecmp(scheme.name, name) == 0)
        return scheme;
      appendStringInfo(&names, "%s%s", names.len > 0 ? ", " : "", scheme.name);
    }
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                  errmsg("bloom filter layout \"%s\" is unknown", name),
                  errhint("Layouts are %s.", names.data)));
}

} // namespace bloomfilter
