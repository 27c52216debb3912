// Bare literals and untyped parameters, which are read as values of the filter that they are used
// with.
#pragma once

#include "pg/element/digests.hpp"

namespace bloomfilter {

// The digests of a bare literal, read as the filter's own element type. Raises 42804 if the reading
// would depend on settings or on a type that the filter does not know. For Purpose::probe, a text
// is also read as a name, which ends after 63 bytes; for Purpose::change, it is not.
Digests literal_digests(const Header &header, text *literal, Oid collation, Purpose purpose);

// True if literal_digests() with Purpose::probe reads a literal without an error. Before PostgreSQL
// 16, this is not known for all literals; if it is not known, the function returns false.
bool is_readable(const Header &header, text *literal);

} // namespace bloomfilter
