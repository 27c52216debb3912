// Tests of the package without a server: node --test
//
// clients/cases.json has filters and what the server answers for values of each type. test/golden
// has the bytes of stored filters. test/search/clients.py compares the package with a server, on
// generated values.
'use strict'

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const test = require('node:test')
const {
  read, FilterError, DamagedError, UnsupportedError, ElementTypeError,
} = require('../lib/index.js')

const CASES = JSON.parse(fs.readFileSync(path.join(__dirname, '../../cases.json'), 'utf8'))
const GOLDEN = path.join(__dirname, '../../../test/golden/core')

const infinite = (text) => (text.endsWith('infinity') ? Number(text.replace('i', 'I')) : text)
const READ = {
  integer: BigInt,
  float: Number,
  numeric: (text) => text,
  text: (text) => text,
  bytea: (text) => Buffer.from(text, 'hex'),
  uuid: (text) => text,
  boolean: (text) => text === 'true',
  null: () => null,
  date: infinite,
  timestamp: infinite,
  timestamptz: infinite,
  row: (fields) => fields.map(([kind, text]) => READ[kind](text)),
}

const caseOf = (name) => CASES.find((one) => one.name === name)
const named = (name) => read(caseOf(name).filter, { row: caseOf(name).row })
const bytesOf = (name) => Buffer.from(caseOf(name).filter, 'base64')

// The payloads of the golden files, with their values.
function golden() {
  return fs.readdirSync(GOLDEN).filter((name) => name.endsWith('.txt')).map((name) => {
    const rows = fs.readFileSync(path.join(GOLDEN, name), 'utf8').trim().split('\n')
      .map((line) => line.split(' '))
    const data = rows.filter(([what]) => what !== 'hash').map((row) => row[row.length - 1]).join('')
    const values = rows.filter(([what]) => what === 'hash').map((row) => Number(row[1]))
    const payload = Buffer.from(data, 'hex')
    return { payload, values: payload[2] === 1 ? values : values.map((n) => `value ${n}`) }
  })
}

for (const one of CASES) {
  test(one.name, async () => {
    const filter = await read(one.filter, { row: one.row })
    const values = one.questions.map(([[kind, text]]) => READ[kind](text))
    one.questions.forEach(([question, answer], i) => {
      assert.equal(filter.contains(values[i]), answer, JSON.stringify(question))
    })
    assert.deepEqual(filter.containsEach([null, ...values, undefined]),
      [null, ...one.questions.map(([, answer]) => answer), null])
  })
}

test('golden files', async () => {
  const files = golden()
  assert.equal(files.length, 5)
  for (const { payload, values } of files) {
    const filter = await read(payload)
    assert.ok(filter.containsEach(values).every((answer) => answer === true))
  }
})

test('info', async () => {
  const { info } = await named('integer, links')
  assert.deepEqual([info.type, info.layout, info.elementType, info.links, info.grows],
    ['bloomfilter', null, 'integer', 2, false])
  assert.deepEqual([info.expected, info.targetFpr], [null, null])
  const grown = (await named('integer, grown')).info
  assert.deepEqual([grown.expected, grown.targetFpr, grown.grows], [1, 0.4, true])
  const cuckoo = (await named('integer, cuckoo of odd length')).info
  assert.deepEqual([cuckoo.type, cuckoo.layout, cuckoo.seed, cuckoo.expected, cuckoo.targetFpr],
    ['cuckoofilter', null, 3n, 11, 0.1])
  const seeded = (await named('integer, a seed')).info
  assert.deepEqual([seeded.layout, seeded.seed, seeded.expected, seeded.hashes, seeded.bits],
    ['lines', -7n, null, 2, 512])
  assert.equal((await named('empty')).info.elementType, null)
})

test('as an ES module', async () => {
  const module = await import('../lib/index.mjs')
  assert.equal(module.read, read)
  assert.equal(module.FilterError, FilterError)
})

test('bytes are copied', async () => {
  const data = bytesOf('integer, lines'), filter = await read(data)
  data.fill(0)
  assert.equal(filter.contains(4711), true)
})

async function refused(error, name, ...values) {
  const filter = await named(name)
  for (const value of values) {
    assert.throws(() => filter.contains(value), error, `${name}: ${String(value)}`)
    assert.throws(() => filter.containsEach([value]), error)
  }
}

