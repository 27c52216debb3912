// Dates and times as ISO 8601 writes them, the form that means the same under every setting:
//
//   date     a year of four digits or more, -MM-DD; perhaps T or a blank, and a time
//   time     hh:mm[:ss[.f…]]
//   offset   [ ][Z|±hh[[:]mm[:ss]]], behind either
//
// The type's input function checks whether there is such a day or hour; it takes four digits or
// more for a year under every DateStyle. It does not get to see T and Z, which
// timezone_abbreviations could define: T becomes a blank, and Z becomes +00. An offset means
// something to timestamptz alone.
#ifndef BLOOMFILTER_PG_ELEMENT_ISO8601_HPP
#define BLOOMFILTER_PG_ELEMENT_ISO8601_HPP

#include "pg/server.hpp"

namespace bloomfilter {

// The text for the type's input function, palloc'ed; NULL if the literal has another form.
char *iso_date(const char *literal); // for date and timestamp
char *iso_date_with_offset(const char *literal);
char *iso_time(const char *literal);

} // namespace bloomfilter

#endif
