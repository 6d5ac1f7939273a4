import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { JsonObject, JsonValue } from '../../src/contract/json/json.ts'
import { ValidationError } from '../../src/errors/service-error.ts'
import { historyPages } from '../../src/sheet/cells/read-provenance.ts'
import { materialize } from '../../src/sheet/runs/materialize.ts'
import { listRuns } from '../../src/sheet/runs/read-runs.ts'
import { readDerivations } from '../../src/sheet/schema/read-derivations.ts'
import type { Sheet } from '../../src/sheet/sheet.ts'
import { perEngine } from '../support/engine.ts'
import { lineageSchemasMissing, LineageSchemas } from '../support/lineage-schemas.ts'
import {
  DERIVATIONS,
  eventsOf,
  lineageText,
  liveThrough,
  openLineageSheet,
  SECRET,
} from '../support/lineage-sheet.ts'

type Members = Readonly<Record<string, JsonObject>>

const object = (value: JsonValue | undefined): JsonObject => value as JsonObject
const list = (value: JsonValue | undefined): readonly JsonObject[] => (value ?? []) as readonly JsonObject[]

/** The fields of the sheet on which a target depends in an event, by the target. */
function graphOf(event: JsonObject, sheet: Sheet): Record<string, string[]> {
  const [output] = list(event['outputs'])
  const fields = object(object(object(output)['facets'])['columnLineage'])['fields']
  return Object.fromEntries(
    Object.entries(object(fields)).map(([target, of]) => [
      target,
      list(object(of)['inputFields']).flatMap(({ name, field }) =>
        name === sheet.name ? [String(field)] : [],
      ),
    ]),
  )
}

function jobOf(event: JsonObject): string {
  return String(object(event['job'])['name'])
}

// One after the other: both set a variable of the environment, and delete it.
test('the provenance of a sheet in formats of others', async (t) => {
  await t.test(
    'column lineage of a run is the graph of the derivations, and tables beside the sheet are inputs',
    checkColumnLineage,
  )
  await t.test(
    'runs are events of OpenLineage, and the log is a document of PROV-JSON, for all that can happen',
    checkWholeLife,
  )
})

async function checkColumnLineage(t: TestContext): Promise<void> {
  const sheet = await openLineageSheet(t)
  await materialize(sheet, { targets: null, recordIds: null, force: false, actor: 'agent:runner' })
  const events = (await eventsOf(sheet)).filter(({ eventType }) => eventType === 'COMPLETE')
  assert.deepEqual(
    events.map(jobOf),
    [...Object.keys(DERIVATIONS).toSorted(), 'materialize'].map((job) => `${sheet.name}.${job}`),
  )
  const derivations = await readDerivations(sheet)
  assert.equal(derivations.length, Object.keys(DERIVATIONS).length)
  for (const { file, targets, inputs } of derivations) {
    const event = events.find((each) => jobOf(each) === `${sheet.name}.${file}`)
    assert.ok(event)
    const graph = graphOf(event, sheet)
    assert.deepEqual(Object.keys(graph), targets)
    for (const target of targets) assert.deepEqual(graph[target]?.toSorted(), inputs.toSorted(), file)
  }
  const inputs = new Set(events.flatMap((event) => list(event['inputs']).map(({ name }) => String(name))))
  const others = perEngine({ sqlite: ['codes'], postgres: [] })
  assert.deepEqual(
    [...inputs].toSorted(),
    [sheet.name, `${sheet.name}/refs/currencies.csv`, ...others].toSorted(),
  )
  // A look-up takes the value as it is, of the row with the key; a condition only decides.
  const fallback = events.find((event) => jobOf(event).endsWith('fallback.yaml'))
  const [output] = list(fallback?.['outputs'])
  const lineage = object(object(object(output)['facets'])['columnLineage'])
  assert.deepEqual(
    list(object(object(lineage['fields'])['zone'])['inputFields']).map(({ name, field, transformations }) => {
      const [{ type, subtype } = {}] = list(transformations)
      return `${String(name).slice(sheet.name.length)} ${String(field)} ${String(type)} ${String(subtype)}`
    }),
    [
      ' currency INDIRECT JOIN',
      '/refs/currencies.csv code INDIRECT JOIN',
      '/refs/currencies.csv label DIRECT IDENTITY',
      ' title DIRECT TRANSFORMATION',
      ' price INDIRECT CONDITIONAL',
    ],
  )
}