test('values of other types', async () => {
  await refused(ElementTypeError, 'integer, lines', true, new Date(0), [1], Buffer.of(1))
  await refused(ElementTypeError, 'boolean', 1, 0, 'true', 1n)
  await refused(ElementTypeError, 'numeric', true, new Date(0))
  await refused(ElementTypeError, 'float', '0.1', true)
  await refused(ElementTypeError, 'text', 1, true, Buffer.of(1), new Date(0), ['a'])
  await refused(ElementTypeError, 'bytea', 'a', 1)
  await refused(ElementTypeError, 'uuid', 0n, Buffer.alloc(16))
  await refused(ElementTypeError, 'date', new Date(0), 0)
  await refused(ElementTypeError, 'timestamp', new Date(0), 0n)
  await refused(ElementTypeError, 'timestamptz', 0, true, new Date(0), new Date(NaN))
  await refused(ElementTypeError, 'row', [1], [1, 'a', 2], [true, 'a'], 1, 'a', new Date(0))
})

test('words of type errors', async () => {
  for (const [name, value, type] of [['text', 1, 'number'], ['integer, lines', {}, 'Object'],
    ['row', new Date(0), 'Date'], ['uuid', new Date(0), 'Date'], ['row', [true, 'a'], 'boolean'],
    ['text', ['a'], 'Array']]) {
    await refused({ name: 'ElementTypeError',
      message: new RegExp(`, but the value has the JavaScript type ${type}$`) }, name, value)
  }
})

test('types that are not known', async () => {
  for (const name of ['integer, lines', 'empty'])
    await refused(ElementTypeError, name, {}, new Map(), () => 1, Symbol('a'))
  await refused(ElementTypeError, 'empty', [{}])
})

test('null', async () => {
  const times = bytesOf('integer, lines')
  times[2] = 13
  for (const filter of [await named('text'), await named('row'), await named('empty'),
    await read(times)]) {
    for (const value of [null, undefined])
      assert.throws(() => filter.contains(value), { name: 'FilterError', message: /is NULL$/ })
  }
})

test('values that are not exact', async () => {
  await refused(FilterError, 'row', ['a', 1])
  await refused(FilterError, 'integer, lines', 5.5, 2 ** 53 + 2, NaN, Infinity, '5.5', '1e3', '',
    '9223372036854775808', ' 1')
  await refused(FilterError, 'numeric', 12.5, 2 ** 53 + 2, NaN, '', '.', '1,5', '0x10', '1e131072',
    'constructor', '__proto__', '1e-16384', '1e999999999', `1${'0'.repeat(3e6)}1`, '0e-16384',
    '10e-16384', `1.${'0'.repeat(16384)}`)
  await refused(FilterError, 'text', 'a\0b', '\ud800', '\udfff\ud800', 'é\udfff')
  await refused(FilterError, 'uuid', '', 'x', '6f1d1a52-0a3e-4c0e-9a57-1f7ad3b5a00',
    '6f1d1a52-0a3e-4c0e-9a57-1f7ad3b5a0011')
  await refused(FilterError, 'date', '2024-1-8', '2024-02-30', '2023-02-29', '0000-01-01',
    '2024-13-01', '2024-00-01', '2024-01-00', '2024-01-08 12:00', '5874898-01-01', 'today', '')
  await refused(FilterError, 'timestamp', '2024-01-08T10:00Z', '2024-01-08 24:00', '1/2/2024',
    '2024-01-08 12:60', '2024-01-08 12:00:60', '2024-01-08 12:00:00.1234567', '294277-01-01')
  await refused(FilterError, 'timestamptz', '2024-01-08 12:00', '2024-01-08',
    '2024-01-08 12:00+16', '2024-01-08 12:30+053015', '2024-01-08 12:30+0530:15',
    '2024-01-08 12:30+05:3015', '294277-01-01 00:00Z',
    '294276-12-31 23:59:59.999999-15', '294277-01-01 15:00+15')
  await refused(FilterError, 'empty', 'a\0b', ['\ud800'], [['a']], new Date(0), [1, new Date(0)])
})

test('numbers', async () => {
  const integers = await named('integer, pages')
  assert.throws(() => integers.contains(2 ** 53), /is no safe integer: pass larger integers as/)
  for (const value of [5.5, NaN])
    assert.throws(() => integers.contains(value), /^FilterError: \S+ is no integer$/)
  for (const value of [4711, 4711n, '4711', '+4711', '004711', 0, -0, -5, 2n ** 63n - 1n,
    '-9223372036854775808'])
    assert.equal(integers.contains(value), true, String(value))
  for (const value of [2n ** 63n, -(2n ** 63n) - 1n, 10n ** 400n])
    assert.equal(integers.contains(value), false)
  const floats = await named('float')
  for (const value of [0, -0, 0n, NaN, -Infinity, 3.5]) assert.equal(floats.contains(value), true)
  assert.equal(floats.contains(10n ** 400n), false)
  const numerics = await named('numeric')
  for (const value of ['12.500', '1.25e1', '0.0', '-0', 0, 100000000, 10n ** 8n, '1E8', 'nan',
    '+12.5', '1e-20', '0.00000000000000000001', '000123456.78000', '0e-16383', '0e200000',
    `12.5${'0'.repeat(16382)}`])
    assert.equal(numerics.contains(value), true, String(value))
})

