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

} // namespace

const char *noun_of(Kind kind) {
  switch (kind) {
  case Kind::counting:
    return "counting bloom filter";
  case Kind::cuckoo:
    return "cuckoo filter";
  default:
    return "bloom filter";
  }
}

const char *type_of(Kind kind) {
  switch (kind) {
  case Kind::counting:
    return "countingbloomfilter";
  case Kind::cuckoo:
    return "cuckoofilter";
  default:
    return "bloomfilter";
  }
}

const char *prefix_of(Kind kind) {
  switch (kind) {
  case Kind::counting:
    return "cbf";
  case Kind::cuckoo:
    return "cf";
  default:
    return "bf";
  }
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
