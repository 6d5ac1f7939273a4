import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { CheckedBatches, upsertBody } from './checked-batches.ts'

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

const records = (...ids: readonly string[]): { id: string }[] => ids.map((id) => ({ id }))

async function read(checked: CheckedBatches): Promise<unknown[]> {
  const found: unknown[] = []
  for await (const { body, count, places } of checked.all()) {
    const { records: of } = JSON.parse(Buffer.from(body).toString()) as { records: { id: string }[] }
    found.push({ ids: of.map(({ id }) => id), count, places: await places() })
  }
  return found
}

test('records are read as they were added, with their places, and nothing is left', async (t) => {
  const directory = directoryFor(t)
  useTemporary(t, directory)
  const checked = new CheckedBatches()
  const long = 'y'.repeat(100_000)
  await checked.add(upsertBody(records('x')), [{ at: 2 }])
  await checked.add(upsertBody(records(long, 'z')), [{ at: 3 }, { at: 4, line: 9 }])
  assert.equal(checked.isComplete, true)
  const [folder = ''] = readdirSync(directory)
  const { mode, size } = statSync(join(directory, folder, 'batches'))
  assert.equal(mode & 0o777, 0o600)
  assert.ok(size < 1000)
  const places = [{ at: 2 }, { at: 3 }, { at: 4, line: 9 }]
  assert.deepEqual(await read(checked), [{ ids: ['x', long, 'z'], count: 3, places }])
  await checked.remove()
  assert.deepEqual(readdirSync(directory), [])
})

test('few enough records are written together', async (t) => {
  const checked = new CheckedBatches()
  t.after(() => checked.remove())
  const add = (ids: readonly string[]): Promise<void> =>
    checked.add(
      upsertBody(records(...ids)),
      ids.map((_, at) => ({ at })),
    )
  const thousand = Array.from({ length: 1000 }, (_, index) => `r${index}`)
  for (let batch = 0; batch < 6; batch += 1) await add(thousand)
  await add(['z'.repeat(3 << 20)])
  await add(['z'.repeat(3 << 20)])
  await add(['last'])
  const counts: number[] = []
  for await (const { count } of checked.all()) counts.push(count)
  assert.deepEqual(counts, [5000, 1001, 2])
})

test('without a temporary directory nothing is kept', async (t) => {
  useTemporary(t, join(directoryFor(t), 'missing'))
  const checked = new CheckedBatches()
  for (const id of ['x', 'y']) await checked.add(upsertBody(records(id)), [{ at: 1 }])
  assert.equal(checked.isComplete, false)
  await checked.remove()
})
