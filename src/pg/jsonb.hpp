// The canonical bytes of jsonb.
#ifndef BLOOMFILTER_PG_JSONB_HPP
#define BLOOMFILTER_PG_JSONB_HPP

#include "pg/canonical.hpp"

namespace bloomfilter {

void canonical_jsonb(Element *element, Datum value, Canonical *out);

} // namespace bloomfilter

#endif
