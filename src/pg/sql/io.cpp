// The input, output, receive and send functions of the three types, and their casts from and to
// bytea. Text is base64. Bytes from outside are checked in full (pg/value/payload.hpp).

#include "pg/server.hpp"

#include "pg/names.hpp"
#include "pg/value/filter.hpp"
#include "pg/value/memory.hpp"
#include "pg/value/payload.hpp"

using namespace bloomfilter;

namespace {

template <Kind kKind> Finding check_filter(const uint8 *payload, Size length) {
  Header header;
  const Finding finding = validate(payload, length, &header, check_for_interrupts);
  return finding.ok() ? check_kind(header, kKind) : finding;
}

template <Kind kKind> PayloadType filter_type() {
  return {type_of(kKind), noun_of(kKind), check_filter<kKind>, prefix_of(kKind)};
}

} // namespace

SQL_FUNCTIONS_BEGIN

SQL_RESULT(bloomfilter_in, payload_in(fcinfo, filter_type<Kind::bloom>()));
SQL_RESULT(bloomfilter_recv, payload_recv(fcinfo, filter_type<Kind::bloom>()));
SQL_RESULT(bloomfilter_from_bytea, payload_from_bytea(fcinfo, filter_type<Kind::bloom>()));
SQL_RESULT(countingbloomfilter_in, payload_in(fcinfo, filter_type<Kind::counting>()));
SQL_RESULT(countingbloomfilter_recv, payload_recv(fcinfo, filter_type<Kind::counting>()));
SQL_RESULT(countingbloomfilter_from_bytea,
           payload_from_bytea(fcinfo, filter_type<Kind::counting>()));
SQL_RESULT(cuckoofilter_in, payload_in(fcinfo, filter_type<Kind::cuckoo>()));
SQL_RESULT(cuckoofilter_recv, payload_recv(fcinfo, filter_type<Kind::cuckoo>()));
SQL_RESULT(cuckoofilter_from_bytea, payload_from_bytea(fcinfo, filter_type<Kind::cuckoo>()));

// The output functions are the same for all kinds.
SQL_FUNCTION(filter_out) {
  const Filter filter = any_filter_arg(fcinfo, 0);
  PG_RETURN_CSTRING(payload_text(filter.payload(), filter.header.payload_bytes()));
}

SQL_FUNCTION(filter_send) {
  const Filter filter = any_filter_arg(fcinfo, 0);
  PG_RETURN_BYTEA_P(make_value(filter.payload(), filter.header.payload_bytes()));
}

SQL_FUNCTIONS_END
