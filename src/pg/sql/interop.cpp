// The SQL functions that read and write filters of other systems: bf_from_guava(), bf_to_guava()
// and so on. core/foreign/ knows the bytes of the files; doc/interop.md describes the systems.
//
// A filter that was read keeps its system's layout and hashing. So it can be probed, changed and
// written again, but only for the same system.

#include "pg/server.hpp"

#include "core/estimate.hpp"
#include "core/foreign/file.hpp"
#include "pg/errors.hpp"
#include "pg/list.hpp"
#include "pg/names.hpp"
#include "pg/value/chain.hpp"
#include "pg/value/filter.hpp"
#include "pg/value/memory.hpp"
#include "pg/value/new_filter.hpp"
#include "pg/value/result_row.hpp"

extern "C" {
#include "catalog/pg_type.h"
#include "utils/array.h"
}

using namespace bloomfilter;

namespace {

struct Bytes {
  const uint8 *at;
  Size length;
};

Bytes file_bytes_of(const bytea *value) {
  return {reinterpret_cast<const uint8 *>(VARDATA_ANY(value)), VARSIZE_ANY_EXHDR(value)};
}

// Raises 22P03 if a file is not a filter of the system. `hint` may be NULL.
void check(const Finding &finding, const char *system_name, const char *hint = nullptr) {
  if (finding.ok())
    return;
  const char *text = finding_text(finding);
  ereport(ERROR, (errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
                  errmsg("invalid %s Bloom filter", system_name),
                  errdetail("%c%s.", pg_toupper(static_cast<unsigned char>(text[0])), text + 1),
                  hint ? errhint("%s", hint) : 0));
}

// A system's name for an element type, and the family of our filters that stands for it.
struct ForeignType {
  const char *name;
  Family family;
};

constexpr ForeignType kFunnels[] = {{"long", Family::integer},
                                    {"integer", Family::int32},
                                    {"string_utf8", Family::text},
                                    {"unencoded_chars", Family::utf16},
                                    {"bytes", Family::bytea}};
constexpr ForeignType kSparkTypes[] = {
    {"long", Family::integer}, {"string", Family::text}, {"binary", Family::bytea}};
constexpr ForeignType kNumbersAndStrings[] = {{"long", Family::integer},
                                              {"double", Family::floating},
                                              {"string", Family::text},
                                              {"bytes", Family::bytea}};
// Parquet's physical types, and those of its logical types for which SQL has a type.
constexpr ForeignType kParquetTypes[] = {
    {"INT32", Family::int32},         {"INT64", Family::integer},
    {"FLOAT", Family::float32},       {"DOUBLE", Family::floating},
    {"BYTE_ARRAY", Family::string},   {"FIXED_LEN_BYTE_ARRAY", Family::string},
    {"DATE", Family::date},           {"TIME", Family::time},
    {"TIMESTAMP", Family::timestamp}, {"TIMESTAMPTZ", Family::timestamptz},
    {"UUID", Family::string}};

// Returns the type with the given name. Raises 22023 if there is none. The message calls such a
// type `what`, and its hint lists the possible `names`.
template <int kCount>
const ForeignType &find_type(const ForeignType (&types)[kCount], const text *argument,
                             const char *what, const char *names) {
  const char *name = text_to_cstring(argument);
  for (const ForeignType &type : types)
    if (pg_strcasecmp(type.name, name) == 0)
      return type;
  ereport(ERROR,
          (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
           errmsg("%s \"%s\" is not supported", what, name), errhint("It can be %s.", names)));
}

NewFilter make_read(const FoundFilter &found, Family family) {
  Header header = empty_header(found.geometry, {}, found.seed);
  header.element_type.family = family;
  header.flags = kFlagSelfSized | found.flags;
  return make_filter(header);
}

// The name of the first layout of a system. Most of the system's filters have this layout.
const char *first_layout(System system) {
  const Scheme *scheme = kSchemes;
  while (system_of(scheme->layout) != system)
    scheme++;
  return scheme->name;
}

// Returns the first argument. Raises 22023 if the system cannot read the filter's layout.
Filter filter_for(FunctionCallInfo fcinfo, System system, const char *system_name) {
  const Filter filter = filter_arg(fcinfo, 0);
  const Header &header = filter.header;
  if (system_of(header.geometry.layout) != system)
    ereport(ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
             errmsg("bloom filter of layout \"%s\" cannot be written for %s",
                    layout_name(profile_of(header.geometry.layout), header.element_type.family),
                    system_name),
             errhint("Build it with a layout for %s: bf_agg(value, expected, fpr, '%s').",
                     system_name, first_layout(system))));
  return filter;
}

