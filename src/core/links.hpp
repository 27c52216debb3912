// Filters of several links: probing them, uniting them, counting their values, and the link that
// growth adds.
//
// Filters of different sizes cannot share a bitmap without ruining the rate of one of them, so
// their union keeps both as links. A value is in the set if any link says so, and the rates add up.
//
// The bytes of a union depend neither on the order in which filters are united nor on how often
// each of them is, because every set of links has one normal form:
//
// - Links of one geometry that were made for a capacity that was asked for are OR-ed, which gives
//   the filter of all their values. It has the larger number of values and the larger rate of their
//   capacities.
// - Links that sized themselves (kFlagSelfSized) are nearly as full as their rate allows, so two of
// them
//   in one bitmap would have many times the rate. They are never OR-ed. Such a link is left out if
//   another link of its geometry has all its bits; of two with the same bits, one stays. Such links
//   without values are left out, too, unless there is nothing else.
// - Links are ordered by geometry; among links of one geometry, those that sized themselves come
//   first, in the order of their bytes.
//
// Growth follows P. S. Almeida, C. Baquero, N. Preguica, D. Hutchison, "Scalable Bloom Filters",
// Information Processing Letters 101 (2007): a series of filters, each twice as large as the one
// before at 3/4 of its rate, the first at a quarter of the rate asked for. The sum of the rates
// stays below the rate r that was asked for: r/4 (1 + 3/4 + 9/16 + ...) = r.
#ifndef BLOOMFILTER_CORE_LINKS_HPP
#define BLOOMFILTER_CORE_LINKS_HPP

#include <cstddef>
#include <cstdint>

#include "core/digest.hpp"
#include "core/format.hpp"
#include "core/interrupts.hpp"
#include "core/kernel.hpp"

namespace bloomfilter {

// A link with its bitmap, or with two bitmaps that are to be OR-ed. NULL stands for a bitmap
// without values.
struct LinkView {
  Link link;
  const std::uint8_t *bitmap;
  const std::uint8_t *other;
};

// Writes the links of a parsed value, in their order; returns their number, at most kMaxLinks.
int view_links(const std::uint8_t *payload, const Header &header, LinkView *views);

// Calls use(first, number) for each geometry, where `number` links from index `first` on have it.
// Links of one geometry must be adjacent, as they are in a value.
template <typename Use> void for_each_geometry(const LinkView *views, int count, Use use) {
  for (int first = 0, end; first < count; first = end) {
    for (end = first + 1; end < count && views[end].link.geometry == views[first].link.geometry;)
      end++;
    use(first, end - first);
  }
}

// Brings the links of one value, or of two values one after the other, into the normal form of
// their union; returns how many are left. Pauses before each comparison of two bitmaps.
int normalize_links(LinkView *views, int count, CheckInterrupts check_interrupts);

// Leaves out each link that sized itself if another link of its geometry, at index `from` or above,
// has all its bits; returns how many are left. Pauses before each comparison of two bitmaps, too.
int drop_covered(LinkView *views, int count, int from, CheckInterrupts check_interrupts);

// Is the digest possibly in any link of a value?
bool links_contain(const Kernel &kernel, const std::uint8_t *payload, const Header &header,
                   const Digest &digest);

// How many distinct values a link can hold: the number that it was sized for or, if it was folded,
// as many fewer as its bits are fewer. 0 if unknown.
std::uint64_t full_values(const Link &link);

// The number of set bits at which a link is full: as many as full_values() values set on average. 0
// if the capacity is unknown.
std::uint64_t full_bits(const Link &link);

// Numbers of set bits.
struct LinkBits {
  std::uint64_t set;    // of a link
  std::uint64_t united; // of the OR of all links of its geometry; kept with the first of them
};

// Counts the bits of links of one geometry, and reads each bitmap once. Every link has a bitmap.
// Pauses now and then.
void count_bits(const Kernel &kernel, const LinkView *views, int count, LinkBits *bits,
                CheckInterrupts check_interrupts);

// An estimate of the number of distinct values.
struct ValueCount {
  double values;
  bool at_most; // is it only an upper bound?
};

// The number of distinct values of links in their normal form, from the bits of each.
//
// The OR of links of one geometry is the bitmap of the values of all of them, so its estimate is
// that of their union. Estimates vary: if that of the union exceeds the sum of the estimates of the
// single links, the sum is better. If all bits of the OR are set, the sum is all that is known, and
// an upper bound. (This happens to some twenty links that are each nearly half full and have few
// values in common.)
//
// Links of different geometry may have values in common, of which their bits say nothing. So the
// sum over geometries is an upper bound, too, unless the links come from growth: a filter that
// grows adds a value only if all its links deny it. But a union with a filter that grows has the
// same flag, and its links may have values in common. So the links must be such a series as growth
// makes: each link is the one that growth adds to the link before it, and that link is full.
ValueCount estimate_values(const Header &header, const LinkView *views, const LinkBits *bits,
                           int count);

// The rate of the first link of a filter that grows, of which `rate` was asked for.
double first_rate(double rate);

// The link that a growing filter gets next, always larger than `largest`, its largest link so far.
// False if the new link would exceed kMaxBits.
bool next_link(const Header &header, const Link &largest, Link *next);

} // namespace bloomfilter

#endif
