// Reads and checks the bytes of a stored filter, and looks for a hash in them.
//
// doc/format.md of the extension specifies these bytes. read() checks all that the server checks in
// its input: every length before anything of that length is read, every flag, and the order of
// links and fingerprints. So damaged bytes raise DamagedError and nothing else. Time and memory are
// proportional to the length of the bytes.
//
// A hash is two numbers of 32 bits, `high` and `low`.
'use strict'

const { DamagedError, UnsupportedError } = require('./errors.js')

const LINES = 1, PAGES = 2, COUNTING = 0x10, CUCKOO = 0x21
const HAS_LINKS = 1, SELF_SIZED = 2, GROWS = 4, INTERSECTION = 8
const OTHERS = { // layouts of other systems: name, and what reads such a filter
  3: ['guava', 'bf_to_guava(filter) is a BloomFilter for Guava'],
  4: ['hive', 'bf_to_hive(filter) is a BloomKFilter for Hive'],
  6: ['guava_mitz32', 'bf_to_guava(filter) is a BloomFilter for Guava'],
  9: ['parquet', 'bf_to_parquet(filter) is a filter for readers of Parquet'],
  12: ['redis', 'bf_to_redis(filter) is a filter for RedisBloom'],
  13: ['spark', 'bf_to_spark(filter) is a BloomFilter for Spark'],
  14: ['spark_v2', 'bf_to_spark(filter) is a BloomFilter for Spark'],
  15: ['datasketches', 'bf_to_datasketches(filter) is a BloomFilter for DataSketches'],
}
const UNIT_BYTES = {
  [LINES]: 64, [PAGES]: 512, [COUNTING | LINES]: 256, [COUNTING | PAGES]: 2048,
}
const MOST_BITS = 2 ** 32, MOST_LINKS = 64
const LAST_FAMILY = 30, LAST_FAMILY_OF_OURS = 25, FIRST_COMPOSED = 21, LAST_COMPOSED = 24
const HEADER_BYTES = 36, ENTRY_BYTES = 24, KICKS_BYTES = 4

const GOLDEN_HIGH = 0x9e3779b9, GOLDEN_LOW = 0x7f4a7c15, LINE_CHOICE = 0xc2b2ae35
const S = [GOLDEN_HIGH]
while (S.length < 16) S.push(Math.imul(S[S.length - 1], GOLDEN_HIGH) >>> 0)

function require_(condition, what) {
  if (!condition) throw new DamagedError(what)
}

// A bitmap, counters or buckets, and where they are in the bytes. In a cuckoo filter, k is the
// number of bits of a fingerprint.
class Link {
  constructor(layout, k, units, flags, at) {
    Object.assign(this, { layout, k, units, flags, at })
    this.bits = layout === CUCKOO ? 4 * k * units : 8 * UNIT_BYTES[layout] * units
    this.end = at + Math.ceil(this.bits / 8)
  }

  get isSelfSized() { return (this.flags & SELF_SIZED) !== 0 }

  // Negative, 0 or positive, as for sort().
  compare(other) {
    return this.bits - other.bits || this.layout - other.layout || this.k - other.k
  }
}

// An expected number of values and a rate, which begin at `at`. Returns them, or 0 and 0.
function capacityAt(view, at) {
  const expected = view.getBigUint64(at, true), rate = view.getFloat64(at + 8, true)
  const isKnown = expected !== 0n
  require_(expected <= MOST_BITS && isKnown === (view.getBigUint64(at + 8, true) !== 0n) &&
    (!isKnown || (rate >= 1e-9 && rate <= 0.5)),
    `capacity ${expected} and false positive rate ${rate} are not possible together`)
  return { expected: Number(expected), rate }
}

function checkedLink(layout, k, units, flags, at, isKnown) {
  const isEvenOnly = (layout & 15) === PAGES
  require_(layout === CUCKOO ? k >= 6 && k <= 32 : k >= 1 && k <= 16 && !(isEvenOnly && k % 2),
    `number of hash functions ${k} is not possible in this layout`)
  require_(isKnown || layout < COUNTING, 'capacity and false positive rate are unknown')
  const allowed = SELF_SIZED | (layout < COUNTING ? INTERSECTION : 0)
  require_(!(flags & ~allowed), `flags 0x${flags.toString(16)} are unknown`)
  const link = new Link(layout, k, units, flags, at)
  require_(units >= (layout === CUCKOO ? 2 : 1) && link.bits <= MOST_BITS,
    `number of bitmap units ${units} is out of range`)
  return link
}

