// Conversion: asking a filter of one family for values of another family, which SQL may call equal
// to its members.
//
// SQL compares values of different families if there is an operator for them or if one of them is
// cast implicitly. If all of that is immutable, a filter answers for the members that equal the
// value, in the form that they have in its own family, whose bytes never change. If no member can
// be equal, the answer is a certain no. If several can be, like the integers that are one double,
// it is "possibly".
//
//   filter        value                 equal members
//   integer       numeric, float        the same integer; none for fractions, NaN, infinities and
//                                       beyond 64 bits; for floats from 2^53 on, several
//                 oid                   as a bigint, and as an integer of the same bits
//   numeric       integer               (a float equals many numerics: that stays an error)
//   float         integer, numeric      rounded to the nearest; none for what a float cannot hold
//   oid           integer               the same bits; for a bigint, the same number
//   "char"        text                  of one byte; empty, the zero byte
//   text          "char"                the same
//   date          timestamp             at midnight
//   timestamp     date                  its midnight
//   time          interval              of the same microseconds since midnight
//   interval      time                  the same
//
// Values can be added and removed if SQL casts them implicitly to the filter's family.
#ifndef BLOOMFILTER_PG_ELEMENT_CONVERSION_HPP
#define BLOOMFILTER_PG_ELEMENT_CONVERSION_HPP

#include "pg/element/digests.hpp"
#include "pg/element/family.hpp"

namespace bloomfilter {

// The digests of what a value is converted to whose type the filter does not hold. Raises 42804 if
// SQL cannot compare the value with the filter's values.
Digests converted_digests(Element *element, Datum value, const Header &header, Use use);

// Does a filter of one family answer for values of another one that is not the same?
bool is_converted(Family held, Family asked);

// Do filters with that header have an answer for values of a scalar type, or would asking for one
// raise 42804?
bool is_comparable(const Header &header, const Element *element);

// Gives the header of a filter without values the element type that its first value would give it,
// if that were of this type. Errors are those of named_element(), and of adding such a value.
void declare_values(Header *header, Oid type);

// The digests of a value that a filter may be asked for, or that is added to it, of any family.
inline Digests digests_for(Element *element, Datum value, const Header &header, Use use) {
  const Digests digests = digests_of(element, value, header, use);
  return likely(fits(header, element)) || holds(header, element)
             ? digests
             : converted_digests(element, value, header, use);
}

} // namespace bloomfilter

#endif
