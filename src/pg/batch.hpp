// Many values asked for at once.
#ifndef BLOOMFILTER_PG_BATCH_HPP
#define BLOOMFILTER_PG_BATCH_HPP
#include "pg/stored.hpp"
#include "pg/element/element.hpp"
namespace bloomfilter {
void ask_values(AskedFilter *filter, Element *element, const Datum *values, int count,
                bool *answers);
}
#endif
