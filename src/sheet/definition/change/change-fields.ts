import type { Contract } from '../../../contract/contract.ts'
import {
  addField,
  changeField,
  removeField,
  renameField,
  type FieldSettings,
  type NewField,
} from '../../../contract/edit/edit-fields.ts'
import { lineChanges, type LineChange } from '../../../contract/edit/line-changes.ts'
import { showValue } from '../../../contract/json/show-value.ts'
import { parseContract } from '../../../contract/odcs/parse-contract.ts'
import { brokenFields, changedIndexes, type IndexChange } from '../../../contract/rules/changed-indexes.ts'
import { classifyChanges, type DefinitionChange } from '../../../contract/rules/classify-changes.ts'
import { didYouMean } from '../../../derivation/definition/did-you-mean.ts'
import { ContractError, OperationError, PreconditionFailedError } from '../../../errors/service-error.ts'
import type { Conversion } from '../../../store/field-changes.ts'
import type { SheetStore } from '../../../store/sheet-store.ts'
import type { GivenActor } from '../../resolve-actor.ts'
import type { Sheet } from '../../sheet.ts'
import type { DefinitionFile, DefinitionFiles } from '../definition-files.ts'
import { bytesOfText, checkName, unknownFile } from './derivation-file.ts'
import { definitionText, type DefinitionText } from '../definition-text.ts'
import { validOrNull } from '../valid-or-null.ts'
import {
  changeInTurn,
  checkMayChange,
  otherPaths,
  checkVersion,
  refusal,
  versionOf,
  type DefinitionReport,
  type FieldRequests,
  type FileEdit,
} from './change-definition.ts'

/** The effect of a change of the contract, what it changes, and how the files are edited. */
export interface ContractReport extends DefinitionReport {
  readonly changes: readonly DefinitionChange[]
  readonly indexes: readonly IndexChange[]
  /** The names before of the fields whose readers break; see {@link brokenFields}. */
  readonly breaks: readonly string[]
  /** The lines of the files that differ. */
  readonly edits: readonly LineChange[]
  /** The scripts that get a renamed field by its new name, and are not edited; each a sentence. */
  readonly unedited: readonly string[]
  /** The version of the contract after the change; with a dry run that of the present one. */
  readonly version: string
}

/** The options of a change of the contract. */
export interface ContractOptions {
  readonly actor: GivenActor
  readonly note: string | null
  /** The versions of `contract.yaml` of which the present one must be; see {@link FileEdit}. */
  readonly ifMatch: FileEdit['ifMatch']
  readonly dryRun: boolean
  /** See {@link DefinitionEdit.signal}. */
  readonly signal?: AbortSignal | undefined
  /** See {@link DefinitionEdit.proposes}. */
  readonly proposes?: boolean
  /** The texts of derivation files that change together with the contract, by their names; null removes a file. */
  readonly derivations?: ReadonlyMap<string, string | null>
}

/** A change of a field. */
export interface FieldChange extends FieldSettings {
  readonly newName?: string | undefined
  /** Whether values that another type does not allow refuse the change, or are lost. */
  readonly onInvalid: Conversion['onInvalid']
  /** Whether a new name is also written into `x-inputs` of other fields; otherwise these refuse it. */
  readonly editInputs: boolean
}

/** Another contract, with the changes of fields that it asks for. */
export interface NewContract {
  /** The text of the file. */
  readonly text: string
  /** New names by the names before. */
  readonly renamed: ReadonlyMap<string, string>
  /** The conversions of the values of fields with another type, by their new names; by default `refuse`. */
  readonly converted: ReadonlyMap<string, Conversion['onInvalid']>
  /** The numbers of values that may be lost, by the names of removed fields. */
  readonly confirmed: ReadonlyMap<string, number>
  /** The derivation files that change with it, by their names. */
  readonly derivations?: ReadonlyMap<string, NewDerivation>
  /** Whether the texts of `derivations` name the fields as before the change, so that renamed ones are edited in them; otherwise they stay as they are. */
  readonly renameInDerivations?: boolean | undefined
}

/** The text of a derivation file that changes with the contract. */
export interface NewDerivation {
  /** Null removes the file. */
  readonly bytes: Uint8Array | null
  /** The version, hex SHA-256, that it must still have; null for no condition. */
  readonly version: string | null
}

