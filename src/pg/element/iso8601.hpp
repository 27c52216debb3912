// Dates and times in the form of ISO 8601. This form means the same under every setting, so bare
// literals of date and time types are read only in this form (literal.cpp).
//
//   date     a year of four digits or more, -MM-DD; perhaps T or a blank, and a time
//   time     hh:mm[:ss[.f...]]
//   offset   [ ][Z|±hh[[:]mm[:ss]]], after either of them
//
// Only the form is checked here. The type's input function checks whether there is such a day or
// hour. It takes four digits or more for a year under every DateStyle. The input function never
// sees T and Z, because timezone_abbreviations could define them: T becomes a blank, and Z becomes
// +00. Only timestamptz takes an offset into account.
#pragma once

#include "pg/server.hpp"

namespace bloomfilter {

// The text for the type's input function, palloc'ed. NULL if the literal has another form.
char *iso_date(const char *literal); // for date and timestamp
char *iso_date_with_offset(const char *literal);
char *iso_time(const char *literal);

} // namespace bloomfilter
