import { showValue } from '../../../contract/json/show-value.ts'
import { ServiceError, SheetError, ValidationError } from '../../../errors/service-error.ts'
import { readStatus } from '../../cells/read-status.ts'
import type { GivenActor } from '../../resolve-actor.ts'
import { startMaterialize, type StartedRun } from '../../runs/materialize.ts'
import type { Sheet } from '../../sheet.ts'
import {
  changeDefinition,
  versionOf,
  type DefinitionEdit,
  type DefinitionReport,
} from './change-definition.ts'

/** A definition file as it is, valid or not. */
export interface DefinitionFileText {
  /** `contract.yaml`, or the name of a derivation file in `derivations/`. */
  readonly file: string
  readonly text: string
  /** Hex SHA-256 of its bytes. */
  readonly version: string
}

/** The most bytes of a name; file systems allow 255. */
const MAX_NAME_BYTES = 200

/** A name in the folder that is listed: no path, not hidden, and the same on every file system. */
const NAME = /^(?!\.)[^/\\\p{Cc}\uFFFD]+\.yaml$/u

/** Reads a derivation file, also one that is not valid. Throws SheetError when it does not exist. */
export async function readDerivationFile(sheet: Sheet, file: string): Promise<DefinitionFileText> {
  const texts = await sheet.texts()
  const bytes = texts.get(`derivations/${file}`)
  if (bytes === undefined) throw unknownFile(file, texts)
  return { file, text: Buffer.from(bytes).toString(), version: versionOf(bytes) as string }
}

/** Reads `contract.yaml`, also when it is not valid. Throws SheetError when it does not exist. */
export async function readContractFile(sheet: Sheet): Promise<DefinitionFileText> {
  const bytes = (await sheet.texts()).get('contract.yaml')
  if (bytes === undefined) throw new SheetError('the sheet has no contract.yaml; write the file')
  return { file: 'contract.yaml', text: Buffer.from(bytes).toString(), version: versionOf(bytes) as string }
}

/** The options of a change of a derivation file. */
export type DerivationFileOptions = Omit<DefinitionEdit, 'files' | 'reverts'> & {
  /** See {@link FileEdit.ifMatch}. */
  readonly ifMatch: readonly string[] | '*' | null
  /** See {@link FileEdit.ifMatch}. */
  readonly ifAbsent?: boolean
}

/**
 * Writes a derivation file, new or not; see {@link changeDefinition}, also for its errors. Throws ValidationError for a name that
 * no derivation file can have, and for a text with lone surrogates.
 */
export async function writeDerivationFile(
  sheet: Sheet,
  { file, text }: { readonly file: string; readonly text: string },
  { ifMatch, ifAbsent = false, ...options }: DerivationFileOptions,
): Promise<DefinitionReport> {
  checkName(file)
  const bytes = bytesOfText(text)
  return changeDefinition(sheet, {
    ...options,
    files: [{ path: `derivations/${file}`, bytes, ifMatch, ifAbsent }],
  })
}

/**
 * Removes a derivation file: its targets become ordinary fields and keep their values. See {@link changeDefinition}, also for its
 * errors. Throws SheetError when the file does not exist.
 */
export async function removeDerivationFile(
  sheet: Sheet,
  file: string,
  { ifMatch, ...options }: Omit<DerivationFileOptions, 'ifAbsent'>,
): Promise<DefinitionReport> {
  const path = `derivations/${file}`
  if (ifMatch === null) {
    const texts = (await sheet.definition()).files.texts()
    if (!texts.has(path)) throw unknownFile(file, texts)
  }
  return changeDefinition(sheet, { ...options, files: [{ path, bytes: null, ifMatch }] })
}

/**
 * Starts the run that marks the stale values of a file as fresh, see `keepFresh` of a run, whichever change made them stale; null where no
 * cell of it is stale, and for a dry run. Throws as {@link startMaterialize} does.
 */
export async function keepValues(
  sheet: Sheet,
  { dryRun }: DefinitionReport,
  { file, actor }: { readonly file: string; readonly actor: GivenActor },
): Promise<StartedRun | null> {
  if (dryRun) return null
  // Of some kinds a cell is compared with the changed file only when states are read.
  const states = Object.values(await readStatus(sheet, null))
  if (!states.some(({ derivation, stale }) => derivation === file && stale > 0)) return null
  return startMaterialize(sheet, { targets: null, recordIds: null, force: false, keepFresh: file, actor })
}

/** The outcome of the run that {@link tryKeepValues} starts. */
export interface KeptValues {
  readonly run: StartedRun | null
  /** The error with which the run could not start; null for none. */
  readonly error: ServiceError | null
}

/** The outcome of a change that keeps no values. */
export const NO_RUN: KeptValues = { run: null, error: null }

/** Starts a run as {@link keepValues} does, and returns why it could not start: the file is changed then already. */
export async function tryKeepValues(...of: Parameters<typeof keepValues>): Promise<KeptValues> {
  try {
    return { run: await keepValues(...of), error: null }
  } catch (error) {
    if (error instanceof ServiceError) return { run: null, error }
    throw error
  }
}

/** Returns the bytes of a text. Throws ValidationError for one with lone surrogates. */
export function bytesOfText(text: string): Uint8Array {
  if (text.isWellFormed()) return Buffer.from(text)
  throw new ValidationError('text has a lone surrogate, which is no character; send valid Unicode')
}

/** Throws ValidationError for a name that no derivation file can have. */
export function checkName(file: string): void {
  if (NAME.test(file) && file.isWellFormed() && Buffer.byteLength(file) <= MAX_NAME_BYTES) return
  throw new ValidationError(
    `the file name ${showValue(file)} cannot be used; a derivation file has a name of at most ${MAX_NAME_BYTES} bytes ` +
      'that ends in .yaml, does not begin with a dot, and has no slash, backslash or control character',
  )
}

/** Returns the error of a file that does not exist. */
export function unknownFile(file: string, texts: ReadonlyMap<string, Uint8Array>): SheetError {
  const names = [...texts.keys()].flatMap((path) => (path.startsWith('derivations/') ? [path.slice(12)] : []))
  return new SheetError(
    `no derivation ${showValue(file)}; ${names.length === 0 ? 'the sheet has none' : `there are ${names.join(', ')}`}`,
    'unknown_derivation',
  )
}