const CONTRACT = 'contract.yaml'

/** Attempts while others change the contract at the same time. */
const TRIES = 10

const NO_REQUESTS = { renamed: new Map(), removed: new Map(), converted: new Map() }

/**
 * Adds a field at the end of the contract. Throws OperationError where there is a field of that name, and as {@link changeDefinition} does.
 */
export function addContractField(
  sheet: Sheet,
  field: NewField,
  options: ContractOptions,
): Promise<ContractReport> {
  return changeContract(sheet, options, ({ contract }) => ({ text: addField(contract, field) }))
}

/**
 * Changes a field, and with a new name also the derivations that name it; its values are kept, and converted to another type. Throws
 * SheetError for an unknown field, OperationError for the primary key, for a name that is in use, and where `x-inputs` of another field
 * names it, and as {@link changeDefinition} does.
 */
export function changeContractField(
  sheet: Sheet,
  name: string,
  { change, ...options }: ContractOptions & { readonly change: FieldChange },
): Promise<ContractReport> {
  const { newName = name, onInvalid, editInputs, ...settings } = change
  return changeContract(sheet, options, ({ contract, files }) => {
    const before = contract.fieldByName.get(name)
    const changed = changeField(contract, name, settings)
    const isRenamed = newName !== name
    // The texts of both edits are those of a valid contract, except for settings that the whole change refuses.
    const base = { ...contract, text: changed }
    const text = isRenamed ? renameField(base, { name, newName, inputs: editInputs }) : changed
    // The change as a whole is refused with the error of the text: no file is edited for a name that no field can have.
    if (parsed(text) === null) return { text }
    const isConverted = settings.logicalType !== undefined && settings.logicalType !== before?.type
    return {
      text,
      files: isRenamed ? files.renamed({ from: name, to: newName, contract }) : [],
      changes: {
        ...NO_REQUESTS,
        renamed: new Map(isRenamed ? [[name, newName]] : []),
        converted: new Map(isConverted ? [[newName, { onInvalid }]] : []),
      },
    }
  })
}

/**
 * Removes a field; its values stay in the log. Throws SheetError for an unknown field, OperationError for the primary key, for a derived or
 * referenced field, and where `confirm` is not the number of its values, and as {@link changeDefinition} does.
 */
export function removeContractField(
  sheet: Sheet,
  name: string,
  { confirm, ...options }: ContractOptions & { readonly confirm: number | null },
): Promise<ContractReport> {
  return changeContract(sheet, options, async ({ contract, files }) => {
    const given = givenEdits(options.derivations, files.texts())
    const { byTarget } = await withGiven(files, given).derivations(contract)
    return {
      text: removeField(contract, name, byTarget.get(name)?.file ?? null),
      changes: { ...NO_REQUESTS, removed: new Map([[name, confirm]]) },
    }
  })
}

/**
 * Returns the change of derivations with which a derived field is removed: its file is. Null for a field that is not derived. Throws
 * OperationError for a file that computes other fields too, and ContractError while the definition is not valid.
 */
export async function derivationRemoved(
  sheet: Sheet,
  name: string,
): Promise<ReadonlyMap<string, null> | null> {
  const derivation = (await sheet.defined()).derivations.byTarget.get(name)
  if (derivation === undefined) return null
  const { file, targets } = derivation
  const others = targets.filter((target) => target !== name)
  if (others.length === 0) return new Map([[file, null]])
  throw new OperationError(
    `derivations/${file} computes ${others.join(', ')} too; take "${name}" out of its targets, and then remove the field`,
    'definition_refused',
  )
}

/**
 * Replaces the contract. Fields of another name are renamed as {@link changeContractField} does, those of another type converted, and those
 * that are absent removed. Throws OperationError for a derivation that names a removed field whose name another one takes, and as
 * {@link changeDefinition} does. `repairs`: whether the present contract need not be valid.
 */