// Returns the first argument as a filter of one link. Links of one geometry are combined by OR, as
// the other systems do it for a union. Raises 22023 for links of different geometries.
Filter written_filter(FunctionCallInfo fcinfo, System system, const char *system_name) {
  const Filter filter = filter_for(fcinfo, system, system_name);
  const Header &header = filter.header;
  if (!header.is_chain())
    return filter;
  Link link = filter.link();
  if (any_link(filter.payload(), header,
               [&link](const Link &other, Size) { return !(other.geometry == link.geometry); }))
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("bloom filter of several sizes cannot be written for %s", system_name),
                    errdetail("The number of links is %d.", header.links()),
                    errhint("Build all filters with one expected number of values and false "
                            "positive rate.")));
  const LinkView empty = {link, nullptr, nullptr};
  NewFilter united = make_of_links(header, &empty, 1);
  for_each_link(filter.payload(), header, [&](const Link &, Size offset) {
    unite_bitmaps(united.bitmap(), filter.payload() + offset, link.geometry.bytes());
  });
  return united;
}

Size words_of(const Geometry &geometry) {
  return geometry.bytes() / kWordBytes;
}

// Makes the filter of a file that has a head and then big-endian words, as Java programs write it.
// with_words() writes such a file.
Datum from_words(FunctionCallInfo fcinfo, decltype(read_guava) read, const char *system_name,
                 const ForeignType &type) {
  const Bytes bytes = file_bytes_of(PG_GETARG_BYTEA_PP(0));
  FoundFilter found;
  check(read(bytes.at, bytes.length, &found), system_name);
  NewFilter filter = make_read(found, type.family);
  swap_words(filter.bitmap(), bytes.at + found.offset, words_of(found.geometry),
             check_for_interrupts);
  return filter.datum();
}

Datum with_words(const uint8 *head, Size head_bytes, const Filter &filter) {
  const Geometry &geometry = filter.header.geometry;
  bytea *result = new_value(head_bytes + geometry.bytes());
  auto *bytes = reinterpret_cast<uint8 *>(VARDATA(result));
  memcpy(bytes, head, head_bytes);
  swap_words(bytes + head_bytes, filter.bitmap(), words_of(geometry), check_for_interrupts);
  PG_RETURN_BYTEA_P(result);
}

// Writes a file that has a head and then the bitmap's bytes unchanged.
Datum with_bitmap(const uint8 *head, Size head_bytes, const uint8 *bitmap, Size bytes) {
  bytea *result = new_value(head_bytes + bytes);
  memcpy(VARDATA(result), head, head_bytes);
  move_memory(VARDATA(result) + head_bytes, bitmap, bytes);
  PG_RETURN_BYTEA_P(result);
}

// Returns the bitmaps of the links, cut into chunks as RedisBloom's BF.SCANDUMP does it.
Datum redis_chunks(const LinkView *views, int count) {
  Datum chunks[kMaxLinks + kMaxBits / 8 / kRedisChunk];
  int number = 0;
  for (int i = 0; i < count; i++) {
    const Size bytes = views[i].link.geometry.bytes();
    for (Size at = 0; at < bytes; at += kRedisChunk) {
      CHECK_FOR_INTERRUPTS();
      chunks[number++] =
          PointerGetDatum(make_value(views[i].bitmap + at, Min(bytes - at, kRedisChunk)));
    }
  }
  ArrayType *array = construct_array(chunks, number, BYTEAOID, -1, false, TYPALIGN_INT);
  while (number > 0)
    pfree(DatumGetPointer(chunks[--number]));
  return PointerGetDatum(array);
}

} // namespace

