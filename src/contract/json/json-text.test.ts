import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countTurns } from '../../../test/support/count-turns.ts'
import {
  parseJsonBodyInTurns,
  parseRecordsBody,
  parseRecordsBodyInTurns,
  parseStoredJsonInTurns,
} from './json-text.ts'
import { PART_BYTES, UNCUT_BYTES } from './parse-in-parts.ts'

const LARGE = `[${'"abc", 1.5,'.repeat(100_000)}0]`

test('D36: other work of the event loop runs while a large body is parsed', async () => {
  const body = Buffer.from(LARGE)
  const parseJson = (json: Buffer): Promise<unknown> => parseJsonBodyInTurns(json, Infinity)
  for (const parse of [parseJson, parseRecordsBodyInTurns]) {
    const { answer, turns } = await countTurns(parse(body))
    assert.deepEqual(answer, JSON.parse(LARGE))
    assert.ok(turns >= Math.floor(body.length / PART_BYTES / 2), `${turns} turns for ${body.length} bytes`)
  }
})

test('other work of the event loop runs while large JSON of the store is parsed', async () => {
  const { answer, turns } = await countTurns(parseStoredJsonInTurns(Buffer.from(LARGE)))
  assert.deepEqual(answer, JSON.parse(LARGE))
  assert.ok(turns >= 10, `${turns} turns`)
  const uncut = `{"${'x'.repeat(UNCUT_BYTES + 2 * PART_BYTES)}": ${LARGE}}`
  assert.deepEqual(await parseStoredJsonInTurns(Buffer.from(uncut)), JSON.parse(uncut))
})

test('D36: a large body is refused for the same reasons as a small one', async () => {
  const cases: [fault: string, message: RegExp][] = [
    ['}', /^the body is not JSON: Unexpected token/],
    [`${'['.repeat(600)}${']'.repeat(600)}`, /^the body nests arrays and objects more than 512 levels deep/],
    ['12345678901234567891', /^the body has a number that would lose digits: 12345678901234567891 /],
    ['"\xff"', /^the body is not UTF-8$/],
  ]
  for (const [fault, message] of cases) {
    for (const before of ['[', LARGE.slice(0, -2)]) {
      const body = Buffer.from(`${before}${fault}]`, 'latin1')
      await assert.rejects(parseJsonBodyInTurns(body, Infinity), { type: 'ValidationError', message })
    }
  }
  const message = /a number, the name of a member or white space of more than 1 MiB; make it shorter$/
  const body = Buffer.from(`{"${'x'.repeat(UNCUT_BYTES + 2 * PART_BYTES)}": 1}`)
  await assert.rejects(parseJsonBodyInTurns(body, Infinity), { type: 'ValidationError', message })
})

test('a body with more items and members than it may have is refused', async () => {
  for (const json of [LARGE, `{"a":[${'{"b":[]},'.repeat(100_000)}0]}`]) {
    const body = Buffer.from(json)
    const message = /^the body has more than 150000 values; send fewer at once$/
    await assert.rejects(parseJsonBodyInTurns(body, 150_000), { type: 'ValidationError', message })
    assert.deepEqual(await parseJsonBodyInTurns(body, 250_000), JSON.parse(json))
  }
})

test('D13: in bodies of records the contract decides about numbers that would lose digits, also in large bodies', async () => {
  const text = `${LARGE.slice(0, -2)}12345678901234567891]`
  assert.deepEqual(await parseRecordsBodyInTurns(text), parseRecordsBody(text))
})
