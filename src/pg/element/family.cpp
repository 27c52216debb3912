#include "pg/element/family.hpp"

#include "pg/layout.hpp"

namespace bloomfilter {

namespace {

// By family number.
constexpr const char *kFamilyNames[] = {
    nullptr,   "integer",  "float",      "numeric", "text",      "bytea",       "uuid",
    "boolean", "\"char\"", "oid",        "date",    "timestamp", "timestamptz", "time",
    "timetz",  "interval", "inet",       "macaddr", "macaddr8",  "jsonb",       "enum",
    "array",   "range",    "multirange", "row",     "hash",      "byte string", "integer",
    "text",    "float",    nullptr,
};
static_assert(lengthof(kFamilyNames) == static_cast<int>(kLastFamily) + 1,
              "every family has a name");

} // namespace

void raise_unless_fitting(const Header &header, const Element *element, Use use) {
  const char *role = use == Use::add ? "value" : "probe";
  const Layout layout = header.geometry.layout;
  if (is_foreign(layout)) {
    const Family member = stored_family(scheme_of(layout, header.family), element->family);
    if (member == Family::none)
      ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                      errmsg("bloom filters of layout \"%s\" do not hold %s values",
                             layout_name(layout, header.family), format_type_be(element->type)),
                      errhint("Cast the %s to a type that the layout knows.", role)));
    if (header.family == member)
      return;
  }
  if (is_open(header.family) || header.family == Family::hash)
    return;

  const char *type = format_type_be(element->type);
  const Kind kind = kind_of(header.geometry.layout);
  if (header.family == element->family)
    ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                    errmsg("%s holds %s values of another composition, but the %s is %s",
                           noun_of(kind), family_name(header.family), role, type),
                    errdetail("The shape fingerprint of the filter is %u, that of the %s is %u.",
                              header.shape, role, element->shape),
                    errhint("Cast the %s to the type that the filter was built from.", role)));
  ereport(ERROR,
          (errcode(ERRCODE_DATATYPE_MISMATCH),
           errmsg("%s holds %s values, but the %s is %s", noun_of(kind), family_name(header.family),
                  role, type),
           element->family != Family::array || (kind != Kind::bloom && use == Use::ask)
               ? errhint("Cast the %s to the type that the filter was built from.", role)
           : kind == Kind::bloom
               ? errhint("To use the array's elements, call bf_contains_all(), bf_contains_any(), "
                         "bf_contains_each() or bf_add_all().")
               : errhint("To add the array's elements, call %s_add_all().", prefix_of(kind))));
}

bool same_family(const Header &header, const Header &other) {
  return is_open(header.family) || is_open(other.family) ||
         (header.family == other.family && header.shape == other.shape);
}

void check_family(const Header &header, const Header &other) {
  if (same_family(header, other))
    return;
  if (header.family != other.family)
    ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                    errmsg("%ss hold different values: %s and %s",
                           noun_of(kind_of(header.geometry.layout)), family_name(header.family),
                           family_name(other.family))));
  ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                  errmsg("%ss hold %s values of different compositions",
                         noun_of(kind_of(header.geometry.layout)), family_name(header.family)),
                  errdetail("The shape fingerprints are %u and %u.", header.shape, other.shape)));
}

Header member_header(const Element *element) {
  Header header = member_header(element->family);
  header.shape = element->shape;
  return header;
}

Header member_header(Family family) {
  Header header = {};
  header.family = family;
  return header;
}

void adopt_family(Header *header, const Header &member) {
  if (is_open(header->family)) {
    const Scheme &scheme = scheme_of(header->geometry.layout, header->family);
    header->family = stored_family(scheme, member.family);
    header->shape = member.shape;
  }
}

const char *family_name(Family family) {
  return kFamilyNames[static_cast<int>(family)];
}

void check_hashed_alike(const Header &header) {
  if (is_foreign(header.geometry.layout))
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("bloom filters of layout \"%s\" do not take hashes",
                           layout_name(header.geometry.layout, header.family)),
                    errhint("Add or ask the value itself.")));
}

} // namespace bloomfilter
