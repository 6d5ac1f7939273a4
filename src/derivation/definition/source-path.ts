/** The endings of files that can be sources. */
export const SOURCE_ENDINGS = ['.csv', '.tsv', '.json', '.jsonl', '.parquet', '.xlsx', '.md'] as const

/** The file of the models that derivations use, a source with a fixed name. */
export const MODELS_FILE = 'models.yaml'

/** The endings of scripts, in the order in which they are looked for; a script is a source in `scripts/` only. */
export const SCRIPT_ENDINGS = ['.py', '.sh', '.js', '.mjs', '.ts'] as const

/** The maximum size of a source in bytes, and of all sources of a sheet together: they are kept in memory. */
export const MAX_SOURCE_BYTES = 32 * 1024 * 1024
export const MAX_SOURCES_BYTES = 2 * MAX_SOURCE_BYTES

/** Files in the directory of a sheet, or its archive, that have a meaning of their own. */
const RESERVED: readonly string[] = ['records.jsonl', 'provenance.jsonl', 'recording.jsonl', 'colophon.json']

const NAME = /^(?!\.)[^/\\\p{Cc}\uFFFD]+$/u

/**
 * Whether a path can be that of a source: relative to the sheet's directory and inside it, without hidden names, with one of
 * {@link SOURCE_ENDINGS}, {@link MODELS_FILE}, or one of {@link SCRIPT_ENDINGS} directly in `scripts/`, and not that of a file which every
 * sheet has.
 */
export function isSourcePath(path: string): boolean {
  if (path === MODELS_FILE) return true
  if (path.length > 255 || RESERVED.includes(path.toLowerCase())) return false
  const ending = path.slice(path.lastIndexOf('.')).toLowerCase()
  const names = path.split('/')
  const isScript = names.length === 2 && names[0] === 'scripts'
  const endings: readonly string[] = isScript ? [...SOURCE_ENDINGS, ...SCRIPT_ENDINGS] : SOURCE_ENDINGS
  return endings.includes(ending) && names.every((name) => NAME.test(name))
}

/**
 * Whether a path can be that of another sheet: relative, from the parent of the sheet's directory down, without hidden names. So it cannot
 * leave the parent directory by its names; links are refused when it is read.
 */
export function isOtherSheetPath(path: string): boolean {
  const [first, ...names] = path.split('/')
  return path.length <= 255 && first === '..' && names.length > 0 && names.every((name) => NAME.test(name))
}
