// The extension's errors that more than one function raises, each with its SQLSTATE and message in
// the server's style. The core reports a Finding or false; only these functions turn it into an
// error, after the core has returned.
#ifndef BLOOMFILTER_PG_ERRORS_HPP
#define BLOOMFILTER_PG_ERRORS_HPP

#include "pg/server.hpp"

#include "core/format.hpp"

namespace bloomfilter {

// "one value" or "5 values", for a noun whose plural ends with s; palloc'ed.
char *counted(uint64 count, const char *noun);

// What is wrong with a value, as a sentence without its full stop; palloc'ed.
char *finding_text(const Finding &finding);

// 22P02 or 22P03: text or bytes from outside are not a value of this type. Returns only if
// `context` asks for soft errors; it is the call's fcinfo->context, which may be NULL. So may
// `hint`.
void report_malformed(Node *context, const char *type, int sqlstate, const char *detail,
                      const char *hint);

// XX001: a stored value of this kind is damaged.
[[noreturn]] void raise_damaged(const Finding &finding, Kind kind);

// 22023: a false positive rate or an expected number of values is out of range, or, with the
// SQLSTATE that the caller gives, a filter for both would be too large.
[[noreturn]] void raise_bad_rate(double rate);
[[noreturn]] void raise_bad_expected(double expected);
[[noreturn]] void raise_too_large(Layout layout, double expected, double rate, int sqlstate);

// For an ereport() about more values than one filter holds: how many it can be made for.
int detail_of_most_values(Layout layout, double rate);

// 54000: a cuckoo filter, in which `stored` values would be too many, or the union of two such
// filters has no place for a value; it has no place for a ninth copy of one value; or too many of
// its distinct values look alike.
[[noreturn]] void raise_full(uint64 expected, uint64 stored);
[[noreturn]] void raise_union_full(uint64 stored, uint64 other, uint64 places);
[[noreturn]] void raise_too_many_copies(int copies);
[[noreturn]] void raise_alike(uint64 distinct);

// 22023: a value that is to be removed is not in the filter.
[[noreturn]] void raise_absent(Kind kind);

// 54000: a union or a growing filter would have too many links, or its links too many bytes.
[[noreturn]] void raise_too_many_links(int links);
[[noreturn]] void raise_links_too_large(int links);

} // namespace bloomfilter

#endif
