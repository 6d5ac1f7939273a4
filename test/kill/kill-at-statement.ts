// Preloaded into a process that changes a definition in PostgreSQL: kills it at the step of the change with the number KILL_AT_STEP. A step is
// right before a statement of the transaction is sent, or right after its answer. The number of steps so far is in the file STEPS.
import { writeFileSync } from 'node:fs'
import { Client } from 'pg'

const last = Number(process.env['KILL_AT_STEP'])
const counted = process.env['STEPS']
let steps = 0
/** The connection that carries out the transaction, until that ends. */
const writers = new WeakSet<Client>()
let isBegun = false

function step(): void {
  steps += 1
  if (counted !== undefined) writeFileSync(counted, String(steps))
  if (steps === last) process.kill(process.pid, 'SIGKILL')
}

type Query = (this: Client, ...given: unknown[]) => unknown

const client = Client.prototype as unknown as { query: Query }
const { query } = client
client.query = function (this: Client, ...given): unknown {
  const [first] = given as [string | { readonly text?: string }]
  const text = typeof first === 'string' ? first : (first.text ?? '')
  if (!isBegun && process.env['IS_CHANGING'] !== undefined && /^BEGIN.*READ WRITE/.test(text)) {
    isBegun = true
    writers.add(this)
  }
  if (!writers.has(this)) return query.apply(this, given)
  step()
  if (text.endsWith('COMMIT')) writers.delete(this)
  return (query.apply(this, given) as Promise<unknown>).finally(step)
}
