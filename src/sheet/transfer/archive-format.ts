import { MAX_FIELDS } from '../../contract/odcs/parse-contract.ts'
import { showValue } from '../../contract/json/show-value.ts'
import { MAX_FILE_BYTES } from '../../contract/yaml/yaml-limits.ts'
import { isJsonObject, type JsonValue } from '../../contract/json/json.ts'
import { isSourcePath, MAX_SOURCE_BYTES } from '../../derivation/definition/source-path.ts'
import { ValidationError } from '../../errors/service-error.ts'

/** The archive's manifest, which lists its files. */
export const MANIFEST = 'colophon.json'

const FORMAT = 'colophon-sheet'
const VERSION = 1

/** The recording of the calls of a sheet, which only an archive can have. */
export const RECORDING = 'recording.jsonl'

/** A file of an archive. */
export interface ArchivedFile {
  /** The path in the sheet, with `/` between names. */
  readonly path: string
  readonly bytes: number
  /** SHA-256 in hex. */
  readonly sha256: string
  /** The time of its last change, in whole seconds since 1970. */
  readonly modified: number
}

/** The content of an archive. */
export interface ArchiveManifest {
  readonly records: number
  /** The seq of the last provenance entry. */
  readonly lastSeq: number
  readonly files: readonly ArchivedFile[]
}

/**
 * Files that an archive may contain beside those of `derivations/`; definition files have a size limit of their own.
 */
const FILES: ReadonlyMap<string, 'definition' | 'data'> = new Map([
  ['contract.yaml', 'definition'],
  ['transport.yaml', 'definition'],
  ['records.jsonl', 'data'],
  ['provenance.jsonl', 'data'],
  ['checkpoints.txt', 'data'],
  ['sheet.db', 'data'],
  [RECORDING, 'data'],
])

const DERIVATION = /^derivations\/(?!\.)[^/\\\p{Cc}\uFFFD]+\.yaml$/u

/** The maximum size of the manifest, in bytes. */
export const MAX_MANIFEST_BYTES = 1024 * 1024

/** The most entries of an archive, more than any sheet has files. */
export const MAX_ENTRIES = 2 * MAX_FIELDS + FILES.size + 2

/**
 * Returns the maximum size of a file with this path in bytes; null when only the total is limited, undefined when no
 * sheet has such a file.
 */
export function limitOfPath(path: string): number | null | undefined {
  if (DERIVATION.test(path)) return MAX_FILE_BYTES
  const kind = FILES.get(path)
  if (kind === undefined) return isSourcePath(path) ? MAX_SOURCE_BYTES : undefined
  return kind === 'definition' ? MAX_FILE_BYTES : null
}

/** Whether a path is that of a definition file, or of a source of one. */
export function isDefinitionPath(path: string): boolean {
  return limitOfPath(path) !== undefined && FILES.get(path) !== 'data'
}

/** Returns the text of a manifest. */
export function formatManifest({ records, lastSeq, files }: ArchiveManifest): string {
  const document = {
    format: FORMAT,
    version: VERSION,
    records,
    last_seq: lastSeq,
    files: files.map(({ path, bytes, sha256, modified }) => ({ path, bytes, sha256, modified })),
  }
  return `${JSON.stringify(document, null, 2)}\n`
}

/** Parses a manifest. Throws ValidationError for an invalid one, and one of a later version. */
export function parseManifest(text: string, name: string): ArchiveManifest {
  const document = parsed(text)
  if (!isJsonObject(document) || document['format'] !== FORMAT) {
    throw new ValidationError(`${name}: its ${MANIFEST} is not that of a sheet's archive`, 'invalid_archive')
  }
  const { version, records, last_seq: lastSeq, files } = document
  if (version !== VERSION) {
    throw new ValidationError(
      `${name} is an archive of version ${showValue(version)}; this program reads version ${VERSION}; use a later program`,
      'invalid_archive',
    )
  }
  const list = Array.isArray(files) ? (files as readonly JsonValue[]).map(fileOf) : []
  if (!isCount(records) || !isCount(lastSeq) || !list.every((file) => file !== null)) {
    throw new ValidationError(`${name}: its ${MANIFEST} is damaged`, 'invalid_archive')
  }
  return { records, lastSeq, files: list }
}

function fileOf(value: JsonValue): ArchivedFile | null {
  if (!isJsonObject(value)) return null
  const { path, bytes, sha256, modified } = value
  if (typeof path !== 'string' || typeof sha256 !== 'string') return null
  return isCount(bytes) && isCount(modified) ? { path, bytes, sha256, modified } : null
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
