import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readStatus } from '../../src/sheet/cells/read-status.ts'
import {
  changeDefinition,
  versionOf,
  type DefinitionEdit,
  type DefinitionReport,
  type FieldRequests,
} from '../../src/sheet/definition/change/change-definition.ts'
import { revertChange } from '../../src/sheet/definition/change/history.ts'
import { listRecords } from '../../src/sheet/queries/list-records.ts'
import { materialize } from '../../src/sheet/runs/materialize.ts'
import { openSheet } from '../../src/sheet/open-sheet.ts'
import type { Sheet } from '../../src/sheet/sheet.ts'
import { parseStub } from '../../src/sheet/transports.ts'
import { upsertRecords } from '../../src/sheet/writes/upsert-records.ts'
import { ServiceError } from '../../src/errors/service-error.ts'
import { seededRandom } from '../kill/kill-harness.ts'
import { checkRecomputing } from '../support/check-recomputing.ts'
import { contractText } from '../support/contract-with.ts'
import { openOnEngine, perEngine, placeOnEngine } from '../support/engine.ts'
import { onEnd } from '../support/on-end.ts'
import { editSheet, writeSheet } from '../support/sheet-fixture.ts'

const ACTOR = 'human:ann'
const FIELDS = ['a', 'b', 'c', 'd'].map((name) => `{name: ${name}, logicalType: string}`)
const FILES = {
  contract: contractText(FIELDS),
  records: ['r', 's', 't'].map((id) => ({ id, a: id })),
  derivations: { 'b.yaml': derivation('b', 'a', 'x') },
}

function derivation(target: string, input: string, path: string): string {
  return `targets: [${target}]\ninputs: [${input}]\nkind: http\nurl: https://a.example/{{ ${input} }}\nresponse_path: ${path}\n`
}

function bytesOf(text: string | null): Uint8Array | null {
  return text === null ? null : Buffer.from(text)
}

function edit(path: string, text: string | null, more: Partial<DefinitionEdit> = {}): DefinitionEdit {
  return { files: [{ path, bytes: bytesOf(text), ifMatch: null }], actor: ACTOR, ...more }
}

async function textsOf(sheet: Sheet): Promise<Readonly<Record<string, string>>> {
  const texts = (await sheet.definition()).files.texts()
  return Object.fromEntries([...texts].map(([path, bytes]) => [path, Buffer.from(bytes).toString()]))
}

test('of two changes of one version, one is refused; changes of different files both happen', async (t) => {
  const directory = await writeSheet(t, FILES)
  const place = await placeOnEngine(directory)
  const sheets = [await openSheet(place), await openSheet(place)] as const
  for (const sheet of sheets) onEnd(t, () => sheet.close())
  const version = versionOf(Buffer.from(FILES.derivations['b.yaml'])) as string
  const outcomes = await Promise.allSettled(
    ['y', 'z'].map((path, index) => {
      const files = [
        { path: 'derivations/b.yaml', bytes: bytesOf(derivation('b', 'a', path)), ifMatch: [version] },
      ]
      return changeDefinition(sheets[index] as Sheet, { files, actor: ACTOR })
    }),
  )
  const refused = outcomes.flatMap((outcome) =>
    outcome.status === 'rejected' ? [outcome.reason as unknown] : [],
  )
  assert.deepEqual(
    refused.map((error) => error instanceof ServiceError && error.code),
    ['version_mismatch'],
  )
  await Promise.all(
    ['c', 'd'].map((target, index) =>
      changeDefinition(
        sheets[index] as Sheet,
        edit(`derivations/${target}.yaml`, derivation(target, 'a', 'x')),
      ),
    ),
  )
  const [texts, other] = [await textsOf(sheets[0]), await textsOf(sheets[1])]
  assert.deepEqual(texts, other)
  assert.deepEqual(Object.keys(texts).toSorted(), [
    'contract.yaml',
    'derivations/b.yaml',
    'derivations/c.yaml',
    'derivations/d.yaml',
  ])
  const { store } = await sheets[1].defined()
  const changes = await store.definitionChanges({ before: null, limit: 10 })
  assert.deepEqual(
    changes.map(({ actor }) => actor),
    [ACTOR, ACTOR, ACTOR],
    'nothing was taken for an edit by hand',
  )
})

