// Dates and times as ISO 8601 writes them, the form that means the same under every setting:
//
//   date     a year of four digits or more, -MM-DD; perhaps T or a blank, and a time
//   time     hh:mm[:ss[.f…]]
//   offset   [ ][Z|±hh[[:]mm[:ss]]], behind either
//
// Whether there is such a day or hour is left to the type's input function, which takes as many
// digits for a year under every DateStyle. What timezone_abbreviations says of T and Z it does not
// get to see: one becomes a blank, the other +00. An offset means something to timestamptz alone.
#ifndef BLOOMFILTER_PG_ELEMENT_ISO8601_HPP
#define BLOOMFILTER_PG_ELEMENT_ISO8601_HPP

#include "pg/server.hpp"

namespace bloomfilter {

// The text for the input function, palloc'd; NULL: the literal has another form.
char *iso_date(const char *literal); // of date and timestamp
char *iso_date_with_offset(const char *literal);
char *iso_time(const char *literal);

} // namespace bloomfilter

#endif
