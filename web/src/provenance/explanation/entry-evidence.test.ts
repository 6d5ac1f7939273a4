import assert from 'node:assert/strict'
import { test } from 'node:test'
import { computedEntry, entryOf } from '../history/test-entries.ts'
import { cachedText, entryEvidence } from './entry-evidence.ts'

const MEASURED = {
  ...entryOf({ seq: 3, source: 'measure', derivation: 'length.yaml', cached: false }),
  unit: 'characters',
  longest_word: 12,
  duration_ms: 7,
  url: 'file:words.txt',
}

test('the evidence of a kind that is not http is listed by its names', () => {
  assert.deepEqual(entryEvidence(MEASURED), [
    { name: 'Unit', text: 'characters' },
    { name: 'Longest word', text: '12' },
    { name: 'Duration ms', text: '7' },
    { name: 'Url', text: 'file:words.txt' },
  ])
  assert.deepEqual(entryEvidence(computedEntry({ seq: 2 })), [])
  assert.deepEqual(entryEvidence(entryOf({ seq: 1 })), [])
})

test('an answer of a model is shown with model, tokens, cost, prompt and time', () => {
  const answer = {
    ...entryOf({ seq: 4, source: 'ai', derivation: 'company.yaml', cached: false }),
    model: 'small',
    prompt: 'Company: <data>"Acme"</data>',
    instructions: 'sha256:0',
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.model': 'qwen3:4b',
    'gen_ai.response.model': 'qwen3:4b-2026',
    'gen_ai.response.finish_reasons': ['stop'],
    'gen_ai.usage.input_tokens': 1192,
    'gen_ai.usage.cache_read.input_tokens': 1000,
    'gen_ai.usage.output_tokens': 9,
    cost: 0.000_034_2,
    attempts: 2,
    duration_ms: 1250,
  }
  assert.deepEqual(entryEvidence(answer), [
    { name: 'Model', text: 'small: qwen3:4b, answered by qwen3:4b-2026 (openai)' },
    { name: 'Tokens', text: '1,192 input (1,000 from the cache), 9 output' },
    { name: 'Cost', text: '$0.000034' },
    { name: 'Prompt', text: 'Company: <data>"Acme"</data>' },
    { name: 'Finish reason', text: 'stop' },
    { name: 'Time', text: '1.3 s in 2 requests' },
    { name: 'Instructions', text: 'sha256:0' },
  ])
  const unknown = Object.assign({}, answer, { cost: null })
  assert.equal(entryEvidence(unknown)[2]?.text, 'Unknown')
})

test('a fallback shows the steps that were tried, and the evidence of the accepted one', () => {
  const entry = {
    ...entryOf({ seq: 5, source: 'first', derivation: 'email.yaml', cached: false }),
    step: 3,
    steps: [
      { step: 1, kind: 'import', outcome: 'skipped', detail: 'domain has no value' },
      { step: 2, kind: 'http', outcome: 'null', cost: 0.01 },
      { step: 3, kind: 'sql', outcome: 'accepted', cached: true },
    ],
    expression: 'upper(name)',
  }
  assert.deepEqual(entryEvidence(entry), [
    {
      name: 'Steps',
      text: '1 import, skipped: domain has no value\n2 http, no value ($0.01)\n3 sql, accepted (cached)',
    },
    { name: 'Expression', text: 'upper(name)' },
  ])
  // A log that another program wrote is shown as it is.
  assert.deepEqual(
    entryEvidence(Object.assign({}, entry, { steps: 'none' })).map(({ name }) => name),
    ['Step', 'Steps', 'Expression'],
  )
})

test('only a value of http and an answer of a model say whether a call was made', () => {
  assert.deepEqual([cachedText(MEASURED), cachedText({ ...MEASURED, cached: true })], ['No', 'Yes'])
  assert.equal(cachedText(computedEntry({ seq: 2 })), 'No, with a call')
  assert.equal(cachedText(entryOf({ seq: 4, source: 'ai', cached: true })), 'Yes, without a call')
  assert.equal(cachedText(entryOf({ seq: 1 })), null)
})

test('lists and objects of plain values are shown without JSON', () => {
  const entry = {
    ...entryOf({ seq: 3, source: 'measure', derivation: 'length.yaml', cached: false }),
    reads: ['area', 'name'],
    row: { side: 'left', since: null },
    shape: [[1], { a: 2 }],
    nothing: [],
  }
  assert.deepEqual(
    entryEvidence(entry).map(({ text }) => text),
    ['area, name', 'side: left\nsince: null', '[\n  [\n    1\n  ],\n  {\n    "a": 2\n  }\n]', ''],
  )
})
