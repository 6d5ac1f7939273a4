import { basename, resolve } from 'node:path'
import { compareContracts } from '../../contract/rules/compare-contracts.ts'
import type { Contract } from '../../contract/contract.ts'
import { createKinds } from '../../derivation/kinds.ts'
import { ContractError } from '../../errors/service-error.ts'
import type { RevisionFile, TargetChange } from '../../store/revision-store.ts'
import { DefinitionFiles, targetDefinitions } from '../definition/definition-files.ts'
import { noCalls } from '../calls/no-calls.ts'
import { openDefinition, pushToStore, type SheetOptions } from '../open-sheet.ts'

export interface PushOptions {
  /** Who pushes, and who imports the records of a new store. */
  readonly actor: string
  /** Why, for those who come later. */
  readonly note: string | null
  /** Only finds out what would come of it. */
  readonly dryRun: boolean
  readonly lockTimeoutMs: number
  /** Kinds of derivations beside those of the service; see {@link SheetOptions}. */
  readonly kinds?: SheetOptions['kinds']
}

/** What a push came to; with a dry run, what it would come to. */
export interface PushReport {
  /** The name of the sheet's directory. */
  readonly sheet: string
  /** The revision that is in force afterwards, and the one before it, null where there was none. */
  readonly revision: number
  readonly before: number | null
  readonly dryRun: boolean
  /** Whether it made the store, and with it brought the directory's records. */
  readonly created: boolean
  readonly records: number
  readonly files: Changes
  /** The properties of the contract; `changed` are those of another type, or that may refuse what they took before. */
  readonly fields: Changes
  /** The derived fields for which something changes. */
  readonly derivations: readonly TargetChange[]
}

/** Names, each in the order of their kind. */
export interface Changes {
  readonly added: readonly string[]
  readonly changed: readonly string[]
  readonly removed: readonly string[]
}

/**
 * Puts what a directory says a sheet is into a store, as its newest revision; where the schema of the URL has no sheet yet, all
 * that the directory's sheet has. It happens whole or not at all. Throws SheetError where there is no sheet in the directory,
 * ContractError where a file of it is broken, or where stored records would be lost or break the contract, and RecordsError
 * where the store, or the directory's records, cannot be used.
 */
export async function pushSheet(path: string, url: string, options: PushOptions): Promise<PushReport> {
  const directory = resolve(path)
  const definition = new DefinitionFiles(
    await openDefinition(directory),
    createKinds({ transport: noCalls(), own: options.kinds }),
  )
  refuseFaults(definition)
  const contract = definition.contract()
  const targets = targetDefinitions(definition.derivations(contract))
  const files = definition.all()
  const outcome = await pushToStore(url, { ...options, directory, files, contract, targets })
  return {
    sheet: basename(directory),
    revision: outcome.number,
    before: outcome.before?.number ?? null,
    dryRun: options.dryRun,
    created: outcome.created,
    records: outcome.records,
    files: fileChanges(outcome.before?.files ?? [], files),
    fields: fieldChanges(outcome.contractBefore, contract),
    derivations: outcome.targets,
  }
}

/** Tells all faults at once, since whoever pushes wants to mend all of them. */
function refuseFaults(definition: DefinitionFiles): void {
  const faults = definition.faults()
  if (faults.length > 0) throw new ContractError(faults.map(({ message }) => message).join('; '))
}

function fileChanges(before: readonly RevisionFile[], after: readonly RevisionFile[]): Changes {
  const earlier = new Map(before.map(({ path, bytes }) => [path, bytes]))
  const later = new Set(after.map(({ path }) => path))
  const kept = after.filter(({ path }) => earlier.has(path))
  return {
    added: after.filter(({ path }) => !earlier.has(path)).map(({ path }) => path),
    changed: kept
      .filter(({ path, bytes }) => Buffer.compare(bytes, earlier.get(path) ?? bytes) !== 0)
      .map(({ path }) => path),
    removed: before.filter(({ path }) => !later.has(path)).map(({ path }) => path),
  }
}

function fieldChanges(before: Contract | null, after: Contract): Changes {
  if (before === null) return { added: after.fields.map(({ name }) => name), changed: [], removed: [] }
  const { added, removed, retyped, recheck, uniqueAdded } = compareContracts(before, after)
  const changed = new Set([...retyped.map((pair) => pair.after), ...recheck, ...uniqueAdded])
  return {
    added: added.map(({ name }) => name),
    changed: after.fields.filter((field) => changed.has(field)).map(({ name }) => name),
    removed: removed.map(({ name }) => name),
  }
}