test('a change that another process makes while the definition is parsed is not lost', async (t) => {
  const directory = await writeSheet(t, FILES)
  const place = await placeOnEngine(directory)
  const [sheet, other] = [await openSheet(place), await openSheet(place)]
  for (const each of [sheet, other]) onEnd(t, () => each.close())
  const { files } = await sheet.definition()
  const withChanges = files.withChanges.bind(files)
  let isChanged = false
  files.withChanges = (changes) => {
    const after = withChanges(changes)
    const derivations = after.derivations.bind(after)
    after.derivations = async (contract) => {
      const parsed = await derivations(contract)
      if (!isChanged) {
        isChanged = true
        await changeDefinition(other, edit('contract.yaml', `# Other\n${FILES.contract}`))
        await changeDefinition(other, edit('derivations/c.yaml', derivation('c', 'a', 'x')))
        // As a request that only reads does at that moment.
        await files.refresh()
        files.contractChanged()
        files.derivationsChanged()
      }
      return parsed
    }
    return after
  }
  await changeDefinition(sheet, edit('derivations/d.yaml', derivation('d', 'a', 'x')))
  for (const each of [sheet, other]) {
    const { contract, derivations } = await each.defined()
    assert.match(contract.text, /^# Other/)
    assert.deepEqual([...derivations.byTarget.keys()].toSorted(), ['b', 'c', 'd'])
  }
})

test('after a change whose outcome is unknown, the next request reads the definition again', async (t) => {
  const sheet = await openOnEngine(await writeSheet(t, FILES))
  onEnd(t, () => sheet.close())
  const { store } = await sheet.defined()
  const defined: unknown[] = []
  const define = store.define.bind(store)
  store.define = (definition) => {
    defined.push(definition)
    return define(definition)
  }
  await assert.rejects(sheet.whileCommitting(Promise.reject(new Error('not written'))), /not written/)
  await sheet.current()
  assert.equal(defined.length, 1)
})

test('a change repairs a definition that is not valid, and none makes it invalid', async (t) => {
  const directory = await writeSheet(t, { ...FILES, derivations: { 'b.yaml': 'targets: [b' } })
  const sheet = await openOnEngine(directory)
  onEnd(t, () => sheet.close())
  await assert.rejects(sheet.defined(), /b\.yaml:1/)
  await changeDefinition(sheet, edit('derivations/b.yaml', FILES.derivations['b.yaml']))
  assert.equal((await sheet.defined()).derivations.byTarget.size, 1)
  await assert.rejects(changeDefinition(sheet, edit('contract.yaml', contractText(FIELDS.slice(2)))), {
    code: 'definition_refused',
    message: /"b"/,
  })
  await assert.rejects(changeDefinition(sheet, edit('contract.yaml', null)), { code: 'definition_refused' })
})

test('a dry run whose caller has left while it waited is not carried out; a change is', async (t) => {
  const directory = await writeSheet(t, FILES)
  const sheet = await openSheet(await placeOnEngine(directory))
  onEnd(t, () => sheet.close())
  const caller = new AbortController()
  const options = { signal: caller.signal }
  const [first, left, change] = [
    changeDefinition(sheet, edit('derivations/b.yaml', derivation('b', 'a', 'y'), { dryRun: true })),
    changeDefinition(
      sheet,
      edit('derivations/b.yaml', derivation('b', 'a', 'y'), { ...options, dryRun: true }),
    ),
    changeDefinition(sheet, edit('derivations/b.yaml', derivation('b', 'a', 'z'), options)),
  ]
  caller.abort(new Error('the caller has left'))
  await assert.rejects(left, /the caller has left/)
  assert.equal((await first).dryRun, true)
  assert.equal((await change).dryRun, false)
  assert.match((await textsOf(sheet))['derivations/b.yaml'] ?? '', /response_path: z/)
})

test('a note with characters that no store keeps is refused, also in a dry run', async (t) => {
  const sheet = await openOnEngine(await writeSheet(t, FILES))
  onEnd(t, () => sheet.close())
  for (const note of ['a\0b', '\uD800']) {
    for (const dryRun of [false, true]) {
      const change = edit('derivations/c.yaml', derivation('c', 'a', 'x'), { note, dryRun })
      await assert.rejects(changeDefinition(sheet, change), {
        code: 'invalid_request',
        message: /^"note" must not/,
      })
    }
  }
  assert.equal((await sheet.defined()).derivations.byTarget.size, 1)
})

test('an edit by hand that takes effect with a change has an entry before it', async (t) => {
  const texts = { ...FILES.derivations, 'c.yaml': derivation('c', 'a', 'x') }
  const directory = await writeSheet(t, { ...FILES, derivations: texts })
  const sheet = await openOnEngine(directory)
  onEnd(t, () => sheet.close())
  await sheet.defined()
  const byHand = { 'b.yaml': 'targets: [b', 'c.yaml': derivation('c', 'a', 'y') }
  await editSheet(directory, 'derivations/c.yaml', byHand['c.yaml'])
  await editSheet(directory, 'derivations/b.yaml', byHand['b.yaml'])
  await assert.rejects(sheet.defined(), /b\.yaml:1/)
  await changeDefinition(sheet, edit('derivations/b.yaml', derivation('b', 'a', 'y')))
  const { store } = await sheet.defined()
  const changes = await store.definitionChanges({ before: null, limit: 10 })
  const found: unknown[] = []
  for (const { id, actor } of changes.toReversed()) {
    const files = (await store.definitionChange(id))?.files ?? []
    for (const { path, bytesBefore, bytesAfter } of files)
      found.push([
        actor,
        path,
        ...[bytesBefore, bytesAfter].map((bytes) => Buffer.from(bytes ?? []).toString()),
      ])
  }
  const [b, c] = ['b', 'c'].map((name) => `derivations/${name}.yaml`)
  assert.deepEqual(
    found,
    perEngine({
      sqlite: [
        [null, b, texts['b.yaml'], byHand['b.yaml']],
        [null, c, texts['c.yaml'], byHand['c.yaml']],
        [ACTOR, b, byHand['b.yaml'], derivation('b', 'a', 'y')],
      ],
      // The first of the edits is valid, and a push of its own.
      postgres: [
        ['system', c, texts['c.yaml'], byHand['c.yaml']],
        [null, b, texts['b.yaml'], byHand['b.yaml']],
        [ACTOR, b, byHand['b.yaml'], derivation('b', 'a', 'y')],
      ],
    }),
  )
})

test('cells of a derivation that is removed and put back are as before, except those whose inputs or values were written meanwhile', async (t) => {
  const responses = Object.fromEntries(
    ['r', 's', 't', 'u'].map((id) => [`GET https://a.example/${id}`, { x: `x ${id}` }]),
  )
  const sheet = await openOnEngine(await writeSheet(t, FILES), {
    transport: parseStub(JSON.stringify({ responses })),
  })
  onEnd(t, () => sheet.close())
  const whole = { targets: null, recordIds: null, force: false, actor: ACTOR }
  await materialize(sheet, whole)
  const status = async () => (await readStatus(sheet, null))['b']
  const before = await status()
  assert.equal(before?.fresh, 3)
  const remove = async (): Promise<string> =>
    (await changeDefinition(sheet, edit('derivations/b.yaml', null))).id ?? ''
  const undo = async (change: string) =>
    revertChange(sheet, { change, actor: ACTOR, note: null, confirm: new Map(), dryRun: false })
  await undo(await remove())
  assert.deepEqual(await status(), before)

  const removed = await remove()
  const records = [
    { id: 'r', a: 'u' },
    { id: 's', b: 'by hand' },
  ]
  await upsertRecords(sheet, { records, actor: ACTOR }, { ifMatch: null, actor: null })
  await undo(removed)
  const after = await status()
  assert.deepEqual([after?.fresh, after?.stale, after?.overridden], [1, 1, 1])
  assert.equal((await materialize(sheet, whole)).materialized, 1)
  // Another text is another derivation.
  await remove()
  await changeDefinition(sheet, edit('derivations/b.yaml', `# Again\n${FILES.derivations['b.yaml']}`))
  assert.equal((await status())?.stale, 2)
  // The same text that names another field is too: `a` is one that was `c` before.
  await materialize(sheet, whole)
  const again = await remove()
  const swapped = FILES.contract.replace(/name: (a|c)/g, (_, name) => `name: ${name === 'a' ? 'c' : 'a'}`)
  const renamed = new Map([
    ['a', 'c'],
    ['c', 'a'],
  ])
  const changes = { renamed, removed: new Map(), converted: new Map() }
  await changeDefinition(sheet, edit('contract.yaml', swapped, { changes }))
  await undo(again)
  assert.equal((await status())?.stale, 2)
})

test('the plan of a changed fallback counts the cells that the change makes stale, and no others', async (t) => {
  const steps = (path: string, last: string): string =>
    'targets: [b]\ninputs: [a]\nkind: first\nsteps:\n' +
    `  - {kind: http, url: "https://a.example/{{ a }}", response_path: ${path}, accept: "b <> 't'"}\n` +
    `  - {kind: sql, expression: "'${last}' || a"}\n`
  const responses = Object.fromEntries(
    ['r', 's', 't'].map((id) => [`GET https://a.example/${id}`, { x: id, y: id }]),
  )
  const directory = await writeSheet(t, { ...FILES, derivations: { 'b.yaml': steps('x', 'no ') } })
  const sheet = await openOnEngine(directory, { transport: parseStub(JSON.stringify({ responses })) })
  onEnd(t, () => sheet.close())
  await materialize(sheet, { targets: null, recordIds: null, force: false, actor: ACTOR })
  for (const [text, stale] of [
    [steps('x', 'none '), 1],
    [steps('y', 'none '), 3],
  ] as const) {
    const plan = await changeDefinition(sheet, edit('derivations/b.yaml', text, { dryRun: true }))
    const done = await changeDefinition(sheet, edit('derivations/b.yaml', text))
    assert.deepEqual(plan.targets, done.targets)
    assert.equal(done.targets[0]?.after?.stale, stale)
    await checkEffect(sheet, done)
  }
})

test('a derivation that is put back after two of its targets swapped their names computes both again', async (t) => {
  const contract = contractText(['a', 'b', 'c'].map((name) => `{name: ${name}, logicalType: string}`))
  const http = 'targets: [b, c]\nkind: http\nurl: https://a.example/{{ a }}\nresponse_schema: {b: x, c: y}\n'
  const given = { contract, records: [{ id: 'r', a: 'r' }], derivations: { 'b.yaml': http } }
  const responses = { 'GET https://a.example/r': { x: 'x', y: 'y' } }
  const sheet = await openOnEngine(await writeSheet(t, given), {
    transport: parseStub(JSON.stringify({ responses })),
  })
  onEnd(t, () => sheet.close())
  const whole = { targets: null, recordIds: null, force: false, actor: ACTOR }
  await materialize(sheet, whole)
  const stale = async () => Object.values(await readStatus(sheet, null)).map((status) => status.stale)
  const swap = async (): Promise<void> => {
    const { files } = await sheet.definition()
    const present = Buffer.from(files.texts().get('contract.yaml') ?? []).toString()
    const swapped = present.replace(/name: (b|c)/g, (_, name) => `name: ${name === 'b' ? 'c' : 'b'}`)
    const renamed = new Map([
      ['b', 'c'],
      ['c', 'b'],
    ])
    const changes = { renamed, removed: new Map(), converted: new Map() }
    await changeDefinition(sheet, edit('contract.yaml', swapped, { changes }))
  }
  const remove = () => changeDefinition(sheet, edit('derivations/b.yaml', null))
  const putBack = () => changeDefinition(sheet, edit('derivations/b.yaml', http))
  await remove()
  await swap()
  await swap()
  await putBack()
  assert.deepEqual(await stale(), [0, 0])
  await remove()
  await swap()
  await putBack()
  assert.deepEqual(await stale(), [1, 1])
  assert.equal((await materialize(sheet, whole)).materialized, 2)
  const { records } = await listRecords(sheet, { fields: null, limit: 1 })
  assert.deepEqual(JSON.parse(String(records)), [{ id: 'r', a: 'r', c: 'y', b: 'x' }])
})

/** A state that changes must predict, and dry runs leave as it is. */
async function stateOf(sheet: Sheet): Promise<object> {
  const page = await listRecords(sheet, { fields: null, limit: 100 })
  return {
    texts: await textsOf(sheet),
    records: JSON.parse(String(page.records)) as unknown,
    status: await readStatus(sheet, null),
  }
}

const STEPS = perEngine({ sqlite: 40, postgres: 25 })

test(`${STEPS} random changes have exactly the effect that their dry runs predict`, async (t) => {
  const directory = await writeSheet(t, FILES)
  const responses = Object.fromEntries(
    ['r', 's', 'u'].map((id) => [`GET https://a.example/${id}`, { x: `x ${id}`, y: `y ${id}` }]),
  )
  const sheet = await openOnEngine(directory, { transport: parseStub(JSON.stringify({ responses })) })
  onEnd(t, () => sheet.close())
  const random = seededRandom(11)
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T
  const outcomes = { done: 0, refused: 0 }
  for (let step = 0; step < STEPS; step += 1) {
    if (random() < 0.3) await someWork(sheet, pick)
    const change = await someChange(sheet, pick)
    const before = await stateOf(sheet)
    const plan = await outcomeOf(change(true))
    assert.deepEqual(await stateOf(sheet), before, 'a dry run changes nothing')
    const done = await outcomeOf(change(false))
    if (typeof plan === 'string' || plan.fields.conflicts.length > 0) {
      assert.equal(typeof done, 'string', JSON.stringify(plan))
      if (typeof plan === 'string') assert.equal(done, plan)
      outcomes.refused += 1
      assert.deepEqual(await stateOf(sheet), before, 'a refused change changes nothing')
      continue
    }
    assert.ok(typeof done !== 'string', `${JSON.stringify(done)} was planned as ${JSON.stringify(plan)}`)
    const { recomputing, ...planned } = plan
    assert.deepEqual({ ...done, id: null, dryRun: true }, planned)
    await checkRecomputing(sheet, recomputing ?? null)
    await checkEffect(sheet, done)
    outcomes.done += 1
  }
  assert.ok(outcomes.done > STEPS / 3 && outcomes.refused > 0, JSON.stringify(outcomes))
})

async function outcomeOf(change: Promise<DefinitionReport>): Promise<DefinitionReport | string> {
  try {
    return await change
  } catch (error) {
    if (error instanceof ServiceError) return `${error.code} ${error.message}`
    throw error
  }
}

/** Holds the effect of a change to the state after it. */
async function checkEffect(sheet: Sheet, { targets, files }: DefinitionReport): Promise<void> {
  const status = await readStatus(sheet, null)
  for (const { field, after } of targets) {
    const { fresh, stale, missing, failed, overridden, blocked } = status[field] ?? {}
    const found = status[field] === undefined ? null : { fresh, stale, missing, failed, overridden, blocked }
    assert.deepEqual(after, found)
  }
  const texts = (await sheet.definition()).files.texts()
  for (const { path, after } of files) assert.equal(versionOf(texts.get(path) ?? null), after)
}

type Pick = <T>(items: readonly T[]) => T

/** Writes records or computes cells. */
async function someWork(sheet: Sheet, pick: Pick): Promise<void> {
  const { contract } = await sheet.current()
  const [field] = contract.fields.filter(({ name }) => name !== 'id')
  const work = pick([
    () => materialize(sheet, { targets: null, recordIds: null, force: false, actor: ACTOR }),
    () =>
      upsertRecords(
        sheet,
        {
          records: [{ id: pick(['r', 's', 'v']), [field?.name ?? 'id']: pick(['r', 'u', null]) }],
          actor: ACTOR,
        },
        { ifMatch: null, actor: null },
      ),
  ])
  await outcomeOf(work() as unknown as Promise<DefinitionReport>)
}

/** Chooses a change; some are not possible. */
async function someChange(sheet: Sheet, pick: Pick): Promise<(dryRun: boolean) => Promise<DefinitionReport>> {
  const texts = await textsOf(sheet)
  const contract = texts['contract.yaml'] ?? ''
  const fields = [...contract.matchAll(/\{name: (\w+), logicalType/g)].map(([, name = '']) => name)
  const some = fields.filter((name) => name !== 'id')
  const [field, other] = [pick(some), pick(some)]
  const files = Object.keys(texts).filter((path) => path.startsWith('derivations/'))
  const withFields = (text: string, changes: Partial<FieldRequests>) => (dryRun: boolean) =>
    changeDefinition(sheet, {
      ...edit('contract.yaml', text),
      changes: { renamed: new Map(), removed: new Map(), converted: new Map(), ...changes },
      dryRun,
    })
  const add = `$&      - {name: ${pick(['e', 'f', 'g'])}, logicalType: string}\n`
  // Chosen once, for the dry run and the change.
  const text = derivation(field, other, pick(['x', 'y']))
  const file = pick(['derivations/b.yaml', ...files])
  const [change, values, confirmed] = [
    pick(['1', '2', '3', '5', '8', '13']),
    pick([0, 1, 2, 3]),
    pick([0, 3]),
  ]
  return pick([
    (dryRun: boolean) => changeDefinition(sheet, edit(`derivations/${field}.yaml`, text, { dryRun })),
    (dryRun: boolean) => changeDefinition(sheet, edit(file, null, { dryRun })),
    withFields(contract.replace(/ *- \{name: id.*\n/, add), {}),
    withFields(contract.replace(`{name: ${field},`, '{name: h,'), { renamed: new Map([[field, 'h']]) }),
    withFields(contract.replace(new RegExp(` *- \\{name: ${field},.*\\n`), ''), {
      removed: new Map([[field, values]]),
    }),
    (dryRun: boolean) =>
      revertChange(sheet, {
        change,
        actor: ACTOR,
        note: null,
        confirm: new Map([[field, confirmed]]),
        dryRun,
      }),
  ])
}
