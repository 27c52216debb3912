// How long an answer takes: node bench.js
//
// Makes filters for a million texts, with random bits, and with all bits set: a yes costs most,
// because it looks at every bit. Asks for texts of 50 bytes, one at a time and by containsEach.
// Prints microseconds for each key, the best of five runs.
'use strict'

const { randomFillSync } = require('node:crypto')
const { read } = require('./lib/index.js')

const KEYS = Array.from({ length: 200000 },
  (_, n) => `https://example.com/a/page/of/some/length/${String(n).padStart(8, '0')}`)

// A filter of texts for a million values, by doc/format.md.
function filterOf({ layout, k, units, unitBytes, rate }, fill) {
  const data = Buffer.alloc(36 + units * unitBytes)
  data.set([1, layout, 4, k])
  data.writeBigUInt64LE(1000000n, 12)
  data.writeDoubleLE(rate, 20)
  data.writeUInt32LE(units, 28)
  fill(data.subarray(36))
  return read(data)
}

function oneByOne(filter) {
  let count = 0
  for (const key of KEYS) count += filter.contains(key)
  return count
}

const atOnce = (filter) => filter.containsEach(KEYS).length

function best(what, filter) {
  const times = Array.from({ length: 5 }, () => {
    const start = process.hrtime.bigint()
    what(filter)
    return Number(process.hrtime.bigint() - start)
  })
  return (Math.min(...times) / KEYS.length / 1000).toFixed(2).padStart(7)
}

async function main() {
  console.log('filter            answers       one  containsEach   (microseconds for each key)')
  for (const [name, geometry] of [
    ['lines, 1 %', { layout: 1, k: 6, units: 19376, unitBytes: 64, rate: 0.01 }],
    ['pages, 0.01 %', { layout: 2, k: 12, units: 4896, unitBytes: 512, rate: 0.0001 }],
  ]) {
    for (const [answers, fill] of [['mostly no', randomFillSync], ['yes', (b) => b.fill(255)]]) {
      const filter = await filterOf(geometry, fill)
      console.log(name.padEnd(18) + answers.padEnd(10) + best(oneByOne, filter) + ' '.repeat(7) +
        best(atOnce, filter))
    }
  }
}

main()
