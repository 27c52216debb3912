// See probed_filter.hpp. The functions here run when a call site gets another filter than for the
// row before. They also run for filters that one hash test cannot answer: chains, layouts of other
// systems, and filters that are read by slice.

#include "pg/value/probed_filter.hpp"

#include "core/links.hpp"
#include "pg/value/filter.hpp"
#include "pg/value/slices.hpp"

namespace bloomfilter {

ProbedFilter *open_another_filter(struct varlena *value, LastFilter *last) {
  if (VARATT_IS_EXTERNAL_ONDISK(value)) {
    last->generation = last->length = 0;
    VARATT_EXTERNAL_GET_POINTER(last->pointer, value);
    CachedFilter *filter = cached_filter(last->pointer);
    last->filter = {filter->header, nullptr, hash_test(*kernel, filter->header.geometry), nullptr,
                    filter};
    if (filter->payload)
      last->filter.set_payload(filter->payload);
    last->generation = generation_to_remember();
    return &last->filter;
  }

  value = PG_DETOAST_DATUM(PointerGetDatum(value));
  const Size length = VARSIZE(value) - VARHDRSZ;
  if (length == 0 || length != last->length ||
      memcmp(last->header, VARDATA(value), kHeaderBytes) != 0) {
    last->generation = last->length = 0;
    const Header header = open_filter(value).header;
    last->filter = {header, nullptr, hash_test(*kernel, header.geometry), nullptr, nullptr};
    memcpy(last->header, VARDATA(value), kHeaderBytes);
    if (!header.is_chain()) // the header of a chain does not describe its links
      last->length = length;
  }
  last->filter.set_payload(reinterpret_cast<const uint8 *>(VARDATA(value)));
  return &last->filter;
}

bool ProbedFilter::in_memory(uint64 slices) {
  if (payload)
    return true;
  copy_if_worthwhile(cached, slices);
  if (cached->payload)
    set_payload(cached->payload);
  return payload != nullptr;
}

void ProbedFilter::expect(int count) {
  (void)in_memory(static_cast<uint64>(count) * header.links());
}

int ProbedFilter::multiplicity(uint64 hash) {
  const Geometry &geometry = header.geometry;
  if (!in_memory()) {
    Slices slices(cached, kHeaderBytes);
    const int copies = multiplicity_in_parts<Slices &>(geometry, hash, slices);
    slices.release();
    return copies;
  }
  return structure_multiplicity(geometry, bitmap, hash);
}

bool ProbedFilter::contains_in_links(const Digest &digest) {
  if (in_memory())
    return links_contain(*kernel, payload, header, digest);
  return any_link(cached->head, header, [&](const Link &link, Size offset) {
    Slices slices(cached, offset);
    const bool found = contains_in_parts<Slices &>(*kernel, link.geometry, digest, slices);
    slices.release();
    return found;
  });
}

void ProbedFilter::contains_many(const uint64 *hashes, int count, bool *answers) {
  Assert(count <= kProbedAtOnce);
  expect(count);
  while (count > 0 && !payload) {
    *answers++ = contains(*hashes++);
    count--;
  }
  if (bitmap && structure_of(header.geometry.layout) == Structure::bitmap) {
    kernel->contains_many(header.geometry, bitmap, hashes, static_cast<Size>(count), answers);
    return;
  }
  if (bitmap || count == 0) {
    for (int i = 0; i < count; i++)
      answers[i] = contains(hashes[i]);
    return;
  }
  bool found[kProbedAtOnce];
  memset(answers, 0, count);
  for_each_link(payload, header, [&](const Link &link, Size offset) {
    kernel->contains_many(link.geometry, payload + offset, hashes, static_cast<Size>(count), found);
    for (int i = 0; i < count; i++)
      answers[i] |= found[i];
  });
}

} // namespace bloomfilter
