// The operator class text_ngram_ops: its keys are the n-grams of a text (core/ngrams.hpp). It has
// GIN's support functions, whose keys are Datums of the type int. An index is built of many
// millions of n-grams, so the n-grams of a value are taken from for_each_ngram_of() instead.
//
// LIKE, `^@` and `~` compare bytes or characters of the stored value. ILIKE and `~*` compare
// without regard to case, by the rules of a collation. They are served in UTF-8, and in every
// encoding under the collation "C". Otherwise any value may fulfil them, and so it is under
// collations that are not deterministic.
#pragma once

#include "pg/server.hpp"

#include "core/interrupts.hpp"
#include "core/ngrams.hpp"

SQL_FUNCTIONS_BEGIN
Datum bloompages_ngram_values(PG_FUNCTION_ARGS);
SQL_FUNCTIONS_END

namespace bloomfilter {

// The second form of a text in the database's encoding, palloc'ed, and its size. NULL if the text
// has none.
uint8 *second_form_of(const uint8 *text, Size size, Size *form_size);

// Calls use(ngram) for all n-grams of a text, with checks for interrupts in between.
template <typename Use> void for_each_ngram_of(const uint8 *text, Size size, Use &&use) {
  for (Size start = 0; start < size; start += kBytesBetweenChecks) {
    CHECK_FOR_INTERRUPTS();
    // The n-grams that begin in this part end at most this many bytes after it.
    const Size beyond = kNgramBytes - 1;
    for_each_ngram(text + start, Min(size - start, kBytesBetweenChecks + beyond), use);
  }
}

// Calls use(ngram), with a uint32, for all n-grams of a value and of its second form. The value is
// not compressed, nor out of line. An n-gram may come several times.
template <typename Use> void for_each_ngram_of(const struct varlena *value, Use &&use) {
  const auto *text = reinterpret_cast<const uint8 *>(VARDATA_ANY(value));
  const Size size = VARSIZE_ANY_EXHDR(value);
  for_each_ngram_of(text, size, use);
  Size form_size;
  if (uint8 *form = second_form_of(text, size, &form_size)) {
    for_each_ngram_of(form, form_size, use);
    pfree(form);
  }
}

} // namespace bloomfilter