async function checkWholeLife(t: TestContext): Promise<void> {
  const sheet = await openLineageSheet(t)
  await liveThrough(t, sheet)
  const events = await eventsOf(sheet)
  const document = JSON.parse(await lineageText(sheet, 'prov-json')) as Readonly<Record<string, Members>>

  await t.test('each run and each of its derivations starts and ends', () => checkRuns(sheet, events))
  await t.test('fields have the names and the types of their time', () => {
    const fieldsOf = (event: JsonObject | undefined): readonly string[] => {
      const [output] = list(event?.['outputs'])
      return list(object(object(object(output)['facets'])['schema'])['fields']).map(({ name }) =>
        String(name),
      )
    }
    const ended = events.filter(({ outputs }) => outputs !== undefined)
    const [before, after] = [fieldsOf(ended[0]), fieldsOf(ended.at(-1))]
    assert.deepEqual(
      before.filter((name) => !after.includes(name)),
      ['title', 'old'],
    )
    assert.deepEqual(
      after.filter((name) => !before.includes(name)),
      ['name'],
    )
  })
  await t.test('events are the same each time', async () => assert.deepEqual(await eventsOf(sheet), events))
  await t.test('each value of the log is an entity', () => checkEntities(sheet, document))
  await t.test('computed values are derived from the values of their inputs', () => checkDerived(document))
  await t.test('what a relation names is described', () => checkReferences(document))
  await t.test('no secret is in it', async () => {
    const texts = [await lineageText(sheet, 'openlineage'), await lineageText(sheet, 'prov-json')]
    for (const text of texts) assert.ok(!text.includes(SECRET))
    assert.ok(texts[0]?.includes('env.RATES_TOKEN'))
  })
  await t.test('it is valid by the published schemas', { skip: lineageSchemasMissing }, () => {
    const schemas = new LineageSchemas()
    assert.deepEqual(
      events.flatMap((event) => schemas.eventFaults(event)),
      [],
    )
    assert.deepEqual(schemas.documentFaults(document), [])
    // The schemas refuse what is not valid.
    assert.notDeepEqual(schemas.eventFaults({ ...events[0], run: { runId: '1' } }), [])
    assert.notDeepEqual(schemas.documentFaults({ wasGeneratedBy: { a: {} } }), [])
  })
  await t.test('the namespace is one of the user', async () => {
    const [line = ''] = (await lineageText(sheet, 'openlineage', 'sheets')).split('\n')
    assert.equal(object((JSON.parse(line) as JsonObject)['job'])['namespace'], 'sheets')
    await assert.rejects(lineageText(sheet, 'openlineage', ' '), ValidationError)
    await assert.rejects(lineageText(sheet, 'prov-json', 'sheets'), ValidationError)
  })
}

async function checkRuns(sheet: Sheet, events: readonly JsonObject[]): Promise<void> {
  const byRun = Map.groupBy(events, ({ run }) => String(object(run)['runId']))
  for (const [id, of] of byRun) {
    assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    assert.equal(of.length, 2)
    assert.equal(of[0]?.['eventType'], 'START')
    assert.equal(new Set(of.map(jobOf)).size, 1)
  }
  const { runs } = await listRuns(sheet, { limit: 100, cursor: null })
  const wholes = events.flatMap(({ run, ...event }) => {
    const counts = object(object(run)['facets'])['colophon_run']
    return counts === undefined ? [] : [{ ...object(counts), ...event }]
  })
  assert.deepEqual(
    wholes.map(({ id, kind, state, eventType, eventTime }) => [id, kind, state, eventType, eventTime]),
    runs
      .toReversed()
      .map(({ id, kind, state, endedAt }) => [
        id,
        kind,
        state,
        state === 'failed' ? 'FAIL' : 'COMPLETE',
        endedAt,
      ]),
  )
  assert.ok(runs.some(({ state }) => state === 'failed'))
  for (const event of events.filter(({ eventType }) => eventType === 'FAIL')) {
    const { errorMessage } = object(object(event['run'])['facets'])
    assert.match(String(object(errorMessage)['message']), /models.example/)
  }
  // Each part names the run that it belongs to.
  for (const event of events) {
    const parent = object(object(object(event['run'])['facets'])['parent'])
    const isPart = jobOf(event).endsWith('.yaml')
    assert.equal(parent === undefined, !isPart)
    if (isPart) assert.ok(byRun.has(String(object(parent['run'])['runId'])))
  }
  const imported = events.find((event) => jobOf(event).endsWith('.import') && event['inputs'] !== undefined)
  assert.deepEqual(list(imported?.['inputs']), [{ namespace: 'colophon', name: 'more.csv' }])
  const [output] = list(imported?.['outputs'])
  assert.equal(object(object(object(output)['outputFacets'])['outputStatistics'])['rowCount'], 2)
}

