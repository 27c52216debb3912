// jsonb: the canonical bytes of a whole document. They are at most 1.7 times as long as the
// document.
//
// The bytes are collected in a buffer before they are hashed. Of an object, only one pair at a time
// stays in the buffer. A large array, however, needs memory for a second copy of itself.

#include "pg/element/canonical.hpp"
#include "pg/element/numeric.hpp"

extern "C" {
#include "lib/stringinfo.h"
#include "utils/jsonb.h"
}

namespace bloomfilter {

namespace {

enum JsonTag : uint8 { kNull, kFalse, kTrue, kNumber, kString, kArray, kObject };

// Makes room for `count` more bytes and returns their address.
uint8 *extend(StringInfo out, Size count) {
  if (unlikely(count >= static_cast<Size>(out->maxlen - out->len)))
    enlargeStringInfo(out, static_cast<int>(count));
  auto *room = reinterpret_cast<uint8 *>(out->data + out->len);
  out->len += static_cast<int>(count);
  return room;
}

template <typename T> void append_number(StringInfo out, T number) {
  store(extend(out, sizeof number), number);
}

// Appends a tag, a length, and room for `length` bytes. Returns the address of the room.
uint8 *extend_tagged(StringInfo out, JsonTag tag, Size length) {
  const auto counted = static_cast<uint32>(length);
  uint8 *room = extend(out, sizeof tag + sizeof counted + length);
  store<uint8>(room, tag);
  store(room + sizeof tag, counted);
  return room + sizeof tag + sizeof counted;
}

// A child of a container: its type and its bytes. Children walks through the children one by one.
struct Child {
  const char *bytes;
  uint32 length;
  JEntry entry;

  // The address of a number or a container, which is aligned.
  const char *aligned() const { return reinterpret_cast<const char *>(INTALIGN(bytes)); }
};
struct Children {
  const JEntry *entries;
  const char *bytes;
  uint32 offset;

  Child next() {
    const uint32 start = offset;
    const JEntry entry = *entries++;
    JBE_ADVANCE_OFFSET(offset, entry);
    return {bytes + start, offset - start, entry};
  }
};

void append_string(StringInfo out, const Child &child) {
  Canonical canonical;
  canonical_string(child.bytes, child.length, &canonical);
  memcpy(extend_tagged(out, kString, canonical.length), canonical.bytes, canonical.length);
  if (canonical.bytes != child.bytes)
    pfree(const_cast<void *>(canonical.bytes));
}

void append_numeric(StringInfo out, const Child &child) {
  const StoredNumeric numeric =
      read_numeric(reinterpret_cast<const struct varlena *>(child.aligned()));
  numeric.write(extend_tagged(out, kNumber, numeric.length()));
}

void append_container(StringInfo out, const JsonbContainer *container);

void append_value(StringInfo out, const Child &child) {
  CHECK_FOR_INTERRUPTS();
  switch (child.entry & JENTRY_TYPEMASK) {
  case JENTRY_ISNULL:
    append_number<uint8>(out, kNull);
    break;
  case JENTRY_ISBOOL_FALSE:
    append_number<uint8>(out, kFalse);
    break;
  case JENTRY_ISBOOL_TRUE:
    append_number<uint8>(out, kTrue);
    break;
  case JENTRY_ISNUMERIC:
    append_numeric(out, child);
    break;
  case JENTRY_ISSTRING:
    append_string(out, child);
    break;
  case JENTRY_ISCONTAINER:
    append_container(out, reinterpret_cast<const JsonbContainer *>(child.aligned()));
    break;
  default:
    elog(ERROR, "unexpected jsonb entry %x", child.entry);
  }
}

void append_array(StringInfo out, Children items, uint32 count) {
  for (uint32 i = 0; i < count; i++)
    append_value(out, items.next());
}

// jsonb stores all keys of an object before all its values.
void append_object(StringInfo out, Children keys, uint32 count) {
  Children values = keys;
  for (uint32 i = 0; i < count; i++)
    values.next();
  const int pair = out->len;
  uint64 sum = 0;
  for (uint32 i = 0; i < count; i++) {
    append_string(out, keys.next());
    append_value(out, values.next());
    sum += hash_bytes(out->data + pair, out->len - pair, 0);
    out->len = pair;
  }
  append_number(out, sum);
}

// A value is its tag, and then:
// - for a number or a string, its length u32 and its canonical bytes;
// - for an array, its count u32 and its values;
// - for an object, its count u32 and the sum u64 of the hashes of its pairs.
//
// The hashes of the pairs are added up because the order of the keys in a jsonb value depends on
// the server's encoding.
void append_container(StringInfo out, const JsonbContainer *container) {
  check_stack_depth();
  const uint32 count = JsonContainerSize(container);
  const bool object = JsonContainerIsObject(container);
  const JEntry *entries = container->children;
  const Children children = {
      entries, reinterpret_cast<const char *>(entries + Size{count} * (object ? 2 : 1)), 0};
  if (!JsonContainerIsScalar(container)) {
    append_number<uint8>(out, object ? kObject : kArray);
    append_number(out, count);
  }
  (object ? append_object : append_array)(out, children, count);
}

StringInfo make_buffer(MemoryContext context) {
  const MemoryContext before = MemoryContextSwitchTo(context);
  StringInfo buffer = makeStringInfo();
  MemoryContextSwitchTo(before);
  return buffer;
}

// Returns a buffer for a document's bytes. For a small document, it is a buffer that the element
// type keeps.
StringInfo buffer_for(ValueType *value_type, Size document) {
  constexpr Size kSmall = 32768;
  if (document > kSmall)
    return makeStringInfo();
  if (!value_type->buffer)
    value_type->buffer = make_buffer(value_type->context);
  resetStringInfo(value_type->buffer);
  return value_type->buffer;
}

} // namespace

void canonical_jsonb(ValueType *value_type, Datum value, Canonical *out) {
  struct varlena *stored = packed(value);
  const Size size = VARSIZE_ANY_EXHDR(stored);
  StringInfo buffer = buffer_for(value_type, size);
  if (VARATT_IS_SHORT(stored)) { // then it may lie at any address
    uint32 document[VARATT_SHORT_MAX / sizeof(uint32) + 1] = {};
    memcpy(document, VARDATA_SHORT(stored), size);
    append_container(buffer, reinterpret_cast<const JsonbContainer *>(document));
  } else {
    append_container(buffer, reinterpret_cast<const JsonbContainer *>(VARDATA(stored)));
  }
  if (reinterpret_cast<Pointer>(stored) != DatumGetPointer(value))
    pfree(stored);
  out->set(buffer->data, static_cast<Size>(buffer->len));
}

} // namespace bloomfilter
