import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { SheetOptions } from '../../src/sheet/open-sheet.ts'
import type { Sheet } from '../../src/sheet/sheet.ts'
import { parseStub } from '../../src/sheet/transports.ts'
import { contractText } from './contract-with.ts'
import { applyEdits, openOnEngine } from './engine.ts'
import { onEnd } from './on-end.ts'

/** The files of a sheet, as text. */
export interface SheetFiles {
  readonly contract: string
  /** The records of `records.jsonl`. */
  readonly records: readonly object[]
  /** The derivation files, by name. */
  readonly derivations: Readonly<Record<string, string>>
}

/** Offers in several currencies, with the rate that a derivation fetches; only `agent:owner` may write `owner_note`. */
export const OFFERS: SheetFiles = {
  contract: contractText([
    '{name: title, logicalType: string, required: true}',
    '{name: price, logicalType: number}',
    '{name: currency, logicalType: string}',
    "{name: owner_note, logicalType: string, customProperties: [{property: editableBy, value: ['agent:owner']}]}",
    '{name: rate, logicalType: number}',
  ]),
  records: [
    { id: 'a', title: 'Apple', price: 1.5, currency: 'EUR' },
    { id: 'b', title: 'Bean', price: 2, currency: 'USD' },
    { id: 'c', title: 'Corn', price: 0.25, currency: 'XXX' },
  ],
  derivations: {
    'rate.yaml': [
      'targets: [rate]',
      'inputs: [currency]',
      'kind: http',
      'url: https://rates.example/{{ currency }}',
      'response_path: rate',
      '',
    ].join('\n'),
  },
}

/** The responses of the rates' host; it does not know XXX. */
export const RATES = JSON.stringify({
  responses: { 'GET https://rates.example/EUR': { rate: 1 }, 'GET https://rates.example/USD': { rate: 0.9 } },
})

/** Writes a sheet into a new directory, which is removed when the test ends. */
export async function writeSheet(
  t: Pick<TestContext, 'after'>,
  files: Partial<SheetFiles> = {},
): Promise<string> {
  const { contract, records, derivations } = { ...OFFERS, ...files }
  const directory = await mkdtemp(join(tmpdir(), 'colophon-sheet-'))
  onEnd(t, () => rm(directory, { recursive: true, force: true }))
  await writeFile(join(directory, 'contract.yaml'), contract)
  await writeFile(
    join(directory, 'records.jsonl'),
    records.map((record) => `${JSON.stringify(record)}\n`).join(''),
  )
  await mkdir(join(directory, 'derivations'))
  for (const [name, text] of Object.entries(derivations)) {
    await writeFile(join(directory, 'derivations', name), text)
  }
  return directory
}

export type Edit = string | Uint8Array | null | ((text: string) => string)

/**
 * Edits a definition file of a sheet, by its path in the directory: writes this text, or the result of the function for the present text,
 * or removes the file for null. On PostgreSQL it pushes the change.
 */
export async function editSheet(directory: string, path: string, content: Edit): Promise<void> {
  const file = join(directory, path)
  if (content === null) await rm(file)
  else await writeFile(file, typeof content === 'function' ? content(await readFile(file, 'utf8')) : content)
  await applyEdits(directory)
}

/** Opens a sheet that is closed and removed when the test ends; {@link RATES} are the responses to its http derivations. */
export async function openTestSheet(
  t: TestContext,
  files: Partial<SheetFiles> = {},
  options: Partial<SheetOptions> = {},
): Promise<Sheet> {
  return openTestSheetIn(t, await writeSheet(t, files), options)
}

/**
 * Opens the sheet in a directory with runs that wait 20 ms for the run lock. For other locks they wait as usual: a write of another
 * process may take longer.
 */
export async function openImpatient(t: TestContext, directory: string): Promise<Sheet> {
  return Object.assign(await openTestSheetIn(t, directory), { lockTimeoutMs: 20 })
}

/** Opens the sheet in a directory as {@link openTestSheet} does. */
export async function openTestSheetIn(
  t: TestContext,
  directory: string,
  options: Partial<SheetOptions> = {},
): Promise<Sheet> {
  const sheet = await openOnEngine(directory, { transport: parseStub(RATES), ...options })
  onEnd(t, () => sheet.close())
  return sheet
}
