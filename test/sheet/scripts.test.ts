import assert from 'node:assert/strict'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { JsonObject } from '../../src/contract/json/json.ts'
import { evidenceOf } from '../../src/derivation/definition/evidence.ts'
import type { SheetOptions } from '../../src/sheet/open-sheet.ts'
import { usedResources } from '../../src/sheet/calls/used-resources.ts'
import { explainCell } from '../../src/sheet/cells/explain-cell.ts'
import { planMaterialize } from '../../src/sheet/runs/plan-materialize.ts'
import { everythingStored } from '../support/engine.ts'
import { openRunSheet, type RunSheet } from '../support/run-fixture.ts'
import { unconfinable } from '../support/script-hosts.ts'

const ALL = { targets: null, recordIds: null, force: false }

/** Confined where this machine can; what scripts compute is the same. */
const SCRIPTS = unconfinable === false ? 'confined' : 'unconfined'

/** A script in JavaScript, with the inputs in `inputs`. */
const js = (body: string): string => `const inputs = JSON.parse(process.argv[3])\n${body}\n`

const DOUBLE: JsonObject = { targets: ['b'], inputs: ['a'], kind: 'script', script: 'double' }

interface Given extends Partial<SheetOptions> {
  readonly file?: JsonObject
  readonly files: Readonly<Record<string, string>>
  readonly properties?: readonly string[]
  readonly records?: readonly JsonObject[]
}

/** Opens a sheet with a script of the field `a`; `files` are by path. */
async function openScripts(t: TestContext, { file = {}, files, ...given }: Given): Promise<RunSheet> {
  const { properties = ['a: string', 'b: string'], records = [{ id: '1', a: 'x' }], ...options } = given
  const run = await openRunSheet(
    t,
    { properties, records, derivations: () => ({ 'b.yaml': { ...DOUBLE, ...file } }) },
    { scripts: SCRIPTS, ...options },
  )
  await mkdir(join(run.directory, 'scripts'))
  for (const [path, text] of Object.entries(files)) await run.edit(path, text)
  return run
}

/** Runs all, and returns the errors of the failures without the script's name. */
async function errorsOf(run: RunSheet): Promise<readonly string[]> {
  const { failures } = await run.run({ only: null })
  return failures.map(({ error }) => error.replace(/^scripts\/\S+ -> /, ''))
}

test('a script receives the sheet and the inputs with sorted keys, and fills targets', async (t) => {
  const run = await openScripts(t, {
    properties: ['z: string', 'a: integer', 'b: string', 'c: integer'],
    records: [{ id: '1', z: 'ü', a: 7 }],
    file: {
      targets: ['b', 'c'],
      inputs: ['z', 'a'],
      output: 'json',
      output_schema: { c: 'number', b: 'string' },
    },
    files: {
      'scripts/double.mjs': `import { argv } from 'node:process'\nconsole.log(JSON.stringify({ b: argv[3], c: argv.length }))\n`,
    },
  })
  const plan = await planMaterialize(run.sheet, ALL)
  assert.deepEqual([plan.calls, plan.cost], [1, 0])
  assert.equal((await run.run()).materialized, 2)
  assert.deepEqual(await run.record('1'), { id: '1', z: 'ü', a: 7, b: '{"a":7,"z":"ü"}', c: 4 })
  const entry = (await run.entry('1', 'b')) ?? {}
  assert.deepEqual([entry['source'], entry['derivation']], ['script', 'b.yaml'])
  const { script, confinement } = evidenceOf(entry)
  assert.deepEqual([script, confinement], ['scripts/double.mjs', run.sheet.confinement])
  assert.equal((await run.run()).materialized, 0)
})

test('H4: another byte of the script makes the cells stale, and says so', async (t) => {
  const run = await openScripts(t, { files: { 'scripts/double.js': js('console.log(inputs.a + 1)') } })
  await run.run()
  const before = evidenceOf((await run.entry('1', 'b')) ?? {})['script_sha256']
  await run.edit('scripts/double.js', js('console.log(inputs.a + 2)'))
  assert.deepEqual(await run.counts('b'), { stale: 1 })
  const { reasons } = await explainCell(run.sheet, 'b', '1')
  assert.deepEqual(
    reasons.map((reason) => ('name' in reason ? [reason.name, 'was' in reason && reason.was] : reason)),
    [['script_sha256', before]],
  )
  await run.run()
  assert.equal(await run.value('1', 'b'), 'x2')
})

test('text is trimmed, is read as the type of its field, and is no value when empty', async (t) => {
  const run = await openScripts(t, {
    properties: ['a: string', 'b: integer', 'c: string'],
    records: [' 12 ', '1.5', ''].map((a, index) => ({ id: `${index + 1}`, a })),
    files: { 'scripts/double.sh': `printf '%s' "$2" | sed 's/.*:"\\(.*\\)"}/\\1/'\n` },
  })
  assert.deepEqual(await errorsOf(run), ['field "b": 1.5 is not an integer'])
  assert.deepEqual([await run.value('1', 'b'), await run.value('3', 'b')], [12, null])
  await run.edit('derivations/b.yaml', JSON.stringify({ ...DOUBLE, targets: ['c'], kind: 'python' }))
  await run.run()
  assert.deepEqual([await run.value('1', 'c'), await run.value('2', 'c')], ['12', '1.5'])
  assert.equal((await run.entry('1', 'c'))?.['source'], 'python')
})

