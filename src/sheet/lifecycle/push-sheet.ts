import { basename, resolve } from 'node:path'
import { compareContracts } from '../../contract/rules/compare-contracts.ts'
import type { Contract } from '../../contract/contract.ts'
import { ContractError } from '../../errors/service-error.ts'
import type { RevisionFile, TargetChange } from '../../store/revision-store.ts'
import { DefinitionFiles, targetDefinitions } from '../definition/definition-files.ts'
import { noCalls } from '../calls/no-calls.ts'
import { loadKinds } from '../definition/load-kinds.ts'
import { openDefinition, pushToStore, type SheetOptions } from '../open-sheet.ts'

export interface PushOptions {
  /** The actor of the push, and of the import of records into a new store. */
  readonly actor: string
  /** The reason, for the list of revisions. */
  readonly note: string | null
  /** Whether only the result is predicted. */
  readonly dryRun: boolean
  readonly lockTimeoutMs: number
  /** Kinds of derivations beside those of the service; see {@link SheetOptions}. */
  readonly kinds?: SheetOptions['kinds']
}

/** The result of a push, or with a dry run its prediction. */
export interface PushReport {
  /** The name of the sheet's directory. */
  readonly sheet: string
  /** The revision in force afterwards, and the one before, null for none. */
  readonly revision: number
  readonly before: number | null
  readonly dryRun: boolean
  /** Whether it created the store and imported the directory's records. */
  readonly created: boolean
  readonly records: number
  readonly files: Changes
  /**
   * The fields of the contract; `changed` are those of another type, or that may refuse values they accepted before.
   */
  readonly fields: Changes
  /** The derived fields that change. */
  readonly derivations: readonly TargetChange[]
}

/** Names that were added, changed and removed. */
export interface Changes {
  readonly added: readonly string[]
  readonly changed: readonly string[]
  readonly removed: readonly string[]
}

/**
 * Pushes a directory's definition files into a store as its newest revision, and the first time the whole sheet. Whole
 * or not at all. Throws SheetError when the directory has no sheet, ContractError when one of its files is broken, or
 * when stored records would be lost or violate the contract, and RecordsError when the store or the directory's records
 * cannot be used.
 */
export async function pushSheet(path: string, url: string, options: PushOptions): Promise<PushReport> {
  const directory = resolve(path)
  const kinds = await loadKinds({ dialect: 'postgres', transport: noCalls(), own: options.kinds })
  const definition = new DefinitionFiles(await openDefinition(directory), kinds)
  refuseFaults(definition)
  const contract = definition.contract()
  const derivations = await definition.derivations(contract)
  const targets = targetDefinitions(derivations)
  const formulas = derivations.levels.flat().flatMap((derivation) => derivation.formulas)
  const files = definition.all()
  const outcome = await pushToStore(url, { ...options, directory, files, contract, targets, formulas })
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

/** Throws all errors at once, so that they can be fixed together. */
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
