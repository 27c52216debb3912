// Values of links (core/links.hpp), which unions and growth make.
#ifndef BLOOMFILTER_PG_VALUE_CHAIN_HPP
#define BLOOMFILTER_PG_VALUE_CHAIN_HPP

#include "pg/server.hpp"

#include "core/links.hpp"
#include "pg/value/filter.hpp"

namespace bloomfilter {

// The bits of all links together.
uint64 bits_of(const LinkView *views, int count);

// ERROR 54000 if such links together are larger than a filter can be, or than bloomfilter.max_size
// allows (check_size() in pg/value/make.hpp).
void check_size(const LinkView *views, int count);

// A new value of links, which must be in their normal form: a plain filter of one link, unless it
// grows, else a chain. The header gives its element type and its seed, and if it grows, its
// capacity. ERROR 54000 if there are too many links.
NewFilter make_of_links(Header header, const LinkView *views, int count);

// Makes a filter that value in its own place, if it has one bitmap of each link where the value has
// it: the other bitmaps are OR-ed into these. Otherwise nothing is changed, and the result is
// false.
bool unite_links_into(NewFilter *filter, Header header, const LinkView *views, int count);

// A filter without values that grows from its first link on, which is made for the header's
// capacity. `flags`: kFlagSelfSized, or none.
NewFilter make_growing(Header header, uint8 flags = 0);

// The value with another, empty link; ERROR 54000 if there cannot be one.
NewFilter grown(const Filter &filter);

// The normal form of a value that was in normal form before its largest link got more values. Its
// links are still in order, but the largest may now cover another one.
NewFilter normalized(const NewFilter &filter);

} // namespace bloomfilter

#endif
