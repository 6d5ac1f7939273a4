import { hash } from 'node:crypto'
import canonicalize from 'canonicalize'
import { firstWrittenNumber } from '../../contract/json/exact-json.ts'
import { own } from '../../contract/odcs/document-shape.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../contract/json/json.ts'

/** A derivation file of folio. */
export interface FolioDerivation {
  /** Its keys, as PyYAML reads them. */
  readonly keys: JsonObject
  /** Hex SHA-256 of the file's bytes. */
  readonly sha256: string
}

/** The other files on which the input hashes of folio depend. */
export interface FolioFiles {
  /** Returns a file inside the sheet; null if there is none. */
  read(path: string): Uint8Array | null
  /** Returns `records.jsonl` of another sheet; null if there is none. */
  foreignRecords(sheet: string): Uint8Array | null
}

/** Returns the input hash of a record. Null if folio has none for these inputs, or if it cannot be computed again. */
export type FolioHash = (record: JsonObject) => string | null

/**
 * Returns the input hashes of a derivation as folio computes them: SHA-256 of canonical JSON (RFC 8785) of the derivation file's hash, the inputs, and the
 * members of its kind. Null for kinds whose hashes cannot be computed again: `sql` hashes all records as they were before its run. `key` is the name
 * of the primary key.
 */
export function folioHashOf(derivation: FolioDerivation, files: FolioFiles, key: string): FolioHash | null {
  const { keys, sha256 } = derivation
  const members = membersOf(keys, files)
  if (members === null) return null
  const inputs = listOf(keys['inputs'])
  const hashed = hasKey(keys) ? [...new Set([...inputs, key])] : [...new Set(inputs)]
  return hashOf(hashed, { derivation_file_hash: sha256, ...members })
}

function hashOf(hashed: readonly string[], members: JsonObject): FolioHash {
  return (record) => {
    const values = hashed.map((name) => [name, own(record, name)] as const)
    if (values.some(([, value]) => firstWrittenNumber(value) !== null)) return null
    return digest({ ...members, inputs: Object.fromEntries(values) })
  }
}

function digest(value: JsonObject): string | null {
  try {
    const text = canonicalize(value)
    return text === undefined ? null : `sha256:${hash('sha256', text, 'hex')}`
  } catch {
    // Texts that are no Unicode.
    return null
  }
}

/** Kinds whose hashed inputs have the primary key. */
function hasKey(keys: JsonObject): boolean {
  return keys['kind'] === 'import' || keys['kind'] === 'cross_sheet'
}

/** Returns the members of the hashed object that a kind adds; null if they are not known. */
function membersOf(keys: JsonObject, files: FolioFiles): JsonObject | null {
  const text = (name: string): string | null => {
    const value = keys[name]
    return typeof value === 'string' ? value : null
  }
  const of = (name: string): JsonValue => keys[name] ?? null
  switch (keys['kind']) {
    case 'ai': {
      const path = text('prompt_ref')
      const prompt = path === null ? text('prompt') : promptOf(files.read(path))
      return prompt === null ? null : { prompt_file_hash: sha256Of(prompt), model: of('model') }
    }
    case 'import': {
      const bytes = files.read(text('source') ?? '')
      return bytes === null ? null : { source_file_hash: sha256Of(bytes) }
    }
    case 'http':
      return {
        url: of('url'),
        method: keys['method'] ?? 'GET',
        headers: isJsonObject(keys['headers']) ? keys['headers'] : {},
        body_template: keys['body_template'] ?? '',
        response_path: of('response_path'),
        response_schema: of('response_schema'),
      }
    case 'python': {
      const script = text('script') ?? ''
      const bytes = files.read(`scripts/${script}.py`) ?? files.read(`scripts/${script}.sh`)
      return {
        script,
        script_file_hash: bytes === null ? 'missing' : sha256Of(bytes),
        output: keys['output'] ?? 'text',
      }
    }
    case 'cross_sheet': {
      const bytes = files.foreignRecords(text('source_sheet') ?? '')
      return {
        source_sheet: of('source_sheet'),
        key_field: of('key_field'),
        value_field: of('value_field'),
        value_fields: of('value_fields'),
        foreign_records_hash: bytes === null ? 'missing' : bytes.length === 0 ? 'empty' : sha256Of(bytes),
      }
    }
    default:
      return null
  }
}

function promptOf(bytes: Uint8Array | null): string | null {
  if (bytes === null) return null
  // Python reads text files with universal line ends.
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes).replace(/\r\n?/g, '\n')
}

function sha256Of(content: string | Uint8Array): string {
  return hash('sha256', content, 'hex')
}

function listOf(value: JsonValue | undefined): string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : []
}