export function writeContract(
  sheet: Sheet,
  contractOf: (present: Contract) => NewContract,
  options: ContractOptions & { readonly repairs: boolean },
): Promise<ContractReport> {
  return changeContract(sheet, options, ({ contract, files }) => {
    const edited = contractOf(contract)
    const { text, renamed: given, converted, confirmed, derivations = new Map() } = edited
    const givenFiles = derivationEdits(derivations, files.texts())
    checkRenamed(contract, given)
    const after = parsed(text)
    // The change as a whole is refused with the error of the text.
    if (after === null) return { text, files: givenFiles }
    const renamed = new Map([...sameIds(contract, after), ...given])
    // A request for another name is refused with the change; no file is edited for it.
    const possible = new Map(
      [...renamed].filter(([from, to]) => contract.fieldByName.has(from) && after.fieldByName.has(to)),
    )
    const nameBefore = new Map(Array.from(renamed, ([from, to]) => [to, from]))
    const kept = new Set(after.fields.map(({ name }) => nameBefore.get(name) ?? name))
    const removed = contract.fields.filter(({ name }) => !kept.has(name)).map(({ name }) => name)
    const retyped = after.fields.filter(({ name, type }) => {
      const before = contract.fieldByName.get(nameBefore.get(name) ?? name)
      return before !== undefined && before.type !== type
    })
    for (const name of removed) if (after.fieldByName.has(name)) refuseReaders(files, contract, name)
    const changed = edited.renameInDerivations === true ? withGiven(files, givenFiles) : files
    const follow = renamedFiles(changed, contract, possible)
    return {
      text,
      files: edited.renameInDerivations === true ? joined(givenFiles, follow) : joined(follow, givenFiles),
      changes: {
        renamed,
        removed: new Map(removed.map((name) => [name, confirmed.get(name) ?? null])),
        converted: new Map(retyped.map(({ name }) => [name, { onInvalid: converted.get(name) ?? 'refuse' }])),
      },
    }
  })
}

type GivenFile = Pick<FileEdit, 'path' | 'bytes'>

function withGiven(files: DefinitionFiles, given: readonly GivenFile[]): DefinitionFiles {
  return files.withChanges(new Map(given.map(({ path, bytes }) => [path, bytes])))
}

/** Joins files; of one that both have, the later is taken. */
function joined(files: readonly GivenFile[], later: readonly GivenFile[]): readonly GivenFile[] {
  return [...files.filter(({ path }) => !later.some((file) => file.path === path)), ...later]
}

/** Throws OperationError for another name of a field that the contract does not have. */
function checkRenamed({ fieldByName }: Contract, renamed: ReadonlyMap<string, string>): void {
  const unknown = [...renamed.keys()].find((name) => !fieldByName.has(name))
  if (unknown === undefined) return
  const hint = didYouMean(unknown, fieldByName.keys())
  throw new OperationError(
    `renamed names ${showValue(unknown)}, which is no field of the contract${hint}`,
    'definition_refused',
  )
}

/** Returns the changes of derivation files. Throws as {@link checkName} and {@link checkVersion} do, and SheetError where a file to remove does not exist. */
function derivationEdits(
  derivations: ReadonlyMap<string, NewDerivation>,
  texts: ReadonlyMap<string, Uint8Array>,
): readonly GivenFile[] {
  return Array.from(derivations, ([file, { bytes, version }]) => {
    checkName(file)
    const path = `derivations/${file}`
    if (bytes === null && !texts.has(path)) throw unknownFile(file, texts)
    checkVersion(path, texts.get(path) ?? null, version === null ? null : [version])
    return { path, bytes }
  })
}

function givenEdits(
  derivations: ContractOptions['derivations'] = new Map(),
  texts: ReadonlyMap<string, Uint8Array>,
): readonly GivenFile[] {
  const given = Array.from(derivations, ([file, text]) => {
    const bytes = text === null ? null : bytesOfText(text)
    return [file, { bytes, version: null }] as const
  })
  return derivationEdits(new Map(given), texts)
}

/** Throws OperationError for a derivation that names a removed field whose name another one takes: it would read that one. */
function refuseReaders(files: DefinitionFiles, contract: Contract, name: string): void {
  const [file] = files.renamed({ from: name, to: unusedName(files.texts()), contract })
  if (file === undefined) return
  const [first] = editsOf(file, files.texts(otherPaths([file])))
  throw new OperationError(
    `${file.path}:${first?.line ?? 1}: the change removes the field "${name}", and another field takes its name, which this derivation would read then; ` +
      'edit or remove the derivation first',
    'definition_refused',
  )
}

