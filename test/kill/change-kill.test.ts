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
import type { ChangeOrder } from './change-process.ts'
import { seededRandom } from './kill-harness.ts'

const HOOK = pathToFileURL(join(import.meta.dirname, 'kill-at-step.ts')).href
const PROGRAM = join(import.meta.dirname, 'change-process.ts')

const IS_CAMPAIGN = process.env['COLOPHON_KILLS'] !== undefined

/** The steps between two faults of an editor or the disk: all steps in long tests. */
const STRIDE = IS_CAMPAIGN ? 1 : 6

/** The number of random steps at which the change is killed: all in long tests. */
const KILLS = IS_CAMPAIGN ? Infinity : 3
const SEED = Number(process.env['COLOPHON_SEED'] ?? 1)

const FIELDS = ['a', 'b', 'c', 'd', 'f', 'g'].map((name) => `{name: ${name}, logicalType: string}`)

function derivation(target: string, path: string): string {
  return `targets: [${target}]\ninputs: [id]\nkind: http\nurl: https://a.example/{{ id }}\nresponse_path: ${path}\n`
}

type Files = Readonly<Record<string, string>>

const BEFORE: Files = {
  'contract.yaml': contractText([...FIELDS, '{name: gone, logicalType: string}']),
  'derivations/a.yaml': derivation('a', 'old'),
  'derivations/b.yaml': derivation('b', 'old'),
  'derivations/c.yaml': derivation('c', 'old'),
  'derivations/d.yaml': derivation('d', 'old'),
}
const AFTER: Files = {
  'contract.yaml': contractText([
    ...FIELDS.map((field) => field.replace('name: d', 'name: renamed')),
    '{name: e, logicalType: string}',
    '{name: more, logicalType: integer, x-indexed: true}',
  ]),
  'derivations/a.yaml': derivation('a', 'new'),
  'derivations/c.yaml': derivation('c', 'new'),
  'derivations/d.yaml': derivation('renamed', 'old'),
  'derivations/e.yaml': derivation('e', 'new'),
  'derivations/f.yaml': derivation('f', 'new'),
  'derivations/g.yaml': derivation('g', 'new'),
}
const CHANGE = { ...AFTER, 'derivations/b.yaml': null }

/** Carries the change out in a process with a fault; whether it was killed, and its errors. */
function changeWith(
  directory: string,
  fault: Readonly<Record<string, string>>,
): { readonly wasKilled: boolean; readonly stderr: string } {
  const order: ChangeOrder = { directory, texts: CHANGE, renamed: [['d', 'renamed']], removed: [['gone', 1]] }
  const { signal, stderr } = spawnSync(process.execPath, ['--import', HOOK, PROGRAM, JSON.stringify(order)], {
    env: { ...process.env, ...fault },
    encoding: 'utf8',
  })
  return { wasKilled: signal === 'SIGKILL', stderr }
}

/** Returns the number of steps of the change. */
async function countSteps(t: TestContext): Promise<number> {
  const directory = await newSheet(t)
  const counted = join(directory, 'steps')
  assert.equal(changeWith(directory, { STEPS: counted }).stderr, '')
  return Number(readFileSync(counted, 'utf8'))
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
    records: [{ id: 'r', gone: 'x' }],
    derivations: Object.fromEntries(
      Object.entries(derivations).map(([path, text]) => [path.slice('derivations/'.length), text]),
    ),
  })
  chmodSync(join(directory, 'contract.yaml'), 0o640)
  await (await openSheet(directory)).close()
  return directory
}

