// Filters of several links: probing them, their union, counting their values, and the link that
// growth adds.
//
// Filters of different sizes cannot share a bitmap: one of them would lose its rate. So their union
// keeps both as links. A value is in the filter if any link contains it, and the rates of the links
// add up.
//
// The bytes of a union do not depend on the order of the filters, nor on how often a filter takes
// part. The reason is that every set of links has one normal form:
//
// - Links of one geometry that were made for a requested capacity are OR-ed. The result is the
//   filter of all their values. Its capacity has the larger number of values and the larger rate.
// - Self-sized links (kFlagSelfSized) are nearly as full as their rate allows. Two of them in one
//   bitmap would have many times the rate, so they are never OR-ed. A self-sized link is dropped if
//   another link of its geometry has all its bits. If two have the same bits, one stays. Self-sized
//   links without values are dropped, too, unless there are no other links.
// - Links are ordered by geometry. Among links of one geometry, self-sized ones come first, in the
//   order of their bytes.
//
// Growth follows P. S. Almeida, C. Baquero, N. Preguica, D. Hutchison, "Scalable Bloom Filters",
// Information Processing Letters 101 (2007). It makes a series of filters. Each is for twice as
// many values as the one before, at 3/4 of its rate. The first has a quarter of the requested rate
// r. So the sum of the rates stays below r: r/4 (1 + 3/4 + 9/16 + ...) = r.
//
// What is not good about it: every additional link adds its rate, and a probe may have to read all
// links.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/format.hpp"
#include "core/interrupts.hpp"
#include "core/kernel.hpp"

namespace bloomfilter {

// A link with its bitmap, or with two bitmaps that are to be OR-ed. A NULL bitmap has no values.
struct LinkView {
  Link link;
  const std::uint8_t *bitmap;
  const std::uint8_t *other;
};

// Writes the links of a parsed filter in their order. Returns their number, at most kMaxLinks.
int view_links(const std::uint8_t *payload, const Header &header, LinkView *views);

// Calls use(first, number) for each geometry: `number` links, from index `first` on, have it. Links
// of one geometry must be adjacent, as they are in a stored filter.
template <typename Use> void for_each_geometry(const LinkView *views, int count, Use use) {
  for (int first = 0, end; first < count; first = end) {
    for (end = first + 1; end < count && views[end].link.geometry == views[first].link.geometry;)
      end++;
    use(first, end - first);
  }
}

// Brings links into their normal form. `views` holds the links of one filter, or those of two
// filters one after the other for their union. Returns the number of links that are left. Checks
// for interrupts before each comparison of two bitmaps.
int normalize_links(LinkView *views, int count, CheckInterrupts check_interrupts);

// Drops each self-sized link if another link of its geometry, at index `from` or above, has all its
// bits. Returns the number of links that are left. Checks for interrupts before each comparison of
// two bitmaps.
int drop_covered(LinkView *views, int count, int from, CheckInterrupts check_interrupts);

// True if the digest is possibly in any link of a filter.
bool links_contain(const Kernel &kernel, const std::uint8_t *payload, const Header &header,
                   const Digest &digest);

// The number of distinct values that a link can hold: the number that it was sized for. If the link
// was folded, the number is reduced in the same proportion as its bits. 0 if unknown.
std::uint64_t full_values(const Link &link);

// The number of set bits at which a link is full: the number that full_values() values set on
// average. 0 if the capacity is unknown.
std::uint64_t full_bits(const Link &link);

// Numbers of set bits.
struct LinkBits {
  std::uint64_t set; // of one link
  // Of the OR of all links of one geometry. Only the first of these links has it.
  std::uint64_t united;
};

// Counts the bits of links of one geometry, reading each bitmap once. Every link must have a
// bitmap. Checks for interrupts now and then.
void count_bits(const Kernel &kernel, const LinkView *views, int count, LinkBits *bits,
                CheckInterrupts check_interrupts);

// The false positive rate of links together. A value passes if any link passes it.
struct JointRate {
  double rate = 0.0, denied = 1.0; // denied: the share of values that all links so far deny

  void add(double of_link) {
    rate += denied * of_link;
    denied *= 1.0 - of_link;
  }
};

// An estimate of the number of distinct values.
struct ValueCount {
  double values;
  bool at_most; // true if `values` is only an upper bound
};

// Estimates the number of distinct values of links in their normal form, from the set bits of each.
//
// The OR of links of one geometry is the bitmap of all their values, so its estimate is that of
// their union. Estimates vary: if the union's estimate exceeds the sum of the single links'
// estimates, the sum is used. If all bits of the OR are set, only the sum is known, and it is an
// upper bound. (This happens if some twenty links are each nearly half full and have few values in
// common.)
//
// Links of different geometry may have values in common, and their bits do not show it. So the sum
// over geometries is an upper bound, too. Links that come from growth are the exception: a growing
// filter adds a value only if none of its links contains it. The flag of a growing filter does not
// prove that its links come from growth: a union with a growing filter has the flag as well, and
// its links may have values in common. So the links themselves are checked: each must be the link
// that growth adds to the one before, and the one before must be full.
ValueCount estimate_values(const Header &header, const LinkView *views, const LinkBits *bits,
                           int count);

// The rate of the first link of a growing filter for which `rate` was requested.
double first_rate(double rate);

// The next link of a growing filter, always larger than `largest`, its largest link so far. If
// `largest` has no units, it is the first link. False if the new link would exceed kMaxBits.
bool next_link(const Header &header, const Link &largest, Link *next);

} // namespace bloomfilter
