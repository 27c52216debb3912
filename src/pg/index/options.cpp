// Defines the index options with the server's reloptions. See options.hpp.

#include "pg/index/options.hpp"

extern "C" {
#include "access/reloptions.h"
}

namespace bloomfilter {
namespace {

// 256 rows make two groups if their filters have one key. A longer list makes scans slower: each
// row of the list costs a scan a probe of its filter in the table.
constexpr int kListLimit = 256;
constexpr int kLeastLimit = 16, kMostLimit = 1000000;

struct IndexOptions {
  int32 vl_len_; // do not touch directly
  int list_limit;
};

relopt_kind kind;

} // namespace

void define_index_options() {
  kind = add_reloption_kind();
  add_int_reloption(kind, "list_limit", "Filters that are added before they are moved into groups.",
                    kListLimit, kLeastLimit, kMostLimit, ShareUpdateExclusiveLock);
}

bytea *index_options(Datum options, bool validate) {
  relopt_parse_elt elements[1] = {};
  elements[0].optname = "list_limit";
  elements[0].opttype = RELOPT_TYPE_INT;
  elements[0].offset = offsetof(IndexOptions, list_limit);
  return static_cast<bytea *>(
      build_reloptions(options, validate, kind, sizeof(IndexOptions), elements, 1));
}

int list_limit(Relation index) {
  const auto *options = reinterpret_cast<const IndexOptions *>(index->rd_options);
  return options ? options->list_limit : kListLimit;
}

} // namespace bloomfilter