test('spellings of a uuid', async () => {
  const filter = await named('uuid')
  for (const value of ['6F1D1A52-0A3E-4C0E-9A57-1F7AD3B5A001', '6f1d1a520a3e4c0e9a571f7ad3b5a001',
    '{6f1d1a52-0a3e-4c0e-9a57-1f7ad3b5a001}', '6f1d-1a52-0a3e-4c0e-9a57-1f7a-d3b5-a001'])
    assert.equal(filter.contains(value), true, value)
})

test('dates and times', async () => {
  const instants = await named('timestamptz')
  assert.throws(() => instants.contains(new Date(0)),
    { name: 'ElementTypeError', message: /no microseconds\. Pass a string such as '2024-.*\+02'$/ })
  assert.equal(instants.contains('2024-01-08T10:30:15.25Z'), true)
  assert.equal(instants.contains('2024-01-08 16:00:15.250000 +0530'), true)
  assert.equal(instants.contains('2024-01-08 16:00:30.25+05:30:15'), true)
  for (const value of ['294277-01-01 14:59:59.999999+15', '0001-01-01 00:00+15'])
    assert.equal(instants.contains(value), false)
  const times = await named('timestamp')
  assert.equal(times.contains('1970-01-01'), true)
  assert.equal(times.contains('2000-01-01T00:00'), true)
  for (const kind of ['date', 'timestamp', 'timestamptz']) {
    const filter = await named(`infinity of ${kind}`)
    for (const value of ['infinity', '-infinity']) assert.equal(filter.contains(value), true)
    for (const value of [['infinity'], 'Infinity', 'inf'])
      assert.throws(() => filter.contains(value), FilterError)
  }
})

test('rows', async () => {
  const data = caseOf('row').filter, filter = await read(data)
  assert.equal(filter.contains([1, 'a']), true)
  assert.throws(() => filter.contains([4, null]), /row:/)
  assert.equal((await named('row')).contains([4, null]), true)
  assert.throws(() => filter.contains([1, ['a']]), UnsupportedError)
  assert.throws(() => filter.contains(Array(1e6).fill(1)), ElementTypeError)
  for (const row of [['integer'], ['text', 'integer'], ['integer', 'json'], ['x', 'toString'],
    'text'])
    await assert.rejects(read(data, { row }), FilterError)
  await assert.rejects(read(CASES[0].filter, { row: ['integer'] }), ElementTypeError)
  const row = ['integer', 'text'], copied = await read(data, { row })
  row.pop()
  assert.equal(copied.contains([4, null]), true)
})

test('arguments that are no lists', async () => {
  await assert.rejects(read(caseOf('row').filter, { row: 5 }), TypeError)
  const filter = await named('text')
  for (const value of [null, 'a', 5])
    assert.throws(() => filter.containsEach(value), { name: 'TypeError' }, value)
  const integers = await named('integer, lines')
  for (const bytes of [Buffer.from('abc'), new Uint8Array(3), new DataView(new ArrayBuffer(3))])
    assert.throws(() => integers.containsEach(bytes), { name: 'TypeError' })
  assert.deepEqual(integers.containsEach(new Int32Array([4711])), [true])
})

test('other families', async () => {
  const data = bytesOf('integer, lines')
  for (const family of [8, 9, 13, 14, 15, 16, 17, 18, 19, 20, 25]) {
    data[2] = family
    const filter = await read(data)
    for (const value of [1, 'a', new Date(0)])
      assert.throws(() => filter.contains(value), UnsupportedError)
  }
})

// --- damage ------------------------------------------------------------------------------------

const payloads = () => [
  ...CASES.map((one) => Buffer.from(one.filter, 'base64')), ...golden().map((one) => one.payload)]

test('shortened', async () => {
  for (const data of payloads()) {
    for (let length = 0; length < Math.min(data.length, 100); length++)
      await assert.rejects(read(data.subarray(0, length)), DamagedError)
    await assert.rejects(read(data.subarray(0, -1)), DamagedError)
    await assert.rejects(read(Buffer.concat([data, Buffer.of(0)])), DamagedError)
  }
})

