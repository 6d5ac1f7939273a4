import type { Contract } from '../../contract/contract.ts'
import { isJsonObject, jsonEqual, type JsonObject, type JsonValue } from '../../contract/json/json.ts'
import { showNames, showValue } from '../../contract/json/show-value.ts'
import type { Derivation, Source } from '../../derivation/definition/derivation-kind.ts'
import { MODELS_FILE } from '../../derivation/definition/source-path.ts'
import { sourceOf } from '../../derivation/read-sources.ts'
import { orderDerivations } from '../../derivation/definition/graph.ts'
import type { Kinds } from '../../derivation/kinds.ts'
import { parseDerivation, type DerivationSource } from '../../derivation/parse-derivation.ts'
import { ContractError } from '../../errors/service-error.ts'
import { reportYaml } from '../../files/folio/adopt-folio-contract.ts'
import type { DifferenceReport } from '../../files/folio/difference-report.ts'
import { folioHashOf, type FolioHash } from '../../files/folio/folio-hash.ts'
import { parseFolioYaml, type FolioYaml } from '../../files/folio/folio-yaml.ts'
import { yamlText } from '../../files/inference/contract-text.ts'
import { createHash } from 'node:crypto'
import type { FolioSource } from './folio-source.ts'
import { translateDerivation } from './translate-derivation.ts'

/** The ending of derivation files of folio that are kept and not used. */
export const KEPT_ENDING = '.folio'

/** A file of the new sheet. */
export interface NewFile {
  readonly path: string
  readonly bytes: Uint8Array
}

/** The derivations of the new sheet. */
export interface DerivationAdoption {
  readonly derivations: readonly Derivation[]
  /** The input hashes of folio, by derivation file. */
  readonly hashes: ReadonlyMap<string, FolioHash | null>
  readonly files: readonly NewFile[]
  /** The inputs, by their names in folio, of targets whose derivation is not adopted. */
  readonly left: ReadonlyMap<string, readonly string[]>
}

export interface DerivationContext {
  /** Whether there is a sheet at a path, relative to the directory of the new sheet. */
  hasSheet(path: string): boolean
  readonly source: FolioSource
  readonly contract: Contract
  readonly kinds: Kinds
  /** The fields of the new sheet by their names in folio. */
  readonly names: ReadonlyMap<string, string>
  /** The name of the primary key in folio. */
  readonly key: string
  readonly report: DifferenceReport
}

/**
 * Converts the derivation files of a folio sheet. One that this version has no kind for, or that is not valid here, is kept under another name, and
 * its targets are ordinary fields with their values.
 */
export function adoptDerivations(context: DerivationContext): DerivationAdoption {
  const derivations: Derivation[] = []
  const hashes = new Map<string, FolioHash | null>()
  const files: NewFile[] = []
  const left = new Map<string, readonly string[]>()
  const models = modelsOf(context.source)
  for (const name of context.source.derivations()) {
    const path = `derivations/${name}`
    const bytes = context.source.read(path)
    if (bytes === null) {
      context.report.add('cannot', { file: path }, 'the file cannot be read and is not copied')
      continue
    }
    const found = attempt({ name, bytes }, derivations, {
      ...context,
      read: readerOf(context.source, models),
    })
    if ('reason' in found) {
      const targets = found.targets.map((target) => context.names.get(target) ?? target)
      for (const target of targets) if (!left.has(target)) left.set(target, found.inputs)
      const kept =
        targets.length === 0 ? '' : `; the values of ${showNames(targets)} are kept in ordinary fields`
      const message = `the derivation is not adopted: ${found.reason}; the file is kept as ${path}${KEPT_ENDING}${kept}`
      context.report.add('cannot', { file: path, line: found.line }, message)
      files.push({ path: `${path}${KEPT_ENDING}`, bytes })
      continue
    }
    derivations.push(found.derivation)
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    hashes.set(name, folioHashOf({ keys: found.keys, sha256 }, context.source, context.key))
    files.push({ path, bytes: found.bytes })
    if (found.bytes !== bytes) {
      files.push({ path: `${path}${KEPT_ENDING}`, bytes })
      const message = `the file is written anew, without comments; the one of folio is kept as ${path}${KEPT_ENDING}`
      context.report.add('adapted', { file: path }, message)
    }
  }
  for (const derivation of derivations) for (const target of derivation.targets) left.delete(target)
  if (models !== null && derivations.some(({ kind }) => kind.name === 'ai')) {
    files.push({ path: MODELS_FILE, bytes: models })
    context.report.add('adapted', null, MODELS_NOTE)
  }
  return { derivations, hashes, files, left }
}

