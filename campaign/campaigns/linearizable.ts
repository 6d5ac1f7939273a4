import { seededRandom, type Random } from '../../src/store/suite/support/random.ts'
import type { Campaign, Counts, Round, Setting } from '../campaign.ts'
import { added } from '../support/progress.ts'
import { buildChecker, checkHistory, keepHistory } from '../linearizability/checker.ts'
import { Faults } from '../linearizability/faults.ts'
import { HistoryClient } from '../linearizability/history-client.ts'
import { History } from '../linearizability/history.ts'
import { serveSheet, type Server } from '../linearizability/servers.ts'

/** Histories that are recorded at the same time, each by clients and of records of its own. */
const AT_ONCE = 12

/** The clients and the operations of a history, and the faults while they are recorded: at least, and how many more at most. */
const CLIENTS = [5, 3] as const
const OPERATIONS = [100, 200] as const
const FAULTS = [4, 5] as const

/** A history ends after so many milliseconds, even if it has fewer operations. */
const LONGEST_MS = 120_000

/** Histories of several clients at several servers, which an independent checker holds to linearizability. */
export const linearizable: Campaign = {
  name: 'linearizable',
  attack:
    'Several clients at several servers that are killed, halted and cut off, and restarts of PostgreSQL',
  claim:
    'Each history of reads, writes, batches, deletions and conditional writes of some records is linearizable, which Porcupine checks: each operation took effect at one moment between its call and its answer, entirely or not at all.',
  engines: ['sqlite', 'postgres'],
  goal: { histories: 1000 },
  start: async ({ engine, random, scope }: Setting): Promise<Round> => {
    buildChecker()
    const served = await serveSheet(engine, scope)
    const faults = new Faults(served, engine, random)
    scope.after(() => faults.end())
    let number = 0
    return async () => {
      // On SQLite often a single one.
      const servers = served.servers.slice(0, engine === 'sqlite' ? 1 + random.below(2) : undefined)
      const histories = Array.from({ length: AT_ONCE }, () => new History(`h${(number += 1)}-`))
      const struck = await record({ histories, servers, faults, random })
      const counts = await Promise.all(
        histories.map((history) => check(history, `${engine}-${random.seed}`, struck)),
      )
      return added(counts.reduce(added), { faults: struck.length })
    }
  },
}

interface Recording {
  readonly histories: readonly History[]
  readonly servers: readonly Server[]
  readonly faults: Faults
  readonly random: Random
}

/** Has the clients of histories work while servers are struck; returns the names of the faults. */
async function record({ histories, servers, faults, random }: Recording): Promise<readonly string[]> {
  const end = AbortSignal.timeout(LONGEST_MS)
  const struck: string[] = []
  let done = 0
  let strikes: readonly number[] = []
  const onOperation = (): void => {
    done += 1
    for (const _ of strikes.filter((at) => at === done)) {
      const fault = faults.next(servers)
      if (fault !== null) struck.push(fault)
    }
  }
  const recorders = histories.map((history) => {
    const client = (): HistoryClient =>
      new HistoryClient(history, servers, seededRandom(random.below(2 ** 31)))
    const clients = Array.from({ length: someOf(CLIENTS, random) }, client)
    const each = Math.ceil(someOf(OPERATIONS, random) / clients.length)
    const work = async (): Promise<void> => {
      await Promise.all(clients.map((one) => one.work(each, end, onOperation)))
      await client().finish()
    }
    return { work, operations: each * clients.length }
  })
  const operations = recorders.reduce((sum, recorder) => sum + recorder.operations, 0)
  strikes = Array.from({ length: someOf(FAULTS, random) }, () => 1 + random.below(operations))
  await Promise.all(recorders.map(({ work }) => work()))
  faults.check()
  return struck
}

function someOf([least, more]: readonly [number, number], random: Random): number {
  return least + random.below(more + 1)
}

/** Checks a history and counts what it has. Throws where it is not linearizable. */
async function check(history: History, run: string, struck: readonly string[]): Promise<Counts> {
  const name = `${run}-${history.prefix}`
  const { verdict, explanation } = await checkHistory(history.lines(), name)
  const { operations } = history
  const counts = {
    operations: operations.length,
    'operations with unknown outcome': operations.filter(({ result }) => result.state === 'unknown').length,
  }
  if (verdict === 'linearizable') return { histories: 1, ...counts }
  const file = keepHistory(history.lines(), name)
  if (verdict === 'not linearizable')
    throw new Error(`${explanation}\nFaults: ${struck.join(', ')}. The history is in ${file}`)
  console.error(`undecided: ${file}`)
  return { 'histories that took too long to check': 1, ...counts }
}
