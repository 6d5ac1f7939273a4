import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'undici'
import { benchId } from '../support/bench-sheet.ts'
import { scattered } from '../support/load.ts'
import type { ReaderOrder, SteadyReads } from '../support/steady-reads.ts'

/**
 * Requests single records at a steady rate, whether or not earlier ones have their responses, and times each from its scheduled start. In
 * its own process, so that only the machine can delay it.
 */
const [url = '', records = '', perSecond = ''] = process.argv.slice(2)
const interval = 1000 / Number(perSecond)
const pool = new Pool(url, { connections: null })
const number = scattered(Number(records))
/** The present measurement; null between measurements. */
let measured: Measurement | null = null

class Measurement {
  readonly latencies: number[] = []
  readonly late: number[] = []
  readonly underWay = new Set<Promise<void>>()

  async end(): Promise<SteadyReads> {
    await Promise.all(this.underWay)
    return { latencies: this.latencies, late: this.late }
  }
}

process.on('message', (order: ReaderOrder) => {
  const ended = measured
  measured = order === 'begin' ? new Measurement() : null
  if (order === 'end') void ended?.end().then((reads) => process.send?.(reads))
})
process.on('disconnect', () => process.exit())

await read(performance.now(), null)
process.send?.('ready')
for (let due = performance.now(); ; due += interval) {
  const early = due - performance.now()
  if (early > 0) await sleep(early)
  send(due, measured)
}

/** Does not wait for the response. */
function send(due: number, measurement: Measurement | null): void {
  const reading = read(due, measurement)
  if (measurement === null) {
    // After all measurements the server may be stopped first.
    reading.catch(() => undefined)
    return
  }
  measurement.underWay.add(reading)
  void reading.finally(() => measurement.underWay.delete(reading))
}

async function read(due: number, measurement: Measurement | null): Promise<void> {
  measurement?.late.push(performance.now() - due)
  const { statusCode, body } = await pool.request({
    method: 'GET',
    path: `/api/records/${benchId(number())}`,
  })
  await body.dump()
  if (statusCode !== 200) throw new Error(`a record was answered with ${statusCode}`)
  measurement?.latencies.push(performance.now() - due)
}
