#include "pg/server.hpp"
#include "pg/batch.hpp"
#include "pg/element/conversion.hpp"
#include "pg/element/family.hpp"
#include "pg/call_site.hpp"
namespace bloomfilter {
void ask_values(AskedFilter *filter, Element *element, const Datum *values, int count,
                bool *answers) {
  const Header &header = filter->header;
  uint64 hashes[kAskedAtOnce];
  if (!is_foreign(header.geometry.layout) && !element->varying &&
      kind_of(header.geometry.layout) == Kind::bloom) {
    int i = 0;
    for (; i < count; i++) {
      hashes[i] = first_hash(element, values[i], header.seed);
      if (unlikely(!fits(header, element)))
        break;
    }
    if (i == count) {
      filter->contains_many(hashes, count, answers);
      return;
    }
  }
  for (int i = 0; i < count; i++)
    answers[i] = contains_any_digest(filter, digests_for(element, values[i], header, Use::ask));
}
} // namespace bloomfilter
