import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { JsonObject } from '../../src/contract/json/json.ts'
import { pushSheet } from '../../src/sheet/lifecycle/push-sheet.ts'
import type { RunAnswer } from '../../src/wire/runs/runs.ts'
import { seededRandom } from '../kill/kill-harness.ts'
import { contractText } from '../support/contract-with.ts'
import { startPostgres } from '../support/postgres.ts'
import { writeSheet } from '../support/sheet-fixture.ts'
import { Cluster } from './cluster.ts'
import { CountingApi, valueOf } from './counting-api.ts'
import { Faults } from './faults.ts'
import { StreamFollower, type ToldFrame } from './stream-follower.ts'

/** The number of cells, and the random source of the faults; more cells mean more faults. */
const CELLS = Number(process.env['COLOPHON_CLUSTER_CELLS'] ?? 240)
const SEED = Number(process.env['COLOPHON_CLUSTER_SEED'] ?? 1)
const FAULTS = Math.max(5, Math.round(CELLS / 700))

const RECORDS = CELLS / 2
const SERVERS = 3
const WORKERS = 4

/** Between two looks at a run. */
const CHECK_MS = 100

const CONTRACT = contractText([
  '{name: title, logicalType: string}',
  '{name: currency, logicalType: string}',
  '{name: rate, logicalType: number}',
  '{name: total, logicalType: number}',
])

interface Offer extends JsonObject {
  readonly id: string
  readonly title: string
  readonly currency: string
}

/** Some are asked for alike: five of each currency, and two of some titles. */
const OFFERS: readonly Offer[] = Array.from({ length: RECORDS }, (_, n) => ({
  id: `r${n}`,
  title: `t${n % Math.ceil(RECORDS * 0.9)}`,
  currency: `C${n % Math.ceil(RECORDS / 5)}`,
}))

function computed({ title, currency }: Offer): { rate: number; total: number } {
  const rate = valueOf(`/rate/${currency}`)
  return { rate, total: valueOf(`/total/${rate}/${title}`) }
}

const PATHS = new Set(
  OFFERS.flatMap((offer) => {
    const { rate } = computed(offer)
    return [`/rate/${offer.currency}`, `/total/${rate}/${offer.title}`]
  }),
)

/** `rate` comes from the currency, `total` from the rate and the title; the API hears who asks. */
async function push(t: TestContext, api: CountingApi): Promise<string> {
  const derivation = (target: string, inputs: readonly string[]): string =>
    JSON.stringify({
      targets: [target],
      inputs,
      kind: 'http',
      url: `${api.api.url}/${target}/${inputs.map((input) => `{{ ${input} }}`).join('/')}`,
      headers: { 'X-Caller': '{{ env.CALLER }}' },
      response_path: 'value',
    })
  const directory = await writeSheet(t, {
    contract: CONTRACT,
    records: OFFERS,
    derivations: {
      'rate.yaml': derivation('rate', ['currency']),
      'total.yaml': derivation('total', ['rate', 'title']),
    },
  })
  const url = (await startPostgres()).freshUrl()
  await pushSheet(directory, url, { actor: 'human:ann', note: null, dryRun: false, lockTimeoutMs: 5000 })
  return url
}

/** Some of each kind go through a proxy. */
async function startCluster(t: TestContext, url: string): Promise<Cluster> {
  const cluster = new Cluster(t, url)
  const servers = Array.from({ length: SERVERS }, (_, n) => cluster.start('server', { proxied: n === 0 }))
  const workers = Array.from({ length: WORKERS }, (_, n) => cluster.start('worker', { proxied: n < 2 }))
  await Promise.all([...servers, ...workers])
  return cluster
}

/** Does something again and again, at every so many requests. */
function every(api: CountingApi, apart: number, work: () => Promise<void>): void {
  const plan = (count: number): void =>
    api.at(count, async () => {
      await work()
      plan(count + apart)
    })
  plan(apart)
}

async function ended(t: TestContext, cluster: Cluster, id: string): Promise<RunAnswer> {
  for (;;) {
    t.signal.throwIfAborted()
    const run = await cluster.get<RunAnswer>(`/api/runs/${id}`).catch(() => null)
    if (run !== null && run.state !== 'running') return run
    await delay(CHECK_MS)
  }
}

