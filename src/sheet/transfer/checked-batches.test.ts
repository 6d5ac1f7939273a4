import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { CheckedBatches } from './checked-batches.ts'

/** Sets the directory of temporary files for a test. */
function useTemporary(t: TestContext, directory: string): void {
  const before = process.env['TMPDIR']
  process.env['TMPDIR'] = directory
  t.after(() => {
    if (before === undefined) delete process.env['TMPDIR']
    else process.env['TMPDIR'] = before
  })
}

function directoryFor(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'colophon-checked-'))
  t.after(() => rmSync(directory, { recursive: true }))
  return directory
}

const TEXTS = ['{"records":[{"id":"x"}]}', `{"records":[{"id":"${'y'.repeat(100_000)}"},{"id":"z"}]}`]

test('batches are read as they were added, with the places of their records, and nothing is left', async (t) => {
  const directory = directoryFor(t)
  useTemporary(t, directory)
  const checked = new CheckedBatches()
  await checked.add(Buffer.from(TEXTS[0] ?? ''), [{ at: 2 }])
  await checked.add(Buffer.from(TEXTS[1] ?? ''), [{ at: 3 }, { at: 4, line: 9 }])
  assert.equal(checked.isComplete, true)
  const [folder = ''] = readdirSync(directory)
  const { mode, size } = statSync(join(directory, folder, 'batches'))
  assert.equal(mode & 0o777, 0o600)
  assert.ok(size < 1000)
  const found: unknown[] = []
  for await (const { body, count, places } of checked.all())
    found.push([Buffer.from(body).toString(), count, await places()])
  assert.deepEqual(found, [
    [TEXTS[0], 1, [{ at: 2 }]],
    [TEXTS[1], 2, [{ at: 3 }, { at: 4, line: 9 }]],
  ])
  await checked.remove()
  assert.deepEqual(readdirSync(directory), [])
})

test('without a temporary directory nothing is kept', async (t) => {
  useTemporary(t, join(directoryFor(t), 'missing'))
  const checked = new CheckedBatches()
  for (const text of TEXTS) await checked.add(Buffer.from(text), [{ at: 1 }])
  assert.equal(checked.isComplete, false)
  await checked.remove()
})
