import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { LogicalType } from '../../src/contract/contract.ts'
import type { JsonValue } from '../../src/contract/json/json.ts'
import { ServiceError } from '../../src/errors/service-error.ts'
import { readHistory } from '../../src/sheet/cells/read-provenance.ts'
import { readStatus } from '../../src/sheet/cells/read-status.ts'
import type { DefinitionReport } from '../../src/sheet/definition/change/change-definition.ts'
import {
  addContractField,
  changeContractField,
  removeContractField,
  writeContract,
} from '../../src/sheet/definition/change/change-fields.ts'
import {
  removeDerivationFile,
  writeDerivationFile,
} from '../../src/sheet/definition/change/derivation-file.ts'
import { revertChange } from '../../src/sheet/definition/change/history.ts'
import { listRecords } from '../../src/sheet/queries/list-records.ts'
import { materialize } from '../../src/sheet/runs/materialize.ts'
import type { Sheet } from '../../src/sheet/sheet.ts'
import { parseStub } from '../../src/sheet/transports.ts'
import { seededRandom } from '../kill/kill-harness.ts'
import { checkRecomputing } from '../support/check-recomputing.ts'
import { contractText } from '../support/contract-with.ts'
import { openOnEngine, perEngine } from '../support/engine.ts'
import { onEnd } from '../support/on-end.ts'
import { writeSheet } from '../support/sheet-fixture.ts'

const ACTOR = 'human:ann'

/** The number of random sequences: 300 in long tests. */
const SEQUENCES = Number(process.env['COLOPHON_SEQUENCES'] ?? perEngine({ sqlite: 5, postgres: 2 }))
const SEED = Number(process.env['COLOPHON_SEED'] ?? 1)

/** Sequences with the same sheet: each leaves columns that keep values. */
const PER_SHEET = 20

const CONTRACT = contractText([
  '{name: a, logicalType: string} # What URLs have.',
  "{name: n, logicalType: number, 'description': 'A number'}",
  '{name: k, logicalType: integer}',
  '{name: day, logicalType: date}',
  '{name: at, logicalType: timestamp}',
  '{name: flag, logicalType: boolean}',
  '{name: tags, logicalType: array}',
  '{name: note, logicalType: string, x-indexed: true}',
  '{name: code, logicalType: string, unique: true}',
  '# Computed:',
  '{name: rate, logicalType: string}',
  '{name: twice, logicalType: number}',
  '{name: both, logicalType: string}',
  '{name: other, logicalType: string}',
]).replace('      - # Computed:', '\n      # Computed:')

const FILES = {
  contract: CONTRACT,
  records: [
    {
      id: 'r',
      a: 'r',
      n: 1.5,
      k: 1,
      day: '2024-02-29',
      at: '2024-01-01T00:00:00+02:00',
      flag: true,
      code: '1',
    },
    { id: 's', a: 's', n: 2, k: 20, day: '2024-01-01', note: '1,234', tags: ['x', 1], code: 'two' },
    {
      id: 't',
      a: 't',
      n: -0.25,
      note: 'text',
      at: '2024-01-01T12:00:00.5Z',
      flag: false,
      tags: [],
      code: '3',
    },
    { id: 'u', note: '2024-02-03', k: 0 },
  ],
  derivations: {
    'rate.yaml': derivation('rate', 'a', 'x'),
    'twice.yaml': '# Formula\ntargets: [twice]\nkind: sql\nexpression: "n * 2"   # twice\n',
    'both.yaml': "targets: [both]\nkind: sql\nexpression: rate || '/' || coalesce(note, '')\n",
    'other.yaml': `targets: [other]\nkind: first\ninputs: [a]\nsteps:\n  - kind: http\n    url: https://b.example/{{ a }}\n    response_path: x\n    accept: "other <> 'none'"\n  - kind: sql\n    expression: "'none'"\n`,
  },
}

function derivation(target: string, input: string, path: string): string {
  return `targets: [${target}]\ninputs: [${input}]\nkind: http\nurl: https://a.example/{{ ${input} }}\nresponse_path: ${path}\n`
}

