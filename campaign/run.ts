/*
 * Runs campaigns of the track record until they reach their goals, which takes from minutes to days. A campaign goes on where it was
 * stopped: each part of it is kept in progress.json, and docs/track-record.md is written from it.
 */
import { execFileSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { seededRandom } from '../src/store/suite/support/random.ts'
import { useEngine, type Engine } from '../test/support/engine.ts'
import type { Campaign, Counts } from './campaign.ts'
import { CAMPAIGNS } from './campaigns.ts'
import { added, isReached, partsOf, readParts, writePart, type Part } from './support/progress.ts'
import { Scope } from './support/scope.ts'
import { withTable } from './support/track-record.ts'

const ROOT = join(import.meta.dirname, '..')
const PROGRESS = join(import.meta.dirname, 'progress.json')
const RECORD = join(ROOT, 'docs', 'track-record.md')

/** The interval at which progress is written. */
const SAVE_EVERY_MS = 10_000

/** The most characters that are kept of the message of a violation; the console has all. */
const MOST_MESSAGE = 500

const USAGE = `Usage: npm run campaign -- [campaign...] [options]

Goes on with campaigns of the track record, by default all that have not reached their goal:
  ${CAMPAIGNS.map(({ name }) => name).join('\n  ')}

Options:
  --engine sqlite|postgres  on one engine only
  --minutes <number>        for so many minutes at most
  --seed <number>           from this seed
  --again                   also where the goal is reached
  --help                    show this`

const { values, positionals } = parsedArgs()
if (values.help) {
  console.log(USAGE)
  process.exit(0)
}
const engines = enginesOf(values.engine)
const endsAt = Date.now() + numberOf('minutes', Infinity) * 60_000
const commit = git('rev-parse', 'HEAD')
const modified =
  git('status', '--porcelain', '--', 'src', 'campaign/campaigns', 'campaign/support', 'test') !== ''

let isStopped = false
// A second one ends the process at once.
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    isStopped = true
    console.log('ends after this round')
  })
}

for (const campaign of chosen(positionals)) {
  for (const engine of campaign.engines.filter((name) => engines.includes(name))) {
    await runCampaign(campaign, engine)
  }
}

async function runCampaign(campaign: Campaign, engine: Engine): Promise<void> {
  const { name, goal } = campaign
  const done = partsOf(readParts(PROGRESS), campaign, engine).reduce<Counts>(
    (sum, { counts }) => added(sum, counts),
    {},
  )
  if (isReached(goal, done) && !values.again) {
    console.log(`${name} on ${engine}: reached, ${shown(done)}`)
    return
  }
  const before = campaign.isWhole === true || values.again ? {} : done
  if (isStopped || Date.now() >= endsAt) return
  const seed = numberOf('seed', randomInt(2 ** 31))
  console.log(`${name} on ${engine}, seed ${seed}`)
  useEngine(engine)
  const started = Date.now()
  let part: Part = {
    campaign: name,
    engine,
    commit,
    modified,
    seed,
    startedAt: new Date(started).toISOString(),
    seconds: 0,
    counts: {},
    note: null,
    violation: null,
  }
  const save = (change: Partial<Part>): void => {
    part = { ...part, ...change, seconds: Math.round((Date.now() - started) / 1000) }
    writePart(PROGRESS, part)
    writeFileSync(RECORD, withTable(RECORD, CAMPAIGNS, readParts(PROGRESS)))
    console.log(`${name} on ${engine}: ${shown(added(before, part.counts))} after ${part.seconds} s`)
  }
  try {
    await using scope = new Scope()
    const note = (text: string): void => {
      part = { ...part, note: text }
    }
    const round = await campaign.start({ engine, random: seededRandom(seed), scope, note })
    let saved = started
    while (!isStopped && Date.now() < endsAt && !isReached(goal, added(before, part.counts))) {
      const counts = await round()
      part = { ...part, counts: added(part.counts, counts) }
      if (Date.now() - saved < SAVE_EVERY_MS) continue
      saved = Date.now()
      save({})
    }
    save({})
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    save({ violation: message.replaceAll(ROOT, '').slice(0, MOST_MESSAGE) })
    console.error(error)
    process.exitCode = 1
  }
}

function parsedArgs() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        engine: { type: 'string' },
        minutes: { type: 'string' },
        seed: { type: 'string' },
        again: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    })
  } catch (error) {
    return refuse(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`)
  }
}

function chosen(names: readonly string[]): readonly Campaign[] {
  const unknown = names.find((name) => !CAMPAIGNS.some((campaign) => campaign.name === name))
  if (unknown !== undefined)
    refuse(`no campaign "${unknown}"; there are ${CAMPAIGNS.map(({ name }) => name).join(', ')}`)
  return CAMPAIGNS.filter(({ name }) => names.length === 0 || names.includes(name))
}

function enginesOf(name: string | undefined): readonly Engine[] {
  if (name === undefined) return ['sqlite', 'postgres']
  if (name === 'sqlite' || name === 'postgres') return [name]
  return refuse(`--engine must be sqlite or postgres, not "${name}"`)
}

function numberOf(option: 'minutes' | 'seed', otherwise: number): number {
  const given = values[option]
  if (given === undefined) return otherwise
  const value = Number(given)
  return value > 0 ? value : refuse(`--${option} must be a number above 0, not "${given}"`)
}

function refuse(message: string): never {
  console.error(message)
  process.exit(2)
}

function shown(counts: Counts): string {
  const entries = Object.entries(counts).map(([unit, count]) => `${count.toLocaleString('en')} ${unit}`)
  return entries.length === 0 ? 'nothing yet' : entries.join(', ')
}

function git(...args: readonly string[]): string {
  return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim()
}