const MODELS_NOTE =
  'models.yaml is new: it has the models of the derivations at the API of Anthropic, with the key in ANTHROPIC_API_KEY and without prices; add these for --max-cost'

/** Returns `models.yaml` with the models that the derivations name; null if they name none. */
function modelsOf(source: FolioSource): Uint8Array | null {
  const names = source.derivations().flatMap((name) => {
    try {
      const { value } = parseFolioYaml(source.read(`derivations/${name}`) ?? new Uint8Array(), name)
      const model = isJsonObject(value) && value['kind'] === 'ai' ? value['model'] : null
      return typeof model === 'string' && model !== '' ? [model] : []
    } catch (error) {
      if (error instanceof ContractError) return []
      throw error
    }
  })
  if (names.length === 0) return null
  const entry = (model: string): JsonObject => ({
    api: 'anthropic',
    url: 'https://api.anthropic.com/v1',
    model,
    headers: { 'x-api-key': '{{ env.ANTHROPIC_API_KEY }}' },
  })
  const models = Object.fromEntries(names.map((name) => [name, entry(name)]))
  return Buffer.from(yamlText({ models }))
}

/** Reads the files that the new sheet will have. */
function readerOf(source: FolioSource, models: Uint8Array | null): (path: string) => Source {
  return (path) => {
    const bytes = path === MODELS_FILE ? models : source.read(path)
    return sourceOf(path, bytes ?? { problem: `${path} does not exist` })
  }
}

interface ReadingContext extends DerivationContext {
  readonly read: (path: string) => Source
}

interface Attempted {
  readonly derivation: Derivation
  readonly keys: JsonObject
  readonly bytes: Uint8Array
}

interface NotAdopted {
  readonly reason: string
  readonly line: number | null
  readonly targets: readonly string[]
  readonly inputs: readonly string[]
}

function attempt(
  { name, bytes }: { readonly name: string; readonly bytes: Uint8Array },
  others: readonly Derivation[],
  context: ReadingContext,
): Attempted | NotAdopted {
  const path = `derivations/${name}`
  let yaml: FolioYaml | null = null
  let keys: JsonObject = {}
  const notAdopted = (reason: string, line: number | null): NotAdopted => ({
    reason,
    line,
    targets: textsOf(keys['targets']),
    inputs: textsOf(keys['inputs']),
  })
  try {
    yaml = parseFolioYaml(bytes, path)
    if (!isJsonObject(yaml.value)) return notAdopted('it is no map of keys', 1)
    keys = yaml.value
    const at = yaml
    const differences: (() => void)[] = []
    const translated = translateDerivation(keys, {
      names: context.names,
      prompt: (file) => context.source.read(file),
      hasSheet: (sheet) => context.hasSheet(sheet),
      note: (action, key, message) =>
        differences.push(() => context.report.add(action, { file: path, line: at.lineOf([key]) }, message)),
    })
    if ('reason' in translated) return notAdopted(translated.reason, yaml.lineOf([translated.key]))
    const isSame = jsonEqual(translated.keys, keys) && yaml.only11 === null
    const written = isSame ? bytes : Buffer.from(yamlText(translated.keys))
    const found = parsed({ file: name, bytes: written, read: context.read }, translated.keys, context)
    const { derivation } = found
    orderDerivations([...others, derivation])
    reportYaml(yaml, context.report)
    for (const difference of differences) difference()
    return { ...found, keys }
  } catch (error) {
    if (!(error instanceof ContractError)) throw error
    const message = error.inFile?.message ?? error.message
    // Lines of a file that was written anew are not those of the source.
    return notAdopted(message, yaml === null ? (error.inFile?.line ?? null) : yaml.lineOf(['kind']))
  }
}

/** Parses a file; one without inputs gets an empty list if its kind needs one. Throws ContractError. */
function parsed(
  source: DerivationSource,
  keys: JsonObject,
  { contract, kinds }: DerivationContext,
): Omit<Attempted, 'keys'> {
  try {
    return { derivation: parseDerivation(source, contract, kinds), bytes: source.bytes }
  } catch (error) {
    if (!(error instanceof ContractError) || Object.hasOwn(keys, 'inputs')) throw error
    const bytes = Buffer.from(yamlText({ ...keys, inputs: [] }))
    return { derivation: parseDerivation({ ...source, bytes }, contract, kinds), bytes }
  }
}

function textsOf(value: JsonValue | undefined): readonly string[] {
  if (!Array.isArray(value)) return []
  return (value as readonly JsonValue[]).map((item) => (typeof item === 'string' ? item : showValue(item)))
}
