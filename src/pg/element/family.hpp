// Which values a filter holds, and which it refuses.
#ifndef BLOOMFILTER_PG_ELEMENT_FAMILY_HPP
#define BLOOMFILTER_PG_ELEMENT_FAMILY_HPP

#include "core/format.hpp"
#include "pg/element/element.hpp"

namespace bloomfilter {

// Can a filter hold such values? Ask after first_hash(): a row's composition is known only from the
// row. fits() is the quick answer for most of them.
bool holds(const Header &header, const Element *element);
inline bool fits(const Header &header, const Element *element) {
  return header.element == *element;
}
// 42804: the filter holds other values.
[[noreturn]] void raise_mismatch(const Header &header, const Element *element, Use use);
inline void check_holds(const Header &header, const Element *element, Use use) {
  if (unlikely(!fits(header, element)) && !holds(header, element))
    raise_mismatch(header, element, use);
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
