import { createHash } from 'node:crypto'
import canonicalize from 'canonicalize'
import type { Contract } from '../contract/contract.ts'
import { isJsonObject } from '../contract/json/json.ts'
import type { JsonObject, JsonValue } from '../contract/json/json.ts'
import { nearest } from '../contract/nearest.ts'
import { showValue } from '../contract/json/show-value.ts'
import { parseYamlFile } from '../contract/yaml/yaml-file.ts'
import type { YamlFile } from '../contract/yaml/yaml-file.ts'
import { ContractError, fileError } from '../errors/service-error.ts'
import {
  checkMaterialization,
  COMMON_KEYS,
  readRetryFailedAfter,
  readSkipBlank,
} from './definition/common-keys.ts'
import { didYouMean } from './definition/did-you-mean.ts'
import type { Derivation, DerivationKind, Source } from './definition/derivation-kind.ts'
import { isOtherSheetPath, isSourcePath, SOURCE_ENDINGS } from './definition/source-path.ts'
import type { Kinds } from './kinds.ts'

/** A file of `derivations/` as read. */
export interface DerivationSource {
  /** Its name in `derivations/`. */
  readonly file: string
  readonly bytes: Uint8Array
  /** Reads other files of the sheet; absent if it has none. */
  readonly read?: (path: string) => Source
}

/**
 * Reads a derivation file and checks it against the contract. A key whose value is null counts as absent. Throws
 * ContractError `derivations/<file>:<line>: …` (D20).
 */
export function parseDerivation(source: DerivationSource, contract: Contract, kinds: Kinds): Derivation {
  const file = `derivations/${source.file}`
  const text = decode(source.bytes, file)
  const yaml = parseYamlFile(text, file)
  const keys = presentKeys(yaml)

  const kind = readKind(keys, yaml, kinds)
  const targets = readFields('targets', keys, { yaml, contract })
  if (targets.length === 0)
    yaml.fail(['targets'], 'targets is empty; name the fields that this derivation fills')
  const idAt = targets.indexOf('id')
  if (idAt !== -1) yaml.fail(['targets', idAt], 'id cannot be a target; records are known by it')
  const needsInputs = kind.needsListedInputs ?? true
  const inputs =
    needsInputs || Object.hasOwn(keys, 'inputs') ? readFields('inputs', keys, { yaml, contract }) : []

  const failAt = (key: string, message: string): never => yaml.fail([key], message)
  const skipBlank = readSkipBlank(keys, failAt)
  const retryFailedAfterMs = readRetryFailedAfter(keys, failAt)
  checkMaterialization(keys, failAt)

  if (skipBlank && kind.stepsOf !== undefined) {
    yaml.fail(['skip_blank'], 'skip_blank is a key of steps here; write it into each step that needs it')
  }
  const rest: Surroundings = {
    file: source.file,
    yaml,
    contract,
    kinds,
    source: source.read,
    targets,
    inputs,
  }
  return {
    ...parseKind(ownKeys(keys), { ...rest, kind, skipBlank, at: [] }),
    sha256: createHash('sha256').update(source.bytes).digest('hex'),
    text,
    retryFailedAfterMs,
  }
}

/** The context that a derivation and its steps share. */
interface Surroundings {
  /** Its name in `derivations/`. */
  readonly file: string
  readonly yaml: YamlFile
  readonly contract: Contract
  readonly kinds: Kinds
  readonly source: DerivationSource['read']
  readonly targets: readonly string[]
  /** The listed inputs. */
  readonly inputs: readonly string[]
}

/** A derivation in a file: the file itself, or a step of it. */
interface PartOfFile extends Surroundings {
  readonly kind: DerivationKind
  readonly skipBlank: boolean
  /** Its place in the file. */
  readonly at: Place
}

/** Reads the keys of a kind. Throws ContractError. */
function parseKind(
  own: JsonObject,
  part: PartOfFile,
): Omit<Derivation, 'sha256' | 'text' | 'retryFailedAfterMs'> {
  const { yaml, contract, kinds, kind, targets, inputs, skipBlank, at } = part
  const parsed = kind.parse(own, targets, {
    contract,
    file: `derivations/${part.file}`,
    inputs: part.inputs,
    source: part.source,
    step: (path, keys) => parseStep(keys, { ...part, at: [...at, ...path] }),
    fail: (path, message) => yaml.fail([...at, ...path], message),
  })
  const sourcePaths = parsed.sources ?? []
  const sheetPaths = parsed.sheets ?? []
  if (kind.stepsOf === undefined) {
    checkPaths(sourcePaths, isSourcePath, (path) =>
      yaml.fail(
        [...at, ...keyOf(path, own)],
        `${showValue(path)} cannot be a source; name a file inside the sheet that ends in ${SOURCE_ENDINGS.join(', ')}`,
      ),
    )
    checkPaths(sheetPaths, isOtherSheetPath, (path) =>
      yaml.fail(
        [...at, ...keyOf(path, own)],
        `${showValue(path)} cannot be another sheet; name a directory beside this sheet, such as ../customers`,
      ),
    )
  }
  // Then every value that is sent is required, also in a body.
  const requiredInputs = skipBlank ? parsed.usedFields : parsed.requiredFields
  const isText = (name: string): boolean => contract.fieldByName.get(name)?.type === 'string'
  return {
    file: part.file,
    kind,
    spec: parsed.spec,
    targets,
    inputs: [...new Set([...inputs, ...parsed.usedFields])],
    requiredInputs,
    nonEmptyInputs: skipBlank ? requiredInputs.filter(isText) : [],
    resources: parsed.resources,
    sourcePaths,
    formulas: parsed.formulas ?? [],
    sheetPaths,
    sources: null,
    reads: parsed.reads ?? null,
    // Each step is refused by itself.
    refusal: kind.stepsOf === undefined ? kinds.refusalOf(parsed.resources) : null,
  }
}

