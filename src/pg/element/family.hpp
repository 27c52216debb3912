// Which families of values a filter holds, and which it refuses.
#ifndef BLOOMFILTER_PG_ELEMENT_FAMILY_HPP
#define BLOOMFILTER_PG_ELEMENT_FAMILY_HPP

#include "core/format.hpp"
#include "pg/element/element.hpp"

namespace bloomfilter {

// Can a filter hold values of this element type? Call this after first_hash(), because what a row
// is composed of is known only from the row. fits() is the quick check that most values pass.
bool holds(const Header &header, const Element *element);
inline bool fits(const Header &header, const Element *element) {
  return header.element == *element;
}
// Raise 42804 if the filter holds other values; raise_mismatch() always does.
[[noreturn]] void raise_mismatch(const Header &header, const Element *element, Use use);
inline void check_holds(const Header &header, const Element *element, Use use) {
  if (unlikely(!fits(header, element)) && !holds(header, element))
    raise_mismatch(header, element, use);
}

// Can two filters or aggregate states hold the same values? One with an open family can hold any.
bool same_family(const ElementType &one, const ElementType &other);

// Raises 42804 if two filters cannot hold the same values.
void check_family(const Header &header, const Header &other);

// Gives a filter whose family is open the family under which its layout keeps `member`, a new value
// or the values of a filter that is united with it.
void adopt_family(Header *header, const ElementType &member);

// The name of a family as bf_info() shows it; NULL for an open family.
const char *family_name(Family family);

// Raises 0A000 for filters of other systems, for which the hashes of bf_hash() mean nothing.
void check_hashed_alike(const Header &header);

} // namespace bloomfilter

#endif