/** Every entry of the history with a value, and no other, is an entity; those of `records.jsonl` have the seq of its import. */
async function checkEntities(
  sheet: Sheet,
  { entity = {} }: Readonly<Record<string, Members>>,
): Promise<void> {
  const found = Object.entries(entity).flatMap(([id, members]) => {
    const seq = Number(id.split('/').at(-1))
    const isLogged = id.startsWith('sheet:value/') && seq > 1
    return isLogged
      ? [`${String(members['colophon:record'])} ${seq} ${JSON.stringify(members['prov:value'])}`]
      : []
  })
  const logged = new Set<string>()
  for (const recordId of ['a', 'b (2)', 'c', 'd']) {
    for await (const page of historyPages(sheet, { recordId, field: null })) {
      for (const { seq, field, value = null, file = null } of page) {
        if (value === null || field === 'id' || file === 'records.jsonl') continue
        const literal = Array.isArray(value) ? { $: JSON.stringify(value), type: 'colophon:json' } : value
        logged.add(`${recordId} ${String(seq)} ${JSON.stringify(literal)}`)
      }
    }
  }
  assert.deepEqual(found.toSorted(), [...logged].toSorted())
}

function checkDerived({ entity = {}, wasDerivedFrom = {} }: Readonly<Record<string, Members>>): void {
  const idsOf = (field: string): readonly string[] =>
    Object.keys(entity)
      .filter((id) => id.startsWith(`sheet:value/a/${field}/`))
      .toSorted((one, other) => Number(one.split('/').at(-1)) - Number(other.split('/').at(-1)))
  const inputsOf = (id = ''): readonly string[] =>
    Object.values(wasDerivedFrom)
      .filter((members) => members['prov:generatedEntity'] === id)
      .map((members) => String(members['prov:usedEntity']))
  const [currency, rate, cost, price] = ['currency', 'rate', 'cost', 'price'].map(idsOf)
  // The second rate was computed from the second currency, and the price came with the records.
  assert.equal(rate?.length, 2)
  assert.deepEqual([inputsOf(rate[0]), inputsOf(rate[1])], [[currency?.[0]], [currency?.[1]]])
  assert.deepEqual(
    [inputsOf(cost?.[0]), inputsOf(cost?.[1])],
    [
      [price?.[0], rate[0]],
      [price?.[0], rate[1]],
    ],
  )
  assert.equal(entity[String(currency?.[0])]?.['prov:value'], 'EUR')
}

function checkReferences({ prefix: _, ...maps }: Readonly<Record<string, Members>>): void {
  const described = new Set(['entity', 'activity', 'agent'].flatMap((map) => Object.keys(maps[map] ?? {})))
  const { entity: _e, activity: _a, agent: _g, ...relations } = maps
  for (const [map, members] of Object.entries(relations)) {
    assert.ok(Object.keys(members).length > 0, map)
    for (const relation of Object.values(members)) {
      for (const [name, value] of Object.entries(relation)) {
        if (name === 'prov:time' || name === 'prov:role') continue
        assert.ok(described.has(String(value)), `${map}: ${name} is ${String(value)}`)
      }
    }
  }
}
