// From a value of JavaScript to the bytes that the server hashes: its canonical bytes.
//
// Section Families of doc/format.md specifies these bytes. Each function here returns all canonical
// bytes under which a filter of the family may hold a value that a driver reads as this value of
// JavaScript: most often one array of bytes. There are two for a text that ends with a blank, which
// may be a char(n), and for a number in a filter of floats, which may be a real. No bytes at all
// mean that the value can equal no value of the family. A function returns undefined if the value
// has another type.
'use strict'

const { FilterError, ElementTypeError, UnsupportedError } = require('./errors.js')

const NAMES = ['none', 'integer', 'float', 'numeric', 'text', 'bytea', 'uuid', 'boolean', '"char"',
  'oid', 'date', 'timestamp', 'timestamptz', 'time', 'timetz', 'interval', 'inet', 'macaddr',
  'macaddr8', 'jsonb', 'enum', 'array', 'range', 'multirange', 'row', 'hash']
const ROW = NAMES.indexOf('row')
const MOST_ALTERNATIVES = 64 // of a row, whose fields may each have two

const NEVER = []
const LEAST_INTEGER = -(2n ** 63n), LAST_INTEGER = 2n ** 63n - 1n
const DAY = 86400000000n // microseconds
const EPOCH = 10957 // days from 1970 to the server's epoch, 2000
const END_TIMESTAMP = 9224318016000000000n // 294277-01-01, in microseconds since 1970
const END_DATE = 2145042906 // 5874898-01-01, in days since 1970

const utf8 = new TextEncoder()

function isBytes(value) {
  return ArrayBuffer.isView(value) && value.BYTES_PER_ELEMENT === 1
}

function isDate(value) {
  return Object.prototype.toString.call(value) === '[object Date]'
}

function typeOf(value) {
  return typeof value === 'object' ? value.constructor?.name ?? 'object' : typeof value
}

// Bytes of a fixed length, written by one call of a DataView.
function packed(length, write) {
  const bytes = new Uint8Array(length)
  write(new DataView(bytes.buffer))
  return bytes
}
const int64 = (number) => packed(8, (view) => view.setBigInt64(0, number, true))

// --- numbers -----------------------------------------------------------------------------------

function integerOfNumber(number) {
  if (!Number.isInteger(number)) throw new FilterError(`${number} is no integer`)
  if (!Number.isSafeInteger(number))
    throw new FilterError(`${number} is no safe integer: pass larger integers as a BigInt`)
  return [packed(8, (view) => {
    view.setUint32(0, number >>> 0, true)
    view.setInt32(4, Math.floor(number / 2 ** 32), true)
  })]
}

function integer(value) {
  if (typeof value === 'number') return integerOfNumber(value)
  if (typeof value === 'bigint')
    return value >= LEAST_INTEGER && value <= LAST_INTEGER ? [int64(value)] : NEVER
  if (typeof value !== 'string') return undefined
  const digits = /^[+-]?0*(\d{1,19})$/.exec(value) // as node-postgres reads a bigint
  const number = digits ? BigInt(value.replace('+', '')) : 2n ** 64n
  if (number < LEAST_INTEGER || number > LAST_INTEGER)
    throw new FilterError(`not a bigint: '${value}'`)
  return [int64(number)]
}

const NAN = new Uint8Array([0, 0, 0, 0, 0, 0, 0xf8, 0x7f])
function float64(number) {
  return number === number ? packed(8, (view) => view.setFloat64(0, number + 0, true)) : NAN
}

// Drivers read the real nearest to 0.1 as 0.1, but its bytes are those of 0.10000000149011612.
function float(value) {
  if (typeof value === 'bigint') {
    const number = Number(value)
    return Number.isFinite(number) ? [float64(number)] : NEVER
  }
  if (typeof value !== 'number') return undefined
  const real = Math.fround(value)
  const isReal = !Number.isFinite(real) || real === 0 || real === value
  return isReal ? [float64(value)] : [float64(value), float64(real)]
}

