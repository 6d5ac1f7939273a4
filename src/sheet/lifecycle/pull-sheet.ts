import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { OperationError } from '../../errors/service-error.ts'
import { limitOfPath } from '../transfer/archive-format.ts'
import { copySheet } from '../transfer/copy-sheet.ts'
import type { DefinitionFile } from '../definition/definition-files.ts'
import { checkFree, stageSheet } from './init-staging.ts'
import { writeGitignore } from './new-sheet-files.ts'
import { noCalls } from '../calls/no-calls.ts'
import { openSheet } from '../open-sheet.ts'
import type { Sheet } from '../sheet.ts'

/** The result of a pull. */
export interface PullReport {
  readonly records: number
  /** The seq of the last provenance entry. */
  readonly lastSeq: number
  /** Names of the definition files. */
  readonly files: readonly string[]
}

/**
 * Creates a directory with a whole sheet as it is at one moment: its definition files, records, log and store. Whole or
 * not at all; overwrites nothing. Throws SheetError when a file is in the way, and as reading the sheet does.
 */
export async function pullSheet(sheet: Sheet, path: string): Promise<PullReport> {
  checkFree(path)
  return stageSheet(path, async (staging) => {
    const { definitions, snapshot } = await copySheet(sheet, staging)
    for (const file of definitions) await writeDefinition(staging, file)
    await writeGitignore(staging)
    await checkOpens(staging, snapshot.records)
    const { records, lastSeq } = snapshot
    return { records, lastSeq, files: definitions.map((file) => file.path) }
  })
}

async function writeDefinition(directory: string, { path, bytes }: DefinitionFile): Promise<void> {
  // The store may be untrusted: the names of its files must not lead out of the directory.
  if (limitOfPath(path) === undefined)
    throw new OperationError(`the store has a file ${path}, which does not belong in a sheet`)
  const target = join(directory, ...path.split('/'))
  await mkdir(dirname(target), { recursive: true })
  await writeFile(target, bytes, { flag: 'wx' })
}

/** Opens the sheet as a check. */
async function checkOpens(directory: string, records: number): Promise<void> {
  const sheet = await openSheet(directory, { transport: noCalls() })
  try {
    const { store } = await sheet.deriving()
    const { total } = await store.status()
    if (total !== records) throw new Error(`a copy of ${records} records has ${total}`)
  } finally {
    await sheet.close()
  }
}
