// See literal.hpp.
//
// A bare literal has no type of its own. SQL reads it as the type that it is compared with, but a
// filter knows only the family of its values. If types of one family read a literal differently,
// the literal stands for all these readings: it has the digests of each. A literal is read only if
// it means the same under every setting. Literals of some families never do, so they need a cast.
//
// A call site remembers the digests of the literal that it read last (pg/value/call_site.hpp), so
// these functions do not run for each row.

#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdlib>

#include "pg/compat.hpp"
#include "pg/element/family.hpp"
#include "pg/element/iso8601.hpp"
#include "pg/element/literal.hpp"
#include "pg/names.hpp"

extern "C" {
#include "catalog/pg_type.h"
#include "utils/lsyscache.h"
#include "utils/uuid.h"
}

namespace bloomfilter {

namespace {

bool is_hexadecimal(char digit) {
  return isxdigit(static_cast<unsigned char>(digit)) != 0;
}

bool is_octal(char digit, char highest = '7') {
  return digit >= '0' && digit <= highest;
}

// Each function below returns whether a text is a value of a type, by the rules of the type's input
// function. They raise no error, because a literal may have several readings, of which one may
// fail.

// True if the text consists of pairs of hexadecimal digits, with or without white space between
// pairs.
bool is_hexadecimal_bytea(const char *digits) {
  while (*digits != '\0')
    if (strchr(" \n\t\r", *digits))
      digits++;
    else if (is_hexadecimal(digits[0]) && is_hexadecimal(digits[1]))
      digits += 2;
    else
      return false;
  return true;
}

// True if each backslash is followed by another backslash or by three octal digits.
bool is_escaped_bytea(const char *string) {
  while (*string != '\0')
    if (string[0] != '\\')
      string++;
    else if (string[1] == '\\')
      string += 2;
    else if (is_octal(string[1], '3') && is_octal(string[2]) && is_octal(string[3]))
      string += 4;
    else
      return false;
  return true;
}

bool is_bytea(const char *string) {
  return strncmp(string, "\\x", 2) == 0 ? is_hexadecimal_bytea(string + 2)
                                        : is_escaped_bytea(string);
}

// A uuid may be in braces, and may have a hyphen after every second byte.
bool is_uuid(const char *string) {
  const bool braces = *string == '{';
  string += braces;
  for (int i = 0; i < UUID_LEN; i++) {
    if (!is_hexadecimal(string[0]) || !is_hexadecimal(string[1]))
      return false;
    string += 2;
    string += *string == '-' && i % 2 == 1 && i < UUID_LEN - 1;
  }
  return strcmp(string, braces ? "}" : "") == 0;
}

bool is_bigint(const char *string) {
#if PG_VERSION_NUM >= 160000
  ErrorSaveContext soft = {};
  soft.type = T_ErrorSaveContext;
  (void)pg_strtoint64_safe(string, reinterpret_cast<Node *>(&soft));
  return !soft.error_occurred;
#else
  char *end;
  errno = 0;
  (void)strtoll(string, &end, 10);
  if (end == string || errno != 0)
    return false;
  while (isspace(static_cast<unsigned char>(*end)) != 0)
    end++;
  return *end == '\0';
#endif
}

// True if float4 can hold a number that float8 can hold.
bool is_real(const char *string) {
  errno = 0;
  const float number = strtof(string, nullptr);
  return errno != ERANGE || (number != 0 && !std::isinf(number));
}

#if PG_VERSION_NUM >= 160000
bool is_accepted(Oid type, const char *string) {
  Oid input, parameter;
  getTypeInputInfo(type, &input, &parameter);
  FmgrInfo function;
  fmgr_info(input, &function);
  ErrorSaveContext soft = {};
  soft.type = T_ErrorSaveContext;
  Datum value;
  return InputFunctionCallSafe(&function, const_cast<char *>(string), parameter, -1,
                               reinterpret_cast<Node *>(&soft), &value);
}
#else
// True for a number with few digits, which float4, float8 and numeric can all hold.
bool is_plain_number(const char *string) {
  const char *at = string + (*string == '-');
  int digits = 0, points = 0;
  for (; isdigit(static_cast<unsigned char>(*at)) != 0 || *at == '.'; at++)
    ++(*at == '.' ? points : digits);
  return *at == '\0' && digits > 0 && digits <= 15 && points <= 1;
}

// Returns false for types that the functions above do not cover. Only the type's input function
// could tell, and before PostgreSQL 16 it does so by raising an error.
bool is_accepted(Oid type, const char *string) {
  switch (type) {
  case INT8OID:
    return is_bigint(string);
  case FLOAT8OID:
  case NUMERICOID:
    return is_plain_number(string);
  case UUIDOID:
    return is_uuid(string);
  case BYTEAOID:
    return is_bytea(string);
  case TEXTOID:
  case BPCHAROID:
  case NAMEOID:
  case CHAROID:
    return true; // they accept all
  default:
    return false;
  }
}
#endif

struct Reading {
  Oid type = InvalidOid;
  bool (*readable)(const char *string) = nullptr; // NULL: the input function raises an error
  bool probe_only = false;
};

// The types as which literals of a family are read. Literals of families that are not listed need a
// cast. For example, an interval depends on IntervalStyle, and an enum's label on its type.
constexpr int kMaxReadings = 6;
struct LiteralFamily {
  Family family;
  Reading readings[kMaxReadings];
  // Returns a literal in a form that no setting changes; NULL: every literal has such a form.
  char *(*fixed_form)(const char *string) = nullptr;
};
// char(n) ignores blanks at the end, and a name ends after 63 bytes. A value that is added must not
// be cut off, so a literal is read as a name only to probe a filter.
constexpr Reading kText = {TEXTOID, nullptr, false}, kBpchar = {BPCHAROID, nullptr, false},
                  kName = {NAMEOID, nullptr, true};
constexpr LiteralFamily kLiteralFamilies[] = {
    {Family::integer, {{INT8OID}}},
    {Family::floating, {{FLOAT8OID}, {FLOAT4OID, is_real}}}, // 0.1 differs between them
    {Family::numeric, {{NUMERICOID}}},
    {Family::text, {kText, kBpchar, kName}},
    {Family::bytea, {{BYTEAOID}}},
    {Family::uuid, {{UUIDOID}}},
    {Family::boolean, {{BOOLOID}}},
    {Family::char_, {{CHAROID}}},
    {Family::oid, {{OIDOID}}},
    {Family::date, {{DATEOID}}, iso_date},
    {Family::timestamp, {{TIMESTAMPOID}}, iso_date},
    {Family::timestamptz, {{TIMESTAMPTZOID}}, iso_date_with_offset},
    {Family::time, {{TIMEOID}}, iso_time},
    {Family::inet, {{INETOID}}},
    {Family::macaddr, {{MACADDROID}}},
    {Family::macaddr8, {{MACADDR8OID}}},
    {Family::jsonb, {{JSONBOID}}},
    {Family::string,
     {kText, kBpchar, kName, {BYTEAOID, is_bytea}, {UUIDOID, is_uuid}, {INT8OID, is_bigint}}},
};

const LiteralFamily *literal_family(Family family) {
  for (const LiteralFamily &literals : kLiteralFamilies)
    if (literals.family == (family == Family::none ? Family::text : family))
      return &literals;
  return nullptr;
}

// The family as which a filter stores the readings of a literal.
Family family_read(const Header &header) {
  return is_open(header.element_type.family)
             ? stored_family(scheme_of(header.geometry.layout, header.element_type.family),
                             Family::text)
             : header.element_type.family;
}

// The text of a literal for the input functions of the family's types. NULL if the literal needs a
// cast.
const char *fixed_form_of(const LiteralFamily *literals, const char *string) {
  if (!literals)
    return nullptr;
  return literals->fixed_form ? literals->fixed_form(string) : string;
}

[[noreturn]] void raise_needs_cast(Kind kind, Family family) {
  ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                  errmsg("%s holds %s values, and a bare literal does not say which is meant",
                         noun_of(kind), family_name(family)),
                  family == Family::array
                      ? hint_at_elements(kind)
                      : errhint("Cast the literal to the type that the filter was built from.")));
}