const NO_NUMBERS = new Map([
  ['nan', 0xc000], ['infinity', 0xd000], ['inf', 0xd000], ['-infinity', 0xf000], ['-inf', 0xf000],
])
function numeric(value) {
  if (typeof value === 'number') {
    if (!Number.isSafeInteger(value))
      throw new FilterError(`${value} is not exact as a numeric: pass a string`)
    value = String(value)
  }
  if (typeof value === 'bigint') value = String(value)
  if (typeof value !== 'string') return undefined
  const special = NO_NUMBERS.get(value.toLowerCase())
  if (special) return [packed(4, (view) => view.setUint16(0, special, true))]
  const parts = /^([+-]?)(?:(\d+)(?:\.(\d*))?|\.(\d+))(?:[eE]([+-]?\d{1,9}))?$/.exec(value)
  if (!parts) throw new FilterError(`not a numeric: '${value}'`)
  const fraction = parts[3] ?? parts[4] ?? ''
  let digits = ((parts[2] ?? '') + fraction).replace(/^0+/, '')
  let exponent = Number(parts[5] ?? 0) - fraction.length
  if (exponent < -16383 || (digits !== '' && digits.length + exponent > 131072))
    throw new FilterError('a numeric cannot be as large or as long')
  if (digits === '') return [new Uint8Array(4)]
  let end = digits.length // the time of /0+$/ is quadratic in the number of zeros
  while (digits[end - 1] === '0') end--
  const kept = digits.slice(0, end)
  exponent += digits.length - kept.length
  const shift = ((exponent % 4) + 4) % 4 // digits to base 10000 are aligned to the decimal point
  digits = kept + '0'.repeat(shift)
  exponent -= shift
  digits = digits.padStart(Math.ceil(digits.length / 4) * 4, '0')
  const count = digits.length / 4
  return [packed(4 + 2 * count, (view) => {
    view.setUint16(0, parts[1] === '-' ? 0x4000 : 0, true)
    view.setInt16(2, exponent / 4 + count - 1, true)
    for (let i = 0; i < count; i++)
      view.setUint16(4 + 2 * i, Number(digits.slice(4 * i, 4 * i + 4)), true)
  })]
}

// --- texts and bytes ---------------------------------------------------------------------------

const scratch = new Uint8Array(4096) // the bytes of a text are used before the next text
function text(value) {
  if (typeof value !== 'string') return undefined
  const bytes = 3 * value.length <= scratch.length
    ? scratch.subarray(0, utf8.encodeInto(value, scratch).written) : utf8.encode(value)
  if (bytes.length !== value.length && /\p{Surrogate}/u.test(value))
    throw new FilterError('not a text: it contains half of a surrogate pair')
  if (bytes.includes(0))
    throw new FilterError('not a text: it contains a character with the code 0')
  let { length } = bytes
  if (bytes[length - 1] !== 32) return [bytes]
  while (length > 0 && bytes[length - 1] === 32) length--
  return [bytes, bytes.subarray(0, length)]
}

const bytea = (value) => (isBytes(value) ? [value] : undefined)

function uuid(value) {
  if (typeof value !== 'string') return undefined
  const digits = /^\{.*\}$/.test(value) ? value.slice(1, -1) : value
  if (!/^(?:[0-9a-fA-F]{4}-?){7}[0-9a-fA-F]{4}$/.test(digits))
    throw new FilterError(`not a uuid: '${value}'`)
  const pairs = digits.replace(/-/g, '').match(/../g)
  return [Uint8Array.from(pairs, (pair) => parseInt(pair, 16))]
}

const boolean = (value) => (typeof value === 'boolean' ? [Uint8Array.of(Number(value))] : undefined)

// --- dates and times ---------------------------------------------------------------------------

const DATE = '(\\d{4,7})-(\\d\\d)-(\\d\\d)'
const TIME = '(?:[T ](\\d\\d):(\\d\\d)(?::(\\d\\d)(?:\\.(\\d{1,6}))?)?)'
const OFFSET = '(?: ?(?:Z|([+-])(\\d\\d)(?:(\\d\\d)|:(\\d\\d)(?::(\\d\\d))?)?))'
const ISO_DATE = new RegExp(`^${DATE}$`)
const ISO_TIMESTAMP = new RegExp(`^${DATE}${TIME}?$`)
const ISO_TIMESTAMPTZ = new RegExp(`^${DATE}${TIME}${OFFSET}$`)

