import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runCommand } from '../support/run-command.ts'

test('a command that ends the command thread fails, and the next one gets a new thread', async () => {
  assert.equal((await runCommand(['--version'])).code, 0)
  await assert.rejects(runCommand(['--version'], { input: 1 as unknown as string }), TypeError)
  assert.equal((await runCommand(['--version'])).code, 0)
})