function readLinks(view, { layout, family, k, capacity, count, flags }) {
  const grows = (flags & GROWS) !== 0
  const allowed = HAS_LINKS | GROWS | (grows && family === 0 && count === 1 ? SELF_SIZED : 0)
  require_(layout < COUNTING && !(flags & ~allowed), `flags 0x${flags.toString(16)} are unknown`)
  require_(layout === LINES, `layout ${layout} is unknown`)
  require_(k === 0, `number of hash functions ${k} is not possible in this layout`)
  require_(grows === capacity.expected > 0,
    'capacity and false positive rate are not possible together')
  require_(count >= (grows ? 1 : 2) && count <= MOST_LINKS,
    `number of links ${count} is out of range`)
  let at = HEADER_BYTES + count * ENTRY_BYTES
  require_(view.byteLength >= at,
    `value of ${view.byteLength} bytes is shorter than a header of ${at} bytes`)
  const links = []
  for (let entry = HEADER_BYTES; links.length < count; entry += ENTRY_BYTES) {
    const mixed = view.getUint8(entry + 21), reserved = view.getUint16(entry + 22, true)
    require_(mixed >> 4 === LINES || mixed >> 4 === PAGES, `layout ${mixed >> 4} is unknown`)
    require_(reserved === 0, `reserved bytes are 0x${reserved.toString(16)}, not zero`)
    const units = view.getUint32(entry + 16, true)
    const link = checkedLink(mixed >> 4, view.getUint8(entry + 20), units, mixed & 15, at,
      capacityAt(view, entry).expected > 0)
    const before = links[links.length - 1], order = before ? before.compare(link) : -1
    require_(order < 0 || (order === 0 && before.isSelfSized), `${count} links are not in order`)
    links.push(link)
    at = link.end
  }
  const bits = links.reduce((sum, link) => sum + link.bits, 0)
  require_(bits <= MOST_BITS, `number of bitmap units ${bits / 512} is out of range`)
  return links
}

function compareBytes(data, a, b, length) {
  for (let i = 0; i < length; i++) if (data[a + i] !== data[b + i]) return data[a + i] - data[b + i]
  return 0
}

// Reads the head of a filter. Checks all of its bytes.
function read(data) {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
  require_(data.length >= HEADER_BYTES,
    `value of ${data.length} bytes is shorter than a header of ${HEADER_BYTES} bytes`)
  const [version, layout, family, k] = data
  require_(version === 1, `format version is ${version}, but only version 1 is known`)
  if (OTHERS[layout]) {
    const [name, reader] = OTHERS[layout]
    throw new UnsupportedError(`a filter of layout ${name} is not read here: ${reader}`)
  }
  require_(layout === CUCKOO || layout in UNIT_BYTES, `layout ${layout} is unknown`)
  require_(family <= LAST_FAMILY, `element type ${family} is unknown`)
  require_(family <= LAST_FAMILY_OF_OURS,
    `element type ${family} is not possible in this layout`)
  const flags = data[32], shape = view.getUint32(32, true) >>> 8
  require_((family >= FIRST_COMPOSED && family <= LAST_COMPOSED) === (shape !== 0),
    `shape fingerprint 0x${shape.toString(16)} does not fit the element type`)
  const capacity = capacityAt(view, 12), units = view.getUint32(28, true)
  const links = flags & HAS_LINKS
    ? readLinks(view, { layout, family, k, capacity, count: units, flags })
    : [checkedLink(layout, k, units, flags, HEADER_BYTES + (layout === CUCKOO ? KICKS_BYTES : 0),
      capacity.expected > 0)]
  const { end } = links[links.length - 1]
  require_(data.length === end,
    `value has ${data.length} bytes, but its header describes ${end}`)
  if (layout === CUCKOO) checkBuckets(data, links[0])
  require_(family !== 0 || data.subarray(links[0].at).every((byte) => byte === 0),
    'bits are set, but the filter has no element type')
  for (let i = 1; i < links.length; i++) {
    const [before, link] = [links[i - 1], links[i]]
    require_(before.compare(link) || !link.isSelfSized ||
      compareBytes(data, before.at, link.at, link.end - link.at) < 0,
      `${links.length} links are not in order`)
  }
  return {
    layout, family, shape, capacity, links, grows: (flags & GROWS) !== 0,
    seedLow: view.getUint32(4, true), seedHigh: view.getUint32(8, true),
    seed: view.getBigInt64(4, true),
  }
}

