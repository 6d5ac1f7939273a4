import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { onEnd } from './on-end.ts'

/** Creates a directory, which is removed when the test ends. */
export async function temporaryDirectory(t: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'colophon-files-'))
  onEnd(t, () => rm(directory, { recursive: true, force: true }))
  return directory
}

/** Writes a file into a new directory, which is removed when the test ends. */
export async function temporaryFile(
  t: TestContext,
  name: string,
  content: string | Uint8Array,
): Promise<{ readonly path: string; readonly name: string }> {
  const path = join(await temporaryDirectory(t), name)
  await writeFile(path, content)
  return { path, name }
}