SQL_FUNCTIONS_BEGIN

SQL_FUNCTION(bf_from_guava) {
  const ForeignType &funnel = find_type(kFunnels, PG_GETARG_TEXT_PP(1), "funnel",
                                        "long, integer, string_utf8, unencoded_chars, or bytes");
  return from_words(fcinfo, read_guava, "Guava", funnel);
}

SQL_FUNCTION(bf_to_guava) {
  const Filter filter = written_filter(fcinfo, System::guava, "Guava");
  uint8 head[kGuavaHead];
  write_guava_head(head, filter.header.geometry);
  return with_words(head, kGuavaHead, filter);
}

SQL_FUNCTION(bf_from_spark) {
  const ForeignType &type =
      find_type(kSparkTypes, PG_GETARG_TEXT_PP(1), "Spark type", "long, string, or binary");
  return from_words(fcinfo, read_spark, "Spark", type);
}

SQL_FUNCTION(bf_to_spark) {
  const Filter filter = written_filter(fcinfo, System::spark, "Spark");
  uint8 head[kMaxSparkHead];
  const Size head_bytes = write_spark_head(head, filter.header.geometry, filter.header.seed);
  return with_words(head, head_bytes, filter);
}

SQL_FUNCTION(bf_from_datasketches) {
  const Bytes bytes = file_bytes_of(PG_GETARG_BYTEA_PP(0));
  const ForeignType &type = find_type(kNumbersAndStrings, PG_GETARG_TEXT_PP(1), "DataSketches type",
                                      "long, double, string, or bytes");
  FoundFilter found;
  check(read_datasketches(bytes.at, bytes.length, &found, check_for_interrupts), "DataSketches");
  NewFilter filter = make_read(found, type.family);
  move_memory(filter.bitmap(), bytes.at + found.offset, bytes.length - found.offset);
  return filter.datum();
}

SQL_FUNCTION(bf_to_datasketches) {
  const Filter filter = written_filter(fcinfo, System::datasketches, "DataSketches");
  const Header &header = filter.header;
  const uint64 set = bits_set(filter.bitmap(), header.geometry);
  uint8 head[kMaxDataSketchesHead];
  const Size head_bytes =
      write_datasketches_head(head, header.geometry, header.seed, set, header.flags);
  const bool has_words = head_bytes == kMaxDataSketchesHead;
  return with_bitmap(head, head_bytes, filter.bitmap(), has_words ? header.geometry.bytes() : 0);
}

SQL_FUNCTION(bf_from_hive) {
  const ForeignType &type = find_type(kNumbersAndStrings, PG_GETARG_TEXT_PP(1), "Hive type",
                                      "long, double, string, or bytes");
  return from_words(fcinfo, read_hive, "Hive", type);
}

SQL_FUNCTION(bf_to_hive) {
  const Filter filter = written_filter(fcinfo, System::hive, "Hive");
  uint8 head[kHiveHead];
  write_hive_head(head, filter.header.geometry);
  return with_words(head, kHiveHead, filter);
}

SQL_FUNCTION(bf_from_parquet) {
  const Bytes bytes = file_bytes_of(PG_GETARG_BYTEA_PP(0));
  const ForeignType &type =
      find_type(kParquetTypes, PG_GETARG_TEXT_PP(1), "Parquet type",
                "INT32, INT64, FLOAT, DOUBLE, BYTE_ARRAY, FIXED_LEN_BYTE_ARRAY, DATE, TIME, "
                "TIMESTAMP, TIMESTAMPTZ, or UUID");
  FoundFilter found;
  const Finding finding = read_parquet(bytes.at, bytes.length, &found);
  check(finding, "Parquet",
        !finding.ok() && found.offset > 0 ? psprintf("Pass the filter's %zu bytes.", found.end())
                                          : nullptr);
  NewFilter filter = make_read(found, type.family);
  move_memory(filter.bitmap(), bytes.at + found.offset, found.geometry.bytes());
  return filter.datum();
}

