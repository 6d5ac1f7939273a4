import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { DatabaseSync, StatementSync } from 'node:sqlite'
import type { FieldChanges } from '../../src/store/field-changes.ts'
import { Writer } from '../../src/store/sqlite/write/writer.ts'

/** The changes of fields that the process makes, and the step at which it kills itself. */
export interface FieldProcessOrder {
  readonly directory: string
  readonly before: string
  readonly after: string
  readonly renamed: readonly (readonly [string, string])[]
  readonly removed: readonly (readonly [string, number])[]
  readonly converted: readonly string[]
  readonly killAt: number
}

// Changes the fields of a store and kills itself at a step: before and after each statement, and each write to a file.
const order = JSON.parse(process.argv[2] ?? '{}') as FieldProcessOrder
let steps = 0
let isChanging = false

function step(): void {
  if (isChanging && (steps += 1) === order.killAt) process.kill(process.pid, 'SIGKILL')
}

type Call = (this: unknown, ...given: unknown[]) => unknown

function withSteps(owner: Record<string, Call>, name: string): void {
  const call = owner[name] as Call
  owner[name] = function (...given) {
    step()
    const result = call.apply(this, given)
    step()
    return result
  }
}

withSteps(DatabaseSync.prototype as unknown as Record<string, Call>, 'exec')
withSteps(StatementSync.prototype as unknown as Record<string, Call>, 'run')
for (const name of ['writeSync', 'writevSync', 'fsyncSync'])
  withSteps(fs as unknown as Record<string, Call>, name)
syncBuiltinESMExports()

const { directory, before, after, renamed, removed, converted } = order
const writer = new Writer()
const define = { targets: [], contractText: before }
await writer.handle('open', { directory, actor: 'human:ann', lockTimeoutMs: 5000, define })
const changes: FieldChanges = {
  actor: 'human:ann',
  renamed: new Map(renamed),
  removed: new Map(removed),
  converted: new Map(converted.map((field) => [field, { onInvalid: 'refuse' }])),
}
isChanging = true
await writer.handle('define', { targets: [], contractText: after, changes })
isChanging = false
await writer.handle('close', null)
console.log(steps)
