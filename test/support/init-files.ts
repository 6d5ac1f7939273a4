import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { JsonObject } from '../../src/contract/json/json.ts'
import { inputFormatOf, type FileFormat } from '../../src/files/io/file-format.ts'
import type { ReadFileOptions } from '../../src/files/io/read-options.ts'
import {
  initSheet,
  type InitOptions,
  type InitReport,
  type InitSource,
} from '../../src/sheet/lifecycle/init-sheet.ts'
import { openSheet } from '../../src/sheet/open-sheet.ts'
import type { Sheet } from '../../src/sheet/sheet.ts'
import { onEnd } from './on-end.ts'

/** Creates a directory for a test, which is removed when it ends. */
export async function scratch(t: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'colophon-init-'))
  onEnd(t, () => rm(directory, { recursive: true, force: true }))
  return directory
}

export interface InitFromOptions extends Partial<InitOptions> {
  readonly key?: string | null
  readonly read?: ReadFileOptions
}

/** Makes a sheet at `<root>/sheet` from a file with this text; returns its report and its directory. */
export async function initFrom(
  root: string,
  [name, content]: readonly [name: string, content: string | Uint8Array],
  { key = null, read = {}, ...options }: InitFromOptions = {},
): Promise<{ report: InitReport; directory: string }> {
  const path = join(root, name)
  await writeFile(path, content)
  const format: FileFormat | null = inputFormatOf(name)
  if (format === null) throw new Error(`${name} has no format`)
  const source: InitSource = { kind: 'records', data: { file: { path, name }, format, read }, key }
  const directory = join(root, 'sheet')
  return { report: await initSheet(directory, source, { actor: null, ...options }), directory }
}

/** Opens a sheet until the test ends. */
export async function openUntilEnd(t: TestContext, directory: string): Promise<Sheet> {
  const sheet = await openSheet(directory, { defaultActor: 'human:me' })
  onEnd(t, () => sheet.close())
  return sheet
}

/** Returns all records of a sheet in creation order. */
export async function recordsOf(sheet: Sheet): Promise<JsonObject[]> {
  const { contract, store } = await sheet.current()
  const fields = contract.fields.map(({ name }) => name)
  const page = await store.page({ fields, limit: 100_000, after: null, filter: null, sort: [], skip: 0 })
  return JSON.parse(String(page.records)) as JsonObject[]
}

/** Concatenates chunks of bytes. */
export async function allBytes(pieces: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for await (const piece of pieces) chunks.push(piece)
  return Buffer.concat(chunks)
}
