import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { BenchRow, DirectoryBench, DirectoryCase } from '../support/case.ts'
import { getText, median, type Comparison } from '../support/load.ts'
import { mappedMemoryOf, processorMsOf, TELLS_MEMORY, type MappedMemory } from '../support/memory.ts'
import { nodeCommand, serveCommand, startCommand, type Command } from '../support/processes.ts'

const LAUNCHER = pathToFileURL(join(import.meta.dirname, '..', '..', 'bin', 'launcher.js'))

/** The most that the launcher may add. */
const LAUNCHER_MS = 80
const MOST_MB = 110

/** Start to the first page, beside a bare Fastify that opens the same file, and through the launcher that runs on an older Node. */
export const firstPage: DirectoryCase = {
  name: 'first-page',
  async *run(bench) {
    for (const records of new Set([Math.min(1000, bench.records), bench.records])) {
      yield* rowsOf(bench, records)
    }
  },
}

/** A start, and the processor time and the memory of all processes after the first page. */
interface Start {
  readonly ms: number
  readonly processorMs: number
  readonly memory: MappedMemory
}

async function* rowsOf({ sheets, rounds }: DirectoryBench, records: number): AsyncIterable<BenchRow> {
  const place = await sheets.shared(records, 9)
  const serve = serveCommand(place)
  const reference = nodeCommand('bench/servers/first-page.mjs', [join(place, 'sheet.db')])
  const direct: Start[] = []
  const launched: Start[] = []
  const bare: Start[] = []
  for (let round = 0; round < rounds; round += 1) {
    direct.push(await startOnce(serve))
    bare.push(await startOnce(reference))
    launched.push(await startOnce(throughLauncher(serve)))
  }
  const ours = median(direct.map(({ ms }) => ms))
  const counted = `first page of ${records.toLocaleString('en')} records`
  const beside = (figure: 'ms' | 'processorMs'): Comparison => ({
    ours: median(direct.map((one) => one[figure])),
    theirs: median(bare.map((one) => one[figure])),
    ratio: median(direct.map((one, index) => one[figure] / bare[index]![figure])),
  })
  const comparison = {
    kind: 'comparison',
    unit: 'ms',
    reference: 'bare Fastify that opens the same file',
    bound: { atMost: 2 },
  } as const
  yield { ...comparison, table: 'reach', what: `Start to the ${counted}`, ...beside('ms') }
  const common = { kind: 'figure', table: 'reach' } as const
  yield {
    ...common,
    what: 'the same through the launcher',
    unit: 'ms',
    value: median(launched.map(({ ms }) => ms)),
    bound: { atMost: ours + LAUNCHER_MS },
    note: `directly and ${LAUNCHER_MS} ms`,
  }
  if (!TELLS_MEMORY) return
  const what = `Processor time of the start to the ${counted}`
  yield { ...comparison, table: 'also', what, ...beside('processorMs') }
  const middle = (of: readonly Start[], figure: keyof MappedMemory): number =>
    median(of.map(({ memory }) => memory[figure]))
  yield {
    ...common,
    what: 'memory then, RSS of all processes, launcher included',
    unit: 'MB',
    value: middle(launched, 'rss'),
    bound: { atMost: MOST_MB },
    note: `PSS ${middle(launched, 'pss').toFixed(0)} MB; without the launcher RSS ${middle(direct, 'rss').toFixed(0)} MB; Fastify RSS ${middle(bare, 'rss').toFixed(0)} MB`,
  }
}

async function startOnce(command: Command): Promise<Start> {
  const spawned = performance.now()
  const server = await startCommand(command)
  try {
    await getText(`${server.url}/api/records`)
    const ms = performance.now() - spawned
    return { ms, processorMs: processorMsOf(server.pid), memory: mappedMemoryOf(server.pid) }
  } finally {
    await server.stop()
  }
}

/** Returns a command that launches another as `bin/colophon.js` does on a Node that is too old: here on the same Node. */
function throughLauncher({ file, args }: Command): Command {
  const code = `import { endAs, launch } from '${LAUNCHER.href}'
    launch(process.execPath, process.argv.slice(1)).on('exit', endAs)`
  return { file, args: ['--input-type=module', '--eval', code, ...args] }
}
