import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { test, type TestContext } from 'node:test'
import { readDerivations } from '../../src/sheet/schema/read-derivations.ts'
import { openSheet } from '../../src/sheet/open-sheet.ts'
import { contractText } from '../support/contract-with.ts'
import { writeSheet } from '../support/sheet-fixture.ts'

const HOOK = pathToFileURL(join(import.meta.dirname, 'kill-at-step.ts')).href
const PROGRAM = join(import.meta.dirname, 'change-process.ts')

/** The steps between two kills: all steps in the campaign. */
const STRIDE = process.env['COLOPHON_KILLS'] === undefined ? 3 : 1

const FIELDS = ['a', 'b', 'c', 'd'].map((name) => `{name: ${name}, logicalType: string}`)

function derivation(target: string, path: string): string {
  return `targets: [${target}]\ninputs: [id]\nkind: http\nurl: https://a.example/{{ id }}\nresponse_path: ${path}\n`
}

type Files = Readonly<Record<string, string>>

const BEFORE: Files = {
  'contract.yaml': contractText(FIELDS),
  'derivations/a.yaml': derivation('a', 'old'),
  'derivations/b.yaml': derivation('b', 'old'),
}
const AFTER: Files = {
  'contract.yaml': contractText([...FIELDS, '{name: e, logicalType: string}']),
  'derivations/a.yaml': derivation('a', 'new'),
  'derivations/e.yaml': derivation('e', 'new'),
}
const CHANGE = { ...AFTER, 'derivations/b.yaml': null }

/** Carries the change out in a process that is killed at a step; whether it was. */
function changeUntil(directory: string, step: number): boolean {
  const { signal, status, stderr } = spawnSync(
    process.execPath,
    ['--import', HOOK, PROGRAM, directory, JSON.stringify(CHANGE)],
    { env: { ...process.env, KILL_AT_STEP: String(step) }, encoding: 'utf8' },
  )
  if (signal !== 'SIGKILL') assert.equal(status, 0, stderr)
  return signal === 'SIGKILL'
}

function filesIn(directory: string): Files {
  const names = readdirSync(join(directory, 'derivations')).filter((name) => name.endsWith('.yaml'))
  const paths = ['contract.yaml', ...names.map((name) => `derivations/${name}`)]
  return Object.fromEntries(paths.map((path) => [path, readFileSync(join(directory, path), 'utf8')]))
}

async function newSheet(t: TestContext): Promise<string> {
  const { 'contract.yaml': contract = '', ...derivations } = BEFORE
  const directory = await writeSheet(t, {
    contract,
    records: [{ id: 'r' }],
    derivations: Object.fromEntries(
      Object.entries(derivations).map(([path, text]) => [path.slice('derivations/'.length), text]),
    ),
  })
  chmodSync(join(directory, 'contract.yaml'), 0o640)
  await (await openSheet(directory)).close()
  return directory
}

test('a kill at any step of a change leaves the old definition or the new one, in files and store alike', async (t) => {
  const outcomes: boolean[] = []
  for (let step = 1; ; step += STRIDE) {
    const directory = await newSheet(t)
    const wasKilled = changeUntil(directory, step)
    const sheet = await openSheet(directory)
    const { store } = await sheet.current()
    const [changes, derivations] = [
      await store.definitionChanges({ before: null, limit: 10 }),
      await readDerivations(sheet),
    ]
    await sheet.close()
    const isNew = changes.length > 0
    const expected = isNew ? AFTER : BEFORE
    assert.deepEqual(filesIn(directory), expected, `killed at step ${step}`)
    assert.deepEqual(
      changes.map(({ actor, files }) => [actor, files.map(({ path }) => path)]),
      isNew ? [['human:ann', Object.keys(CHANGE).toSorted()]] : [],
    )
    assert.deepEqual(
      Object.fromEntries(derivations.map(({ file, text }) => [`derivations/${file}`, text])),
      Object.fromEntries(Object.entries(expected).filter(([path]) => path !== 'contract.yaml')),
    )
    assert.equal(statSync(join(directory, 'contract.yaml')).mode & 0o777, 0o640)
    assert.ok(!wasKilled || outcomes.at(-1) !== true || isNew, 'once it is committed, it is done')
    outcomes.push(isNew)
    if (!wasKilled) break
  }
  assert.ok(outcomes.includes(false) && outcomes.includes(true))
  assert.ok(outcomes.length * STRIDE > 15, `${outcomes.length * STRIDE} steps`)
})
