// Bare literals, and untyped parameters.
#ifndef BLOOMFILTER_PG_ELEMENT_LITERAL_HPP
#define BLOOMFILTER_PG_ELEMENT_LITERAL_HPP

#include "pg/element/digests.hpp"

namespace bloomfilter {

// A bare literal's digests under the filter's own element type. Raises 42804 where the reading
// would depend on settings or on a type that the filter does not know. A text of more than 63 bytes
// may be asked of names, which are shorter, but is added as it is.
Digests literal_digests(const Header &header, text *literal, Oid collation, Use use);

} // namespace bloomfilter

#endif