const STUB = JSON.stringify({
  responses: Object.fromEntries(
    ['r', 's', 't', 'v'].flatMap((id) => [
      [`GET https://a.example/${id}`, { x: `x ${id}`, y: `y ${id}` }],
      [`GET https://b.example/${id}`, { x: id === 's' ? 'none' : `b ${id}` }],
    ]),
  ),
})

type Records = readonly Readonly<Record<string, JsonValue>>[]

async function recordsOf(sheet: Sheet, asOf: string | null = null): Promise<Records> {
  const { records } = await listRecords(sheet, { limit: 100, asOf })
  return JSON.parse(String(records)) as Records
}

async function textsOf(sheet: Sheet): Promise<Readonly<Record<string, string>>> {
  const texts = (await sheet.definition()).files.texts()
  return Object.fromEntries([...texts].map(([path, bytes]) => [path, Buffer.from(bytes).toString()]))
}

/** What the present sequence has done, for messages. */
const trail: string[] = []

const WHOLE = { targets: null, recordIds: null, force: false, actor: ACTOR }

/** The state of a sheet to which all changes of a sequence return. */
interface Baseline {
  readonly seq: string
  readonly texts: Readonly<Record<string, string>>
  readonly records: Records
  /** The entries of each cell, the oldest first. */
  readonly history: ReadonlyMap<string, readonly object[]>
}

async function baselineOf(sheet: Sheet): Promise<Baseline> {
  const { contract, store } = await sheet.current()
  const records = await recordsOf(sheet)
  const history = new Map<string, readonly object[]>()
  for (const { id } of records) {
    for (const { name } of contract.fields) {
      const { entries } = await readHistory(sheet, {
        recordId: String(id),
        field: name,
        limit: 1000,
        cursor: null,
      })
      history.set(`${String(id)} ${name}`, entries)
    }
  }
  return { seq: String((await store.history()).last), texts: await textsOf(sheet), records, history }
}

type Pick = <T>(items: readonly T[]) => T
type Change = (dryRun: boolean) => Promise<DefinitionReport>

const TYPES: readonly LogicalType[] = ['string', 'number', 'integer', 'boolean', 'date', 'timestamp', 'array']

/** Chooses a change; some are not possible. */
async function someChange(sheet: Sheet, pick: Pick): Promise<Change> {
  const { contract } = await sheet.current()
  const texts = await textsOf(sheet)
  const records = await recordsOf(sheet)
  const names = contract.fields.map(({ name }) => name).filter((name) => name !== 'id')
  const [field, second] = [pick(names), pick(names)]
  const values = (name: string): number => records.filter((record) => record[name] !== null).length
  const options = (dryRun: boolean) => ({ actor: ACTOR, note: null, ifMatch: null, dryRun })
  const settings = pick([
    { description: 'Another' },
    { required: pick([true, false]) },
    { unique: pick([true, false]) },
  ])
  const newName = pick(['z1', 'z2', 'z3', second])
  const logicalType = pick(TYPES)
  const onInvalid = pick(['refuse', 'null'] as const)
  const path = pick(['x', 'y'])
  const derived = Object.keys(texts).filter((file) => file.startsWith('derivations/'))
  const file = derived.length === 0 ? 'none.yaml' : pick(derived).slice('derivations/'.length)
  const text = texts['contract.yaml'] ?? ''
  const editInputs = true
  const whole =
    (edited: string, renamed: ReadonlyMap<string, string>): Change =>
    (dryRun) => {
      const confirmed = new Map(names.map((name) => [name, values(name)]))
      const after = { text: edited, renamed, converted: new Map(), confirmed }
      return writeContract(sheet, () => after, { ...options(dryRun), repairs: false })
    }
  const swapped = text.replace(/name: (\w+),/g, (all, name: string) =>
    name === field ? `name: ${second},` : name === second ? `name: ${field},` : all,
  )
  const onto = text
    .replace(new RegExp(`.*name: ${second},.*\n`), '')
    .replace(`name: ${field},`, `name: ${second},`)
  const line = new RegExp(`.*name: ${field},.*\n`).exec(text)?.[0] ?? ''
  return pick<Change>([
    (dryRun) => addContractField(sheet, { name: newName, logicalType, ...settings }, options(dryRun)),
    (dryRun) =>
      changeContractField(sheet, field, {
        ...options(dryRun),
        change: { newName, onInvalid, editInputs },
      }),
    (dryRun) =>
      changeContractField(sheet, field, {
        ...options(dryRun),
        change: { logicalType, onInvalid, editInputs },
      }),
    (dryRun) =>
      changeContractField(sheet, field, {
        ...options(dryRun),
        change: { newName, logicalType, ...settings, onInvalid, editInputs },
      }),
    (dryRun) => removeContractField(sheet, field, { ...options(dryRun), confirm: values(field) }),
    whole(
      swapped,
      new Map([
        [field, second],
        [second, field],
      ]),
    ),
    whole(onto, new Map([[field, second]])),
    whole(text.replace(line, '') + line, new Map()),
    (dryRun) =>
      writeDerivationFile(
        sheet,
        { file, text: `# Edited\n${texts[`derivations/${file}`]}` },
        options(dryRun),
      ),
    (dryRun) =>
      writeDerivationFile(
        sheet,
        { file: `${field}.yaml`, text: derivation(field, second, path) },
        options(dryRun),
      ),
    (dryRun) => removeDerivationFile(sheet, file, options(dryRun)),
  ])
}

