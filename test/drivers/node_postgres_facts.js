// The extension through node-postgres: prints `ok FACT`, or `not ok FACT: what came instead`.
//
// Connects as libpq's environment says; test/t/019_drivers.pl makes the tables `filters` and
// `copies`. Each argument is a statement whose parameters are all one text.
'use strict'

const { isDeepStrictEqual, inspect } = require('util')
const { Client } = require('pg')

// Filter, SQL type, a member and a stranger. `filters` has the member.
const VALUES = [
  ['text', 'text', 'Zürich', 'Zurich'],
  ['integer', 'bigint', 4711, 4712],
  ['integer', 'bigint', 4711n, 4712n],
  ['float', 'float8', 3.5, 3.25],
  ['numeric', 'numeric', 12.5, 12.51],
  ['numeric', 'numeric', '12.50', '12.51'],
  ['date', 'date', new Date(2024, 0, 8), new Date(2024, 0, 9)],
  ['timestamp', 'timestamp', new Date(2024, 0, 8, 12, 30, 15, 250), new Date(2024, 0, 8, 12, 30)],
  ['timestamptz', 'timestamptz', new Date('2024-01-08T10:30:15.250Z'), new Date(0)],
  ['timestamptz', 'timestamptz', '2024-01-08T10:30:15.250Z', '2024-01-08T12:30:15.250Z'],
  ['time', 'time', '12:30:15.25', '12:30:15'],
  ['uuid', 'uuid', '6f1d1a52-0a3e-4c0e-9a57-1f7ad3b5a001', '00000000-0000-0000-0000-000000000001'],
  ['boolean', 'boolean', true, false],
  ['bytea', 'bytea', '\\xdead00ff', '\\xdead00fe'],
]
const BYTES = [Buffer.from([0xde, 0xad, 0, 0xff]), Buffer.from([0xde, 0xad, 0, 0xfe])]

const client = new Client()

async function fact(name, expected, attempt) {
  let got
  try {
    got = await attempt()
  } catch (error) {
    got = error.code ? `${error.code} ${error.message}` : error
  }
  if (isDeepStrictEqual(got, expected)) console.log(`ok ${name}`)
  else console.log(`not ok ${name}: ${inspect(got).replace(/\s+/g, ' ')}`)
}

// Returns the first row of a query.
async function row(text, ...values) {
  const { rows } = await client.query({ text, values, rowMode: 'array' })
  return rows[0]
}

async function sqlstateOf(text, ...values) {
  try {
    return await row(text, ...values)
  } catch (error) {
    return error.code
  }
}

// Probes the filter of a family for each value and returns the answers.
async function asked(family, parameter, ...values) {
  const sql = `SELECT f @> ${parameter} AND ${parameter} <@ f FROM filters
    WHERE family = '${family}'`
  const answers = []
  for (const value of values) answers.push((await row(sql, value))[0])
  return answers
}

async function everyFamily() {
  for (const [family, type, member, stranger] of VALUES) {
    const name = `${family} filter, ${type}, ${member.constructor.name}`
    const from = `FROM filters WHERE family = '${family}'`
    await fact(name, [true, false], () => asked(family, '$1', member, stranger))
    await fact(`${name} and a cast`, [true, false],
      () => asked(family, `$1::${type}`, member, stranger))
    await fact(`${name}: an array`, [true, false, [true, false]],
      () => row(`SELECT bf_contains_any(f, $1::${type}[]), bf_contains_all(f, $1::${type}[]),
        bf_contains_each(f, $1::${type}[]) ${from}`, [member, stranger]))
    await fact(`${name}: adding`, [true, true, true],
      () => row(`SELECT f + $1 @> $1, bf_add(f, $1) @> $1,
        bf_add_all(f, $2::${type}[]) @> $1 ${from}`, stranger, [stranger]))
    await fact(`${name}: a prepared statement`, [true, false, true], async () => {
      const answers = []
      for (const value of [member, stranger, member]) {
        const { rows } = await client.query(
          { name, text: `SELECT f @> $1 AS found ${from}`, values: [value] })
        answers.push(rows[0].found)
      }
      return answers
    })
  }
}

// A Buffer is sent in binary form and without a type. If the server gives the parameter another
// type than bytea, it reads the bytes as the binary form of this type.
async function buffers() {
  await fact('bytea filter, Buffer and a cast', [true, false],
    () => asked('bytea', '$1::bytea', ...BYTES))
  await fact('bytea filter, Buffers: an array', [[true, false]],
    () => row(`SELECT bf_contains_each(f, $1::bytea[]) FROM filters WHERE family = 'bytea'`, BYTES))
  await fact('bytea filter, Buffer without a type is an error', '22021',
    () => sqlstateOf(`SELECT f @> $1 FROM filters WHERE family = 'bytea'`, BYTES[0]))
}

// If no filter gives the type of a parameter, PostgreSQL raises an error; a cast prevents it.
async function typesAreNeeded() {
  for (const [call, error] of [['bf_shard($1, 669)', '42P18'], ['bf_hash($1)', '42P18'],
    ['bf_agg($1)', '42P18'], ['bf_contains_any(bf_create(1), $1)', '42804']]) {
    await fact(`${call} without a type is an error`, error,
      () => sqlstateOf(`SELECT ${call}`, ['x']))
  }
  await fact('bf_shard, bf_hash and bf_agg with a cast', [true, true, true],
    () => row(`SELECT bf_shard($1::text, 669) = bf_shard('x'::text, 669),
      bf_hash($1::text) = bf_hash('x'::text), bf_agg($1::text) @> 'x'`, 'x'))
}

// Runs a statement that fills `copies`. True if all rows are the filter of integers.
async function copied(sql, value) {
  await client.query('TRUNCATE copies')
  await client.query(sql, [value])
  return (await row(`SELECT count(*) > 0 AND bool_and(c.f = o.f) FROM copies c, filters o
    WHERE o.family = 'integer'`))[0]
}

// Reads the bytes and the text of a filter, and writes them back.
async function thereAndBack() {
  const [text, bytes] = await row(`SELECT f, f::bytea FROM filters WHERE family = 'integer'`)
  await fact('a filter is read as base64', ['string', true],
    async () => [typeof text, (await row('SELECT $1::bloomfilter::bytea', text))[0].equals(bytes)])
  await fact('f::bytea is a Buffer', true, () => Buffer.isBuffer(bytes))
  for (const parameter of ['$1', '$1::bytea', '$1::bytea::bloomfilter', '$1::bloomfilter']) {
    await fact(`bytes are inserted by ${parameter}`, true,
      () => copied(`INSERT INTO copies VALUES (${parameter})`, bytes))
  }
  await fact('base64 is inserted', true, () => copied('INSERT INTO copies VALUES ($1)', text))
  await fact('casting text or bytes that are no filter is an error', ['22P02', '22P03'],
    async () => [await sqlstateOf('SELECT $1::bloomfilter', 'Zürich'),
      await sqlstateOf('SELECT $1::bloomfilter', Buffer.from([1]))])
}

// Runs statements of the documentation as a driver sends them: with parameters that have no type.
async function recipes() {
  for (const recipe of process.argv.slice(2)) {
    await fact(recipe.replace(/\s+/g, ' '), [1, 0], async () => [
      (await client.query(recipe, [recipe])).rowCount,
      (await client.query(recipe, [recipe])).rowCount])
  }
}

async function main() {
  await client.connect()
  await everyFamily()
  await buffers()
  await typesAreNeeded()
  await thereAndBack()
  await recipes()
  await client.end()
}

main()
