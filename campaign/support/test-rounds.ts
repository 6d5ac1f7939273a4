import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Engine } from '../../test/support/engine.ts'
import type { Campaign, Counts, Round, Setting } from '../campaign.ts'

const ROOT = join(import.meta.dirname, '..', '..')

/** The number of characters of a failed test's output that are shown. */
const SHOWN = 4000

/** A test that a round runs in a process of its own, with a new seed. */
interface TestOfRounds {
  /** The test file of each engine, from the root of the repository. */
  readonly files: Readonly<Partial<Record<Engine, string>>>
  /** The number of cases of a round. */
  readonly cases: number
  /** The unit in which they are counted. */
  readonly unit: string
}

/** Returns rounds that run a test of random cases (`fuzzRun`) with many cases and a seed of their own. */
export function testRounds({ files, cases, unit }: TestOfRounds): Campaign['start'] {
  return ({ engine, random, scope }: Setting): Promise<Round> => {
    const file = files[engine] ?? ''
    const round = async (): Promise<Counts> => {
      const seed = random.below(2 ** 31)
      const env = { ...process.env, COLOPHON_FUZZ_COUNT: String(cases), COLOPHON_FUZZ_SEED: String(seed) }
      const child = spawn(process.execPath, ['--test', '--test-reporter=spec', file], { cwd: ROOT, env })
      scope.after(() => child.kill())
      let output = ''
      for (const stream of [child.stdout, child.stderr]) {
        stream.on('data', (chunk) => {
          output = (output + String(chunk)).slice(-SHOWN)
        })
      }
      const [code] = (await once(child, 'close')) as [number | null]
      if (code === 0) return { [unit]: cases }
      throw new Error(`${file} with seed ${seed} and ${cases} cases ended with ${String(code)}:\n${output}`)
    }
    return Promise.resolve(round)
  }
}