test('mutations', async () => {
  let state = 1
  const random = (below) => { // a linear congruential generator: each run is the same
    state = (Math.imul(state, 1103515245) + 12345) >>> 0
    return Math.floor(state / 65536) % below
  }
  for (const data of payloads()) {
    for (let round = 0; round < 300; round++) {
      const bad = Buffer.from(data)
      for (let i = [1, 1, 2, 4][random(4)]; i > 0; i--) {
        const at = random(Math.min(bad.length, [36, 90, bad.length][random(3)]))
        bad[at] = [0, 1, 2, 0x12, 0x21, 0xff, random(256)][random(7)]
      }
      let filter
      try {
        filter = await read(bad)
      } catch (error) {
        assert.ok(error instanceof FilterError, error.stack)
        continue
      }
      for (const value of [1, 'a', 0.5, [1, 'a']]) {
        try {
          assert.equal(typeof filter.contains(value), 'boolean')
        } catch (error) {
          assert.ok(error instanceof FilterError, error.stack)
        }
      }
    }
  }
})

test('headers', async () => {
  for (const [at, value] of [[0, 0], [0, 2], [1, 0], [1, 5], [1, 16], [1, 255], [2, 21], [2, 26],
    [2, 31], [3, 0], [3, 17], [12, 0], [27, 0x80], [28, 0], [28, 2], [31, 255], [32, 1], [32, 4],
    [32, 16], [33, 1]]) {
    const data = bytesOf('integer, lines')
    data[at] = value
    await assert.rejects(read(data), DamagedError, `${at}: ${value}`)
  }
  const data = bytesOf('integer, lines')
  data[2] = 0 // bits, but no element type
  await assert.rejects(read(data), DamagedError)
  for (const layout of [3, 4, 6, 9, 12, 13, 14, 15]) {
    data[1] = layout
    await assert.rejects(read(data), { name: 'UnsupportedError', message: /bf_to_/ })
  }
})

test('order of links', async () => {
  const data = bytesOf('integer, self-sized links'), head = data.subarray(0, -128)
  const [first, second] = [data.subarray(-128, -64), data.subarray(-64)]
  assert.equal((await read(data)).info.links, 2)
  for (const bitmaps of [[second, first], [first, first]])
    await assert.rejects(read(Buffer.concat([head, ...bitmaps])), DamagedError)
})

test('buckets', async () => {
  const data = bytesOf('integer, cuckoo of 32 bits')
  let at = 40
  while (data.readUInt32LE(at + 4) === 0) at += 16
  const [a, b] = [data.readUInt32LE(at), data.readUInt32LE(at + 4)]
  data.writeUInt32LE(b, at)
  data.writeUInt32LE(a, at + 4)
  await assert.rejects(read(data), DamagedError)
  const odd = bytesOf('integer, cuckoo of odd length')
  odd[odd.length - 1] |= 0x10
  await assert.rejects(read(odd), DamagedError)
})

test('text', async () => {
  const text = CASES[0].filter
  assert.equal((await read(text.replace(/.{60}/g, '$&\n'))).contains(4711), true)
  for (const bad of ['', '=', text.slice(0, -1), `${text}=`, `${text.slice(0, -2)}+=`, `é${text}`,
    '\\x0101', '*', `${text.slice(0, 8)}.${text.slice(8)}`])
    await assert.rejects(read(bad), DamagedError, bad)
  for (const bad of [null, undefined, 5, ['a']]) await assert.rejects(read(bad), FilterError)
  await assert.rejects(read(`\\x${bytesOf('text').toString('hex')}`),
    { name: 'DamagedError', message: /text of a bytea: pass Buffer\.from/ })
})

test('text of a large filter, with little memory', () => {
  const program = `
    const data = Buffer.alloc(36 + 64 * 100000)
    data.set([1, 1, 4, 6])
    data.writeUInt32LE(100000, 28)
    require('./lib/index.js').read(data.toString('base64'))
      .then((filter) => console.log(filter.info.bytes))`
  const { stdout } = spawnSync(process.execPath, ['--max-old-space-size=64', '-e', program],
    { cwd: path.join(__dirname, '..'), encoding: 'utf8' })
  assert.equal(stdout, '6400040\n')
})

test('rows of many shapes, with little memory', () => {
  const program = `
    require('./lib/index.js').read(process.argv[1]).then((filter) => {
      for (let i = 0; i < 1000; i++)
        try { filter.contains(Array(10000).fill(1).fill('a', i)) } catch {}
      console.log('done')
    })`
  const { stdout } = spawnSync(process.execPath,
    ['--max-old-space-size=32', '-e', program, caseOf('row').filter],
    { cwd: path.join(__dirname, '..'), encoding: 'utf8' })
  assert.equal(stdout, 'done\n')
})
