import assert from 'node:assert/strict'
import { rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Random } from '../../src/store/suite/support/random.ts'
import type { Engine } from '../../test/support/engine.ts'
import type { Campaign, Counts, Round, Setting } from '../campaign.ts'
import { checkSheet } from '../disk/check-image.ts'
import { crashImage, unexplained, writeImage, type Before, type Loss } from '../disk/crash-image.ts'
import { recordSheet, withImage, type RecordedSheet } from '../disk/recorded-sheet.ts'
import { ServedSheet } from '../disk/served-sheet.ts'
import { readTrace, type Call } from '../disk/trace.ts'
import { newPlace, newSheetFiles, startLabels, Workload } from '../disk/workload.ts'

/** Images of each trace. */
const IMAGES = 25

/** Images of what a power loss at any moment leaves of the files of a sheet that is written to. */
export const powerLoss: Campaign = {
  name: 'power-loss',
  attack: 'Power loss: the file system keeps any subset of unsynced writes',
  claim:
    'After a power loss at any moment, with any part of what was not synced, every acknowledged write is there, no write is there by half, the log explains the records, the store is sound, and it takes writes.',
  engines: ['sqlite', 'postgres'],
  goal: { 'crash images': 1000 },
  start: async ({ engine, random, scope }: Setting): Promise<Round> => {
    const api = await startLabels(scope)
    return async (): Promise<Counts> => {
      const place = newPlace('colophon-power-loss-')
      const recorded = await record(engine, { place, api: api.url, random })
      for (let image = 0; image < IMAGES; image += 1) await lose(engine, { place, recorded, random })
      rmSync(place, { recursive: true })
      return { 'crash images': IMAGES, 'acknowledged writes': recorded.workload.acknowledged }
    }
  },
}

/** The recorded calls and writes of a sheet. */
interface Recorded {
  readonly workload: Workload
  readonly before: Before
  readonly calls: readonly Call[]
  /** The length of the trace from which on there is a sheet. */
  readonly from: number
}

/** Has clients write to a new sheet, through one or several lives of its server, and records all calls for its files. */
async function record(
  engine: Engine,
  { place, api, random }: { place: string; api: string; random: Random },
): Promise<Recorded> {
  const files = newSheetFiles(place, api)
  const trace = join(place, 'trace')
  const recorded = await recordSheet(engine, { files, trace, copy: join(place, 'before') })
  const length = (): number => statSync(trace, { throwIfNoEntry: false })?.size ?? 0
  try {
    const workload = new Workload(random, length)
    const from = length()
    const lives = 1 + random.below(3)
    const unmade = new Set<number>()
    const made = (): readonly Call[] => readTrace(trace).filter(({ start }) => !unmade.has(start))
    for (let life = 0; life < lives; life += 1) {
      const isKilled = await live(recorded, workload, random)
      if (engine === 'sqlite') findUnmade(recorded, { made, isKilled, unmade })
    }
    const calls = made()
    return { workload, before: recorded.before, calls, from }
  } finally {
    await recorded.end()
  }
}

/** Holds a directory to its trace. Calls that were recorded and not made, since the process was killed between, are added to `unmade`. */
function findUnmade(
  recorded: RecordedSheet,
  { made, isKilled, unmade }: { made: () => readonly Call[]; isKilled: boolean; unmade: Set<number> },
): void {
  for (let found = unexplained(recorded, made()); found !== null; found = unexplained(recorded, made())) {
    const { path, last } = found
    assert.ok(isKilled && last !== null && unmade.size < 8, `the trace does not explain ${path}`)
    unmade.add(last.start)
  }
}

/** Serves a sheet from a start to a stop or a kill; returns whether it was killed. */
async function live(
  { place, env }: { readonly place: string; readonly env: NodeJS.ProcessEnv },
  workload: Workload,
  random: Random,
): Promise<boolean> {
  const server = await ServedSheet.start(place, env)
  if (!(server instanceof ServedSheet)) throw new Error(`the server did not start: ${server.stderr}`)
  try {
    const isKilled = random.chance(0.3)
    const run = workload.run(server, { clients: 3 + random.below(5), requests: 5 + random.below(20) })
    if (isKilled) {
      const enough = workload.acknowledged + random.below(40)
      await Promise.race([run, workload.reached(enough)])
      await server.stop('SIGKILL')
    }
    await run
    return isKilled
  } finally {
    await server.stop('SIGTERM')
  }
}

/** Makes an image of the sheet and checks it. */
async function lose(
  engine: Engine,
  { place, recorded, random }: { place: string; recorded: Recorded; random: Random },
): Promise<void> {
  const { before, calls, workload, from } = recorded
  const loss: Loss = {
    at: momentOf(calls, from, random),
    // PostgreSQL relies on it that a sync of a new file keeps its name, as all its file systems do.
    names: engine === 'sqlite' && random.chance(0.5) ? 'subset' : 'journal',
    syncs: true,
    random,
  }
  const image = crashImage(before, calls, loss)
  const directory = join(place, 'image')
  try {
    await withImage(engine, { image, copy: before.copy, directory }, (sheet) =>
      checkSheet(sheet, { workload, at: loss.at, kept: join(place, 'kept') }),
    )
  } catch (error) {
    writeImage(image, before.copy, join(place, 'image-as-left'))
    console.error(`The files are at ${place}: the trace up to ${loss.at}, names by ${loss.names}`)
    throw error
  }
}

/** Chooses the end of a call: of any, or of one just before or after a sync. */
function momentOf(calls: readonly Call[], from: number, random: Random): number {
  const after = calls.filter(({ end }) => end > from)
  const place = random.below(after.length)
  const next = after.findIndex(({ kind }, index) => index >= place && kind === 'sync')
  const chosen = random.chance(0.4) || next < 0 ? place : Math.max(0, next - random.below(3))
  return after[chosen]?.end ?? from
}