// Days since 1970-01-01 of the proleptic Gregorian calendar.
function daysOf(parts, what) {
  const [year, month, day] = parts.slice(1, 4).map(Number)
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  const lengths = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
  if (year === 0 || !(day >= 1 && day <= lengths[month - 1]))
    throw new FilterError(`not a ${what}: '${parts[0]}'`)
  const before = year - 1
  const monthDays = lengths.slice(0, month - 1).reduce((sum, length) => sum + length, 0)
  return 365 * before + Math.floor(before / 4) - Math.floor(before / 100) +
    Math.floor(before / 400) + monthDays + day - 719163
}

function microseconds(parts, what) {
  const [hour, minute, second] = parts.slice(4, 7).map((part) => Number(part ?? 0))
  if (hour > 23 || minute > 59 || second > 59)
    throw new FilterError(`not a ${what}: '${parts[0]}'`)
  return BigInt(((hour * 60 + minute) * 60 + second) * 1000000 +
    Number((parts[7] ?? '').padEnd(6, '0')))
}

// The bytes of a date and a time whose offset from UTC is `east` microseconds.
function timestampBytes(parts, what, east = 0n) {
  const time = BigInt(daysOf(parts, what)) * DAY + microseconds(parts, what) - east
  if (time >= END_TIMESTAMP) throw new FilterError(`not a ${what}: '${parts[0]}'`)
  return [int64(BigInt.asIntN(64, time))]
}

// PostgreSQL's infinity, which node-postgres reads as the number Infinity or as a string.
const INFINITIES = new Map([
  [Infinity, -1n], [-Infinity, 0n], ['infinity', -1n], ['-infinity', 0n],
])
function infinite(value, bits) {
  const extreme = BigInt(EPOCH) * (bits === 32n ? 1n : DAY) + INFINITIES.get(value)
  const moved = BigInt.asUintN(Number(bits), extreme + 2n ** (bits - 1n))
  return [bits === 32n ? packed(4, (view) => view.setUint32(0, Number(moved), true))
    : packed(8, (view) => view.setBigUint64(0, moved, true))]
}

function parsed(value, pattern, what, form) {
  const parts = pattern.exec(value)
  if (!parts) throw new FilterError(`not a ${what} in the form ${form}: '${value}'`)
  return parts
}

function date(value) {
  if (INFINITIES.has(value)) return infinite(value, 32n)
  if (isDate(value)) return refuseDate('date', DEPENDS_ON_ZONE, '2024-01-08')
  if (typeof value !== 'string') return undefined
  const days = daysOf(parsed(value, ISO_DATE, 'date', '2024-01-08'), 'date')
  if (days >= END_DATE) throw new FilterError(`not a date: '${value}'`)
  return [packed(4, (view) => view.setInt32(0, days, true))]
}

function timestamp(value) {
  if (INFINITIES.has(value)) return infinite(value, 64n)
  if (isDate(value)) return refuseDate('timestamp', DEPENDS_ON_ZONE, '2024-01-08 12:30:15.25')
  if (typeof value !== 'string') return undefined
  const parts = parsed(value, ISO_TIMESTAMP, 'timestamp', '2024-01-08 12:30:15.25')
  return timestampBytes(parts, 'timestamp')
}

function timestamptz(value) {
  if (INFINITIES.has(value)) return infinite(value, 64n)
  // A driver that reads a timestamptz as a Date drops the microseconds, and a value that the filter
  // holds would get a no.
  if (isDate(value))
    return refuseDate('timestamptz', 'it has no microseconds', '2024-01-08 12:30:15.25+02')
  if (typeof value !== 'string') return undefined
  const what = 'timestamptz'
  const parts = parsed(value, ISO_TIMESTAMPTZ, what, '2024-01-08 12:30:15.25+02')
  const [sign, hour, together, minute = together, second] = parts.slice(8)
  const east = (sign === '-' ? -1 : 1) *
    ((Number(hour ?? 0) * 60 + Number(minute ?? 0)) * 60 + Number(second ?? 0))
  if (Number(hour ?? 0) > 15 || Number(minute ?? 0) > 59 || Number(second ?? 0) > 59)
    throw new FilterError(`not a ${what}: '${value}'`)
  return timestampBytes(parts, what, BigInt(east) * 1000000n)
}

const DEPENDS_ON_ZONE = 'it depends on the time zone which one it is'
function refuseDate(family, why, form) {
  throw new ElementTypeError(`a Date is no ${family}: ${why}. Pass a string such as '${form}'`)
}