/** The common keys that only a file can have. */
const KEYS_OF_FILES: readonly string[] = ['targets', 'retry_failed_after', 'materialization']

/**
 * Reads a part of a file as a derivation of any kind without steps. Its inputs are those that it lists or, where it lists none, those that
 * the file lists. In place of the hash of the file it has that of its own keys in canonical JSON. Throws ContractError.
 */
function parseStep(value: JsonObject, around: PartOfFile): Derivation {
  const { yaml, contract, kinds, targets, at } = around
  const keys = Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null))
  const ofFile = KEYS_OF_FILES.find((key) => Object.hasOwn(keys, key))
  if (ofFile !== undefined) {
    yaml.fail([...at, ofFile], `${ofFile} is a key of the whole file, and holds for all steps; move it there`)
  }
  const kind = readKind(keys, yaml, kinds, at)
  if (kind.stepsOf !== undefined) {
    yaml.fail([...at, 'kind'], `a step cannot be of kind ${kind.name}; write its steps into this list`)
  }
  const inputs = Object.hasOwn(keys, 'inputs')
    ? readFields('inputs', keys, { yaml, contract, at })
    : kind.readsListedInputs === false
      ? []
      : around.inputs
  const skipBlank = readSkipBlank(keys, (key, message) => yaml.fail([...at, key], message))
  const definition = canonicalize({ ...keys, targets: [...targets], inputs: [...inputs] }) ?? ''
  const parsed = parseKind(ownKeys(keys), { ...around, kind, inputs, skipBlank })
  if (parsed.reads !== null) {
    yaml.fail(
      at,
      'a step cannot read all records; compute another field by this query, and use that in the step',
    )
  }
  return {
    ...parsed,
    sha256: createHash('sha256').update(definition).digest('hex'),
    text: definition,
    retryFailedAfterMs: null,
  }
}

/** Returns the keys that are specific to a kind. */
function ownKeys(keys: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(keys).filter(([key]) => !COMMON_KEYS.includes(key)))
}

/** A place in the file: keys from its root. */
type Place = readonly (string | number)[]

function checkPaths(
  paths: readonly string[],
  isAllowed: (path: string) => boolean,
  fail: (path: string) => never,
): void {
  for (const path of paths) if (!isAllowed(path)) fail(path)
}

/** Returns the path of the key with a value; the empty one for a value that is elsewhere. */
function keyOf(value: string, keys: JsonObject): readonly string[] {
  const key = Object.keys(keys).find((name) => keys[name] === value)
  return key === undefined ? [] : [key]
}

/** Decodes the file's text, without a byte order mark. */
function decode(bytes: Uint8Array, file: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    const message = 'the file is not UTF-8 text; save it as UTF-8'
    throw new ContractError(...fileError({ file, line: 1, message }, 'invalid_definition'))
  }
}

function presentKeys(yaml: YamlFile): JsonObject {
  if (!isJsonObject(yaml.value)) {
    return yaml.fail([], 'a derivation is a map with the keys targets, kind and those of its kind')
  }
  return Object.fromEntries(Object.entries(yaml.value).filter(([, value]) => value !== null))
}

function readKind(keys: JsonObject, yaml: YamlFile, kinds: Kinds, at: Place = []): DerivationKind {
  const name = required('kind', keys, yaml, at)
  const known = kinds.names
  const kind = typeof name === 'string' ? kinds.get(name) : undefined
  if (kind) return kind
  const hint = typeof name === 'string' ? didYouMean(name, known) : ''
  return yaml.fail(
    [...at, 'kind'],
    `unknown kind ${showValue(name)}; the kinds are ${known.join(', ')}${hint}`,
  )
}

function readFields(
  key: string,
  keys: JsonObject,
  { yaml, contract, at: place = [] }: { yaml: YamlFile; contract: Contract; at?: Place },
): readonly string[] {
  const list = required(key, keys, yaml, place)
  if (!Array.isArray(list))
    return yaml.fail([...place, key], `${key} is not a list; write ${key}: [field, …]`)
  const seen = new Set<string>()
  for (const [index, name] of (list as readonly JsonValue[]).entries()) {
    const at = [...place, key, index]
    if (typeof name !== 'string' || !contract.fieldByName.has(name)) {
      const hint = typeof name === 'string' ? didYouMean(name, contract.fieldByName.keys()) : ''
      return yaml.fail(at, `${key} names ${showValue(name)}, which is no field of the contract${hint}`)
    }
    if (seen.has(name)) yaml.fail(at, `${key} names "${name}" twice; keep one`)
    seen.add(name)
  }
  return [...seen]
}

function required(key: string, keys: JsonObject, yaml: YamlFile, at: Place): JsonValue {
  const value = Object.hasOwn(keys, key) ? keys[key] : undefined
  if (value !== undefined) return value
  const candidates = Object.keys(keys).filter((other) => !COMMON_KEYS.includes(other))
  const near = nearest(key, candidates)
  if (near !== null) yaml.fail([...at, near], `unknown key "${near}"; did you mean "${key}"?`)
  return yaml.fail(
    at,
    key === 'inputs'
      ? 'inputs is missing; list the fields that the values are computed from, or write inputs: []'
      : at.length === 0
        ? `${key} is missing; every derivation has targets and kind`
        : `${key} is missing; every step has it`,
  )
}
