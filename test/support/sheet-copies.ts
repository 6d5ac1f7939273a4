import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { initSheet } from '../../src/sheet/lifecycle/init-sheet.ts'
import { pullSheet } from '../../src/sheet/lifecycle/pull-sheet.ts'
import type { Sheet } from '../../src/sheet/sheet.ts'
import { exportArchive } from '../../src/sheet/transfer/export-archive.ts'
import { allBytes } from './init-files.ts'
import { onEnd } from './on-end.ts'

/** Returns the directories of two copies of a sheet, from its archive and by a pull. */
export async function copiesOf(t: TestContext, sheet: Sheet): Promise<readonly string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'colophon-copies-'))
  onEnd(t, () => rm(folder, { recursive: true, force: true }))
  const [unpacked, pulled] = [join(folder, 'unpacked'), join(folder, 'pulled')]
  const file = { path: join(folder, 'copy.zip'), name: 'copy.zip' }
  await writeFile(file.path, await allBytes(exportArchive(sheet)))
  await initSheet(unpacked, { kind: 'archive', file, maxBytes: 1e6 })
  await pullSheet(sheet, pulled)
  return [unpacked, pulled]
}