/** Makes a change after its dry run, and holds its effect to both; returns its id, null where it is refused. */
async function carryOut(sheet: Sheet, change: Change, what: () => string): Promise<string | null> {
  const [before, state] = [await recordsOf(sheet), await readStatus(sheet, null)]
  const plan = await outcomeOf(change(true))
  assert.deepEqual(await recordsOf(sheet), before)
  assert.deepEqual(await readStatus(sheet, null), state)
  const done = await outcomeOf(change(false))
  trail.push(
    typeof done === 'string'
      ? done
      : JSON.stringify([
          done.id,
          done.files.map(({ path }) => path),
          done.fields.fields.map((field) => ({ ...field, misfits: [] })),
        ]),
  )
  if (typeof plan === 'string' || plan.fields.conflicts.length > 0) {
    assert.equal(typeof done, 'string', what())
    if (typeof plan === 'string') assert.equal(done, plan)
    return null
  }
  assert.ok(typeof done !== 'string', `${String(done)}: ${what()} ${JSON.stringify(plan)}`)
  const versions = { version: null }
  const { recomputing, ...planned } = plan
  assert.deepEqual({ ...done, id: null, dryRun: true, ...versions }, { ...planned, ...versions }, what())
  await checkRecomputing(sheet, recomputing ?? null, what())
  const after = await recordsOf(sheet)
  const counted = done.fields.fields.map(({ misfits: _, ...field }) => field)
  const expected = counted.map((field) => ({ ...field, ...counts(field, before, after) }))
  assert.deepEqual(counted, expected, what())
  const status = await readStatus(sheet, null)
  for (const target of done.targets) {
    const { fresh, stale, missing, failed, overridden, blocked } = status[target.field] ?? {}
    const found =
      status[target.field] === undefined ? null : { fresh, stale, missing, failed, overridden, blocked }
    assert.deepEqual(target.after, found, `${target.field}: ${what()}`)
  }
  return done.id
}

type Counted = Omit<DefinitionReport['fields']['fields'][number], 'misfits'>

