import { cp, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import { stringify } from 'yaml'
import type { JsonObject, JsonValue } from '../../src/contract/json/json.ts'
import { openSheet } from '../../src/sheet/open-sheet.ts'
import type { Sheet } from '../../src/sheet/sheet.ts'
import { noCalls } from '../../src/sheet/calls/no-calls.ts'
import { adoptFolioSheet, type FolioAdoption } from '../../src/sheet/folio/adopt-folio-sheet.ts'
import { onEnd } from '../support/on-end.ts'
import { temporaryDirectory } from '../support/temporary-file.ts'

const SHEETS = join(import.meta.dirname, 'sheets')

/** The contract of a folio sheet with these properties after `id`. */
export function folioContract(properties: readonly JsonObject[], more: JsonObject = {}): string {
  const id = { name: 'id', logicalType: 'string', primaryKey: true, required: true }
  return stringify({
    apiVersion: 'v3.0.0',
    kind: 'DataContract',
    id: 'x',
    name: 'x',
    version: '1.0.0',
    schema: [{ name: 'things', properties: [id, ...properties] }],
    ...more,
  })
}

/** Returns JSONL text. */
export function jsonLines(...objects: readonly JsonValue[]): string {
  return objects.map((object) => `${JSON.stringify(object)}\n`).join('')
}

/** Writes a folio sheet; returns its directory. */
export async function writeFolioSheet(
  t: TestContext,
  files: Readonly<Record<string, string | Uint8Array>>,
): Promise<string> {
  const directory = join(await temporaryDirectory(t), 'folio')
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(directory, path)), { recursive: true })
    await writeFile(join(directory, path), content)
  }
  return directory
}

/** Copies the sample sheets, which name each other; returns the directory that has them. */
export async function sampleSheets(t: TestContext): Promise<string> {
  const directory = await temporaryDirectory(t)
  await cp(SHEETS, directory, { recursive: true })
  return directory
}

export interface Adopted extends FolioAdoption {
  readonly directory: string
  readonly sheet: Sheet
}

/** Adopts a folio sheet beside it, and opens the new one. */
export async function adopt(t: TestContext, from: string, name = 'adopted'): Promise<Adopted> {
  const directory = join(dirname(from), name)
  const adoption = await adoptFolioSheet(directory, from, { actor: 'human:me', check: false })
  const sheet = await openSheet(directory, { transport: noCalls(), defaultActor: 'human:me' })
  onEnd(t, () => sheet.close())
  return { ...adoption, directory, sheet }
}

/** Returns the differences as texts `action file:line message`, without those about copied files. */
export function differencesOf({ differences }: Pick<FolioAdoption, 'differences'>): string[] {
  return differences
    .filter(({ action, message }) => action !== 'kept' || !message.includes('copied'))
    .map(
      ({ action, file, line, message }) =>
        `${action} ${file ?? '-'}${line === null ? '' : `:${line}`} ${message}`,
    )
}
