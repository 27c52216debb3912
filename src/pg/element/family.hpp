// Which values a filter holds, and which it refuses.
#ifndef BLOOMFILTER_PG_ELEMENT_FAMILY_HPP
#define BLOOMFILTER_PG_ELEMENT_FAMILY_HPP

#include "core/format.hpp"
#include "pg/element/element.hpp"

namespace bloomfilter {

// Raises 42804 if a filter holds other values than these. Call it after first_hash(): a row's
// composition is known only from the row.
void raise_unless_fitting(const Header &header, const Element *element, Use use);
inline bool fits(const Header &header, const Element *element) {
  return header.element == *element;
}
inline void check_element(const Header &header, const Element *element, Use use) {
  if (!fits(header, element))
    raise_unless_fitting(header, element, use);
}

// Can two filters or aggregate states hold the same values? Those of an open family can hold any.
bool same_family(const ElementType &one, const ElementType &other);

// Raises 42804 if they cannot.
void check_family(const Header &header, const Header &other);

// Gives a filter whose family is open that of its new member, or of the filter that it takes in, as
// its layout keeps it.
void adopt_family(Header *header, const ElementType &member);

// The name of a family as bf_info() shows it; NULL while it is open.
const char *family_name(Family family);

// Raises 0A000 of other systems' filters, to which what bf_hash() gives means nothing.
void check_hashed_alike(const Header &header);

} // namespace bloomfilter

#endif