/** Returns a name that depends on all texts, so that none of them has it; PostgreSQL takes names of up to 63 bytes. */
function unusedName(texts: ReadonlyMap<string, Uint8Array>): string {
  return `passing_${versionOf(Buffer.concat([...texts.values()]))?.slice(0, 40)}`
}

/** Returns the new names of fields whose `id` in the standard stays. */
function sameIds(before: Contract, after: Contract): readonly (readonly [string, string])[] {
  const names = new Map(idsOf(before))
  return idsOf(after).flatMap(([id, name]) => {
    const earlier = names.get(id)
    const isRenamed = earlier !== undefined && earlier !== name
    return isRenamed && !after.fieldByName.has(earlier) && !before.fieldByName.has(name)
      ? [[earlier, name]]
      : []
  })
}

function idsOf({ document }: Contract): readonly (readonly [string, string])[] {
  const [entry] = document['schema'] as readonly {
    readonly properties?: readonly Record<string, unknown>[]
  }[]
  return (entry?.properties ?? []).flatMap(({ id, name }) =>
    typeof id === 'string' && typeof name === 'string' ? [[id, name] as const] : [],
  )
}

/** Returns the derivation files for several new names, which may swap. Throws as {@link DefinitionFiles.renamed} does. */
function renamedFiles(
  files: DefinitionFiles,
  contract: Contract,
  renamed: ReadonlyMap<string, string>,
): readonly DefinitionFile[] {
  const texts = new Map<string, Uint8Array>()
  let current = contract
  for (const [from, to] of oneByOne(renamed, files.texts())) {
    const known = texts.size === 0 ? files : files.withChanges(texts)
    for (const { path, bytes } of known.renamed({ from, to, contract: current })) texts.set(path, bytes)
    const fields = current.fields.map((field) => (field.name === from ? { ...field, name: to } : field))
    current = { ...current, fields, fieldByName: new Map(fields.map((field) => [field.name, field])) }
  }
  return [...texts].map(([path, bytes]) => ({ path, bytes }))
}

/** Returns new names that can be given one after the other: where one of them is the name of another field before, all pass through others. */
function oneByOne(
  renamed: ReadonlyMap<string, string>,
  texts: ReadonlyMap<string, Uint8Array>,
): readonly (readonly [from: string, to: string])[] {
  const names = [...renamed]
  if (!names.some(([, to]) => renamed.has(to))) return names
  const prefix = unusedName(texts)
  const passing = names.map((_, index) => `${prefix}_${index}`)
  return [
    ...names.map(([from], index) => [from, passing[index] as string] as const),
    ...names.map(([, to], index) => [passing[index] as string, to] as const),
  ]
}

interface Present {
  readonly contract: Contract
  readonly files: DefinitionFiles
}

interface Edited {
  readonly text: string
  /** Derivation files with other texts; null removes one. */
  readonly files?: readonly GivenFile[]
  readonly changes?: FieldRequests
}

/** The contract on which a change is based, and the text of its file. */
interface ContractFile extends DefinitionText {
  readonly contract: Contract
}

function presentContract(files: DefinitionFiles, bytes: Uint8Array | null): ContractFile {
  return { contract: files.contract(), ...definitionText(bytes ?? new Uint8Array(), CONTRACT) }
}

/** Returns the present contract; for a file that is not valid, or missing, the one that the store still follows. */
async function presentOrStored(
  store: SheetStore,
  files: DefinitionFiles,
  bytes: Uint8Array | null,
): Promise<ContractFile> {
  const present = validOrNull(() => presentContract(files, bytes))
  if (present !== null) return present
  const contract = parseContract(await store.contractText())
  const encode = (text: string): Uint8Array => Buffer.from(text)
  return { contract, text: Buffer.from(bytes ?? []).toString(), encode }
}

type ContractEdit = (present: Present) => Edited | Promise<Edited>

