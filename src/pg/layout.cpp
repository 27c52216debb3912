#include "pg/layout.hpp"

extern "C" {
#include "utils/builtins.h"
}

namespace bloomfilter {
namespace {

// By layout number.
constexpr const char *kNames[] = {nullptr,
                                  "lines",
                                  "pages",
                                  "guava",
                                  "guava_integer",
                                  "guava_chars",
                                  "guava_mitz32",
                                  "guava_integer_mitz32",
                                  "guava_chars_mitz32",
                                  "parquet",
                                  "parquet_int32",
                                  "parquet_float",
                                  "redis"};
static_assert(lengthof(kNames) == static_cast<int>(kLastBloomLayout) + 1,
              "every layout has a name");

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

const char *layout_name(Layout layout) {
  return kNames[static_cast<int>(layout)];
}

Layout layout_for(const text *argument) {
  const char *name = text_to_cstring(argument);
  for (int number = 1; number <= static_cast<int>(kLastBloomLayout); number++) {
    const auto layout = static_cast<Layout>(number);
    const bool made = layout != Layout::pages && layout != Layout::redis;
    if (made && pg_strcasecmp(layout_name(layout), name) == 0)
      return layout;
  }
  ereport(ERROR,
          (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
           errmsg("bloom filter layout \"%s\" is unknown", name),
           errhint("Layouts are lines, parquet, parquet_int32, parquet_float, and guava, "
                   "guava_integer, guava_chars, the last three also with _mitz32 appended.")));
}

} // namespace bloomfilter