test('a failing script fails its cells only, with the end of what it wrote to standard error', async (t) => {
  const run = await openScripts(t, {
    records: ['exit', 'text', 'shape', 'fine'].map((a) => ({ id: a, a })),
    properties: ['a: string', 'b: string', 'c: string'],
    file: { targets: ['b', 'c'], output: 'json' },
    files: {
      'scripts/double.js': js(`
        if (inputs.a === 'exit') { console.log('{"b": "1", "c": "2"}'); console.error('no such\\u0007 country'); process.exitCode = 3 }
        if (inputs.a === 'text') console.log('loading…')
        if (inputs.a === 'shape') console.log('{"b": "only"}')
        if (inputs.a === 'fine') console.log('{"b": "1", "c": "2", "d": 3}')`),
    },
  })
  const { failures, materialized } = await run.run()
  assert.equal(materialized, 3)
  assert.deepEqual(
    Object.fromEntries(failures.map(({ recordId, field, error }) => [`${recordId} ${field}`, error])),
    {
      'exit b': 'scripts/double.js -> exit status 3: no such\ufffd country',
      'exit c': 'scripts/double.js -> exit status 3: no such\ufffd country',
      'text b': 'scripts/double.js -> malformed JSON',
      'text c': 'scripts/double.js -> malformed JSON',
      'shape c': 'scripts/double.js -> the output has no "c"',
    },
  )
})

test('a script that does not end is killed at its deadline', async (t) => {
  const run = await openScripts(t, {
    file: { timeout: 1 },
    files: { 'scripts/double.sh': 'echo begun\nsleep 1000\n' },
  })
  assert.deepEqual(await errorsOf(run), ['timeout after 1 s'])
})

test('a script that does not exist fails its cells and says where to put it; endings are tried in order', async (t) => {
  const run = await openScripts(t, { files: {} })
  assert.deepEqual(await errorsOf(run), [
    'scripts/double does not exist; add it with one of the endings .py, .sh, .js, .mjs, .ts',
  ])
  await run.edit('scripts/double.ts', 'const text: string = "ts"\nconsole.log(text)\n')
  assert.deepEqual(await errorsOf(run), [])
  await run.edit('scripts/double.sh', '#!/usr/bin/env sh\necho sh\n')
  assert.deepEqual([await errorsOf(run), await run.value('1', 'b')], [[], 'sh'])
})

test('D23: a secret of env reaches the script, and no value, failure or file', async (t) => {
  const NAME = 'COLOPHON_TEST_SCRIPT_KEY'
  process.env[NAME] = 'k3y-0f-the-script'
  t.after(() => delete process.env[NAME])
  const run = await openScripts(t, {
    records: ['length', 'value', 'error', 'shown', 'other'].map((a) => ({ id: a, a })),
    file: { env: [NAME], output: 'json' },
    files: {
      'scripts/double.js': js(`
        const key = process.env.${NAME}
        if (inputs.a === 'length') console.log(key.length)
        if (inputs.a === 'value') console.log(JSON.stringify(Buffer.from(key).toString('base64')))
        if (inputs.a === 'error') throw new Error(key)
        if (inputs.a === 'shown') console.log(key)
        if (inputs.a === 'other') console.log(JSON.stringify(Object.keys(process.env).includes('COLOPHON_TEST_OTHER')))`),
    },
  })
  process.env['COLOPHON_TEST_OTHER'] = '1'
  t.after(() => delete process.env['COLOPHON_TEST_OTHER'])
  const { failures } = await run.run()
  assert.deepEqual(
    Object.fromEntries(failures.map(({ recordId, error }) => [recordId, error.replace(/^.* -> /, '')])),
    {
      value: 'the value repeats a secret of env',
      error: 'exit status 1: [withheld: it repeats a secret of env]',
      shown: 'malformed JSON',
    },
  )
  assert.deepEqual([await run.value('length', 'b'), await run.value('other', 'b')], ['17', 'false'])
  for (const text of await everythingStored(run.directory)) assert.ok(!text.includes('k3y-0f-the-script'))
})

test('without permission scripts do not run: their cells fail, cached values are still used', async (t) => {
  const run = await openScripts(t, {
    scripts: 'off',
    files: { 'scripts/double.js': js('console.log(1)') },
  })
  const refusal = 'scripts are off, since a sheet may come from anybody; --allow-scripts runs them confined'
  assert.deepEqual(await errorsOf(run), [`refused: ${refusal}`])
  assert.deepEqual(await usedResources(run.sheet), [{ type: 'process', name: 'scripts/double', refusal }])
})

test('inputs that are larger than an argument can be fail with what to do', async (t) => {
  const run = await openScripts(t, {
    records: [{ id: '1', a: 'x'.repeat(140_000) }],
    files: { 'scripts/double.js': js('console.log(1)') },
  })
  assert.match(
    (await errorsOf(run))[0] ?? '',
    /^the inputs are larger than an argument of a process can be, 128 KiB/,
  )
})