/** Opens the sheet and holds files and store to each other: both have the old definition, or both the new one. Whether it is the new one. */
async function checkSheet(directory: string): Promise<boolean> {
  const sheet = await openSheet(directory)
  const { store } = await sheet.current()
  const [changes, derivations] = [
    await store.definitionChanges({ before: null, limit: 10 }),
    await readDerivations(sheet),
  ]
  await sheet.close()
  const isNew = changes.length > 0
  const expected = isNew ? AFTER : BEFORE
  assert.deepEqual(filesIn(directory), expected)
  assert.deepEqual(
    changes.map(({ actor, files }) => [actor, files.map(({ path }) => path)]),
    isNew ? [['human:ann', Object.keys(CHANGE).toSorted()]] : [],
  )
  assert.deepEqual(
    Object.fromEntries(derivations.map(({ file, text }) => [`derivations/${file}`, text])),
    Object.fromEntries(Object.entries(expected).filter(([path]) => path !== 'contract.yaml')),
  )
  assert.equal(statSync(join(directory, 'contract.yaml')).mode & 0o777, 0o640)
  return isNew
}

/** Returns the first step, the last one, and random ones between them, ascending. */
function chosen(steps: number): readonly number[] {
  const random = seededRandom(SEED)
  const between = Array.from({ length: steps - 2 }, (_, index) => ({ step: index + 2, at: random() }))
  const some = between.toSorted((a, b) => a.at - b.at).slice(0, KILLS)
  return [1, ...some.map(({ step }) => step), steps].toSorted((a, b) => a - b)
}

test('a kill at any step of a change leaves the old definition or the new one, in files and store alike', async (t) => {
  const steps = await countSteps(t)
  assert.ok(steps >= 50, `${steps} steps`)
  const outcomes: boolean[] = []
  for (const step of chosen(steps)) {
    const directory = await newSheet(t)
    const { wasKilled, stderr } = changeWith(directory, { KILL_AT_STEP: String(step) })
    assert.deepEqual({ step, wasKilled, stderr }, { step, wasKilled: true, stderr: '' })
    outcomes.push(await checkSheet(directory))
  }
  // Old until it is committed, new from then on.
  assert.deepEqual(
    outcomes,
    outcomes.toSorted((a, b) => Number(a) - Number(b)),
  )
  assert.ok(outcomes.includes(false) && outcomes.includes(true))
})

test('a file that an editor saves at any step of a change keeps its text, and the change is whole', async (t) => {
  const edited = derivation('a', 'by hand')
  const outcomes = new Set<string>()
  // In the last steps its files are written.
  const steps = await countSteps(t)
  for (let step = steps; step >= 1; step -= 3 * STRIDE) {
    const directory = await newSheet(t)
    const saved = join(directory, 'derivations/a.yaml')
    const { stderr } = changeWith(directory, { SAVE_AT_STEP: String(step), SAVED: saved, SAVED_TEXT: edited })
    const isSaved = readFileSync(saved, 'utf8') === edited
    const isNoticed = /derivations\/a\.yaml was saved by another program/.test(stderr)
    assert.ok(isNoticed || stderr === '', stderr)
    if (isNoticed) assert.ok(isSaved)
    assert.deepEqual(filesIn(directory), isSaved ? { ...AFTER, 'derivations/a.yaml': edited } : AFTER)
    const sheet = await openSheet(directory)
    const { store } = await sheet.defined()
    const [last, first] = await store.definitionChanges({ before: null, limit: 10 })
    await sheet.close()
    assert.deepEqual([last?.actor, first?.actor], isSaved ? [null, 'human:ann'] : ['human:ann', undefined])
    outcomes.add(`${isSaved} ${isNoticed}`)
  }
  assert.ok(outcomes.has('true true'))
})

test('a disk that is full from any step of a change on refuses the change, or delays its files', async (t) => {
  const outcomes: boolean[] = []
  for (let step = 1; ; step += 3 * STRIDE) {
    const directory = await newSheet(t)
    const { stderr } = changeWith(directory, { FAIL_FROM_STEP: String(step) })
    const isNew = await checkSheet(directory)
    outcomes.push(isNew)
    if (stderr === '') break
    assert.match(
      stderr,
      isNew ? /the change is stored, but .* cannot be written/ : /cannot be written \(ENOSPC\)/,
    )
  }
  assert.ok(outcomes.includes(false) && outcomes.includes(true))
})