/** Counts the values of a field that the records show to be kept, converted and lost. */
function counts(
  { change, field, before: earlier }: Counted,
  before: Records,
  after: Records,
): Partial<Counted> {
  if (change === 'added' || change === 'restored') return {}
  const pairs = before.map((record, index) => [
    record[earlier ?? field] ?? null,
    change === 'removed' ? null : (after[index]?.[field] ?? null),
  ])
  // A conversion that is taken back has values also where it had lost them.
  const given = pairs.filter(([was, now]) => was !== null || now !== null)
  const kept = given.filter(([was, now]) => JSON.stringify(was) === JSON.stringify(now)).length
  const lost = given.filter(([, now]) => now === null).length
  return { kept, lost, converted: given.length - kept - lost }
}

async function outcomeOf(change: Promise<DefinitionReport>): Promise<DefinitionReport | string> {
  try {
    return await change
  } catch (error) {
    if (error instanceof ServiceError) return `${error.code} ${error.message}`
    throw error
  }
}

async function open(directory: string): Promise<Sheet> {
  return openOnEngine(directory, { transport: parseStub(STUB) })
}

test(`${SEQUENCES} random sequences of changes that are taken back leave texts, values and history as they were`, async (t) => {
  const outcomes = { changes: 0, refused: 0, stopped: 0 }
  let sheet: Sheet | null = null
  for (let sequence = 0; sequence < SEQUENCES; sequence += 1) {
    const random = seededRandom(SEED * 100_000 + sequence)
    const pick: Pick = (items) => items[Math.floor(random() * items.length)] as (typeof items)[number]
    if (sequence % PER_SHEET === 0 || sheet === null) {
      await sheet?.close()
      sheet = await open(await writeSheet(t, FILES))
      const opened = sheet
      onEnd(t, () => opened.close())
    }
    const current: Sheet = sheet
    await materialize(current, WHOLE)
    const baseline = await baselineOf(current)
    const made: string[] = []
    trail.length = 0
    const what = (): string => `sequence ${sequence}, seed ${SEED}:\n${trail.join('\n')}`
    const length = pick([2, 3, 4, 5])
    for (let step = 0; step < length; step += 1) {
      const id = await carryOut(current, await someChange(current, pick), what)
      if (id === null) outcomes.refused += 1
      else made.push(id)
    }
    outcomes.changes += made.length
    const isComputed = random() < 0.25
    if (isComputed) await materialize(current, WHOLE)
    let isBack = true
    for (const id of made.toReversed()) {
      const records = await recordsOf(current)
      const { contract } = await current.current()
      const confirm = new Map(
        contract.fields.map(({ name }) => [name, records.filter((record) => record[name] !== null).length]),
      )
      const back = await carryOut(
        current,
        (dryRun) => revertChange(current, { change: id, actor: ACTOR, note: null, confirm, dryRun }),
        () => `${what()}, taking back ${id}`,
      )
      if (back !== null) continue
      // What a run has computed since need not fit the type of before.
      assert.ok(
        isComputed && /would break it/.test(trail.at(-1) ?? ''),
        `change ${id} cannot be taken back: ${what()}`,
      )
      isBack = false
      break
    }
    if (!isBack) {
      outcomes.stopped += 1
      await current.close()
      sheet = null
      continue
    }
    // A run writes what it computes with the definition of then.
    if (!isComputed) assert.deepEqual(await recordsOf(current), baseline.records, what())
    await checkBack(current, baseline, what())
  }
  await sheet?.close()
  assert.ok(outcomes.changes > SEQUENCES && outcomes.refused > 0, JSON.stringify(outcomes))
  t.diagnostic(JSON.stringify(outcomes))
})

async function checkBack(
  sheet: Sheet,
  { seq, texts, records, history }: Baseline,
  what: string,
): Promise<void> {
  assert.deepEqual(await textsOf(sheet), texts, what)
  await materialize(sheet, WHOLE)
  assert.deepEqual(await recordsOf(sheet), records, `${what}: recomputed`)
  assert.deepEqual(await recordsOf(sheet, seq), records, `${what}: as of ${seq}`)
  const now = (await baselineOf(sheet)).history
  for (const [cell, entries] of history) {
    assert.deepEqual(now.get(cell)?.slice(0, entries.length), entries, `${what}: history of ${cell}`)
  }
}
