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

PG_FUNCTION_INFO_V1(bloomfilter_in);
Datum bloomfilter_in(PG_FUNCTION_ARGS) {
  return payload_in(fcinfo, filter_type<Kind::bloom>());
}

PG_FUNCTION_INFO_V1(bloomfilter_recv);
Datum bloomfilter_recv(PG_FUNCTION_ARGS) {
  return payload_recv(fcinfo, filter_type<Kind::bloom>());
}

PG_FUNCTION_INFO_V1(bloomfilter_from_bytea);
Datum bloomfilter_from_bytea(PG_FUNCTION_ARGS) {
  return payload_from_bytea(fcinfo, filter_type<Kind::bloom>());
}

PG_FUNCTION_INFO_V1(countingbloomfilter_in);
Datum countingbloomfilter_in(PG_FUNCTION_ARGS) {
  return payload_in(fcinfo, filter_type<Kind::counting>());
}

PG_FUNCTION_INFO_V1(countingbloomfilter_recv);
Datum countingbloomfilter_recv(PG_FUNCTION_ARGS) {
  return payload_recv(fcinfo, filter_type<Kind::counting>());
}

PG_FUNCTION_INFO_V1(countingbloomfilter_from_bytea);
Datum countingbloomfilter_from_bytea(PG_FUNCTION_ARGS) {
  return payload_from_bytea(fcinfo, filter_type<Kind::counting>());
}

PG_FUNCTION_INFO_V1(cuckoofilter_in);
Datum cuckoofilter_in(PG_FUNCTION_ARGS) {
  return payload_in(fcinfo, filter_type<Kind::cuckoo>());
}

PG_FUNCTION_INFO_V1(cuckoofilter_recv);
Datum cuckoofilter_recv(PG_FUNCTION_ARGS) {
  return payload_recv(fcinfo, filter_type<Kind::cuckoo>());
}

PG_FUNCTION_INFO_V1(cuckoofilter_from_bytea);
Datum cuckoofilter_from_bytea(PG_FUNCTION_ARGS) {
  return payload_from_bytea(fcinfo, filter_type<Kind::cuckoo>());
}

// The output functions are the same for all kinds.
PG_FUNCTION_INFO_V1(filter_out);
Datum filter_out(PG_FUNCTION_ARGS) {
  const Filter filter = any_filter_arg(fcinfo, 0);
  PG_RETURN_CSTRING(payload_text(filter.payload(), filter.header.payload_bytes()));
}

PG_FUNCTION_INFO_V1(filter_send);
Datum filter_send(PG_FUNCTION_ARGS) {
  const Filter filter = any_filter_arg(fcinfo, 0);
  PG_RETURN_BYTEA_P(make_value(filter.payload(), filter.header.payload_bytes()));
}

SQL_FUNCTIONS_END
