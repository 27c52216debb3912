// jsonb: canonical bytes of a whole document, which are at most 1.7 times as many as its own.

#include "pg/element/canonical.hpp"

extern "C" {
#include "lib/stringinfo.h"
#include "utils/jsonb.h"
#include "utils/numeric.h"
}

namespace bloomfilter {

namespace {

enum JsonTag : uint8 { kNull, kFalse, kTrue, kNumber, kString, kArray, kObject };

template <typename T> void append_number(StringInfo out, T number) {
  number = little_endian(number);
  appendBinaryStringInfo(out, reinterpret_cast<const char *>(&number), sizeof number);
}

void append_tagged(StringInfo out, JsonTag tag, const Canonical &canonical) {
  append_number<uint8>(out, tag);
  append_number(out, static_cast<uint32>(canonical.length));
  appendBinaryStringInfo(out, static_cast<const char *>(canonical.bytes),
                         static_cast<int>(canonical.length));
}

void append_string(StringInfo out, const JsonbValue *value) {
  Canonical canonical;
  canonical_string(value->val.string.val, value->val.string.len, &canonical);
  append_tagged(out, kString, canonical);
  if (canonical.bytes != value->val.string.val)
    pfree(const_cast<void *>(canonical.bytes));
}

void append_numeric(StringInfo out, const JsonbValue *value) {
  Canonical canonical;
  void *memory = numeric_bytes(NumericGetDatum(value->val.numeric), &canonical);
  append_tagged(out, kNumber, canonical);
  pfree(memory);
}

void append_container(StringInfo out, JsonbContainer *container);

void append_value(StringInfo out, const JsonbValue *value) {
  CHECK_FOR_INTERRUPTS();
  switch (value->type) {
  case jbvNull:
    append_number<uint8>(out, kNull);
    break;
  case jbvBool:
    append_number<uint8>(out, value->val.boolean ? kTrue : kFalse);
    break;
  case jbvNumeric:
    append_numeric(out, value);
    break;
  case jbvString:
    append_string(out, value);
    break;
  case jbvBinary:
    append_container(out, value->val.binary.data);
    break;
  default:
    elog(ERROR, "unexpected jsonb value type %d", static_cast<int>(value->type));
  }
}

// A value is its tag, then: a number's or string's length u32 and canonical bytes; an array's count
// u32 and values; an object's count u32 and the sum of its pairs' hashes u64. A sum, because the
// order of keys in a jsonb value depends on the server's encoding.
void append_container(StringInfo out, JsonbContainer *container) {
  check_stack_depth();
  JsonbIterator *iterator = JsonbIteratorInit(container);
  JsonbValue value;
  JsonbIteratorToken token = JsonbIteratorNext(&iterator, &value, true);

  if (token == WJB_BEGIN_ARRAY) {
    if (!value.val.array.rawScalar) {
      append_number<uint8>(out, kArray);
      append_number(out, static_cast<uint32>(value.val.array.nElems));
    }
    while (JsonbIteratorNext(&iterator, &value, true) == WJB_ELEM)
      append_value(out, &value);
    return;
  }

  append_number<uint8>(out, kObject);
  append_number(out, static_cast<uint32>(value.val.object.nPairs));
  const int pair = out->len;
  uint64 sum = 0;
  while (JsonbIteratorNext(&iterator, &value, true) == WJB_KEY) {
    append_string(out, &value);
    JsonbIteratorNext(&iterator, &value, true);
    append_value(out, &value);
    sum += hash_bytes(out->data + pair, out->len - pair, 0);
    out->len = pair;
  }
  append_number(out, sum);
}

} // namespace

void canonical_jsonb(Element *, Datum value, Canonical *out) {
  StringInfoData buffer;
  initStringInfo(&buffer);
  Jsonb *document = DatumGetJsonbP(value);
  append_container(&buffer, &document->root);
  if (reinterpret_cast<Pointer>(document) != DatumGetPointer(value))
    pfree(document);
  out->set(buffer.data, static_cast<Size>(buffer.len));
}

} // namespace bloomfilter