const ENCODERS = {
  integer, float, numeric, text, bytea, uuid, boolean, date, timestamp, timestamptz,
}

// --- rows, and filters without values ----------------------------------------------------------

// The family of a value whose filter does not tell.
function familyOf(value) {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? 'integer' : 'float'
  if (typeof value === 'bigint') return 'integer'
  if (typeof value === 'string') return 'text'
  if (typeof value === 'boolean') return 'boolean'
  if (isBytes(value)) return 'bytea'
  if (isDate(value)) return 'timestamptz'
  if (Array.isArray(value)) throw new UnsupportedError('a row within a row cannot be hashed here')
  throw new ElementTypeError(
    `values of the JavaScript type ${typeOf(value)} cannot be asked for: convert the value`)
}

function mismatch(wanted, value) {
  return new ElementTypeError(`${wanted}, but the value has the JavaScript type ${typeOf(value)}`)
}

function encoded(family, value, holder) {
  const all = ENCODERS[family](value)
  if (!all) throw mismatch(`${holder} ${family} values`, value)
  return all
}

// Throws if the value could not be in any filter.
function never(value) {
  for (const field of Array.isArray(value) ? value : [value])
    if (!(Array.isArray(value) && field == null)) encoded(familyOf(field), field)
  return NEVER
}

function joined(...arrays) {
  const bytes = new Uint8Array(arrays.reduce((sum, array) => sum + array.length, 0))
  let at = 0
  for (const array of arrays) {
    bytes.set(array, at)
    at += array.length
  }
  return bytes
}
const uint32 = (number) => packed(4, (view) => view.setUint32(0, number, true))

function rowBytes(families, fields) {
  let rows = [uint32(families.length)]
  families.forEach((family, i) => {
    const all = fields[i] == null ? [null] : encoded(family, fields[i], 'a field of the row has')
    const items = all.map((bytes) => (
      bytes === null ? Uint8Array.of(1) : joined(Uint8Array.of(0), uint32(bytes.length), bytes)))
    rows = rows.flatMap((row) => items.map((item) => joined(row, item)))
    if (rows.length > MOST_ALTERNATIVES)
      throw new UnsupportedError('too many fields that may be char(n) or real')
  })
  return rows
}

// Returns the function that gives values their canonical bytes, for filters of one family. Rows
// have a shape, which shapeOf(bytes) computes; `row` may name the families of their fields.
function encoderOf(family, shape, row, shapeOf) {
  const name = NAMES[family], fitting = new Set() // of families that have the shape
  const hasShape = (families) => {
    const key = families.join()
    if (fitting.has(key)) return true
    const fits = shapeOf(Uint8Array.from([ROW, ...families.map((f) => NAMES.indexOf(f))])) === shape
    if (fits) fitting.add(key)
    return fits
  }
  const unknown = row?.find((field) => !Object.hasOwn(ENCODERS, field))
  if (unknown !== undefined) {
    throw new FilterError(`'${unknown}' is no element type of a row's field: ` +
      Object.keys(ENCODERS).join(', '))
  }
  if (row && family !== 0 && (family !== ROW || !hasShape(row))) {
    const held = family === ROW ? 'rows of other types' : `${name} values`
    throw new ElementTypeError(`filter holds ${held}, not rows of ${row.join(', ')}`)
  }
  if (name === 'none') return never
  if (Object.hasOwn(ENCODERS, name)) return (value) => encoded(name, value, 'filter holds')
  if (name !== 'row') {
    return () => {
      throw new UnsupportedError(`filter holds ${name} values, which are not hashed here: ask ` +
        'the server, or build the filter from value::text')
    }
  }
  return (value) => {
    if (!Array.isArray(value)) throw mismatch('filter holds row values', value)
    if (!row && value.some((field) => field == null)) {
      throw new FilterError('a row with null needs the types of its fields: ' +
        "read(data, { row: ['integer', 'text'] })")
    }
    const families = row ?? value.map(familyOf)
    if (row ? row.length !== value.length : !hasShape(families)) {
      throw new ElementTypeError('filter holds rows of other types, but the value is a row of ' +
        (row ? `${value.length} fields` : families.join(', ')))
    }
    return rowBytes(families, value)
  }
}

module.exports = { NAMES, encoderOf, isBytes }
