// Conversion: probing a filter of one family for a value of another family that SQL may call equal
// to values in the filter.
//
// SQL compares values of different families if there is an operator for them, or if it casts one of
// them implicitly to the other's type. If that comparison is immutable, the value is converted
// to the filter's family, and the converted value is hashed. The bytes that are hashed are the
// canonical bytes of the filter's family, which never change. If no value of the filter's family
// can be equal, the answer is a definite no. If too many can be equal to probe for each, such as
// the integers that equal one double, the answer is "possibly".
//
// The weak spot is a numeric filter: one float equals many numerics, so probing it for a float is
// an error.
//
//   filter        value                 equal values in the filter's family
//   integer       numeric, float        the same integer; none for fractions, NaN, infinities and
//                                       beyond 64 bits; several for floats from 2^53 on
//                 oid                   as a bigint, and as an integer with the same bits
//   numeric       integer               the same number (float: an error)
//   float         integer, numeric      rounded to the nearest; none if a float cannot hold it
//   oid           integer               the same bits; for a bigint, the same number
//   "char"        text                  of one byte; the empty text is the zero byte
//   text          "char"                the same
//   date          timestamp             at midnight
//   timestamp     date                  its midnight
//   time          interval              with the same microseconds since midnight
//   interval      time                  the same
//
// Values can be added and removed if SQL casts them implicitly to the filter's family.
#pragma once

#include "pg/element/digests.hpp"
#include "pg/element/family.hpp"

namespace bloomfilter {

// The digests of a value whose type the filter does not hold. The value is converted first. Raises
// 42804 if SQL cannot compare the value with the filter's values.
Digests converted_digests(ValueType *value_type, Datum value, const Header &header,
                          Purpose purpose);

// True if a filter of the family `held` can be probed for values of the different family `probed`.
bool is_converted(Family held, Family probed);

// True if filters with the given header can be probed for values of a scalar type. If false, such a
// probe raises 42804.
bool is_comparable(const Header &header, const ValueType *value_type);

// Sets the element type in the header of a filter without values, as if its first value were of the
// given type. The errors are those of named_value_type(), and those of adding such a value.
void declare_values(Header *header, Oid type);

// The digests of a value of any family, to probe a filter for it, to add it or to remove it.
inline Digests digests_for(ValueType *value_type, Datum value, const Header &header,
                           Purpose purpose) {
  const Digests digests = digests_of(value_type, value, header, purpose);
  return likely(fits(header, value_type)) || holds(header, value_type)
             ? digests
             : converted_digests(value_type, value, header, purpose);
}

} // namespace bloomfilter
