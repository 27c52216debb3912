// Answers for test/search/clients.py, by clients/javascript. Reads a line of JSON for each filter,
// {data, row, values}, and prints {info, answers, each}, or {error}. A value is [kind, text]:
// JSON has no bigint, no NaN and no bytes.
'use strict'

const readline = require('readline')
const { read, FilterError } = require('../../clients/javascript')

const VALUE = {
  string: (text) => text,
  number: Number,
  bigint: BigInt,
  boolean: (text) => text === 'true',
  bytes: (text) => Buffer.from(text, 'hex'),
  row: (fields) => fields.map(valueOf),
  null: () => null,
}

function valueOf([kind, text]) {
  return VALUE[kind](text)
}

function attempt(result) {
  try {
    return result()
  } catch (error) {
    if (!(error instanceof FilterError)) throw error
    return error.name
  }
}

async function answers({ data, row, values }) {
  let filter
  try {
    filter = await read(Buffer.from(data, 'base64'), { row: row ?? undefined })
  } catch (error) {
    if (!(error instanceof FilterError)) throw error
    return { error: error.name }
  }
  const all = values.map(valueOf)
  return {
    info: { ...filter.info, seed: String(filter.info.seed) },
    answers: all.map((value) => (value === null ? null : attempt(() => filter.contains(value)))),
    each: attempt(() => filter.containsEach(all)),
  }
}

async function main() {
  for await (const line of readline.createInterface({ input: process.stdin }))
    console.log(JSON.stringify(await answers(JSON.parse(line))))
}

main()
