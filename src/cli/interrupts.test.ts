import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'

const MODULE = pathToFileURL(join(import.meta.dirname, 'interrupts.ts')).href

/** A process that has something to stop, which takes for ever. */
const PROGRAM = `
  const { onInterrupt } = await import(${JSON.stringify(MODULE)})
  const interrupts = onInterrupt(() => console.log('stopping', interrupts.seen))
  setInterval(() => undefined, 1000)
  console.log('ready', interrupts.seen)
`

test('the first Ctrl-C is asked to stop well, the second ends the process at once with 130', async (t) => {
  const child = spawn(process.execPath, ['--input-type=module', '-e', PROGRAM], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => child.kill('SIGKILL'))
  const ended = once(child, 'close')
  assert.equal(String(await once(child.stdout, 'data')), 'ready false\n')
  child.kill('SIGINT')
  assert.equal(String(await once(child.stdout, 'data')), 'stopping true\n')
  child.kill('SIGINT')
  assert.equal((await ended)[0], 130)
})
