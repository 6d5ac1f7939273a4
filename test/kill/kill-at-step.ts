// Preloaded into a process that changes a definition: kills it at the step of the change with the number KILL_AT_STEP, counted from the
// first file that the change writes. A step is a call of the file system, or a commit: before it, and after it. With FAIL_FROM_STEP all
// calls of the file system from that step on fail, as on a full disk. With SAVE_AT_STEP an editor saves the file SAVED at that step, with the
// text SAVED_TEXT, except between the last look at the file and its replacement, which nothing can notice. The number of steps so far is
// in the file STEPS.
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { StatementSync } from 'node:sqlite'

const last = Number(process.env['KILL_AT_STEP'])
const failing = Number(process.env['FAIL_FROM_STEP'])
const saving = Number(process.env['SAVE_AT_STEP'])
const saved = process.env['SAVED'] ?? ''
const counted = process.env['STEPS']
let steps = 0

const save = fs.writeFileSync

function step(path = ''): void {
  steps += 1
  if (counted !== undefined) save(counted, String(steps))
  if (steps === last) process.kill(process.pid, 'SIGKILL')
  if (steps === saving && path !== saved) save(saved, process.env['SAVED_TEXT'] ?? '')
}

type Call = (...given: readonly unknown[]) => unknown

const calls = fs as unknown as Record<string, Call>
for (const name of ['mkdirSync', 'writeFileSync', 'chmodSync', 'fsyncSync', 'renameSync', 'rmSync']) {
  const call = calls[name] as Call
  calls[name] = (...given) => {
    if (steps > 0 || String(given[0]).includes('.colophon-'))
      step(String(given[name === 'renameSync' ? 1 : 0]))
    if (steps >= failing) throw Object.assign(new Error('no space left'), { code: 'ENOSPC', syscall: name })
    return call(...given)
  }
}
syncBuiltinESMExports()

const statements = StatementSync.prototype as unknown as { run: Call }
const { run } = statements
statements.run = function (this: StatementSync, ...given: readonly unknown[]): unknown {
  const isCommit = steps > 0 && this.sourceSQL === 'COMMIT'
  if (isCommit) step()
  const result = run.apply(this, given as [])
  if (isCommit) step()
  return result
}
