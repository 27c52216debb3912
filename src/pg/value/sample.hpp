// Estimates a filter's number of values and its false positive rate from a sample of its bits,
// wherever they are stored.
//
// The planner and ANALYZE must not read 512 MiB to guess a number of rows. So they read at most
// kSampledParts parts of each link, spread evenly. Of a value stored out of line, they read slices.
// Values fall into units at random. A part of the units therefore tells as much as all of them, to
// within about one per cent.
#pragma once

#include "pg/server.hpp"

#include "core/format.hpp"

namespace bloomfilter {

// The estimate for one filter, or the means of several. All fields are 0 if nothing is known.
struct FilterEstimate {
  double values; // the number of distinct values
  double rate;   // the current false positive rate
  double bytes;  // the size of the filter as a value

  bool is_known() const { return bytes > 0; }
};

constexpr int kSampledParts = 64;
constexpr Size kPartBytes = 4096; // or one unit, if a unit is larger

// Samples a value, however it is stored. Nothing is known if the value is not a sound filter, or if
// it is compressed and large. This is no error. `header` is not set then.
FilterEstimate sample_filter(Datum value, Header *header);

// Samples a sound payload in memory that has this header.
FilterEstimate sample_payload(const uint8 *payload, const Header &header);

} // namespace bloomfilter
