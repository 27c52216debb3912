// Filters of several links (core/links.hpp), which unions and growth make.
//
// Adding a link copies the whole filter. Only a union with an aggregate's state may avoid the copy:
// if the state already has all links in the right places, their bitmaps are OR-ed there.
#pragma once

#include "pg/server.hpp"

#include "core/links.hpp"
#include "pg/value/filter.hpp"

namespace bloomfilter {

// The number of bits of all links together.
uint64 bits_of(const LinkView *views, int count);

// ERROR 54000 if the links together are larger than a filter can be, or larger than
// bloomfilter.max_size allows (check_size() in pg/value/new_filter.hpp).
void check_size(const LinkView *views, int count);

// Makes a new filter of links in their normal form. If there is one link that does not grow, the
// result is a plain filter. Otherwise it is a chain. The header gives the element type and the
// seed; if the filter grows, it also gives the capacity. ERROR 54000 if there are too many links.
NewFilter make_of_links(Header header, const LinkView *views, int count);

// Turns a filter into the one that make_of_links() would make, without moving it. This is possible
// if the filter already has one bitmap of each link at the offset that the result has for the link.
// The other bitmaps are OR-ed into these. If it is not possible, returns false and changes nothing.
bool unite_links_into(NewFilter *filter, Header header, const LinkView *views, int count);

// A filter that grows, without values. Its first link is made from the header's capacity. `flags`
// is kFlagSelfSized or 0.
NewFilter make_growing(Header header, uint8 flags = 0);

// The filter with one more link, which is empty. ERROR 54000 if there cannot be another link.
NewFilter grown(const Filter &filter);

// The normal form of a filter after its largest link got more values. Before, the filter was in its
// normal form. So its links are still in order, but the largest link may now cover another one.
NewFilter normalized(const NewFilter &filter);

} // namespace bloomfilter
