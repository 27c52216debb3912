// See ngram_class.hpp.

#include "pg/bloompages/ngram_class.hpp"

#include "pg/compat.hpp"
#include "pg/list.hpp"

extern "C" {
#include "access/gin.h"
#include "access/htup_details.h"
#include "access/stratnum.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_database.h"
#include "mb/pg_wchar.h"
#include "utils/formatting.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
}

namespace bloomfilter {
namespace {

// The strategies of the class. pg_trgm's classes have the same numbers for the same operators.
constexpr StrategyNumber kLike = 3, kILike = 4, kRegex = 5, kIRegex = 6, kStartsWith = 101;

// Longer patterns are not read, because nothing in it can be interrupted. Nor has lower() the
// memory for all of them, and it would raise an error. The server does so only when it compares a
// value.
constexpr Size kLongestPattern = kBytesBetweenChecks;

struct Pattern {
  const uint8 *text;
  Size size;
};

bool is_utf8() {
  return GetDatabaseEncoding() == PG_UTF8;
}

bool is_c_locale(SysCacheIdentifier cache, HeapTuple tuple, char provider, AttrNumber ctype) {
  if (provider != COLLPROVIDER_LIBC)
    return false;
  bool is_null;
  const Datum name = SysCacheGetAttr(cache, tuple, ctype, &is_null);
  if (is_null)
    return false;
  const char *locale = TextDatumGetCString(name);
  return strcmp(locale, "C") == 0 || strcmp(locale, "POSIX") == 0;
}

// True if a collation has the character types and the case of the locale "C". The server's function
// for this is declared in a header that needs those of ICU.
bool has_c_ctype(Oid collation) {
  const bool is_default = collation == DEFAULT_COLLATION_OID;
  HeapTuple tuple = SearchSysCache1(is_default ? DATABASEOID : COLLOID,
                                    ObjectIdGetDatum(is_default ? MyDatabaseId : collation));
  if (!HeapTupleIsValid(tuple))
    return false;
  const bool is_c =
      is_default ? is_c_locale(DATABASEOID, tuple,
                               reinterpret_cast<Form_pg_database>(GETSTRUCT(tuple))->datlocprovider,
                               Anum_pg_database_datctype)
                 : is_c_locale(COLLOID, tuple,
                               reinterpret_cast<Form_pg_collation>(GETSTRUCT(tuple))->collprovider,
                               Anum_pg_collation_collctype);
  ReleaseSysCache(tuple);
  return is_c;
}

// True if the n-grams say something about conditions that ignore case.
bool has_known_case(Oid collation) {
  return OidIsValid(collation) && (is_utf8() || has_c_ctype(collation));
}

// lower(text), palloc'ed.
Pattern lowered(Pattern pattern, Oid collation) {
  const char *text =
      str_tolower(reinterpret_cast<const char *>(pattern.text), pattern.size, collation);
  return {reinterpret_cast<const uint8 *>(text), strlen(text)};
}

// A regular expression compares characters. In UTF-8 and where a character is a byte, equal
// characters are equal bytes. In other encodings, this is certain of ASCII characters only.
UncertainBytes uncertain_in_regex() {
  UncertainBytes uncertain = {};
  uncertain.non_ascii = !is_utf8() && pg_database_encoding_max_length() > 1;
  return uncertain;
}

// `~*` takes a character for its upper-case and lower-case forms. For an ASCII letter, these are
// the two ASCII letters, except under Turkish rules: `i` and U+0130 go together, and `I` and
// U+0131. U+0130 is `i` in the second form of a value, but U+0131 is no `I`.
UncertainBytes uncertain_without_case(Oid collation) {
  const uint8 capital = 'I';
  const Pattern lower = lowered({&capital, 1}, collation);
  UncertainBytes uncertain = {};
  uncertain.non_ascii = true;
  uncertain.capital_i = lower.size != 1 || lower.text[0] != 'i';
  return uncertain;
}

// The n-grams that a value must have if the condition is true. It never raises an error for a
// pattern: whether a pattern is valid is the server's business.
NeedleNgrams ngrams_of_condition(StrategyNumber strategy, Pattern pattern, Oid collation) {
  const bool ignores_case = strategy == kILike || strategy == kIRegex;
  if (pattern.size > kLongestPattern ||
      (OidIsValid(collation) && !get_collation_isdeterministic(collation)) ||
      (ignores_case && !has_known_case(collation)))
    return {};
  switch (strategy) {
  case kLike:
    return ngrams_of_like(pattern.text, pattern.size, {});
  case kILike: {
    const Pattern lower = lowered(pattern, collation);
    UncertainBytes uncertain = {};
    uncertain.non_ascii = true;
    return ngrams_of_like(lower.text, lower.size, uncertain);
  }
  case kRegex:
    return ngrams_of_regex(pattern.text, pattern.size, uncertain_in_regex(), is_utf8());
  case kIRegex:
    return ngrams_of_regex(pattern.text, pattern.size, uncertain_without_case(collation),
                           is_utf8());
  case kStartsWith:
    return ngrams_of_part(pattern.text, pattern.size);
  default:
    elog(ERROR, "unrecognized strategy number: %d", strategy);
  }
}

} // namespace

uint8 *second_form_of(const uint8 *text, Size size, Size *form_size) {
  if (!is_utf8() || !has_second_form(text, size))
    return nullptr;
  auto *form = static_cast<uint8 *>(palloc(size));
  *form_size = write_second_form(text, size, form);
  return form;
}

} // namespace bloomfilter