SQL_FUNCTION(bf_to_parquet) {
  const Filter filter = written_filter(fcinfo, System::parquet, "Parquet");
  const Geometry &geometry = filter.header.geometry;
  if ((geometry.units & (geometry.units - 1)) != 0 || geometry.bytes() > kMaxParquetBytes)
    ereport(ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
             errmsg("bloom filter of %zu bytes cannot be written for Parquet", geometry.bytes()),
             errdetail("Parquet's readers take a power of two, of at most 128 MB.")));
  uint8 head[kMaxParquetHead];
  const Size head_bytes = write_parquet_head(head, geometry);
  return with_bitmap(head, head_bytes, filter.bitmap(), geometry.bytes());
}

SQL_FUNCTION(bf_from_redis) {
  const Bytes bytes = file_bytes_of(PG_GETARG_BYTEA_PP(0));
  Datum *chunks;
  bool *nulls;
  int count;
  deconstruct_array(PG_GETARG_ARRAYTYPE_P(1), BYTEAOID, -1, false, TYPALIGN_INT, &chunks, &nulls,
                    &count);
  auto *lengths = make_array<Size>(count);
  Size length = 0;
  for (int i = 0; i < count; i++) {
    if (nulls[i])
      ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
                      errmsg("chunk %d of a RedisBloom dump is null", i + 1)));
    lengths[i] = file_bytes_of(DatumGetByteaPP(chunks[i])).length;
    length += lengths[i];
  }
  LinkView links[kMaxLinks];
  Link found[kMaxLinks];
  int link_count;
  check(read_redis(bytes.at, bytes.length, found, &link_count), "RedisBloom");
  check(fit_redis_chunks(found, link_count, lengths, count), "RedisBloom",
        "Give each chunk that BF.SCANDUMP gave, in its order: array_agg(chunk ORDER BY number).");

  auto *bitmaps = static_cast<uint8 *>(MemoryContextAllocHuge(CurrentMemoryContext, length));
  uint8 *end = bitmaps;
  for (int i = 0; i < count; i++) {
    CHECK_FOR_INTERRUPTS();
    memcpy(end, file_bytes_of(DatumGetByteaPP(chunks[i])).at, lengths[i]);
    end += lengths[i];
  }
  const uint8 *bitmap = bitmaps;
  for (int i = 0; i < link_count; i++) {
    links[i] = {found[i], bitmap, nullptr};
    bitmap += found[i].geometry.bytes();
  }
  Header header = empty_header(found[0].geometry, {}, 0);
  header.element_type.family = Family::string;
  link_count = normalize_links(links, link_count, check_for_interrupts);
  check_size(links, link_count);
  const Filter filter = make_of_links(header, links, link_count);
  pfree(bitmaps);
  return filter.datum();
}

SQL_FUNCTION(bf_to_redis) {
  const Filter filter = filter_for(fcinfo, System::redis, "RedisBloom");
  LinkView views[kMaxLinks];
  Link links[kMaxLinks];
  double values[kMaxLinks];
  const int count = view_links(filter.payload(), filter.header, views);
  for (int i = 0; i < count; i++) {
    links[i] = views[i].link;
    links[i].capacity.values = full_values(links[i]);
    values[i] = estimate_count(links[i].geometry, bits_set(views[i].bitmap, links[i].geometry));
  }
  uint8 header[kMaxRedisHeader];
  const Size header_bytes = write_redis(header, links, values, count);
  ResultRow row(fcinfo);
  row.add(PointerGetDatum(make_value(header, header_bytes)));
  row.add(redis_chunks(views, count));
  return row.datum();
}

SQL_FUNCTIONS_END
