// Checks of families: which values a filter can hold, and which two filters can be combined.
//
// A value is checked for each probe and each addition. Most values have the filter's own family and
// shape. fits() recognises such values inline; the other functions run only if it fails.
#pragma once

#include "core/format.hpp"
#include "pg/element/value_type.hpp"

namespace bloomfilter {

// True if a filter can hold values of the element type. Call holds() after first_hash(), because
// the shape of a row is known only after the row was hashed. fits() is the quick check that most
// values pass.
bool holds(const Header &header, const ValueType *value_type);
inline bool fits(const Header &header, const ValueType *value_type) {
  return header.element_type == *value_type;
}
// check_holds() raises 42804 if the filter holds other values. raise_mismatch() always raises it.
[[noreturn]] void raise_mismatch(const Header &header, const ValueType *value_type,
                                 Purpose purpose);
inline void check_holds(const Header &header, const ValueType *value_type, Purpose purpose) {
  if (unlikely(!fits(header, value_type)) && !holds(header, value_type))
    raise_mismatch(header, value_type, purpose);
}

// Part of an ereport(): a hint for who asks a filter of arrays for something else.
int hint_at_elements(Kind kind);

// True if two filters or aggregate states can hold the same values. A filter or state with an open
// family can hold any values.
bool same_family(const ElementType &one, const ElementType &other);

// Raises 42804 if two filters cannot hold the same values.
void check_family(const Header &header, const Header &other);

// If the filter's family is open, sets it. `member` is the element type of a new value, or of
// another filter in a union. The new family is the one under which the filter's layout stores such
// values.
void adopt_family(Header *header, const ElementType &member);

// The name of a family as bf_info() shows it; NULL for an open family.
const char *family_name(Family family);

// Raises 0A000 for filters of other systems, because hashes that bf_hash() computes have no meaning
// in them.
void check_hashed_alike(const Header &header);

} // namespace bloomfilter
