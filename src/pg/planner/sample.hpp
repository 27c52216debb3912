// A filter's count and rate from a sample of its bits, wherever they are stored.
//
// The planner and ANALYZE must not read 512 MiB to guess a number of rows. So at most kSampledParts
// parts of a link are read, spread evenly, and slices of a stored one. Values fall into units at
// random, so a part of the units says as much as all of them, to a per cent or so.
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

// Samples a value, however it is stored. Nothing is known, and `header` is not set, if the value is
// not a sound filter or if it is compressed and large; this is no error.
FilterEstimate sample_filter(Datum value, Header *header);

// Samples a sound payload in memory, whose header this is.
FilterEstimate sample_payload(const uint8 *payload, const Header &header);

} // namespace bloomfilter

#endif