// Adds context to an error of the input function, because whoever wrote the literal did not name
// the type.
void say_how_read(void *family) {
  errcontext("bare literal read as the filter's element type, %s",
             family_name(*static_cast<Family *>(family)));
}

Datum read_literal(Oid type, const char *string, Family family) {
  Oid input, parameter;
  getTypeInputInfo(type, &input, &parameter);
  ErrorContextCallback context = {error_context_stack, say_how_read, &family};
  error_context_stack = &context;
  const Datum value = OidInputFunctionCall(input, const_cast<char *>(string), parameter, -1);
  error_context_stack = context.previous;
  return value;
}

void append_new(Digests *digests, const Digest &digest) {
  for (int i = 0; i < digests->count; i++)
    if (digests->digest[i].first == digest.first && digests->digest[i].second == digest.second)
      return;
  Assert(digests->count < kMaxDigests);
  digests->digest[digests->count++] = digest;
}

} // namespace

Digests literal_digests(const Header &header, text *literal, Oid collation, Purpose purpose) {
  const Layout layout = header.geometry.layout;
  const Scheme &scheme = scheme_of(layout, header.element_type.family);
  const Family stored = family_read(header);
  const LiteralFamily *literals = literal_family(value_family(stored));
  const char *string = fixed_form_of(literals, text_to_cstring(literal));
  if (!string)
    raise_needs_cast(kind_of(layout), value_family(stored));
  Digests digests = no_digests();
  for (const Reading &reading : literals->readings) {
    if (!OidIsValid(reading.type) || (reading.probe_only && purpose == Purpose::change) ||
        (reading.readable && !reading.readable(string)))
      continue;
    ValueType *value_type = resolve_value_type(reading.type, collation, CurrentMemoryContext);
    if (is_foreign(layout) && stored_family(scheme, value_type->family) != stored)
      continue; // not every layout of byte strings knows every type
    const Digests read = digests_of(
        value_type, read_literal(reading.type, string, literals->family), header, purpose);
    check_holds(header, value_type, purpose);
    digests.any |= read.any;
    digests.no_value |= read.no_value;
    for (int i = 0; i < read.count; i++)
      append_new(&digests, read.digest[i]);
  }
  digests.no_value &= digests.count == 0; // otherwise another reading gave a value
  return digests;
}

bool is_readable(const Header &header, text *literal) {
  const LiteralFamily *literals = literal_family(value_family(family_read(header)));
  const char *string = fixed_form_of(literals, text_to_cstring(literal));
  if (!string)
    return false;
  for (const Reading &reading : literals->readings)
    if (OidIsValid(reading.type) && !reading.readable && !is_accepted(reading.type, string))
      return false;
  return true;
}

} // namespace bloomfilter
