// Bare literals and untyped parameters.
#ifndef BLOOMFILTER_PG_ELEMENT_LITERAL_HPP
#define BLOOMFILTER_PG_ELEMENT_LITERAL_HPP

#include "pg/element/digests.hpp"

namespace bloomfilter {

// The digests of a bare literal, read as the filter's own element type. Raises 42804 if the reading
// would depend on settings or on a type that the filter does not know. For Use::ask, but not for
// Use::add, a text is also read as a name, which ends after 63 bytes.
Digests literal_digests(const Header &header, text *literal, Oid collation, Use use);

// Does literal_digests() for Use::ask read a literal without an error? Before PostgreSQL 16 this is
// not known of all literals; then the answer is no.
bool is_readable(const Header &header, text *literal);

} // namespace bloomfilter

#endif
