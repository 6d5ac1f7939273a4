import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Contract } from '../../contract/contract.ts'
import type { JsonObject } from '../../contract/json/json.ts'
import { sharedNames } from '../../contract/odcs/original-names.ts'
import { showNames, showValue } from '../../contract/json/show-value.ts'
import { parseYamlFile } from '../../contract/yaml/yaml-file.ts'
import { ServiceError } from '../../errors/service-error.ts'
import { DefinitionFiles, targetDefinitions, type Derivations } from '../definition/definition-files.ts'
import { listRecords } from '../queries/list-records.ts'
import { openDefinition, openSheet, tryStoreOf, type SheetOptions } from '../open-sheet.ts'
import { noCalls } from '../calls/no-calls.ts'
import { loadKinds } from '../definition/load-kinds.ts'
import { valueFaults } from './record-rules.ts'
import { recordsFileFaults } from './records-file-faults.ts'
import { isStoreUrl } from '../store-url.ts'

/** An error of a sheet. */
export interface SheetFault {
  /** The file, relative to the sheet; null when more than one is concerned. */
  readonly file: string | null
  /** The line, from 1; null when it is not a single line. */
  readonly line: number | null
  readonly message: string
}

const RECORDS_AT_ONCE = 1000

export interface ValidateOptions {
  /** Whether every record is validated too. */
  readonly records: boolean
  /** Kinds of derivations in addition to the built-in ones; see {@link SheetOptions}. */
  readonly kinds?: SheetOptions['kinds']
}

/**
 * Yields the errors of a sheet in a directory or at a store's URL. First those of the contract, the derivation files
 * and `transport.yaml`, one for each file; then original names that fields share, sources that cannot be read, and whether
 * its store can be opened, or created from `records.jsonl`, without changing it. With `records` also validates every record of the store, or of
 * `records.jsonl` when there is no store yet. Makes no calls. Throws SheetError when there is no sheet, and
 * RecordsError when a store at a URL cannot be reached.
 */
export async function* validateSheet(path: string, options: ValidateOptions): AsyncGenerator<SheetFault> {
  const { records } = options
  const dialect = isStoreUrl(path) ? 'postgres' : 'sqlite'
  const kinds = await loadKinds({ dialect, transport: noCalls(), own: options.kinds })
  const source = await openDefinition(path)
  try {
    const files = new DefinitionFiles(source, kinds)
    const faults = files.faults()
    for (const error of faults) yield faultOf(error)
    if (faults.length > 0) return
    const contract = files.contract()
    const derivations = await files.derivations(contract)
    yield* nameFaults(contract)
    yield* sourceFaults(derivations)
    if (isStoreUrl(path)) {
      yield* storedFaults(path, options)
      return
    }
    const hasStore = existsSync(join(resolve(path), 'sheet.db'))
    if (records && !hasStore) {
      const derived = new Set(derivations.derived.keys())
      let found = 0
      for (const fault of recordsFileFaults(resolve(path), { contract, derived })) {
        found += 1
        yield fault
      }
      if (found > 0) return
    }
    const fault = await openingFault(path, contract, derivations)
    if (fault !== null) yield faultOf(fault)
    else if (records && hasStore) yield* storedFaults(path, options)
  } finally {
    await source.close?.()
  }
}

/** Yields original names that several fields have: the sheet can be used, but files with such a column are refused. */
function* nameFaults(contract: Contract): Generator<SheetFault> {
  const shared = sharedNames(contract)
  if (shared.length === 0) return
  const file = 'contract.yaml'
  const yaml = parseYamlFile(contract.text, file)
  for (const { name, fields, path } of shared) {
    const message = `the fields ${showNames(fields)} have the same original name ${showValue(name)}, so that files with such a column are refused; change all but one`
    yield { file, line: yaml.lineOf(path), message }
  }
}

/** Yields tables and other sources that cannot be read: the sheet can be used, but the cells that need them fail. */
function* sourceFaults({ levels }: Derivations): Generator<SheetFault> {
  for (const { kind, spec, file: name, text } of levels.flat()) {
    const fault = kind.sourceFault?.(spec) ?? null
    if (fault === null) continue
    const file = `derivations/${name}`
    const message = `${fault.message}; until it is fixed, the cells of this derivation fail`
    yield { file, line: parseYamlFile(text, file).lineOf([fault.key]), message }
  }
}

/** Returns why the sheet of a directory could not be opened; null when it could. Changes nothing. */
async function openingFault(
  path: string,
  contract: Contract,
  derivations: Derivations,
): Promise<ServiceError | null> {
  try {
    await tryStoreOf(path, { contract, targets: targetDefinitions(derivations) })
    return null
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return error
  }
}

/** Yields why a sheet cannot be opened, or with `records` the errors of each stored record. */
async function* storedFaults(path: string, { records, kinds }: ValidateOptions): AsyncGenerator<SheetFault> {
  const sheet = await openSheet(path, { transport: noCalls(), ...(kinds !== undefined && { kinds }) })
  const file = isStoreUrl(path) ? null : 'sheet.db'
  try {
    const { contract, derivations } = await sheet.deriving()
    if (!records) return
    const derived = new Set(derivations.derived.keys())
    for (let cursor: string | null = null; ;) {
      const page = await listRecords(sheet, { limit: RECORDS_AT_ONCE, cursor })
      for (const record of JSON.parse(Buffer.from(page.records).toString()) as readonly JsonObject[]) {
        for (const { field, fault } of valueFaults(record, { contract, derived })) {
          const message = `record ${showValue(record['id'] ?? null)}, field "${field}": ${fault}`
          yield { file, line: null, message }
        }
      }
      cursor = page.nextCursor
      if (cursor === null) return
    }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    yield faultOf(error)
  } finally {
    await sheet.close()
  }
}

function faultOf({ inFile: error, message }: ServiceError): SheetFault {
  return error ?? { file: null, line: null, message }
}