// The functions that look for a hash in the links, from the largest on.
function probes(data, links) {
  return links.map((link) => {
    if (link.layout === CUCKOO) return buckets(data, link)
    const isCounting = link.layout >= COUNTING
    const bitmap = data.subarray(link.at, link.end)
    const make = (link.layout & 15) === LINES ? lines : pages
    return make(isCounting ? counted(bitmap) : bitmap, link.k, link.units)
  }).reverse()
}

// The bits of the counters above 0. Bit j of a line's counters is in line j of four.
function counted(counters) {
  const bitmap = new Uint8Array(counters.length / 4)
  for (let i = 0; i < bitmap.length; i++) {
    const at = (i >> 6) * 256 + (i & 63)
    bitmap[i] = counters[at] | counters[at + 64] | counters[at + 128] | counters[at + 192]
  }
  return bitmap
}

// (a * b) >> 32, for a of 32 bits and b up to 2^37. A number is exact up to 2^53.
function scaled(a, b) {
  return Math.floor(((a >>> 16) * b + Math.floor((a & 0xffff) * b / 65536)) / 65536)
}

function isSet(bitmap, line, word, count) {
  for (let i = 0; i < count; i++) {
    const p = Math.imul(word, S[i]) >>> 23
    if (!(bitmap[line + (p >> 3)] >> (p & 7) & 1)) return false
  }
  return true
}

function lines(bitmap, k, units) {
  return (high, low) => isSet(bitmap, 64 * scaled(high, units), low, k)
}

function lineOf(word) {
  return 64 * (Math.imul(word, LINE_CHOICE) >>> 30)
}

function pages(bitmap, k, units) {
  return (high, low) => {
    const page = 512 * scaled(high, units)
    if (!isSet(bitmap, page + lineOf(low), low, k / 2)) return false
    const y = (scaled(low, GOLDEN_LOW) + Math.imul(high, GOLDEN_LOW) +
      Math.imul(low, GOLDEN_HIGH)) >>> 0
    return isSet(bitmap, page + 256 + lineOf(y), y, k / 2)
  }
}

// The upper half of mix64 of a number of 32 bits.
function mixed(fingerprint) {
  // x ^= x >> 33 changes nothing yet.
  let high = (scaled(fingerprint, 0xed558ccd) + Math.imul(fingerprint, 0xff51afd7)) >>> 0
  let low = Math.imul(fingerprint, 0xed558ccd) >>> 0
  low = (low ^ high >>> 1) >>> 0
  high = (scaled(low, 0x1a85ec53) + Math.imul(high, 0x1a85ec53) +
    Math.imul(low, 0xc4ceb9fe)) >>> 0
  return high // the last x ^= x >> 33 changes only the lower half
}

// The bits from bit `at` on, up to 32 of them.
function bitsAt(data, at, count) {
  const byte = Math.floor(at / 8)
  let value = 0
  for (let i = 4; i >= 0; i--) value = value * 256 + (data[byte + i] || 0)
  return Math.floor(value / 2 ** (at % 8)) % 2 ** count
}

function buckets(data, { k: f, units: m, at }) {
  const table = data.subarray(at)
  const has = (bucket, fingerprint) => {
    for (let slot = 4 * bucket; slot < 4 * bucket + 4; slot++)
      if (bitsAt(table, slot * f, f) === fingerprint) return true
    return false
  }
  return (high, low) => {
    const fingerprint = scaled(low, 2 ** f - 1) + 1
    const first = scaled(high, m)
    if (has(first, fingerprint)) return true
    const r = scaled(mixed(fingerprint), m)
    return has((r - first + m) % m, fingerprint)
  }
}

function checkBuckets(data, { k: f, units: m, at }) {
  const table = data.subarray(at)
  const wrong = `fingerprints in ${m} buckets are not in order`
  let before = Infinity
  for (let slot = 0; slot < 4 * m; slot++) {
    const fingerprint = bitsAt(table, slot * f, f)
    require_(slot % 4 === 0 || fingerprint <= before, wrong)
    before = fingerprint
  }
  require_(4 * f * m % 8 === 0 || table[table.length - 1] < 16, 'bits after the buckets are set')
}

module.exports = { read, probes, CUCKOO }
