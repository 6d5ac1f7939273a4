import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test, type TestContext } from 'node:test'
import { whenFree } from './connection.ts'

/** Returns a function that finds a lock taken, until it was called so many times. */
function freeAfter(t: TestContext, calls: number): () => number {
  const directory = mkdtempSync(join(tmpdir(), 'colophon-lock-'))
  const [holder, waiting] = [0, 1].map(() => new DatabaseSync(join(directory, 'lock'), { timeout: 0 }))
  t.after(() => {
    holder?.close()
    waiting?.close()
    rmSync(directory, { recursive: true })
  })
  holder?.exec('BEGIN EXCLUSIVE')
  let called = 0
  return () => {
    called += 1
    if (called === calls) holder?.exec('COMMIT')
    waiting?.exec('BEGIN IMMEDIATE')
    return called
  }
}

/** Waits for a lock; returns whether timers and messages of the thread were handled meanwhile. */
async function turnsWhile(t: TestContext, isBrief: boolean): Promise<boolean> {
  let turned = false
  const turn = setImmediate(() => (turned = true))
  const tries = await whenFree({ deadline: Infinity, what: 'the lock', isBrief }, freeAfter(t, 5))
  clearImmediate(turn)
  assert.equal(tries, 5)
  return turned
}

test('a lock that others hold briefly is tried again sooner than a timer would fire', async (t) => {
  assert.equal(await turnsWhile(t, true), false)
})

test('while another lock is waited for, the thread goes on with other work', async (t) => {
  assert.equal(await turnsWhile(t, false), true)
})