async function checkLog({ store }: Cluster): Promise<void> {
  const rows = await store.all('SELECT line FROM "$provenance" WHERE run IS NOT NULL ORDER BY seq')
  const entries = new Map<string, unknown[]>()
  for (const { line } of rows) {
    const { record_id: id, field, value } = JSON.parse(String(line)) as JsonObject
    const cell = `${String(id)}.${String(field)}`
    entries.set(cell, [...(entries.get(cell) ?? []), value])
  }
  const expected = OFFERS.flatMap((offer) => {
    const { rate, total } = computed(offer)
    return [[`${offer.id}.rate`, [rate]] as const, [`${offer.id}.total`, [total]] as const]
  })
  assert.deepEqual(entries, new Map(expected), 'each cell was logged once, with what the API answered')
}

async function checkRecords(cluster: Cluster): Promise<void> {
  for (const server of cluster.servers()) {
    const answer = await fetch(`${server.url}/api/records?limit=10000`)
    const { records } = (await answer.json()) as { records: JsonObject[] }
    assert.deepEqual(
      records,
      OFFERS.map((offer) => ({ ...offer, ...computed(offer) })),
    )
  }
}

/** Holds what a subscriber was told to what was told to all, up to the end of a run. */
async function checkFrames({ store }: Cluster, stream: string, told: readonly ToldFrame[]): Promise<void> {
  const rows = await store.all('SELECT id, frame FROM "$frame" WHERE stream = $1 ORDER BY id', stream)
  const all = rows.map(({ id, frame }) => ({
    id: Number(id),
    kind: (JSON.parse(String(frame)) as { kind: string }).kind,
  }))
  const end = all.findIndex(({ kind }) => kind === 'run.end')
  const heard = end === -1 ? all : all.slice(0, end + 1)
  assert.deepEqual(
    told.flatMap(({ id, kind }) => (id === null ? [] : [`${id} ${kind}`])),
    heard.map(({ id, kind }) => `${id} ${kind}`),
    `every frame of ${stream}, once and in order`,
  )
  // Who was halted when the run ended may still tell of cells that it has stored, and how far it had been.
  assert.deepEqual(
    all.slice(heard.length).filter(({ kind }) => kind !== 'run.cells' && kind !== 'run.progress'),
    [],
    `nothing of ${stream} after its end`,
  )
}

/** What is repeated has to have a fault behind it, and to be unknown, unless a process was away when it became known. */
function checkCalls({ everybody }: Cluster, { repeats }: CountingApi): void {
  const struck = (name: string): boolean => everybody.get(name)?.struck === true
  assert.deepEqual(
    repeats.filter(({ caller, known }) => known && !struck(caller)),
    [],
    'what is stored is called for again by nobody who was there all the time',
  )
  assert.deepEqual(
    repeats.filter(({ caller, before }) => ![caller, ...before].some(struck)),
    [],
    'a call is repeated only after a fault of who makes or made it',
  )
}

test(`${CELLS} cells are each computed and logged once, while servers and workers are killed, halted and cut off`, async (t) => {
  const random = seededRandom(SEED)
  const api = await CountingApi.start(t, random)
  const url = await push(t, api)
  const cluster = await startCluster(t, url)
  api.watch(cluster)
  const faults = new Faults(cluster, random)

  const follow = (path: string): StreamFollower[] =>
    cluster.servers().map((_, first) => new StreamFollower(t, cluster, { path, first }))
  const followers = follow('/events')
  await Promise.all(followers.map((follower) => follower.connected()))
  every(api, PATHS.size / (FAULTS + 1), () => faults.next())

  const [first] = cluster.present('server')
  assert.ok(first)
  const id = await cluster.run(first)
  const watchers = follow(`/api/runs/${id}/events`)
  const run = await ended(t, cluster, id)
  await faults.end()
  t.diagnostic(faults.done.join('; '))
  assert.deepEqual(
    [run.state, run.total, run.materialized, run.skipped, run.failed],
    ['finished', CELLS, CELLS, 0, 0],
    JSON.stringify(run),
  )
  await checkLog(cluster)
  await checkRecords(cluster)
  const again = await ended(t, cluster, await cluster.run(cluster.servers()[0] ?? first))
  assert.deepEqual([again.state, again.materialized, again.skipped], ['finished', 0, CELLS])

  await Promise.all(watchers.map((watcher) => watcher.end()))
  for (const { told } of watchers) await checkFrames(cluster, `run:${id}`, told)
  for (const { told } of followers) {
    await checkFrames(cluster, 'sheet', told)
    const kinds = ['materialize.start', 'materialize.end']
    assert.deepEqual(
      told.map(({ kind }) => kind),
      [...kinds, ...kinds],
    )
  }
  assert.equal(api.paths, PATHS.size)
  t.diagnostic(`${api.requests} requests for ${api.paths} paths`)
  checkCalls(cluster, api)
})