using namespace bloomfilter;

SQL_FUNCTIONS_BEGIN

SQL_FUNCTION(bloompages_ngram_values) {
  const struct varlena *value = PG_GETARG_VARLENA_PP(0);
  auto *count = reinterpret_cast<int32 *>(PG_GETARG_POINTER(1));
  *count = 0;
  for_each_ngram_of(value, [&](uint32) { ++*count; });
  auto *keys = static_cast<Datum *>(
      MemoryContextAllocHuge(CurrentMemoryContext, static_cast<Size>(*count) * sizeof(Datum)));
  Datum *next = keys;
  for_each_ngram_of(value,
                    [&](uint32 ngram) { *next++ = Int32GetDatum(static_cast<int32>(ngram)); });
  PG_RETURN_POINTER(keys);
}

SQL_FUNCTION(bloompages_ngram_query) {
  const struct varlena *pattern = PG_GETARG_VARLENA_PP(0);
  auto *count = reinterpret_cast<int32 *>(PG_GETARG_POINTER(1));
  const StrategyNumber strategy = PG_GETARG_UINT16(2);
  auto *mode = reinterpret_cast<int32 *>(PG_GETARG_POINTER(6));
  const NeedleNgrams ngrams = ngrams_of_condition(
      strategy, {reinterpret_cast<const uint8 *>(VARDATA_ANY(pattern)), VARSIZE_ANY_EXHDR(pattern)},
      PG_GET_COLLATION());
  *count = ngrams.count;
  if (ngrams.count == 0)
    *mode = GIN_SEARCH_MODE_ALL;
  auto *keys = make_array<Datum>(ngrams.count);
  for (int i = 0; i < ngrams.count; i++)
    keys[i] = Int32GetDatum(static_cast<int32>(ngrams.items[i]));
  PG_RETURN_POINTER(keys);
}

SQL_FUNCTION(bloompages_ngram_consistent) {
  const auto *check = reinterpret_cast<const GinTernaryValue *>(PG_GETARG_POINTER(0));
  const int32 count = PG_GETARG_INT32(3);
  for (int32 i = 0; i < count; i++)
    if (check[i] == GIN_FALSE)
      PG_RETURN_GIN_TERNARY_VALUE(GIN_FALSE);
  PG_RETURN_GIN_TERNARY_VALUE(GIN_MAYBE);
}

SQL_FUNCTIONS_END
