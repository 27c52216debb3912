// Filters of several links: asking them, uniting them, and the link that growth adds.
//
// Filters of different sizes cannot share a bitmap without ruining the rate of one, so their union
// keeps both as links. A value is in the set if any link says so, and the rates add up.
//
// A union does not depend on the order or the number of times in which filters come together, down
// to the last byte, because every set of links has one normal form:
//
// - Links of one geometry that were made for an asked capacity are OR-ed: that is the filter of all
//   values. Of their capacities, the larger number of values and the larger rate stay.
// - Links that sized themselves (kFlagOwn) are as full as their rate allows: two in one bitmap
//   would give many times the rate. They are never OR-ed. One whose bits are all in another link of
//   its geometry is left out; of two with the same bits one stays. Without values they are left
//   out, too, unless there is nothing else.
// - Links are ordered by geometry; of one geometry, those that sized themselves come first, in the
//   order of their bytes.
//
// Growth is the scheme of P. S. Almeida, C. Baquero, N. Preguica, D. Hutchison, "Scalable Bloom
// Filters", Information Processing Letters 101 (2007): a series of filters, each twice as large as
// the one before at 3/4 of its rate, the first at a quarter of the rate asked for. The rates' sum
// stays below it: r/4 (1 + 3/4 + 9/16 + ...) = r.
#ifndef BLOOMFILTER_CORE_LINKS_HPP
#define BLOOMFILTER_CORE_LINKS_HPP

#include <cstddef>
#include <cstdint>

#include "core/digest.hpp"
#include "core/format.hpp"
#include "core/kernel.hpp"
#include "core/pause.hpp"

namespace bloomfilter {

// A link with its bitmap, or with two that are to be OR-ed. NULL is a bitmap without values.
struct LinkView {
  Link link;
  const std::uint8_t *bitmap;
  const std::uint8_t *other;
};

// The links of a parsed value; returns their number, at most kMaxLinks.
int view_links(const std::uint8_t *payload, const Header &header, LinkView *views);

// Brings the links of one value, or of two values one behind the other, into the normal form of
// their union; returns their number. Pauses before each pair of bitmaps that it compares.
int normalize_links(LinkView *views, int count, Pause pause);

// Leaves out each link that sized itself if another one of its geometry, with a number of `from` or
// above, has all its bits; returns how many are left. Pauses before each comparison, too.
int drop_covered(LinkView *views, int count, int from, Pause pause);

// Possibly in any link of a value?
bool links_contain(const Kernel &kernel, const std::uint8_t *payload, const Header &header,
                   const Digest &digest);

// How many distinct values a link can hold: those that it was sized for; a folded one as many fewer
// as its bits are fewer. 0 if unknown.
std::uint64_t full_values(const Link &link);

// The number of set bits at which a link is full: as many as these values set on average. 0 of an
// unknown capacity.
std::uint64_t full_bits(const Link &link);

// The rate of the first link of a filter that grows.
double first_rate(double rate);

// The link that a growing filter gets after its largest one, which is always smaller. False if it
// would exceed kMaxBits.
bool next_link(const Header &header, const Link &largest, Link *next);

} // namespace bloomfilter

#endif
