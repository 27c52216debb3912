// Asks a filter of PostgreSQL's extension bloomfilter in the program, without a query.
//
//   const { read } = require('postgresql-bloomfilter')
//
//   const { rows } = await db.query('SELECT urls::bytea AS data FROM visited')
//   const visited = await read(rows[0].data)
//   visited.contains('https://example.com/7')
//
// It answers as the server does for the same value. What it cannot hash as the server does is an
// error. Filters are only read.
'use strict'

const { createXXHash3 } = require('hash-wasm')
const errors = require('./errors.js')
const format = require('./format.js')
const { NAMES, encoderOf, isBytes } = require('./values.js')

let unseeded // the hasher of most filters

async function hasherOf(low, high) {
  if (low || high) return createXXHash3(low, high)
  unseeded ??= createXXHash3(0, 0)
  return unseeded
}

// Four bytes as a number, the most significant first.
function wordAt(bytes, at) {
  return (bytes[at] << 24 | bytes[at + 1] << 16 | bytes[at + 2] << 8 | bytes[at + 3]) >>> 0
}

function digest(hasher, bytes) {
  return hasher.init().update(bytes).digest('binary')
}

function payloadOf(data) {
  if (ArrayBuffer.isView(data))
    return new Uint8Array(data.buffer, data.byteOffset, data.byteLength).slice()
  if (typeof data !== 'string')
    throw new errors.FilterError(`a filter is a Uint8Array or a string, not ${typeof data}`)
  if (data.startsWith('\\x')) {
    throw new errors.DamagedError('the text of a filter is base64, but this is the text of a ' +
      "bytea: pass Buffer.from(data.slice(2), 'hex')")
  }
  const text = data.replace(/[ \t\r\n]/g, '')
  let characters
  try {
    characters = atob(text)
  } catch {
    throw new errors.DamagedError('the text of a filter is base64')
  }
  if (btoa(characters) !== text)
    throw new errors.DamagedError('the text of a filter is base64 without unused bits')
  const bytes = new Uint8Array(characters.length)
  // Uint8Array.from() would need 20 times the memory, and end the process at 100 MB.
  for (let i = 0; i < bytes.length; i++) bytes[i] = characters.charCodeAt(i)
  return bytes
}

// What a filter is. The names are those of bf_info.
function infoOf(head, length) {
  const { links, layout, capacity } = head, isCuckoo = layout === format.CUCKOO
  const only = (values) => (new Set(values).size === 1 && !isCuckoo ? values[0] : null)
  return Object.freeze({
    type: ['bloomfilter', 'countingbloomfilter', 'cuckoofilter'][layout >> 4],
    layout: only(links.map((link) => [null, 'lines', 'pages'][link.layout & 15])),
    elementType: head.family === 0 ? null : NAMES[head.family],
    seed: head.seed,
    expected: capacity.expected || null,
    targetFpr: capacity.rate || null,
    hashes: only(links.map((link) => link.k)),
    bits: links.reduce((sum, link) => sum + link.bits, 0),
    bytes: length + 4,
    links: links.length,
    grows: head.grows,
  })
}

class Filter {
  #hasher
  #encode
  #probes

  constructor(payload, head, hasher, encode) {
    this.info = infoOf(head, payload.length)
    this.#hasher = hasher
    this.#encode = encode
    this.#probes = format.probes(payload, head.links)
  }

  // Is the value possibly in the set? false is certain.
  contains(value) {
    if (value == null) throw new errors.FilterError(`${value} is no value: SQL's answer is NULL`)
    return find(this.#encode(value), this.#hasher, this.#probes)
  }

  // The answers for many values, in their order. null for null and undefined, as in SQL.
  containsEach(values) {
    if (typeof values === 'string' || isBytes(values)) { // iterable, but no list
      throw new TypeError('containsEach takes a list of values, not ' +
        `${isBytes(values) ? 'bytes' : 'a string'}: ask contains(value) for one value`)
    }
    const encode = this.#encode, hasher = this.#hasher, probes = this.#probes
    const all = Array.isArray(values) ? values : [...values], answers = new Array(all.length)
    for (let i = 0; i < all.length; i++)
      answers[i] = all[i] == null ? null : find(encode(all[i]), hasher, probes)
    return answers
  }
}

// Is a value with these canonical bytes, one or two strings of them, possibly in the set?
function find(all, hasher, probes) {
  for (let i = 0; i < all.length; i++) {
    const bytes = digest(hasher, all[i])
    const high = wordAt(bytes, 0), low = wordAt(bytes, 4)
    for (let j = 0; j < probes.length; j++) if (probes[j](high, low)) return true
  }
  return false
}

// Reads a filter: what the server gives for filter::bytea, or the filter's text. For a filter of
// rows, `row` may name the element types of the fields. It must do so if a field can be null.
async function read(data, { row } = {}) {
  const payload = payloadOf(data), head = format.read(payload)
  const [hasher, shapes] = [await hasherOf(head.seedLow, head.seedHigh), await hasherOf(0, 0)]
  const shapeOf = (bytes) => (wordAt(digest(shapes, bytes), 4) & 0xffffff) || 1
  const fields = row ? [...row] : undefined
  return new Filter(payload, head, hasher, encoderOf(head.family, head.shape, fields, shapeOf))
}

module.exports = { read, Filter, ...errors }
