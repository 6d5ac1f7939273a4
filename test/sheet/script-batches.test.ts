import assert from 'node:assert/strict'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { JsonObject } from '../../src/contract/json/json.ts'
import { openRunSheet, type RunSheet } from '../support/run-fixture.ts'
import { unconfinable } from '../support/script-hosts.ts'

/** Confined where this machine can; what scripts compute is the same. */
const SCRIPTS = unconfinable === false ? 'confined' : 'unconfined'

/** A batch in JavaScript. For each record it runs `body`, with its `id` and its field `a`; `lines` counts the records of the process. */
const batch = (body: string): string => `
import { createInterface } from 'node:readline'
let lines = 0
const write = (answer) => process.stdout.write(JSON.stringify(answer) + '\\n')
for await (const line of createInterface({ input: process.stdin })) {
  const { id, inputs: { a } } = JSON.parse(line)
  lines += 1
  ${body}
}
`

const ANSWER = `write({ id, values: { b: a.toUpperCase() } })`

interface Given {
  readonly script: string
  /** The values of `a`, which are also the ids. */
  readonly records: readonly string[]
  readonly file?: JsonObject
  readonly ending?: string
}

async function openBatch(
  t: TestContext,
  { script, records, file = {}, ending = '.mjs' }: Given,
): Promise<RunSheet> {
  const derivation = { targets: ['b'], inputs: ['a'], kind: 'script', script: 'upper', batch: true, ...file }
  const run = await openRunSheet(
    t,
    {
      properties: ['a: string', 'b: string'],
      records: records.map((a) => ({ id: a, a })),
      derivations: () => ({ 'b.yaml': derivation }),
    },
    { scripts: SCRIPTS },
  )
  await mkdir(join(run.directory, 'scripts'))
  await run.edit(`scripts/upper${ending}`, script)
  return run
}

/** Runs all; returns the values of `b` and the errors, by record. */
async function outcomeOf(
  run: RunSheet,
  records: readonly string[],
): Promise<Readonly<Record<string, unknown>>> {
  const { failures } = await run.run()
  const errors = new Map(
    failures.map(({ recordId, error }) => [recordId, error.replace(/^scripts\/\S+ -> /, '')]),
  )
  const outcomes = records.map(async (id) => [id, errors.get(id) ?? (await run.value(id, 'b'))] as const)
  return Object.fromEntries(await Promise.all(outcomes))
}

test('a process computes many records, and answers in any order', async (t) => {
  const records = Array.from({ length: 600 }, (_, index) => `r${index}`)
  const run = await openBatch(t, {
    records,
    script: `${batch(`
      globalThis.held ??= []
      globalThis.name ??= crypto.randomUUID()
      held.push({ id, values: { b: a + ' of ' + name } })
      if (held.length === 200) while (held.length > 0) write(held.pop())`)}
      for (const answer of held) write(answer)`,
  })
  const { materialized, failures } = await run.run()
  assert.deepEqual([materialized, failures], [600, []])
  const processes = new Set<string>()
  for (const id of records) {
    const [name, process = ''] = String(await run.value(id, 'b')).split(' of ')
    assert.equal(name, id)
    processes.add(process)
  }
  // One, unless this machine stalls for a second in between.
  assert.ok(processes.size < 20, String(processes.size))
  assert.equal((await run.run()).materialized, 0)
})

test('a script that answers only at the end of its input, without a line break after the last answer', async (t) => {
  const run = await openBatch(t, {
    records: ['x', 'y'],
    ending: '.sh',
    script: `sed 's/"inputs":{"a":\\("[a-z]*"\\)}/"values":{"b":\\1}/' | sed '$!s/$/ /' | { all=$(cat); printf '%s' "$all"; }\n`,
  })
  assert.deepEqual(await outcomeOf(run, ['x', 'y']), { x: 'x', y: 'y' })
})

test('a record with an error, without a value or with one that the contract refuses fails alone', async (t) => {
  const records = ['fine', 'error', 'lacks', 'list']
  const run = await openBatch(t, {
    records,
    script: batch(`
      if (a === 'error') write({ id, error: 'no such\\u0007 word' })
      else if (a === 'lacks') write({ id, values: { c: 1 } })
      else if (a === 'list') write({ id, values: { b: [1] } })
      else ${ANSWER}`),
  })
  assert.deepEqual(await outcomeOf(run, records), {
    fine: 'FINE',
    error: 'no such\ufffd word',
    lacks: 'the output has no "b"',
    list: 'field "b": an array of 1 item is not a string',
  })
})

test('a process that dies in the middle fails the record that it dies of; answered and other records are kept', async (t) => {
  const records = ['a', 'b', 'poison', 'c', 'd']
  const run = await openBatch(t, {
    records,
    script: batch(`if (a === 'poison') { console.error('poisoned'); process.exit(3) }\n${ANSWER}`),
  })
  assert.deepEqual(await outcomeOf(run, records), {
    a: 'A',
    b: 'B',
    poison: 'exit status 3: poisoned',
    c: 'C',
    d: 'D',
  })
})

test('a script that cannot be started fails all records, after a few tries', async (t) => {
  const records = Array.from({ length: 19 }, (_, index) => `r${index}`)
  const run = await openBatch(t, { records, script: 'throw new Error("no")\n' })
  const outcome = await outcomeOf(run, records)
  for (const id of records) assert.match(String(outcome[id]), /^exit status 1: [^]*Error: no/)
})

test('a record that is never answered fails, at the deadline or with the end of the process', async (t) => {
  const records = ['x', 'y', 'never']
  const hangs = await openBatch(t, {
    records,
    file: { timeout: 5 },
    script: batch(
      `if (a === 'never') for (;;) await new Promise((resolve) => setTimeout(resolve, 1000))\n${ANSWER}`,
    ),
  })
  assert.deepEqual(await outcomeOf(hangs, records), { x: 'X', y: 'Y', never: 'timeout after 5 s' })
  const omits = await openBatch(t, { records, script: batch(`if (a !== 'never') ${ANSWER}`) })
  const missing = 'the script ended without an answer for this record'
  assert.deepEqual(await outcomeOf(omits, records), { x: 'X', y: 'Y', never: missing })
})

for (const [what, line, error] of [
  ['broken JSON', `process.stdout.write('{"id": \\n')`, 'a line of standard output is no answer: {"id":'],
  ['text', `console.log('loading')`, 'a line of standard output is no answer: loading'],
  [
    'an unknown id',
    `write({ id: '99', values: { b: 'z' } })`,
    'the script has answered for the id "99", which it did not receive',
  ],
  [
    'a second answer',
    `write({ id: '1', values: { b: 'z' } })`,
    'the script has answered twice for the id "1"',
  ],
  [
    'values and an error',
    `write({ id, values: { b: 'z' }, error: 'no' })`,
    /^a line of standard output is no answer/,
  ],
  [
    'a line without end',
    `process.stdout.write('x'.repeat(11 * 1024 ** 2))`,
    'a line of standard output is larger than 10 MiB',
  ],
] as const) {
  test(`a process that writes ${what} is killed: its answers are kept, the records without one fail`, async (t) => {
    const run = await openBatch(t, {
      records: ['x', 'y'],
      script: batch(`if (lines === 1) ${ANSWER}\nif (lines === 2) { ${line}\n${ANSWER} }`),
    })
    const { x, y } = await outcomeOf(run, ['x', 'y'])
    assert.equal(x, 'X')
    if (typeof error === 'string') assert.equal(y, error)
    else assert.match(String(y), error)
  })
}
