import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { JsonObject } from '../contract/json.ts'
import { showValue } from '../contract/show-value.ts'
import { createKinds } from '../derivation/kinds.ts'
import { ServiceError } from '../errors/service-error.ts'
import { DefinitionFiles } from './definition-files.ts'
import { listRecords } from './list-records.ts'
import { checkSheetDirectory, openSheet } from './open-sheet.ts'
import { noCalls } from './no-calls.ts'
import { valueFaults } from './record-rules.ts'
import { recordsFileFaults } from './records-file-faults.ts'

/** Something that is wrong with a sheet. */
export interface SheetFault {
  /** The file, as the sheet names it; null where it is more than one. */
  readonly file: string | null
  /** From 1; null where it is no single line. */
  readonly line: number | null
  readonly message: string
}

const RECORDS_AT_ONCE = 1000

/**
 * Looks for what is wrong with the sheet in a directory: contract, derivation files and `transport.yaml`, of each the first
 * fault; with `records` also every record, of the store or, where there is none yet, of `records.jsonl`, which changes
 * nothing. Calls nobody. Throws SheetError where there is no sheet.
 */
export async function* validateSheet(
  path: string,
  { records }: { readonly records: boolean },
): AsyncGenerator<SheetFault> {
  checkSheetDirectory(path)
  const directory = resolve(path)
  const files = new DefinitionFiles(directory, createKinds({ transport: noCalls() }))
  const faults = files.faults()
  for (const { message } of faults) yield faultFrom(message)
  if (!records || faults.length > 0) return
  if (existsSync(join(directory, 'sheet.db'))) {
    yield* storedFaults(directory)
  } else {
    const contract = files.contract()
    const derived = new Set(files.derivations(contract).derived.keys())
    for (const message of recordsFileFaults(directory, { contract, derived })) yield faultFrom(message)
  }
}

/** What is wrong with stored records: with all of them, when they do not fit the contract as it is now. */
async function* storedFaults(directory: string): AsyncGenerator<SheetFault> {
  const sheet = await openSheet(directory, { transport: noCalls() })
  try {
    const { contract, derivations } = await sheet.deriving()
    const derived = new Set(derivations.derived.keys())
    for (let cursor: string | null = null; ;) {
      const page = await listRecords(sheet, { limit: RECORDS_AT_ONCE, cursor })
      for (const record of JSON.parse(Buffer.from(page.records).toString()) as readonly JsonObject[]) {
        for (const { field, fault } of valueFaults(record, { contract, derived })) {
          const message = `record ${showValue(record['id'] ?? null)}, field "${field}": ${fault}`
          yield { file: 'sheet.db', line: null, message }
        }
      }
      cursor = page.nextCursor
      if (cursor === null) return
    }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    yield faultFrom(error.message)
  } finally {
    await sheet.close()
  }
}

/** Takes a message of the form `<file>:<line>: …` apart. */
function faultFrom(message: string): SheetFault {
  const [, file, line, rest] = /^([\w./-]+\.(?:yaml|jsonl)):(\d+): (.*)$/s.exec(message) ?? []
  if (file !== undefined && line !== undefined && rest !== undefined) {
    return { file, line: Number(line), message: rest }
  }
  const [, named, text] = /^([\w./-]+\.(?:yaml|jsonl|db))[: ]+(.*)$/s.exec(message) ?? []
  return named === undefined || text === undefined
    ? { file: null, line: null, message }
    : { file: named, line: null, message: text }
}
