// Errors of the extension, in the server's style: every SQLSTATE and message that more than one
// function raises. The core reports a Finding or false; only these functions turn it into an error,
// after the core has returned.
#ifndef BLOOMFILTER_PG_ERRORS_HPP
#define BLOOMFILTER_PG_ERRORS_HPP

#include "pg/server.hpp"

#include "core/format.hpp"

namespace bloomfilter {

// No filter is for as many values, and all of them are whole numbers of 64 bits.
constexpr double kMaxExpected = 0x1p63;

// "one value" or "5 values", of a noun whose plural ends with s; palloc'ed.
char *counted(uint64 count, const char *noun);

// What is wrong with a value, as a sentence without its full stop; palloc'ed.
char *finding_text(const Finding &finding);

// 22P02 or 22P03: bytes from outside are not a value of this type. Returns only if `context` (a
// call's fcinfo->context, may be NULL) asks for soft errors.
void report_malformed(Node *context, const char *type, int sqlstate, const char *detail);

// XX001: a stored value of this kind is damaged.
[[noreturn]] void raise_damaged(const Finding &finding, Kind kind);

// 22023: a false positive rate or a capacity is out of range.
[[noreturn]] void raise_bad_rate(double rate);
[[noreturn]] void raise_bad_expected(double expected);
[[noreturn]] void raise_too_large(Layout layout, const Capacity &capacity, int sqlstate);

// 54000: a cuckoo filter that was made for so many values has no place for another one, or for a
// ninth copy.
[[noreturn]] void raise_full(uint64 expected, uint64 stored);
[[noreturn]] void raise_union_full(uint64 stored, uint64 other, uint64 places);
[[noreturn]] void raise_too_many_copies(int copies);
[[noreturn]] void raise_alike(uint64 distinct);

// 22023: a value is not there to be removed.
[[noreturn]] void raise_absent(Kind kind);

// 54000: a union or a growing filter has no room for another link.
[[noreturn]] void raise_too_many_links(int links);
[[noreturn]] void raise_links_too_large(int links);

} // namespace bloomfilter

#endif
