// A filter's count and rate from a sample of its bits, wherever they are stored.
//
// For the planner and ANALYZE, which must not read 512 MiB to guess a number of rows: of a link at
// most kSampledParts parts are read, spread evenly, and of a stored one by slice. Values fall into
// units at random, so that a share of the units says as much as all of them, to a per cent or so.
#ifndef BLOOMFILTER_PG_PLANNER_SAMPLE_HPP
#define BLOOMFILTER_PG_PLANNER_SAMPLE_HPP

#include "pg/server.hpp"

#include "core/format.hpp"

namespace bloomfilter {

// An estimate of one filter, or the means of several. All fields are 0 if nothing is known.
struct FilterEstimate {
  double values; // the number of distinct values
  double rate;   // the false positive rate now
  double bytes;  // the size as a value

  bool is_known() const { return bytes > 0; }
};

constexpr int kSampledParts = 64;
constexpr Size kPartBytes = 4096; // or a unit, if that is more

// Of a value of any storage. Unknown, without an error, if it is not a sound filter, and if it is
// compressed and large; `header` is then not set.
FilterEstimate sample_filter(Datum value, Header *header);

// Of a sound payload in memory, and its header.
FilterEstimate sample_payload(const uint8 *payload, const Header &header);

} // namespace bloomfilter

#endif