async function changeContract(
  sheet: Sheet,
  options: ContractOptions & { readonly repairs?: boolean },
  edit: ContractEdit,
): Promise<ContractReport> {
  checkMayChange(sheet)
  // The contract is read in turn too: of many requests at once, none is based on an outdated one for long.
  return sheet.changingDefinition(() => changeContractInTurn(sheet, options, edit))
}

async function changeContractInTurn(
  sheet: Sheet,
  { ifMatch, repairs = false, derivations, ...options }: ContractOptions & { readonly repairs?: boolean },
  edit: ContractEdit,
): Promise<ContractReport> {
  for (let tries = 1; ; tries += 1) {
    const { store, files } = await sheet.definition()
    const bytes = files.texts().get(CONTRACT) ?? null
    const { contract, text, encode } = await refusing(() =>
      repairs ? presentOrStored(store, files, bytes) : presentContract(files, bytes),
    )
    const version = versionOf(bytes)
    const edited = await refusing(() => edit({ contract, files }))
    const given = givenEdits(derivations, files.texts())
    const edits = joined(edited.files ?? [], given)
    const texts = files.texts(otherPaths(edits))
    const isExpected =
      ifMatch === null || (version !== null && (ifMatch === '*' || ifMatch.includes(version)))
    const own: FileEdit = {
      path: CONTRACT,
      bytes: encode(edited.text),
      ifMatch: isExpected && version !== null ? [version] : ifMatch,
    }
    const others = edits.map((file): FileEdit => {
      const present = versionOf(texts.get(file.path) ?? null)
      return { ...file, ifMatch: present === null ? null : [present], ifAbsent: present === null }
    })
    const unedited = await scriptsNotEdited(files, contract, edited.changes?.renamed ?? new Map())
    try {
      const { changes } = edited
      const report = await changeInTurn(sheet, {
        ...options,
        files: [own, ...others],
        ...(changes !== undefined && { changes }),
      })
      const after = edited.text === text ? contract : parseContract(edited.text)
      const classified = classifyChanges(contract, after, changes?.renamed)
      return {
        ...report,
        changes: classified,
        indexes: changedIndexes(contract, after, changes?.renamed),
        breaks: brokenFields(classified, changes?.renamed),
        edits: [
          ...lineChanges(CONTRACT, text, edited.text),
          ...others.flatMap((file) => editsOf(file, texts)),
        ],
        unedited,
        version: (options.dryRun ? version : versionOf(own.bytes)) ?? '',
      }
    } catch (error) {
      // A change of another process came between; if the condition of the request holds still, it is made for the present definition.
      const isRetried = error instanceof PreconditionFailedError && isExpected
      if (!isRetried || tries === TRIES) throw error
    }
  }
}

/** Says which scripts get renamed inputs; none while the present derivations are not valid. */
async function scriptsNotEdited(
  files: DefinitionFiles,
  contract: Contract,
  renamed: ReadonlyMap<string, string>,
): Promise<readonly string[]> {
  if (renamed.size === 0) return []
  try {
    const { levels } = await files.withChanges(new Map()).derivations(contract)
    return levels
      .flat()
      .flatMap(({ file, inputs, resources }) =>
        resources
          .filter(({ type }) => type === 'process')
          .flatMap(({ name: script }) =>
            inputs
              .filter((input) => renamed.has(input))
              .map(
                (input) =>
                  `${script} is not edited: by derivations/${file} it gets the input "${input}" as "${renamed.get(input)}"`,
              ),
          ),
      )
  } catch (error) {
    if (error instanceof ContractError) return []
    throw error
  }
}

function editsOf(
  { path, bytes }: Pick<FileEdit, 'path' | 'bytes'>,
  texts: ReadonlyMap<string, Uint8Array>,
): readonly LineChange[] {
  const [before, after] = [texts.get(path) ?? null, bytes].map((each) =>
    each === null ? '' : definitionText(each, path).text,
  )
  return lineChanges(path, before ?? '', after ?? '')
}

/** Edits files. Throws OperationError for a place of a derivation that cannot be edited. */
async function refusing<T>(edit: () => T | Promise<T>): Promise<T> {
  try {
    return await edit()
  } catch (error) {
    throw error instanceof ContractError ? refusal(error) : error
  }
}

function parsed(text: string): Contract | null {
  return validOrNull(() => parseContract(text))
}
