// The errors that more than one function of the extension raises. Each has its SQLSTATE and its
// message here. The core returns a Finding or false and never raises an error; after it has
// returned, these functions do.
#pragma once

#include "pg/server.hpp"

#include "core/format.hpp"

namespace bloomfilter {

// Returns "one value" or "5 values", palloc'ed. The noun's plural must end with s.
char *counted(uint64 count, const char *noun);

// Describes what is wrong with a value, as a sentence without its full stop; palloc'ed.
char *finding_text(const Finding &finding);

// 22P02 or 22P03: text or bytes from outside are not a value of this type. `context` is the call's
// fcinfo->context; the function returns only if it asks for soft errors. `context` and `hint` may
// be NULL.
void report_malformed(Node *context, const char *type, int sqlstate, const char *detail,
                      const char *hint);

// XX001: a stored value of this kind is damaged.
[[noreturn]] void raise_damaged(const Finding &finding, Kind kind);

// 0A000: filters of this layout lack an ability. `verb` says what they cannot do.
[[noreturn]] void raise_unable(const Header &header, const char *verb);
template <Ability kAbility> void check_able(const Header &header, const char *verb) {
  if (unlikely(!has<kAbility>(header.geometry.layout)))
    raise_unable(header, verb);
}

// 22023: a false positive rate or an expected number of values is out of range. raise_too_large():
// a filter for both would be too large; the caller gives the SQLSTATE.
[[noreturn]] void raise_bad_rate(double rate);
[[noreturn]] void raise_bad_expected(double expected);
[[noreturn]] void raise_too_large(Layout layout, double expected, double rate, int sqlstate);

// Part of an ereport() about too many values for one filter: a detail that says for how many values
// a filter can be made.
int detail_of_most_values(Layout layout, double rate);

// 54000: a cuckoo filter has no free slot for a value. The value would be number `stored`.
[[noreturn]] void raise_full(uint64 expected, uint64 stored);
// 54000: the union of two cuckoo filters has no free slot for a value.
[[noreturn]] void raise_union_full(uint64 stored, uint64 slots);
// 54000: a cuckoo filter has no free slot for another copy of a value.
[[noreturn]] void raise_too_many_copies(int copies);
// 54000: too many distinct values of a cuckoo filter share a fingerprint and its buckets.
[[noreturn]] void raise_alike(uint64 distinct);

// 22023: a value cannot be removed, because it is not in the filter.
[[noreturn]] void raise_absent(Kind kind);

// 54000: a union or a growing filter would have too many links, or its links would have too many
// bytes.
[[noreturn]] void raise_too_many_links(int links);
[[noreturn]] void raise_links_too_large(int links);

} // namespace bloomfilter
