import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream, lstatSync } from 'node:fs'
import { constants, copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { Contract } from '../../contract/contract.ts'
import { own } from '../../contract/odcs/document-shape.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json/json.ts'
import { SheetError } from '../../errors/service-error.ts'
import { tableSchema } from '../../files/table-schema.ts'
import { exportRecords } from './export-records.ts'
import type { Sheet } from '../sheet.ts'
import { bytesEntry, fileEntry, zipOf } from './zip-stream.ts'

const PROFILE = 'https://datapackage.org/profiles/2.0/datapackage.json'

const EVERYTHING = { fields: null, filter: null, sort: null }

const DATA = 'records.csv'

const FILES = ['datapackage.json', 'contract.yaml', DATA]

/**
 * Yields the bytes of a Data Package (Frictionless, v2) of the sheet's records as a zip archive: `datapackage.json`
 * with a Table Schema, `records.csv`, and the contract. Needs disk space for the CSV in the directory for temporary
 * files. Throws ContractError while the contract or a derivation is broken.
 */
export async function* exportDatapackage(sheet: Sheet): AsyncGenerator<Uint8Array> {
  const directory = await mkdtemp(join(tmpdir(), 'colophon-package-'))
  try {
    const { descriptor, contractText, modified } = await prepare(sheet, directory)
    yield* zipOf([
      bytesEntry('datapackage.json', descriptor, modified),
      bytesEntry('contract.yaml', contractText, modified),
      fileEntry(DATA, join(directory, DATA), modified),
    ])
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

/** Writes a Data Package into a directory, which is created. Throws SheetError when it has one of the files already. */
export async function writeDatapackage(sheet: Sheet, directory: string): Promise<void> {
  checkFree(directory)
  const scratch = await mkdtemp(join(tmpdir(), 'colophon-package-'))
  try {
    const { descriptor, contractText } = await prepare(sheet, scratch)
    await makeDirectory(directory)
    await copyFile(join(scratch, DATA), join(directory, DATA), constants.COPYFILE_EXCL)
    await writeFile(join(directory, 'contract.yaml'), contractText, { flag: 'wx' })
    await writeFile(join(directory, 'datapackage.json'), descriptor, { flag: 'wx' })
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

function checkFree(directory: string): void {
  const taken = FILES.find(
    (name) => lstatSync(join(directory, name), { throwIfNoEntry: false }) !== undefined,
  )
  if (taken === undefined) return
  throw new SheetError(
    `${directory} has a file ${taken} already, and nothing is overwritten; choose another directory`,
    'path_exists',
  )
}

async function makeDirectory(directory: string): Promise<void> {
  try {
    await mkdir(directory, { recursive: true })
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error
    throw new SheetError(`${directory} cannot be created (${String(error.code)})`, 'path_not_writable')
  }
}

interface Package {
  readonly descriptor: string
  readonly contractText: string
  readonly modified: Date
}

/** Writes the records and returns their description. */
async function prepare(sheet: Sheet, directory: string): Promise<Package> {
  const { contract, derivations } = await sheet.deriving()
  const path = join(directory, DATA)
  // Without the guard against formulas: the schema has the type of each cell.
  const csv = await exportRecords(sheet, { ...EVERYTHING, format: 'csv', raw: true })
  await pipeline(csv.bytes, createWriteStream(path, { flags: 'wx' }))
  const modified = new Date()
  const descriptor = {
    ...describePackage(contract, sheet.name, modified),
    resources: [
      {
        name: 'records',
        type: 'table',
        path: DATA,
        format: 'csv',
        mediatype: 'text/csv',
        encoding: 'utf-8',
        ...(await statistics(path)),
        schema: tableSchema(contract, new Set(derivations.byTarget.keys())),
      },
      { name: 'contract', path: 'contract.yaml', format: 'yaml', mediatype: 'application/yaml' },
    ],
  }
  return { descriptor: `${JSON.stringify(descriptor, null, 2)}\n`, contractText: contract.text, modified }
}

async function statistics(path: string): Promise<JsonObject> {
  const digest = createHash('sha256')
  let bytes = 0
  for await (const chunk of createReadStream(path)) {
    bytes += (chunk as Buffer).length
    digest.update(chunk as Buffer)
  }
  return { bytes, hash: `sha256:${digest.digest('hex')}` }
}

function describePackage({ document }: Contract, sheetName: string, created: Date): JsonObject {
  const text = (key: string, value: JsonValue): JsonObject =>
    typeof value === 'string' ? { [key]: value } : {}
  const [id, description] = [own(document, 'id'), own(document, 'description')]
  return {
    $schema: PROFILE,
    name: (typeof id === 'string' && slug(id)) || slug(sheetName) || 'sheet',
    ...text('id', id),
    ...text('title', own(document, 'name')),
    ...text('description', isJsonObject(description) ? own(description, 'purpose') : description),
    ...text('version', own(document, 'version')),
    created: created.toISOString(),
  }
}

/** Returns a valid name of a package. */
function slug(name: string): string {
  return name
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/^-+|-+$/g, '')
}
